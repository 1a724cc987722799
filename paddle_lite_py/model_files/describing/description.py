"""A static program as variables and operators of the reference's second generation, which programs edit in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.symbolic import is_symbolic
from ...ir.block import Operator, Value
from ...registry.bound import BoundOp
from ..program_desc import VariableDescription

EMPTY = "@EMPTY@"  # a gradient that nobody wants
RECORDED = "recorded"  # the attribute of operators without a form there: what this package recorded


@dataclass
class ProgramDescription:
    """What a program is, by names.

    Attributes:
        values: the names of the program's values.
        finals: state that a run leaves changed, with the value that it then has.
        version: that of the builder whose operators are described.
        seen: these operators.
        reserved: names that values of the program have, whether or not they are described yet.
        edited: it differs from what the program has recorded.
        handles: tensors by name, of what has been rebuilt from it.
    """

    variables: dict[str, VariableDescription] = field(default_factory=dict)
    operators: list[Any] = field(default_factory=list)
    feeds: list[str] = field(default_factory=list)
    values: dict[Value, str] = field(default_factory=dict)
    finals: dict[str, str] = field(default_factory=dict)
    version: int = -1
    seen: list[Operator] = field(default_factory=list)
    reserved: set[str] = field(default_factory=set)
    edited: bool = False
    handles: dict[str, Any] = field(default_factory=dict)

    def unused(self, stem: str) -> str:
        """Return the name of a new variable: `stem.tmp_0`, or the next number that no other has."""
        taken = self.variables.keys() | self.reserved
        number = 0
        while f"{stem}.tmp_{number}" in taken:
            number += 1
        return f"{stem}.tmp_{number}"

    def declare(self, name: str, shape: Sequence[Any], dtype: str, **given: Any) -> VariableDescription:
        """Add a variable; sizes that are not known are -1."""
        sizes = tuple([-1 if is_symbolic(n) else int(n) for n in shape])
        made = self.variables[name] = VariableDescription(name, sizes, dtype, **given)
        return made


@dataclass(frozen=True)
class Recorded:
    """An operator as this package recorded it.

    Attributes:
        template: its inputs; numbers stand as they are, and None for each name in the slot X, in order.
        is_random: it draws from the program's stream of random numbers.
    """

    bound: BoundOp
    template: tuple[Any, ...]
    is_random: bool = False


@dataclass(frozen=True, eq=False)
class RecordedConstant:
    """A tensor from outside of the program, which operators read; there it is made by an operator."""

    tensor: Any


@dataclass(eq=False)
class RecordedUpdate:
    """The update of all parameters of an optimizer, which is one operator here and one for each parameter there.

    Attributes:
        slots: the slots of the arrays that it changes, in order: an array for each parameter, or one for all.
        size: the number of parameters.
    """

    bound: Any
    slots: list[tuple[str, bool]]
    size: int
    skips: str | None = None
