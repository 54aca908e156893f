"""A run: from settings to an evaluated checkpoint, going on from wherever it was stopped.

A run's folder holds `config.yaml` (every setting), `run.json` (versions, seed, revision, machine,
and at the end the decisions that made the policy), `resume.zip` (the learner as last saved:
stable-baselines3's file, to be loaded only if you trust it), `policy/` (the best checkpoint so
far), `evaluation.json` and `tensorboard/`; and `clone/`, the checkpoint that the run starts from,
if it clones a policy first.
"""

import json
from pathlib import Path
from typing import Any

import torch
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat

from hanamachi.errors import UserError
from hanamachi.policies import load_policy
from hanamachi.policies.features.base import Features
from hanamachi.policies.networks.checkpoint import load_checkpoint, save_checkpoint
from hanamachi.policies.networks.network import NetworkPolicy, for_variant, head_of
from hanamachi.policies.policy import Policy
from hanamachi.storage.files import replacing, restore_folder
from hanamachi.training.callbacks import (
    KeepTheBest,
    PlayThePast,
    SaveRun,
    ShowProgress,
    progress_bar,
)
from hanamachi.training.config import Config, schedule
from hanamachi.training.config import Network as NetworkSettings
from hanamachi.training.evaluation.matches import Rows, versus, with_partners
from hanamachi.training.evaluation.report import print_rows, read_rows, write_json, write_rows
from hanamachi.training.learner.clone import Cloning
from hanamachi.training.learner.magnet import MovingAverage, Snapshot
from hanamachi.training.learner.selfplay import SelfPlayPolicy, SelfPlayPPO
from hanamachi.training.learner.vecenv import FeaturedVecEnv, Games, SelfPlayVecEnv, TurnBasedVecEnv
from hanamachi.training.modelcard import model_card, provenance


def train(config: Config, out: Path | str, resume: bool = False, workers: int = 0) -> Path:
    """Fit one policy by self-play as `config` says, and export its best state to `out`/policy.

    With `resume`, goes on from the last save in `out`, or begins if there is none; a run that has
    ended stays as it is. With `workers`, so many actors of a Ray cluster play the games. The final
    evaluation is written to `out`/evaluation.json. Raises UserError if something does not fit.
    """
    out = Path(out)
    check_device(config.device)
    open_run(config, out, resume)
    if resume and judged(out):
        print_rows(read_rows(out / "evaluation.json"), config)
        return out / "policy"
    learner = fit(config, out, resume, workers)
    print_rows(judge(config, out, learner.saved_state["learned"]), config)
    return out / "policy"


def fit(config: Config, out: Path, resume: bool, workers: int = 0) -> SelfPlayPPO:
    """The learner at the end of an open run; its best state is in `out`/policy."""
    learner = resumed_learner(config, out) if resume else None
    learner = learner or new_learner(config, starting_point(config, out))
    engage(learner, config, workers)
    log_to(learner, out / "tensorboard")
    with progress_bar("learning") as bar:  # closed whatever happens, or the terminal would keep it
        learner.learn(
            config.steps - learner.num_timesteps,
            callback=[
                *([PlayThePast(config)] if "past" in config.opponents else []),
                KeepTheBest(config, out),
                SaveRun(config, out),
                ShowProgress(bar, config.steps),
            ],
            reset_num_timesteps=False,
        )
    return learner


# --- Beginning and going on


def check_device(wanted: str) -> None:
    missing = {
        "cuda": not torch.cuda.is_available(),
        "mps": not torch.backends.mps.is_available(),
    }
    if missing.get(wanted):
        raise UserError(f"device {wanted} is not there; set device to cpu or auto")


def open_run(config: Config, out: Path, resume: bool) -> None:
    """Write down what the run is, or see that it is the one that was begun here."""
    begun = out / "config.yaml"
    if not resume:
        refuse_begun(out)
    if begun.exists():
        if begun.read_text(encoding="utf-8") != config.to_yaml():
            raise UserError(f"{out} was begun with other settings; see {begun}")
        restore_folder(out / "policy")
        return
    if (out / "clone").exists():
        raise UserError(f"{out / 'clone'} is left from another run; delete it or name a new folder")
    check_policies(config)
    write_json(provenance(config), out / "run.json")
    with replacing(begun) as file:
        file.write(config.to_yaml().encode())


def refuse_begun(out: Path) -> None:
    if (out / "config.yaml").exists():
        raise UserError(f"{out} holds a run already; add --resume to go on, or name another folder")


