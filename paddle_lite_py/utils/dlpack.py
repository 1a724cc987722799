"""Exchange of arrays with other frameworks, by DLPack."""

from __future__ import annotations

from typing import Any

from ..eager.tensor import Tensor
from ..ops.convert import from_dlpack as _from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(x: Tensor) -> Any:
    """The data of a tensor as a DLPack capsule, not copied; CPU and GPU.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> "dltensor" in str(to_dlpack(paddle.ones([2])))
        True
    """
    return x._data.__dlpack__()


class _Capsule:
    """A bare capsule, of data on the CPU, as an object that speaks DLPack."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def from_dlpack(dlpack: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor with a copy of the data of a DLPack capsule or of an object that speaks DLPack.

    Arguments:
        device: where it is to lie.
        copy: accepted, but False, which asks for what cannot be had.

    Raises:
        BufferError: for copy=False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> from_dlpack(to_dlpack(paddle.to_tensor([1, 2]))).tolist()
        [1, 2]
    """
    return _from_dlpack(dlpack if hasattr(dlpack, "__dlpack__") else _Capsule(dlpack), device=device, copy=copy)
