"""Exceptions as plain values: what branches and loops may leave in a variable."""

from __future__ import annotations

from typing import Any

from .undefined import Undefined


def made(exc: Any, cause: Any) -> BaseException:
    """Return the exception of `raise exc from cause`."""
    if isinstance(exc, type) and issubclass(exc, BaseException):
        exc = exc()
    if not isinstance(exc, BaseException):
        raise TypeError("exceptions must derive from BaseException")
    if cause is not Undefined:
        exc.__cause__ = cause() if isinstance(cause, type) else cause
    return exc


def packed(exc: BaseException) -> tuple[Any, ...]:
    """Return an exception taken apart; what comes first is a number, which a staged statement always holds.

    Example:
        >>> unpacked(packed(KeyError("k")))
        KeyError('k')
    """
    cause = None if exc.__cause__ is None else packed(exc.__cause__)
    return True, type(exc), exc.args, dict(vars(exc)), cause, "hidden" if exc.__suppress_context__ else "shown"


def unpacked(parts: tuple[Any, ...]) -> BaseException:
    """Return the exception again, without another call of its `__init__`."""
    _, kind, args, attributes, cause, context = parts
    exc: BaseException = kind.__new__(kind, *args)
    exc.args = args
    exc.__dict__.update(attributes)
    exc.__cause__ = None if cause is None else unpacked(cause)
    exc.__suppress_context__ = context == "hidden"
    return exc
