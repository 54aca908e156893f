"""The compiled loops over batches of games, which serve every game.

Notation: B games, S seats, A actions, N entries of an observation. All arrays are written in
place; rows are independent, so `parallel_for` may give each thread its share of them. Pass seats as
int64; any other dtype triggers a second compilation.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.action_masks import count_legal, nth_legal
from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.contract import (
    CHANCE,
    OVER,
    apply,
    chance,
    legal,
    next_event,
    observe,
    redeal,
    resolve,
    rewind,
    start,
    valid,
)
from hanamachi.engine.random_numbers import below
from hanamachi.engine.records import with_attributes

ANY_SEAT = -1  # in place of a learner's seat: it is drawn for each game
BEGIN, LOOK = -1, -2  # in place of an action: begin a new game, or change nothing
MOVER = -4  # in place of a seat: the one to move
REFUSED = -3  # what a step returns, in place of the mover, if the action was not legal


# --- One game


@inline
def settle(rule_set: Any, game: np.record, weights: NDArray[np.int64]) -> None:
    """Let chance happen until a seat is to move or the game is over."""
    while game.mover == CHANCE:
        happen(rule_set, game, weights)


@inline
def happen(rule_set: Any, game: np.record, weights: NDArray[np.int64]) -> None:
    """One event of chance.

    Where every nanosecond counts, this is called in a loop in place of `settle`, which would count
    a reference of `weights` in each call: compiled code keeps that count around a loop.
    """
    resolve(rule_set, game, drawn(rule_set, game, weights))


@inline
def drawn(rule_set: Any, game: np.record, weights: NDArray[np.int64]) -> int:
    """One outcome of chance, by the game's own generator; it costs one random number."""
    total = 0
    for i in range(chance(rule_set, game, weights)):
        total += weights[i]
    skip = below(game, total)
    outcome = 0
    while skip >= weights[outcome]:
        skip -= weights[outcome]
        outcome += 1
    return outcome


# --- Many games


@kernel
def reset(rule_set: Any, games: NDArray[Any]) -> None:
    """Begin a new game in every row."""
    weights = np.empty(rule_set.max_outcomes, np.int64)
    for b in range(len(games)):
        start(rule_set, games[b])
        settle(rule_set, games[b], weights)


@kernel
def settle_all(rule_set: Any, games: NDArray[Any]) -> None:
    """Let chance happen in every row until a seat is to move or the game is over."""
    weights = np.empty(rule_set.max_outcomes, np.int64)
    for b in range(len(games)):
        settle(rule_set, games[b], weights)


@kernel
def step(rule_set: Any, games: NDArray[Any], actions: NDArray[np.int64]) -> None:
    """Carry out one legal action in every row, and all that chance adds."""
    weights = np.empty(rule_set.max_outcomes, np.int64)
    for b in range(len(games)):
        apply(rule_set, games[b], actions[b])
        settle(rule_set, games[b], weights)


@kernel
def masks(rule_set: Any, games: NDArray[Any], out: NDArray[np.int8]) -> None:
    """The movers' action masks, (B, A); zeros where the game is over."""
    for b in range(len(games)):
        legal(rule_set, games[b], out[b])


@kernel
def observations(
    rule_set: Any, games: NDArray[Any], seats: NDArray[np.int64], out: NDArray[Any]
) -> None:
    """What the given seats know, (B, N)."""
    for b in range(len(games)):
        observe(rule_set, games[b], seats[b], out[b])


@kernel
def start_one(rule_set: Any, game: np.record) -> None:
    """Begin a game without its chance."""
    start(rule_set, game)


@kernel
def apply_one(rule_set: Any, game: np.record, action: int) -> None:
    """Carry out an action without its chance."""
    apply(rule_set, game, action)


@kernel
def draw_one(rule_set: Any, game: np.record) -> int:
    """Draw one outcome of chance with the game's own generator, without making it happen."""
    weights = np.empty(rule_set.max_outcomes, np.int64)
    return drawn(rule_set, game, weights)


@kernel
def outcomes_of(
    rule_set: Any, game: np.record, outcomes: NDArray[np.int64], chances: NDArray[np.float64]
) -> int:
    """What chance can do next in one game: (outcomes, chances) up to the number returned."""
    weights = np.empty(rule_set.max_outcomes, np.int64)
    total = n = 0
    for outcome in range(chance(rule_set, game, weights)):
        total += weights[outcome]
        if weights[outcome] > 0:
            outcomes[n] = outcome
            chances[n] = weights[outcome]
            n += 1
    for i in range(n):  # a loop, as a quotient of arrays takes seconds to compile
        chances[i] /= total
    return n


@kernel
def resolve_one(rule_set: Any, game: np.record, outcome: int) -> None:
    """Make one outcome of chance happen."""
    resolve(rule_set, game, outcome)


@kernel
def is_valid(rule_set_array: NDArray[Any], games: NDArray[Any]) -> bool:
    """Whether games[0], of any bytes, is a position of the rule set in `rule_set_array` (1,)."""
    game = games[0]
    for byte in game.rest:
        if byte != 0:
            return False
    return game.rng != 0 and valid(rule_set_array[0], game)


