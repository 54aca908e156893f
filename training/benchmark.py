"""Speed as ratios: our figure and a peer's on the same work, measured in turn in one run.

Machines differ and are shared, so a rate alone says little. Every round measures both sides, one
after the other, and gives a ratio; the median and the range of the ratios are the result.

What profiling has shown so far:
- A call of a kernel for one game takes 2.7 microseconds, of which 2.5 go to handing the tables of
  the rules over to compiled code. So a face makes one call for a whole step, not three.
- In a batch a decision of random play costs about a microsecond a thread: half for the mask of a
  full choice of actions, a third for the observation, the rest for dealing and applying.
- Training spends most of its time in the update, and there in the network itself.
"""

import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from hanamachi import __version__, kernels
from hanamachi.errors import missing_extra, unknown
from hanamachi.game import OVER, Variant
from hanamachi.games import variant
from hanamachi.opponents import RandomPlay
from hanamachi.policies import load_policy
from hanamachi.record import Record, record_of
from hanamachi.saving import replacing
from hanamachi.session import Session
from hanamachi.training.vecenv import SelfPlayVecEnv

Rate = Callable[[], float]  # does some work and returns decisions per second

ENGINE_BATCH = 1024  # games side by side; their rows fit a processor's cache
ENGINE_DECISIONS = 400  # a row and round
NOISE = 0.1  # share of random moves in play of some skill
LOOP_STEPS = 5_000  # of an AEC loop
PEER_DECISIONS = 3_000
PEER_ROWS = 8
UPDATES = 3  # rollouts and updates of a training round


@dataclass(frozen=True)
class Comparison:
    """Two rates measured in turn, round by round, in decisions per second."""

    what: str
    peer: str
    ours: list[float]
    theirs: list[float]

    @property
    def ratios(self) -> list[float]:
        return [a / b for a, b in zip(self.ours, self.theirs, strict=True)]


def run(what: str, game: str, rounds: int, out: Path | None = None) -> list[Comparison]:
    """Measure, print a table, and write it as JSON if `out` is given."""
    if what not in BENCHMARKS:
        raise unknown("benchmark", what, BENCHMARKS)
    before = machine()
    comparisons = [
        compare(name, peer, ours, theirs, rounds)
        for name, ours, peer, theirs in BENCHMARKS[what](variant(game))
    ]
    Console().print(as_table(comparisons))
    for name, value in before.items():
        print(f"{name}: {value}")
    if out:
        rows = [asdict(c) | {"ratio": median(c.ratios)} for c in comparisons]
        report = {"machine": before, "load_after": load(), "game": game, "results": rows}
        with replacing(out) as file:
            file.write((json.dumps(report, indent=2) + "\n").encode())
    return comparisons


def compare(what: str, peer: str, ours: Rate, theirs: Rate, rounds: int) -> Comparison:
    """One unmeasured round to compile and warm up, then the rounds that count."""
    ours(), theirs()
    measured = [(ours(), theirs()) for _ in range(rounds)]
    return Comparison(what, peer, [a for a, _ in measured], [b for _, b in measured])


def as_table(comparisons: list[Comparison]) -> Table:
    table = Table(title="decisions per second, median and range", title_justify="left")
    for column in ("what", "rate", "peer", "its rate", "ratio"):
        table.add_column(column)
    for c in comparisons:
        table.add_row(c.what, spread(c.ours, 0), c.peer, spread(c.theirs, 0), spread(c.ratios, 2))
    return table


def spread(values: list[float], digits: int) -> str:
    middle, low, high = (f"{v:,.{digits}f}" for v in (median(values), min(values), max(values)))
    return f"{middle} ({low} to {high})"


