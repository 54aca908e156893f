"""Trained best responses find nine tenths of what exact ones gain, of weak and of strong victims.

The gain is what a seat wins more by the response than by the victim's own play, the mean of both
seats: for the exact best responses half of NashConv.
"""

import numpy as np
import pytest
from samples import WHOLE

import hanamachi
from hanamachi.policies.networks.checkpoint import load_checkpoint
from hanamachi.training.best_responses import MostProbable, exploit
from hanamachi.training.config import Config
from hanamachi.training.exact import SMALL, exploitability, nash_conv, tabulate, tree_of
from hanamachi.training.learner.shards import one_thread_each
from hanamachi.training.run import train

pytestmark = pytest.mark.skipif(not WHOLE, reason="victims and responses train for minutes")

STEPS, SEEDS = 1_000_000, 3
GAMES = ("hanamikoji-gifts", "hanamikoji-competitions", "introductory-gifts")
VICTIMS = {
    "weak": {"steps": 20_000},
    "strong": {
        "steps": 300_000,
        "critic": "all",
        "magnet": {"kind": "average", "kl_coef": 0.2},
        "average": {"decay": 0.998},
        "export": "average",
    },
}


@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("game", GAMES)
def test_the_best_response_finds_nine_tenths_of_the_exact_gain(game, victim, tmp_path):
    small = SMALL[game]
    tree = tree_of(hanamachi.variant(game))
    with one_thread_each():
        checkpoint = trained(small, VICTIMS[victim], tmp_path / "victim")
        found = exploit(checkpoint, tmp_path / "out", STEPS, SEEDS, config=measuring(small))
    played = tabulate(tree, load_checkpoint(checkpoint))
    best = load_checkpoint(tmp_path / "out" / found.responses[found.best].policy)
    gained = gain(tree, tabulate(tree, MostProbable(best)), played)
    assert gained >= 0.9 * nash_conv(tree, played) / 2


def trained(small, settings, out):
    """The checkpoint of a victim."""
    steps = settings["steps"]
    settings = settings | {
        "game": small.id,
        "options": dict(small.options),
        "network": {"hidden": [128, 128]},
        "ppo": {"ent_coef": [0.2, 0.02]},
        "evaluation": {"every": steps, "games": 2, "final_games": 2},
    }
    return train(Config.from_dict(settings), out)


def measuring(small):
    """Settings of a response's evaluations; the tree measures it in the end."""
    evaluation = {"games": 2_000, "final_games": 10_000}
    settings = {"game": small.id, "options": dict(small.options), "evaluation": evaluation}
    return Config.from_dict(settings)


def gain(tree, response, victim):
    """What the response wins of the victim, the mean of both seats; against itself that is 0."""
    seats = np.concatenate([np.arange(tree.seats), np.repeat(tree.seat, tree.choices)])
    values = [
        exploitability(tree, np.where(seats == seat, response, victim)).values[seat]
        for seat in range(tree.seats)
    ]
    return np.mean(values)
