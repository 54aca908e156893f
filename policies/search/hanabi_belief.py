"""The belief of a Hanabi player over its own hand, if all others play a known policy.

The belief is a particle filter with moves (Gilks and Berzuini 2001): many hands, each with the
likelihood of all actions of the others given that hand. From one own decision to the next, hands
are kept if they agree with the card that was revealed and with new clues; if too few agree, the
others are repaired with new cards in the slots that do not agree. Hands are then resampled in
proportion to the gain in likelihood. If the weight is on few hands, slots are redrawn from the
cards that clues allow, with Metropolis acceptance.

The likelihood of a hand, and the others' memories, are carried from decision to decision. A hand
that is repaired or moved also changes the earlier positions, so the game is replayed for it. In 12
games the mean log-likelihood of all of the others' actions at a decision was -1.8 given the true
hand, -2.0 given the belief's, and -3.6 given those of a filter that only goes forward.

Notation: W hands, each with its world; D positions in which the believer decided, the last of them
the current one (only what the believer saw there is used); P seats, H cards, M entries of a memory.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.arrays import Float64s
from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.contract import CHANCE, apply, resolve, start
from hanamachi.engine.kernels import settle
from hanamachi.engine.replay import after_use_of
from hanamachi.games.hanabi import information, rules
from hanamachi.policies.arrays import Memory
from hanamachi.policies.policy import Policy
from hanamachi.policies.rules.hanabi_from_observation import take_back
from hanamachi.policies.search.posterior import resampled
from hanamachi.sessions.arguments import SEEDS
from hanamachi.sessions.observations import observe
from hanamachi.sessions.opponent_protocol import initial_memory
from hanamachi.sessions.policy_checks import distribution_of

SMOOTHING = 0.01  # added to the probability of every action: the others may deviate
MIN_SHARE = 0.5  # of effective hands; with fewer, too many hands would be equal
MOVES = 3  # of every hand in that case, each of one slot

Games = NDArray[Any]  # (W,) or (D,) of rules.RECORD
Hands = NDArray[np.int8]  # (W, H) the oldest card first
Rows = NDArray[np.int64]


class Belief(NamedTuple):
    """Equally weighted hands."""

    hands: Hands
    likelihood: Float64s  # (W,) the log-likelihood of all actions of the others
    games: Games  # the worlds
    memory: Memory  # (W, P, M) of every seat before its next decision; the believer's is blank


def first_belief(policy: Policy, history: Games, hands: Hands, rng: np.random.Generator) -> Belief:
    """The belief from hands sampled by the clues and visible cards alone."""
    belief = replayed(policy, history, hands)
    return resampled_belief(policy, history, belief, belief.likelihood, rng)


def next_belief(
    policy: Policy, history: Games, last: Belief, rng: np.random.Generator
) -> Belief | None:
    """The belief from that at the last decision; None if no hand agrees any more."""
    worlds, weights = carried_worlds(policy.variant.rule_set, history, last.games)
    if not weights.any():
        return None
    rows = resampled(weights > 0, len(weights), rng)
    last = rows_of(last, rows)
    belief = advanced_belief(policy, history, last, own_hands(worlds[rows]))
    gain = belief.likelihood - last.likelihood
    return resampled_belief(policy, history, belief, gain + np.log(weights[rows]), rng)


def carried_worlds(rule_set: np.record, history: Games, before: Games) -> tuple[Games, Float64s]:
    """The worlds at the current decision, and the probability of the cards drawn, (W,).

    `before` are the worlds at the last decision. The probability is 0 where a hand disagrees with
    what is now seen. If too few hands agree, the others are repaired.
    """
    worlds, weights = before.copy(), np.empty(len(before))
    carry_hands(rule_set, worlds, history[-1:], False, weights)
    if np.count_nonzero(weights) < MIN_SHARE * len(before):
        worlds = before.copy()
        carry_hands(rule_set, worlds, history[-1:], True, weights)
    return worlds, weights


def resampled_belief(
    policy: Policy, history: Games, belief: Belief, log_weights: Float64s, rng: np.random.Generator
) -> Belief:
    """The belief resampled by log-weights, (W,), and moved if few hands have most of the weight."""
    weights = np.exp(log_weights - log_weights.max())
    rows = resampled(weights, len(weights), rng)
    belief = rows_of(belief, rows)
    if weights.sum() ** 2 < MIN_SHARE * len(weights) * (weights**2).sum():
        for _ in range(MOVES):
            move(policy, history, belief, rng)
    return belief


def rows_of(belief: Belief, rows: NDArray[Any]) -> Belief:
    return Belief._make(each[rows] for each in belief)


def put(belief: Belief, rows: NDArray[Any], others: Belief) -> None:
    """Replace these rows of a belief by all rows of another."""
    for name in Belief._fields:
        getattr(belief, name)[rows] = getattr(others, name)


def move(policy: Policy, history: Games, belief: Belief, rng: np.random.Generator) -> None:
    """Propose a new card for one slot of each hand; accepted hands change in place."""
    rule_set, now = policy.variant.rule_set, history[-1:]
    worlds = worlds_with(rule_set, now, belief.hands, rng)
    slots = rng.integers(now["held"][0, now["mover"][0]], size=len(worlds))
    redraw_one(rule_set, worlds, slots)
    hands = own_hands(worlds)
    rows = np.flatnonzero((hands != belief.hands).any(1))
    least = belief.likelihood[rows] + np.log1p(-rng.random(len(rows)))
    accepted, moved = likely(policy, history, hands[rows], least)
    put(belief, rows[accepted], moved)


# --- Replaying the game


def replayed(policy: Policy, history: Games, hands: Hands) -> Belief:
    """Replay the game up to the current decision, as if the hands there were these."""
    return likely(policy, history, hands, np.full(len(hands), -np.inf))[1]


def likely(policy: Policy, history: Games, hands: Hands, least: Float64s) -> tuple[Rows, Belief]:
    """Replay the game for these hands; returns the rows that are likely enough, and their belief.

    Likely enough are those whose log-likelihood is at least `least` (W,). It never rises, so a hand
    is dropped once it is below. Hands that were the same up to a position are replayed as one.
    """
    held, rows = hands_held(history, hands), np.arange(len(hands))
    first, group = alike(held[0])
    replay = dealt(policy, history, held[0][first])
    turns = seats_between(history, policy.variant.seats)
    for now, own, seats in zip(history, held, turns, strict=True):
        before = group
        first, group = alike(own[rows])
        replay = rows_of(replay, before[first])
        if len(rows):
            repeat_turns(policy, replay, now, own[rows[first]], seats)
        kept = replay.likelihood[group] >= least[rows]
        rows, group = rows[kept], group[kept]
    return rows, rows_of(replay, group)._replace(hands=hands[rows])


def dealt(policy: Policy, history: Games, hands: Hands) -> Belief:
    """The worlds before the first position of the history, where my hands are these."""
    variant, me = policy.variant, history["mover"][0]
    games = np.repeat(history[:1], len(hands))
    take_hands(variant.rule_set, games, hands)
    if history["did"][0, me] == rules.NONE:
        deal_again(variant.rule_set, games)
    memory = initial_memory(policy, len(hands), variant.seats)
    return Belief(hands, np.zeros(len(hands)), games, memory)


def advanced_belief(policy: Policy, history: Games, last: Belief, hands: Hands) -> Belief:
    """The belief `last` with what was done since the last decision, where the hands are now these.

    The game is replayed for a hand that differs from the one believed then.
    """
    before = hands_held(history[-2:], hands)[0]
    kept = (before == last.hands).all(1)
    belief = Belief._make(each.copy() for each in last._replace(hands=hands))
    if kept.any():
        kept_rows = rows_of(belief, kept)
        seats = seats_between(history, policy.variant.seats)[-1]
        repeat_turns(policy, kept_rows, history[-1], kept_rows.hands, seats)
        put(belief, kept, kept_rows)
    if not kept.all():
        put(belief, ~kept, replayed(policy, history, hands[~kept]))
    return belief


def repeat_turns(policy: Policy, belief: Belief, now: Any, own: Hands, seats: list[int]) -> None:
    """Let these seats act as they did up to the position `now`, where my hands are `own`, (W, H).

    Changes the games, the memories and the likelihood.
    """
    rule_set, me = policy.variant.rule_set, int(now["mover"])
    drawn = np.empty(len(own), np.int8)
    for seat in seats:
        action = action_of(rule_set, now, seat)
        if seat != me:
            probability = probability_of(policy, belief.games, belief.memory, me, action)
            # at most 1, so that `likely` may stop
            belief.likelihood[:] += np.log((probability + SMOOTHING) / (1 + SMOOTHING))
        newest = now["held"][seat] - 1
        drawn[:] = own[:, newest] if seat == me else now["hand"][seat, newest]
        take_turn(rule_set, belief.games, action, drawn)


def hands_held(history: Games, hands: Hands) -> list[Hands]:
    """The believer's hands in all positions, (D, W, H), from those in the last."""
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
    """The seats that acted before each position, since the previous one or the beginning."""
    me = int(history["mover"][0])
    others = [seat % seats for seat in range(me + 1, me + seats)]
    acted = [seat for seat in others if history["did"][0, seat] != rules.NONE]
    joined_later = history["did"][0, me] != rules.NONE
    return [[] if joined_later else acted] + [[me, *others]] * (len(history) - 1)