def check_policies(config: Config) -> None:
    """Load every policy that the settings name: a wrong one must not stop the run later."""
    judges = {*config.evaluation.opponents, *config.evaluation.final_opponents}
    for name in sorted(judges | config.opponents.keys() - {"self", "past"}):
        load_policy(name, game=config.game, **config.options)
    if config.teacher:
        load_policy(config.teacher, game=config.game, **config.options)
    elif config.init_from:
        starting_weights(config, config.init_from)


def make_games(config: Config) -> Games:
    variant, network = config.variant(), config.network
    fixed_opponents: list[tuple[Policy, float]] = []
    for name, share in config.opponents.items():
        if name == "past":
            torch.manual_seed(config.seed)  # these weights open the first games
            weights = for_variant(variant, network.hidden, network.features)
            fixed_opponents.append((NetworkPolicy(variant, weights, "past"), share))
        elif name != "self":
            fixed_opponents.append((load_policy(name, game=config.game, **config.options), share))
    games = SelfPlayVecEnv(variant, config.num_games, config.seed, fixed_opponents)
    features = Features(variant, network.features)
    return FeaturedVecEnv(games, features) if network.features else games


def new_learner(
    config: Config, start: Path | str | None = None, games: TurnBasedVecEnv | None = None
) -> SelfPlayPPO:
    """A learner with random weights, or those of the checkpoint `start`.

    It plays the game of `config`, or the `games` given: then only the learner's settings count.
    """
    games = make_games(config) if games is None else games
    kl = schedule(config.magnet.kl_coef) if config.magnet.kl_coef else None
    learner = SelfPlayPPO(SelfPlayPolicy, games, kl_schedule=kl, **learner_settings(config, games))
    if start:
        learner.policy.network.load_state_dict(starting_weights(config, start))
    follow(learner, config)
    learner.saved_state = {"best": None, "learned": 0, "past": []}
    begin_games(learner)
    return learner


def learner_settings(config: Config, games: TurnBasedVecEnv) -> dict[str, Any]:
    """What `config` says, as stable-baselines3 takes it."""
    return {
        "learning_rate": schedule(config.ppo.learning_rate),
        "n_steps": config.ppo.n_steps,
        "batch_size": config.ppo.batch_size,
        "n_epochs": config.ppo.n_epochs,
        "gamma": config.ppo.gamma,
        "gae_lambda": config.ppo.gae_lambda,
        "clip_range": schedule(config.ppo.clip_range),
        "entropy_schedule": schedule(config.ppo.ent_coef),
        "vf_coef": config.ppo.vf_coef,
        "max_grad_norm": config.ppo.max_grad_norm,
        "seed": config.seed,
        "device": config.device,
        "policy_kwargs": network_settings(config.network, games)
        | {"centralised": games.centralised_space if config.critic == "all" else None},
    }


def network_settings(network: NetworkSettings, games: TurnBasedVecEnv) -> dict[str, Any]:
    """The network's shape and, in games of ours, what it is told about the actions."""
    if not isinstance(games, SelfPlayVecEnv | FeaturedVecEnv):
        return {"hidden": network.hidden}
    seen = Features(games.variant, network.features).layout
    head = head_of(games.variant.actions, seen)
    return {"hidden": network.hidden, "head": head, "feature_sets": network.features}


def follow(learner: SelfPlayPPO, config: Config) -> None:
    """Give the learner the slow copies of its network that `config` wants, as from now."""
    network, magnet = learner.policy.network, config.magnet
    by_average = learner.kl_schedule is not None and magnet.kind == "average"
    if by_average or config.export == "average":
        learner.average = MovingAverage(network, config.average.decay)
    if by_average:
        learner.magnet = learner.average
    elif learner.kl_schedule:
        learner.magnet = Snapshot(network, magnet.every if magnet.kind == "refreshed" else 0)


def engage(learner: SelfPlayPPO, config: Config, workers: int) -> None:
    """Let so many actors play for the learner, as many as when it was saved."""
    states = learner.saved_state.get("crew")
    if states is not None and len(states) != workers:
        how = f"--ray --workers {len(states)}" if states else "no --ray"
        raise UserError(f"the run was begun with {how}: go on with it in the same way")
    if workers:
        from hanamachi.training.cluster.rollouts import Actors

        learner.crew = Actors(config, workers, states or ())


def begin_games(learner: SelfPlayPPO) -> None:
    learner.env.reset()
    learner._last_obs = learner.env.observations


def quiet() -> Logger:
    """A log that is not kept."""
    return Logger(None, [])


def log_to(learner: SelfPlayPPO, folder: Path) -> None:
    learner.set_logger(Logger(None, [TensorBoardOutputFormat(str(folder))]))


