"""Comparing a function with its conversions."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from dy2static import Runtime, convert
from toy import Logging, Staged, Toy, plain


class Short(Runtime):
    """Plain Python, by the operators alone."""

    shortcuts = False


def outcome(f: Callable[..., Any], *args: Any) -> Any:
    """What a call gives: the value, or the error."""
    try:
        return plain(f(*copy.deepcopy(args)))
    except Exception as error:  # noqa: BLE001 (the error is the outcome)
        kind = NameError if isinstance(error, NameError) else type(error)
        return kind, "" if kind is NameError else str(error)


def same(f: Callable[..., Any], *argument_sets: Any) -> Callable[..., Any]:
    """Checks `convert(f)(*args) == f(*args)`, with and without shortcuts."""
    converted, short = convert(f), convert(f, Short())
    for args in argument_sets:
        args = args if isinstance(args, tuple) else (args,)
        expected = outcome(f, *args)
        assert outcome(converted, *args) == expected, args
        assert outcome(short, *args) == expected, args
    return converted


def staged(f: Callable[..., Any], *argument_sets: Any, runtime: type[Toy] = Toy) -> list[str]:
    """Checks that `f` of staged numbers gives what it gives of plain ones; returns what was staged."""
    seen: list[str] = []
    for shortcuts in (True, False):
        toy = runtime(shortcuts)
        converted = convert(f, toy)
        for args in argument_sets:
            args = args if isinstance(args, tuple) else (args,)
            lifted = [Staged(arg) if isinstance(arg, (int, float)) else copy.deepcopy(arg) for arg in args]
            assert outcome(converted, *lifted) == outcome(f, *args), (args, shortcuts)
        seen += toy.seen
    return seen


__all__ = ["Logging", "Short", "Staged", "Toy", "outcome", "plain", "same", "staged"]
