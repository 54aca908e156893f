"""For Tianshou an environment is renamed, and nothing else changes."""

import gymnasium
import numpy as np
import pytest

from hanamachi.adapters.registration import gymnasium_id
from hanamachi.adapters.tianshou import for_tianshou
from hanamachi.errors import UserError

pytestmark = pytest.mark.uncompiled


@pytest.mark.parametrize("id", ["hanamikoji", "geishas_road:advanced"])
def test_for_tianshou_shows_the_mask_next_to_the_observation(id):
    name = gymnasium_id(id)
    env, plain = for_tianshou(gymnasium.make(name)), gymnasium.make(name)
    (seen, _), (expected, info) = env.reset(seed=1), plain.reset(seed=1)
    terminated = False
    while not terminated:
        assert env.observation_space.contains(seen)
        np.testing.assert_array_equal(seen["obs"], expected)
        np.testing.assert_array_equal(seen["mask"], info["action_mask"])
        action = info["action_mask"].argmax()
        seen, reward, terminated, _, _ = env.step(action)
        expected, same_reward, same_over, _, info = plain.step(action)
        assert (reward, terminated) == (same_reward, same_over)
    assert not seen["mask"].any()


def test_for_tianshou_takes_only_these_games():
    for other in (gymnasium.make("CartPole-v1"), 5):
        with pytest.raises(UserError, match=r"gymnasium\.make"):
            for_tianshou(other)
