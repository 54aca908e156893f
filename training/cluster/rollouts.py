"""Rollouts by Ray's tasks: each plays a share of the games with the learner's policy.

A rollout begins when all workers have the policy, and ends when all have answered, so it is
on-policy. An answer holds the rollout and everything that the next games of its share depend on.
A task is sent that state, so any process of the cluster can play any share, and Ray repeats a task
that is lost with the same result. Processes stay for the next task, also of another run.

Notation: T decisions per game and rollout, B games, W workers.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any
from uuid import uuid4

import torch

from hanamachi.training.build import games_of_workers, new_learner, past_selves
from hanamachi.training.cluster import RETRIES, answer, check_cluster, connect
from hanamachi.training.config import Config
from hanamachi.training.learner.rollout_buffer import SelfPlayBuffer
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.learner.selfplay_policy import SelfPlayPolicy
from hanamachi.training.learner.state import Weights
from hanamachi.training.learner.vecenv import HanamachiVecEnv

State = Mapping[str, Any]  # everything that the next games of a share depend on
Seated = tuple[Mapping[int, Weights], int] | None  # past selves, see PastSelves.seat

APART = 1 << 16  # difference of two workers' seeds, larger than the seeds that users try
RUNS = 2  # whose players a process keeps


class Workers:
    """W shares of the games, played in a Ray cluster; with `states`, they continue there."""

    def __init__(self, config: Config, workers: int, states: Sequence[State] = ()) -> None:
        """Raises UserError if there are too few games for the workers."""
        divided = games_of_workers(config, workers)
        self.configs = [config_of(config, n, games) for n, games in enumerate(divided)]
        ends = accumulate((each.num_games for each in self.configs), initial=0)
        self.shares = [slice(begin, end) for begin, end in pairwise(ends)]
        self.states: list[State | None] = list(states) or [None] * workers
        self.run_id = uuid4().hex
        self.ray = connect()
        # spread, because a lost machine may have been the only one with free processors
        how = {"scheduling_strategy": "SPREAD", "max_retries": RETRIES}
        self.task = self.ray.remote(rollout).options(**how)

    def play(self, policy: SelfPlayPolicy, games: HanamachiVecEnv, buffer: SelfPlayBuffer) -> None:
        """Play T decisions in all games, and store them in the buffer."""
        check_cluster()
        weights = self.ray.put(on_cpu(policy))
        opponent = past_selves(games)
        past = self.ray.put((opponent.selves, opponent.current) if opponent else None)
        tasks = [
            self.task.remote(self.run_id, config, buffer.compact, state, weights, past)
            for config, state in zip(self.configs, self.states, strict=True)
        ]
        buffer.reset()
        for number, (share, task) in enumerate(zip(self.shares, tasks, strict=True)):
            played, self.states[number] = answer(task)
            buffer.put(share, played)


# --- In the processes of the cluster


def rollout(
    run_id: str,
    config: Config,
    compact: bool,
    state: State | None,
    weights: Mapping[str, torch.Tensor],
    past: Seated,
) -> tuple[dict[str, Any], State]:
    """A rollout of T decisions of every game of a share, and what the next one depends on.

    It is packed if `compact`, as the learner's buffer is, so that both see the same numbers.
    """
    player = kept_player(run_id, config, compact) if state else new_player(config, compact)
    games: HanamachiVecEnv = player.env  # type: ignore[assignment]
    player.policy.load_state_dict(weights)
    if (opponent := past_selves(games)) and past:
        opponent.seat(*past)
    if state:
        games.set_state(state["games"])
        player.generator.set_state(state["generator"])
    else:
        player.begin_games()  # with the past selves that have just been seated
    player.play()
    after = {"games": games.get_state(), "generator": player.generator.get_state()}
    return player.rollout_buffer.played(), after


def kept_player(run_id: str, config: Config, compact: bool) -> SelfPlayPPO:
    """The run's player for shares of this shape; each rollout begins with a state of its own."""
    players, kind = kept_players(run_id), config.model_copy(update={"seed": 0}).model_dump_json()
    if kind not in players:
        players[kind] = new_player(Config.model_validate_json(kind), compact)
    return players[kind]


@lru_cache(RUNS)
def kept_players(run_id: str) -> dict[str, SelfPlayPPO]:
    """The players of a run by their settings, at first none.

    As shares differ by at most one game against each opponent, there are few.
    """
    return {}


def new_player(config: Config, compact: bool) -> SelfPlayPPO:
    """A learner that plays a share of the games, on one processor, and is never trained."""
    torch.set_num_threads(1)
    player = new_learner(config)
    player.rollout_buffer.prepare(player.env, player.policy.critic is not None, compact)
    return player


# --- Their games


def config_of(config: Config, number: int, games: Mapping[str, int]) -> Config:
    """The config of a worker that plays this number of games against each opponent."""
    total, seed = sum(games.values()), config.seed ^ (number + 1) * APART
    opponents = {name: count / total for name, count in games.items()}
    own = {"num_games": total, "opponents": opponents, "seed": seed, "device": "cpu"}
    return config.model_copy(update=own)


def on_cpu(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: tensor.cpu() for name, tensor in module.state_dict().items()}
