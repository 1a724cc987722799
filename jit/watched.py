"""Functions of others, which are called as they are while a function is traced: what they do to the world is refused.

Which functions call what in the end is not written anywhere. So while one runs, Python reports each call of a function
in C, before it is made; one that acts on the world ends the trace there.
"""

from __future__ import annotations

import io
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from paddle_lite_py.core.errors import is_own, user_frame

from . import acting, at_run
from .errors import StagingError, acts_now

# Where Python itself looks for code, and for its text.
_FILES = "linecache tokenize inspect traceback gettext"
_OF_PYTHON = tuple([f"{os.sep}{name}.py" for name in _FILES.split()])
_OF_OTHERS = tuple([f"{os.sep}{name}{os.sep}" for name in ("jax", "jaxlib", "numpy", "importlib")])


def form_of(f: Any) -> Callable[..., Any]:
    """Return the form of a function of others."""
    if not hasattr(f, "__code__"):
        return f

    def watched(*args: Any, **kwargs: Any) -> Any:
        if not at_run.is_followed():
            return f(*args, **kwargs)
        method: Any = getattr(type(args[0]), f.__name__, None) if args else None
        if method is f:
            if args[0] is os.environ:
                return at_run.call(f, acting.environment(f.__name__), args, kwargs, f"os.environ.{f.__name__}")
            if isinstance(args[0], io.IOBase):
                return at_run.call(f, acting.of_stream(f.__name__), args, kwargs)
        others = sys.getprofile() is not None and not hasattr(sys.getprofile(), "streams")
        return f(*args, **kwargs) if others else _called(f, args, kwargs)

    return watched


def _called(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function without effects on the world.

    Raises:
        StagingError: it does.
    """
    streams = list(acting.streams_in([*args, *kwargs.values(), *_outside(f)]))
    where, found = user_frame(), list[StagingError]()

    def look(frame: Any, event: str, called: Any) -> None:
        if event == "c_call" and acting.acts_in_library(called, streams) and not _of_framework(frame):
            name = f"{acting.name_of(f)}`, which calls `{acting.name_of(called)}"
            found.append(acts_now(name, "what comes of it", where))
            raise found[-1]

    look.streams = streams  # type: ignore[attr-defined]  # a mark
    outer = sys.getprofile()
    sys.setprofile(look)
    try:
        return f(*args, **kwargs)
    finally:
        sys.setprofile(outer)
        if found:
            raise found[0] from None  # whatever the function has made of it


def _outside(f: Any) -> list[Any]:
    """Return what a function reads from outside."""
    cells = [c.cell_contents for c in f.__closure__ or () if c != types.CellType()]
    return cells + [f.__globals__[name] for name in f.__code__.co_names if name in f.__globals__]


def _of_framework(frame: Any) -> bool:
    """Whether a call comes from the framework, or from Python's search for code."""
    while frame is not None and frame.f_code is not _called.__code__:
        name = frame.f_code.co_filename
        if is_own(name) or name.startswith("<frozen importlib") or name.endswith(_OF_PYTHON):
            return True
        if any(other in name for other in _OF_OTHERS):
            return True
        frame = frame.f_back
    return False
