"""Programs that no trace has made, in the form of those that one has."""

from __future__ import annotations

from typing import Any

from ..core import structure as nested
from ..ir.block import Block
from ..ir.program import Program
from .effects import Effect
from .frame import Write
from .trace import Traced


def effect_of(program: Program, output: int) -> Effect:
    """Return the change that an output of a program stands for."""
    return Effect(Write(program.captured[program.updates[output]], "_payload", None), nested.LEAF, 1)


def as_traced(program: Program) -> Traced:
    """Return a program with its ties: what is not captured is an argument, and what is no new state is a result."""
    block = program.block
    n_args = sum(v not in program.captured for v in block.inputs)
    order = sorted(range(len(block.inputs)), key=lambda i: block.inputs[i] in program.captured)
    outs = sorted(range(len(block.outputs)), key=lambda i: i in program.updates)
    made = Block([block.inputs[i] for i in order], block.ops, [block.outputs[i] for i in outs])
    updates = {k: program.updates[i] for k, i in enumerate(outs) if i in program.updates}
    names = [program.output_names[i] for i in outs]
    inputs = [program.input_names[i] for i in order]
    ordered = Program(made, inputs, names, program.captured, updates, program.measured)
    checks, room = program.asked
    n = len(outs) - len(updates) - (checks is not None) - (room is not None)
    structure: Any = nested.LEAF if n == 1 else nested.Nest(tuple, None, (nested.LEAF,) * n)
    effects = [effect_of(ordered, i) for i in updates]
    grads = tuple([getattr(v, "requires_grad", False) for v in made.outputs[:n]])
    handles = [program.captured[v] for v in made.inputs[n_args:]]
    return Traced(ordered, n_args, handles, [], structure, n, effects, grads, [], [], [], checks, room)
