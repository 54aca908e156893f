"""Improving on a blueprint: what earns more is played, as the blueprint would choose among it."""

import numpy as np
import pytest
from hanamikoji_positions import Hanamikoji
from searching import answers

from hanamachi.policies.arrays import Masks, Memory, Observations, Probabilities
from hanamachi.policies.load import load_policy
from hanamachi.policies.policy import Policy
from hanamachi.policies.search.improve import WORLDS_PER_ETA, Comparison, Improve, likeliest

WIN, OTHER_WIN, LOSS = "take 5", "take 4", "take 2b"


def last_answer() -> Hanamikoji:
    """A is to answer the last offer of the game: one answer loses, the other two win."""
    table = Hanamikoji(actions=("gift",), max_rounds=1)
    table.draw("3a 3b  4 5  2a")
    table.follow([("play", "gift 2a 3a 3b"), ("play", "take 2a")])
    table.follow([("draw", "2b"), ("play", "gift 2b 4 5")])
    assert set(table.choices()) == {WIN, OTHER_WIN, LOSS}
    return table


def chances_by(blueprint: Policy, table: Hanamikoji) -> list[float]:
    """How likely a search with this blueprint gives each answer: WIN, OTHER_WIN and LOSS."""
    search = Improve(table.variant, blueprint, worlds=8)
    (chances,) = answers(search, np.array([table.game], table.variant.game.record))
    return [
        float(chances[table.actions.parse(words, table.game)]) for words in (WIN, OTHER_WIN, LOSS)
    ]


class LosesMostly(Policy):
    """Takes the 5 three times as often as the 4, and the 2 far more often."""

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, None, Memory]:
        chances = np.asarray(mask, np.float32)
        for words, weight in ((WIN, 3), (OTHER_WIN, 1), (LOSS, 50)):
            chances[:, self.variant.actions.parse(words)] *= weight
        return chances / chances.sum(1, keepdims=True), None, memory


def test_what_loses_is_given_up_and_the_rest_is_mixed_as_the_blueprint_does() -> None:
    table = last_answer()
    assert chances_by(LosesMostly(table.variant), table) == pytest.approx([0.75, 0.25, 0])


@pytest.mark.parametrize("name", ["greedy", "expert"])
def test_a_blueprint_that_does_not_mix_plays_what_earns_most(name: str) -> None:
    table = last_answer()
    blueprint = load_policy(name, table.variant)
    assert chances_by(blueprint, table) == [0.5, 0.5, 0]


def test_the_legal_actions_with_the_highest_scores_are_tried() -> None:
    scores, mask = np.array([0.1, 0.9, 0.5, 0.7]), np.array([1, 0, 1, 1], np.int8)
    assert likeliest(scores, mask, 2).tolist() == [3, 2]
    assert likeliest(scores, mask, 8).tolist() == [3, 2, 0]


def test_an_action_is_given_up_only_once_it_is_clearly_worse() -> None:
    best, close, worse = [1, 1, 1, 1, 1, 1, -1, -1], [1, -1, 1, -1, 1, 1, 1, -1], [-1] * 8
    compared = Comparison(None, np.zeros(3, np.float32), np.arange(3), np.empty((0, 3)))
    compared.add(np.array([best, close, worse], float).T)
    assert compared.actions.tolist() == [0, 1]
    assert compared.results.tolist() == np.array([best, close]).T.tolist()


def test_one_world_rules_out_no_action_and_the_blueprint_still_mixes() -> None:
    compared = Comparison(None, np.log([0.5, 0.5]), np.arange(2), np.empty((0, 2)))
    compared.add(np.array([[0.1, 0.0]]))
    better, worse = compared.choice(is_stochastic=True)
    assert better / worse == pytest.approx(np.exp(0.1 / WORLDS_PER_ETA))
