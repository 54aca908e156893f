"""A seat's observation and mask hold what it may see of the table, and nothing of its own cards."""

import numpy as np
import pytest
from hanabi_positions import VARIANTS, noise, seeing_actions
from numpy.typing import NDArray
from positions import masked, observed
from samples import sample

from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.games.hanabi.rules import NONE

IDS = [f"{v.id.partition(':')[2]}-{v.rule_set.copies.sum()}" for v in VARIANTS]
POSITIONS = max(sample(200_000) // len(VARIANTS), 200)
BATCH = 64


def positions(variant: Variant, seed: int) -> NDArray[np.void]:
    """Decision points of games of random play and of play that sees all cards, (POSITIONS,)."""
    seeds, rng = np.arange(BATCH, dtype=np.uint64), np.random.default_rng(seed)
    games = variant.new(seeds + np.uint64(BATCH * seed))
    kernels.reset(variant.rule_set, games)
    found: list[NDArray[np.void]] = []
    while len(found) * BATCH < POSITIONS:
        found.append(games.copy())
        masks = masked(variant, games)
        actions = seeing_actions(variant, games, masks, noise(seeds), rng)
        kernels.step(variant.rule_set, games, actions)
        ended = games["mover"] == OVER
        fresh = variant.new(rng.integers(1 << 63, size=ended.sum()).astype(np.uint64))
        kernels.reset(variant.rule_set, fresh)
        games[ended] = fresh
    return np.concatenate(found)


def permuted(games: NDArray[np.void], seats: NDArray[np.int64]) -> NDArray[np.void]:
    """The same tables with each seat's hand and the deck mixed, whatever clues say of them."""
    others, rng = games.copy(), np.random.default_rng(0)
    for game, seat in zip(others, seats, strict=True):
        held = game["held"][seat]
        cards = np.repeat(np.arange(len(game["unseen"])), game["unseen"])
        cards = rng.permutation([*game["hand"][seat, :held], *cards]).astype(int)
        game["hand"][seat, :held] = cards[:held]
        game["unseen"] = np.bincount(cards[held:], minlength=len(game["unseen"]))
        game["rng"] = rng.integers(1, 1 << 63)
    return others


@pytest.mark.parametrize("variant", VARIANTS, ids=IDS)
def test_a_seat_does_not_see_its_own_cards(variant: Variant) -> None:
    games = positions(variant, seed=1)
    seats = np.random.default_rng(2).integers(variant.seats, size=len(games))  # to move or waiting
    others = permuted(games, seats)
    np.testing.assert_array_equal(observed(variant, games, seats), observed(variant, others, seats))
    to_move = seats == games["mover"]
    np.testing.assert_array_equal(masked(variant, games[to_move]), masked(variant, others[to_move]))
    assert (games["hand"] != others["hand"]).any((1, 2)).mean() > 0.5


@pytest.mark.parametrize("variant", VARIANTS, ids=IDS)
def test_a_seat_sees_every_card_of_the_others(variant: Variant) -> None:
    games = positions(variant, seed=3)
    movers = games["mover"].astype(np.int64)
    hands = observed(variant, games, movers)[:, variant.observation.slice("hands")]
    shown = hands.reshape(len(games), variant.seats - 1, variant.rule_set.hand_size, -1)
    cards = np.where(shown.any(-1), shown.argmax(-1), NONE)
    for game, mover, seen in zip(games, movers, cards, strict=True):
        others = [(mover + i) % variant.seats for i in range(1, variant.seats)]
        np.testing.assert_array_equal(game["hand"][others, : variant.rule_set.hand_size], seen)


@pytest.mark.parametrize("variant", VARIANTS, ids=IDS)
def test_observations_keep_within_their_bounds(variant: Variant) -> None:
    games = positions(variant, seed=4)
    rows = observed(variant, games, games["mover"].astype(np.int64))
    assert (rows >= variant.observation.low).all()
    assert (rows <= variant.observation.high).all()
