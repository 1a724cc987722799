"""Exchange of arrays with other frameworks, by DLPack."""

from __future__ import annotations

from typing import Any

from ..core.argument_docs import document as _document
from ..eager.tensor import Tensor
from ..ops.convert import from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(x: Tensor) -> Any:
    """Return a copy of the data of a tensor as a DLPack capsule; CPU and GPU.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> "dltensor" in str(to_dlpack(paddle.ones([2])))
        True
    """
    return x.__dlpack__()


_document(globals())
