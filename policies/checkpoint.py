"""Checkpoints: a folder with weights and a description, safe to load from anywhere.

`model.safetensors` holds the weights and nothing that runs; `config.json` says which game, which
actions and which observation they are for, and the SHA-256 of the weights and of itself;
`README.md` is the model card. Whatever does not fit is refused with one sentence.
"""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from hanamachi import __version__
from hanamachi.errors import UserError
from hanamachi.game import Variant
from hanamachi.games import variant
from hanamachi.policies.network import Network, NetworkPolicy, for_variant
from hanamachi.saving import replacing_folder

FORMAT = 1
WEIGHTS, CONFIG, CARD = "model.safetensors", "config.json", "README.md"
LARGEST_FILE = 1 << 30  # bytes


def save_checkpoint(folder: Path, network: Network, rules: Variant, card: str) -> None:
    """Write a network as a checkpoint, all of it or nothing."""
    weights = save({name: t.cpu().contiguous() for name, t in network.state_dict().items()})
    config = {
        "format": FORMAT,
        "version": __version__,
        "game": rules.id,
        "options": dict(rules.options),
        "actions": rules.actions.digest,
        "observation": rules.observation.digest,
        "network": {"hidden": list(network.hidden)},
        "weights": sha256(weights).hexdigest(),
    }
    config["digest"] = config_digest(config)
    with replacing_folder(Path(folder)) as aside:
        (aside / WEIGHTS).write_bytes(weights)
        (aside / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        (aside / CARD).write_text(card, encoding="utf-8")


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
    network = for_variant(rules, config["network"]["hidden"])
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
        if path.resolve().parent != folder.resolve():
            raise refused(folder, f"{name} leads out of the folder")
        if path.stat().st_size > LARGEST_FILE:
            raise refused(folder, f"{name} is larger than a checkpoint can be")
        return path.read_bytes()
    except OSError as error:
        raise refused(folder, f"{name} cannot be read ({error.strerror})") from error


def read_config(folder: Path) -> dict[str, Any]:
    """The description, checked to be whole and unchanged."""
    try:
        config = json.loads(read_file(folder, CONFIG))
    except (ValueError, RecursionError) as error:
        if isinstance(error, UserError):
            raise
        raise refused(folder, f"{CONFIG} is not JSON") from error
    if not isinstance(config, dict) or "format" not in config:
        raise refused(folder, f"{CONFIG} does not describe a checkpoint")
    if config["format"] != FORMAT:
        raise refused(folder, f"its format is {config['format']!r} and this version reads {FORMAT}")
    if config.get("digest") != config_digest(config):
        raise refused(folder, f"{CONFIG} was changed after it was written")
    hidden = config.get("network", {}).get("hidden")
    if not isinstance(hidden, list) or not all(
        type(size) is int and 0 < size <= 1 << 14 for size in hidden
    ):
        raise refused(folder, f"{CONFIG} describes no network")
    return config


def fitting_variant(
    folder: Path, config: dict[str, Any], game: str | None, options: dict[str, Any]
) -> Variant:
    """The rule set to play, whose actions and observations must be those of the checkpoint."""
    own = variant(config["game"], **config["options"])
    rules = variant(game or own.id, **options) if game or options else own
    for what in ("actions", "observation"):
        if getattr(own, what).digest != config[what]:
            raise refused(folder, f"it was made for another version of the {what} of {own.id}")
        if getattr(rules, what).digest != config[what]:
            raise refused(folder, f"it plays {own.id}, whose {what} are not those of {rules.id}")
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
