"""Functions made from a conversion: one code for all functions of the user's code."""

from __future__ import annotations

import threading
import types
from collections.abc import Mapping
from typing import Any

from .compiler import Conversion, compile_tree
from .registry import register
from .trees import room_for_trees

PREFIX = "__dy2static_"  # of what conversions keep on the user's functions


class ConvertedCode:
    """A conversion as code. What only staged values reach is compiled when the first of them does.

    Arguments:
        code: the user's; it is not kept, for it must be free to go.
        conversion: of the function with this code.
    """

    def __init__(self, code: types.CodeType, conversion: Conversion) -> None:
        self.conversion = conversion
        self.code = compile_tree(code, conversion)
        self._later: dict[int, types.CodeType] = {}
        self._lock = threading.Lock()
        register(self.code)

    def function(
        self, f: types.FunctionType, cells: dict[str, types.CellType], helpers: Mapping[str, types.CellType]
    ) -> types.FunctionType:
        """Return the function `f` with converted code.

        Arguments:
            f: the user's function.
            cells: its closure.
            helpers: what converted code needs, by the keys of `Namer.helpers`.
        """
        names = self.conversion.namer.helpers
        cells |= {name: helpers[key] for key, name in names.items() if key != "later"}
        closure = cells | {names["later"]: types.CellType(Later(self, f, cells))}
        return copied(f, self.code, tuple([closure[name] for name in self.code.co_freevars]))

    def later(self, code: types.CodeType, number: int) -> types.CodeType:
        """Return the code of a function that was left for later; `code` is the user's."""
        with self._lock:
            made = self._later.get(number)
            if made is None:
                with room_for_trees():
                    made = self._later[number] = compile_tree(code, self.conversion, number)
                register(made)
        return made


class Closure(dict[str, Any]):
    """The variables of a function's closure by name: a dictionary for those who follow stores into dictionaries."""

    def __init__(self, cells: dict[str, types.CellType]) -> None:
        self._cells = cells

    def cell(self, name: str) -> types.CellType:
        """Return the cell of a variable."""
        return self._cells[name]

    def __getitem__(self, name: str) -> Any:
        try:
            return self._cells[name].cell_contents
        except ValueError:
            raise KeyError(name) from None

    def __setitem__(self, name: str, value: Any) -> None:
        self._cells[name].cell_contents = value

    def __delitem__(self, name: str) -> None:
        del self._cells[name].cell_contents


class Later:
    """Gives one converted function the functions that were left for later, and the variables of its closure."""

    def __init__(self, compiled: ConvertedCode, f: types.FunctionType, cells: dict[str, types.CellType]) -> None:
        self.compiled, self.code, self.globals, self.cells = compiled, f.__code__, f.__globals__, cells
        self.closure = Closure(cells)

    def __call__(self, number: int) -> types.FunctionType:
        made = self.compiled.later(self.code, number)
        closure = tuple([self.cells[name] for name in made.co_freevars])
        return types.FunctionType(made, self.globals, self.code.co_name, None, closure)


def copied(f: types.FunctionType, code: types.CodeType, closure: tuple[types.CellType, ...]) -> types.FunctionType:
    """Return the function with other code and closure."""
    new = types.FunctionType(code, f.__globals__, f.__name__, f.__defaults__, closure)
    new.__kwdefaults__ = f.__kwdefaults__
    new.__qualname__, new.__doc__, new.__module__ = f.__qualname__, f.__doc__, f.__module__
    new.__annotations__ = f.__annotations__
    if hasattr(f, "__type_params__"):
        new.__type_params__ = f.__type_params__  # type: ignore[attr-defined]
    new.__dict__.update({key: value for key, value in f.__dict__.items() if not key.startswith(PREFIX)})
    return new