def starting_weights(config: Config, start: Path | str) -> dict[str, Any]:
    """Those of the checkpoint to start from, whose network must be of the same make."""
    policy = load_policy(str(start), config.game, **config.options)
    assert isinstance(policy, NetworkPolicy), "only checkpoints are started from"
    network = policy.network
    if network.hidden != config.network.hidden:
        raise UserError(
            f"init_from: {start} has hidden layers {list(network.hidden)}; "
            f"set network.hidden to them"
        )
    if network.feature_sets != config.network.features:
        raise UserError(
            f"init_from: {start} has features {list(network.feature_sets)}; "
            f"set network.features to them"
        )
    return network.state_dict()


def resumed_learner(config: Config, out: Path) -> SelfPlayPPO | None:
    """The learner as it was last saved, or None if it never was."""
    saved = out / "resume.zip"
    if not saved.exists():
        return None
    games = make_games(config)
    try:
        learner = SelfPlayPPO.load(saved, env=games, device=config.device, force_reset=False)
    except Exception as error:  # a damaged pickle can raise anything
        raise UserError(f"{saved} is damaged: delete it to begin anew, or restore it") from error
    games.set_state(learner.saved_state["games"])
    learner.generator.set_state(learner.saved_state["generator"])
    follow(learner, config)
    for name, state in learner.saved_state["slow copies"].items():
        getattr(learner, name).set_state(state)
    return learner


# --- A policy to start from


def starting_point(config: Config, out: Path) -> Path | str | None:
    """The checkpoint to start from; if it is a clone, it is made unless it is there.

    Stopped before it is whole, it is made anew: the same to the bit, as only the settings matter.
    """
    if config.teacher is None:
        return config.init_from
    if not (out / "clone").exists():
        clone(config, out)
    return out / "clone"


def clone(config: Config, out: Path) -> None:
    """Clone the policy that `init_from` names, and export the clone to `out`/clone."""
    learner = cloning_learner(config)
    log_to(learner, out / "tensorboard" / "clone")
    with progress_bar(f"cloning {config.teacher}") as bar:
        learner.learn(
            config.clone.steps,
            callback=ShowProgress(bar, config.clone.steps),
            reset_num_timesteps=False,
        )
    card = model_card(config, provenance(config), 0, [])
    save_checkpoint(out / "clone", learner.policy.network, config.variant(), card)


def cloning_learner(config: Config) -> Cloning:
    other_deals = config.seed ^ 1 << 31  # than those of the self-play that follows
    alone = config.model_copy(
        update={"opponents": {"self": 1.0}, "seed": other_deals, "critic": "own"}
    )
    games = make_games(alone)
    teacher = load_policy(str(config.teacher), config.game, **config.options)
    settings = learner_settings(alone, games)
    settings["learning_rate"] = schedule(config.clone.learning_rate)
    learner = Cloning(SelfPlayPolicy, games, teacher=teacher, **settings)
    begin_games(learner)
    return learner


# --- At the end


def judge(config: Config, out: Path, learned: int) -> Rows:
    """Evaluate the exported policy with all of the final evaluation, on deals of their own.

    `learned` says how many decisions have made it.
    """
    rows = final_rows(config, load_checkpoint(out / "policy", config.game, **config.options))
    run = json.loads((out / "run.json").read_text(encoding="utf-8")) | {"decisions": learned}
    write_json(run, out / "run.json")
    with replacing(out / "policy" / "README.md") as file:
        file.write(model_card(config, run, learned, rows).encode())
    write_rows(rows, out / "evaluation.json")  # last: it says that the run has ended
    return rows


def final_rows(config: Config, policy: Policy) -> Rows:
    """How it fares against each opponent; in a cooperative game with itself and with each partner.

    There the partners among themselves follow, on the same cards: what is to be reached.
    """
    others = config.evaluation.final_opponents
    how = {"games": config.evaluation.final_games, "seed": config.final_seed, **config.options}
    if not config.variant().game.cooperative:
        return versus(policy, others, config.game, **how)
    own = with_partners(policy, others, config.game, **how)
    theirs = [with_partners(other, [], config.game, plays=["argmax"], **how) for other in others]
    return own + [row for rows in theirs for row in rows]


def judged(out: Path) -> bool:
    """Whether the final evaluation is there; what `hanamachi evaluate` writes is no list."""
    try:
        return isinstance(json.loads((out / "evaluation.json").read_text(encoding="utf-8")), list)
    except (OSError, ValueError):
        return False