def machine() -> dict[str, Any]:
    """What a reader must know of where the figures come from."""
    return {
        "hanamachi": __version__,
        "python": platform.python_version(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": load(),
    }


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def load() -> float | None:
    """Processes that want to run, averaged over the last minute."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def rate(work: Callable[[], int]) -> Rate:
    """Turn work that returns its decisions into a measurement."""

    def measure() -> float:
        begun = time.perf_counter()
        decisions = work()
        return decisions / (time.perf_counter() - begun)

    return measure


# --- The engine: observation and mask of every decision written out


def engine(rules: Variant) -> list[tuple[str, Rate, str, Rate]]:
    """Random play; and play of some skill, as most games last longer under it and end otherwise."""
    try:
        import pyspiel
    except ImportError as error:
        raise missing_extra("OpenSpiel", "bench") from error
    theirs = pyspiel.load_game("hanabi", {"players": rules.seats})
    peer = f"OpenSpiel hanabi, {rules.seats} players"
    return [
        (f"{rules.id}, random play", rate(random_play(rules)),
         peer, rate(openspiel_random_play(theirs))),
        (f"{rules.id}, mixed play", rate(mixed_play(rules)),
         peer, rate(openspiel_mixed_play(theirs, rules.seats))),
    ]  # fmt: skip


def random_play(rules: Variant) -> Callable[[], int]:
    games = rules.new(np.arange(ENGINE_BATCH, dtype=np.uint64))
    kernels.reset(rules.rules, games)
    observations = np.zeros((ENGINE_BATCH, rules.observation.size), np.float32)
    masks = np.zeros((ENGINE_BATCH, rules.actions.size), np.int8)

    def play() -> int:
        arguments = (games, ENGINE_DECISIONS, observations, masks)
        kernels.spread(kernels.play_randomly, rules.rules, *arguments)
        return ENGINE_BATCH * ENGINE_DECISIONS

    return play


def openspiel_random_play(game: Any) -> Callable[[], int]:
    """From Python: the mover's observation tensor and its mask as arrays."""
    rng = np.random.default_rng(0)

    def play() -> int:
        decisions = 0
        while decisions < PEER_DECISIONS:
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes = state.chance_outcomes()
                    state.apply_action(outcomes[int(rng.random() * len(outcomes))][0])
                    continue
                openspiel_view(state)
                legal = state.legal_actions()
                decisions += len(legal) > 1
                state.apply_action(legal[int(rng.random() * len(legal))])
        return decisions

    return play


def openspiel_view(state: Any) -> None:
    np.array(state.observation_tensor(state.current_player()), np.float32)
    np.array(state.legal_actions_mask(), np.int8)


# --- Mixed play: both engines are led through games that have been recorded


def recorded(games: SelfPlayVecEnv) -> NDArray[np.int64]:
    """Decisions in every row, (T, B), games in turn at random and by the greedy policy.

    A tenth of the latter's decisions is also left to the dice.
    """
    rules, batch, dice = games.variant, games.num_envs, RandomPlay()
    greedy = load_policy("greedy", rules.id, **rules.options)
    memory, rng = greedy.initial_memory(batch), np.random.default_rng(0)
    at_random = np.arange(batch) % 2 == 0
    actions = np.zeros((ENGINE_DECISIONS, batch), np.int64)
    games.restart()
    for t in range(ENGINE_DECISIONS):
        view = games.observations, games.masks, memory, rng
        left_to_dice = at_random | (rng.random(batch) < NOISE)
        actions[t] = np.where(left_to_dice, dice.act(*view)[0], greedy.act(*view)[0])
        games.advance(actions[t])
        at_random ^= games.over
    return actions


def mixed_play(rules: Variant) -> Callable[[], int]:
    games = SelfPlayVecEnv(rules, ENGINE_BATCH)
    actions = recorded(games)

    def play() -> int:
        games.reseed(0)
        games.restart()
        for row in actions:
            games.advance(row)
        return actions.size

    return play


def openspiel_mixed_play(game: Any, players: int) -> Callable[[], int]:
    """As at random, but both chance and actions are given."""
    rules = variant(f"hanabi:{players}p", starter=0)  # as in OpenSpiel
    games = SelfPlayVecEnv(rules, PEER_ROWS)
    rows = zip(games.games["rng"].tolist(), recorded(games).T.tolist(), strict=True)
    records = [record for generator, row in rows for record in finished(rules, generator, row)]

    def play() -> int:
        for record in records:
            chance, actions = iter(record.chance), iter(record.actions)
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    state.apply_action(next(chance))
                    continue
                openspiel_view(state)
                state.apply_action(next(actions))
        return sum(len(record.actions) for record in records)

    return play


def finished(rules: Variant, generator: int, actions: list[int]) -> Iterator[Record]:
    """The games that a row's generator and actions have led to their end."""
    session = Session(rules)
    session.begin_anew(generator, ())
    for action in actions:
        session.step(action)
        if session.mover == OVER:
            yield record_of(session)
            session.begin()


# --- The faces: a plain loop of `last` and `step`


def faces(rules: Variant) -> list[tuple[str, Rate, str, Rate]]:
    from pettingzoo.classic import connect_four_v3

    from hanamachi.aec import AEC

    ours, theirs = AEC(rules.id, **rules.options), connect_four_v3.raw_env()
    return [
        (f"{rules.id}, raw AEC", rate(aec_loop(ours)), "PettingZoo connect_four, raw AEC",
         rate(aec_loop(theirs)))
    ]  # fmt: skip


def aec_loop(env: Any) -> Callable[[], int]:
    rng = np.random.default_rng(0)
    env.reset(seed=0)

    def play() -> int:
        for _ in range(LOOP_STEPS):
            observation, _, over, cut, _ = env.last()
            if over or cut:
                env.reset()
                continue
            legal = np.flatnonzero(observation["action_mask"])
            env.step(int(legal[int(rng.random() * len(legal))]))
        return LOOP_STEPS

    return play


# --- Training: the learner beside nothing but its network


def training(rules: Variant) -> list[tuple[str, Rate, str, Rate]]:
    """The peer makes one forward pass and four forward and backward passes a decision."""
    from hanamachi.training.config import Config
    from hanamachi.training.run import new_learner

    config = Config.from_dict({"game": rules.id, "device": "cpu"})
    learner = new_learner(config)
    learner.set_logger(quiet())
    rollout = config.num_games * config.ppo.n_steps

    def learn() -> int:
        learner.learn(UPDATES * rollout, log_interval=UPDATES + 1, reset_num_timesteps=False)
        return UPDATES * rollout

    return [(f"{rules.id}, training", rate(learn), "its bare network", rate(bare(learner, config)))]


def quiet() -> Any:
    from stable_baselines3.common.logger import Logger

    return Logger(None, [])


def bare(learner: Any, config: Any) -> Callable[[], int]:
    network, optimizer = learner.policy.network, learner.policy.optimizer
    rows = torch.from_numpy(learner.rollout_buffer.observations.reshape(-1, len(network.scale)))
    batches = rows.split(config.ppo.batch_size)

    def work() -> int:
        with torch.no_grad():
            for few in rows.split(config.num_games):
                network(few)
        for _ in range(config.ppo.n_epochs):
            for batch in batches:
                logits, values = network(batch)
                loss = logits.sum() + values.sum()
                optimizer.zero_grad()
                (loss * 0).backward()
        return len(rows)

    return work


BENCHMARKS = {"engine": engine, "faces": faces, "training": training}
