"""Save a run, and resume it to the bit."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from hanamachi.errors import UserError
from hanamachi.storage.files import replacing
from hanamachi.training.build import learner_class, make_games, track_average
from hanamachi.training.config import Config
from hanamachi.training.failures import is_out_of_memory
from hanamachi.training.learner.selfplay import SelfPlayPPO

SAVED = "resume.zip"


def save_run(learner: SelfPlayPPO, config: Config, out: Path) -> None:
    """Write everything that the rest of the run depends on to `out`/resume.zip."""
    state, games = learner.run_state, learner.env
    state.settings = config.to_yaml()
    state.games = games.get_state()  # type: ignore[attr-defined]
    state.generator = learner.generator.get_state()
    state.magnet = learner.magnet.get_state() if learner.magnet else None
    state.average = learner.average.get_state() if learner.average else None
    state.workers = learner.workers.states if learner.workers else []
    state.worker_count = len(state.workers)
    with replacing(out / SAVED) as file:
        learner.save(file)


def resumed_learner(config: Config, out: Path) -> SelfPlayPPO | None:
    """The learner as it was last saved in `out`, or None if it never was."""
    saved = out / SAVED
    if not saved.exists():
        return None
    check_saved_settings(config, out)
    games, kind = make_games(config), learner_class(config)
    with refusing_damage(saved):
        learner = kind.load(saved, env=games, device=config.device, force_reset=False)
    state = learner.run_state
    assert state.games is not None, "they are saved"
    assert state.generator is not None, "it is saved"
    games.set_state(state.games)
    learner.generator.set_state(state.generator)
    track_average(learner, config)
    for copy, its_state in ((learner.magnet, state.magnet), (learner.average, state.average)):
        if copy and its_state:
            copy.set_state(its_state)
    return learner


def check_saved_settings(config: Config, out: Path) -> None:
    """UserError unless the run that was last saved in `out` has the settings of `config`."""
    state = plain_state(out / SAVED)
    if "settings" not in state:
        raise UserError(
            f"{out / SAVED} comes from another version of hanamachi: "
            "resume the run with that version, or delete the file to start the run again"
        )
    if state["settings"] != config.to_yaml():
        raise UserError(
            f"{out / 'config.yaml'} was changed since the run was saved: restore it, or start a "
            "new run with init_from"
        )


def saved_workers(out: Path) -> int | None:
    """How many workers the run has that was last saved in `out`; None if no save says so."""
    saved = out / SAVED
    count: int | None = plain_state(saved).get("worker_count") if saved.exists() else None
    return count


def plain_state(saved: Path) -> dict[str, Any]:
    """The texts and numbers of a saved run's state; UserError if the file is damaged."""
    with refusing_damage(saved), ZipFile(saved) as opened:
        # stable-baselines3 writes what is plain in an object beside its pickle
        state: dict[str, Any] = json.loads(opened.read("data")).get("run_state", {})
    return state


@contextmanager
def refusing_damage(saved: Path) -> Iterator[None]:
    """UserError if the file cannot be read; a damaged pickle can raise anything."""
    try:
        yield
    except Exception as error:
        if is_out_of_memory(error):
            raise
        words = "is damaged: restore it, or delete it to start the run again"
        raise UserError(f"{saved} {words}") from error
