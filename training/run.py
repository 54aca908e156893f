"""A run: from settings to an evaluated checkpoint.

A run reads top to bottom: open the folder, build the learner, loop, export, final evaluation, card.
`run_files` names what is in its folder.
"""

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from rich.progress import Progress
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat

from hanamachi.errors import UserError, listed, shown
from hanamachi.limits import RESULTS_BYTES, SETTINGS_BYTES
from hanamachi.policies import load_policy
from hanamachi.policies.external.process import ProcessPolicy
from hanamachi.policies.networks.checkpoint import CARD, load_checkpoint, save_checkpoint
from hanamachi.policies.networks.network import checkpoint_of
from hanamachi.policies.policy import Policy
from hanamachi.policies.view_policy import ViewPolicy
from hanamachi.storage.files import replacing
from hanamachi.storage.plain_yaml import parse_yaml
from hanamachi.storage.reading import checked_path, parse_json, read_bounded, read_object
from hanamachi.training import provenance
from hanamachi.training.build import (
    check_dataset,
    check_device,
    check_rollout,
    check_workers,
    cloning_learner,
    new_learner,
    starting_weights,
)
from hanamachi.training.callbacks import (
    KeepUnlessWorse,
    Periodic,
    PlayThePast,
    Save,
    ShowProgress,
    progress_bar,
)
from hanamachi.training.config import PAST, SELF, Config
from hanamachi.training.curve import evaluations, read_curve
from hanamachi.training.evaluation.fingerprints import fingerprint, fingerprints
from hanamachi.training.evaluation.json_results import read_rows, write_json, write_rows
from hanamachi.training.evaluation.matches import results_of
from hanamachi.training.evaluation.report import print_rows
from hanamachi.training.evaluation.results import Rows
from hanamachi.training.failures import differences
from hanamachi.training.interruption import held_signals
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.modelcard import model_card
from hanamachi.training.ownership import check_owned, owned
from hanamachi.training.resume import resumed_cloning, resumed_learner
from hanamachi.training.run_files import (
    CLONE,
    CLONE_SAVED,
    CURVE,
    DESCRIPTION,
    LOGS,
    POLICIES,
    POLICY,
    RESULTS,
    SAVED,
    SETTINGS,
    WRITTEN,
)
from hanamachi.training.settings_file import read_settings


def train(
    config: Config,
    out: Path | str,
    resume: bool = False,
    workers: int = 0,
    *,
    title: str = "learning",
    show: bool = True,
) -> Path:
    """Train one policy by self-play, and export it to `out`/policy.

    With `resume`, the run continues from the last save in `out`, or begins if there is none; a
    finished run stays as it is. With `workers`, that many tasks of a Ray cluster play the games.
    The final evaluation goes to `out`/evaluation.json. Raises UserError if something does not fit,
    or another process trains in `out`. While the policy learns, Ctrl-C, SIGTERM and SIGHUP take
    effect after the iteration, when the run is saved; a second one takes effect at once. `title` is
    that of the progress bar; `show` prints the final evaluation.
    """
    out = checked_path(out)
    if not isinstance(config, Config):
        raise UserError(
            "a run needs a Config, as from Config.load(file) or Config.from_dict(settings), not "
            f"{shown(config)}"
        )
    check_workers(config, workers)
    with open_run(config, out, resume):
        if resume and is_finished(out):
            rows = finished_rows(out)
        else:
            learner = fit(config, out, resume, workers, title)
            policy = load_checkpoint(out / POLICY, config.game, **config.options)
            rows = final_evaluation(config, policy)
            write_results(config, out, learner.run_state.kept_decisions, policy, rows)
    if show:
        print_rows(rows, config.game)
    return out / POLICY


def fit(
    config: Config, out: Path, resume: bool, workers: int = 0, title: str = "learning"
) -> SelfPlayPPO:
    """Train the learner of a run; the policy that was kept is in `out`/policy at the end."""
    learner = resumed_learner(config, out) if resume else None
    learner = learner or new_learner(config, starting_point(config, out))
    attach_workers(learner, config, workers)
    log_to(learner, out / LOGS)
    bar = progress_bar()
    duties: list[Periodic] = [
        *([PlayThePast(learner, config)] if PAST in config.opponents else []),  # takes snapshots
        KeepUnlessWorse(learner, config, out, bar.console),  # evaluates and exports
    ]
    saving = Save(learner, config, out / SAVED)
    learn(learner, config.steps, title, bar, duties, saving)
    return learner


def learn(
    learner: SelfPlayPPO,
    steps: int,
    title: str,
    bar: Progress,
    duties: Sequence[Periodic],
    saving: Save,
) -> None:
    """The loop of a run: collect a rollout, improve the policy, and then do what is due."""
    learner.begin(steps)
    # the bar restores the terminal, whatever happens
    with closing(learner.logger), held_signals() as received, bar:
        progress = ShowProgress(bar, title, learner, steps)
        for duty in duties:
            duty.start()
        while learner.num_timesteps < steps and not received:
            learner.collect()
            progress.show()
            learner.improve()
            check_owned(saving.file.parent)
            learner.dump_logs()
            for duty in (*duties, saving):  # a save includes what the others have done
                duty.act_if_due()
        if received:
            saving.act()
    if received:  # by a handler that lets the program go on
        raise KeyboardInterrupt


