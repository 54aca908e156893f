"""The expert of Geisha's Road."""

import numpy as np
import pytest

from hanamachi.policies.rules.geishas_road_expert import at_least
from hanamachi.training.evaluation.matches import evaluate

OWN = 0


def binomial(count, wanted):
    """The probability of at least `wanted` heads among so many fair coins."""
    faces = np.array(np.meshgrid(*[[0, 1]] * count)).reshape(count, -1).sum(0)
    return (faces >= wanted).mean()


@pytest.mark.parametrize("wanted", [1, 2, 3, 4, 5, 9])
def test_the_chance_of_enough_geisha_counts_them_and_writes_nowhere_else(wanted):
    around = np.full((3, 12), 7.0)
    probabilities = around[:, :4]  # of three geisha, and what `at_least` writes
    probabilities[:2, :3] = 0.5
    assert at_least(probabilities, OWN, wanted) == pytest.approx(binomial(3, wanted))
    assert (around[:, 4:] == 7).all()


def test_expert_plays_where_more_geisha_are_wanted_than_there_are():
    options = {"colours": 2, "instant_win": 5, "actions": ("reveal", "gift")}
    evaluation = evaluate(["expert", "random"], "geishas_road:standard", games=100, **options)
    assert evaluation.results[0].rate[0, 1] > 0.7  # nine in ten
