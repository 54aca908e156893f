"""What a run does between two rollouts: snapshots, evaluations, saves; and its progress bar.

Nothing that counts happens during a rollout, so a resumed run continues as if it had never been
stopped.
"""

import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from hanamachi.policies.load import load_policy
from hanamachi.policies.networks.checkpoint import save_checkpoint
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.network import Network, checkpoint_of
from hanamachi.policies.policy import Policy
from hanamachi.training import provenance
from hanamachi.training.build import past_selves
from hanamachi.training.config import Config
from hanamachi.training.curve import AGAINST, HIGH, LOW, RESULT, SCORE, WITH, LoggedResult, logged
from hanamachi.training.evaluation.pairings import pairings_of_one
from hanamachi.training.evaluation.plan import Plan, play_pairings
from hanamachi.training.evaluation.playing import own_play
from hanamachi.training.evaluation.results import row_of
from hanamachi.training.evaluation.statistics import Float64s, is_better
from hanamachi.training.learner.past import playing
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.modelcard import model_card
from hanamachi.training.ownership import check_owned
from hanamachi.training.resume import save_learner
from hanamachi.training.run_files import POLICY

SAVE_EVERY_SECONDS = 300.0  # if `save_every` decisions take longer


class Periodic:
    """Acts between two rollouts when a number of decisions has passed, and at the end."""

    def __init__(self, learner: SelfPlayPPO, config: Config, every: int) -> None:
        self.learner, self.config, self.every = learner, config, every
        self.last = learner.num_timesteps  # decisions when it last acted

    def start(self) -> None:
        """Called once, before the first rollout."""

    def act_if_due(self) -> None:
        """Called after each update."""
        if self.is_due():
            self.act()
            self.last = self.learner.num_timesteps

    def is_due(self) -> bool:
        passed = self.learner.num_timesteps // self.every > self.last // self.every
        return passed or self.learner.share_left <= 0

    def act(self) -> None:
        raise NotImplementedError


class PlayThePast(Periodic):
    """Takes snapshots of the learner, and before each rollout lets new games meet another one."""

    def __init__(self, learner: SelfPlayPPO, config: Config) -> None:
        super().__init__(learner, config, config.past.every)
        opponent = past_selves(learner.env)  # type: ignore[arg-type]
        assert opponent, "`opponents` gives past selves a share"
        self.opponent = opponent

    def start(self) -> None:
        self.seat()  # also in a run that is resumed

    def act_if_due(self) -> None:
        super().act_if_due()
        self.seat()

    def act(self) -> None:
        """Take a snapshot, and drop those that are neither among the latest nor at play."""
        network, state = self.learner.policy.network, self.learner.run_state
        weights = checkpoint_of(network, self.config.variant()).weights
        state.past[max(state.past) + 1] = weights
        needed = {*self.latest(), *self.at_play()}
        state.past = {number: state.past[number] for number in sorted(needed)}

    def seat(self) -> None:
        """Let the games that begin from now on meet the next snapshot, all of them in turn."""
        latest = self.latest()
        current = latest[self.learner.updates % len(latest)]
        self.opponent.seat(self.learner.run_state.past, current)

    def latest(self) -> list[int]:
        """The numbers of the snapshots that games may begin with."""
        return sorted(self.learner.run_state.past)[-self.config.past.keep :]

    def at_play(self) -> list[int]:
        """The numbers of the snapshots in the games that are not over."""
        opponents, workers = self.learner.env.fixed_opponents, self.learner.workers
        place = [each.policy for each in opponents].index(self.opponent)
        memories = (
            [state["games"]["memories"][place] for state in workers.states]
            if workers
            else [opponents[place].memory]
        )
        return [number for memory in memories for number in playing(memory)]


