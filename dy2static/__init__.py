"""Converts Python functions so that a framework can stage their control flow; knows only Python."""

from __future__ import annotations

from .convert import convert, do_not_convert, to_code
from .errors import ConversionError, UndefinedError
from .location import Location
from .runtime import Runtime
from .state import State
from .undefined import Undefined

__all__ = [
    "ConversionError",
    "Runtime",
    "State",
    "Undefined",
    "UndefinedError",
    "Location",
    "convert",
    "do_not_convert",
    "to_code",
]
