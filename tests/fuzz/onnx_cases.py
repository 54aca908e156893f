"""Damaged ONNX files; most have correct digests, so that the damage itself must be noticed."""

import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import onnx
from bases import onnx_files
from damage import as_json, damaged, near, odd, scrambled
from google.protobuf.message import Message
from onnx import TensorProto, helper
from roles import use

from hanamachi.policies import load_policy
from hanamachi.policies.networks.description import config_digest
from hanamachi.policies.networks.onnx_graph import DESCRIPTION

OPERATIONS = ("Add", "Mul", "MatMul", "Relu", "Reshape", "Gather", "Where", "Softmax")
FOREIGN = (
    "Loop",
    "If",
    "Identity",
    "Conv",
    "ConstantOfShape",
    "Expand",
    "Tile",
    "Range",
    "NonZero",
)
Model = onnx.ModelProto


class Damaged(NamedTuple):
    """An ONNX file to load and to play with."""

    original: Path
    path: Path
    done: tuple[str, ...]
    sealed: bool
    seed: int


# --- The graph


def change_an_operation(rng: Random, model: Model) -> None:
    rng.choice(model.graph.node).op_type = rng.choice([*OPERATIONS, *FOREIGN, ""])


def rewire(rng: Random, model: Model) -> None:
    """An input or output of a node gets the name of another value."""
    names = [name for node in model.graph.node for name in (*node.input, *node.output)]
    node = rng.choice(model.graph.node)
    ports = rng.choice([node.input, node.output])
    if ports:
        ports[rng.randrange(len(ports))] = rng.choice([*names, "", "nowhere"])


def leave_out_a_node(rng: Random, model: Model) -> None:
    del model.graph.node[rng.randrange(len(model.graph.node))]


def repeat_a_node(rng: Random, model: Model) -> None:
    model.graph.node.append(rng.choice(model.graph.node))


def change_an_attribute(rng: Random, model: Model) -> None:
    node = rng.choice(model.graph.node)
    value = rng.choice([-1, 0, 1, 2**31, -(2**63), [0, 1], [7] * 100])
    if node.attribute and rng.random() < 0.5:
        node.attribute[0].i = rng.choice([-1, 0, 1, 5, 2**31])
    else:
        name = rng.choice(["axis", "keepdims", "allowzero", "axes", "noop_with_empty_axes"])
        node.attribute.append(helper.make_attribute(name, value))


def scale_weights(rng: Random, model: Model) -> None:
    """All numbers, up to the largest ones; only this leaves an exported network."""
    factor = np.float32(rng.choice([0, -1, 1e-42, 1e3, 1e10, 1e20, 1e38]))
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            with np.errstate(over="ignore"):
                values = np.frombuffer(tensor.raw_data, "<f4") * factor
            tensor.raw_data = np.nan_to_num(values).tobytes()


def change_weights(rng: Random, model: Model) -> None:
    """Numbers as large as there are, other shapes, other types, constants that mean places."""
    tensor = rng.choice(model.graph.initializer)
    kind = rng.randrange(4)
    if kind == 0 and tensor.data_type == TensorProto.FLOAT:
        count = len(tensor.raw_data) // 4
        tensor.raw_data = np.full(count, rng.choice([np.nan, np.inf, 3e38, 1e-45]), "<f4").tobytes()
    elif kind == 1 and tensor.data_type == TensorProto.INT64:
        values = np.frombuffer(tensor.raw_data, "<i8").copy()
        if values.size:
            values[rng.randrange(values.size)] = rng.choice(
                [-1, 0, 1, 10**6, 2**31, 2**62, -(2**63)]
            )
        tensor.raw_data = values.tobytes()
    elif kind == 2:
        sizes = list(tensor.dims) or [1]
        tensor.dims[:] = rng.choice([sizes[::-1], sizes[:-1], [*sizes, 1], [2**40], [-1], [0]])
    else:
        tensor.data_type = rng.choice([0, 1, 2, 6, 7, 9, 10, 11, 99])


def rename_weights(rng: Random, model: Model) -> None:
    one, other = rng.choice(model.graph.initializer), rng.choice(model.graph.initializer)
    one.name, other.name = other.name, one.name


