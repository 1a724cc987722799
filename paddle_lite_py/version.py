"""The version of the Paddle API that this package speaks, and its own one, `lite_version`."""

from __future__ import annotations

from .core.environment import describe, versions

__all__ = ["cuda", "cudnn", "show"]

lite_version = "0.1.0"
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
    """Print the version of the Paddle API, this package's own, and what it runs on.

    Examples:
        >>> show()  # doctest: +ELLIPSIS
        full_version: 3.3.1
        major: 3
        minor: 3
        patch: 1
        rc: 0
        cuda: False
        ...
        paddle_lite_py: 0.1.0
        jax: ...
    """
    api = {"full_version": full_version, "major": major, "minor": minor, "patch": patch, "rc": rc}
    libraries = ("cuda", "cudnn", "nccl", "xpu", "cinn", "tensorrt")
    for name, value in {**api, **dict.fromkeys(libraries, _none())}.items():
        print(f"{name}: {value}")
    print(describe(lite_version))


def summary() -> str:
    """Return one line: this package's version, the Paddle API's, JAX's and Python's."""
    found = versions(lite_version)
    return f"paddle_lite_py {lite_version} (Paddle API {full_version}, JAX {found['jax']}, Python {found['python']})"