# --- Opening the folder


@contextmanager
def open_run(config: Config, out: Path, resume: bool) -> Iterator[None]:
    """Own the run folder until the end: create it, or check that it belongs to this config."""
    check_device(config.device)  # before anything is written
    if not (out / SETTINGS).exists():
        check_rollout(config)
        check_policies(config)
    with owned(out):
        begin_run(config, out, resume)
        try:
            yield
        except KeyboardInterrupt as interrupt:
            interrupt.add_note(f"train(..., resume=True) resumes the run in {out}")
            raise


def begin_run(config: Config, out: Path, resume: bool) -> None:
    """Describe the run in its folder, unless it is begun already with the same settings."""
    begun = out / SETTINGS
    try:
        str(out).encode()
    except UnicodeEncodeError:
        raise UserError(f"TensorBoard needs a folder with a name in UTF-8, not {out}") from None
    if not resume:
        refuse_begun(out)
    if begun.exists():
        check_settings(begun, config)
    else:
        write_settings(out, config)
    file, now = out / DESCRIPTION, provenance.of_run(config)
    if not file.exists():
        digests = digests_of(needed_policies(config))
        write_json(now | {POLICIES: digests} if digests else now, file)
    elif not is_finished(out):
        before = read_description(file)
        check_unchanged(before, config, out)
        write_json(provenance.resumed_with(before, now), file)


def read_description(file: Path) -> dict[str, Any]:
    """What a run was made with, as its `run.json` says; UserError if it says nothing."""
    found = read_object(file, RESULTS_BYTES)
    if found is None or not isinstance(found.get(POLICIES, {}), dict):
        raise UserError(f"{file} is damaged: restore it, or delete it and resume the run")
    return found


def check_unchanged(run: Mapping[str, Any], config: Config, out: Path) -> None:
    """UserError if a policy that the run needs is not what it was when the run began."""
    needed = needed_policies(config, cloned=(out / CLONE).exists())
    for name in needed & run.get(POLICIES, {}).keys():
        try:
            unchanged = run[POLICIES][name] == fingerprint(name)
        except OSError:  # it is gone
            unchanged = False
        if not unchanged:
            raise UserError(
                f"{name} has changed since the run in {out} began: restore it, or begin another "
                "run in a new folder"
            )


def write_settings(out: Path, config: Config) -> None:
    """Write the settings into a run folder; UserError if it holds something else's files."""
    for other in (out / name for name in WRITTEN):
        if other.exists():  # it would be replaced, or mixed with the run's own
            raise UserError(f"{other} is left from something else; move it, or name a new folder")
    settings = config.to_yaml().encode()
    if len(settings) > SETTINGS_BYTES:  # the run could not be resumed
        raise UserError(f"with all defaults the settings have more than {SETTINGS_BYTES:,} bytes")
    with replacing(out / SETTINGS) as file:
        file.write(settings)


def check_settings(begun: Path, config: Config) -> None:
    """UserError, which names the differences, unless the run in a folder has these settings."""
    if found := changed_settings(begun, config):
        again = ["hanamachi", "train", str(begun), "--out", str(begun.parent), "--resume"]
        start = "the run was begun with other settings (to keep them: "
        raise UserError(listed(f"{start}{shlex.join(again)}): ", found))


def changed_settings(begun: Path, config: Config) -> list[str]:
    """In words, how these settings differ from those with which the run in a folder was begun."""
    was, now = read_settings(begun), parse_yaml(config.to_yaml(), "the settings")
    found = differences(was, now)
    # the games are given out to the opponents in this order
    if not found and list(was["opponents"]) != list(now["opponents"]):
        return ["the opponents were named in another order"]
    return found


def refuse_begun(out: Path) -> None:
    if (out / SETTINGS).exists():
        raise UserError(
            f"{out} holds a run already: resume it with resume=True (--resume), or name another "
            "folder"
        )


def check_policies(config: Config) -> None:
    """Load every policy that the settings name, so that a wrong one does not stop the run later."""
    learned_from = fixed_opponents(config)
    if config.dataset:
        check_dataset(config)
    elif config.teacher:
        learned_from |= {config.teacher}
    elif config.init_from:
        starting_weights(config, config.init_from)
    for name in sorted(other_policies(config) | learned_from):
        policy = load_policy(name, game=config.game, **config.options)
        if name in learned_from and isinstance(policy, ViewPolicy):
            raise UserError(
                f"{name} plays from views, and nobody can learn in games with it: name another "
                "policy"
            )
        if isinstance(policy, ProcessPolicy):
            policy.start()


