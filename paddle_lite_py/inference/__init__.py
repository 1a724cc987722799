"""Run saved programs without the code they were made from: Config, create_predictor, handles."""

from __future__ import annotations

from ..core.argument_docs import document as _document
from ..version import full_version
from .config import Config
from .kinds import DataType, PlaceType, PrecisionType, get_num_bytes_of_data_type
from .predictor import Handle, Predictor, PredictorPool, create_predictor

Tensor = Handle

__all__ = [
    "Config",
    "DataType",
    "PlaceType",
    "PrecisionType",
    "Predictor",
    "PredictorPool",
    "Tensor",
    "create_predictor",
    "get_num_bytes_of_data_type",
    "get_trt_compile_version",
    "get_trt_runtime_version",
    "get_version",
]


def get_version() -> str:
    """Return the version of the package as a string.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> "version" in paddle.inference.get_version()
        True
    """
    return f"version: {full_version}\n"


def get_trt_compile_version() -> tuple[int, int, int]:
    """Return the version of TensorRT: (0, 0, 0), since it is not used.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.inference.get_trt_compile_version()
        (0, 0, 0)
    """
    return 0, 0, 0


get_trt_runtime_version = get_trt_compile_version

_document(globals())
