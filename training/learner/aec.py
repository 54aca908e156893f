"""Self-play in the games of other libraries, by PettingZoo's AEC interface."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hanamachi.errors import UserError
from hanamachi.sessions.arguments import checked_seed, checked_size
from hanamachi.training.learner.turn_based import TurnBasedVecEnv, repeated, seeds_of

SEEDS = 2**31  # others' environments may refuse larger ones


class AECSelfPlayVecEnv(TurnBasedVecEnv):
    """Self-play of a turn-based PettingZoo AEC environment whose observations hold a mask.

    Two agents are opponents, whose rewards add up to 0 at each step, or any number of agents are
    `cooperative` and earn the same. All must share one observation and one action space, and stay
    to the end; observations are flattened. A truncation counts as the end of a game. Slower than
    compiled games, as each row is an environment in Python. UserError if an environment has no mask
    or another number of opponents, and from `advance` before the first `reset`; IllegalAction for
    an action that is not legal in its row. All games then stay as they were.
    """

    def __init__(
        self, make: Callable[[], Any], num_envs: int, seed: int = 0, cooperative: bool = False
    ) -> None:
        num_envs = checked_size(num_envs)
        self.envs = [make() for _ in range(num_envs)]
        self.reseed(seed)
        self.cooperative = cooperative
        agent, *others = self.envs[0].possible_agents
        if len(others) != 1 and not cooperative:
            raise UserError(
                f"the environment has {1 + len(others)} agents, and opponents must be two: give "
                "cooperative=True if all agents earn the same"
            )
        space = self.envs[0].observation_space(agent)
        if not isinstance(space, spaces.Dict) or "action_mask" not in space.spaces:
            raise UserError('the environment\'s observations need an "action_mask"')
        seen: Any = space["observation"]
        low, high = (np.asarray(x, np.float32).ravel() for x in (seen.low, seen.high))
        actions = int(self.envs[0].action_space(agent).n)
        super().__init__(num_envs, len(low), actions, low, high)
        self.centralised_space = repeated(low, high, len(others))

    def centralised_observations(self) -> NDArray[np.float32]:
        rows = []
        for env in self.envs:
            mover = env.possible_agents.index(env.agent_selection)
            others = env.possible_agents[mover + 1 :] + env.possible_agents[:mover]
            rows.append(np.concatenate([self._flat(env.observe(other)) for other in others]))
        return np.stack(rows)

    def reseed(self, seed: int) -> None:
        (first,) = seeds_of(checked_seed(seed), 1)
        self.next_seed = int(first >> np.uint64(33))

    def restart(self) -> None:
        for row in range(self.num_envs):
            self._begin(row)

    def advance(self, actions: NDArray[np.int64]) -> None:
        for row, (env, action) in enumerate(zip(self.envs, self.checked(actions), strict=True)):
            mover = env.agent_selection
            env.step(int(action))
            self.rewards[row] = env.rewards[mover]
            self.terminated[row] = all(
                env.terminations[a] or env.truncations[a] for a in env.agents
            )
            if self.terminated[row]:
                self.last[row] = self._flat(env.observe(mover))
                self._begin(row)
            else:
                self._look(row)
            same_side = self.cooperative or env.agent_selection == mover
            self.signs[row] = 1 if same_side else -1

    def _begin(self, row: int) -> None:
        self.envs[row].reset(seed=self.next_seed)
        self.next_seed = (self.next_seed + 1) % SEEDS
        self._look(row)

    def _look(self, row: int) -> None:
        env = self.envs[row]
        view = env.observe(env.agent_selection)
        self.observations[row] = self._flat(view)
        self.masks[row] = self._legal[row] = view["action_mask"]

    @staticmethod
    def _flat(view: Mapping[str, Any]) -> NDArray[np.float32]:
        return np.asarray(view["observation"], np.float32).ravel()
