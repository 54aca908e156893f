"""Export: a checkpoint as an ONNX file."""

from pathlib import Path

from hanamachi.errors import UserError
from hanamachi.policies.load import ONNX, is_checkpoint, load_policy


def export(spec: str, out: Path | None = None) -> Path:
    """Write the checkpoint that `spec` names as an ONNX file, by default here; returns its path.

    Raises UserError if `spec` names no checkpoint, or `load_policy` would not know such a file.
    """
    from hanamachi.policies.networks.network import NetworkPolicy
    from hanamachi.policies.networks.onnx_export import write_onnx

    if not is_checkpoint(spec):
        raise UserError(f"only a checkpoint can be exported, and {spec} is none")
    policy = load_policy(spec)
    assert isinstance(policy, NetworkPolicy), "checkpoints are networks"
    path = out or Path(policy.name.replace(":", "-") + ONNX)
    if path.suffix != ONNX:
        raise UserError(f"the name of an ONNX file ends in {ONNX}, not as {path.name} does")
    write_onnx(policy, path)
    return path
