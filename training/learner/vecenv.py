"""Batches of turn-based games for learners: one row a game, in which the seat to move acts.

`advance` is the hot path: it plays one decision in every row and fills the arrays below. The
stable-baselines3 interface is built on it, so that any of its algorithms can drive the games.

Notation: B games, S seats, A actions, N entries of an observation, M numbers of memory.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import count, pairwise
from typing import Any, Generic, NamedTuple, Self, TypeVar, overload

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from hanamachi.engine import kernels
from hanamachi.engine.game import OVER, Variant
from hanamachi.engine.memory import check_memory
from hanamachi.engine.threads import parallel_for
from hanamachi.errors import UserError, shown
from hanamachi.policies.features.base import Features
from hanamachi.policies.policy import Policy
from hanamachi.sessions.players import SeatedPlayer, Turns, turns_of
from hanamachi.sessions.policy_checks import checked_actions
from hanamachi.sessions.session import checked_seed, checked_size, is_number
from hanamachi.training.seeds import Purpose, stream

Kind = TypeVar("Kind", bound=np.generic)  # the kind of an array's entries


class Units(NamedTuple):
    """What int8 entries count in: an entry of x is kept as x * units."""

    observations: NDArray[np.float32]  # (N,)
    centralised: NDArray[np.float32]  # (K,)


class Filled(Generic[Kind]):
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
    observations = Filled[np.float32]()
    #: (B, A), of the seats to move
    masks = Filled[np.int8]()
    #: (B,), of the seats that have just moved, as of that decision
    rewards = Filled[np.float32]()
    #: (B,): the game ended; the row shows a new one
    terminated = Filled[np.bool_]()
    #: (B,): +1 if the seat to move is on the side of the last, else -1
    signs = Filled[np.float32]()
    #: (B,): decisions since the last one shown, of opponents too
    elapsed = Filled[np.float32]()
    #: (B, N), where over: what the seat that moved saw at the end
    last = Filled[np.float32]()
    centralised_space: spaces.Box  #: (K,) of a row of `centralised_observations`
    units: Units | None = None  #: of games whose observations fit into int8

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
        """What the other seats see and others cannot, in turn from the next, (B, K).

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
        return checked_actions(actions, self._legal, "the learner")

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


# --- Our own games, compiled


class FixedOpponent(SeatedPlayer[Policy]):
    """A policy that plays some of the games; `rows` are their numbers in the whole batch."""

    def __init__(self, policy: Policy, variant: Variant, rows: NDArray[np.int64]) -> None:
        super().__init__(policy, variant, len(rows))
        self.rows = rows


def rows_of_each(shares: Sequence[tuple[str, float]], games: int) -> list[NDArray[np.int64]]:
    """The numbers of the games that each opponent, by name and share, plays in.

    UserError if one with a share above 0 gets none.
    """
    edges = np.round(games * np.cumsum([0, *(share for _, share in shares)]).clip(max=1))
    rows = [np.arange(begin, end, dtype=np.int64) for begin, end in pairwise(edges)]
    for (name, share), its_rows in zip(shares, rows, strict=True):
        if share and not len(its_rows):
            raise UserError(
                f"{name} gets none of {games} games, as its share is {share:g}: play more games, "
                "or give it a larger share"
            )
    return rows


def checked_opponents(
    opponents: Sequence[tuple[Policy, float]], variant: Variant
) -> list[tuple[Policy, float]]:
    """Policies for this variant and their shares of the games."""
    if not isinstance(opponents, list | tuple):
        raise UserError(f"opponents must be a list of (policy, share), not {shown(opponents)}")
    checked = []
    for each in opponents:
        if not isinstance(each, tuple | list) or len(each) != 2:
            raise UserError(f"each of opponents must be (policy, share), not {shown(each)}")
        policy, share = each
        made_for = getattr(policy, "variant", None)
        if not isinstance(made_for, Variant) or not made_for.understands(variant):
            raise UserError(
                f"{shown(policy)} is no policy for {variant.id}: give opponents that load_policy "
                "returns for this game"
            )
        if not is_number(share) or not 0 <= share <= 1:
            raise UserError(f"the share of {policy.name} must be from 0 to 1, not {shown(share)}")
        checked.append((policy, share))
    if (total := sum(share for _, share in checked)) > 1 + 1e-9:
        raise UserError(f"the shares of opponents sum to {total:g}: they may be 1 at most")
    return checked


