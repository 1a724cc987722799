"""`convert`, `do_not_convert` and `to_code`."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, TypeVar

from .compiler import convert_tree
from .errors import ConversionError
from .operators import Operators
from .printer import source_of
from .runtime import Runtime
from .source import find

F = TypeVar("F", bound=Callable[..., Any])
_PYTHON = Runtime()


def convert(f: Any, runtime: Runtime | None = None) -> Any:
    """Return the function with its control flow open to staging; for Python values it does what `f` does.

    Arguments:
        f: a function, lambda, method, partial, callable object, static or class method.
        runtime: the meaning of staged values; plain Python by default.

    Returns:
        A function with the same signature, name, defaults, closure cells and globals.

    Raises:
        ConversionError: the source is not there, or `f` is not made of Python code.
        TypeError: `f` cannot be called.

    Example:
        >>> import dy2static
        >>> import textwrap
        >>> dedent = dy2static.convert(textwrap.dedent)
        >>> dedent("  a")
        'a'
    """
    operators = Operators.of(runtime or _PYTHON)
    if isinstance(f, (staticmethod, classmethod)):
        return type(f)(convert(f.__func__, runtime))
    if isinstance(f, functools.partial):
        return functools.partial(convert(f.func, runtime), *f.args, **f.keywords)
    if isinstance(f, types.MethodType):
        return types.MethodType(convert(f.__func__, runtime), f.__self__)
    if not callable(f):
        raise TypeError(
            f"expected a function to convert, got {f!r} of type {type(f).__name__}: pass the function itself"
        )
    if not isinstance(f, types.FunctionType):
        return convert(_call_method(f), runtime)
    operators.callees.known.clear()
    return operators.callees.converted(f)


def do_not_convert(f: F) -> F:
    """Marks a function to be called as it is by converted code.

    Arguments:
        f: the function.

    Raises:
        TypeError: it is none.

    Example:
        >>> @do_not_convert
        ... def f(x):
        ...     return x
        >>> import dy2static
        >>> dy2static.convert(f) is f
        True
    """
    if not callable(f):
        raise TypeError(f"do_not_convert: {f!r} is a {type(f).__name__}; expected a function")
    with contextlib.suppress(AttributeError):  # a builtin, which is called as it is
        f.__dy2static_do_not_convert__ = True  # type: ignore[attr-defined]
    return f


def to_code(f: Any, runtime: Runtime | None = None) -> str:
    """Return the converted function as source text, for people; without the shortcuts that plain values take.

    Arguments:
        f: what `convert` takes.
        runtime: as for `convert`.

    Raises:
        ConversionError: the source is not there.

    Example:
        >>> import dy2static
        >>> import textwrap
        >>> print(dy2static.to_code(textwrap.indent).splitlines()[0])
        def indent(text, prefix, predicate=None):
    """
    function = _plain(f)
    operators = Operators.of(runtime or _PYTHON)
    tree = convert_tree(function, operators.callees.options._replace(fast=False)).tree
    if function.__name__ != "<lambda>":
        tree.name, tree.args = function.__name__, find(function).tree.args
    return source_of(tree)


def _plain(f: Any) -> types.FunctionType:
    """Return the Python function behind a callable."""
    while not isinstance(f, types.FunctionType):
        if isinstance(f, functools.partial):
            f = f.func
        elif isinstance(f, (types.MethodType, staticmethod, classmethod)):
            f = f.__func__
        else:
            f = _call_method(f)
    return f


def _call_method(f: Any) -> Any:
    if inspect.isclass(f) or not isinstance(getattr(type(f), "__call__", None), types.FunctionType):  # noqa: B004
        kind = "class" if inspect.isclass(f) else type(f).__name__
        raise ConversionError(
            f"`{getattr(f, '__qualname__', f)}` is a {kind} without Python code to convert: call it as it is"
        )
    return f.__call__
