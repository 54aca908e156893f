"""What a run does between two rollouts: snapshots, evaluations, saves; and its progress bar.

Nothing that counts happens during a rollout, so a resumed run continues as if it had never been
stopped.
"""

import time
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from hanamachi.policies.networks.checkpoint import save_checkpoint
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.network import Network, checkpoint_of
from hanamachi.policies.policy import Policy
from hanamachi.training import provenance
from hanamachi.training.build import past_self
from hanamachi.training.config import Config
from hanamachi.training.curve import AGAINST, HIGH, LOW, RESULT, SCORE, Result, result_of
from hanamachi.training.evaluation.matches import versus, with_partners
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.modelcard import model_card
from hanamachi.training.ownership import check_owned
from hanamachi.training.resume import save_run


class Periodic:
    """Acts between two rollouts when a number of decisions has passed, and at the end."""

    def __init__(self, learner: SelfPlayPPO, config: Config, every: int) -> None:
        self.learner, self.config, self.every = learner, config, every
        self.last = learner.num_timesteps  # decisions when it last acted

    def start(self) -> None:
        """Called once, before the first rollout."""

    def act_if_due(self) -> None:
        """Called after each update."""
        now = self.learner.num_timesteps
        if now // self.every > self.last // self.every or now >= self.config.steps:
            self.act()
            self.last = now

    def act(self) -> None:
        raise NotImplementedError


class PlayThePast(Periodic):
    """Takes snapshots of the learner, and seats another of them before each rollout."""

    def __init__(self, learner: SelfPlayPPO, config: Config) -> None:
        super().__init__(learner, config, config.past.every)
        self.opponent = past_self(learner.env)  # type: ignore[arg-type]

    def start(self) -> None:
        if not self.learner.run_state.past:
            self.act()
        self.seat()

    def act_if_due(self) -> None:
        super().act_if_due()
        self.seat()

    def act(self) -> None:
        network, state = self.learner.policy.network, self.learner.run_state
        weights = checkpoint_of(network, self.config.variant()).weights
        state.past = [*state.past, weights][-self.config.past.keep :]

    def seat(self) -> None:
        """Let the next snapshot play, all of them in turn."""
        past = self.learner.run_state.past
        self.opponent.load(past[self.learner.updates % len(past)])


class KeepTheBest(Periodic):
    """Evaluates the policy, and exports it when it does better than ever before."""

    def __init__(
        self, learner: SelfPlayPPO, config: Config, out: Path, console: Console | None = None
    ) -> None:
        """On a terminal and in a notebook, `console` shows each result."""
        super().__init__(learner, config, config.evaluation.every)
        self.out = out
        seen = console and (console.is_terminal or console.is_jupyter)
        self.console = console if seen else None

    def start(self) -> None:
        if self.config.init_from and self.learner.run_state.best is None:
            self.act()  # the start may be better than all that follows

    def act(self) -> None:
        decisions, state = self.learner.num_timesteps, self.learner.run_state
        network = exported(self.learner, self.config)
        checkpoint = checkpoint_of(network, self.config.variant())
        results = self.results(CompiledPolicy(checkpoint))
        check_owned(self.out)
        for result in results:
            self.learner.logger.record(f"{RESULT}{result.name}", result.middle)
            self.learner.logger.record(f"{LOW}{result.name}", result.low)
            self.learner.logger.record(f"{HIGH}{result.name}", result.high)
        self.learner.logger.dump(decisions)  # the next would be a rollout later
        self.show(decisions, results)
        mean = sum(result.middle for result in results) / len(results)
        if state.best is None or mean > state.best:
            state.best, state.best_decisions = mean, decisions
            card = model_card(self.config, provenance.of_run(self.config), decisions, [])
            save_checkpoint(self.out / "policy", checkpoint, card)

    def show(self, decisions: int, results: list[Result]) -> None:
        if self.console:
            words = ", ".join(map(spoken, results))
            self.console.print(
                f"{decisions:,} decisions: {words}", markup=False, highlight=False, soft_wrap=True
            )

    def results(self, policy: Policy) -> list[Result]:
        """The policy's mean score in a cooperative game, else its win rate versus each opponent."""
        game, settings = self.config.game, self.config.evaluation
        seed, options = self.config.choosing_seed, self.config.options
        if policy.variant.game.cooperative:
            teams = with_partners(
                policy, [], game, settings.games, seed, plays=["argmax"], **options
            )
            return [result_of(team) for team in teams]
        rows = versus(
            policy, settings.opponents, game, settings.games, seed, plays=["sample"], **options
        )
        return [result_of(row) for row in rows]


def spoken(result: Result) -> str:
    """A result and its interval in words."""
    name, low, middle, high = result
    if name == SCORE:
        return f"mean score {middle:.2f} ({low:.2f} to {high:.2f})"
    span = f"{100 * middle:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
    return f"{span} against {name.removeprefix(AGAINST)}"


def exported(learner: SelfPlayPPO, config: Config) -> Network:
    """The network that is evaluated and exported."""
    if config.export == "average":
        assert learner.average, "export: average needs an average"
        return learner.average.network
    return learner.policy.network


class SaveRun(Periodic):
    """Saves everything that the rest of the run depends on."""

    def __init__(self, learner: SelfPlayPPO, config: Config, out: Path) -> None:
        super().__init__(learner, config, config.save_every)
        self.out = out

    def act(self) -> None:
        check_owned(self.out)
        save_run(self.learner, self.out)


# --- Progress


def progress_bar(title: str) -> Progress:
    """Decisions made, their rate, and the time left."""
    console = Console(stderr=True)
    return Progress(
        TextColumn(title),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:,.0f} decisions/s,"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=console,
        disable=console.is_jupyter and not find_spec("ipywidgets"),  # rich would only warn
    )


class ShowProgress:
    """Updates the bar after each rollout."""

    def __init__(self, bar: Progress, learner: SelfPlayPPO, steps: int) -> None:
        self.bar, self.learner = bar, learner
        self.task = bar.add_task("", total=steps, rate=0.0)
        self.begun, self.before = time.perf_counter(), learner.num_timesteps

    def show(self) -> None:
        made = self.learner.num_timesteps
        rate = (made - self.before) / (time.perf_counter() - self.begun)
        self.bar.update(self.task, completed=made, rate=rate)
        self.learner.logger.record("time/decisions_per_second", rate)
