"""Search for settings on a Ray cluster: the YAML file of a run with a section of ranges.

    sweep:
      trials: 8
      over:
        ppo.learning_rate: {log: [3e-4, 3e-3]}  # between these, by their logarithm
        ppo.gae_lambda: {between: [0.8, 1.0]}
        num_games: [128, 256, 512]              # one of these

From a range of a setting that is a whole number, whole numbers are drawn, its ends among them.
Each trial is a run with one value from each range. Its result is that of the checkpoint that it
kept, as evaluated during the run; the deals of the final evaluation are never used. A trial that
fails ranks last, with its reason.
"""

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import yaml
from pydantic import Field, model_validator
from rich.table import Table
from rich.text import Text

from hanamachi.errors import UserError, listed
from hanamachi.limits import TRIALS
from hanamachi.storage.files import replacing
from hanamachi.storage.reading import checked_path
from hanamachi.training.build import check_workers
from hanamachi.training.cluster.map_on_cluster import map_on_cluster
from hanamachi.training.config import SWEEP, Config, Model
from hanamachi.training.config_errors import shown_key
from hanamachi.training.evaluation.json_results import write_json
from hanamachi.training.evaluation.saved_parts import refuse_unclaimed
from hanamachi.training.failures import is_out_of_memory
from hanamachi.training.ownership import owned
from hanamachi.training.run import changed_settings, check_policies, fit, open_run
from hanamachi.training.run_files import SETTINGS
from hanamachi.training.settings_file import put_setting, read_settings
from hanamachi.training.tables import whole_table

Ends = tuple[float, float]
Choices = Annotated[list[Any], Field(min_length=1)]

TRIALS_FOLDER = "trials"  # which holds a run for each
BEST, TABLE = "best.yaml", "sweep.json"
MEASURES = "game", "options", "evaluation"  # of the results, which trials must share
EVERY = "evaluation.every"  # no part of it: it says when a run is evaluated


class Range(Model):
    """Numbers between two ends, drawn uniformly or uniformly in their logarithm."""

    between: Ends | None = None
    log: Ends | None = None

    @model_validator(mode="after")
    def _is_one_range(self) -> "Range":
        if (self.between is None) == (self.log is None):
            raise ValueError("give a range as {between: [from, to]} or {log: [from, to]}")
        low, high = self.ends
        if not low < high or (self.log and low <= 0):
            raise ValueError("a range goes from a number to a larger one, with log from above 0")
        return self

    @property
    def ends(self) -> Ends:
        return self.between or self.log or (math.nan, math.nan)


class Sweep(Model):
    """The section of the ranges."""

    trials: Annotated[int, Field(gt=0, le=TRIALS)] = 8
    """Number of runs, each with values drawn from the ranges."""
    over: Annotated[dict[str, Range | Choices], Field(min_length=1)]
    """Range or values of each setting, by its name as in `--set`."""


class Section(Model):
    """The section of a sweep, in a file that also holds a run."""

    sweep: Sweep


@dataclass(frozen=True)
class Trial:
    """A run of a sweep."""

    settings: Mapping[str, Any]  #: those that were drawn
    result: float | None  #: of the checkpoint that it kept; None if it failed
    reason: str = ""  #: why it failed

    def as_json(self) -> dict[str, Any]:
        reason = {"reason": self.reason} if self.reason else {}
        return {"settings": self.settings, "result": self.result, **reason}


def sweep(
    file: Path | str, out: Path | str, resume: bool = False, overrides: Sequence[str] = ()
) -> tuple[Path, list[Trial]]:
    """Try the settings of `file` in the runs `out`/trials/..., and write the best of them.

    `overrides` replace settings, such as `sweep.trials=4`. Returns the path `out`/best.yaml, which
    holds the settings of a run, and all trials, the best first, which are also written to
    `out`/sweep.json. Raises UserError if something does not fit, or if every trial fails.
    """
    data, out = read_settings(file, overrides), checked_path(out).resolve()
    if SWEEP not in data:
        raise UserError(f"{file} has no section sweep; see configs/sweeps/hanamikoji.yaml")
    wanted = Section.from_dict({SWEEP: data.pop(SWEEP)}, str(file)).sweep
    check_comparable(wanted, str(file))
    check_ranges(wanted, data, str(file))
    chosen = drawn_settings(wanted, own_seed(wanted, data, str(file)))
    configs = [Config.from_dict(with_settings(data, each), str(file)) for each in chosen]
    folders = [out / TRIALS_FOLDER / str(number) for number in range(len(configs))]
    check_place(out, configs, folders, resume)
    for config in configs:
        check_workers(config, 0)
        check_policies(config)
    with owned(out):
        trials = tried(chosen, configs, folders)
        write_json([trial.as_json() for trial in trials], out / TABLE)
        best = trials[0]
        if best.result is None:
            raise UserError(f"no trial in {out} could run: {best.reason}")
        settings = yaml.safe_dump(with_settings(data, best.settings), sort_keys=False)
        with replacing(out / BEST) as written:
            written.write(settings.encode())
    return out / BEST, trials


