"""The common imports of PaddlePaddle's op modules: dtype names and argument checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .base import Variable, core, default_main_program, device_guard, in_dygraph_mode
from .core.dtypes import as_dtype
from .core.param_attr import ParamAttr
from .nn.helper import LayerHelper

__all__ = [
    "LayerHelper",
    "ParamAttr",
    "Variable",
    "check_dtype",
    "check_type",
    "check_variable_and_dtype",
    "convert_dtype",
    "convert_np_dtype_to_dtype_",
    "core",
    "default_main_program",
    "device_guard",
    "in_dygraph_mode",
]


def convert_dtype(dtype: Any) -> str:
    """Return the name of a dtype.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> convert_dtype(paddle.float32)
        'float32'
    """
    return as_dtype(dtype).name


def convert_np_dtype_to_dtype_(np_dtype: Any) -> Any:
    """Return the dtype of a NumPy one, or of a name."""
    return as_dtype(np_dtype)


def check_type(input: Any, input_name: str, expected_type: Any, op_name: str, extra_message: str = "") -> None:
    """Check that an argument has the expected type.

    Raises:
        TypeError: if it is not.
    """
    if not isinstance(input, expected_type):
        raise TypeError(
            f"{op_name}: {input_name} is a {type(input).__name__}; expected {expected_type}. {extra_message}"
        )


def check_dtype(
    input_dtype: Any, input_name: str, expected_dtype: Sequence[str], op_name: str, extra_message: str = ""
) -> None:
    """Check that the dtype of an argument is one of those allowed.

    Raises:
        TypeError: if it is not.
    """
    if (found := convert_dtype(input_dtype)) not in expected_dtype:
        raise TypeError(
            f"{op_name}: {input_name} has the dtype {found}; expected {', '.join(expected_dtype)}. {extra_message}"
        )


def check_variable_and_dtype(
    input: Any, input_name: str, expected_dtype: Sequence[str], op_name: str, extra_message: str = ""
) -> None:
    """Check that an argument is a tensor of one of the allowed dtypes.

    Raises:
        TypeError: if it is not.
    """
    check_type(input, input_name, Variable, op_name, extra_message)
    check_dtype(input.dtype, input_name, expected_dtype, op_name, extra_message)