def seeds_of(seed: int, games: int) -> NDArray[np.uint64]:
    """The seeds of `games` games to learn from, (B,), which no other seed or purpose gives."""
    first = np.uint64(stream(Purpose.LEARNING, seed))
    seeds: NDArray[np.uint64] = first + np.arange(games, dtype=np.uint64)
    return seeds


def repeated(low: NDArray[Any], high: NDArray[Any], times: int) -> spaces.Box:
    """The space of `times` observations, one after the other."""
    return spaces.Box(np.tile(low, times), np.tile(high, times))


class SelfPlayVecEnv(TurnBasedVecEnv):
    """Games of one rule set, played by the learner alone or in part against given opponents.

    Each of the `opponents` is a policy and the share of the games in which it plays all seats but
    the learner's. The learner's seat is drawn for each of these games, and their rows show the
    learner's decisions only. What an opponent's decision earns the learner is discounted by `gamma`
    for each decision since the learner's own, as in self-play. Moves without a choice are made at
    once and not shown, but for the first move of a game, which is forced in some small versions.

    UserError for games, seeds or opponents that cannot be, and from `advance` before the first
    `reset`; IllegalAction for an action that is not legal in its row. All games then stay as they
    were.
    """

    units: Units

    def __init__(
        self,
        variant: Variant,
        num_envs: int,
        seed: int = 0,
        opponents: Sequence[tuple[Policy, float]] = (),
        gamma: float = 1.0,
    ) -> None:
        if not isinstance(variant, Variant):
            raise UserError(f"give a variant, as hanamachi.variant(id), not {shown(variant)}")
        opponents = checked_opponents(opponents, variant)
        num_envs = checked_size(num_envs)
        if not is_number(gamma) or not 0 <= gamma <= 1:
            raise UserError(f"gamma must be from 0 to 1, not {shown(gamma)}")
        self.variant, self.gamma = variant, gamma
        layout, actions = variant.observation, variant.actions
        row = variant.game.record.itemsize + 8 * layout.size + 2 * actions.size  # bytes of a game
        check_memory(num_envs * row, f"{num_envs:,} games")
        super().__init__(num_envs, layout.size, actions.size, layout.low, layout.high)
        private, others = layout.private_entries, variant.seats - 1
        self.centralised_space = repeated(layout.low[private], layout.high[private], others)
        self.units = Units(layout.units, np.tile(layout.units[private], others))
        self.games = np.zeros(num_envs, variant.game.record)
        self.reseed(seed)
        self.earned = np.zeros((num_envs, variant.seats), np.float32)
        self.learner_seat = np.zeros(num_envs, np.int64)  # (B,) in games with a fixed opponent
        rows = rows_of_each([(policy.name, share) for policy, share in opponents], num_envs)
        self.fixed_opponents = [
            FixedOpponent(policy, variant, of_one)
            for (policy, _), of_one in zip(opponents, rows, strict=True)
        ]

    @property
    def movers(self) -> NDArray[np.int64]:
        """The seats to move, (B,)."""
        return self.games["mover"].astype(np.int64)

    @property
    def turns(self) -> Turns:
        """The decisions that the rows show, one in each game."""
        rows, masks = np.arange(self.num_envs), self._legal.copy()
        return Turns(self.variant, rows, self.games, self.movers, self.observations, masks)

    def centralised_observations(self) -> NDArray[np.float32]:
        seats, size = self.variant.seats, self.observations.shape[1]
        seen = np.empty((seats - 1, self.num_envs, size), np.float32)
        for ahead, of_seat in enumerate(seen, start=1):
            seat = (self.movers + ahead) % seats
            parallel_for(kernels.observations, self.variant.rule_set, self.games, seat, of_seat)
        private = seen[:, :, self.variant.observation.private_entries]
        return private.swapaxes(0, 1).reshape(self.num_envs, -1)

    def reseed(self, seed: int) -> None:
        self.games["rng"] = self.variant.new(seeds_of(checked_seed(seed), self.num_envs))["rng"]
        self.rng = np.random.default_rng(seed)

    def restart(self) -> None:
        parallel_for(kernels.reset, self.variant.rule_set, self.games)
        self._look()
        self._assign_seats(np.arange(self.num_envs))
        self._others_play()
        self.terminated[:] = False
        self.masks[:] = self._legal

    def advance(self, actions: NDArray[np.int64]) -> None:
        self._play(self.checked(actions))
        self.masks[:] = self._legal

    def _play(self, actions: NDArray[np.int64]) -> None:
        """Play one action in every row, which is legal there, and fill the arrays."""
        movers = self.movers
        parallel_for(
            kernels.advance, self.variant.rule_set, self.games, actions,
            self.observations, self._legal, self.earned, self.terminated, self.last,
        )  # fmt: skip
        self.rewards[:] = self.earned[np.arange(self.num_envs), movers]
        self.elapsed.fill(1)
        if self.fixed_opponents:
            self._assign_seats(np.flatnonzero(self.terminated))
            self._others_play()
        same_side = self.variant.game.cooperative | (self.games["mover"] == movers)
        self.signs[:] = np.where(same_side, 1, -1)

    def _look(self) -> None:
        """Observe and mask every row as it stands."""
        rule_set = self.variant.rule_set
        parallel_for(kernels.observations, rule_set, self.games, self.movers, self.observations)
        parallel_for(kernels.masks, rule_set, self.games, self._legal)

    def _assign_seats(self, rows: NDArray[np.int64]) -> None:
        """Draw the learner's seat in games that have just begun."""
        seats = self.variant.seats
        for opponent in self.fixed_opponents:
            begun = np.intersect1d(rows, opponent.rows)
            next_seat = self.rng.integers(seats, size=len(begun))  # the one after the learner's
            self.learner_seat[begun] = (next_seat - 1) % seats
            opponent.forget(np.flatnonzero(np.isin(opponent.rows, begun)))

    def _others_play(self) -> None:
        """Let the fixed opponents move until the learner is to move in every row."""
        for opponent in self.fixed_opponents:
            while True:
                waiting = np.flatnonzero(
                    self.games["mover"][opponent.rows] != self.learner_seat[opponent.rows]
                )
                if len(waiting) == 0:
                    break
                self._opponent_moves(opponent, waiting)

    def _opponent_moves(self, opponent: FixedOpponent, waiting: NDArray[np.int64]) -> None:
        """One move in each of its waiting games; if it ends one, the learner's step ends too."""
        rows = opponent.rows[waiting]
        games, observations, masks = self.games[rows], self.observations[rows], self._legal[rows]
        seats = games["mover"].astype(np.int64)
        turns = Turns(self.variant, waiting, games, seats, observations, masks)
        actions = opponent.act(turns, self.rng)
        earned = np.zeros((len(rows), self.variant.seats), np.float32)
        terminated = np.zeros(len(rows), np.bool_)
        unused = np.zeros_like(observations)  # the end as the opponent sees it
        parallel_for(
            kernels.advance, self.variant.rule_set, games, actions,
            observations, masks, earned, terminated, unused,
        )  # fmt: skip
        ended = terminated & ~self.terminated[rows]  # the games that the learner has played in
        seats = self.learner_seat[rows[ended]]
        self.last[rows[ended]] = self._seen_at_end(self.games[rows[ended]], actions[ended], seats)
        self.games[rows], self.observations[rows], self._legal[rows] = games, observations, masks
        learners = earned[np.arange(len(rows)), self.learner_seat[rows]]
        learners *= self.gamma ** self.elapsed[rows]
        self.rewards[rows] += np.where(self.terminated[rows], 0, learners)
        self.elapsed[rows] += 1
        self.terminated[rows] |= terminated
        self._assign_seats(rows[terminated])

    def _seen_at_end(
        self, games: NDArray[Any], actions: NDArray[np.int64], seats: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """What `seats` see at the end of games that `actions` end, with the moves they force."""
        rule_set, masks = self.variant.rule_set, np.empty_like(self._legal[: len(games)])
        while len(rows := np.flatnonzero(games["mover"] != OVER)):
            moved = games[rows]
            kernels.step(rule_set, moved, actions[rows])
            games[rows] = moved
            kernels.masks(rule_set, games, masks)
            actions = masks.argmax(1)
        seen = np.empty_like(self.observations[: len(games)])
        kernels.observations(rule_set, games, seats, seen)
        return seen

    # --- Saving

    def get_state(self) -> dict[str, Any]:
        """All that the coming games depend on."""
        return {
            "games": self.games.tobytes(),
            "learner_seat": self.learner_seat.copy(),
            "memories": [opponent.memory.copy() for opponent in self.fixed_opponents],
            "rng": self.rng.bit_generator.state,
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continue exactly from what `get_state` returned."""
        self.games[:] = np.frombuffer(state["games"], self.games.dtype)
        self.learner_seat[:] = state["learner_seat"]
        for opponent, memory in zip(self.fixed_opponents, state["memories"], strict=True):
            opponent.memory = memory.copy()
        self.rng.bit_generator.state = state["rng"]
        self._look()
        self.masks[:] = self._legal


def relabelled_others(variant: Variant) -> NDArray[np.int64]:
    """The entries of `centralised_observations` under each symmetry, (P, K)."""
    entries, private = variant.symmetries.entries, variant.observation.private_entries
    assert np.isin(entries[:, private], private).all(), "they must stay among themselves"
    of_one = np.searchsorted(private, entries[:, private])
    starts = len(private) * np.arange(variant.seats - 1)[:, None]
    return (of_one[:, None] + starts).reshape(len(entries), -1)


class OtherPlayVecEnv(SelfPlayVecEnv):
    """The same games, which each seat sees under a symmetry of its own, such as other colours.

    So no convention can depend on what the symmetries exchange (Hu et al. 2020, "Other-Play for
    Zero-Shot Coordination"). The learner's seats have symmetries, drawn when a game begins; fixed
    opponents see the games as they are.
    """

    def __init__(
        self,
        variant: Variant,
        num_envs: int,
        seed: int = 0,
        opponents: Sequence[tuple[Policy, float]] = (),
        gamma: float = 1.0,
    ) -> None:
        self.symmetries = variant.symmetries
        super().__init__(variant, num_envs, seed, opponents, gamma)
        self.drawn = np.zeros((num_envs, variant.seats), np.int64)  # numbers of symmetries
        self.of_others = relabelled_others(variant)  # (P, K)

    @property
    def current(self) -> NDArray[np.int64]:
        """The symmetries of the seats to move, (B,)."""
        return self.drawn[np.arange(self.num_envs), self.movers]

    def centralised_observations(self) -> NDArray[np.float32]:
        """What the others see, under the symmetry of the seat to move."""
        seen = super().centralised_observations()
        return np.take_along_axis(seen, self.of_others[self.current], axis=1)

    @property
    def turns(self) -> Turns:
        """The decisions that the rows show, as they are in the games."""
        return turns_of(self.variant, self.games, np.arange(self.num_envs))

    def reseed(self, seed: int) -> None:
        super().reseed(seed)
        self.relabelling = np.random.default_rng(stream(Purpose.RELABELLING, seed))

    def restart(self) -> None:
        super().restart()
        self._draw(np.arange(self.num_envs))
        self._relabel()

    def _play(self, actions: NDArray[np.int64]) -> None:
        moved = self.current
        super()._play(self.symmetries.actions[moved, actions])
        over = np.flatnonzero(self.terminated)
        shown = self.symmetries.entries[moved[over]]
        self.last[over] = np.take_along_axis(self.last[over], shown, axis=1)
        self._draw(over)
        self._relabel()

    def _draw(self, rows: NDArray[np.int64]) -> None:
        """Draw the symmetries of games that have just begun."""
        count, seats = len(self.symmetries.entries), self.variant.seats
        self.drawn[rows] = self.relabelling.integers(count, size=(len(rows), seats))

    def _relabel(self) -> None:
        """Show every row as its seat sees it."""
        entries, actions = (of_all[self.current] for of_all in self.symmetries)
        self.observations[:] = np.take_along_axis(self.observations, entries, axis=1)
        self._legal[:] = np.take_along_axis(self._legal, actions, axis=1)
        self.masks[:] = self._legal

    def get_state(self) -> dict[str, Any]:
        drawn = {"drawn": self.drawn.copy(), "relabelling": self.relabelling.bit_generator.state}
        return super().get_state() | drawn

    def set_state(self, state: Mapping[str, Any]) -> None:
        super().set_state(state)
        self.drawn[:] = state["drawn"]
        self.relabelling.bit_generator.state = state["relabelling"]
        self._relabel()


class FeaturedVecEnv(TurnBasedVecEnv):
    """The same games for a network with features, which follow each observation.

    The features have a memory for every seat of every game. In `last` they are 0, as no decision
    follows.
    """

    def __init__(self, plain: SelfPlayVecEnv, features: Features) -> None:
        layout, actions = features.layout, plain.variant.actions
        super().__init__(plain.num_envs, layout.size, actions.size, layout.low, layout.high)
        self.plain, self.features = plain, features
        self.variant, self.fixed_opponents = plain.variant, plain.fixed_opponents
        self.centralised_space = plain.centralised_space
        self.units = Units(layout.units, plain.units.centralised)
        self._masks, self._rewards = plain.masks, plain.rewards  # one array for both
        self._terminated, self._signs = plain.terminated, plain.signs
        self._elapsed = plain.elapsed
        # before what the seats to move see now, (B, S, M), and theirs after it, (B, M)
        memory = features.initial_memory(plain.num_envs * plain.variant.seats)
        self.memory = memory.reshape(plain.num_envs, plain.variant.seats, memory.shape[1])
        self.memory_after = features.initial_memory(plain.num_envs)

    @property
    def seen(self) -> NDArray[np.float32]:
        return self.plain.observations

    @property
    def movers(self) -> NDArray[np.int64]:
        return self.plain.movers

    @property
    def turns(self) -> Turns:
        return self.plain.turns

    def centralised_observations(self) -> NDArray[np.float32]:
        return self.plain.centralised_observations()

    def reseed(self, seed: int) -> None:
        self.plain.reseed(seed)

    def restart(self) -> None:
        self.plain.restart()
        self.memory[:] = 0
        self._extend()

    def advance(self, actions: NDArray[np.int64]) -> None:
        self.memory[np.arange(self.num_envs), self.movers] = self.memory_after
        self.plain.advance(actions)
        self.memory[self.terminated] = 0
        self.last[self.terminated, : self.seen.shape[1]] = self.plain.last[self.terminated]
        self._extend()

    def _extend(self) -> None:
        """Append the features to the observations of the seats to move."""
        memory = self.memory[np.arange(self.num_envs), self.movers]
        self.observations[:], self.memory_after = self.features.extend(
            self.seen, self.masks, memory
        )

    # --- Saving

    def get_state(self) -> dict[str, Any]:
        return self.plain.get_state() | {"feature_memory": self.memory.copy()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self.plain.set_state(state)
        self.memory[:] = state["feature_memory"]
        self._extend()


HanamachiVecEnv = SelfPlayVecEnv | FeaturedVecEnv


# --- Games of other libraries


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
        self.seeds = count(int(first >> np.uint64(33)))  # 31 bits: more than these some refuse

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
        self.envs[row].reset(seed=next(self.seeds))
        self._look(row)

    def _look(self, row: int) -> None:
        env = self.envs[row]
        view = env.observe(env.agent_selection)
        self.observations[row] = self._flat(view)
        self.masks[row] = self._legal[row] = view["action_mask"]

    @staticmethod
    def _flat(view: Mapping[str, Any]) -> NDArray[np.float32]:
        return np.asarray(view["observation"], np.float32).ravel()
