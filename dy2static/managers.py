"""Context managers: what they may catch, and their methods converted."""

from __future__ import annotations

import contextlib
import dis
import functools
import sys
import types
from typing import Any


class Manager:
    """A context manager in converted code.

    Arguments:
        operators: of the conversion.
        manager: the user's.
        enter, leave: its methods, converted.
        kinds: what it may catch; None if it is nobody's.
    """

    def __init__(self, operators: Any, manager: Any, enter: Any, leave: Any, kinds: Any) -> None:
        self.manager, self.enter, self.leave = manager, enter, leave
        self.signals = operators.signals
        none = contextlib.nullcontext()
        self.catching = none if kinds is None else operators.catching(lambda: kinds, manager=True)

    def __enter__(self) -> Any:
        made = self.enter(self.manager)
        self.catching.__enter__()
        return made

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        self.catching.__exit__(None, None, None)
        swallowed = self.leave(self.manager, kind, error, traceback)
        return swallowed and not isinstance(error, self.signals)


def caught(manager: Any) -> tuple[Any, ...]:
    """Return the exceptions that a context manager may catch.

    Example:
        >>> caught(contextlib.suppress(KeyError)), caught(contextlib.nullcontext())
        ((<class 'KeyError'>,), ())
    """
    if isinstance(manager, contextlib.suppress):
        return suppressed(manager)
    if isinstance(manager, contextlib.ExitStack):
        return (BaseException,)
    generator = getattr(manager, "gen", None)
    if isinstance(generator, types.GeneratorType):
        return (BaseException,) if _handles(generator.gi_code) else ()
    leave = getattr(type(manager), "__exit__", None)
    return (BaseException,) if isinstance(leave, types.FunctionType) and _answers(leave.__code__) else ()


def maker_of(manager: Any) -> Any:
    """Return the class of a context manager, or the generator function that it is made of.

    Example:
        >>> maker_of(contextlib.nullcontext()).__name__
        'nullcontext'
    """
    return getattr(manager, "func", type(manager))


def is_python(manager: Any) -> bool:
    """Whether code in Python, not that of the standard library, sees how the block ends.

    Example:
        >>> class Timer:
        ...     def __exit__(self, *error): ...
        >>> is_python(Timer()), is_python(contextlib.nullcontext())
        (True, False)
    """
    made = isinstance(getattr(manager, "gen", None), types.GeneratorType)
    root = (getattr(maker_of(manager), "__module__", None) or "").partition(".")[0]
    has_code = made or isinstance(getattr(type(manager), "__exit__", None), types.FunctionType)
    return has_code and root not in sys.stdlib_module_names


# Key: the code, which does not change.
@functools.lru_cache(maxsize=256)
def _handles(code: types.CodeType) -> bool:
    """Whether code looks at the type of an exception, as an `except` does."""
    return any(i.opname == "CHECK_EXC_MATCH" for i in dis.get_instructions(code))


# Key: the code, which does not change.
@functools.lru_cache(maxsize=256)
def _answers(code: types.CodeType) -> bool:
    """Whether a function may give something that is true."""
    steps = list(dis.get_instructions(code))
    for before, step in zip([None, *steps], steps, strict=False):
        given: Any = step if step.opname == "RETURN_CONST" else before
        if step.opname.startswith("RETURN_") and not (given.opname.endswith("_CONST") and not given.argval):
            return step.opname != "RETURN_GENERATOR"
    return False


def suppressed(manager: contextlib.suppress) -> tuple[Any, ...]:
    """Return the arguments of `contextlib.suppress`."""
    return next((held for held in vars(manager).values() if isinstance(held, tuple)), ())