def probability_of(policy: Policy, games: Games, memory: Memory, me: int, action: int) -> Float64s:
    """The probability that the seat to move takes the action, (W,); updates its memory."""
    seat = int(games["mover"][0])
    first, group = distinguished(games["hand"][:, me], memory[:, seat])
    seen = observe(policy.variant, games[first], np.full(len(first), seat))
    probabilities, _, after = distribution_of(policy, *seen, memory[first, seat])
    memory[:, seat] = after[group]
    return probabilities[group, action].astype(np.float64)


def distinguished(hands: Hands, memory: Memory) -> tuple[Rows, Rows]:
    """Group worlds that another seat, with these hands in sight and this memory, cannot tell apart.

    Returns the first world of each group, and the group of each world, (W,).
    """
    return alike(np.concatenate((hands, np.ascontiguousarray(memory).view(np.int8)), axis=1))


def alike(entries: NDArray[np.int8]) -> tuple[Rows, Rows]:
    """The first row of each group of equal rows, and the group of each row, (W,).

    Rows are compared by a random sum of 64 bits.
    """
    numbers = np.random.default_rng(0).integers(2**62, size=entries.shape[1])
    _, first, group = np.unique(entries @ numbers, return_index=True, return_inverse=True)
    return first, group


def worlds_with(rule_set: np.record, now: Games, hands: Hands, rng: np.random.Generator) -> Games:
    """Worlds, (W,): the position, (1,), with each of the hands."""
    worlds = np.repeat(now, len(hands))
    worlds["rng"] = rng.integers(SEEDS, size=len(hands), dtype=np.uint64)
    take_hands(rule_set, worlds, hands)
    return worlds


