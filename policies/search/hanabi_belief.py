"""What a player of Hanabi believes of the own hand, if all others play a known policy.

The belief is many hands, each with the likelihood that it gives to all that the others have done:
a particle filter with moves (Gilks and Berzuini 2001). From one own decision to the next those
hands go on that agree with the card that was shown and with what new clues say; if these are few,
the others do so too, with other cards in the slots that do not agree. Hands are then drawn anew, in
proportion to how much likelier they have become; and if few were likely, slots may change into
other cards that clues allow, as often as likelihood says (Metropolis).

How likely a hand makes what the others have done, and what they then remember, is found by living
through the game again from its beginning, with that hand.

Notation: W hands, each with its world; D positions in which the believer decided, the last of them
the present one, of which only what he saw is used; P seats, H cards, M entries of a memory.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import CHANCE
from hanamachi.engine.kernels import apply, resolve, settle, start
from hanamachi.games.hanabi import rules
from hanamachi.games.hanabi.table import take_back
from hanamachi.policies.policy import Memory, Policy
from hanamachi.policies.search.search import SEEDS
from hanamachi.sessions.opponents import initial_memory
from hanamachi.sessions.players import observe

DOUBT = 0.01  # added to the probability of every action: the others may play another policy
FEW = 0.5  # of the hands; with fewer left, too many of them would be the same
MOVES = 3  # of every hand then, each of one slot

Games = NDArray[Any]  # (W,) or (D,) of rule.RECORD
Hands = NDArray[np.int8]  # (W, H) the oldest card first
Floats = NDArray[np.float64]  # (W,)
Rows = NDArray[np.int64]


class Belief(NamedTuple):
    """Hands that are equally likely to be held."""

    hands: Hands
    likelihood: Floats  # of all that the others have done, its logarithm
    games: Games  # the worlds
    memory: Memory  # (W, P, M) of every seat before its next decision, the own one's blank


def first_belief(policy: Policy, history: Games, hands: Hands, rng: np.random.Generator) -> Belief:
    """By hands that come as often as clues and open cards alone would have it."""
    belief = lived_through(policy, history, hands)
    return drawn_anew(policy, history, belief, belief.likelihood, rng)


def next_belief(
    policy: Policy, history: Games, hands: Hands, likelihood: Floats, rng: np.random.Generator
) -> Belief | None:
    """By hands and likelihood of the belief before; None if none of these hands can go on."""
    worlds, chances = carried_over(policy.variant.rule_set, history, hands, rng)
    if not chances.any():
        return None
    rows = drawn_by(chances > 0, rng)
    belief = lived_through(policy, history, own_hands(worlds[rows]))
    gain = belief.likelihood - likelihood[rows]
    return drawn_anew(policy, history, belief, gain + np.log(chances[rows]), rng)


def carried_over(
    rule_set: np.record, history: Games, hands: Hands, rng: np.random.Generator
) -> tuple[Games, Floats]:
    """Worlds with the hands as they go on, and how likely each makes the cards drawn since, (W,):
    0 where it disagrees with what is now seen; if only few agree, the others are mended."""
    before, chances = worlds_with(rule_set, history[-2:-1], hands, rng), np.empty(len(hands))
    worlds = before.copy()
    carry_over(rule_set, worlds, history[-1:], False, chances)
    if np.count_nonzero(chances) < FEW * len(hands):
        worlds = before
        carry_over(rule_set, worlds, history[-1:], True, chances)
    return worlds, chances


def drawn_anew(
    policy: Policy, history: Games, belief: Belief, weights: Floats, rng: np.random.Generator
) -> Belief:
    """Drawn by the logarithms of weights, (W,), and moved if few hands have most of the weight."""
    chances = np.exp(weights - weights.max())
    rows = drawn_by(chances, rng)
    belief = Belief._make(each[rows] for each in belief)
    if chances.sum() ** 2 < FEW * len(chances) * (chances**2).sum():
        for _ in range(MOVES):
            move(policy, history, belief, rng)
    return belief


def drawn_by(chances: NDArray[Any], rng: np.random.Generator) -> Rows:
    """Rows, (W,), each about as often as its chance says (systematic resampling)."""
    edges = np.cumsum(chances)
    places = (np.arange(len(chances)) + rng.random()) * edges[-1] / len(chances)
    return np.minimum(np.searchsorted(edges, places, side="right"), np.flatnonzero(chances)[-1])


def move(policy: Policy, history: Games, belief: Belief, rng: np.random.Generator) -> None:
    """One slot of each hand may change, in place."""
    rule_set, now = policy.variant.rule_set, history[-1:]
    worlds = worlds_with(rule_set, now, belief.hands, rng)
    slots = rng.integers(now["held"][0, now["mover"][0]], size=len(worlds))
    redraw_one(rule_set, worlds, slots)
    hands = own_hands(worlds)
    rows = np.flatnonzero((hands != belief.hands).any(1))
    if rows.size == 0:
        return
    moved = lived_through(policy, history, hands[rows])
    gain = moved.likelihood - belief.likelihood[rows]
    taken = rng.random(len(rows)) < np.exp(np.minimum(gain, 0))
    for name in Belief._fields:
        getattr(belief, name)[rows[taken]] = getattr(moved, name)[taken]


# --- What would have happened


def lived_through(policy: Policy, history: Games, hands: Hands) -> Belief:
    """The game again, up to now, if the hands now were these."""
    variant, me = policy.variant, int(history["mover"][0])
    held = hands_held(history, hands)
    games = np.repeat(history[:1], len(hands))
    take_hands(variant.rule_set, games, held[0])
    if history["did"][0, me] == rules.NONE:
        deal_again(variant.rule_set, games)
    memory = initial_memory(policy, len(hands), variant.seats)
    likelihood, drawn = np.zeros(len(hands)), np.empty(len(hands), np.int8)
    turns = seats_between(history, variant.seats)
    for now, own, seats in zip(history, held, turns, strict=True):
        for seat in seats:
            action = action_of(variant.rule_set, now, seat)
            if seat != me:
                likelihood += np.log(chance_of(policy, games, memory, me, action) + DOUBT)
            newest = now["held"][seat] - 1
            drawn[:] = own[:, newest] if seat == me else now["hand"][seat, newest]
            take_turn(variant.rule_set, games, action, drawn)
    return Belief(hands, likelihood, games, memory)


def hands_held(history: Games, hands: Hands) -> list[Hands]:
    """The believer's hand in all those positions, if it is one of `hands` in the last."""
    held, me = [hands], history["mover"][0]
    for before, now in zip(history[-2::-1], history[:0:-1], strict=True):
        later, slot, size = held[0], now["slot"][me], before["held"][me]
        earlier = later.copy()
        if slot != rules.NONE:
            earlier[:, slot] = now["card"][me]
            earlier[:, slot + 1 : size] = later[:, slot : size - 1]
            earlier[:, size:] = rules.NONE
        held.insert(0, earlier)
    return held


