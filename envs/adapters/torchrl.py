"""Many games as TorchRL's GymWrapper takes them: masks are observed, and it says when to begin.

    import gymnasium
    from torchrl.envs import ActionMask, GymWrapper, TransformedEnv
    from hanamachi.adapters.torchrl import for_torchrl

    games = gymnasium.make_vec("hanamachi/Hanamikoji-v0", num_envs=64)
    env = TransformedEnv(
        GymWrapper(for_torchrl(games), categorical_action_encoding=True), ActionMask()
    )

A game with all seats loads by TorchRL's own PettingZooWrapper(env, use_mask=True).

Notation: B games, A actions.
"""

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorWrapper
from gymnasium.vector.utils import batch_space

from hanamachi.adapters.gymnasium_vector import VectorSeatEnv, reset_mask_in
from hanamachi.errors import UserError, shown

Observations = dict[str, Any]


def for_torchrl(games: VectorSeatEnv) -> "ResetWhenAsked":
    """The same games with observations {"observation", "action_mask"}, reset by their reader.

    UserError unless they reset themselves: `autoreset_mode` must be SAME_STEP.
    """
    if not isinstance(games, VectorSeatEnv):
        raise UserError(
            "for_torchrl takes a batch of these games, made by gymnasium.make_vec without a "
            f"vectorization_mode, not {shown(games)}"
        )
    if games.autoreset_mode is not AutoresetMode.SAME_STEP:
        raise UserError("for_torchrl needs games made with autoreset_mode SAME_STEP, the default")
    return ResetWhenAsked(games)


class ResetWhenAsked(VectorWrapper):  # type: ignore[type-arg]
    """Games that show their ends, and the games that follow only after reset.

    `reset(options={"reset_mask": over})` shows the new games, which have begun already: autoreset
    is DISABLED for its users. A game that has ended shows a mask of ones.
    """

    autoreset_mode = AutoresetMode.DISABLED

    def __init__(self, games: VectorSeatEnv) -> None:
        super().__init__(games)
        self.metadata = {**games.metadata, "autoreset_mode": self.autoreset_mode}
        legal = spaces.MultiBinary(games.variant.actions.size)
        seen = games.single_observation_space
        self.single_observation_space = spaces.Dict({"observation": seen, "action_mask": legal})
        self.observation_space = batch_space(self.single_observation_space, games.num_envs)
        self._begun = False
        self._over = np.zeros(games.num_envs, np.bool_)  # games that wait for reset

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin all games, or new ones in the rows of "reset_mask", (B,) bool, that are over.

        UserError for a mask of other games, or with a seed, as those games have begun already.
        Other options are ignored with a warning, but a deal, a state or a misspelt name is refused.
        """
        mask = reset_mask_in(options)
        if mask is None or not self._begun:
            observations, infos = self.env.reset(seed=seed, options={"reset_mask": mask})
            self._now = {"observation": observations, "action_mask": infos["action_mask"]}
            self._begun = True
        elif seed is not None:
            raise UserError("the games after those that ended have begun: leave out the seed")
        elif not np.array_equal(mask, self._over) or not self._over.any():
            raise UserError("reset_mask must be true for the games that have ended, and no others")
        self._over[:] = False
        return self._now, {}

    def step(self, actions: Any) -> tuple[Observations, Any, Any, Any, dict[str, Any]]:
        """An action in every game; where it ends, the observation is of the end."""
        if self._over.any():
            raise UserError('games have ended; call reset(options={"reset_mask": over})')
        observations, rewards, terminated, broken_off, infos = self.env.step(actions)
        self._now = {"observation": observations, "action_mask": infos["action_mask"]}
        self._over = terminated.copy()
        return self._shown(infos), rewards, terminated, broken_off, {}

    def _shown(self, infos: dict[str, Any]) -> Observations:
        if not self._over.any():
            return self._now
        seen = {name: rows.copy() for name, rows in self._now.items()}
        seen["observation"][self._over] = np.stack(infos["final_obs"][self._over])
        seen["action_mask"][self._over] = 1
        return seen
