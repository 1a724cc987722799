"""Flags of the process: kept, so that programs that set them run; the ones that mean something here act."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import jax

from . import progress, small
from .no_effect import tell

__all__ = ["get_flags", "set_flags"]

_flags: dict[str, Any] = {}


def _check_nan_inf(value: Any) -> None:
    jax.config.update("jax_debug_nans", bool(value))
    small.changed()


# XLA's CPU and GPU backends take their other settings before they start.
_ACTING = {"FLAGS_check_nan_inf": _check_nan_inf, "FLAGS_host_tier": small.use_host_tier}
_ACTING["FLAGS_compile_progress"] = progress.show_progress


def set_flags(flags: dict[str, Any]) -> None:
    """Set flags of the process. FLAGS_check_nan_inf makes every op fail at NaN; FLAGS_host_tier lets NumPy compute what
    is small on the CPU, FLAGS_compile_progress says what XLA compiles when that takes seconds, and both are on by
    default. Others are kept, and warn.

    Raises:
        TypeError: if `flags` is not a dict of names that begin with "FLAGS_".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.set_flags({"FLAGS_check_nan_inf": False})
        >>> paddle.get_flags("FLAGS_check_nan_inf")
        {'FLAGS_check_nan_inf': False}
    """
    if not isinstance(flags, dict):
        raise TypeError(f"set_flags: flags is a {type(flags).__name__}; expected a dict of names and values")
    for name in flags:
        if not isinstance(name, str) or not name.startswith("FLAGS_"):
            raise TypeError(f"set_flags: {name!r} is no name of a flag; they begin with 'FLAGS_'")
    for name, value in flags.items():
        _flags[name] = value
        if name in _ACTING:
            _ACTING[name](value)
        else:
            tell(set_flags, name, value, "it is kept for get_flags(), and that is all")


def get_flags(flags: str | Iterable[str]) -> dict[str, Any]:
    """Values of flags: as set here, or in the environment.

    Raises:
        ValueError: for a flag that was never set.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.set_flags({"FLAGS_check_nan_inf": False}) or paddle.get_flags("FLAGS_check_nan_inf")
        {'FLAGS_check_nan_inf': False}
    """
    found = {}
    for name in [flags] if isinstance(flags, str) else flags:
        if name not in _flags and name not in os.environ:
            raise ValueError(f"get_flags: {name} was not set, here or in the environment")
        found[name] = _flags.get(name, os.environ.get(name))
    return found
