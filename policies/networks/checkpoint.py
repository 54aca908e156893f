"""Save and load checkpoints: folders with weights and a description, safe to load from anywhere.

`model.safetensors` holds the weights and no code, `config.json` describes them, and `README.md` is
the model card. A checkpoint that does not fit is refused with a one-sentence error.
"""

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from hanamachi.engine.arrays import Float32s
from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.limits import DESCRIPTION_BYTES, HEADER_BYTES, WEIGHTS_BYTES
from hanamachi.policies.features.base import Features
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.description import (
    description,
    fitting_variant,
    read_description,
    read_file,
    refused,
)
from hanamachi.policies.networks.head import head_of
from hanamachi.policies.networks.tables import Checkpoint, Shapes, size_of, weight_shapes
from hanamachi.storage.files import read_folder, replacing_folder
from hanamachi.storage.reading import checked_path, parse_json

WEIGHTS, CONFIG, CARD = "model.safetensors", "config.json", "README.md"
LENGTH = 8  # bytes at the start of the weights: the size of the header that follows
METADATA, FLOAT32 = "__metadata__", "F32"  # of a header


def save_checkpoint(folder: Path, checkpoint: Checkpoint, card: str) -> None:
    """Write a checkpoint; a failed write leaves the folder as it was."""
    arrays = {name: np.ascontiguousarray(array) for name, array in checkpoint.weights.items()}
    weights = save(arrays)
    config = description(checkpoint, weights)
    with replacing_folder(Path(folder)) as new:
        (new / WEIGHTS).write_bytes(weights)
        (new / CONFIG).write_text(config, encoding="utf-8")
        (new / CARD).write_text(card, encoding="utf-8")


def load_checkpoint(
    folder: Path | str, game: str | None = None, /, **options: Any
) -> CompiledPolicy:
    """The policy of a checkpoint, for its own variant or one with equal actions and observations.

    A run may replace the checkpoint meanwhile: the policy is the old one or the new one. Raises
    UserError if the checkpoint is refused.
    """
    path = checked_path(folder)
    check_is_no_run(path)
    checkpoint = read_folder(path, lambda there: read_checkpoint(there, game, options))
    return CompiledPolicy(checkpoint, Path(os.path.abspath(path)).name)


def check_is_no_run(path: Path) -> None:
    """UserError if this is a folder of something else, such as of a run that holds a checkpoint."""
    if os.path.exists(path / CONFIG):
        return
    if os.path.exists(path / "policy" / CONFIG):
        raise UserError(f"{path} is the folder of a run; its policy is {path / 'policy'}")
    if os.path.isdir(path):
        raise UserError(
            f"{path} is a folder, but no checkpoint, which has a {CONFIG}; to let all bots of a "
            "folder play, use hanamachi arena"
        )


def read_checkpoint(folder: Path, game: str | None, options: dict[str, Any]) -> Checkpoint:
    config = read_description(read_file(folder / CONFIG, folder, DESCRIPTION_BYTES), folder)
    variant = fitting_variant(folder, config, game, options)
    network = config["network"]
    hidden, features = network["hidden"], network["features"]
    shapes = expected_shapes(folder, variant, hidden, features)
    weights = read_file(folder / WEIGHTS, folder, size_of(shapes) + HEADER_BYTES)
    if sha256(weights).hexdigest() != config["weights"]:
        raise refused(folder, f"{WEIGHTS} is not the file that {CONFIG} describes")
    check_header(folder, shapes, weights)
    arrays = finite_weights(folder, weights)
    return Checkpoint(variant, tuple(hidden), tuple(features), arrays, network["symmetries"])


def expected_shapes(
    folder: Path, variant: Variant, hidden: list[int], features: list[str]
) -> Shapes:
    """The shapes of the weights that are described; UserError if these are too large to be read."""
    layout = Features(variant, features).layout
    shapes = weight_shapes(head_of(variant.actions, layout), layout.size, hidden)
    if size_of(shapes) > WEIGHTS_BYTES:
        raise refused(folder, f"its network has more than {WEIGHTS_BYTES >> 20} MiB of weights")
    return shapes


def check_header(folder: Path, shapes: Shapes, weights: bytes) -> None:
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
    if header.keys() != shapes.keys():
        raise refused(folder, "its weights belong to another network")
    for name, tensor in header.items():
        if tensor.get("shape") != list(shapes[name]) or tensor.get("dtype") != FLOAT32:
            raise refused(folder, f"its weights {name} have another shape or type")


def finite_weights(folder: Path, weights: bytes) -> dict[str, Float32s]:
    """The weights by name; UserError unless all are finite."""
    try:
        arrays = load(weights)
    except SafetensorError as error:
        raise not_safetensors(folder) from error
    except MemoryError as error:
        raise refused(folder, "there is too little memory for its weights") from error
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise refused(folder, f"its weights {name} are not all finite")
    return arrays


def not_safetensors(folder: Path) -> UserError:
    return refused(folder, f"{WEIGHTS} is not a safetensors file")