def change_a_port(rng: Random, model: Model) -> None:
    port = rng.choice([*model.graph.input, *model.graph.output])
    kind = rng.randrange(4)
    if kind == 0:
        port.name = rng.choice(["observation", "mask", "value", "probabilities", "", "x"])
    elif kind == 1:
        port.type.tensor_type.elem_type = rng.randrange(20)
    elif kind == 2 and port.type.tensor_type.shape.dim:
        size = rng.choice(port.type.tensor_type.shape.dim)
        size.dim_value = rng.choice([0, 1, 128, 2**40, -1])
    else:
        rng.choice([model.graph.input, model.graph.output]).append(port)


def change_the_versions(rng: Random, model: Model) -> None:
    model.ir_version = rng.choice([0, 1, 8, 99, 2**60])
    model.opset_import[0].version = rng.choice([0, 1, 9, 17, 99, 2**60, -1])
    model.opset_import[0].domain = rng.choice(["", "", "ai.onnx.ml", "x"])


def lead_elsewhere(rng: Random, model: Model) -> None:
    """Weights in other files, and parts that no export has."""
    kind = rng.randrange(4)
    tensor = rng.choice(model.graph.initializer)
    if kind == 0:
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=rng.choice(["/etc/passwd", "../x", ""]))
    elif kind == 1:
        body = helper.make_graph([], "body", [], [])
        model.graph.node.append(helper.make_node("If", ["mask"], ["x"], then_branch=body))
    elif kind == 2:
        model.functions.add(name="f", domain="x")
    else:
        model.metadata_props.add(key=rng.choice([DESCRIPTION, "x"]), value="{}")


def change_the_description(rng: Random, model: Model) -> None:
    text = as_json(rng, damaged(rng, json.loads(model.metadata_props[0].value)))
    model.metadata_props[0].value = text.decode(errors="replace")


def change_any_number(rng: Random, model: Model) -> None:
    """An integer somewhere in the file, if the way leads to one."""
    message: Any = model
    while fields := message.ListFields():
        field, value = rng.choice(fields)
        if isinstance(value, int):
            setattr(message, field.name, rng.choice([near(rng, value), odd(rng)]))
            return
        if isinstance(value, str | bytes | float):
            return
        if not isinstance(value, Message):  # a field that is repeated
            at = rng.randrange(len(value))
            if isinstance(value[at], int):
                value[at] = near(rng, value[at])
            value = value[at]
        if not isinstance(value, Message):
            return
        message = value


DAMAGES = (
    change_an_operation, rewire, leave_out_a_node, repeat_a_node, change_an_attribute,
    *(scale_weights,) * 4, change_weights, change_weights, rename_weights, change_a_port,
    change_the_versions, lead_elsewhere, change_the_description, change_the_description,
    change_any_number,
)  # fmt: skip


def sealed(model: Model) -> bytes:
    """The file with digests that fit its graph and its description."""
    with suppress(ValueError, RecursionError, AttributeError, TypeError, IndexError):
        config = json.loads(model.metadata_props[0].value)
        config["weights"] = sha256(model.graph.SerializeToString()).hexdigest()
        config["digest"] = config_digest(config)
        model.metadata_props[0].value = json.dumps(config)
    return model.SerializeToString()


# --- A case


def draw(rng: Random, folder: Path) -> Damaged:
    original, path = rng.choice(onnx_files()), folder / "policy.onnx"
    content, done, seals = original.read_bytes(), [], False
    if rng.random() < 0.8:
        model = onnx.load_from_string(content)
        for damage in rng.choices(DAMAGES, k=rng.choice([1, 1, 1, 2])):
            done.append(damage.__name__)
            with suppress(ValueError, TypeError, IndexError):
                damage(rng, model)
        seals = rng.random() < 0.9
        content = sealed(model) if seals else model.SerializeToString()
    if not done or rng.random() < 0.05:
        content, seals = scrambled(rng, content), False
        done.append("bits")
    path.write_bytes(content)
    return Damaged(original, path, tuple(done), seals, rng.randrange(1 << 30))


def load_and_play(case: Damaged) -> None:
    """Load it, and use what loads; what was not sealed must hold the original's graph."""
    policy = load_policy(str(case.path))
    if not case.sealed and not same(case.path, case.original):
        raise AssertionError("an ONNX file was accepted that does not match its digests")
    use(policy, Random(case.seed), case.seed)


def same(path: Path, original: Path) -> bool:
    """Whether graph and description are those of the original; the rest decides nothing."""
    one, other = onnx.load(path), onnx.load(original)
    return one.graph == other.graph and json.loads(one.metadata_props[0].value) == json.loads(
        other.metadata_props[0].value
    )
