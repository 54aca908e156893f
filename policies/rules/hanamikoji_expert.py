"""Expert: score actions by the expected end of the round, without search.

Every card that is not yet on a side ends with me, with the foe or with nobody; the action tiles
that both still have give the probabilities. So the final lead at each geisha is a small
distribution, and her marker comes to me, goes to the foe or stays. The value of a table is the
expectation over all 3^G states of the markers, each a win, a loss or a prospect for the next round.
The markers whose lead no action of a kind can change are averaged out once for the whole kind.
The value of an action is that after the reply, mostly the worst one, plus a bonus for its tile, so
that Gifts are played early and Competitions late. Equally good actions are equally likely.

Notation: `seen` is one observation, (N,); A actions, G geisha, M cards of one geisha at most, and D
geisha that are open: their leads depend on which action of a kind is chosen.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.arrays import Float32s, Integers
from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import Variant
from hanamachi.games.hanamikoji import observation as entry
from hanamachi.games.hanamikoji import rules
from hanamachi.policies.arrays import Masks, Memory, Observations, Scores, Values
from hanamachi.policies.compiled_inputs import readable
from hanamachi.policies.rules.geisha_experts import action_value, add_card, destinations
from hanamachi.policies.rules.hanamikoji_from_observation import (
    Seen,
    foes_gift,
    foes_pairs,
    is_last_round,
)
from hanamachi.policies.rules.rule_policy import RulePolicy

CHARM, GEISHA = 0.07, 0.09  # weight of a lead in either for the next round
SKILL = 0.8  # how much better than at random the foe places the cards that I cannot see

# by kind of action: its bonus for each turn left, and the cards it brings me, the foe, and uses
TIMING = np.array([0, 0, 0.05, -0.05, 0, 0], np.float32)
TILES = np.array([(1, 0, 1), (0, 0, 2), (2, 1, 3), (2, 2, 4), (0, 0, 0), (0, 0, 0)], np.float32)

REPLIES = 3  # at most
POWERS = 3 ** np.arange(rules.GEISHA + 1)  # 1, 3, 9, ...


class Tables(NamedTuple):
    rule_set: NDArray[Any]  # (1,)
    piles: NDArray[np.int8]  # (A, 2, G) as in the rule set, but faster to read
    marker_values: Float32s  # (2 3^G,) of each state of the markers, then those in the last round


class Space(NamedTuple):
    """Arrays that are written anew for each kind of action, or each action.

    Compiled code is fast with whole arrays and places in them: slices have references to count, and
    powers and quotients of integers take longer than the sums here.
    """

    gains: Float32s  # (M + 1, M + 1, 2M + 1) see `write_gains`
    chances: Float32s  # (G, M + 1, 2M + 1, 2) see `write_chances`
    open: Integers  # (G,) the D open geisha, in order
    after: Integers  # (1 + REPLIES, G) cards in my hand after an action; leads after each reply
    values: Float32s  # (2 3^G + (M + 1)(2M + 1) 3^(G - 1),) see `write_values` and `table_value`
    known: Integers  # (M + 1, 2M + 1) see `table_value`


class Expert(RulePolicy):
    name = "expert"
    has_values = True

    def __init__(self, variant: Variant) -> None:
        rule_set = variant.rule_set
        piles = rule_set.piles[:, :, : rule_set.geisha].copy()
        tables = Tables(variant.rule_set_array, piles, marker_values(rule_set).ravel())
        super().__init__(variant, score, tables)

    def values(self, observation: Observations, mask: Masks, memory: Memory) -> Values:
        """The value of the markers at the start of a round."""
        observation, _ = readable(self.variant, observation, mask)
        n, at = self.variant.rule_set.geisha, self.variant.rule_set.at
        markers = observation[:, at[entry.MARKERS] : at[entry.MARKERS] + 2 * n].reshape(-1, 2, n)
        digits = (markers[:, 0] + 2 * markers[:, 1]).astype(np.int64)
        return self.tables.marker_values[digits @ 3 ** np.arange(n)[::-1]]


# --- The value of the markers


def marker_values(rule_set: np.record) -> Float32s:
    """The value of each state, (2, 3^G), a ternary number: digits 0 neutral, 1 mine, 2 theirs.

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
    space, opened, kinds = workspace(rule_set.geisha, rule_set.cards.max()), 0, 0
    for b in range(len(masks)):
        written_for = rules.NONE
        for action in np.flatnonzero(masks[b]):
            kind = rule_set.kind[action]
            if kind != written_for:
                write_gains(rule_set, observations[b], kind, space.gains)
                write_chances(rule_set, observations[b], space.gains, space.chances)
                opened = write_open(rule_set, observations[b], kind, space.open)
                write_values(tables, observations[b], opened, space)
                written_for, kinds = kind, kinds + 1
            scores[b, action] = score_after(tables, observations[b], action, opened, kinds, space)


