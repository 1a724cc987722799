"""Other keywords for plain functions, and for layers and their methods; those of ops are part of their own code."""

from __future__ import annotations

import functools
import inspect
import keyword
from collections.abc import Callable, Mapping
from typing import Any

from ..core.keywords import other_keywords
from .codegen import ABSENT, Env, deferred, given_twice, one_of, respelling

Function = Callable[..., Any]


def respelt(function: Function) -> Function:
    """Return a function that takes the other keywords of its name as well."""
    return with_keywords(function, other_keywords(function.__name__, inspect.signature(function).parameters))


def with_keywords(function: Function, spelling: Mapping[str, str]) -> Function:
    """Return a function that takes other keywords as well: {keyword: parameter}.

    Example:
        >>> with_keywords(lambda x, axis=0: (x, axis), {"dim": "axis"})(1, dim=2)
        (1, 2)
    """
    name = function.__name__ if function.__name__.isidentifier() else "function"
    made = deferred(name, functools.partial(_text, function, spelling))
    functools.update_wrapper(made, function)
    made.__dict__["__aliases__"] = spelling
    return made


def _text(function: Function, spelling: Mapping[str, str], env: Env) -> str:
    params = list(inspect.signature(function).parameters.values())
    env |= {"_function": function, "_absent": ABSENT, "_rename": _rename, "_one_of": one_of}
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in params):
        return _of_any(spelling)
    env |= {f"_d_{p.name}": ABSENT if p.default is p.empty else p.default for p in params}
    others, lines = respelling(spelling, [p.name for p in params])
    heads = {k: [f"{p.name}=_d_{p.name}" for p in params if (p.kind is p.KEYWORD_ONLY) is k] for k in (False, True)}
    lacks = " or ".join([f"{p.name} is _absent" for p in params if p.default is p.empty]) or "False"
    given = ", ".join([f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else p.name for p in params])
    named = ", ".join([f"{p.name!r}: {p.name}" for p in params])
    return (
        f"({', '.join([*heads[False], '*', *others, *heads[True]])}):\n{lines}"
        f"    if {lacks}:\n"  # Python's own error names the argument
        f"        return _function(**{{k: v for k, v in {{{named}}}.items() if v is not _absent}})\n"
        f"    return _function({given})\n"
    )


def _of_any(spelling: Mapping[str, str]) -> str:
    """For a function that takes any arguments."""
    others = [key for key in spelling if not keyword.iskeyword(key)]
    lines = [
        f"    if {key} is not _absent:\n        _rename(_more, {spelling[key]!r}, {key!r}, {key})\n" for key in others
    ]
    heads = ", ".join(["*_args", *[f"{key}=_absent" for key in others], "**_more"])
    return f"({heads}):\n{''.join(lines)}    return _function(*_args, **_more)\n"


def _rename(given: dict[str, Any], name: str, key: str, value: Any) -> None:
    if name in given:
        raise given_twice(name, key)
    given[name] = value
