"""Exceptions that a static program raises: their messages show what tensors hold when the program runs."""

from __future__ import annotations

import os
from typing import Any

import dy2static
from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.errors import EscapedTensorError, TracedValueError, is_own
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.tracing.builder import Builder, is_traced
from paddle_lite_py.tracing.checks import found_by_program, showable

from .errors import StagingError

_HERE = os.path.dirname(os.path.abspath(__file__))
# Where converted code does what the user has written: what is raised there, the user's line raises.
_DOES = "runtime mutations raising at_run watched"
_TRANSPARENT = (
    os.path.dirname(os.path.abspath(dy2static.__file__)) + os.sep,
    *[os.path.join(_HERE, f"{name}.py") for name in _DOES.split()],
)
_OURS = (TracedValueError, EscapedTensorError, StagingError, dy2static.ConversionError, dy2static.UndefinedError)


def raised_by_user(error: BaseException) -> bool:
    """Whether the user's own code raises, or a check of it in a program: eager code keeps what it has done before."""
    if isinstance(error, (*_OURS, RecursionError)):
        return False
    if found_by_program(error):
        return True
    last, tb = "", error.__traceback__
    while tb is not None:
        name, tb = tb.tb_frame.f_code.co_filename, tb.tb_next
        last = last if name.startswith(_TRANSPARENT) else name
    return bool(last) and not is_own(last) and "-packages" not in last


def checked(builder: Builder, passed: Tensor | None, exc: Any, where: Any) -> None:
    """Raise the exception after the run if `passed` is false, or if it is None and the program gets here."""
    exc = exc() if isinstance(exc, type) else exc
    kind, cause, hidden, traced = type(exc), exc.__cause__, exc.__suppress_context__, []  # type: Any, Any, bool, list[Any]
    held = nested.flatten((exc.args, vars(exc)), lambda v: isinstance(v, Tensor) and is_traced(v), traced)
    shown = [t for t in traced if showable(t)] if type(builder) is Builder else []

    def error(*values: Tensor) -> BaseException:
        known = {id(t): v for t, v in zip(shown, values, strict=False)}  # none, in a program for a file
        for t in shown[: len(values)]:
            known[id(t)].stop_gradient = t.stop_gradient
        args, attributes = nested.unflatten(held, iter([known.get(id(t), t) for t in traced]))
        made = kind.__new__(kind, *args)  # `__init__` has done its work
        made.__dict__.update(attributes)
        made.__cause__, made.__suppress_context__ = cause, hidden
        return made

    builder.check(passed, error, where, shown)
