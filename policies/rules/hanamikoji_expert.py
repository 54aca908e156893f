"""Expert: score actions by the expected end of the round, without search.

Every card that is not yet on a side ends with me, with the foe or with nobody; the action tiles
that both still have give the probabilities. So the final lead at each geisha is a small
distribution, and her marker comes to me, goes to the foe or stays. The value of a table is the
expectation over all 3^G states of the markers, each a win, a loss or a prospect for the next round.
The value of an action is that after the reply, mostly the worst one, plus a bonus for its tile, so
that Gifts are played early and Competitions late. Equally good actions are equally likely.

Notation: `seen` is one observation, (N,).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import Variant
from hanamachi.games.hanamikoji import observation as entry
from hanamachi.games.hanamikoji import rules
from hanamachi.policies.policy import Masks, Memory, Observations, RulePolicy, Scores, Values
from hanamachi.policies.rules.lead_changes import Array, add, add_card, write_outcomes

CHARM, GEISHA = 0.07, 0.09  # weight of a lead in either for the next round
MEAN_WEIGHT = 0.25  # of the mean over replies; the worst reply has the rest
SKILL = 0.8  # how much better than at random the foe places the cards that I cannot see

# by kind of action: its bonus for each turn left, and the cards it brings me, the foe, and uses
TIMING = np.array([0, 0, 0.05, -0.05, 0, 0], np.float32)
TILES = np.array([(1, 0, 1), (0, 0, 2), (2, 1, 3), (2, 2, 4), (0, 0, 0), (0, 0, 0)], np.float32)
BRINGS_ME, BRINGS_FOE, USES = range(3)


class Tables(NamedTuple):
    rule_set: NDArray[Any]  # (1,)
    marker_values: Array  # (2, 3^G) of each state of the markers; [1] in the last round


class Expert(RulePolicy):
    name = "expert"
    has_values = True

    def __init__(self, variant: Variant) -> None:
        tables = Tables(variant.rule_set_array, marker_values(variant.rule_set))
        super().__init__(variant, score, tables)

    def values(self, observation: Observations, mask: Masks, memory: Memory) -> Values:
        """The value of the markers at the start of a round."""
        n, at = self.variant.rule_set.geisha, self.variant.rule_set.at
        markers = observation[:, at[entry.MARKERS] : at[entry.MARKERS] + 2 * n].reshape(-1, 2, n)
        digits = (markers[:, 0] + 2 * markers[:, 1]).astype(np.int64)
        return self.tables.marker_values[0][digits @ 3 ** np.arange(n)[::-1]]


# --- The value of the markers


def marker_values(rule_set: np.record) -> Array:
    """The value of each state: a ternary number with digits 0 neutral, 1 mine, 2 theirs.

    The first geisha is the leftmost digit.
    """
    n, goal = rule_set.geisha, np.zeros(3**rule_set.geisha)
    sign = np.array([0, 1, -1])[np.arange(3**n)[:, None] // 3 ** np.arange(n)[::-1] % 3]
    charms = sign * rule_set.cards[:n].astype(int)  # (3^G, G)
    for count, wanted in ((sign, rules.GEISHA_GOAL), (charms, rules.CHARM_GOAL)):  # charm overrides
        for player in (1, -1):
            goal[(count * player).clip(0).sum(1) >= wanted] = player
    geisha, charm = sign.sum(1), charms.sum(1)
    next_round = np.tanh(CHARM * charm + GEISHA * geisha)
    limit = np.sign(2 * np.sign(geisha) * rule_set.by_geisha + np.sign(charm))
    return np.where(goal != 0, goal, [next_round, limit]).astype(np.float32)


# --- A decision


@kernel
def score(tables: Tables, observations: Observations, masks: Masks, scores: Scores) -> None:
    """Write the value of every legal action, (B, A)."""
    rule_set = tables.rule_set[0]
    most = rule_set.cards.max()
    ends = np.zeros((most + 1, most + 1, 2 * most + 1, 3), np.float32)
    swings = np.zeros((3, rule_set.geisha), np.float32)
    cache = np.empty((most + 1, 2 * most + 1, tables.marker_values.shape[1] // 3), np.float32)
    for b in range(len(masks)):
        written_for = rules.NONE
        for action in np.flatnonzero(masks[b]):
            kind = rule_set.kind[action]
            if kind != written_for:
                write_final_leads(rule_set, observations[b], kind, ends)
                written_for, cache[:, :, 0] = kind, np.nan
            scores[b, action] = score_after(tables, observations[b], action, swings, ends, cache)


@inline
def score_after(
    tables: Tables, seen: Array, action: np.intp, swings: Array, ends: Array, cache: Array
) -> float:
    """The value after an action and its reply."""
    rule_set = tables.rule_set[0]
    worst, total, count = np.inf, 0.0, replies(rule_set, seen, action, swings)
    for i in range(count):
        after = table_value(tables, seen, action, swings[i], ends, cache)
        worst, total = min(worst, after), total + after
    timing = TIMING[rule_set.kind[action]] * seen[rule_set.at[entry.TO_COME] + 2]
    return timing + (1 - MEAN_WEIGHT) * worst + MEAN_WEIGHT * total / count


@inline
def replies(rule_set: np.record, seen: Array, action: np.intp, swings: Array) -> int:
    """Write how each reply changes the leads, one row for each; returns their number.

    Loops, as sums of arrays take seconds to compile.
    """
    at, n, kind = rule_set.at, rule_set.geisha, rule_set.kind[action]
    first, second = rule_set.piles[action, 0, :n], rule_set.piles[action, 1, :n]
    if kind == rules.COMPETITION:
        for g in range(n):
            swings[0, g] = first[g] - second[g]
            swings[1, g] = second[g] - first[g]
        return 2
    if kind == rules.GIFT:
        offered = np.flatnonzero(first)
        for i, taken in enumerate(offered):
            for g in range(n):
                swings[i, g] = first[g] - 2 * (g == taken)
        return len(offered)
    for g in range(n):
        swings[0, g] = first[g] * (kind == rules.SECRET)
        if kind == rules.TAKE_CARD:
            swings[0, g] = 2 * first[g] - seen[at[entry.GIFTS] + n + g]
        elif kind == rules.TAKE_PAIR:
            pair = action - rule_set.first[rules.TAKE_PAIR]
            pairs = at[entry.PAIRS] + 2 * n + g
            swings[0, g] = seen[pairs + pair * n] - seen[pairs + (1 - pair) * n]
    return 1


@inline
def table_value(
    tables: Tables, seen: Array, action: np.intp, swing: Array, ends: Array, cache: Array
) -> float:
    """The expected value of the markers after the round, as if geisha were independent.

    `cache` holds results for the first marker, two thirds of the work; NaN is not yet computed.
    """
    rule_set = tables.rule_set[0]
    at, n = rule_set.at, rule_set.geisha
    values = tables.marker_values[
        int(rule_set.max_rounds > 0 and seen[at[entry.ROUND + 1] - 1] == 1)
    ]
    size = len(values) // 3
    later, own = np.empty((2, size), np.float32), rule_set.kind[action] <= rules.COMPETITION
    for g in range(n):
        spent = rule_set.piles[action, 0, g] + rule_set.piles[action, 1, g]
        held = int(seen[at[entry.HAND] + g]) - own * spent
        lead = len(ends) - 1 + int(seen[at[entry.LEAD] + g] + swing[g])
        out = later[g % 2] if g else cache[held, lead]
        if g or np.isnan(out[0]):
            tie, win, loss = ends[held, int(seen[at[entry.UNSEEN] + g]), lead]
            mine, theirs = seen[at[entry.MARKERS] + g], seen[at[entry.MARKERS] + n + g]
            me, foe = win + mine * tie, loss + theirs * tie
            expect(values, size, np.float32(1) - me - foe, me, foe, out)
        values, size = out, size // 3
    return values[0]


@inline
def expect(values: Array, size: int, stays: float, me: float, foe: float, out: Array) -> None:
    """Write the expectation over one marker; a loop over slices, so that it is vectorized."""
    neutral, mine, theirs = values[:size], values[size : 2 * size], values[2 * size : 3 * size]
    for i in range(size):
        out[i] = stays * neutral[i] + me * mine[i] + foe * theirs[i]


# --- How the round may end


@inline
def write_final_leads(rule_set: np.record, seen: Array, kind: int, ends: Array) -> None:
    """Write the probabilities of (tie, win, loss) at a geisha after an action of this kind."""
    most = len(ends) - 1  # ends[h, u, most + lead]: h of her cards in my hand, u unseen
    hand_me, hand_foe, unseen_me, unseen_foe = destinations(rule_set, seen, kind)
    gains = np.zeros((most + 1, most + 1, 2 * most + 1), np.float32)  # of each, from -most
    gains[0, 0, most] = 1
    for h in range(most + 1):
        for u in range(most + 1 - h):
            if h > 0:
                add_card(gains[h - 1, u], 1, hand_me, hand_foe, gains[h, u])
            elif u > 0:
                add_card(gains[h, u - 1], 1, unseen_me, unseen_foe, gains[h, u])
            write_outcomes(gains[h, u], ends[h, u])


@inline
def destinations(rule_set: np.record, seen: Array, kind: int) -> tuple[float, float, float, float]:
    """The probabilities that a card of my hand, and an unseen one, ends with me or the foe."""
    at, n = rule_set.at, rule_set.geisha
    mine, theirs, secret = np.zeros(3), np.zeros(3), 0.0  # free tiles; foe's used Secret
    for k in range(4):
        used = seen[at[entry.USED_IN] + 4 * k :]
        if rule_set.in_use[k] and k != kind and used[:4].sum() == 0:
            add(mine, TILES[k])
        if rule_set.in_use[k] and used[16:20].sum() == 0:
            add(theirs, TILES[k])
        elif rule_set.in_use[k] and k == rules.SECRET:
            secret = 1.0
    unseen = max(seen[at[entry.UNSEEN] : at[entry.UNSEEN] + n].sum(), 1)
    draws = mine[USES] + TILES[kind, USES] - seen[at[entry.HAND] : at[entry.HAND] + n].sum()
    me, foe = mine[BRINGS_ME] / max(mine[USES], 1), mine[BRINGS_FOE] / max(mine[USES], 1)
    unseen_me = (draws * me + theirs[BRINGS_FOE]) / unseen
    unseen_foe = (draws * foe + theirs[BRINGS_ME] + secret) / unseen
    better = SKILL * unseen_me * unseen_foe
    return me, foe, unseen_me - better, unseen_foe + better
