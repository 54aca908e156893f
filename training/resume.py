"""Save a learner, and resume it to the bit."""

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from zipfile import ZipFile

from stable_baselines3.common.save_util import load_from_zip_file

from hanamachi.errors import UserError
from hanamachi.storage.files import replacing
from hanamachi.training.build import cloning_learner, new_learner
from hanamachi.training.config import Config
from hanamachi.training.failures import is_out_of_memory
from hanamachi.training.learner.clone import Cloning
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.learner.state import RunState
from hanamachi.training.learner.vecenv import HanamachiVecEnv
from hanamachi.training.run_files import CLONE_SAVED, SAVED


def save_learner(learner: SelfPlayPPO, config: Config, file: Path) -> None:
    """Write everything that the rest of the learning depends on to a file."""
    state, games = learner.run_state, cast(HanamachiVecEnv, learner.env)
    state.settings = config.to_yaml()
    state.games = games.get_state()
    state.teacher = learner.teacher.memory(games) if isinstance(learner, Cloning) else None
    state.generator = learner.generator.get_state()
    state.magnet = learner.magnet.get_state() if learner.magnet else None
    state.average = learner.average.get_state() if learner.average else None
    state.workers = learner.workers.states if learner.workers else []
    state.worker_count = len(state.workers)
    with replacing(file) as opened:
        learner.save(opened)


def resumed_learner(config: Config, out: Path) -> SelfPlayPPO | None:
    """The learner as it was last saved in `out`, or None if it never was."""
    return resumed(new_learner, config, out / SAVED)


def resumed_cloning(config: Config, out: Path) -> SelfPlayPPO | None:
    """The learner of the clone as it was last saved in `out`, or None if it never was."""
    return resumed(cloning_learner, config, out / CLONE_SAVED)


def resumed(
    new: Callable[[Config], SelfPlayPPO], config: Config, saved: Path
) -> SelfPlayPPO | None:
    """A new learner that continues from where one was saved, or None if none was."""
    if not saved.exists():
        return None
    check_saved_settings(config, saved)
    learner = new(config)
    restore(learner, saved)
    return learner


def restore(learner: SelfPlayPPO, saved: Path) -> None:
    """Let a learner of the same settings continue from where it was saved."""
    with refusing_damage(saved), warnings.catch_warnings():
        warnings.filterwarnings("error", "Could not deserialize")  # such a part is left out
        attributes, weights, _ = load_from_zip_file(saved, device=learner.device)
        vars(learner).update(attributes)  # type: ignore[arg-type]
        learner.set_parameters(weights, device=learner.device)  # type: ignore[arg-type]
        restore_state(learner, learner.run_state)


def restore_state(learner: SelfPlayPPO, state: RunState) -> None:
    """Put the games, the generator, the copies of the network and the teacher where they were."""
    games = cast(HanamachiVecEnv, learner.env)
    assert state.games is not None, "they are saved"
    assert state.generator is not None, "it is saved"
    games.set_state(state.games)
    learner.generator.set_state(state.generator)
    for copy, its_state in ((learner.magnet, state.magnet), (learner.average, state.average)):
        if copy and its_state:
            copy.set_state(its_state)
    if isinstance(learner, Cloning) and state.teacher is not None:
        learner.teacher.player.memory[:] = state.teacher


def check_saved_settings(config: Config, saved: Path) -> None:
    """UserError unless what was last saved there has the settings of `config`."""
    state = plain_state(saved)
    if "settings" not in state:
        raise UserError(
            f"{saved} comes from another version of hanamachi: "
            "resume the run with that version, or delete the file to start again"
        )
    if state["settings"] != config.to_yaml():
        raise UserError(
            f"{saved.parent / 'config.yaml'} was changed since the run was saved: restore it, or "
            "start a new run with init_from"
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
        words = "is damaged: restore it, or delete it to start again"
        raise UserError(f"{saved} {words}") from error