@inline
def workspace(n: int, most: int) -> Space:
    hands, leads = most + 1, 2 * most + 1
    return Space(
        np.zeros((hands, hands, leads), np.float32),
        np.empty((n, hands, leads, 2), np.float32),
        np.empty(n, np.int64),
        np.empty((1 + REPLIES, n), np.int64),
        np.empty(2 * POWERS[n] + hands * leads * POWERS[n - 1], np.float32),
        np.zeros((hands, leads), np.int64),
    )


@inline
def score_after(
    tables: Tables, seen: Seen, action: np.intp, opened: int, kinds: int, space: Space
) -> float:
    """The value after an action and its reply; `kinds` counts those that were begun."""
    rule_set = tables.rule_set[0]
    count = write_after(rule_set, seen, tables.piles, action, space.after)
    worst, total = np.inf, 0.0
    for reply in range(count):
        after = table_value(
            opened, kinds, space.open, space.after, reply, space.chances, space.values, space.known
        )
        worst, total = min(worst, after), total + after
    timing = TIMING[rule_set.kind[action]] * seen[rule_set.at[entry.TO_COME] + 2]
    return action_value(timing, worst, total, count)


@inline
def write_after(
    rule_set: np.record, seen: Seen, piles: NDArray[np.int8], action: np.intp, after: Integers
) -> int:
    """Write my hand after an action, and the leads after each reply; returns the number of replies.

    Loops, as sums of arrays take seconds to compile.
    """
    at, n, kind, replies = rule_set.at, rule_set.geisha, rule_set.kind[action], 1
    gifts, pairs = foes_gift(rule_set), foes_pairs(rule_set)
    pair = n * (action - rule_set.first[rules.TAKE_PAIR])
    for g in range(n):
        first, second = piles[action, 0, g], piles[action, 1, g]
        lead = int(seen[at[entry.LEAD] + g])
        after[0, g], after[1, g] = int(seen[at[entry.HAND] + g]), lead
        if kind <= rules.COMPETITION:
            after[0, g] -= first + second
        if kind == rules.SECRET:
            after[1, g] += first
        elif kind == rules.COMPETITION:
            after[1, g], after[2, g], replies = lead + first - second, lead + second - first, 2
        elif kind == rules.TAKE_CARD:
            after[1, g] += 2 * first - int(seen[gifts + g])
        elif kind == rules.TAKE_PAIR:
            after[1, g] += int(seen[pairs + pair + g] - seen[pairs + n - pair + g])
    if kind == rules.GIFT:
        replies = 0
        for taken in range(n):
            if piles[action, 0, taken]:
                replies += 1
                for g in range(n):
                    kept = piles[action, 0, g] - 2 * (g == taken)
                    after[replies, g] = int(seen[at[entry.LEAD] + g]) + kept
    return replies


# --- The expected value of the markers after the round, as if geisha were independent


@inline
def write_open(rule_set: np.record, seen: Seen, kind: int, open_: Integers) -> int:
    """Write the open geisha; returns their number."""
    at, n, opened = rule_set.at, rule_set.geisha, 0
    for g in range(n):
        cards = seen[at[entry.HAND] + g]
        if kind == rules.TAKE_CARD:
            cards = seen[foes_gift(rule_set) + g]
        elif kind == rules.TAKE_PAIR:
            cards = seen[foes_pairs(rule_set) + g] + seen[foes_pairs(rule_set) + n + g]
        if cards > 0:
            open_[opened] = g
            opened += 1
    return opened


@inline
def write_values(tables: Tables, seen: Seen, opened: int, space: Space) -> None:
    """Write the value of each state of the open markers, (3^D,): the expectation over the others.

    The others' states lie `inner` places apart, in each of several blocks. Two halves of the space
    are written in turn, the first one in the end.
    """
    rule_set, values = tables.rule_set[0], space.values
    at, n, most = rule_set.at, rule_set.geisha, len(space.known) - 1
    last = int(is_last_round(rule_set, seen))
    source, start, found, closed = tables.marker_values, last * POWERS[n], 0, 0
    for g in range(n):
        if found < opened and space.open[found] == g:
            found += 1
            continue
        closed += 1
        held, place = int(seen[at[entry.HAND] + g]), most + int(seen[at[entry.LEAD] + g])
        me, foe = space.chances[g, held, place, 0], space.chances[g, held, place, 1]
        inner, out = POWERS[n - closed - found], (n - opened - closed) % 2 * POWERS[n]
        for block in range(POWERS[found]):
            expect(source, start + 3 * inner * block, inner, me, foe, values, out + inner * block)
        source, start = values, out
    if closed == 0:
        for state in range(POWERS[n]):
            values[state] = source[start + state]


