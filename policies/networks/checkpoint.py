"""Save and load checkpoints: folders with weights and a description, safe to load from anywhere.

`model.safetensors` holds the weights and no code, `config.json` describes them, and `README.md` is
the model card. A checkpoint that does not fit is refused with a one-sentence error.
"""

from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from hanamachi.engine.game import Variant
from hanamachi.errors import missing_extra
from hanamachi.policies.features.base import Features
from hanamachi.policies.networks.description import (
    description,
    fitting_variant,
    read_description,
    read_file,
    refused,
)
from hanamachi.storage.files import read_folder, replacing_folder

try:
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load, save
except ImportError:
    raise missing_extra("PyTorch", "train") from None

from hanamachi.policies.networks.network import Network, NetworkPolicy, for_variant

WEIGHTS, CONFIG, CARD = "model.safetensors", "config.json", "README.md"


def save_checkpoint(folder: Path, network: Network, variant: Variant, card: str) -> None:
    """Write a network as a checkpoint; a failed write leaves the folder as it was."""
    weights = save({name: t.cpu().contiguous() for name, t in network.state_dict().items()})
    config = description(variant, network.hidden, network.feature_sets, weights)
    with replacing_folder(Path(folder)) as new:
        (new / WEIGHTS).write_bytes(weights)
        (new / CONFIG).write_text(config, encoding="utf-8")
        (new / CARD).write_text(card, encoding="utf-8")


def load_checkpoint(folder: Path | str, game: str | None = None, **options: Any) -> NetworkPolicy:
    """The policy of a checkpoint, for its own variant or one with equal actions and observations.

    A run may replace the checkpoint meanwhile: the policy is the old one or the new one. Raises
    UserError if the checkpoint is refused.
    """
    policy = read_folder(Path(folder), lambda there: read_checkpoint(there, game, options))
    policy.name = Path(folder).name
    return policy


def read_checkpoint(folder: Path, game: str | None, options: dict[str, Any]) -> NetworkPolicy:
    config = read_description(read_file(folder / CONFIG, folder), folder)
    variant = fitting_variant(folder, config, game, options)
    weights = read_file(folder / WEIGHTS, folder)
    if sha256(weights).hexdigest() != config["weights"]:
        raise refused(folder, f"{WEIGHTS} is not the file that {CONFIG} describes")
    hidden, features = config["network"]["hidden"], config["network"]["features"]
    if smallest_file(Features(variant, features).layout.size, hidden) > len(weights):
        raise refused(folder, "its weights belong to another network")
    network = for_variant(variant, hidden, features)
    load_weights(folder, network, weights)
    return NetworkPolicy(variant, network, name=folder.name)


def smallest_file(size: int, hidden: list[int]) -> int:
    """Bytes of the layers alone: a description must not make us build a larger network."""
    return 4 * sum(a * b for a, b in pairwise([size, *hidden]))


def load_weights(folder: Path, network: Network, weights: bytes) -> None:
    """Fill the network; UserError unless names, shapes, types and values are right."""
    try:
        tensors = load(weights)
    except SafetensorError as error:
        raise refused(folder, f"{WEIGHTS} is not a safetensors file") from error
    expected = network.state_dict()
    if tensors.keys() != expected.keys():
        raise refused(folder, "its weights belong to another network")
    for name, tensor in tensors.items():
        if tensor.shape != expected[name].shape or tensor.dtype != expected[name].dtype:
            raise refused(folder, f"its weights {name} have another shape or type")
        if not bool(torch.isfinite(tensor).all()):
            raise refused(folder, f"its weights {name} are not all finite")
    network.load_state_dict(tensors)
