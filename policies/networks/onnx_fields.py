"""The numbers of the fields of ONNX's messages, as ONNX names both; only those that we write."""

from enum import IntEnum


class ModelProto(IntEnum):
    IR_VERSION = 1
    PRODUCER_NAME = 2
    PRODUCER_VERSION = 3
    GRAPH = 7
    OPSET_IMPORT = 8
    METADATA_PROPS = 14


class OperatorSetIdProto(IntEnum):
    DOMAIN = 1
    VERSION = 2


class StringStringEntryProto(IntEnum):
    KEY = 1
    VALUE = 2


class GraphProto(IntEnum):
    NODE = 1
    NAME = 2
    INITIALIZER = 5
    INPUT = 11
    OUTPUT = 12


class NodeProto(IntEnum):
    INPUT = 1
    OUTPUT = 2
    OP_TYPE = 4
    ATTRIBUTE = 5


class AttributeProto(IntEnum):
    NAME = 1
    I = 3  # noqa: E741
    TYPE = 20


class TensorProto(IntEnum):
    DIMS = 1
    DATA_TYPE = 2
    NAME = 8
    RAW_DATA = 9


class ValueInfoProto(IntEnum):
    NAME = 1
    TYPE = 2


class TypeProto(IntEnum):
    TENSOR_TYPE = 1


class TensorType(IntEnum):
    """TypeProto.Tensor in ONNX."""

    ELEM_TYPE = 1
    SHAPE = 2


class TensorShapeProto(IntEnum):
    DIM = 1


class Dimension(IntEnum):
    """TensorShapeProto.Dimension in ONNX."""

    DIM_VALUE = 1
    DIM_PARAM = 2
