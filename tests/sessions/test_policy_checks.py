"""Whatever a policy answers is checked before anything uses it."""

import sys

import numpy as np
import pytest

import hanamachi
from hanamachi.adapters.gymnasium import SeatEnv
from hanamachi.engine import kernels
from hanamachi.errors import IllegalAction, UserError
from hanamachi.policies import load_policy
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.network import checkpoint_of, for_variant
from hanamachi.policies.policy import Policy
from hanamachi.policies.sampling import sample, uniform
from hanamachi.policies.search.search import new_search
from hanamachi.policies.user_functions import as_policy
from hanamachi.sessions.players import SeatedPlayer, turns_of
from hanamachi.sessions.policy_checks import (
    actions_of,
    asked_about,
    distribution_of,
    memory_of,
    scores_of,
    values_of,
)
from hanamachi.sessions.worlds import Worlds
from hanamachi.training import Config, evaluate, train

GAME = hanamachi.variant("hanamikoji")
SEEN = np.zeros((3, GAME.observation.size), np.float32)
MASKS = np.tile(np.arange(GAME.actions.size) < 2, (3, 1)).astype(np.int8)
MEMORY = np.zeros((3, 0), np.float32)
RNG = np.random.default_rng(0)


class Wrong(Policy):
    """Uniform play, but for what `spoil` does to the probabilities."""

    name = "wrong"

    def __init__(self, spoil, values=None, memory=lambda memory: memory):
        super().__init__(GAME)
        self.spoil, self.returned_values, self.after = spoil, values, memory

    def distribution(self, observation, mask, memory):
        probabilities = uniform(mask)
        self.spoil(probabilities)
        return probabilities, self.returned_values, self.after(memory)


def entry(action, value):
    def spoil(probabilities):
        probabilities[-1, action] = value

    return spoil


def nothing(probabilities):
    pass


@pytest.mark.parametrize(
    "spoil",
    [entry(0, np.nan), entry(0, np.inf), entry(0, 0.6), entry(0, -0.5), entry(5, 0.1),
     entry(5, np.nan), entry(5, -1e-9), lambda probabilities: probabilities.fill(0)],
    ids=["nan", "infinite", "above 1", "below 0", "illegal", "illegal nan", "illegal below 0",
         "none"],
)  # fmt: skip
def test_what_is_no_distribution_over_the_legal_actions_is_refused(spoil):
    with pytest.raises(UserError, match="wrong"):
        distribution_of(Wrong(spoil), SEEN, MASKS, MEMORY)
    with pytest.raises(UserError, match="wrong"):
        Wrong(spoil).act(SEEN, MASKS, MEMORY, RNG)


def test_values_and_memories_that_do_not_fit_are_refused():
    for values in (np.array([0, 0, np.nan]), np.array([0, np.inf, 0]), np.zeros(2), "none"):
        policy = Wrong(nothing, values)
        with pytest.raises(UserError, match="values"):
            distribution_of(policy, SEEN, MASKS, MEMORY)
        with pytest.raises(UserError, match="values"):
            values_of(policy, SEEN, MASKS, MEMORY)
    for memory in (np.zeros((3, 1)), np.zeros((2, 0)), np.zeros((3, 0), object), None):
        with pytest.raises(UserError, match="memory"):
            distribution_of(Wrong(nothing, memory=lambda _, m=memory: m), SEEN, MASKS, MEMORY)


@pytest.mark.parametrize("actions", [[0, 1, 2], [0, 0, -1], [0, 0, 10**6]])
def test_an_illegal_action_is_refused(actions):
    class Fixed:
        def act(self, observation, mask, memory, rng):
            return np.array(actions), memory

    with pytest.raises(IllegalAction, match="Fixed"):
        actions_of(Fixed(), SEEN, MASKS, MEMORY, RNG)


@pytest.mark.parametrize("answer", [None, (1, 2, 3), ([0.0, 1.0, 0.0], MEMORY), ([0], MEMORY)])
def test_an_answer_of_another_kind_is_refused(answer):
    class Odd:
        def act(self, observation, mask, memory, rng):
            return answer

    with pytest.raises(UserError, match="Odd"):
        actions_of(Odd(), SEEN, MASKS, MEMORY, RNG)


