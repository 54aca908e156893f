"""`hanamachi export`."""

from pathlib import Path
from typing import Annotated

import typer

from hanamachi.training.cli.terminal import written


def export(
    policy: Annotated[
        str, typer.Argument(metavar="POLICY", help="A checkpoint, or the id of a game's agent.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="The file; NAME.onnx for a POLICY called NAME by default.")
    ] = None,
) -> None:
    """Write a checkpoint as an ONNX file. Playing it needs the extra onnx, but not PyTorch."""
    from hanamachi.policies.export import export

    written(export(policy, out))
