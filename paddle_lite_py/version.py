"""The version of the Paddle API that this package speaks. Its own version is paddle.lite_version."""

from __future__ import annotations

__all__ = ["cuda", "cudnn", "show"]

full_version = "3.3.1"
major, minor, patch = full_version.split(".")
rc = "0"
commit = __git_commit__ = "unknown"
istaged = False
with_pip_cuda_libraries = "OFF"
cuda_version = cudnn_version = nccl_version = tensorrt_version = xpu_version = hip_version = "False"
cinn_version = xpu_xccl_version = xpu_xhpc_version = xpu_xre_version = "False"


def _none() -> str:
    """ "False": no such library is linked; XLA brings its own.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.version.cuda()
        'False'
    """
    return "False"


cuda = cudnn = nccl = hip = xpu = tensorrt = xpu_xccl = xpu_xhpc = xpu_xre = _none


def cuda_archs() -> list[int]:
    """None: XLA compiles for the GPU that it finds."""
    return []


def mkl() -> str:
    """ "OFF"."""
    return "OFF"


def show() -> None:
    """Print the version.

    Examples:
        >>> show()
        full_version: 3.3.1
        major: 3
        minor: 3
        patch: 1
        rc: 0
    """
    for name, value in (("full_version", full_version), ("major", major), ("minor", minor), ("patch", patch)):
        print(f"{name}: {value}")
    print(f"rc: {rc}")