def own_hands(worlds: Games) -> Hands:
    """The hand of the believer, who is to move, in each world."""
    hands: Hands = worlds["hand"][:, worlds["mover"][0]]
    return hands


# --- Compiled


@kernel
def follows(rule_set: np.record, last: Games, now: Games) -> bool:
    """Whether the position `now`, (1,), can be the mover's next one after `last`, (1,)."""
    before = np.zeros(1, rules.RECORD)
    before[0] = now[0]
    game, then, me = before[0], last[0], now[0].mover
    for step in range(1, rule_set.seats + 1):
        seat = rules.clockwise(rule_set, me, rule_set.seats - step)
        if game.did[seat] == rules.NONE:
            return False
        if game.did[seat] == rules.CLUE:
            game.clues += 1
        else:
            take_back(rule_set, game, seat)
    same = then.mover == me and then.deck == game.deck and then.clues == game.clues
    same &= then.errors == game.errors and then.score == game.score
    for suit in range(rule_set.suits):
        same &= then.fireworks[suit] == game.fireworks[suit]
    for card in range(rule_set.cards):
        same &= then.discards[card] == game.discards[card]
    for seat in range(rule_set.seats):
        same &= then.held[seat] == game.held[seat]
        for slot in range(game.held[seat]):
            same &= seat == me or then.hand[seat, slot] == game.hand[seat, slot]
    return after_use_of(before, same)


@kernel
def can_be_held(rule_set: np.record, now: Games, hands: Hands) -> bool:
    """Whether clues and visible cards allow the seat to move at `now`, (1,), each of the hands."""
    worlds, me, allowed = now.copy(), now[0].mover, True
    held = information.count_as_unseen(worlds[0], me)
    for w in range(len(hands)):
        allowed &= is_among(worlds[0].unseen.copy(), now[0].possible[me], hands[w, :held])
    return after_use_of(worlds, allowed)


@inline
def is_among(unseen: NDArray[np.int8], possible: NDArray[Any], hand: NDArray[np.int8]) -> bool:
    """Whether unseen copies, (CARDS,), make a hand, with a card in each slot that is possible."""
    for slot in range(len(hand)):
        card = hand[slot]
        if card < 0 or card >= len(unseen) or possible[slot] >> card & 1 == 0 or unseen[card] < 1:
            return False
        unseen[card] -= 1
    return True


