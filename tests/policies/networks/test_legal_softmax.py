"""The distribution over the legal actions is that of a masked softmax over all actions."""

import numpy as np
import pytest
import torch
from learners import last_rollout
from plain_network import plain_network
from torch.nn import functional as F

from hanamachi.errors import UserError
from hanamachi.policies.networks.legal_softmax import by_loops, by_matrices, drawn_by_search
from hanamachi.training.benchmark.training import learning, quiet_learner
from hanamachi.training.config import Config

pytestmark = pytest.mark.usefixtures("on_one_thread")

VERSIONS = [by_loops, by_matrices]
DECISIONS, ACTIONS, ENTRIES = 1100, 50, 37


@pytest.fixture
def given():
    """Queries, keys, and masks with any number of legal actions."""
    torch.manual_seed(0)
    queries, keys = torch.randn(DECISIONS, ENTRIES), torch.randn(ACTIONS, ENTRIES)
    mask = torch.rand(DECISIONS, ACTIONS) < torch.rand(DECISIONS, 1) ** 2
    mask[0] = True
    mask[torch.arange(DECISIONS), torch.randint(ACTIONS, (DECISIONS,))] = True
    return queries.requires_grad_(), keys.requires_grad_(), mask


def among_all(queries, keys, mask):
    """Log-probabilities of all actions, (B, A)."""
    return F.log_softmax((queries @ keys.T).masked_fill(~mask, -1e9), -1)


@pytest.mark.parametrize("compute", VERSIONS)
def test_log_probabilities_and_gradients_are_those_over_all_actions(given, compute):
    queries, keys, mask = given
    distribution, expected = compute(*given), among_all(*given)
    taken = torch.distributions.Categorical(logits=expected.detach()).sample()
    assert torch.equal(torch.stack([distribution.rows, distribution.actions]), mask.nonzero().T)
    torch.testing.assert_close(distribution.log_probabilities, expected[mask], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(distribution.of(taken), expected[torch.arange(DECISIONS), taken])
    torch.testing.assert_close(distribution.table(mask), expected.exp())
    weights = torch.randn(ACTIONS)
    ours = (weights[distribution.actions] * distribution.log_probabilities.exp()).sum()
    theirs = (weights * expected.exp()).sum()
    for mine, other in zip(
        torch.autograd.grad(ours, (queries, keys)),
        torch.autograd.grad(theirs, (queries, keys)),
        strict=True,
    ):
        torch.testing.assert_close(mine, other, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("compute", VERSIONS)
def test_the_bias_is_added_to_the_logits_and_gets_gradients(given, compute):
    queries, keys, mask = given
    bias = torch.randn(DECISIONS, ACTIONS, requires_grad=True)
    found = compute(*given, bias).log_probabilities
    logits = (queries @ keys.T + bias).masked_fill(~mask, -1e9)
    expected = F.log_softmax(logits, -1)[mask]
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    weights = torch.randn(len(found))
    for mine, other in zip(
        torch.autograd.grad((weights * found).sum(), (queries, keys, bias)),
        torch.autograd.grad((weights * expected).sum(), (queries, keys, bias)),
        strict=True,
    ):
        torch.testing.assert_close(mine, other, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("compute", VERSIONS)
def test_a_row_without_legal_actions_has_no_entries(given, compute):
    queries, keys, mask = given
    mask[7] = False
    distribution = compute(queries, keys, mask)
    assert 7 not in distribution.rows
    distribution.log_probabilities.sum().backward()
    assert (queries.grad[7] == 0).all()
    assert queries.grad.isfinite().all()


def test_log_probabilities_do_not_depend_on_the_batch(given):
    queries, keys, mask = given
    rows = slice(700, 900)
    distribution, some = by_loops(*given), by_loops(queries[rows], keys, mask[rows])
    mine = (distribution.rows >= rows.start) & (distribution.rows < rows.stop)
    assert torch.equal(distribution.log_probabilities[mine], some.log_probabilities)


def test_actions_are_drawn_by_inverting_the_cdf_in_the_same_way_on_every_device(given):
    distribution = by_loops(*given)
    table = distribution.table(given[2]).detach()
    uniforms = torch.rand(DECISIONS, dtype=torch.float64)
    on_a_cpu = distribution.draw(given[2], uniforms)
    elsewhere = drawn_by_search(table, uniforms.to(table))
    assert (on_a_cpu == elsewhere).float().mean() > 0.99  # sums of 32 bits, and of 64
    assert (table.gather(1, elsewhere.unsqueeze(1)) > 0).all()


def test_the_last_possible_action_is_drawn_at_the_end_of_the_cdf():
    table = torch.tensor([[0.0, 0.3, 0.7, 0.0], [1.0, 0.0, 0.0, 0.0]])
    assert drawn_by_search(table, torch.ones(2)).tolist() == [2, 0]
    assert drawn_by_search(table, torch.zeros(2)).tolist() == [1, 0]


@pytest.mark.parametrize("wrong", [0.0, float("nan")])
def test_nothing_is_drawn_where_no_action_has_a_probability(wrong):
    with pytest.raises(UserError, match="learning_rate"):
        drawn_by_search(torch.full((1, 3), wrong), torch.zeros(1))


@pytest.mark.parametrize("game", ["hanamikoji", "geishas_road:advanced", "hanabi:2p"])
def test_the_learners_loss_is_that_of_ppo_over_all_actions(game):
    config = Config.from_dict({"game": game, "device": "cpu", "network": {"hidden": [32]}})
    learner = quiet_learner(config)
    learning(learner, config).play()
    batch, network = last_rollout(learner), learner.policy.network
    moved = torch.linspace(-1, 1, len(batch.actions))  # as if it had learned since
    batch = batch._replace(log_probabilities=batch.log_probabilities + moved)
    loss, _ = learner.loss(batch, learner.scheduled(0.5))
    expected = plain_loss(learner, batch, learner.scheduled(0.5))
    torch.testing.assert_close(loss, expected, atol=1e-5, rtol=1e-5)
    parameters = list(network.parameters())
    for mine, other in zip(
        torch.autograd.grad(loss, parameters),
        torch.autograd.grad(expected, parameters),
        strict=True,
    ):
        torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-4)


def plain_loss(learner, batch, scheduled):
    logits, values = plain_network(learner.policy.network, batch.observations)
    policy = torch.distributions.Categorical(logits=logits.masked_fill(~batch.masks, -1e9))
    ratio = (policy.log_prob(batch.actions) - batch.log_probabilities).exp()
    advantages = batch.advantages
    clipped = ratio.clamp(1 - scheduled["clip_range"], 1 + scheduled["clip_range"])
    gain = torch.minimum(advantages * ratio, advantages * clipped).mean()
    variance = max(1.0, float(np.var(batch.returns.numpy())))
    value_loss = ((values - batch.returns) ** 2).mean() / variance
    bonus = scheduled["entropy_coefficient"] * policy.entropy().mean()
    return learner.vf_coef * value_loss - gain - bonus