@pytest.mark.parametrize(
    "memory", [None, 3, np.zeros(3), np.zeros((2, 1)), np.zeros((3, 1), "U4"), [[1], [1, 2], []]]
)
def test_a_first_memory_must_hold_numbers_for_every_row(memory):
    class Forgetful(Wrong):
        def initial_memory(self, batch):
            return memory

    with pytest.raises(UserError, match="wrong"):
        memory_of(Forgetful(nothing), 3)


def test_a_first_memory_is_the_games_own_also_where_the_policy_keeps_it():
    kept = np.zeros((3, 2))
    kept.flags.writeable = False

    class Keeping(Wrong):
        def initial_memory(self, batch):
            return kept

    memory_of(Keeping(nothing), 3)[:] = 1
    assert not kept.any()


def test_a_memory_too_large_for_its_type_is_infinite_without_a_warning(recwarn):
    before = np.zeros((3, 1), np.float32)
    policy = Wrong(nothing, memory=lambda memory: np.full(memory.shape, 1e300))
    after = distribution_of(policy, SEEN, MASKS, before)[2]
    assert after.dtype == before.dtype
    assert not recwarn.list


@pytest.mark.parametrize("asked", [None, 3, "x"])
def test_what_a_policy_gives_for_worlds_must_be_a_policy(asked):
    class Absent(Wrong):
        def with_worlds(self, worlds):
            return asked

    with pytest.raises(UserError, match="wrong"):
        asked_about(Absent(nothing), None)


def test_an_answer_whose_rows_differ_in_length_is_refused():
    ragged = [[0.5, 0.5], [1.0], []]
    with pytest.raises(UserError, match="wrong"):
        distribution_of(Wrong(nothing, memory=lambda _: ragged), SEEN, MASKS, MEMORY)
    with pytest.raises(UserError, match="wrong"):
        distribution_of(Wrong(nothing, ragged), SEEN, MASKS, MEMORY)


def test_scores_must_be_finite_where_legal_and_below_all_elsewhere():
    class Scored(Wrong):
        def scores(self, observation, mask, memory):
            scores = np.where(mask == 1, np.float32(0), -np.inf)
            self.spoil(scores)
            return scores, memory

    for spoil in (entry(0, np.nan), entry(0, np.inf), entry(5, 1), lambda s: s.fill(-np.inf)):
        with pytest.raises(UserError, match="scores"):
            scores_of(Scored(spoil), SEEN, MASKS, MEMORY)
    scores_of(Scored(nothing), SEEN, MASKS, MEMORY)


def test_scores_come_with_a_memory():
    class Alone(Wrong):
        def scores(self, observation, mask, memory):
            return np.float32(mask)

    with pytest.raises(UserError, match=r"\(scores, memory\)"):
        scores_of(Alone(nothing), SEEN, MASKS, MEMORY)


def test_sampling_from_what_holds_no_action_raises():
    for content in (0, np.nan, -1):
        with pytest.raises(UserError, match="no action"):
            sample(np.full((2, 4), content, np.float32), np.zeros(2))


# --- In the rooms that ask


def overflowing(variant):
    """A network of finite weights whose sums are not finite."""
    network = for_variant(variant, [8])
    for weights in network.parameters():
        weights.data.fill_(1e37)
    return CompiledPolicy(checkpoint_of(network, variant))


def masked(variant):
    """Plays an illegal action in every game."""
    return lambda observation, mask: int(mask.argmin())


@pytest.mark.parametrize("factory", ["overflowing", "masked"])
def test_no_room_plays_with_a_policy_that_fails(factory, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "stranger", sys.modules[__name__])
    spec = f"stranger:{factory}"
    config = Config(game="hanamikoji", steps=64, num_games=8, opponents={"self": 0.5, spec: 0.5})
    with pytest.raises(UserError):
        train(config, tmp_path / "run")
    with pytest.raises(UserError):
        evaluate([spec, "random"], "hanamikoji", games=4)
    (forfeits,) = evaluate([spec, "random"], "hanamikoji", games=4, strict=False).forfeits
    assert (forfeits.policy, forfeits.games) == (spec, 4)


