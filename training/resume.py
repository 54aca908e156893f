"""Save a run, and resume it to the bit."""

import json
from pathlib import Path
from zipfile import ZipFile

from hanamachi.errors import UserError, is_out_of_memory
from hanamachi.storage.files import replacing
from hanamachi.training.build import learner_class, make_games, track_average
from hanamachi.training.config import Config
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.learner.vecenv import Games

SAVED = "resume.zip"


def save_run(learner: SelfPlayPPO, out: Path) -> None:
    """Write everything that the rest of the run depends on to `out`/resume.zip."""
    state, games = learner.run_state, learner.env
    state.games = games.get_state()  # type: ignore[attr-defined]
    state.generator = learner.generator.get_state()
    state.magnet = learner.magnet.get_state() if learner.magnet else None
    state.average = learner.average.get_state() if learner.average else None
    state.workers = learner.workers.states if learner.workers else []
    with replacing(out / SAVED) as file:
        learner.save(file)


def resumed_learner(config: Config, out: Path) -> SelfPlayPPO | None:
    """The learner as it was last saved in `out`, or None if it never was."""
    saved = out / SAVED
    if not saved.exists():
        return None
    games = make_games(config)
    learner = read_learner(saved, games, config)
    state = learner.run_state
    if state.games is None or state.generator is None or "kept_result" not in vars(state):
        raise other_version(saved)
    games.set_state(state.games)
    learner.generator.set_state(state.generator)
    track_average(learner, config)
    for copy, its_state in ((learner.magnet, state.magnet), (learner.average, state.average)):
        if copy and its_state:
            copy.set_state(its_state)
    return learner


def read_learner(saved: Path, games: Games, config: Config) -> SelfPlayPPO:
    """The learner in stable-baselines3's file."""
    try:
        if "run_state" in json.loads(ZipFile(saved).read("data")):
            kind = learner_class(config)
            return kind.load(saved, env=games, device=config.device, force_reset=False)
    except Exception as error:  # a damaged pickle can raise anything
        if is_out_of_memory(error):
            raise
        words = "is damaged: restore it, or delete it to start the run again"
        raise UserError(f"{saved} {words}") from error
    raise other_version(saved)


def other_version(saved: Path) -> UserError:
    return UserError(
        f"{saved} comes from another version of hanamachi: "
        "resume the run with that version, or delete the file to start the run again"
    )
