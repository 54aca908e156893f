"""What a player of Hanabi believes of the own hand, if all others play a known policy.

The belief is many hands, and for each what the other seats would remember: a particle filter.
From one own decision to the next those hands go on that agree with the card that was shown and
with what new clues say; if these are few, the others do so too, with other cards in the slots
that do not agree. They live through what happened: the actions of the others, each as likely as
their policy has it in that world; the cards that were drawn, each as likely as that world's deck
has it. Then hands are drawn anew, in proportion to their likelihood.

Notation: W worlds, one for each hand; P seats, M entries of the policy's memory; `me` is the
believer, `now` (1,) the present position, of which only what `me` sees is used.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.compiled import inline, kernel
from hanamachi.game import CHANCE, Variant
from hanamachi.hanabi import rules as rule
from hanamachi.hanabi.table import take_back
from hanamachi.kernels import apply, resolve, settle, start
from hanamachi.policies.policy import Memory, Policy, views

DOUBT = 0.01  # added to the probability of every action: the others may play another policy
FEW = 0.5  # of the hands; with fewer left, too many of them would be the same

Games = NDArray[Any]  # (W,) of rule.RECORD
Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


def live_through(
    policy: Policy, games: Games, memory: Memory, now: Games, seats: list[int], me: int
) -> Floats:
    """Let the last turns of these seats happen in every world; returns their likelihoods, (W,).

    Games and memory (W, P, M) are brought up to date where the likelihood is above 0.
    """
    variant, likelihood = policy.variant, np.ones(len(games))
    for seat in seats:
        on = np.flatnonzero(likelihood)
        worlds, likely = games[on], likelihood[on]
        action = action_of(variant.rules, now[0], seat)
        if seat != me:
            first, group = told_apart(worlds["hand"][:, me], memory[on, seat])
            seen = views(variant, worlds[first], np.full(len(first), seat))
            chances, _, after = policy.distribution(*seen, memory[on[first], seat])
            likely *= chances[group, action] + DOUBT
            memory[on, seat] = after[group]
        take_turn(variant.rules, worlds, now, action, seat == me, likely)
        games[on], likelihood[on] = worlds, likely
    return likelihood


def told_apart(hands: NDArray[np.int8], memory: Memory) -> tuple[Rows, Rows]:
    """Groups of worlds that another seat, which sees these hands and remembers this, takes for one:
    the first world of each group, and the group of each world, (W,).

    Rows are compared by a random sum of 64 bits.
    """
    entries = np.concatenate((hands, np.ascontiguousarray(memory).view(np.int8)), axis=1)
    numbers = np.random.default_rng(0).integers(2**62, size=entries.shape[1])
    _, first, group = np.unique(entries @ numbers, return_index=True, return_inverse=True)
    return first, group


def carried_over(
    variant: Variant, games: Games, now: Games, me: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Which worlds go on, (W,), some more than once; if few could, the others are mended."""
    fits = np.empty(len(games), np.bool_)
    carry_over(variant.rules, games, now, me, False, fits)
    if np.count_nonzero(fits) < FEW * len(games):
        carry_over(variant.rules, games, now, me, True, fits)
    return drawn_by(np.maximum(fits, not fits.any()), len(games), rng)


