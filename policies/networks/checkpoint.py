"""Save and load checkpoints: folders with weights and a description, safe to load from anywhere.

`model.safetensors` holds the weights and no code, `config.json` describes them, and `README.md` is
the model card. A checkpoint that does not fit is refused with a one-sentence error.
"""

from hashlib import sha256
from pathlib import Path
from typing import Any

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, missing_extra
from hanamachi.limits import DESCRIPTION_BYTES, HEADER_BYTES
from hanamachi.policies.networks.description import (
    description,
    fitting_variant,
    read_description,
    read_file,
    refused,
)
from hanamachi.storage.files import read_folder, replacing_folder
from hanamachi.storage.reading import checked_path, parse_json

try:
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load, save
except ImportError:
    raise missing_extra("PyTorch", "train") from None

from hanamachi.policies.networks.network import META, Network, NetworkPolicy, for_variant

WEIGHTS, CONFIG, CARD = "model.safetensors", "config.json", "README.md"
LENGTH = 8  # bytes at the start of the weights: the size of the header that follows
METADATA, FLOAT32 = "__metadata__", "F32"  # of a header


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
    path = checked_path(folder)
    policy = read_folder(path, lambda there: read_checkpoint(there, game, options))
    policy.name = path.absolute().name
    return policy


def read_checkpoint(folder: Path, game: str | None, options: dict[str, Any]) -> NetworkPolicy:
    config = read_description(read_file(folder / CONFIG, folder, DESCRIPTION_BYTES), folder)
    variant = fitting_variant(folder, config, game, options)
    hidden, features = config["network"]["hidden"], config["network"]["features"]
    network = for_variant(variant, hidden, features, device=META)
    size = sum(weights.nbytes for weights in network.state_dict().values())
    weights = read_file(folder / WEIGHTS, folder, size + HEADER_BYTES)
    if sha256(weights).hexdigest() != config["weights"]:
        raise refused(folder, f"{WEIGHTS} is not the file that {CONFIG} describes")
    check_header(folder, network, weights)
    load_weights(folder, network, weights)
    return NetworkPolicy(variant, network)


def check_header(folder: Path, network: Network, weights: bytes) -> None:
    """UserError unless the file promises the network's weights, by name, shape and type."""
    length = int.from_bytes(weights[:LENGTH], "little")
    if length > HEADER_BYTES:
        raise not_safetensors(folder)
    try:
        header = parse_json(weights[LENGTH : LENGTH + length])
    except UserError as error:
        raise not_safetensors(folder) from error
    if not isinstance(header, dict) or not all(isinstance(t, dict) for t in header.values()):
        raise not_safetensors(folder)
    header.pop(METADATA, None)
    expected = {name: list(tensor.shape) for name, tensor in network.state_dict().items()}
    if header.keys() != expected.keys():
        raise refused(folder, "its weights belong to another network")
    for name, tensor in header.items():
        if tensor.get("shape") != expected[name] or tensor.get("dtype") != FLOAT32:
            raise refused(folder, f"its weights {name} have another shape or type")


def load_weights(folder: Path, network: Network, weights: bytes) -> None:
    """Give the network its weights; UserError unless all are finite."""
    try:
        tensors = load(weights)
        for name, tensor in tensors.items():
            if not bool(torch.isfinite(tensor).all()):
                raise refused(folder, f"its weights {name} are not all finite")
            tensors[name] = tensor.to(network.features.device, copy=True)
    except SafetensorError as error:
        raise not_safetensors(folder) from error
    except (MemoryError, RuntimeError) as error:  # RuntimeError is PyTorch's for both
        raise refused(folder, f"its weights cannot be loaded ({error})") from error
    network.load_state_dict(tensors, assign=True)


def not_safetensors(folder: Path) -> UserError:
    return refused(folder, f"{WEIGHTS} is not a safetensors file")
