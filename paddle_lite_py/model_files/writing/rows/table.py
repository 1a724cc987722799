"""The table of rows: how each operator of a program is written with operators of the reference."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from ..emitter import Emitter
from ..pir_text import FileValue

Row = Callable[..., Any]

# By name of an operator of ours: a function of an emitter and its inputs, with its attributes as keywords. An input
# that is a list is one; absent ones are None, and a number is one. It returns a value, or a tuple of them.
ROWS: dict[str, Row] = {}


def row(*names: str) -> Callable[[Row], Row]:
    """Enter a function in the table. An attribute that does not matter to it has a name with a `_` before it."""

    def enter(function: Row) -> Row:
        unread = {n[1:]: n for n in inspect.signature(function).parameters if n[0] == "_"}

        def write(*inputs: Any, **attrs: Any) -> Any:
            return function(*inputs, **{unread.get(n, n): value for n, value in attrs.items()})

        ROWS.update(dict.fromkeys(names, write))
        return function

    return enter


def same(names: Iterable[str] = (), **other: str) -> None:
    """Enter operators of tensors without attributes, by their name or another one; what gives floats takes floats."""
    for name, of in {**{n: n for n in names}, **other}.items():

        def write(w: Emitter, *inputs: FileValue, of: str = of) -> FileValue:
            return w.op(of, *[floating(w, x) for x in inputs], to=w.out[0])

        ROWS[name] = write


def floating(w: Emitter, x: FileValue) -> FileValue:
    """Return an input in the dtype of the result, where that is a float and it is none itself."""
    given, wanted = x.type.dtype, w.out[0].dtype
    is_whole = "int" in given or given == "bool"
    return w.cast(x, wanted) if is_whole and "float" in wanted else x
