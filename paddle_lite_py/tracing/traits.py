"""The traits of a program that decide how it is compiled and run."""

from __future__ import annotations

import math

from ..core import donation, small
from ..eager.tensor import Tensor
from ..ir.block import Value
from ..ir.program import Program
from ..ir.simplify import only_needed


def is_worth_donating(program: Program, handles: list[Tensor]) -> bool:
    """Whether a program gains by taking the memory of what it changes."""
    return donation.worth_donating(program.has_loops(), (h._payload for h in handles))


def suits_plain(program: Program, updated: int, records: bool) -> bool:
    """Whether XLA's plain emitters serve a program as well: see config.compiler_options.

    Arguments:
        updated: how many elements of parameters are updated in it.
        records: its loops record what their gradients need, which those emitters are slow at.
    """
    return (_has_small_loops(program) and not records) or donation.suits_plain(
        any(o.bound.plain for o in program.ops()), updated
    )


def _has_small_loops(program: Program) -> bool:
    """True for a program with loops whose arrays are all known to be small: more kernels than work."""
    if not program.has_loops():
        return False
    values = (v for o in program.ops() for v in (*o.inputs, *o.outputs) if isinstance(v, Value))
    shapes = (v.shape for v in (*program.block.inputs, *values))
    return all(all(isinstance(n, int) for n in shape) and math.prod(shape) <= small.MOST for shape in shapes)


def acts_for_results(program: Program) -> bool:
    """Whether it computes with what a call of Python's library gives that acts on the world."""
    return any(o.name == "py_func" and o.bound.attrs[0].is_left_out for o in only_needed(program).ops())
