"""Compiled extensions are written against Paddle's own C++ library, which is not here; each name says what to use."""

from __future__ import annotations

import os
from typing import Any

__all__ = ["BuildExtension", "CUDAExtension", "CppExtension", "get_build_directory", "load", "setup"]


def _unavailable(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"cpp_extension.{name}: operators compiled against Paddle's C++ library cannot be loaded here; write the "
        "operator with paddle functions (XLA fuses them), with jax, or as a PyLayer"
    )


def load(name: str, sources: Any, *args: Any, **kwargs: Any) -> Any:
    """Not available.

    Raises:
        NotImplementedError: always, with what to use instead.
    """
    raise _unavailable("load")


def setup(**attr: Any) -> None:
    """Not available.

    Raises:
        NotImplementedError: always, with what to use instead.
    """
    raise _unavailable("setup")


def CppExtension(sources: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N802  (the reference's name)
    """Not available.

    Raises:
        NotImplementedError: always, with what to use instead.
    """
    raise _unavailable("CppExtension")


def CUDAExtension(sources: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N802  (the reference's name)
    """Not available.

    Raises:
        NotImplementedError: always, with what to use instead.
    """
    raise _unavailable("CUDAExtension")


class BuildExtension:
    """Not available: raises NotImplementedError, with what to use instead."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise _unavailable("BuildExtension")


def get_build_directory(verbose: bool = False) -> str:
    """Where extensions would be built."""
    return os.environ.get("PADDLE_EXTENSION_DIR", os.path.join(os.path.expanduser("~"), ".cache", "paddle_extensions"))
