"""From settings to games, network and learner."""

from pathlib import Path
from typing import Any

import torch
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import get_device

from hanamachi.engine.memory import check_memory
from hanamachi.errors import UserError, shown
from hanamachi.limits import WORKERS
from hanamachi.policies import load_policy
from hanamachi.policies.features.base import Features
from hanamachi.policies.networks.canonical import AS_SHOWN, Forms, check_symmetries, forms_of
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.head import head_of
from hanamachi.policies.networks.network import checkpoint_of
from hanamachi.policies.policy import Policy
from hanamachi.sessions.arguments import whole_number
from hanamachi.sessions.notation import head
from hanamachi.training.config import (
    ACTION_VALUES,
    PAST,
    SELF,
    Config,
    DistillationSettings,
    NetworkSettings,
)
from hanamachi.training.learner.all_actions import AllActionsLearner
from hanamachi.training.learner.clone import BehaviourCloning, Cloning, Imitation, Lessons
from hanamachi.training.learner.critic import forms_of_all
from hanamachi.training.learner.distillation import Distillation, Searching
from hanamachi.training.learner.fixed_opponents import no_games, rows_of_each
from hanamachi.training.learner.magnet import MovingAverage, Snapshot
from hanamachi.training.learner.other_play import OtherPlayVecEnv
from hanamachi.training.learner.past import PastSelves
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.learner.selfplay_policy import SelfPlayPolicy
from hanamachi.training.learner.turn_based import TurnBasedVecEnv
from hanamachi.training.learner.vecenv import FeaturedVecEnv, HanamachiVecEnv, SelfPlayVecEnv
from hanamachi.training.schedules import schedule
from hanamachi.training.seeds import Purpose, stream

# --- Games


def make_games(config: Config) -> HanamachiVecEnv:
    """The games of a run, with its fixed opponents and past selves in their seats."""
    variant, network = config.variant(), config.network
    fixed_opponents: list[tuple[Policy, float]] = []
    for name, share in config.opponents.items():
        if name == PAST:
            shape = network.hidden, network.features, network.symmetries
            fixed_opponents.append((PastSelves(variant, *shape), share))
        elif name != SELF:
            fixed_opponents.append((load_policy(name, game=config.game, **config.options), share))
    kind = OtherPlayVecEnv if config.augmentation == "other_play" else SelfPlayVecEnv
    games = kind(variant, config.num_games, config.seed, fixed_opponents, config.ppo.gamma)
    features = Features(variant, network.features)
    return FeaturedVecEnv(games, features) if network.features else games


def past_selves(games: HanamachiVecEnv) -> PastSelves | None:
    """The opponent that plays as past selves, if there is one."""
    policies = (opponent.policy for opponent in games.fixed_opponents)
    return next((policy for policy in policies if isinstance(policy, PastSelves)), None)


def games_of_each(config: Config) -> dict[str, int]:
    """How many games each of `opponents` plays, the learner itself among them.

    UserError if one gets none.
    """
    others = {name: share for name, share in config.opponents.items() if name != SELF}
    rows = rows_of_each([*others.items()], config.num_games)
    counts = dict(zip(others, map(len, rows), strict=True))
    if SELF in config.opponents:
        counts[SELF] = config.num_games - sum(counts.values())
        if not counts[SELF]:
            raise no_games(SELF, config.opponents[SELF], config.num_games)
    return counts


