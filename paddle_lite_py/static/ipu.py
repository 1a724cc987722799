"""Graph processors: there are none here, and each says so."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["IpuCompiledProgram", "IpuStrategy", "ipu_shard_guard", "set_ipu_shard"]


def _none(name: str) -> NoReturn:
    raise NotImplementedError(f"{name}: there are no graph processors here; paddle.static.Executor runs the program")


class IpuStrategy:
    """Not available: IPUs are not supported.

    Raises:
        NotImplementedError: always.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> try:
        ...     paddle.static.IpuStrategy()
        ... except (NotImplementedError, RuntimeError):
        ...     print("there are no IPUs")
        there are no IPUs
    """

    def __init__(self) -> None:
        _none("IpuStrategy")


class IpuCompiledProgram:
    """Not available: IPUs are not supported.

    Raises:
        NotImplementedError: always.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> try:
        ...     paddle.static.IpuCompiledProgram()
        ... except (NotImplementedError, RuntimeError):
        ...     print("there are no IPUs")
        there are no IPUs
    """

    def __init__(self, program: Any = None, scope: Any = None, ipu_strategy: Any = None) -> NoReturn:
        _none("IpuCompiledProgram")


def ipu_shard_guard(index: int = -1, stage: int = -1) -> NoReturn:
    """Not available: IPUs are not supported.

    Raises:
        NotImplementedError: always.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> try:
        ...     paddle.static.ipu_shard_guard()
        ... except (NotImplementedError, RuntimeError):
        ...     print("there are no IPUs")
        there are no IPUs
    """
    _none("ipu_shard_guard")


def set_ipu_shard(call_func: Any, index: int = -1, stage: int = -1) -> NoReturn:
    """Not available: IPUs are not supported.

    Raises:
        NotImplementedError: always.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> try:
        ...     paddle.static.set_ipu_shard(lambda: 1)
        ... except (NotImplementedError, RuntimeError):
        ...     print("there are no IPUs")
        there are no IPUs
    """
    _none("set_ipu_shard")
