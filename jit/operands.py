"""Operands that are evaluated only if need be, as bodies of a staged statement."""

from __future__ import annotations

import dis
import re
import types
from typing import Any

import dy2static

from .cells import EXPRESSION

# The prefix of the functions that the conversion makes of operands with `:=`.
_OPERAND = re.compile(r"_dy\d*_operand(_\d+)?")


class Result:
    """The result of a lazily evaluated expression: its value, and the names that `:=` binds in its operands."""

    value: Any = None

    def put(self, value: Any) -> None:
        """Set the value."""
        self.value = value

    def state(self, where: Any, *operands: Any) -> dy2static.State:
        """Return the state of the statement that evaluates some of the operands."""
        bound: dict[str, types.CellType] = {}
        for operand in operands:
            bound |= _bound(operand)

        def put(values: tuple[Any, ...]) -> None:
            self.value, *others = values
            for cell, value in zip(bound.values(), others, strict=True):
                cell.cell_contents = value

        return dy2static.State((EXPRESSION, *bound), lambda: (self.value, *map(_content, bound.values())), put, where)


def _bound(operand: Any) -> dict[str, types.CellType]:
    """Return the variables of the function around that an operand binds, or one inside of it."""
    stored, found = _stored_names(operand.__code__), dict[str, types.CellType]()
    for name, cell in zip(operand.__code__.co_freevars, operand.__closure__ or (), strict=True):
        if name in stored:
            found[name] = cell
        elif _OPERAND.fullmatch(name):
            found |= _bound(cell.cell_contents)
    return found


def _stored_names(code: types.CodeType) -> set[str]:
    own = {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_DEREF"}
    return own.union(*[_stored_names(inner) for inner in code.co_consts if isinstance(inner, types.CodeType)])


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return dy2static.Undefined
