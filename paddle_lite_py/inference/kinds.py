"""Enumerations of the inference interface."""

from __future__ import annotations

from enum import Enum

from ..core import dtypes


class DataType(Enum):
    """Data types of tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [kind.name for kind in paddle.inference.DataType][:2]
        ['FLOAT32', 'INT64']
    """

    FLOAT32, INT64, INT32, UINT8, INT8, FLOAT16, BFLOAT16, FLOAT64, BOOL = range(9)

    @property
    def dtype(self) -> dtypes.DType:
        """Return the corresponding dtype."""
        return dtypes.as_dtype(self.name.lower())


class PrecisionType(Enum):
    """Precisions of the computation.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [kind.name for kind in paddle.inference.PrecisionType][:2]
        ['Float32', 'Int8']
    """

    Float32, Int8, Half, Bfloat16 = range(4)


class PlaceType(Enum):
    """Kinds of devices.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [kind.name for kind in paddle.inference.PlaceType][:2]
        ['UNK', 'CPU']
    """

    UNK, CPU, GPU, XPU, CUSTOM = -1, 0, 1, 2, 8


def get_num_bytes_of_data_type(dtype: DataType) -> int:
    """Return the number of bytes of one element.

    Arguments:
        dtype: a DataType.

    Returns:
        An integer.

    Examples:
        >>> get_num_bytes_of_data_type(DataType.INT64)
        8
    """
    return dtype.dtype.np.itemsize
