"""Errors in one grammar: which of the user's things, what was found, what to do."""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType, TracebackType
from typing import Any, NamedTuple

import jax
import numpy as np

from .memo import memo

# The folder of paddle_lite_py; this file is one level down.
PACKAGE_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# Frames of these folders belong to the framework, never to the user.
OWN_DIRS = [PACKAGE_DIR]


class EscapedTensorError(RuntimeError):
    """A traced tensor was used after its trace had ended.

    It stands for a value inside one compiled program and has no data of its own. Return it from the static
    function, or assign it in place to a tensor made outside (``buffer.set_value(x)``).
    """


class TracedValueError(TypeError):
    """Python read the value of a traced tensor (``bool(x)``, ``x.numpy()``) while a program was being traced."""


class MadeInTraceError(TypeError):
    """A static function makes what must be another one in each call, as a layer's parameters are."""


class DataDependentError(TracedValueError, NotImplementedError):
    """A shape or a structure depends on values that are not known while a program is traced."""


class GraphFreedError(RuntimeError):
    """backward() met a graph whose saved tensors an earlier backward() had freed; keep them with retain_graph=True."""


class DivisorError(ZeroDivisionError, ValueError):
    """Integers were to be divided by 0."""


class Where(NamedTuple):
    """A place in the user's code."""

    filename: str
    lineno: int

    def __str__(self) -> str:
        return f"{os.path.basename(self.filename)}:{self.lineno}"


UNKNOWN = Where("<unknown>", 0)


def is_own(filename: str) -> bool:
    """True for a file of the framework."""
    return filename.startswith(tuple(OWN_DIRS))


class SparseError(TypeError):
    """Error: a sparse tensor where a dense one is expected."""


class LeafChangeError(RuntimeError, ValueError):
    """A leaf that requires gradient was to be changed in place; PaddlePaddle raises either."""


class NoGradientError(RuntimeError, ValueError):
    """A gradient was requested that does not exist; PaddlePaddle raises an error as well."""


def user_traceback(tb: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the framework's frames; PADDLE_LITE_TRACEBACK=full keeps them."""
    if os.environ.get("PADDLE_LITE_TRACEBACK") == "full":
        return tb
    frames = []
    while tb is not None:
        if not is_own(tb.tb_frame.f_code.co_filename):
            frames.append(tb)
        tb = tb.tb_next
    out = None
    for f in reversed(frames):
        out = TracebackType(out, f.tb_frame, f.tb_lasti, f.tb_lineno)
    return out


class MissingOperatorError(LookupError):
    """A program needs an operator of the user's that this process does not know."""


_raised: list[BaseException] = []  # by the user's Python that a program called, at most one


def note(error: BaseException) -> None:
    """Remember what the user's Python raised inside of a program, of which XLA keeps the text only."""
    _raised[:] = [error]


def original(error: BaseException) -> BaseException:
    """Return the exception raised by the user's Python code if an XLA error wraps one; else the error itself."""
    if _raised and type(error).__name__ == "JaxRuntimeError" and str(_raised[0]) in str(error):
        return _raised.pop()
    return error


# Key: the file's name.
@memo(4096, context=False)
def calls_back(filename: str) -> bool:
    """True for a file of JAX, of NumPy, and of Python's library: `Counter(int(t) for t in x)`."""
    library, *packages = [os.path.dirname(str(module.__file__)) + os.sep for module in (os, jax, np)]
    in_library = filename.startswith(library) and "-packages" not in filename
    return in_library or filename.startswith(("<frozen ", *packages))


_warned: dict[Any, Any] = {}  # of Python's: which lines have been warned of


def warn_no_gradient(tensor: Any) -> None:
    """Warn, once for a line of the program, that backward() does nothing there."""
    where = user_frame()
    warnings.warn_explicit(
        f"backward() of a {tensor.dtype.name}{[*tensor.shape]} tensor does nothing, since it requires no gradient: "
        "no floating-point tensor that it was made from has stop_gradient=False (or it was made under "
        "paddle.no_grad(), or detached)",
        UserWarning, where.filename, where.lineno, registry=_warned,
    )  # fmt: skip


def _user_level(frame: FrameType | None) -> tuple[int, Where]:
    """Return the number of frames above the innermost one of the user, and its line."""
    level = 0
    while frame is not None:
        name = frame.f_code.co_filename
        if not is_own(name) and not calls_back(name):
            return level, Where(name, frame.f_lineno)
        frame, level = frame.f_back, level + 1
    return level, UNKNOWN


def user_frame(frame: FrameType | None = None) -> Where:
    """Return the innermost line of a stack (default: the current) that is not the framework's or its callers'."""
    return _user_level(frame or sys._getframe(1))[1]


def warn_user(text: str) -> None:
    """Warn at the line of the user that led here."""
    warnings.warn(text, stacklevel=_user_level(sys._getframe())[0] + 1)