def games_of_workers(config: Config, workers: int) -> list[dict[str, int]]:
    """How many games against each opponent each worker plays, divided as evenly as possible.

    UserError if a worker would get no game against one of them.
    """
    counts = games_of_each(config)
    for name, count in counts.items():
        if count < workers:
            raise UserError(
                f"{count} of {config.num_games} games are for {name}, and must be at least "
                f"{workers}, one for each worker: play more games, or let fewer workers share them"
            )
    return [
        {name: count // workers + (number < count % workers) for name, count in counts.items()}
        for number in range(workers)
    ]


# --- Learner


def new_learner(
    config: Config, start: Path | str | None = None, games: TurnBasedVecEnv | None = None
) -> SelfPlayPPO:
    """A learner with random weights, or with those of the checkpoint `start`.

    It plays the game of `config`, or the `games` given: then only the learner's settings count.
    """
    games = make_games(config) if games is None else games
    settings = learner_settings(config, games) | {"value_decisions": config.value_steps}
    if config.distillation.share:
        settings |= distillation_settings(config.distillation)
    elif config.magnet.kl_coef:
        settings["kl_schedule"] = schedule(config.magnet.kl_coef)
    learner = learner_class(config)(SelfPlayPolicy, games, **settings)
    if start:
        learner.policy.network.load_state_dict(starting_weights(config, start))
    track_average(learner, config)
    if PAST in config.opponents:
        meet_itself(learner, config)
    learner.begin_games()
    return learner


def learner_class(config: Config) -> type[SelfPlayPPO]:
    if config.critic == ACTION_VALUES:
        return AllActionsLearner
    return Distillation if config.distillation.share else SelfPlayPPO


def distillation_settings(given: DistillationSettings) -> dict[str, Any]:
    searching = Searching(given.share, given.worlds, given.tried)
    return {"searching": searching, "kl_schedule": schedule(given.kl_coef)}


def meet_itself(learner: SelfPlayPPO, config: Config) -> None:
    """Let the first games meet the learner as it starts: its past self 0."""
    opponent = past_selves(learner.env)  # type: ignore[arg-type]
    assert opponent, "these games have past selves"
    start = checkpoint_of(learner.policy.network, config.variant()).weights
    learner.run_state.past = {0: start}
    opponent.seat(learner.run_state.past, 0)


def check_device(wanted: str) -> None:
    """UserError if this machine does not have the device."""
    missing = {
        "cuda": not torch.cuda.is_available(),
        "mps": not torch.backends.mps.is_available(),
    }
    if missing.get(wanted):
        raise UserError(f"device {wanted} is not there; set device to cpu or auto")


def check_workers(config: Config, workers: int) -> None:
    """UserError if this number of workers, 0 for this process alone, cannot play the games."""
    if not 0 <= whole_number(workers, "workers") <= WORKERS:
        raise UserError(f"workers must be from 0 to {WORKERS}, not {shown(workers)}")
    if workers and config.distillation.share:
        raise UserError("distillation searches in this process alone: give no workers (no --ray)")
    games_of_workers(config, max(1, workers))


def check_rollout(config: Config) -> None:
    """UserError if the machine has no memory for the decisions of a rollout.

    On a GPU they are in its own memory, of which PyTorch says when there is too little.
    """
    if get_device(config.device).type != "cpu":
        return
    variant, decisions = config.variant(), config.rollout
    observation = 4 * Features(variant, config.network.features).layout.size
    seen = observation * (1 if config.critic == "own" else variant.seats)
    has_scores = config.magnet.kl_coef or config.distillation.share or config.teacher
    per_action = 5 if has_scores else 1  # a mask, and a number of the magnet or of the teacher
    searched = 12 * config.distillation.tried if config.distillation.share else 0
    needed = seen + per_action * variant.actions.size + searched
    check_memory(decisions * needed, f"{decisions:,} decisions of a rollout")


def cloning_learner(config: Config) -> Imitation:
    """A learner that clones the policy or the dataset that `init_from` names."""
    seed = stream(Purpose.CLONING, config.seed) >> 32  # stable-baselines3 takes 32 bits
    alone = config.model_copy(
        update={"opponents": {SELF: 1.0}, "seed": seed, "critic": "own", "augmentation": "none"}
    )
    games = make_games(alone)
    settings = learner_settings(alone, games)
    settings["learning_rate"] = schedule(config.clone.learning_rate)
    if config.dataset:
        lessons = lessons_of(config)
        return BehaviourCloning(SelfPlayPolicy, games, lessons=lessons, **settings)
    teacher = load_policy(str(config.teacher), config.game, **config.options)
    learner = Cloning(SelfPlayPolicy, games, teacher=teacher, **settings)
    learner.begin_games()
    return learner


def lessons_of(config: Config) -> Lessons:
    """The decisions of the dataset that `init_from` names."""
    from hanamachi.training.dataset.lessons import lessons
    from hanamachi.training.dataset.read import load

    check_dataset(config)
    features = Features(config.variant(), config.network.features)
    return lessons(load(str(config.dataset)), features, config.ppo.gamma)


def check_dataset(config: Config) -> None:
    """UserError if a file of the dataset is missing, or it is of another game; reads no rows."""
    from hanamachi.training.dataset.read import folder_of, read_recipe

    recipe, _ = read_recipe(folder_of(str(config.dataset)))
    if not recipe.variant.understands(config.variant()):
        raise UserError(
            f"init_from: {config.dataset} holds games of {head(recipe.variant)}, from which "
            f"{head(config.variant())} cannot be learned"
        )


def learner_settings(config: Config, games: TurnBasedVecEnv) -> dict[str, Any]:
    """The settings of `config` as stable-baselines3 takes them."""
    policy = network_settings(config.network, games)
    if config.critic != "own":
        policy |= critic_settings(policy.get("forms"), games)
        policy["action_values"] = config.critic == ACTION_VALUES
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
        "precision": config.matmul_precision,
        "policy_kwargs": policy,
    }


