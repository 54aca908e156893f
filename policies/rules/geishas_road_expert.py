"""Expert: score actions by the expected end of the round, without search.

Every card that is not yet played ends with me, with the foe or with nobody; the action markers that
both still have give the probabilities. So the final lead at each geisha is a distribution, and she
is mine, theirs or nobody's. Her points are her current prestige and the tokens for which the cards
left may still bring her home. The value of a table is the expected lead in points, with guests and
unused tokens, relative to its standard deviation; winning enough geisha wins the game at once. The
value of an action is that after the reply, mostly the worst one, plus a bonus for its kind: Gifts
are played early and Competitions late. Equally good actions are equally likely.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.arrays import Float32s
from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import Variant
from hanamachi.games.geishas_road import observation as entry
from hanamachi.games.geishas_road import rules
from hanamachi.policies.arrays import Masks, Observations, Scores
from hanamachi.policies.rules.geisha_experts import action_value, add_card, destinations
from hanamachi.policies.rules.geishas_road_from_observation import (
    FOE,
    ME,
    Seen,
    act,
    lay_out,
    points,
    reply,
    rounds_to_come,
)
from hanamachi.policies.rules.rule_policy import RulePolicy

SKILL = 0.5  # how much better than at random the foe places the cards that I cannot see
RETURN = 0.7  # weight of the tokens that cards left to play may bring
GUEST = 0.7  # value of a guest in addition to its current sets
GEISHA = 0.5  # value of a geisha in addition to her points: markers break ties, and stay
NOISE = 4.0  # variance of points, in addition to that of who wins each geisha
LATER = 60.0  # variance of the points of each round to come
SECOND = 0.01  # value of letting the foe begin

# by kind of action: its bonus for each marker left, and the cards it brings me, the foe, and uses
TIMING = np.zeros(rules.KINDS, np.float32)
TIMING[: rules.COUNTEROFFER] = 0, 0, 0.08, -0.08, 0.08, -0.08
CARDS = np.zeros((rules.KINDS, 3), np.float32)
CARDS[: rules.COUNTEROFFER] = (1, 0, 1), (1, 0, 2), (2, 1, 3), (2, 2, 4), (2, 1, 3), (2, 2, 4)

# rows of a table of cards: in my hand and yet to move, now and after an action; and unseen
HELD, TO_MOVE, HELD_THEN, TO_MOVE_THEN, UNSEEN = range(5)

Ranks = NDArray[np.int64]  # (5, N) the cards of each colour, a bit for each rank
# (3, N + 1) probabilities that each geisha is mine, that she is theirs, and of each count of them
GeishaProbabilities = NDArray[np.float64]
COUNTS = 2  # the row that `at_least` writes
TIE, WIN, LOSS = range(3)  # how the lead at a geisha may end


class Tables(NamedTuple):
    rule_set: NDArray[Any]  # (1,)
    landings: Float32s  # (2^V, N, 2) see `landings`


class Expert(RulePolicy):
    name = "expert"
    has_values = True

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant, score, Tables(variant.rule_set_array, landings(variant.rule_set)))


def landings(rule_set: np.record) -> Float32s:
    """The probabilities that a geisha comes home at least once and at least twice, (2^V, N, 2).

    By the ranks of her cards left, played in random order, and by her steps past her house.
    """
    n, probabilities = rule_set.colours, np.zeros((2**rule_set.values, rule_set.colours, 3))
    probabilities[:, :, 0] = 1
    for left in range(1, 2**rule_set.values):
        ranks = [rank for rank in range(rule_set.values) if left >> rank & 1]
        for steps in range(n):
            next_cards = [
                landings_after(probabilities, left, steps, rank, int(rule_set.value[rank]))
                for rank in ranks
            ]
            probabilities[left, steps] = np.mean(next_cards, 0)
    return probabilities[..., 1:].astype(np.float32)


def landings_after(
    probabilities: NDArray[np.float64], left: int, steps: int, rank: int, value: int
) -> NDArray[np.float64]:
    """The probabilities of at least 0, 1, 2 landings if this card is the next."""
    after = (steps + value) % probabilities.shape[1]
    later = probabilities[left ^ 1 << rank, after]
    return later if after else np.array([1, *later[:2]])


# --- A decision


@kernel
def score(tables: Tables, observations: Observations, masks: Masks, scores: Scores) -> None:
    """Write the value of every legal action, (B, A)."""
    rule_set = tables.rule_set[0]
    subsets, leads = 1 << rule_set.values, 2 * rule_set.value[: rule_set.values].sum() + 1
    gains = np.zeros((subsets, leads), np.float32)
    ends = np.zeros((rule_set.colours, subsets, leads, 3), np.float32)
    cards = np.zeros((5, rule_set.colours), np.int64)
    probabilities = np.zeros((3, rule_set.colours + 1))
    games = np.zeros(3, rules.RECORD)  # now, after an action, and after its reply
    for b in range(len(masks)):
        lay_out(rule_set, observations[b], games[0])
        write_cards(rule_set, observations[b], cards)
        written_for = rules.NONE
        for action in np.flatnonzero(masks[b]):
            kind = rule_set.kind[action]
            if kind != written_for:
                write_final_leads(rule_set, observations[b], kind, cards, gains, ends)
                written_for = kind
            scores[b, action] = score_after(
                tables, observations[b], action, games, cards, ends, probabilities
            )


@inline
def write_cards(rule_set: np.record, seen: Seen, cards: Ranks) -> None:
    """Write which cards are where; the card kept by Intrigue has not moved its geisha."""
    at = rule_set.at
    cards[:] = 0
    for card in range(rule_set.cards):
        c, bit = rule_set.colour[card], 1 << card % rule_set.values
        kept = seen[at[entry.INTRIGUES] + card] and not seen[at[entry.PLAYED] + card]
        if seen[at[entry.HAND] + card]:
            cards[HELD, c] |= bit
        elif seen[at[entry.UNSEEN] + card]:
            cards[UNSEEN, c] |= bit
        elif not kept:
            continue
        cards[TO_MOVE, c] |= bit


@inline
def score_after(
    tables: Tables,
    seen: Seen,
    action: np.intp,
    games: NDArray,
    cards: Ranks,
    ends: Float32s,
    probabilities: GeishaProbabilities,
) -> float:
    """The value after an action and its reply."""
    rule_set, kind = tables.rule_set[0], tables.rule_set[0].kind[action]
    games[1] = games[0]
    replies = act(rule_set, seen, games[1], action)
    write_cards_after(rule_set, games[0], action, cards)
    worst, total = np.inf, 0.0
    for number in range(replies):
        games[2] = games[1]
        reply(rule_set, games[2], replies, number)
        after = table_value(tables, seen, games[2], cards, ends, probabilities)
        worst, total = min(worst, after), total + after
    bonus = TIMING[kind] * seen[rule_set.at[entry.TO_COME] + 2]
    if kind == rules.STARTER:
        bonus = SECOND * (action - rule_set.first[kind])
    return action_value(bonus, worst, total, replies)


@inline
def write_cards_after(rule_set: np.record, game: np.record, action: np.intp, cards: Ranks) -> None:
    """Write which cards are in my hand, and which have yet to move, after an action.

    A loop, as to copy slices takes seconds to compile.
    """
    for c in range(rule_set.colours):
        cards[HELD_THEN, c], cards[TO_MOVE_THEN, c] = cards[HELD, c], cards[TO_MOVE, c]
    kind = rule_set.kind[action]
    for place in range(rules.PLACES):
        slot = rule_set.slots[action, place]
        if slot != rules.NONE:
            card = game.hand[ME, slot]
            c, bit = rule_set.colour[card], 1 << card % rule_set.values
            cards[HELD_THEN, c] ^= bit
            if kind != rules.INTRIGUE or place > 0:
                cards[TO_MOVE_THEN, c] ^= bit


@inline
def table_value(
    tables: Tables,
    seen: Seen,
    game: np.record,
    cards: Ranks,
    ends: Float32s,
    probabilities: GeishaProbabilities,
) -> float:
    """The value of the table, from -1 to 1, as if geisha were independent."""
    rule_set = tables.rule_set[0]
    mean, variance = earlier_and_later(rule_set, seen)
    mean += points(rule_set, game, ME) - points(rule_set, game, FOE)
    for c in range(rule_set.colours):
        lead = game.influence[ME, c] - game.influence[FOE, c]
        held = min(max(cards[HELD_THEN, c], 0), ends.shape[1] - 1)  # as in every game
        place = min(max(ends.shape[2] // 2 + lead, 0), ends.shape[2] - 1)
        tie, marker = ends[c, held, place, TIE], game.marker[c]
        mine = ends[c, held, place, WIN] + tie * (marker == ME)
        theirs = ends[c, held, place, LOSS] + tie * (marker == FOE)
        brings = game.prestige[c] + return_points(tables, game, c, cards[TO_MOVE_THEN, c])
        mean += (brings + GEISHA) * (mine - theirs)
        mean += GUEST * (game.collected[ME, c] - game.collected[FOE, c])
        variance += brings**2 * (mine + theirs - (mine - theirs) ** 2)
        probabilities[ME, c], probabilities[FOE, c] = mine, theirs
    by_points = mean / np.sqrt(variance + mean**2)
    if rule_set.instant_win == 0:
        return by_points
    mine = at_least(probabilities, ME, rule_set.instant_win)
    theirs = at_least(probabilities, FOE, rule_set.instant_win)
    return mine - theirs + (1 - mine - theirs) * by_points


@inline
def earlier_and_later(rule_set: np.record, seen: Seen) -> tuple[float, float]:
    """The lead from earlier rounds, if points are added up, and the variance of later ones."""
    if rule_set.rounds == 0:
        return 0.0, NOISE
    earned = seen[rule_set.at[entry.SCORE] + 2 :]
    return earned[ME] - earned[FOE], NOISE + LATER * rounds_to_come(rule_set, seen)


@inline
def return_points(tables: Tables, game: np.record, c: int, left: int) -> float:
    """The expected points of the tokens that a geisha may still come home for."""
    steps = game.steps[c]
    once, twice = tables.landings[left, steps, 0], tables.landings[left, steps, 1]
    if game.returns[c] > 1:
        return 0.0
    second = game.row[1, game.taken[1]]
    if game.returns[c] == 1:
        return RETURN * once * second
    return RETURN * (once * game.row[0, game.taken[0]] + twice * second)


@inline
def at_least(probabilities: GeishaProbabilities, player: int, wanted: int) -> float:
    """The probability that a player has at least `wanted` geisha.

    The last row holds the probabilities of each smaller number among the geisha so far.
    """
    reached = 0.0
    if wanted >= probabilities.shape[1]:  # there are not so many geisha
        return reached
    for k in range(wanted):
        probabilities[COUNTS, k] = k == 0
    for c in range(probabilities.shape[1] - 1):
        chance = probabilities[player, c]
        reached += chance * probabilities[COUNTS, wanted - 1]
        for k in range(wanted - 1, 0, -1):
            fewer = probabilities[COUNTS, k - 1]
            probabilities[COUNTS, k] += chance * (fewer - probabilities[COUNTS, k])
        probabilities[COUNTS, 0] *= 1 - chance
    return reached


# --- How the round may end


@inline
def write_final_leads(
    rule_set: np.record, seen: Seen, kind: int, cards: Ranks, gains: Float32s, ends: Float32s
) -> None:
    """Write the probabilities of (tie, win, loss) after an action of this kind.

    ends[c, h, most + lead] is for the cards h of colour c in my hand and this lead now. gains[h]
    are the probabilities of each gain, from -most.
    """
    at = rule_set.at
    now = kind - 2 if kind in (rules.HIDDEN_GIFT, rules.HIDDEN_COMPETITION) else kind
    hand = seen[at[entry.HAND] :][: rule_set.cards].sum()
    unseen = seen[at[entry.UNSEEN] :][: rule_set.cards].sum()
    hand_me, hand_foe, unseen_me, unseen_foe = destinations(
        rule_set, seen[at[entry.USED_IN] :], hand, unseen, CARDS, now, rules.INTRIGUE, SKILL
    )
    for c in range(rule_set.colours):
        gains[0] = 0
        gains[0, gains.shape[1] // 2] = 1
        for rank in range(rule_set.values):
            if cards[UNSEEN, c] >> rank & 1:
                add_card(gains[0].copy(), rule_set.value[rank], unseen_me, unseen_foe, gains[0])
        write_outcomes(gains[0], ends[c, 0])
        rank = 0  # of the highest card in the subset
        for subset in range(1, cards[HELD, c] + 1):
            rank += subset >> rank + 1
            if subset & ~cards[HELD, c] == 0:
                rest = gains[subset ^ 1 << rank]
                add_card(rest, rule_set.value[rank], hand_me, hand_foe, gains[subset])
                write_outcomes(gains[subset], ends[c, subset])


@inline
def write_outcomes(gains: Float32s, ends: Float32s) -> None:
    """Write the probabilities of (tie, win, loss) for each lead now, from those of the gains."""
    win = np.float32(0)
    for i in range(len(gains)):  # the gain that leads to a tie is minus the lead
        tie = gains[len(gains) - 1 - i]
        ends[i, TIE], ends[i, WIN], ends[i, LOSS] = tie, win, 1 - win - tie
        win += tie
