"""Policies exported as ONNX files, computed by onnxruntime: PyTorch need not be installed."""

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, missing_extra
from hanamachi.policies.networks.description import (
    fitting_variant,
    read_description,
    read_file,
    refused,
)
from hanamachi.policies.networks.onnx_file import Unfit, contents
from hanamachi.policies.networks.trained import CHUNK, Trained
from hanamachi.policies.policy import Observations, Probabilities, Values, check_distribution

OBSERVATION, MASK = "observation", "mask"  # what a graph gets: (B, N) float32, (B, A) bool
PROBABILITIES, VALUE = "probabilities", "value"  # and gives: (B, A) and (B,) float32
SILENT = 4  # of what onnxruntime would print


class OnnxPolicy(Trained):
    """A network in a session of onnxruntime."""

    def __init__(
        self, variant: Variant, feature_sets: Sequence[str], file: bytes, name: str
    ) -> None:
        super().__init__(variant, feature_sets, name)
        self.file = file
        self.session = session_of(file)

    def answer(
        self, observation: Observations, legal: NDArray[np.bool_]
    ) -> tuple[Probabilities, Values]:
        given = {OBSERVATION: observation, MASK: legal}
        probabilities, values = self.session.run([PROBABILITIES, VALUE], given)
        asked = legal.any(1)
        check_distribution(probabilities[asked], legal[asked].astype(np.int8), self.name)
        if not np.isfinite(values[asked]).all():
            raise UserError(f"{self.name} gives values that are not finite")
        return probabilities, values

    def __getstate__(self) -> dict[str, Any]:
        """All but the session, which can be neither copied nor pickled."""
        return {name: value for name, value in vars(self).items() if name != "session"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, session=session_of(state["file"]))


def session_of(file: bytes) -> Any:
    """On one thread, for a chunk is not worth more."""
    try:
        import onnxruntime
    except ModuleNotFoundError as error:
        raise missing_extra("onnxruntime", "onnx") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = SILENT
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def load_onnx(path: Path | str, game: str | None = None, **options: Any) -> OnnxPolicy:
    """The policy of an ONNX file, for its own game or one with the same actions and observations.

    Raises UserError if anything in the file does not fit, or if onnxruntime is not installed.
    """
    path = Path(path)
    file = read_file(Path(os.path.realpath(path)), path)  # who names a link means its file
    try:
        text, graph = contents(file)
    except Unfit as error:
        raise refused(path, str(error)) from error
    config = read_description(text, path)
    variant = fitting_variant(path, config, game, options)
    if sha256(graph).hexdigest() != config["weights"]:
        raise refused(path, "its graph is not the one that its description is for")
    try:
        policy = OnnxPolicy(variant, config["network"]["features"], file, path.name)
        try_out(policy)
    except UserError:
        raise
    except Exception as error:  # onnxruntime's have no class of their own
        raise refused(path, "its graph cannot be computed") from error
    return policy


def try_out(policy: OnnxPolicy) -> None:
    """Raise something unless a chunk of observations gets answers of the right shapes."""
    size, actions = policy.features.layout.size, policy.variant.actions.size
    observation, legal = np.zeros((CHUNK, size), np.float32), np.ones((CHUNK, actions), np.bool_)
    probabilities, values = policy.answer(observation, legal)
    if (probabilities.shape, values.shape) != (legal.shape, (CHUNK,)):
        raise ValueError("other shapes")