class KeepUnlessWorse(Periodic):
    """Evaluates the policy, and exports it unless the best one before was better beyond noise.

    The deals of all evaluations are the same, and the difference on each of them decides. Of
    policies that differ by noise alone the last one has learned most. The best one of many
    evaluations was lucky, so the test allows for their number.
    """

    def __init__(
        self, learner: SelfPlayPPO, config: Config, out: Path, console: Console | None = None
    ) -> None:
        """`console` shows each result on a line, also where it writes to a file."""
        super().__init__(learner, config, config.evaluation.every)
        self.out, self.console = out, console
        together = config.variant().game.cooperative
        self.plays = [own_play(config.variant())]
        # loaded once, as their files may change in a long run
        self.others = {
            name: load_policy(name, config.game, **config.options)
            for name in (config.evaluation.partners if together else config.evaluation.opponents)
        }

    def start(self) -> None:
        if self.config.init_from and self.learner.run_state.best_results is None:
            self.act()  # the start may be better than all that follows

    def act(self) -> None:
        decisions, state = self.learner.num_timesteps, self.learner.run_state
        network = exported(self.learner, self.config)
        checkpoint = checkpoint_of(network, self.config.variant())
        results, of_deals = self.evaluated(CompiledPolicy(checkpoint))
        check_owned(self.out)
        for result in results:
            self.learner.logger.record(f"{RESULT}{result.name}", result.middle)
            self.learner.logger.record(f"{LOW}{result.name}", result.low)
            self.learner.logger.record(f"{HIGH}{result.name}", result.high)
        self.learner.logger.dump(decisions)  # the next would be a rollout later
        self.show(decisions, results)
        # compared with the best result, not with the kept one: else the kept checkpoint could get
        # worse in small steps, each of them within the noise
        best, state.evaluations = state.best_results, state.evaluations + 1
        if best is None or not is_better(best, than=of_deals, among=state.evaluations):
            state.kept_result, state.kept_decisions = float(of_deals.mean()), decisions
            card = model_card(self.config, provenance.of_run(self.config), decisions, [])
            save_checkpoint(self.out / POLICY, checkpoint, card)
        if best is None or of_deals.mean() > best.mean():
            state.best_results = of_deals

    def show(self, decisions: int, results: list[LoggedResult]) -> None:
        if self.console:
            words = ", ".join(map(spoken, results))
            self.console.print(
                f"{decisions:,} decisions: {words}", markup=False, highlight=False, soft_wrap=True
            )

    def evaluated(self, policy: Policy) -> tuple[list[LoggedResult], Float64s]:
        """Its mean scores in a cooperative game, else its win rate versus each opponent.

        And its mean result on each deal, (D,); the deals are the same in the whole run.
        """
        pairings = pairings_of_one(policy.name, policy, self.others, policy.variant, self.plays)
        plan = Plan(self.config.evaluation.games, self.config.choosing_seed)
        parts = play_pairings(pairings, plan)
        rows = map(row_of, pairings, parts)
        return [logged(row) for row in rows], np.mean([part.scores for part in parts], axis=0)


def spoken(result: LoggedResult) -> str:
    """A result and its interval in words."""
    name, low, middle, high = result
    if name.startswith(SCORE):
        partner = name.replace(WITH, " with ").removeprefix(SCORE)
        return f"mean score{partner} {middle:.2f} ({low:.2f} to {high:.2f})"
    span = f"{100 * middle:.1f}% ({100 * low:.1f} to {100 * high:.1f})"
    return f"{span} against {name.removeprefix(AGAINST)}"


def exported(learner: SelfPlayPPO, config: Config) -> Network:
    """The network that is evaluated and exported."""
    if config.export == "average":
        assert learner.average, "export: average needs an average"
        return learner.average.network
    return learner.policy.network


class Save(Periodic):
    """Saves everything that the rest of the learning depends on; a slow learner more often."""

    def __init__(self, learner: SelfPlayPPO, config: Config, file: Path) -> None:
        super().__init__(learner, config, config.save_every)
        self.file, self.saved = file, time.monotonic()

    def is_due(self) -> bool:
        return super().is_due() or time.monotonic() - self.saved > SAVE_EVERY_SECONDS

    def act(self) -> None:
        check_owned(self.file.parent)
        save_learner(self.learner, self.config, self.file)
        self.saved = time.monotonic()


# --- Progress


def progress_bar() -> Progress:
    """Decisions made, their rate, and the time left."""
    console = Console(stderr=True, emoji=False)
    return Progress(
        TextColumn("{task.description}", markup=False),
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

    def __init__(self, bar: Progress, title: str, learner: SelfPlayPPO, steps: int) -> None:
        self.bar, self.learner = bar, learner
        self.begun, self.before = time.perf_counter(), learner.num_timesteps
        self.task = bar.add_task(title, total=steps, completed=self.before, rate=0.0)

    def show(self) -> None:
        made = self.learner.num_timesteps
        rate = (made - self.before) / (time.perf_counter() - self.begun)
        self.bar.update(self.task, completed=made, rate=rate)
