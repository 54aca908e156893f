"""What comes with weights: which game, which actions and which observation they are for.

A checkpoint keeps this description in `config.json`, an ONNX file in its metadata. It also holds
the SHA-256 of the weights and of itself. Whatever does not fit is refused with one sentence.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from stat import S_ISREG
from typing import Any

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies.features.base import Features

FORMAT = 1
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


def refused(path: Path, reason: str) -> UserError:
    """The error for a checkpoint, be it a folder or a file, that does not fit."""
    return UserError(f"the checkpoint {path} cannot be loaded: {reason}")


# --- Writing


def description(
    variant: Variant, hidden: Sequence[int], feature_sets: Sequence[str], weights: bytes
) -> str:
    """The text that goes with these weights; only a network with features says so."""
    config = {
        "format": FORMAT,
        "version": version("hanamachi"),
        "game": variant.id,
        "options": dict(variant.options),
        **digests(variant, feature_sets),
        "network": {
            "hidden": list(hidden),
            **({"features": list(feature_sets)} if feature_sets else {}),
        },
        "weights": sha256(weights).hexdigest(),
    }
    config["digest"] = config_digest(config)
    return json.dumps(config, indent=2) + "\n"


def digests(variant: Variant, feature_sets: Sequence[str]) -> dict[str, str]:
    """Of the actions, and of all that a network with these features sees."""
    seen = Features(variant, feature_sets).layout
    return {"actions": variant.actions.digest, "observation": seen.digest}


def config_digest(config: dict[str, Any]) -> str:
    """SHA-256 over everything else that a description says."""
    described = {key: value for key, value in config.items() if key != "digest"}
    return sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


# --- Reading


def read_file(path: Path, checkpoint: Path) -> bytes:
    """A file of a checkpoint; a link, which could lead anywhere, is none."""
    name = path.name
    try:
        status = path.lstat()
        if not S_ISREG(status.st_mode):
            raise refused(checkpoint, f"{name} must be a file, and no link to one")
        if status.st_size > LARGEST_FILE:
            raise refused(checkpoint, f"{name} is larger than a checkpoint can be")
        return path.read_bytes()
    except OSError as error:
        raise refused(checkpoint, f"{name} cannot be read ({error.strerror})") from error


def read_description(text: bytes, checkpoint: Path) -> dict[str, Any]:
    """The description, checked to be whole and unchanged."""
    try:
        config = json.loads(text, object_pairs_hook=without_repetition)
    except (ValueError, RecursionError) as error:
        raise refused(checkpoint, "its description is not JSON") from error
    if not isinstance(config, dict) or type(config.get("format")) is not int:
        raise refused(checkpoint, "its description is not that of a checkpoint")
    if config["format"] != FORMAT:
        words = f"its format is {config['format']} and this version reads {FORMAT}"
        raise refused(checkpoint, words)
    if {key: type(value) for key, value in config.items()} != TYPES:
        raise refused(checkpoint, "its description is not that of a checkpoint")
    if config["digest"] != config_digest(config):
        raise refused(checkpoint, "its description was changed after it was written")
    if not describes_network(config["network"]):
        raise refused(checkpoint, "it describes no network")
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


def fitting_variant(
    checkpoint: Path, config: dict[str, Any], game: str | None, options: dict[str, Any]
) -> Variant:
    """The rule set to play, whose actions and observations must be those of the checkpoint."""
    try:
        own = make_variant(config["game"], **config["options"])
        right = digests(own, config["network"]["features"])
    except (UserError, RecursionError) as error:
        raise refused(checkpoint, str(error)) from error
    variant = make_variant(game or own.id, **options) if game or options else own
    for what in ("actions", "observation"):
        if right[what] != config[what]:
            raise refused(checkpoint, f"it was made for another version of the {what} of {own.id}")
        if getattr(variant, what).digest != getattr(own, what).digest:
            other = f"{variant.id} with these options" if variant.id == own.id else variant.id
            things = what if what == "actions" else "observations"
            raise refused(checkpoint, f"it plays {own.id}, whose {things} are not those of {other}")
    return variant
