"""Export a checkpoint as an ONNX file."""

from pathlib import Path

from hanamachi.errors import UserError
from hanamachi.policies.load import load_policy
from hanamachi.policies.names import ONNX, checked_name, is_checkpoint
from hanamachi.storage.files import refuse_existing
from hanamachi.storage.reading import checked_path


def export(spec: str | Path, out: str | Path | None = None) -> Path:
    """Write the checkpoint that `spec` names as an ONNX file; returns its path.

    Without `out` the file is written to the current folder. UserError if `spec` is not a
    checkpoint, if the name of the file does not end in .onnx, or if the file is there already.
    """
    from hanamachi.policies.networks.compiled_policy import CompiledPolicy
    from hanamachi.policies.networks.onnx_export import write_onnx

    spec = checked_name(spec)
    if not is_checkpoint(spec):
        raise UserError(f"only a checkpoint can be exported, and {spec} is not one")
    policy = load_policy(spec)
    assert isinstance(policy, CompiledPolicy), "only checkpoints have weights"
    path = checked_path(policy.name.replace(":", "-") + ONNX if out is None else out)
    if path.suffix != ONNX:
        raise UserError(f"the name of an ONNX file must end in {ONNX}, and {path} does not")
    refuse_existing(path)
    write_onnx(policy.checkpoint, path)
    return path
