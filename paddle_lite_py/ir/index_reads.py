"""Where a program reads by indices that are among its inputs.

An eager op refuses an index that is out of range; a compiled one clamps it, drops it or gives NaN. What a program is
given can be looked at before it runs, by the checks of the ops themselves.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core import symbolic
from .block import Block, Operator, Value
from .control import COND, CUSTOM, FOR, WHILE, Operands
from .program import Program

# Ops whose results have all elements of their first argument, and no others.
_MOVES = frozenset(("reshape", "squeeze", "unsqueeze", "flatten", "transpose", "clone", "assign", "identity", "cast"))
# Ops whose checks ask for the shape of the index, too.
_SHAPED = frozenset(("gather_nd", "scatter_nd_add"))
# Operators whose blocks a run may not come to; that of CUSTOM is a backward.
_AT_TIMES = (COND, CUSTOM, WHILE, FOR)


class InputIndex(NamedTuple):
    """An input of the program, by its position, and whether ops have moved its elements since."""

    position: int
    is_moved: bool


class IndexRead(NamedTuple):
    """An op that reads by indices.

    Attributes:
        given: its arguments: an InputIndex for those that are inputs of the program, else specs and numbers.
        is_certain: every run of the program comes to it.
    """

    op: Operator
    check: Callable[..., None]
    given: tuple[Any, ...]
    is_certain: bool

    def look(self, tensors: Sequence[Any]) -> None:
        """Look at the tensors that a run is given.

        Raises:
            IndexError, ValueError: an index is out of range; the message names the op and the user's line.
        """
        try:
            self.check(*[tensors[g.position]._payload if g.__class__ is InputIndex else g for g in self.given])
        except (ArithmeticError, IndexError, ValueError) as e:
            raise type(e)(f"{self.op.name} at {self.op.where}: {e}") from None


def index_reads(program: Program, end: int | None = None, all_of_them: bool = False) -> list[IndexRead]:
    """Such reads of a program, those in its blocks included.

    Arguments:
        end: how many inputs are tensors that can be looked at; all if not given.
        all_of_them: those as well that a run may not come to.
    """
    inputs = {v: InputIndex(i, False) for i, v in enumerate(program.block.inputs[:end]) if _is_index(v)}
    found: list[IndexRead] = []
    if inputs:
        _walk(program.block, inputs, True, found)
    return [r for r in found if all_of_them or r.is_certain]


def index_limits(reads: Sequence[IndexRead], position: int, dtype: Any) -> tuple[int, int] | None:
    """Return the least and the largest index that an input may have, by the checks of its reads; None without any.

    Arguments:
        position: of the input. dtype: of its integers.
    """
    alone = [r for r in reads if [g.position for g in r.given if g.__class__ is InputIndex] == [position]]

    def passes(index: int) -> bool:
        given: Any = {position: SimpleNamespace(_payload=np.full(1, index, dtype))}
        try:
            for read in alone:
                read.look(given)
        except (ArithmeticError, IndexError, ValueError):
            return False
        return True

    if not alone or not passes(0):
        return None
    limits = np.iinfo(dtype)
    return _last(passes, int(limits.min)), _last(passes, int(limits.max))


def _last(passes: Callable[[int], bool], end: int) -> int:
    """Return the number farthest from 0 that passes, on the way to the end: those nearer to 0 pass too."""
    if passes(end):
        return end
    good, bad = 0, end
    while abs(bad - good) > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if passes(middle) else (good, middle)
    return good


def _walk(block: Block, known: Mapping[Value, InputIndex], is_certain: bool, found: list[IndexRead]) -> None:
    now = dict(known)
    for op in block.ops:
        if op.blocks:
            operands, certain = Operands(op), is_certain and op.bound.op not in _AT_TIMES
            for inner in op.blocks:
                _walk(inner, {v: now[g] for v, g in operands.pairs(inner) if g in now}, certain, found)
        elif op.bound.op.input_check is not None:
            _note(op, now, is_certain, found)
        elif op.name in _MOVES and op.inputs[0] in now and _is_index(op.outputs[0]):
            now[op.outputs[0]] = now[op.inputs[0]]._replace(is_moved=True)


def _note(op: Operator, known: Mapping[Value, InputIndex], is_certain: bool, found: list[IndexRead]) -> None:
    if any(map(symbolic.has_symbolic, op.bound.attrs)):
        return  # its limit is known only at run time
    check = op.bound.evaluate_rule(op.bound.op.input_check)
    given = tuple([known.get(v, _spec(v)) if isinstance(v, Value) else v for v in op.inputs])
    indices = [g for g in given if isinstance(g, InputIndex)]
    if check is not None and indices and not (op.name in _SHAPED and any(g.is_moved for g in indices)):
        found.append(IndexRead(op, check, given, is_certain))


def _spec(value: Value) -> jax.ShapeDtypeStruct:
    """Shape and dtype; a size that only the run knows is taken for large enough."""
    shape = tuple([n if isinstance(n, int) else sys.maxsize for n in value.shape])
    return jax.ShapeDtypeStruct(shape, value.dtype)


def _is_index(value: Value) -> bool:
    return value.dtype.kind in "iu"