@kernel
def worlds(rule_set: Any, game: NDArray[Any], seat: int, out: NDArray[Any]) -> None:
    """Games that `seat` cannot tell from game[0], each dealt with the generator in its row."""
    for b in range(len(out)):
        rng = out[b].rng
        out[b] = game[0]
        out[b].rng = rng
        redeal(rule_set, out[b], seat)


@kernel
def retrace(
    rule_set: Any,
    games: NDArray[Any],
    seat: int,
    positions: NDArray[Any],
    actions: NDArray[np.int64],
) -> int:
    """What seats other than `seat` have decided in the round in progress, in order.

    Writes each game's positions before these decisions and the actions taken, (B, T) each, with
    T as `count_others_decisions` counts them. Returns how many there were in the last game.
    """
    scratch = games[:1].copy()
    decided = 0
    for b in range(len(games)):
        scratch[0] = games[b]
        decided = relive(rule_set, games[b], scratch[0], seat, positions[b], actions[b])
    return decided if len(scratch) else 0  # a record does not keep its array alive; see replay.py


def count_others_decisions(rule_set: Any, game: NDArray[Any], seat: int) -> int:
    """How many decisions others than `seat` have made in the round in progress of game[0]."""
    no_room = np.empty((1, 0), game.dtype), np.empty((1, 0), np.int64)
    return retrace(rule_set, game[:1], seat, *no_room)


@inline
def relive(
    rule_set: Any,
    game: np.record,
    earlier: np.record,
    seat: int,
    positions: NDArray[Any],
    actions: NDArray[np.int64],
) -> int:
    """Play the round again in `earlier`; returns how often others than `seat` decided."""
    decided = 0
    rewind(rule_set, earlier)
    event = next_event(rule_set, game, earlier)
    while event >= 0:
        if earlier.mover != CHANCE and earlier.mover != seat:
            if decided < len(actions):
                positions[decided] = earlier
                actions[decided] = event
            decided += 1
        if earlier.mover == CHANCE:
            resolve(rule_set, earlier, event)
        else:
            apply(rule_set, earlier, event)
        event = next_event(rule_set, game, earlier)
    return decided


@kernel
def advance(
    rule_set: Any,
    games: NDArray[Any],
    actions: NDArray[np.int64],
    observations: NDArray[Any],
    masks: NDArray[np.int8],
    rewards: NDArray[np.float32],
    terminated: NDArray[np.bool_],
    last: NDArray[Any],
) -> None:
    """Carry out a decision in every row, then all forced moves up to the next decision.

    A game that ends is followed by a new one in its row. `rewards` (B, S) sums what every seat
    earned on the way; `last` (B, N) is what the seat that decided sees at the end of a game.
    """
    weights = np.empty(rule_set.max_outcomes, np.int64)
    for b in range(len(games)):
        game, mask = games[b], masks[b]
        mover = np.int64(game.mover)
        action = actions[b]
        rewards[b] = 0
        terminated[b] = False
        choices = 1
        while choices == 1:
            apply(rule_set, game, action)
            while game.mover == CHANCE:
                happen(rule_set, game, weights)
            for seat in range(rewards.shape[1]):
                rewards[b, seat] += game.rewards[seat]
            if game.mover == OVER:
                terminated[b] = True
                observe(rule_set, game, mover, last[b])
                start(rule_set, game)
                settle(rule_set, game, weights)
            choices = legal(rule_set, game, mask)
            if terminated[b]:
                break
            if choices == 1:
                action = nth_legal(mask, 0)
        observe(rule_set, game, np.int64(game.mover), observations[b])


@kernel
def random_decisions(
    rule_set: Any,
    games: NDArray[Any],
    decisions: int,
    observations: NDArray[Any],
    masks: NDArray[np.int8],
) -> None:
    """Make this many random legal decisions in every row; write each one's observation and mask.

    Forced moves are made but not counted.
    """
    weights = np.empty(rule_set.max_outcomes, np.int64)
    for b in range(len(games)):
        game, observation, mask = games[b], observations[b], masks[b]
        left = decisions
        while left > 0:
            if game.mover == OVER:
                start(rule_set, game)
                settle(rule_set, game, weights)
            choices = legal(rule_set, game, mask)
            if choices > 1:
                observe(rule_set, game, np.int64(game.mover), observation)
                left -= 1
            apply(rule_set, game, nth_legal(mask, below(game, choices)))
            while game.mover == CHANCE:
                happen(rule_set, game, weights)


