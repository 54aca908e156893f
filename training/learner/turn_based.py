"""What a learner needs of a batch of turn-based games: one row a game, in which the mover acts.

`advance` is the hot path: it plays one decision in every row and fills the arrays below. The
stable-baselines3 interface is built on it, so that any of its algorithms can drive the games.

Notation: B games, A actions, N entries of an observation, K of a centralised one.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, Self, TypeVar, overload

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from hanamachi.errors import UserError
from hanamachi.sessions.policy_checks import checked_actions
from hanamachi.training.learner.fixed_opponents import FixedOpponent
from hanamachi.training.seeds import Purpose, stream

Kind = TypeVar("Kind", bound=np.generic)  # the kind of an array's entries


class Units(NamedTuple):
    """What int8 entries count in: an entry of x is kept as x * units."""

    observations: NDArray[np.float32]  # (N,)
    centralised: NDArray[np.float32]  # (K,)


class KernelFilled(Generic[Kind]):
    """An array that compiled code fills: others get views, so its shape and flags stay."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, env: None, owner: type) -> Self: ...

    @overload
    def __get__(self, env: "TurnBasedVecEnv", owner: type) -> NDArray[Kind]: ...

    def __get__(self, env: "TurnBasedVecEnv | None", owner: type) -> NDArray[Kind] | Self:
        if env is None:  # it is read on the class
            return self
        array: NDArray[Kind] = getattr(env, f"_{self.name}")[:]
        return array

    def __set__(self, env: "TurnBasedVecEnv", value: Any) -> None:
        raise AttributeError(f"{self.name} cannot be replaced: the games fill it")


class TurnBasedVecEnv(VecEnv):
    """What a learner needs to know of a batch of games after each decision."""

    #: (B, N), of the seats to move
    observations = KernelFilled[np.float32]()
    #: (B, A), of the seats to move
    masks = KernelFilled[np.int8]()
    #: (B,), of the seats that have just moved, as of that decision
    rewards = KernelFilled[np.float32]()
    #: (B,): the game ended; the row shows a new one
    terminated = KernelFilled[np.bool_]()
    #: (B,): +1 if the seat to move is on the side of the last, else -1
    signs = KernelFilled[np.float32]()
    #: (B,): decisions since the learner's last one: its own and the opponents'
    elapsed = KernelFilled[np.float32]()
    #: (B, N), where over: what the seat that moved saw at the end
    last = KernelFilled[np.float32]()
    centralised_space: spaces.Box  #: (K,) of a row of `centralised_observations`
    units: Units | None = None  #: of games whose observations fit into int8
    gamma: float = 1.0  #: discounts what other policies' decisions earn in the learner's games
    fixed_opponents: Sequence[FixedOpponent] = ()  #: the policies that play some of the games

    def __init__(self, num_envs: int, size: int, actions: int, low: Any, high: Any) -> None:
        self.render_mode = None
        self._observations = np.zeros((num_envs, size), np.float32)
        self._masks = np.zeros((num_envs, actions), np.int8)
        self._legal = self._masks.copy()  # what actions are checked against; others get copies
        self._rewards = np.zeros(num_envs, np.float32)
        self._terminated = np.zeros(num_envs, np.bool_)
        self._signs = np.ones(num_envs, np.float32)
        self._elapsed = np.ones(num_envs, np.float32)
        self._last = np.zeros((num_envs, size), np.float32)
        super().__init__(num_envs, spaces.Box(low, high), spaces.Discrete(actions))

    @property
    def seen(self) -> NDArray[np.float32]:
        """What the seats to move see, without anything that is added for the learner."""
        return self.observations

    @abstractmethod
    def centralised_observations(self) -> NDArray[np.float32]:
        """The private parts of the other seats' observations, from the next seat on, (B, K).

        For a critic in training; without anything that is added for the learner.
        """

    @abstractmethod
    def reseed(self, seed: int) -> None:
        """Let the games that begin from now on follow from a seed."""

    @abstractmethod
    def restart(self) -> None:
        """Begin new games in all rows."""

    @abstractmethod
    def advance(self, actions: NDArray[np.int64]) -> None:
        """Play one action in every row and fill the arrays."""

    def checked(self, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The learner's actions, (B,), if the games have begun and each is legal in its row."""
        if not self._legal[0].any():
            raise UserError("the games have not begun: call reset() before the first action")
        return checked_actions(actions, self._legal, "the learner", "game")

    def action_masks(self) -> NDArray[np.int8]:
        """A copy of `masks`."""
        return self.masks.copy()

    def reset(self) -> NDArray[np.float32]:
        if self._seeds[0] is not None:  # from stable-baselines3's `seed`, for this reset only
            self.reseed(self._seeds[0])
            self._reset_seeds()
        self.restart()
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        return self.observations.copy()

    def step_async(self, actions: NDArray[np.int64]) -> None:
        self._actions = actions

    def step_wait(self) -> Any:
        self.advance(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(self.terminated):
            infos[row]["terminal_observation"] = self.last[row].copy()
        return self.observations.copy(), self.rewards.copy(), self.terminated.copy(), infos

    def close(self) -> None:
        pass

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        if len(set(self._get_indices(indices))) < self.num_envs:
            raise UserError(f"all games of this batch share {attr_name}: set it without indices")
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any
    ) -> list[Any]:
        if method_name != "action_masks":
            raise UserError(f"the games of this batch have no method {method_name}")
        return [self.masks[row].copy() for row in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]


def seeds_of(seed: int, games: int) -> NDArray[np.uint64]:
    """The seeds of `games` games to learn from, (B,), which no other seed or purpose gives."""
    first = np.uint64(stream(Purpose.LEARNING, seed))
    seeds: NDArray[np.uint64] = first + np.arange(games, dtype=np.uint64)
    return seeds


def repeated(low: NDArray[Any], high: NDArray[Any], times: int) -> spaces.Box:
    """The space of `times` observations, one after the other."""
    return spaces.Box(np.tile(low, times), np.tile(high, times))
