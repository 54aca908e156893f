"""The round in progress can be played again from what a record holds, also in a redealt world."""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from positions import random_session, replayed
from samples import UNCOMPILED, sample

from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.games.registry import variant as make_variant

VARIANTS = {
    id + "".join(f" {name}={value}" for name, value in options.items()): make_variant(id, **options)
    for id, options in (
        ("hanamikoji", {}),
        ("hanamikoji:three_rounds", {}),
        ("hanamikoji:eight_suits", {}),
        ("hanamikoji", {"cards": (2, 3, 4), "actions": ("secret", "gift"), "max_rounds": 2}),
        ("geishas_road:2021", {}),
        ("geishas_road:2021", {"loser_picks_starter": "before_deal"}),
        ("geishas_road:introductory", {}),
        ("geishas_road:standard", {}),
        ("geishas_road:standard", {"decline_collecting": True}),
        ("geishas_road:advanced", {}),
        ("geishas_road:advanced", {"counteroffer_shares": "keep"}),
    )
}
every_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())
GAMES = sample(400, 0.0025)
WORLDS = 2 if UNCOMPILED else 8


class Round:
    """The round in progress: its positions with a seat to move, and the actions taken there."""

    def __init__(self) -> None:
        self.number = 0
        self.positions: list[np.record] = []
        self.actions: list[int] = []

    def add(self, position: np.record) -> None:
        if position.round_number != self.number:
            self.__init__()
            self.number = int(position.round_number)
        self.positions.append(position)


def rounds(variant: Variant, seed: int) -> Iterator[Round]:
    """A random game, one decision after the other; the last position is the one now."""
    play = Round()
    for session in random_session(variant, seed):
        if session.actions and play.positions:
            play.actions.append(session.actions[-1])
        if session.mover != OVER:
            play.add(session.state())
            yield play


def retraced(
    variant: Variant, games: NDArray[np.void], seat: int
) -> tuple[NDArray[np.void], NDArray[np.int64]]:
    decisions = kernels.count_others_decisions(variant.rule_set, games[:1], seat)
    positions = np.zeros((len(games), decisions), games.dtype)
    actions = np.zeros((len(games), decisions), np.int64)
    kernels.retrace(variant.rule_set, games, seat, positions, actions)
    return positions, actions


def without_luck(games: NDArray[np.void]) -> NDArray[np.void]:
    """Two games may differ in their generators alone."""
    games = games.copy()
    games["rng"] = 0
    return games


def as_games(variant: Variant, positions: list[np.record]) -> NDArray[np.void]:
    games = np.zeros(len(positions), variant.game.record)
    for b, position in enumerate(positions):
        games[b] = position
    return games


@every_variant
def test_what_the_other_seat_decided_in_this_round_comes_back(variant: Variant) -> None:
    decisions = 0
    for seed in range(GAMES):
        for play in rounds(variant, seed):
            now = as_games(variant, play.positions[-1:])
            for seat in range(2):
                others = [i for i, at in enumerate(play.positions[:-1]) if at.mover != seat]
                positions, actions = retraced(variant, now, seat)
                assert actions[0].tolist() == [play.actions[i] for i in others]
                past = as_games(variant, [play.positions[i] for i in others])
                assert (without_luck(positions[0]) == without_luck(past)).all()
                decisions += len(others)
    assert decisions > 20 * GAMES


@every_variant
def test_a_redealt_world_has_a_legal_past_that_leads_to_it(variant: Variant) -> None:
    for seed in range(GAMES):
        for play in list(rounds(variant, seed))[:: 5 if UNCOMPILED else 2]:
            game = as_games(variant, play.positions[-1:])
            worlds = variant.new(np.arange(WORLDS, dtype=np.uint64))
            kernels.worlds(variant.rule_set, game, int(game["mover"][0]), worlds)
            for world in worlds:
                assert replayed(variant, world) == world


@every_variant
def test_in_all_worlds_the_other_seat_has_decided_as_often(variant: Variant) -> None:
    for play in rounds(variant, 0):
        game, seat = as_games(variant, play.positions[-1:]), int(play.positions[-1].mover)
        worlds = variant.new(np.arange(WORLDS, dtype=np.uint64))
        kernels.worlds(variant.rule_set, game, seat, worlds)
        counts = {
            kernels.count_others_decisions(variant.rule_set, worlds[b : b + 1], seat)
            for b in range(WORLDS)
        }
        assert len(counts) == 1