def network_settings(network: NetworkSettings, games: TurnBasedVecEnv) -> dict[str, Any]:
    """The network's shape and, in games of ours, its description of the actions."""
    if not isinstance(games, SelfPlayVecEnv | FeaturedVecEnv):
        if network.symmetries != AS_SHOWN:
            raise UserError("network.symmetries needs a game of this package: leave it out")
        return {"hidden": network.hidden}
    check_symmetries(games.variant, network.symmetries, network.features)
    seen = Features(games.variant, network.features).layout
    head = head_of(games.variant.actions, seen)
    settings = {"hidden": network.hidden, "head": head, "feature_sets": network.features}
    return settings | {"forms": forms_of(games.variant, seen, network.symmetries)}


def critic_settings(forms: Forms | None, games: Any) -> dict[str, Any]:
    """What a centralised critic sees, and, where the network is canonical, in which forms."""
    critic_forms = forms_of_all(forms, games.variant) if forms else None
    return {"centralised": games.centralised_space, "critic_forms": critic_forms}


def track_average(learner: SelfPlayPPO, config: Config) -> None:
    """Give the learner the magnet and the moving average that `config` asks for."""
    network, magnet = learner.policy.network, config.magnet
    by_average = learner.kl_schedule is not None and magnet.kind == "average"
    if by_average or config.export == "average":
        learner.average = MovingAverage(network, config.average.decay)
    if by_average:
        learner.magnet = learner.average
    elif learner.kl_schedule:
        every = 1 if config.distillation.share else magnet.every
        learner.magnet = Snapshot(network, every if magnet.kind == "refreshed" else 0)


def starting_weights(config: Config, start: Path | str) -> dict[str, Any]:
    """The weights of the checkpoint `start`, whose network must have the shape of `config`."""
    policy = load_policy(str(start), config.game, **config.options)
    assert isinstance(policy, CompiledPolicy), "only a checkpoint has weights"
    _, hidden, feature_sets, weights, symmetries = policy.checkpoint
    if hidden != config.network.hidden:
        raise UserError(
            f"init_from: {start} has hidden layers {list(hidden)}; set network.hidden to them"
        )
    if feature_sets != config.network.features:
        raise UserError(
            f"init_from: {start} has features {list(feature_sets)}; set network.features to them"
        )
    if symmetries != config.network.symmetries:
        raise UserError(
            f"init_from: {start} has network.symmetries: {symmetries}; set network.symmetries to it"
        )
    return {name: torch.tensor(array) for name, array in weights.items()}


def quiet() -> Logger:
    """A log that is thrown away."""
    return Logger(None, [])
