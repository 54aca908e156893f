"""What the tests of environments share: small variants, simple ways to play, an opponent."""

import numpy as np
import pytest
from small_games import GIFTS

import hanamachi
from hanamachi import variant as make_variant

SMALL = GIFTS | {"starter": 0}
VARIANTS = [(id, {}) for id in hanamachi.VARIANTS] + [("hanamikoji", SMALL)]
NAME = "hanamachi/Hanamikoji-v0"
SHORT = {
    "hanamikoji": {"max_rounds": 1},
    "geishas_road:advanced": {"rounds": 1},
    "hanabi:3p": {"colours": 2, "ranks": 3, "hand_size": 2},
}
every = pytest.mark.parametrize("id", SHORT)
competitive = pytest.mark.parametrize(
    "id", [id for id in SHORT if not make_variant(id).game.cooperative]
)


def first_legal(observation, mask):
    return int(np.flatnonzero(mask)[0])


def last_legal(observation, mask):
    return int(np.flatnonzero(mask)[-1])


def play(env, steps, rng=None):
    """Random legal play from where the environment is; returns all that was seen."""
    rng, seen = rng or np.random.default_rng(0), []
    for _ in range(steps):
        if not env.agents:
            env.reset()
        observation, reward, terminated, _, _ = env.last()
        seen.append((env.agent_selection, observation["observation"].tobytes(), reward, terminated))
        env.step(None if terminated else rng.choice(np.flatnonzero(observation["action_mask"])))
    return seen


class Remembers:
    """An opponent with memory: the number of its own decisions in this game and seat."""

    def __init__(self):
        self.seen = []

    def initial_memory(self, batch):
        return np.zeros((batch, 1), np.int64)

    def act(self, observation, mask, memory, rng):
        self.seen += memory[:, 0].tolist()
        return mask.argmax(1), memory + 1