def seats_between(history: Games, seats: int) -> list[list[int]]:
    """Who acted before each of those positions, since the one before or the beginning."""
    me = int(history["mover"][0])
    others = [seat % seats for seat in range(me + 1, me + seats)]
    acted = [seat for seat in others if history["did"][0, seat] != rules.NONE]
    joined_later = history["did"][0, me] != rules.NONE
    return [[] if joined_later else acted] + [[me, *others]] * (len(history) - 1)


def chance_of(policy: Policy, games: Games, memory: Memory, me: int, action: int) -> Floats:
    """How likely the seat to move takes the action, (W,); its memory is brought up to date."""
    seat = int(games["mover"][0])
    first, group = told_apart(games["hand"][:, me], memory[:, seat])
    seen = observe(policy.variant, games[first], np.full(len(first), seat))
    chances, _, after = policy.distribution(*seen, memory[first, seat])
    memory[:, seat] = after[group]
    return chances[group, action].astype(np.float64)


def told_apart(hands: Hands, memory: Memory) -> tuple[Rows, Rows]:
    """Groups of worlds that another seat, which sees these hands and remembers this, takes for one:
    the first world of each group, and the group of each world, (W,).

    Rows are compared by a random sum of 64 bits.
    """
    entries = np.concatenate((hands, np.ascontiguousarray(memory).view(np.int8)), axis=1)
    numbers = np.random.default_rng(0).integers(2**62, size=entries.shape[1])
    _, first, group = np.unique(entries @ numbers, return_index=True, return_inverse=True)
    return first, group


def worlds_with(rule_set: np.record, now: Games, hands: Hands, rng: np.random.Generator) -> Games:
    """The position, (1,), with each of the hands."""
    worlds = np.repeat(now, len(hands))
    worlds["rng"] = rng.integers(SEEDS, size=len(hands), dtype=np.uint64)
    take_hands(rule_set, worlds, hands)
    return worlds


def own_hands(worlds: Games) -> Hands:
    """What the believer, who is to move, holds in each."""
    hands: Hands = worlds["hand"][:, worlds["mover"][0]]
    return hands


# --- Compiled


@kernel
def action_of(rule_set: np.record, game: np.record, seat: int) -> int:
    """The action that a seat took last."""
    if game.did[seat] == rules.CLUE:
        offset = rules.side_of(rule_set, seat, game.told[seat])
        return rule_set.clue[offset, game.trait[seat]]
    return rule_set.first[game.did[seat]] + game.slot[seat]


