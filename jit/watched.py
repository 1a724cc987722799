"""Functions of others, which are called as they are while a function is traced: what they do to the world is refused.

Which functions call what in the end is not written anywhere. So while one runs, Python reports each call of a function
in C, before it is made; one that acts on the world ends the trace there.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import Any

from paddle_lite_py.core.errors import is_own, user_frame

from . import acting, at_run
from .errors import StagingError, acts_now

# Where Python itself looks for code, and for its text.
_OF_PYTHON = tuple([os.sep + name for name in ("linecache.py", "tokenize.py", "inspect.py", "traceback.py", "re.py")])
_OF_OTHERS = tuple([f"{os.sep}{name}{os.sep}" for name in ("jax", "jaxlib", "numpy", "importlib")])


def form_of(f: Any) -> Callable[..., Any]:
    """The form of a function of others."""

    def watched(*args: Any, **kwargs: Any) -> Any:
        if not at_run.is_followed():
            return f(*args, **kwargs)
        if args and args[0] is os.environ:
            return at_run.call(f, acting.environment(f.__name__), args, kwargs, f"os.environ.{f.__name__}")
        if args and isinstance(args[0], io.IOBase):
            return at_run.call(f, acting.of_stream(f.__name__), args, kwargs)
        return f(*args, **kwargs) if sys.getprofile() is not None else _called(f, args, kwargs)

    return watched


def _called(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function gives that does nothing to the world.

    Raises:
        StagingError: it does.
    """
    streams = list(acting.streams_in([*args, *kwargs.values()]))
    where, found = user_frame(), list[StagingError]()

    def look(frame: Any, event: str, called: Any) -> None:
        if event == "c_call" and acting.acts_in_library(called, streams) and not _of_framework(frame):
            name = f"{acting.name_of(f)}`, which calls `{acting.name_of(called)}"
            found.append(acts_now(name, "what comes of it", where))
            raise found[-1]

    sys.setprofile(look)
    try:
        return f(*args, **kwargs)
    finally:
        sys.setprofile(None)
        if found:
            raise found[0] from None  # whatever the function has made of it


def _of_framework(frame: Any) -> bool:
    """Whether a call comes from the framework, or from Python's search for code."""
    while frame is not None and frame.f_code is not _called.__code__:
        name = frame.f_code.co_filename
        if is_own(name) or name.startswith("<frozen") or name.endswith(_OF_PYTHON):
            return True
        if any(other in name for other in _OF_OTHERS):
            return True
        frame = frame.f_back
    return False
