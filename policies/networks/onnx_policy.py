"""Load policies from ONNX files and run them with onnxruntime, without PyTorch."""

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, missing_extra
from hanamachi.limits import DESCRIPTION_BYTES, WEIGHTS_BYTES
from hanamachi.policies.arrays import Masks, Observations, Probabilities, Values
from hanamachi.policies.features.base import Features
from hanamachi.policies.networks.description import (
    fitting_variant,
    read_description,
    read_file,
    refused,
)
from hanamachi.policies.networks.head import head_of
from hanamachi.policies.networks.network_policy import NetworkPolicy
from hanamachi.policies.networks.onnx_fields import ModelProto, StringStringEntryProto
from hanamachi.policies.networks.onnx_graph import (
    FIELDS,
    MASK,
    OBSERVATION,
    PROBABILITIES,
    VALUE,
    graph_of,
    model,
)
from hanamachi.policies.networks.protobuf import Message, Unfit, compare, fields
from hanamachi.policies.networks.tables import Checkpoint, tables_of, weight_shapes, zeros
from hanamachi.sessions.policy_checks import checked_distribution, checked_values
from hanamachi.storage.reading import checked_path

CHUNK = 128  # rows in every call of onnxruntime, so that a result never depends on the batch
SILENT = 4  # log level of onnxruntime at which it prints nothing


class OnnxPolicy(NetworkPolicy):
    """A policy that runs its network in a session of onnxruntime."""

    def __init__(
        self, variant: Variant, feature_sets: Sequence[str], file: bytes, name: str
    ) -> None:
        super().__init__(variant, feature_sets, name)
        self.file = file
        self.session = session_of(file)

    def evaluate(self, observation: Observations, mask: Masks) -> tuple[Probabilities, Values]:
        batch = len(observation)
        probabilities = np.empty(mask.shape, np.float32)
        values = np.empty(batch, np.float32)
        rows = np.zeros((CHUNK, observation.shape[1]), np.float32)
        legal = np.zeros((CHUNK, mask.shape[1]), np.bool_)
        for start in range(0, batch, CHUNK):
            part = slice(start, min(start + CHUNK, batch))
            size = part.stop - start
            rows[:size] = observation[part]
            legal[:size], legal[size:] = mask[part] != 0, False
            chunk_probabilities, chunk_values = self.infer(rows, legal)
            probabilities[part], values[part] = chunk_probabilities[:size], chunk_values[:size]
        return probabilities, values

    def infer(
        self, observation: Observations, legal: NDArray[np.bool_]
    ) -> tuple[Probabilities, Values]:
        """Probabilities (CHUNK, A) and values (CHUNK,) of observations with their features.

        Rows without a legal action only fill the chunk; their results are not used.
        """
        inputs = {OBSERVATION: observation, MASK: legal}
        probabilities, values = self.session.run([PROBABILITIES, VALUE], inputs)
        used = legal.any(1)
        checked_distribution(probabilities[used], legal[used].astype(np.int8), self.name)
        checked_values(values[used], int(used.sum()), self.name)
        return probabilities, values

    def __getstate__(self) -> dict[str, Any]:
        """Everything except the session, which cannot be copied or pickled."""
        return {name: value for name, value in vars(self).items() if name != "session"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, session=session_of(state["file"]))


def session_of(file: bytes) -> Any:
    """A session on one thread: a chunk is too small for more."""
    try:
        import onnxruntime
    except ModuleNotFoundError as error:
        raise missing_extra("onnxruntime", "onnx") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = SILENT
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def load_onnx(path: Path | str, game: str | None = None, /, **options: Any) -> OnnxPolicy:
    """The policy of an ONNX file, for its own variant or one with equal actions and observations.

    Raises UserError if the file is refused, or if onnxruntime is not installed.
    """
    path = checked_path(path)
    real = Path(os.path.realpath(path))  # a link stands for its file
    file = read_file(real, path, WEIGHTS_BYTES)
    try:
        graph, text = parts(file)
        config = read_description(text, path)
        variant = fitting_variant(path, config, game, options)
        if sha256(graph).hexdigest() != config["weights"]:
            raise refused(path, "its description is for another graph")
        compare(memoryview(file), exported(variant, config, text))
    except Unfit as error:
        raise refused(path, str(error)) from error
    try:
        policy = OnnxPolicy(variant, config["network"]["features"], file, path.name)
        try_out(policy)
    except UserError:
        raise
    except Exception as error:  # the errors of onnxruntime share no class
        raise refused(path, "onnxruntime cannot run its graph") from error
    return policy


def parts(file: bytes) -> tuple[memoryview, bytes]:
    """The graph and the description in a file; Unfit if one of them is missing."""
    found = dict(fields(memoryview(file), FIELDS))
    graph, metadata = found.get(ModelProto.GRAPH), found.get(ModelProto.METADATA_PROPS)
    if not isinstance(graph, memoryview) or not isinstance(metadata, memoryview):
        raise Unfit("it was not written by hanamachi export")
    text = dict(fields(metadata, FIELDS)).get(StringStringEntryProto.VALUE)
    if not isinstance(text, memoryview) or len(text) > DESCRIPTION_BYTES:
        raise Unfit("its description is missing or too long")
    return graph, bytes(text)


def exported(variant: Variant, config: dict[str, Any], text: bytes) -> Message:
    """What an export writes with this description; all its weights are 0."""
    network = config["network"]
    layout, hidden = Features(variant, network["features"]).layout, tuple(network["hidden"])
    weights = zeros(weight_shapes(head_of(variant.actions, layout), layout.size, hidden))
    untrained = Checkpoint(variant, hidden, network["features"], weights, network["symmetries"])
    graph = graph_of(tables_of(untrained, layout), layout.size)
    return model(graph, config["version"], text)


def try_out(policy: OnnxPolicy) -> None:
    """Raise an error unless the network returns the right shapes for a chunk."""
    size, actions = policy.features.layout.size, policy.variant.actions.size
    observation, legal = np.zeros((CHUNK, size), np.float32), np.ones((CHUNK, actions), np.bool_)
    probabilities, values = policy.infer(observation, legal)
    if (probabilities.shape, values.shape) != (legal.shape, (CHUNK,)):
        raise ValueError("the outputs have other shapes")