def drawn_by(likelihood: Floats, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """So many rows, each about as often as its likelihood says (systematic resampling)."""
    edges = np.cumsum(likelihood)
    places = (np.arange(count) + rng.random()) * edges[-1] / count
    return np.minimum(np.searchsorted(edges, places, side="right"), np.flatnonzero(likelihood)[-1])


# --- Compiled


@kernel
def action_of(rules: np.record, game: np.record, seat: int) -> int:
    """The action that a seat took last."""
    if game.did[seat] == rule.CLUE:
        offset = rule.side_of(rules, seat, game.told[seat])
        return rules.clue[offset, game.trait[seat]]
    return rules.first[game.did[seat]] + game.slot[seat]


@kernel
def take_turn(
    rules: np.record, games: Games, now: Games, action: int, mine: bool, likelihood: Floats
) -> None:
    """The mover acts as it did and draws, others what I see, I a card that later clues allow.

    The likelihood becomes 0 where the turn would have shown other cards.
    """
    weights = np.empty(rules.max_outcomes, np.int64)
    then = now[0]
    for w in range(len(games)):
        game, seat = games[w], games[w].mover
        apply(rules, game, action)
        if game.card[seat] != then.card[seat] or game.touched[seat] != then.touched[seat]:
            likelihood[w] = 0
        elif game.mover == CHANCE:
            newest = then.held[seat] - 1
            cards = then.possible[seat, newest] if mine else 1 << int(then.hand[seat, newest])
            copies = copies_of(rules, game, cards)
            likelihood[w] *= copies / game.deck
            if copies > 0:
                resolve(rules, game, rule.random_copy(rules, game, cards)[0])
        settle(rules, game, weights)


@inline
def copies_of(rules: np.record, game: np.record, cards: int) -> int:
    """How many copies of some cards the deck has."""
    copies = 0
    for card in range(rules.cards):
        copies += game.unseen[card] * (cards >> card & 1)
    return copies


@kernel
def carry_over(
    rules: np.record, games: Games, now: Games, me: int, mend: bool, fits: NDArray[np.bool_]
) -> None:
    """Tell which hands agree with what my last card showed, and later clues said of the others.

    With `mend`, the cards that do not agree are drawn again from those that do.
    """
    then, cards = now[0], np.zeros(rule.HAND, np.int64)
    left = then.slot[me]
    for w in range(len(games)):
        game = games[w]
        wrong = 0
        for slot in range(game.held[me]):
            if slot == left:
                cards[slot] = 1 << int(then.card[me])
            else:
                cards[slot] = then.possible[me, slot - int(left != rule.NONE and slot > left)]
            wrong |= int(cards[slot] >> int(game.hand[me, slot]) & 1 == 0) << slot
        fits[w] = wrong == 0 or (mend and redraw(rules, game, me, wrong, cards))


@inline
def redraw(rules: np.record, game: np.record, me: int, slots: int, cards: Any) -> bool:
    """Draw some slots of my hand again, each from its own set of cards; False if one is empty."""
    for slot in range(game.held[me]):
        if slots >> slot & 1:
            game.unseen[game.hand[me, slot]] += 1
    for slot in range(game.held[me]):
        if slots >> slot & 1:
            if copies_of(rules, game, cards[slot]) == 0:
                return False
            card = rule.random_copy(rules, game, cards[slot])[0]
            game.hand[me, slot] = card
            game.unseen[card] -= 1
    return True


@kernel
def take_hands(rules: np.record, games: Games, me: int, hands: NDArray[np.int8]) -> None:
    """Give me one of the hands, (W, H), in each world."""
    for w in range(len(games)):
        game = games[w]
        for slot in range(rule.count_as_unseen(game, me)):
            game.hand[me, slot] = hands[w, slot]
            game.unseen[hands[w, slot]] -= 1


@kernel
def deal_again(rules: np.record, games: Games, me: int) -> None:
    """Go back to the beginning, with the same hands; none has had more than one turn, I none."""
    before = np.zeros(1, rule.RECORD)
    for w in range(len(games)):
        game = games[w]
        before[0] = game
        first = me
        for step in range(1, rules.seats):
            seat = rule.clockwise(rules, me, rules.seats - step)
            if game.did[seat] != rule.NONE:
                first = seat
            if game.did[seat] == rule.PLAY or game.did[seat] == rule.DISCARD:
                take_back(rules, before[0], seat)
        start(rules, game)
        if game.phase == rule.CHOOSE_STARTER:
            resolve(rules, game, first)
        while game.mover == CHANCE:
            seat = rule.seat_to_draw(rules, game)
            resolve(rules, game, before[0].hand[seat, game.held[seat]])
