"""Checkpoints: a folder with weights and a description, safe to load from anywhere.

`model.safetensors` holds the weights and nothing that runs; `config.json` says which game, which
actions and which observation, features included, they are for, and the SHA-256 of the weights and
of itself; `README.md` is the model card. Whatever does not fit is refused with one sentence.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from stat import S_ISREG
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from hanamachi import __version__
from hanamachi.errors import UserError
from hanamachi.game import Variant
from hanamachi.games import variant
from hanamachi.policies.features import Features
from hanamachi.policies.network import Network, NetworkPolicy, for_variant
from hanamachi.saving import replacing_folder

FORMAT = 1
WEIGHTS, CONFIG, CARD = "model.safetensors", "config.json", "README.md"
LARGEST_FILE = 1 << 30  # bytes
TYPES: dict[str, type] = {  # of a description
    "format": int,
    "version": str,
    "game": str,
    "options": dict,
    "actions": str,
    "observation": str,
    "network": dict,
    "weights": str,
    "digest": str,
}


def save_checkpoint(folder: Path, network: Network, rules: Variant, card: str) -> None:
    """Write a network as a checkpoint, all of it or nothing."""
    weights = save({name: t.cpu().contiguous() for name, t in network.state_dict().items()})
    config = {
        "format": FORMAT,
        "version": __version__,
        "game": rules.id,
        "options": dict(rules.options),
        **digests(rules, network.feature_sets),
        "network": {"hidden": list(network.hidden), **named_features(network)},
        "weights": sha256(weights).hexdigest(),
    }
    config["digest"] = config_digest(config)
    with replacing_folder(Path(folder)) as aside:
        (aside / WEIGHTS).write_bytes(weights)
        (aside / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        (aside / CARD).write_text(card, encoding="utf-8")


def digests(rules: Variant, feature_sets: Sequence[str]) -> dict[str, str]:
    """Of the actions, and of all that a network with these features sees."""
    seen = Features(rules, feature_sets).layout
    return {"actions": rules.actions.digest, "observation": seen.digest}


def named_features(network: Network) -> dict[str, list[str]]:
    """Only a network with features says so."""
    return {"features": list(network.feature_sets)} if network.feature_sets else {}


def load_checkpoint(folder: Path | str, game: str | None = None, **options: Any) -> NetworkPolicy:
    """The policy of a checkpoint, for its own game or one with the same actions and observations.

    Raises UserError if anything in the folder does not fit.
    """
    folder = Path(folder)
    config = read_config(folder)
    rules = fitting_variant(folder, config, game, options)
    weights = read_file(folder, WEIGHTS)
    if sha256(weights).hexdigest() != config["weights"]:
        raise refused(folder, f"{WEIGHTS} is not the file that {CONFIG} describes")
    hidden, features = config["network"]["hidden"], config["network"]["features"]
    if smallest_file(Features(rules, features).layout.size, hidden) > len(weights):
        raise refused(folder, "its weights are those of another network")
    network = for_variant(rules, hidden, features)
    load_weights(folder, network, weights)
    return NetworkPolicy(rules, network, name=folder.name)


def refused(folder: Path, reason: str) -> UserError:
    return UserError(f"the checkpoint {folder} cannot be loaded: {reason}")


def config_digest(config: dict[str, Any]) -> str:
    """SHA-256 over everything else that a description says."""
    described = {key: value for key, value in config.items() if key != "digest"}
    return sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def read_file(folder: Path, name: str) -> bytes:
    path = folder / name
    try:
        status = path.lstat()
        if not S_ISREG(status.st_mode):
            raise refused(folder, f"{name} must be a file in the folder itself")
        if status.st_size > LARGEST_FILE:
            raise refused(folder, f"{name} is larger than a checkpoint can be")
        return path.read_bytes()
    except OSError as error:
        raise refused(folder, f"{name} cannot be read ({error.strerror})") from error


def read_config(folder: Path) -> dict[str, Any]:
    """The description, checked to be whole and unchanged."""
    text = read_file(folder, CONFIG)
    try:
        config = json.loads(text, object_pairs_hook=without_repetition)
    except (ValueError, RecursionError) as error:
        raise refused(folder, f"{CONFIG} is not JSON") from error
    if not isinstance(config, dict) or type(config.get("format")) is not int:
        raise refused(folder, f"{CONFIG} does not describe a checkpoint")
    if config["format"] != FORMAT:
        raise refused(folder, f"its format is {config['format']} and this version reads {FORMAT}")
    if {key: type(value) for key, value in config.items()} != TYPES:
        raise refused(folder, f"{CONFIG} does not describe a checkpoint")
    if config["digest"] != config_digest(config):
        raise refused(folder, f"{CONFIG} was changed after it was written")
    if not describes_network(config["network"]):
        raise refused(folder, f"{CONFIG} describes no network")
    config["network"].setdefault("features", [])
    return config


def describes_network(network: dict[str, Any]) -> bool:
    hidden, features = network.get("hidden"), network.get("features", ["if any"])
    return (
        network.keys() <= {"hidden", "features"}
        and isinstance(hidden, list)
        and all(type(size) is int and 0 < size <= 1 << 14 for size in hidden)
        and isinstance(features, list)
        and len(features) > 0
        and all(isinstance(name, str) for name in features)
    )


def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; most readers would take the last of two equal keys."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is given twice")
    return dict(pairs)


def smallest_file(size: int, hidden: list[int]) -> int:
    """Bytes of the layers alone: a description must not make us build more than is there."""
    return 4 * sum(a * b for a, b in pairwise([size, *hidden]))


def fitting_variant(
    folder: Path, config: dict[str, Any], game: str | None, options: dict[str, Any]
) -> Variant:
    """The rule set to play, whose actions and observations must be those of the checkpoint."""
    try:
        own = variant(config["game"], **config["options"])
        right = digests(own, config["network"]["features"])
    except (UserError, RecursionError) as error:
        raise refused(folder, str(error)) from error
    rules = variant(game or own.id, **options) if game or options else own
    for what in ("actions", "observation"):
        if right[what] != config[what]:
            raise refused(folder, f"it was made for another version of the {what} of {own.id}")
        if getattr(rules, what).digest != getattr(own, what).digest:
            other = f"{rules.id} with these options" if rules.id == own.id else rules.id
            things = what if what == "actions" else "observations"
            raise refused(folder, f"it plays {own.id}, whose {things} are not those of {other}")
    return rules


def load_weights(folder: Path, network: Network, weights: bytes) -> None:
    try:
        tensors = load(weights)
    except SafetensorError as error:
        raise refused(folder, f"{WEIGHTS} is not a safetensors file") from error
    expected = network.state_dict()
    if tensors.keys() != expected.keys():
        raise refused(folder, "its weights are those of another network")
    for name, tensor in tensors.items():
        if tensor.shape != expected[name].shape or tensor.dtype != expected[name].dtype:
            raise refused(folder, f"its weights {name} have another shape or type")
        if not bool(torch.isfinite(tensor).all()):
            raise refused(folder, f"its weights {name} are not all finite")
    network.load_state_dict(tensors)