def check_place(
    out: Path, configs: Sequence[Config], folders: Sequence[Path], resume: bool
) -> None:
    """UserError if `out` holds another sweep, or one that is not to be resumed."""
    if (out / TRIALS_FOLDER).exists() and not resume:
        raise UserError(
            f"{out} holds a sweep already: resume it with resume=True (--resume), or name another "
            "folder"
        )
    refuse_unclaimed(out / TRIALS_FOLDER, [out / BEST, out / TABLE])
    check_begun(configs, folders)


def check_ranges(wanted: Sweep, data: Mapping[str, Any], file: str) -> None:
    """UserError if a value, or an end of a range, does not fit, whether it will be drawn or not."""
    first = {name: ends(values)[0] for name, values in wanted.over.items()}
    for name, values in wanted.over.items():
        for value in ends(values):
            Config.from_dict(with_settings(data, {**first, name: value}), file)


def check_comparable(wanted: Sweep, file: str) -> None:
    """UserError if the results of trials would be measured in several ways, and ranked."""
    for name in wanted.over:
        if name.partition(".")[0] in MEASURES and name != EVERY:
            raise UserError(
                f"{file}: results with several values of {shown_key(name)} could not be compared: "
                "take it out of sweep.over, and begin a sweep for each value"
            )


def own_seed(wanted: Sweep, data: Mapping[str, Any], file: str) -> int:
    """The file's own seed, which draws, even if each trial has another; UserError if it is none."""
    others = {name: ends(values)[0] for name, values in wanted.over.items() if name != "seed"}
    return Config.from_dict(with_settings(data, others), file).seed


def ends(values: Range | Sequence[Any]) -> Sequence[Any]:
    """The ends of a range, or all of several values."""
    return values.ends if isinstance(values, Range) else values


def with_settings(data: Mapping[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a run, some of them replaced."""
    settings = deepcopy(dict(data))
    for name, value in chosen.items():
        put_setting(settings, name, value, f"sweep.over.{name}")
    return settings


# --- Trials


def check_begun(configs: Sequence[Config], folders: Sequence[Path]) -> None:
    """UserError, before results are replaced, if a trial was begun with other settings."""
    for config, folder in zip(configs, folders, strict=True):
        begun = folder / SETTINGS
        if begun.exists() and (found := changed_settings(begun, config)):
            what_to_do = "restore these, or name another folder for the sweep"
            raise UserError(
                listed(f"{folder} was begun with other settings ({what_to_do}): ", found)
            )


def drawn_settings(wanted: Sweep, seed: int) -> list[dict[str, Any]]:
    """The settings of each trial that are drawn."""
    rng = np.random.default_rng(seed)
    return [
        {name: drawn(name, values, rng) for name, values in wanted.over.items()}
        for _ in range(wanted.trials)
    ]


def tried(
    chosen: Sequence[Mapping[str, Any]], configs: Sequence[Config], folders: Sequence[Path]
) -> list[Trial]:
    """Run all trials, or what is left of them; the best comes first."""
    return sorted(map_on_cluster(run_trial, chosen, configs, folders), key=rank)


def rank(trial: Trial) -> tuple[bool, float, str]:
    """The best result comes first, and trials without a result last."""
    return trial.result is None, -(trial.result or 0.0), str(trial.settings)


def drawn(name: str, values: Range | Sequence[Any], rng: np.random.Generator) -> Any:
    """A value for the setting from a range, or one of several."""
    if not isinstance(values, Range):
        return values[int(rng.integers(len(values)))]
    low, high = values.ends
    whole = is_whole_number(name)
    above = high + whole  # so that the largest whole number is as likely as the others
    if values.log:
        value = math.exp(rng.uniform(math.log(low), math.log(above)))
    else:
        value = rng.uniform(low, above)
    return int(min(max(value, low), high)) if whole else value


def is_whole_number(name: str) -> bool:
    """Whether a setting, such as `ppo.n_steps`, takes only whole numbers."""
    kind: Any = Config
    for part in name.split("."):
        field = getattr(kind, "model_fields", {}).get(part)
        kind = field.annotation if field else None
    return kind is int


def run_trial(settings: Mapping[str, Any], config: Config, folder: Path) -> Trial:
    """Train by these settings, or resume what has begun, and say what came of it."""
    try:
        with open_run(config, folder, resume=True):
            kept = fit(config, folder, resume=True).run_state.kept_result
    except UserError as error:
        return Trial(settings, None, str(error))
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        return Trial(settings, None, "there is not enough memory for these settings")
    assert kept is not None, "every run is evaluated at its end"
    return Trial(settings, kept)


# --- In the terminal


def table(trials: Sequence[Trial]) -> Table:
    """All trials and their results."""
    names = list(trials[0].settings)
    rows = whole_table(*names, "result", title="the kept checkpoint of each trial")
    for trial in trials:
        values = [trial.settings[name] for name in names]
        shown = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in values]
        result = trial.reason if trial.result is None else f"{trial.result:.3f}"
        rows.add_row(*map(Text, (*shown, result)))
    return rows
