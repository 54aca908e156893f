"""The configs of best responses: how policies learn to beat a fixed one, the victim."""

from collections.abc import Mapping
from typing import Any

from hanamachi.policies.names import SEARCH, is_bare_folder, is_checkpoint
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.policy import Policy
from hanamachi.training.config import Config
from hanamachi.training.exploitation import ATTACK, Start

# settings of the given config that every response takes over where they are named
KEPT = (
    "seed", "num_games", "device", "matmul_precision", "network", "critic", "export", "save_every",
)  # fmt: skip
SHORTER_BY = 3  # a response that does not start from random weights learns a third as long
# how a response learns differently from self-play: from more games before each update, because only
# one side learns; with a critic that knows all hands, as the victim's are noise to it; with a high
# entropy at first and none at the end
SETTINGS: Mapping[str, Any] = {
    "num_games": 1024,
    "critic": "all",
    "ppo": {"ent_coef": (0.3, 0.0), "gae_lambda": 0.8, "batch_size": 512},
}
# from weights that play well: with less entropy and in smaller steps, to keep what they know
WARM_START: Mapping[str, Any] = {"ent_coef": (0.02, 0.0), "learning_rate": (4e-4, 2e-5)}
# what the other responses to a checkpoint start from, in turn: its weights, and a clone of a search
# that thinks little at each decision, so that it labels many
WARM_STARTS = "{0}", f"search:improve:{{0}}:{ATTACK},worlds=8"
LABELS = 30  # decisions of the first response for each that the search labels


def configs_against(
    spec: str, victim: Policy, config: Config | None, steps: int, seeds: int
) -> list[Config]:
    """The config of each response."""
    spec = f"./{spec}" if is_bare_folder(spec) else spec  # past and self mean other opponents
    given = config.model_dump(exclude_unset=True) if config else {}
    first = from_scratch(spec, victim, given, steps)
    return [first, *(another(first, victim, given, number) for number in range(1, seeds))]


def from_scratch(spec: str, victim: Policy, given: Mapping[str, Any], steps: int) -> Config:
    """The config of the first response: the settings given, against the victim only."""
    kept = (*KEPT, "average") if given.get("export") == "average" else KEPT
    settings = {**SETTINGS, **{name: given[name] for name in kept if name in given}}
    settings["ppo"] = {**SETTINGS["ppo"], **given.get("ppo", {})}
    if isinstance(victim, CompiledPolicy):
        settings.setdefault("network", shape(victim))
    versus = {"opponents": [spec], "final_opponents": [spec]}
    settings["evaluation"] = {**given.get("evaluation", {}), **versus}
    game = {"game": victim.variant.id, "options": dict(victim.variant.options)}
    return Config.from_dict({**settings, **game, "steps": steps, "opponents": {spec: 1.0}})


def another(first: Config, victim: Policy, given: Mapping[str, Any], number: int) -> Config:
    """The same config with another seed; against a checkpoint, from weights that play well."""
    settings = first.model_dump() | {"seed": first.seed + number}
    (spec,) = first.opponents
    if isinstance(victim, CompiledPolicy) and is_checkpoint(spec):
        start = WARM_STARTS[(number - 1) % len(WARM_STARTS)].format(spec)
        settings |= {"init_from": start, "network": shape(victim)}
        settings |= {"steps": max(1, first.steps // SHORTER_BY)}
        if start.startswith(SEARCH):
            settings["clone"] = {"steps": max(1, first.steps // LABELS)}
        settings["ppo"] = {**settings["ppo"], **WARM_START, **given.get("ppo", {})}
    return Config.from_dict(settings)


def start_of(config: Config) -> Start:
    """Whose weights a response began with."""
    if config.init_from is None:
        return "random"
    return "search's" if config.init_from.startswith(SEARCH) else "victim's"


def shape(victim: CompiledPolicy) -> dict[str, Any]:
    _, hidden, feature_sets, _, symmetries = victim.checkpoint
    return {"hidden": hidden, "features": feature_sets, "symmetries": symmetries}