@kernel
def take_turn(rule_set: np.record, games: Games, action: int, cards: NDArray[np.int8]) -> None:
    """The mover acts and, if it has to draw, draws that card in each world, (W,)."""
    weights = np.empty(rule_set.max_outcomes, np.int64)
    for w in range(len(games)):
        game = games[w]
        apply(rule_set, game, action)
        if game.mover == CHANCE:
            resolve(rule_set, game, cards[w])
        settle(rule_set, game, weights)


@kernel
def carry_over(
    rule_set: np.record, games: Games, now: Games, mend: bool, chances: NDArray[np.float64]
) -> None:
    """My hand from one decision of mine, in `games`, to the next, `now`.

    With `mend`, cards that do not agree with it are drawn again from those that do. The chances,
    but for a factor that is the same for all, are those of the cards that were drawn.
    """
    then, possible = now[0], np.zeros(rules.HAND, np.int64)
    me = then.mover
    left = then.slot[me]
    for w in range(len(games)):
        game = games[w]
        wrong = 0
        for slot in range(game.held[me]):
            if slot == left:
                possible[slot] = 1 << int(then.card[me])
            else:
                possible[slot] = then.possible[me, slot - int(left != rules.NONE and slot > left)]
            wrong |= int(possible[slot] >> int(game.hand[me, slot]) & 1 == 0) << slot
        fits = wrong == 0 or (mend and redraw(rule_set, game, me, wrong, possible))
        chances[w] = chance_of_draws(rule_set, game, then) if fits else 0


@inline
def redraw(rule_set: np.record, game: np.record, me: int, slots: int, possible: Any) -> bool:
    """Draw some slots of my hand again, each from its own set of cards; False if one is empty."""
    for slot in range(game.held[me]):
        if slots >> slot & 1:
            game.unseen[game.hand[me, slot]] += 1
    for slot in range(game.held[me]):
        if slots >> slot & 1:
            if copies_of(rule_set, game, possible[slot]) == 0:
                return False
            card = rules.random_copy(rule_set, game, possible[slot])[0]
            game.hand[me, slot] = card
            game.unseen[card] -= 1
    return True


@inline
def chance_of_draws(rule_set: np.record, game: np.record, then: np.record) -> float:
    """All seats, from mine on, draw what I see that they drew, and I a card that clues allow."""
    me, chance = then.mover, 1.0
    if then.slot[me] != rules.NONE:
        for slot in range(then.slot[me], game.held[me] - 1):
            game.hand[me, slot] = game.hand[me, slot + 1]
        game.hand[me, game.held[me] - 1] = rules.NONE
    for step in range(rule_set.seats):
        seat = rules.clockwise(rule_set, me, step)
        newest = then.held[seat] - 1
        if then.slot[seat] != rules.NONE and then.held[seat] == game.held[seat]:
            cards = then.possible[me, newest] if seat == me else 1 << int(then.hand[seat, newest])
            chance *= copies_of(rule_set, game, cards)
            if chance == 0:
                return chance
            card = rules.random_copy(rule_set, game, cards)[0]
            game.unseen[card] -= 1
            game.hand[seat, newest] = card
    return chance


@inline
def copies_of(rule_set: np.record, game: np.record, cards: int) -> int:
    """How many copies of some cards the deck has."""
    copies = 0
    for card in range(rule_set.cards):
        copies += game.unseen[card] * (cards >> card & 1)
    return copies


@kernel
def redraw_one(rule_set: np.record, games: Games, slots: NDArray[np.int64]) -> None:
    """Draw a slot of my hand, another in each world, again from the cards that clues allow."""
    for w in range(len(games)):
        me = games[w].mover
        redraw(rule_set, games[w], me, 1 << slots[w], games[w].possible[me])


@kernel
def take_hands(rule_set: np.record, games: Games, hands: Hands) -> None:
    """Give the seat to move another hand in each world."""
    for w in range(len(games)):
        game, me = games[w], games[w].mover
        for slot in range(rules.count_as_unseen(game, me)):
            game.hand[me, slot] = hands[w, slot]
            game.unseen[hands[w, slot]] -= 1


@kernel
def deal_again(rule_set: np.record, games: Games) -> None:
    """Go back to the beginning, with the same hands; the seat to move has had no turn."""
    before = np.zeros(1, rules.RECORD)
    for w in range(len(games)):
        game = games[w]
        before[0] = game
        first = game.mover
        for step in range(1, rule_set.seats):
            seat = rules.clockwise(rule_set, game.mover, rule_set.seats - step)
            if game.did[seat] != rules.NONE:
                first = seat
            if game.did[seat] == rules.PLAY or game.did[seat] == rules.DISCARD:
                take_back(rule_set, before[0], seat)
        start(rule_set, game)
        if game.phase == rules.CHOOSE_STARTER:
            resolve(rule_set, game, first)
        while game.mover == CHANCE:
            seat = rules.seat_to_draw(rule_set, game)
            resolve(rule_set, game, before[0].hand[seat, game.held[seat]])
