"""Flags of the process: kept, so that programs that set them run; the ones that mean something here act."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from . import progress, small
from .interpreter import layer_version, state
from .memo import once
from .no_effect import tell
from .switches import baseline_tier, compiler_process, deferral, index_checks, nan_checks

__all__ = ["get_flags", "set_flags"]

_flags: dict[str, Any] = {}
_WORDS = {"true": True, "1": True, "on": True, "yes": True, "false": False, "0": False, "off": False, "no": False}


@once
def _defaults() -> dict[str, Any]:
    """The defaults of the reference's flags."""
    lines = Path(__file__).with_name("flags.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split(" ", 1) for line in lines if not line.startswith("#"))
    return {name: ast.literal_eval(value) for name, value in pairs}


def _typed(name: str, value: Any) -> Any:
    """Return a value in the type that the flag has.

    Raises:
        ValueError: it cannot be one.
    """
    kind = type(_defaults().get(name, value))
    try:
        return _WORDS[value.lower()] if kind is bool and isinstance(value, str) else kind(value)
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}; expected a value of the type {kind.__name__}") from None


def _check_nan_inf(value: Any) -> None:
    state.interpreter.flush()
    nan_checks.set(value)
    small.reset()


# XLA's CPU and GPU backends take their other settings before they start.
_ACTING = {"FLAGS_check_nan_inf": _check_nan_inf, "FLAGS_host_tier": small.use_host_tier}
_ACTING |= {"FLAGS_compile_progress": progress.show_progress, "FLAGS_compiler_process": compiler_process.set}
_ACTING |= {"FLAGS_defer_ops": deferral.set, "FLAGS_check_indices": index_checks.set}
_ACTING |= {"FLAGS_baseline_tier": baseline_tier.set}
_ACTING |= {"FLAGS_enable_pir_api": lambda _: None}  # read where it matters: is_earlier_generation()
_ACTING |= {"FLAGS_cudnn_deterministic": lambda wanted: baseline_tier.set(not wanted)}


def set_flags(flags: dict[str, Any]) -> None:
    """Set flags of the process.

    FLAGS_check_nan_inf makes every op of any thread fail at NaN and infinities; FLAGS_host_tier lets NumPy compute what
    is small on the CPU, FLAGS_defer_ops lets the ops of an eager training step wait and be one program,
    FLAGS_check_indices has compiled programs refuse indices out of range, FLAGS_compile_progress says what XLA compiles
    when that takes seconds, FLAGS_compiler_process has large programs compiled by a process of their own,
    FLAGS_baseline_tier has NumPy run these until they are compiled, and these six are on by default.
    FLAGS_enable_pir_api=0 gives static programs operators that are edited in place. Others are kept, and warn.

    Raises:
        TypeError: if `flags` is not a dict of names that begin with "FLAGS_".
        ValueError: if a value is not of the type that the flag has.

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
    for name, value in {n: _typed(n, v) for n, v in flags.items()}.items():
        _flags[name] = value
        if name in _ACTING:
            _ACTING[name](value)
        else:
            tell(set_flags, name, value, "it is kept for get_flags(), and that is all")
    layer_version.number += 1


def get_flags(flags: str | Iterable[str]) -> dict[str, Any]:
    """Values of flags: as set here, in the environment, or as the reference has them by default.

    Raises:
        ValueError: for a flag that was never set, and that the reference does not have.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.set_flags({"FLAGS_check_nan_inf": False}) or paddle.get_flags("FLAGS_check_nan_inf")
        {'FLAGS_check_nan_inf': False}
    """
    found = _values([flags] if isinstance(flags, str) else [*flags])
    state.interpreter.assumes(FlagsStay(found))
    return found


def flag_names() -> list[str]:
    """Return the names of all flags: those of the reference, and others that were set.

    Example:
        >>> "FLAGS_check_nan_inf" in flag_names()
        True
    """
    return sorted({*_defaults(), *_flags})


def is_earlier_generation() -> bool:
    """Whether static programs are to be those of the reference's earlier generation, which are edited in place."""
    return not get_flags("FLAGS_enable_pir_api")["FLAGS_enable_pir_api"]


class FlagsStay(NamedTuple):
    """A guard of a program that read flags: they still have the values that it saw."""

    values: dict[str, Any]

    def holds(self) -> bool:
        """Whether they are as they were."""
        return _values(self.values) == self.values

    def change(self) -> str:
        """Describe what changed."""
        return f"the flags changed from {self.values} to {_values(self.values)}"


def _values(names: Iterable[str]) -> dict[str, Any]:
    found = {}
    for name in names:
        if name in _flags:
            found[name] = _flags[name]
        elif name in os.environ:
            found[name] = _typed(name, os.environ[name])
        elif name in _defaults():
            found[name] = _defaults()[name]
        else:
            raise ValueError(f"get_flags: {name} is no flag, and was not set, here or in the environment")
    return found
