"""The table of operators, and the values that they are given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ...core.symbolic import is_symbolic
from ...eager.tensor import Tensor
from ...ops import public as _public
from ...ops.convert import to_tensor

P: Any = _public  # its names come from the modules that define them
Function = Callable[..., Any]

# By name: a function of the operands, with the attributes that it reads as keywords.
OPERATORS: dict[str, Function] = {}
_ATTRIBUTES: dict[str, frozenset[str] | None] = {}  # None: all that there are


@dataclass(frozen=True)
class KnownValue:
    """A value that is known while a program is built: a number, or a list of numbers; sizes may be symbols."""

    value: Any
    dtype: str = "int64"

    def tensor(self) -> Any:
        """It as a tensor."""
        if isinstance(self.value, list) and any(map(is_symbolic, self.value)):
            return P.stack([KnownValue(n, self.dtype).tensor() for n in self.value])
        if is_symbolic(self.value):
            return P.cast(P.full([], 0, "int64") + self.value, self.dtype)
        if isinstance(self.value, bool | int):  # which a condition of sizes may be compared with
            return P.full([], self.value, self.dtype)
        return to_tensor(self.value, dtype=self.dtype)


def operator(*names: str) -> Callable[[Function], Function]:
    """Enter a function in the table: operands before the `*`, attributes after it."""

    def enter(function: Function) -> Function:
        for name in names:
            OPERATORS[name] = function
            known = inspect.signature(function).parameters.values()
            every = any(p.kind is p.VAR_KEYWORD for p in known)
            _ATTRIBUTES[name] = None if every else frozenset(p.name for p in known if p.kind is p.KEYWORD_ONLY)
        return function

    return enter


def same(names: Iterable[str], functions: Any, **other: str) -> None:
    """Enter operators that take tensors and nothing else, by the function of that name, or of another one."""
    for name, of in {**{n: n for n in names}, **other}.items():
        function = getattr(functions, of)
        OPERATORS[name] = lambda *operands, function=function: function(*map(tensor, operands))
        _ATTRIBUTES[name] = frozenset()


def call(name: str, operands: list[Any], attrs: dict[str, Any]) -> Any:
    """Build an operator and return its results."""
    of = known_as(name)
    wanted = _ATTRIBUTES[of]
    return OPERATORS[of](*operands, **{k: v for k, v in attrs.items() if wanted is None or k in wanted})


def known_as(name: str) -> str:
    """Return the name under which an operator is in the table: one in place is what it is otherwise."""
    return name if name in OPERATORS else name.removesuffix("_")


def tensor(value: Any) -> Any:
    """Return an operand as a tensor; None stays None, and a list one of tensors."""
    if isinstance(value, list | tuple):
        return [tensor(v) for v in value]
    return value.tensor() if isinstance(value, KnownValue) else value


def known(value: Any, default: Any = None) -> Any:
    """Return the numbers of an operand if they are known, else the tensor that a run will know."""
    if value is None:
        return default
    if isinstance(value, KnownValue):
        return value.value
    if isinstance(value, list | tuple):
        return [known(v) for v in value]
    return value


def numbers(value: Any) -> Any:
    """Return the same as a list, or a tensor."""
    found = known(value)
    if isinstance(found, list | Tensor) or found is None:
        return found
    return [found]


def number(value: Any) -> Any:
    """Return the same as one number, or a tensor without dimensions."""
    found = known(value)
    if isinstance(found, list):
        return found[0]
    return found.reshape([]) if isinstance(found, Tensor) and found.ndim else found
