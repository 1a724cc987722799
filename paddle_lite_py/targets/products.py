"""Floating-point operations of the products in a compiled program, in loops each time."""

from __future__ import annotations

import math
import re

from .hlo import ARRAY, Instruction, Module

# A product of XLA's own, and the same as a call of cuBLAS, which has its dimensions in JSON.
_CONTRACTED = re.compile(r'lhs_contracting_dim(?:ension)?s"?[=:][{\[]([\d,"]*)[}\]]')
_LABELS = re.compile(r"dim_labels=\w+_(\w+)->\w+")


def flops_of_products(module: Module, loops: bool = True) -> float:
    """Return the operations of all matrix products and convolutions in one run of a program, on each device.

    Arguments:
        module: the compiled program.
        loops: count what is in a loop each time that it runs, and not once.

    Examples:
        >>> text = '''HloModule m
        ...
        ... ENTRY %e (a: f32[2,3], b: f32[3,4]) -> f32[2,4] {
        ...   %a = f32[2,3] parameter(0)
        ...   %b = f32[3,4] parameter(1)
        ...   ROOT %c = f32[2,4] dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
        ... }'''
        >>> flops_of_products(Module(text))
        48.0
    """
    runs, total = module.runs(loops), 0.0
    for name in runs.keys() & module.computations.keys():
        instructions = module.computations[name]
        shapes = {i.name: i.shape for i in instructions}
        total += runs[name] * sum(_flops(i, [_sizes(shapes.get(o, "")) for o in i.operands]) for i in instructions)
    return total


def _flops(i: Instruction, operands: list[list[int]]) -> float:
    """Return twice the multiplications of an instruction; 0 if it is no product."""
    made = math.prod(_sizes(i.shape))
    if i.opcode == "dot" or "__cublas$" in i.rest:
        contracted = _CONTRACTED.search(i.rest)
        axes = [int(n) for n in re.findall(r"\d+", contracted[1])] if contracted else []
        return 2.0 * made * math.prod(operands[0][axis] for axis in axes)
    labels = _LABELS.search(i.rest) if i.opcode == "convolution" or "__cudnn$convForward" in i.rest else None
    if labels is None:
        return 0.0
    kernel = operands[1]
    return 2.0 * made * math.prod(kernel) / max(kernel[labels[1].index("o")], 1)


def _sizes(shape: str) -> list[int]:
    """Return the sizes of the first array of a shape."""
    found = ARRAY.search(shape)
    return [int(n) for n in found[2].split(",") if n] if found else []
