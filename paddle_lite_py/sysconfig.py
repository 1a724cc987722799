"""Folders of headers and libraries: there are none, as nothing here is compiled from C++."""

from __future__ import annotations

from pathlib import Path

__all__ = ["get_include", "get_lib"]


def get_include() -> str:
    """Where headers would be.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.sysconfig.get_include().endswith("include")
        True
    """
    return str(Path(__file__).parent / "include")


def get_lib() -> str:
    """Where libraries would be.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.sysconfig.get_lib().endswith("libs")
        True
    """
    return str(Path(__file__).parent / "libs")
