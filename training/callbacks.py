"""What happens while a run learns: evaluations, saves, earlier selves in the other seats, the bar.

Everything that counts happens between two rollouts, so that a run goes on from a save as if it had
never been stopped.
"""

import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from stable_baselines3.common.callbacks import BaseCallback

from hanamachi.policies.networks.checkpoint import save_checkpoint
from hanamachi.policies.networks.network import Network, NetworkPolicy
from hanamachi.policies.policy import Policy
from hanamachi.storage.files import replacing
from hanamachi.training.config import Config
from hanamachi.training.evaluation.matches import versus, with_partners
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.learner.vecenv import Games
from hanamachi.training.modelcard import model_card, provenance


class EveryFew(BaseCallback):
    """Acts between two rollouts whenever so many decisions have passed, and at the end."""

    learner: SelfPlayPPO

    def __init__(self, config: Config, every: int) -> None:
        super().__init__()
        self.config, self.every = config, every

    def _init_callback(self) -> None:
        self.learner = self.model  # type: ignore[assignment]
        self.games: Games = self.learner.env  # type: ignore[assignment]
        self.acted = self.learner.num_timesteps

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        if self.learner.num_timesteps // self.every > self.acted // self.every:
            self.act()
            self.acted = self.learner.num_timesteps

    def _on_training_end(self) -> None:
        if self.learner.num_timesteps > self.acted:
            self.act()

    def act(self) -> None:
        raise NotImplementedError


class SaveRun(EveryFew):
    """Saves all that the rest of the run depends on."""

    def __init__(self, config: Config, out: Path) -> None:
        super().__init__(config, config.save_every)
        self.out = out

    def act(self) -> None:
        self.learner.saved_state |= {
            "games": self.games.get_state(),
            "generator": self.learner.generator.get_state(),
            "slow copies": self.learner.slow_copies(),
            "crew": self.learner.crew.states if self.learner.crew else [],
        }
        with replacing(self.out / "resume.zip") as file:
            self.learner.save(file)


class KeepTheBest(EveryFew):
    """Evaluates the policy now and then, and exports it whenever it does best."""

    def __init__(self, config: Config, out: Path) -> None:
        super().__init__(config, config.evaluation.every)
        self.out = out

    def _on_training_start(self) -> None:
        if self.config.init_from and self.learner.saved_state["best"] is None:
            self.act()  # nothing that follows may be better than the start

    def act(self) -> None:
        policy = NetworkPolicy(self.config.variant(), exported(self.learner, self.config))
        results = self.results(policy)
        for name, result in results.items():
            self.learner.logger.record(f"selfplay/{name}", result)
        self.learner.logger.dump(self.learner.num_timesteps)  # the next would be a rollout later
        mean = sum(results.values()) / len(results)
        best = self.learner.saved_state["best"]
        if best is None or mean > best:
            self.learner.saved_state |= {"best": mean, "learned": self.learner.num_timesteps}
            card = model_card(self.config, provenance(self.config), self.learner.num_timesteps, [])
            save_checkpoint(self.out / "policy", policy.network, policy.variant, card)

    def results(self, policy: Policy) -> dict[str, float]:
        """How the policy fares, by what is measured."""
        game, settings = self.config.game, self.config.evaluation
        seed, options = self.config.choosing_seed, self.config.options
        if policy.variant.game.cooperative:
            (team,) = with_partners(
                policy, [], game, settings.games, seed, plays=["argmax"], **options
            )
            return {"score": team.mean}
        rows = versus(
            policy, settings.opponents, game, settings.games, seed, plays=["sample"], **options
        )
        return {f"rate_against_{row.opponent}": row.rate for row in rows}


def exported(learner: SelfPlayPPO, config: Config) -> Network:
    """The network that is evaluated and exported."""
    if config.export == "average":
        assert learner.average, "export: average wants an average"
        return learner.average.network
    return learner.policy.network


class PlayThePast(EveryFew):
    """Keeps snapshots of the learner, and seats another of them before each rollout."""

    def __init__(self, config: Config) -> None:
        super().__init__(config, config.past.every)

    def _on_training_start(self) -> None:
        if not self.learner.saved_state["past"]:
            self.act()

    def act(self) -> None:
        network = self.learner.policy.network
        weights = {name: t.cpu().clone() for name, t in network.state_dict().items()}
        pool = self.learner.saved_state["past"]
        self.learner.saved_state["past"] = [*pool, weights][-self.config.past.keep :]

    def _on_rollout_start(self) -> None:
        super()._on_rollout_start()
        names = [name for name in self.config.opponents if name != "self"]
        opponent: Any = self.games.fixed_opponents[names.index("past")].policy
        pool = self.learner.saved_state["past"]
        rollouts = self.learner._n_updates // self.learner.n_epochs
        opponent.network.load_state_dict(pool[rollouts % len(pool)])


def progress_bar(doing: str) -> Progress:
    """Decisions made, their rate, and the time left."""
    return Progress(
        TextColumn(doing),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:,.0f} decisions/s,"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(stderr=True),
    )


class ShowProgress(BaseCallback):
    """Keeps the bar up to date."""

    def __init__(self, bar: Progress, steps: int) -> None:
        super().__init__()
        self.bar = bar
        self.task = bar.add_task("", total=steps, rate=0.0)

    def _on_training_start(self) -> None:
        self.begun, self.before = time.perf_counter(), self.model.num_timesteps

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        made = self.model.num_timesteps
        rate = (made - self.before) / (time.perf_counter() - self.begun)
        self.bar.update(self.task, completed=made, rate=rate)
        self.model.logger.record("time/decisions_per_second", rate)