@inline
def table_value(
    opened: int,
    kinds: int,
    open_: Integers,
    after: Integers,
    reply: int,
    chances: Float32s,
    values: Float32s,
    known: Integers,
) -> float:
    """The expectation over the open markers after an action and a reply.

    Values after the first of them, two thirds of the work, are kept for each hand and lead: those
    that are `known` are of the kind with this number.
    """
    n, (hands, leads) = len(open_), known.shape
    start, scratch = 0, POWERS[n]
    for i in range(opened):
        g, size = open_[i], POWERS[opened - 1 - i]
        held = min(max(after[0, g], 0), hands - 1)  # as it is in every observation of a game
        place = min(max(leads // 2 + after[1 + reply, g], 0), leads - 1)
        out = scratch if i else 2 * POWERS[n] + (held * leads + place) * POWERS[n - 1]
        if i or known[held, place] != kinds:
            me, foe = chances[g, held, place, 0], chances[g, held, place, 1]
            expect(values, start, size, me, foe, values, out)
        if i == 0:
            known[held, place] = kinds
        start, scratch = out, scratch + size
    return values[start]


@inline
def expect(
    values: Float32s, start: int, size: int, me: float, foe: float, means: Float32s, out: int
) -> None:
    """Write the expectation over one marker, whose states lie `size` places apart."""
    if start < 0 or out < 0:  # never; the compiler, told so, uses vector instructions
        return
    stays, mine, theirs = np.float32(1) - me - foe, start + size, start + 2 * size
    for i in range(size):
        means[out + i] = (
            stays * values[start + i] + me * values[mine + i] + foe * values[theirs + i]
        )


# --- How the round may end


@inline
def write_gains(rule_set: np.record, seen: Seen, kind: int, gains: Float32s) -> None:
    """Write the probabilities of each change of a lead after an action of this kind, from -M.

    gains[h, u]: of a geisha with h cards in my hand and u unseen, up to as many as any has.
    """
    at, n, most = rule_set.at, rule_set.geisha, len(gains) - 1
    hand = seen[at[entry.HAND] : at[entry.HAND] + n].sum()
    all_unseen = seen[at[entry.UNSEEN] : at[entry.UNSEEN] + n].sum()
    hand_me, hand_foe, unseen_me, unseen_foe = destinations(
        rule_set, seen[at[entry.USED_IN] :], hand, all_unseen, TILES, kind, rules.SECRET, SKILL
    )
    held, unseen = 0, 0
    for g in range(n):
        held = max(held, int(seen[at[entry.HAND] + g]))
        unseen = max(unseen, int(seen[at[entry.UNSEEN] + g]))
    gains[0, 0, most] = 1
    for h in range(held + 1):
        for u in range(min(unseen, most - h) + 1):
            if h > 0:
                add_card(gains[h - 1, u], 1, hand_me, hand_foe, gains[h, u])
            elif u > 0:
                add_card(gains[h, u - 1], 1, unseen_me, unseen_foe, gains[h, u])


@inline
def write_chances(rule_set: np.record, seen: Seen, gains: Float32s, chances: Float32s) -> None:
    """Write the probabilities that each marker comes to me, and to the foe.

    chances[g, h, M + lead]: of geisha g with h of her cards in my hand, and this lead now.
    """
    at, n, leads = rule_set.at, rule_set.geisha, gains.shape[2]
    for g in range(n):
        unseen = int(seen[at[entry.UNSEEN] + g])
        mine, theirs = seen[at[entry.MARKERS] + g], seen[at[entry.MARKERS] + n + g]
        for h in range(int(seen[at[entry.HAND] + g]) + 1):
            win = np.float32(0)
            for place in range(leads):  # the gain that leads to a tie is minus the lead
                tie = gains[h, unseen, leads - 1 - place]
                chances[g, h, place, 0] = win + mine * tie
                chances[g, h, place, 1] = np.float32(1) - win - tie + theirs * tie
                win += tie