@kernel
def action_of(rule_set: np.record, game: np.record, seat: int) -> int:
    """The last action of a seat."""
    if game.did[seat] == rules.CLUE:
        offset = rules.side_of(rule_set, seat, game.told[seat])
        return rule_set.clue[offset, game.trait[seat]]
    return rule_set.first[game.did[seat]] + game.slot[seat]


@kernel
def take_turn(rule_set: np.record, games: Games, action: int, cards: NDArray[np.int8]) -> None:
    """Apply the mover's action in each world; if a card is drawn, it is that of `cards` (W,)."""
    weights = np.empty(rule_set.max_outcomes, np.int64)
    for w in range(len(games)):
        game = games[w]
        apply(rule_set, game, action)
        if game.mover == CHANCE:
            resolve(rule_set, game, cards[w])
        settle(rule_set, game, weights)


@kernel
def carry_hands(
    rule_set: np.record, games: Games, now: Games, repair: bool, weights: NDArray[np.float64]
) -> None:
    """Carry my hand from my last decision, in `games`, to the current one, `now`.

    With `repair`, cards that do not agree with `now` are redrawn from those that do. The weights
    are proportional to the probability of the cards that were drawn.
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
        agrees = wrong == 0 or (repair and redraw(rule_set, game, me, wrong, possible))
        weights[w] = probability_of_draws(rule_set, game, then) if agrees else 0


@inline
def redraw(rule_set: np.record, game: np.record, me: int, slots: int, possible: Any) -> bool:
    """Redraw some slots of my hand, each from its own set of cards; False if one is empty."""
    for slot in range(game.held[me]):
        if slots >> slot & 1:
            game.unseen[game.hand[me, slot]] += 1
    for slot in range(game.held[me]):
        if slots >> slot & 1:
            if information.count_among(rule_set, game.unseen, possible[slot]) == 0:
                return False
            card = information.random_copy(rule_set, game, possible[slot])[0]
            game.hand[me, slot] = card
            game.unseen[card] -= 1
    return True


@inline
def probability_of_draws(rule_set: np.record, game: np.record, then: np.record) -> float:
    """Let all seats draw the cards that I saw them draw, and me one that clues allow.

    Returns a number proportional to the probability of these draws.
    """
    me, probability = then.mover, 1.0
    if then.slot[me] != rules.NONE:
        for slot in range(then.slot[me], game.held[me] - 1):
            game.hand[me, slot] = game.hand[me, slot + 1]
        game.hand[me, game.held[me] - 1] = rules.NONE
    for step in range(rule_set.seats):
        seat = rules.clockwise(rule_set, me, step)
        newest = then.held[seat] - 1
        if then.slot[seat] != rules.NONE and then.held[seat] == game.held[seat]:
            cards = then.possible[me, newest] if seat == me else 1 << int(then.hand[seat, newest])
            probability *= information.count_among(rule_set, game.unseen, cards)
            if probability == 0:
                return probability
            card = information.random_copy(rule_set, game, cards)[0]
            game.unseen[card] -= 1
            game.hand[seat, newest] = card
    return probability


@kernel
def redraw_one(rule_set: np.record, games: Games, slots: NDArray[np.int64]) -> None:
    """Redraw one slot of my hand in each world from the cards that clues allow."""
    for w in range(len(games)):
        me = games[w].mover
        redraw(rule_set, games[w], me, 1 << slots[w], games[w].possible[me])


@kernel
def take_hands(rule_set: np.record, games: Games, hands: Hands) -> None:
    """Give the seat to move its hand of `hands` in each world."""
    for w in range(len(games)):
        game, me = games[w], games[w].mover
        for slot in range(information.count_as_unseen(game, me)):
            game.hand[me, slot] = hands[w, slot]
            game.unseen[hands[w, slot]] -= 1


@kernel
def deal_again(rule_set: np.record, games: Games) -> None:
    """Rewind to the beginning with the same hands; the seat to move has not acted yet."""
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
        game.player = first  # whom the options of the policy may not name
        rules.find_mover(rule_set, game)
        while game.mover == CHANCE:
            seat = rules.seat_to_draw(rule_set, game)
            resolve(rule_set, game, before[0].hand[seat, game.held[seat]])
