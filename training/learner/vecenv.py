"""Batches of Hanamachi's games for learners: one row a game, in which the seat to move acts.

Notation: B games, S seats, A actions, N entries of an observation, M numbers of memory.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.engine.memory import check_memory
from hanamachi.engine.threads import parallel_for
from hanamachi.errors import UserError, shown
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies.features.base import Features
from hanamachi.policies.policy import Policy
from hanamachi.sessions.arguments import checked_seed, checked_size, checked_variant, is_number
from hanamachi.sessions.players import Turns
from hanamachi.training.learner.fixed_opponents import (
    FixedOpponent,
    checked_opponents,
    rows_of_each,
)
from hanamachi.training.learner.turn_based import TurnBasedVecEnv, Units, repeated, seeds_of


class SelfPlayVecEnv(TurnBasedVecEnv):
    """Games of one rule set, played by the learner alone or in part against given opponents.

    `variant` may be an id. Each of the `opponents` is a policy, or the name of one as `load_policy`
    takes it, and the share of the games in which it plays all seats but the learner's. The
    learner's seat is drawn for each of these games, and their rows show the learner's decisions
    only. What an opponent's decision earns the learner is discounted by `gamma` for each decision
    since the learner's own, as in self-play. Moves without a choice are made at once and not shown,
    but for the first move of a game, which is forced in some small versions.

    UserError for games, seeds or opponents that cannot be, and from `advance` before the first
    `reset`; IllegalAction for an action that is not legal in its row. All games then stay as they
    were.
    """

    units: Units

    def __init__(
        self,
        variant: Variant | str,
        num_envs: int,
        seed: int = 0,
        opponents: Sequence[tuple[Policy | str | PathLike[str], float]] = (),
        gamma: float = 1.0,
    ) -> None:
        variant = checked_variant(make_variant(variant) if isinstance(variant, str) else variant)
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
            self.learner_seat[begun] = self.rng.integers(seats, size=len(begun))
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


class FeaturedVecEnv(TurnBasedVecEnv):
    """The same games for a network with features, which follow each observation.

    The features have a memory for every seat of every game. In `last` they are 0, as no decision
    follows.
    """

    def __init__(self, plain: SelfPlayVecEnv, features: Features) -> None:
        layout, actions = features.layout, plain.variant.actions
        super().__init__(plain.num_envs, layout.size, actions.size, layout.low, layout.high)
        self.plain, self.features = plain, features
        self.variant, self.gamma = plain.variant, plain.gamma
        self.fixed_opponents = plain.fixed_opponents
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
        movers = self.movers
        self.plain.advance(actions)  # nothing has changed if it refuses them
        self.memory[np.arange(self.num_envs), movers] = self.memory_after
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
