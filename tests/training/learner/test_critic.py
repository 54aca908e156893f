"""The critic sees all hands and helps learning; what is exported never sees more than its seat."""

from functools import partial

import numpy as np
import pytest
import torch
from learners import last_rollout, learned
from pettingzoo.classic import connect_four_v3

from hanamachi.adapters.aec import AEC
from hanamachi.engine import kernels
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import load_policy
from hanamachi.policies.features.base import Features
from hanamachi.policies.networks.canonical import CANONICAL, forms_of
from hanamachi.policies.networks.network import CanonicalForms, for_variant
from hanamachi.training.learner.aec import AECSelfPlayVecEnv
from hanamachi.training.learner.critic import Critic, forms_of_all
from hanamachi.training.learner.rollout_buffer import NetworkInputs
from hanamachi.training.learner.vecenv import FeaturedVecEnv, SelfPlayVecEnv

learned_with_it = partial(learned, num_games=64, critic="all")


def moved_on(games, decisions=7):
    games.reset()
    for _ in range(decisions):
        games.advance(games.masks.argmax(1))
    return games


def of_ours(id, *opponents):
    fixed_opponents = [(load_policy(name, id), 0.5) for name in opponents]
    return SelfPlayVecEnv(make_variant(id), 8, seed=3, opponents=fixed_opponents)


def featured():
    games = of_ours("hanabi:2p")
    return FeaturedVecEnv(games, Features(games.variant, ("belief",)))


@pytest.mark.parametrize(("id", "features"), [("hanamikoji", ("advice",)), ("hanabi:3p", ())])
def test_a_canonical_one_sees_the_others_in_the_form_of_the_seat_to_move(id, features):
    games = moved_on(of_ours(id))
    variant, all_features = games.variant, Features(games.variant, features)
    games = FeaturedVecEnv(games, all_features) if features else games
    forms = forms_of(variant, all_features.layout, CANONICAL)
    masks = torch.from_numpy(games.masks != 0)
    observations, others = map(
        torch.from_numpy, (games.observations, games.centralised_observations())
    )
    own = CanonicalForms(forms)(observations, masks)
    nothing = torch.zeros((len(masks), 0), dtype=torch.bool)
    whole = CanonicalForms(forms_of_all(forms, variant))(
        torch.cat([observations, others], 1), nothing
    )
    assert torch.equal(whole.forms, own.forms)
    assert torch.equal(whole.observations[:, : observations.shape[1]], own.observations)
    private, size = variant.observation.private_entries, variant.observation.size
    for row, form in enumerate(own.forms.tolist()):
        each = np.zeros((variant.seats - 1, size), np.float32)
        each[:, private] = others[row].reshape(len(each), -1)
        expected = each[:, variant.symmetries.entries[form]][:, private]
        assert (whole.observations[row, observations.shape[1] :] == expected.ravel()).all()


@pytest.mark.parametrize(
    ("id", "opponents"),
    [
        ("hanamikoji", ()),
        ("hanamikoji", ("greedy",)),
        ("geishas_road:advanced", ()),
        ("hanabi:2p", ()),
        ("hanabi:5p", ("expert",)),
    ],
)
def test_it_sees_what_the_other_seats_alone_see_in_turn(id, opponents):
    games = moved_on(of_ours(id, *opponents), 40)
    variant, seats = games.variant, games.variant.seats
    for game, mover, seen in zip(
        games.games, games.movers, games.centralised_observations(), strict=True
    ):
        others = np.empty((seats - 1, games.observations.shape[1]), np.float32)
        for ahead in range(1, seats):
            kernels.observe(variant.rule_set, game, (mover + ahead) % seats, others[ahead - 1])
        private = variant.observation.private_entries
        np.testing.assert_array_equal(seen, others[:, private].ravel())


@pytest.mark.parametrize(
    ("make", "cooperative"),
    [(connect_four_v3.raw_env, False), (partial(AEC, "hanabi:3p"), True)],
)
def test_in_any_environment_it_sees_what_the_other_agents_see_in_turn(make, cooperative):
    games = moved_on(AECSelfPlayVecEnv(make, 2, seed=3, cooperative=cooperative))
    for env, seen in zip(games.envs, games.centralised_observations(), strict=True):
        mover = env.possible_agents.index(env.agent_selection)
        others = np.roll(env.possible_agents, -mover)[1:]
        expected = [np.ravel(env.observe(str(other))["observation"]) for other in others]
        np.testing.assert_array_equal(seen, np.concatenate(expected))


@pytest.mark.parametrize("make", [partial(of_ours, "hanabi:3p"), featured])
def test_its_space_holds_what_it_sees(make):
    games = moved_on(make())
    assert all(games.centralised_space.contains(seen) for seen in games.centralised_observations())


def test_it_begins_as_no_change_of_the_networks_value():
    critic, values = Critic(np.ones(5), (8,)), torch.tensor([0.5, -1.0])
    changed = critic(torch.rand(2, 3), torch.rand(2, 2), values)
    torch.testing.assert_close(changed, values)


def test_it_learns_without_moving_the_networks_value():
    critic, values = Critic(np.ones(5), (8,)), torch.zeros(2, requires_grad=True)
    critic(torch.rand(2, 3), torch.rand(2, 2), values).sum().backward()
    assert values.grad is None
    assert critic.change.weight.grad.abs().sum() > 0


def test_hidden_hands_change_its_values_and_never_the_policys():
    learner = learned_with_it(4_096)
    games, policy = learner.env, learner.policy
    seen, legal = torch.from_numpy(games.observations), torch.from_numpy(games.masks != 0)
    hands = torch.from_numpy(games.centralised_observations())
    uniforms = torch.rand(len(seen), dtype=torch.float64)
    with torch.no_grad():
        asked = [
            policy.sample(NetworkInputs(seen, legal, others), uniforms)
            for others in (hands, hands.roll(1, 0))
        ]
    (actions, log_probabilities, values, _), (again, same, others, _) = asked
    assert torch.equal(actions, again)
    assert torch.equal(log_probabilities, same)
    assert not torch.allclose(values, others, atol=1e-3)


def test_it_tells_more_of_how_games_end_than_the_networks_value_can():
    learner = learned_with_it(60_000, ppo={"batch_size": 128, "gae_lambda": 1.0})
    network, critic = learner.policy.networks()
    games = last_rollout(learner)
    with torch.no_grad():
        values = network(games.observations, games.masks)[1]
        centralised = critic(games.observations, games.centralised, values)
    errors = [(games.returns - guess).var() for guess in (centralised, values)]
    assert errors[0] < 0.97 * errors[1]


def test_what_is_exported_is_a_network_like_any_other():
    learner = learned_with_it(2_048)
    plain = for_variant(learner.env.variant, (32,)).state_dict()
    exported = learner.policy.network.state_dict()
    assert {name: w.shape for name, w in exported.items()} == {n: w.shape for n, w in plain.items()}


def test_without_it_nothing_is_kept():
    learner = learned(critic="own")
    assert learner.policy.critic is None
    assert learner.rollout_buffer.centralised.numel() == 0
