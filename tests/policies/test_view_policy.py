"""Policies that play from views: everywhere where the events of each game are followed."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from samples import sample

import hanamachi
from hanamachi.adapters.gymnasium import SeatEnv
from hanamachi.adapters.gymnasium_vector import VectorSeatEnv
from hanamachi.engine import kernels
from hanamachi.errors import UserError
from hanamachi.policies.load import load_policy
from hanamachi.policies.search.search import new_search
from hanamachi.policies.user_functions import as_policy
from hanamachi.policies.view_policy import ViewPolicy
from hanamachi.sessions.players import SeatedPlayer, in_progress, turns_of
from hanamachi.sessions.session import Session
from hanamachi.sessions.views import seat_view
from hanamachi.sessions.worlds import worlds_of
from hanamachi.training.evaluation.playing import followed, play_games

every_variant = pytest.mark.parametrize("id", hanamachi.VARIANTS)


class FirstAction(ViewPolicy):
    """Plays the first legal action of each view, and keeps the views."""

    name = "first action"
    is_stochastic = False

    def __init__(self, variant: Any) -> None:
        super().__init__(variant)
        self.views: list[dict[str, Any]] = []

    def probabilities(self, worlds: Any, mask: NDArray[np.int8]) -> NDArray[np.float32]:
        chances = np.zeros(mask.shape, np.float32)
        for row in range(len(worlds)):
            view = worlds.view(row)
            self.views.append(view)
            chances[row, view["legal"][0]["action"]] = 1
        return chances


def first_action(observation: Any, mask: NDArray[np.int8]) -> int:
    return int(mask.argmax())


@every_variant
def test_a_match_by_views_is_the_match_by_observations(id: str) -> None:
    variant = hanamachi.variant(id)
    deals = np.arange(sample(100, 0.04), dtype=np.uint64)
    seating = np.tile(np.arange(variant.seats) % 2, (len(deals), 1))
    by_view, by_observation = (
        play_games([policy, load_policy("random", id)], variant, seating, deals, 0, "sample")
        for policy in (FirstAction(variant), as_policy(first_action, variant))
    )
    assert (by_view[0] == by_observation[0]).all()
    assert by_view[1].tobytes() == by_observation[1].tobytes()


@every_variant
def test_views_in_a_batch_of_games_are_those_of_single_games(id: str) -> None:
    variant, policy = hanamachi.variant(id), FirstAction(hanamachi.variant(id))
    games = variant.new(np.arange(3, dtype=np.uint64))
    sessions = [Session(variant) for _ in games]
    for seed, session in enumerate(sessions):
        session.begin(seed)
    history = followed(variant, games)
    kernels.reset(variant.rule_set, games)
    player, rng = SeatedPlayer(policy, variant, len(games)), np.random.default_rng(0)
    while (rows := in_progress(games)).size:
        turns = turns_of(variant, games, rows, history=history)
        expected = [seat_view(sessions[row], sessions[row].mover) for row in rows]
        actions = player.act(turns, rng)
        assert policy.views[-len(rows) :] == expected
        turns.step(games, actions)
        for row, action in zip(rows, actions, strict=True):
            sessions[row].step(int(action))


def test_an_environment_plays_with_it() -> None:
    policy = FirstAction(hanamachi.variant("hanamikoji"))
    env = SeatEnv("hanamikoji", opponent=policy)
    _, info = env.reset(seed=0)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    assert policy.views


def test_vector_environments_refuse_it_in_a_sentence() -> None:
    policy = FirstAction(hanamachi.variant("hanamikoji"))
    env = VectorSeatEnv("hanamikoji", num_envs=4, opponent=policy, seat=1)
    with pytest.raises(UserError, match="views"):
        env.reset(seed=0)


def test_searches_refuse_it_in_a_sentence() -> None:
    policy = FirstAction(hanamachi.variant("hanamikoji"))
    with pytest.raises(UserError, match="views"):
        new_search("improve", policy.variant, policy, "worlds=4", name="search")


def test_it_asks_for_the_games_if_it_has_not_been_given_them() -> None:
    policy = FirstAction(hanamachi.variant("hanamikoji"))
    session = Session(policy.variant)
    session.begin(0)
    observation, mask = session.observe(session.mover)
    with pytest.raises(UserError, match="with_worlds"):
        policy.predict(observation, action_masks=mask)


def test_it_refuses_the_worlds_of_other_games_or_of_the_turn_before() -> None:
    session = Session(hanamachi.variant("hanamikoji"))
    session.begin(0)
    policy = FirstAction(session.variant).with_worlds(worlds_of(session, session.mover))
    observation, mask = session.observe(session.mover)
    policy.predict(observation, action_masks=mask)
    with pytest.raises(UserError, match="these 2 games"):
        policy.predict(np.stack([observation] * 2), action_masks=np.stack([mask] * 2))
    while session.mover == policy._worlds._seats[0]:
        session.step(int(session.observe(session.mover)[1].argmax()))
    observation, mask = session.observe(session.mover)
    with pytest.raises(UserError, match="with_worlds"):
        policy.predict(observation, action_masks=mask)
