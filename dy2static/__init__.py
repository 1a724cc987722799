"""Converts Python functions so that a framework can stage their control flow; knows only Python."""

from __future__ import annotations

from .convert import convert, do_not_convert, to_code
from .errors import ConversionError, UndefinedError
from .runtime import Runtime
from .state import State
from .undefined import Undefined
from .where import Where

__all__ = [
    "ConversionError",
    "Runtime",
    "State",
    "Undefined",
    "UndefinedError",
    "Where",
    "convert",
    "do_not_convert",
    "to_code",
]
