"""Exchange of arrays with other frameworks, by DLPack."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from ..core.argument_docs import document as _document
from ..eager.tensor import Tensor
from ..ops.convert import from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


class DLDeviceType(IntEnum):
    """The kinds of devices of the DLPack standard, the first of what `__dlpack_device__()` returns.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.ones([2], device="cpu").__dlpack_device__()[0] == DLDeviceType.kDLCPU
        True
    """

    kDLCPU = 1  # noqa: N815  (the names of the standard)
    kDLCUDA = 2  # noqa: N815
    kDLCUDAHost = 3  # noqa: N815
    kDLOpenCL = 4  # noqa: N815
    kDLVulkan = 7  # noqa: N815
    kDLMetal = 8  # noqa: N815
    kDLVPI = 9  # noqa: N815
    kDLROCM = 10  # noqa: N815
    kDLROCMHost = 11  # noqa: N815
    kDLExtDev = 12  # noqa: N815
    kDLCUDAManaged = 13  # noqa: N815
    kDLOneAPI = 14  # noqa: N815
    kDLWebGPU = 15  # noqa: N815
    kDLHexagon = 16  # noqa: N815


def to_dlpack(x: Tensor) -> Any:
    """Return a copy of the data of a tensor as a DLPack capsule; CPU and GPU.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> "dltensor" in str(to_dlpack(paddle.ones([2])))
        True
    """
    return x.__dlpack__()


_document(globals())
