"""Write checkpoints as ONNX files, for programs that have a library for these.

The graph computes the network only; the caller computes the features of its feature sets.

We write the graph ourselves: what PyTorch's exporter writes changes from version to version, and
`load_onnx` must recognise the graph exactly.
"""

from importlib.metadata import version
from pathlib import Path

from hanamachi.policies.features.base import Features
from hanamachi.policies.networks.description import description
from hanamachi.policies.networks.onnx_graph import graph_of, model
from hanamachi.policies.networks.protobuf import encoded
from hanamachi.policies.networks.tables import Checkpoint, tables_of
from hanamachi.storage.files import write_whole


def write_onnx(checkpoint: Checkpoint, path: Path) -> None:
    """Write a network and its description, whole or not at all; UserError if that cannot be."""
    layout = Features(checkpoint.variant, checkpoint.feature_sets).layout
    graph = encoded(graph_of(tables_of(checkpoint, layout), layout.size))
    text = description(checkpoint, graph)
    write_whole(path, encoded(model(graph, version("hanamachi"), text.encode())))