@kernel
def play_out(
    rule_set: Any,
    games: NDArray[Any],
    masks: NDArray[np.int8],
    earned: NDArray[np.floating[Any]],
    decisions: NDArray[np.int64],
) -> None:
    """Random legal play to the end of every game.

    Writes what each seat earns on the way, (B, S), and how many decisions there were, (B,).
    """
    weights = np.empty(rule_set.max_outcomes, np.int64)
    for b in range(len(games)):
        game = games[b]
        earned[b] = 0
        decisions[b] = 0
        settle(rule_set, game, weights)
        while game.mover != OVER:
            choices = legal(rule_set, game, masks[b])
            apply(rule_set, game, nth_legal(masks[b], below(game, choices)))
            settle(rule_set, game, weights)
            for seat in range(earned.shape[1]):
                earned[b, seat] += game.rewards[seat]
            decisions[b] += 1


# --- One game, for the adapters


@kernel
def advance_one(
    rule_set_array: NDArray[Any],
    games: NDArray[Any],
    action: int,
    seat: int,
    observation: NDArray[Any],
    mask: NDArray[np.int8],
) -> int:
    """Carry out an action in games[0] and all that chance adds, if `mask` (A,) allows it.

    In place of an action, BEGIN begins a new game, and LOOK changes nothing. `observation` (N,) and
    `mask` then hold what `seat` sees, or with MOVER the seat to move: no action is legal out of its
    turn. Returns the seat to move, OVER, or REFUSED. The rule set is in `rule_set_array` (1,).

    One kernel does all this because each would compile the game's rules for itself.
    """
    rule_set, game = rule_set_array[0], games[0]
    if action >= 0:
        if mask[action] == 0:
            return REFUSED
        apply(rule_set, game, action)
    elif action == BEGIN:
        start(rule_set, game)
    if action != LOOK:
        settle(rule_set, game, np.empty(rule_set.max_outcomes, np.int64))
    mover = int(game.mover)
    viewer = mover if seat == MOVER else seat
    if viewer != OVER:
        observe(rule_set, game, viewer, observation)
    if viewer == mover and mover != OVER:
        legal(rule_set, game, mask)
    else:
        mask[:] = 0
    return mover


# --- One learner a game, against random play


LEARNER = with_attributes(
    [
        ("seat", np.int64),  # in this game
        ("earlier", np.float64),  # what it has earned before its first decision
        ("rng", np.uint64),  # the generator of its opponents' choices
    ]
)


@inline
def drawn_seat(rng: Any, seats: int) -> Any:
    """A learner's seat, drawn by the uint64 states of games' generators before they begin."""
    return rng % np.uint64(seats)


@inline
def begin_for(rule_set: Any, game: np.record, seat: int, learner: np.record) -> None:
    """Set up a new game, in which the learner sits in `seat`.

    With ANY_SEAT the game's generator draws its seat.
    """
    learner.seat = np.int64(drawn_seat(game.rng, rule_set.seats)) if seat == ANY_SEAT else seat
    start(rule_set, game)


class Shown(NamedTuple):
    """The arrays that a step of the learners fills, a row for each game."""

    observations: NDArray[Any]  # (B, N)
    masks: NDArray[np.int8]  # (B, A)
    rewards: NDArray[np.float64]  # (B,) all that the learner earned since its last decision
    terminated: NDArray[np.bool_]  # (B,)
    last: NDArray[Any]  # (B, N) the final observations, of games that ended


@kernel
def step_against_random(
    rule_set: Any,
    games: NDArray[Any],
    actions: NDArray[np.int64],
    seat: int,
    learners: NDArray[Any],
    shown: Shown,
) -> None:
    """Carry out the learner's action in every row, up to its next decision.

    That decision is in a new game where the old one has ended, or where BEGIN stands in place of an
    action. Games that end before the learner's first decision are skipped.

    Rules are called in one place, not in one for each case: for every other they would be compiled
    again.
    """
    observations, masks, rewards, terminated, last = shown
    weights = np.empty(rule_set.max_outcomes, np.int64)
    for b in range(len(games)):
        game, learner, mask = games[b], learners[b], masks[b]
        action, stepping = actions[b], actions[b] != BEGIN
        rewards[b] = 0.0
        terminated[b] = False
        earned = learner.earlier
        deciding = False
        while not deciding:
            if action == BEGIN:
                begin_for(rule_set, game, seat, learner)
            else:
                apply(rule_set, game, action)
            settle(rule_set, game, weights)
            earned = 0.0 if action == BEGIN else earned + game.rewards[learner.seat]
            deciding = game.mover == learner.seat
            if game.mover == OVER:
                if stepping:
                    stepping = False
                    rewards[b] = earned
                    terminated[b] = True
                    observe(rule_set, game, learner.seat, last[b])
                action = BEGIN
            else:
                choices = legal(rule_set, game, mask)
                if not deciding:
                    action = nth_legal(mask, below(learner, choices))
        if stepping:
            rewards[b] = earned
        learner.earlier = 0.0 if stepping else earned
        observe(rule_set, game, learner.seat, observations[b])


@kernel
def pick(
    rule_set: Any, masks: NDArray[np.int8], uniforms: NDArray[np.float64], out: NDArray[np.int64]
) -> None:
    """A legal action in every row, (B,), by a random number from [0, 1) for each."""
    for b in range(len(masks)):
        out[b] = nth_legal(masks[b], int(uniforms[b] * count_legal(masks[b])))