@pytest.mark.parametrize("kind", ["improve", "mcts", "endgame"])
def test_no_search_starts_from_a_policy_that_fails(kind):
    games = GAME.new(np.arange(1, dtype=np.uint64))
    kernels.reset(GAME.rule_set, games)

    turns = turns_of(GAME, games, np.arange(1))
    search = new_search(kind, GAME, overflowing(GAME), "worlds=2", name=kind)
    searching = search.with_worlds(Worlds(GAME, games, turns.seats))
    with pytest.raises(UserError, match="finite"):
        searching.distribution(turns.observations, turns.masks, search.initial_memory(1))


def test_a_rule_policy_passes():
    policy = load_policy("expert", "hanamikoji")
    games = GAME.new(np.arange(4, dtype=np.uint64))
    kernels.reset(GAME.rule_set, games)

    turns = turns_of(GAME, games, np.arange(4))
    seen = turns.observations, turns.masks, policy.initial_memory(4)
    assert (distribution_of(policy, *seen)[0].sum(1) == 1).all()


# --- A policy's own errors


def test_an_error_of_a_policys_own_comes_through_with_its_name_and_the_move():
    def gives_up(observation, mask):
        raise KeyError("x")

    env = SeatEnv("hanamikoji", seat=1, starter=0, opponent=as_policy(gives_up, GAME))
    with pytest.raises(KeyError) as error:
        env.reset(seed=1)
    (note,) = error.value.__notes__
    assert "gives_up" in note
    assert "seat 0 in game 0 of hanamikoji" in note


def test_a_policy_that_fails_in_many_games_has_the_first_of_their_turns_named():
    def gives_up(observation, mask):
        raise KeyError("x")

    games = GAME.new(np.arange(8, dtype=np.uint64))
    player = SeatedPlayer(as_policy(gives_up, GAME), GAME, len(games))
    with pytest.raises(KeyError) as error:
        player.act(turns_of(GAME, games, np.array([2, 3, 5, 6, 7, 1])), np.random.default_rng(0))
    (note,) = error.value.__notes__
    named = [f"seat {games['mover'][row]} in game {row}" for row in (2, 3, 5, 6, 7)]
    assert f"{', '.join(named)}, ... of hanamikoji" in note


def test_who_writes_to_its_mask_makes_nothing_legal():
    class Writes(Wrong):
        def distribution(self, observation, mask, memory):
            mask[:] = 1
            return np.full(mask.shape, 1 / mask.shape[1], np.float32), None, memory

    with pytest.raises(UserError, match="legal"):
        distribution_of(Writes(nothing), SEEN, MASKS, MEMORY)


def test_who_writes_to_what_it_is_given_changes_nothing_of_its_caller():
    class Writes(Wrong):
        has_values = True

        def distribution(self, observation, mask, memory):
            answer = uniform(mask), np.zeros(len(mask), np.float32), memory
            for array in (observation, mask, memory):
                array[:] = 1
            return answer

        def act(self, observation, mask, memory, rng):
            self.distribution(observation, mask, memory)
            return np.zeros(len(observation), np.int64), memory

        def scores(self, observation, mask, memory):
            scores = np.where(mask, np.float32(0), -np.inf)
            self.distribution(observation, mask, memory)
            return scores, memory

        def values(self, observation, mask, memory):
            return self.distribution(observation, mask, memory)[1]

    policy, given = Writes(nothing), (SEEN.copy(), MASKS.copy(), np.zeros((3, 2), np.float32))
    _, _, after = distribution_of(policy, *given)
    actions_of(policy, *given, RNG)
    scores_of(policy, *given)
    values_of(policy, *given)
    for array, before in zip(given, (SEEN, MASKS, np.zeros((3, 2))), strict=True):
        np.testing.assert_array_equal(array, before)
    assert (after == 1).all()  # what it remembers is what it wrote
