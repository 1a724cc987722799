"""Source locations: a place in the user's program."""

from __future__ import annotations

import linecache
import os
import sys


class Location:
    """A line of the user's source; `str(where)` is short, such as `model.py:12`.

    Arguments:
        filename: the file as the code object names it.
        lineno: the line, counted from one.
        function: the name of the user's function.

    Example:
        >>> from dy2static.location import Location
        >>> str(Location("/home/me/model.py", 12, "forward"))
        'model.py:12'
    """

    __slots__ = ("filename", "lineno", "function")

    def __init__(self, filename: str, lineno: int, function: str) -> None:
        self.filename = filename
        self.lineno = lineno
        self.function = function

    @classmethod
    def of_caller(cls, depth: int = 1) -> Location:
        """Return the place where the function that asks was called from, `depth` frames up."""
        frame = sys._getframe(depth + 1)
        return cls(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)

    @property
    def source(self) -> str:
        """The text of the line, without indentation; empty where the source is not there."""
        return linecache.getline(self.filename, self.lineno).strip()

    def __str__(self) -> str:
        return f"{os.path.basename(self.filename)}:{self.lineno}"

    def __repr__(self) -> str:
        return f"Location({self.filename!r}, {self.lineno}, {self.function!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Location) and (self.filename, self.lineno) == (other.filename, other.lineno)

    def __hash__(self) -> int:
        return hash((self.filename, self.lineno))
