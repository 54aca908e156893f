"""The description saved with weights: their variant, actions, observation and network.

A checkpoint keeps it in `config.json`, an ONNX file in its metadata. It also holds the SHA-256 of
the weights and of itself. A description that does not fit is refused with a one-sentence error.
"""

import json
import os
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import version
from os.path import samestat
from pathlib import Path
from shlex import quote
from stat import S_ISREG
from typing import Any

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.games.registry import changed_options
from hanamachi.games.registry import variant as make_variant
from hanamachi.limits import FEATURE_SETS, LAYERS, WIDTH
from hanamachi.policies.features.base import Features
from hanamachi.policies.networks.canonical import AS_SHOWN, CANONICAL, check_symmetries
from hanamachi.policies.networks.tables import Checkpoint
from hanamachi.storage.reading import opened_at_once, parse_json

FORMAT = 1
TYPES: dict[str, type] = {  # of the fields of a description
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
    """The error for a checkpoint (a folder or an ONNX file) that is refused."""
    return UserError(f"the checkpoint {path} cannot be loaded: {reason}")


# --- Writing


def description(checkpoint: Checkpoint, weights: bytes) -> str:
    """The description of a checkpoint with these weights, as JSON.

    `features` and `symmetries` are left out if there are none.
    """
    variant, feature_sets = checkpoint.variant, checkpoint.feature_sets
    symmetries = checkpoint.symmetries
    config = {
        "format": FORMAT,
        "version": version("hanamachi"),
        "game": variant.id,
        "options": dict(variant.options),
        **digests(variant, feature_sets),
        "network": {
            "hidden": list(checkpoint.hidden),
            **({"features": list(feature_sets)} if feature_sets else {}),
            **({"symmetries": symmetries} if symmetries != AS_SHOWN else {}),
        },
        "weights": sha256(weights).hexdigest(),
    }
    config["digest"] = config_digest(config)
    return json.dumps(config, indent=2) + "\n"


def digests(variant: Variant, feature_sets: Sequence[str]) -> dict[str, str]:
    """Digests of the actions, and of the observation with these feature sets."""
    layout = Features(variant, feature_sets).layout
    return {"actions": variant.actions.digest, "observation": layout.digest}


def config_digest(config: dict[str, Any]) -> str:
    """SHA-256 over all other fields of a description."""
    fields = {key: value for key, value in config.items() if key != "digest"}
    return sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


# --- Reading


def read_file(path: Path, checkpoint: Path, most: int) -> bytes:
    """Read a file of a checkpoint, of at most `most` bytes; refuse what is larger unread.

    A link is refused, as it could lead anywhere, and so is a file that changes meanwhile.
    """
    name = path.name
    try:
        found = path.lstat()
        if not S_ISREG(found.st_mode):
            raise refused(checkpoint, f"{name} must be a file, not a link")
        if found.st_size > most:
            raise refused(checkpoint, f"{name} is larger than the {most} bytes that it can have")
        with open(path, "rb", opener=opened_at_once) as file:
            content = file.read(found.st_size + 1)
            if not samestat(found, os.fstat(file.fileno())) or len(content) != found.st_size:
                raise refused(checkpoint, f"{name} changes while it is read")
        return content
    except OSError as error:
        raise refused(checkpoint, f"{name} cannot be read ({error.strerror})") from error
    except MemoryError as error:
        raise refused(checkpoint, f"there is too little memory for {name}") from error


def read_description(text: bytes, checkpoint: Path) -> dict[str, Any]:
    """Parse a description; UserError unless it is complete and unchanged."""
    try:
        config = parse_json(text)
    except UserError as error:
        raise refused(checkpoint, f"its description: {error}") from error
    if not isinstance(config, dict) or type(config.get("format")) is not int:
        raise refused(checkpoint, "its description has missing, extra or wrong fields")
    if config["format"] != FORMAT:
        reason = f"its format is {config['format']}, and this version reads format {FORMAT}"
        raise refused(checkpoint, reason)
    if {key: type(value) for key, value in config.items()} != TYPES:
        raise refused(checkpoint, "its description has missing, extra or wrong fields")
    if config["digest"] != config_digest(config):
        raise refused(checkpoint, "its description does not match its digest")
    if not config["version"].isascii():
        raise refused(checkpoint, "its version has characters that no version has")
    if not describes_network(config["network"]):
        raise refused(checkpoint, "its description of the network is wrong")
    config["network"] = {"features": [], "symmetries": AS_SHOWN} | config["network"]
    return config


def describes_network(network: dict[str, Any]) -> bool:
    """Whether the fields of a network are right; `features` and `symmetries` may be left out."""
    hidden, features = network.get("hidden"), network.get("features", ["none"])
    return (
        network.keys() <= {"hidden", "features", "symmetries"}
        and network.get("symmetries", CANONICAL) == CANONICAL
        and isinstance(hidden, list)
        and 0 < len(hidden) <= LAYERS
        and all(type(size) is int and 0 < size <= WIDTH for size in hidden)
        and isinstance(features, list)
        and 0 < len(features) <= FEATURE_SETS
        and all(isinstance(name, str) for name in features)
    )


def fitting_variant(
    checkpoint: Path, config: dict[str, Any], game: str | None, options: dict[str, Any]
) -> Variant:
    """The variant to play; UserError unless its actions and observation fit the checkpoint."""
    network = config["network"]
    try:
        own = make_variant(config["game"], **config["options"])
        expected = digests(own, network["features"])
    except UserError as error:
        raise refused(checkpoint, str(error)) from error
    variant = make_variant(game or own.id, **options) if game or options else own
    which = "" if variant.id != own.id else " with these options" if options else " without options"
    asked = variant.id + which
    for what in ("actions", "observation"):
        if expected[what] != config[what]:
            raise refused(checkpoint, f"it was made for another version of the {what} of {own.id}")
        if getattr(variant, what).digest != getattr(own, what).digest:
            other = "other actions" if what == "actions" else "another observation"
            raise plays_other_rules(checkpoint, own, f"{asked} has {other}")
    try:
        check_symmetries(own, network["symmetries"], network["features"])
    except UserError as error:
        raise refused(checkpoint, str(error)) from error
    if network["symmetries"] == CANONICAL and not have_equal_symmetries(own, variant):
        raise plays_other_rules(checkpoint, own, f"{asked} has other symmetries")
    return variant


def plays_other_rules(checkpoint: Path, own: Variant, difference: str) -> UserError:
    """The error for rules unlike the checkpoint's own, which it spells if there is room."""
    what_to_do = f"{difference}: name its own game and options, or none of them"
    options = as_arguments(own)
    if not options:
        return refused(checkpoint, f"it plays {own.id}, and {what_to_do}")
    error = refused(checkpoint, f"it plays {own.id} with {options}, and {what_to_do}")
    if options in str(error):
        return error
    return refused(checkpoint, f"it plays {own.id} with options of its own, and {what_to_do}")


def as_arguments(variant: Variant) -> str:
    """The options in which a variant differs from its defaults, as on the command line."""
    changed = changed_options(variant)
    spelled = {name: json.dumps(value, separators=(",", ":")) for name, value in changed.items()}
    return " ".join(f"--set {quote(f'{name}={value}')}" for name, value in spelled.items())


def have_equal_symmetries(one: Variant, other: Variant) -> bool:
    return one == other or all(map(np.array_equal, one.symmetries, other.symmetries))