def other_policies(config: Config) -> set[str]:
    """The policies with which a run plays, in training and in evaluations."""
    by = config.evaluation
    return {*fixed_opponents(config), *by.opponents, *by.partners, *by.final_opponents}


def needed_policies(config: Config, cloned: bool = False) -> set[str]:
    """The policies on which the rest of a run depends; a teacher is needed until it is cloned."""
    teacher = None if cloned or config.dataset else config.teacher
    return {*other_policies(config), *filter(None, [teacher])}


def digests_of(policies: Collection[str]) -> dict[str, str]:
    """Digests of the files of these policies, by name; UserError if one is gone."""
    try:
        return fingerprints(sorted(policies))
    except OSError as error:
        raise UserError(f"{error.filename} cannot be read: {error.strerror}") from None


def fixed_opponents(config: Config) -> set[str]:
    """The policies in the other seats of training's games, that do not learn."""
    return config.opponents.keys() - {SELF, PAST}


def finished_rows(out: Path) -> Rows:
    """The final evaluation of a run that is finished; UserError if its policy is gone."""
    policy = out / POLICY
    if not policy.is_dir():
        raise UserError(
            f"the run is finished, but {policy} is gone: restore it, or train in a new folder"
        )
    return read_rows(out / RESULTS)


def is_finished(out: Path) -> bool:
    """Whether the run has its final evaluation; what `hanamachi evaluate` writes is no list."""
    try:
        return isinstance(parse_json(read_bounded(out / RESULTS, RESULTS_BYTES)), list)
    except UserError:
        return False


# --- Preparing the learner


def starting_point(config: Config, out: Path) -> Path | str | None:
    """The checkpoint to start from; a clone is made, or resumed, unless it is there."""
    if config.teacher is None:
        return config.init_from
    if not (out / CLONE).exists():
        clone(config, out)
    (out / CLONE_SAVED).unlink(missing_ok=True)
    return out / CLONE


def clone(config: Config, out: Path) -> None:
    """Clone the policy or dataset that `init_from` names, and export the clone to `out`/clone."""
    learner = resumed_cloning(config, out) or cloning_learner(config)
    log_to(learner, out / LOGS / CLONE)
    saving = Save(learner, config, out / CLONE_SAVED)
    learn(learner, config.clone.steps, f"cloning {config.teacher}", progress_bar(), [], saving)
    check_owned(out)
    card = model_card(config, provenance.of_run(config), 0, [])
    save_checkpoint(out / CLONE, checkpoint_of(learner.policy.network, config.variant()), card)


def attach_workers(learner: SelfPlayPPO, config: Config, workers: int) -> None:
    """Let `workers` tasks of a Ray cluster play the games; a resumed run needs the same number."""
    states = learner.run_state.workers
    if states is not None and len(states) != workers:
        of_ray = f"with workers={len(states)} (--ray --workers {len(states)})"
        how = of_ray if states else "without workers (no --ray)"
        raise UserError(f"the run was begun {how}: resume it in the same way")
    if workers:
        from hanamachi.training.cluster.rollouts import Workers

        learner.workers = Workers(config, workers, states or ())


def log_to(learner: SelfPlayPPO, folder: Path) -> None:
    learner.set_logger(Logger(None, [TensorBoardOutputFormat(str(folder))]))


# --- Final evaluation


def final_evaluation(config: Config, policy: Policy) -> Rows:
    """The policy's results versus each opponent or, in a cooperative game, with each partner.

    A cooperative table begins with the policy alone, and ends with the scores of the partners
    alone on the same deals.
    """
    others = config.evaluation.final_opponents
    how = {"games": config.evaluation.final_games, "seed": config.final_seed, **config.options}
    rows = results_of(policy, others, config.game, **how)
    for partner in dict.fromkeys(others) if config.variant().game.cooperative else ():
        rows += results_of(partner, [], config.game, plays=["argmax"], **how)
    return rows


def write_results(config: Config, out: Path, decisions: int, policy: Policy, rows: Rows) -> None:
    """Complete `run.json` and the model card, and write the report and the final evaluation.

    `decisions` is how many decisions the exported policy learned from.
    """
    # Matplotlib, which takes a second to import, waits until there is a result
    from hanamachi.training.curve_pictures import results_picture
    from hanamachi.training.run_report import write_report

    check_owned(out)
    run = read_description(out / DESCRIPTION) | {"decisions": decisions}
    write_json(run, out / DESCRIPTION)
    curve = read_curve(out / LOGS)
    with replacing(out / POLICY / CURVE) as file:
        file.write(results_picture(curve, decisions))
    card = model_card(config, run, decisions, rows, evaluations=evaluations(curve))
    with replacing(out / POLICY / CARD) as file:
        file.write(card.encode())
    write_report(config, out, curve, decisions, policy, rows)
    write_rows(rows, out / RESULTS)  # last: it marks the run as finished
