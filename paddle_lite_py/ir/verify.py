"""Check that a program is well formed: run after every rewrite in tests and under the debug flag."""

from __future__ import annotations

import contextlib
from collections.abc import Set
from typing import Any

from ..core import symbolic
from ..core.quotients import are_same
from .block import Block, Operator, Value
from .parts import symbols_of, words
from .program import Program
from .sized import SAMPLES, infer_with


class ProgramError(ValueError):
    """A program breaks a rule of the intermediate representation."""


def verify(program: Program) -> Program:
    """The program itself, if every value is defined once, before its use, with the shape and dtype its operator gives.

    Raises:
        ProgramError: naming the operator and the rule.
    """
    if len(program.input_names) != len(program.block.inputs):
        raise ProgramError(f"{len(program.block.inputs)} inputs but {len(program.input_names)} names")
    if len(program.output_names) != len(program.block.outputs):
        raise ProgramError(f"{len(program.block.outputs)} outputs but {len(program.output_names)} names")
    _block(program.block, set(), program.measured.keys())
    return program


def _block(block: Block, everywhere: set[Value], measured: Set[str]) -> None:
    defined: set[Value] = set()
    for value in block.inputs:
        _define(value, defined, everywhere, "an input")
    for op in block.ops:
        for v in op.inputs:
            if isinstance(v, Value) and v not in defined:
                raise ProgramError(f"{op}: {v!r} is read before it is defined in this block")
        for inner in op.blocks:
            _block(inner, everywhere, measured)
        try:
            _types(op, measured)
        except ProgramError:
            raise
        except Exception as e:  # any error of a function for inputs and attributes that are not its own
            raise ProgramError(f"{op}: its function takes no such inputs and attributes: {e}") from e
        for v in op.outputs:
            _define(v, defined, everywhere, str(op))
    for v in block.outputs:
        if isinstance(v, Value) and v not in defined:
            raise ProgramError(f"output {v!r} is not defined in its block")


def _define(value: Value, defined: set[Value], everywhere: set[Value], by: str) -> None:
    if value in everywhere:
        raise ProgramError(f"{value!r} is defined twice, the second time by {by}")
    defined.add(value)
    everywhere.add(value)


def _types(op: Operator, measured: Set[str]) -> None:
    symbols = symbols_of(op).union(words([v.shape for v in op.inputs if isinstance(v, Value)]))
    if op.bound.op.on_host or not measured.isdisjoint(symbols):
        return  # a run tells
    out, dims = _inferred(op, symbols)
    outs = out if isinstance(out, tuple | list) else (out,)
    if len(outs) != len(op.outputs):
        raise ProgramError(f"{op}: {len(op.outputs)} outputs, but its function gives {len(outs)}")
    for value, spec in zip(op.outputs, outs, strict=True):
        shape = symbolic.substitute(tuple(value.shape), dims) if dims else value.shape
        if value.dtype != spec.dtype or not are_same(tuple(shape), tuple(spec.shape)):
            raise ProgramError(f"{op}: {value!r} is {value.dtype}{list(value.shape)}, its function gives {spec}")


def _inferred(op: Operator, symbols: set[str]) -> tuple[Any, dict[str, Any]]:
    """Infer the results of an operator for any sizes or, where that is impossible, for these."""
    specs: tuple[Any, ...] = tuple([v.spec if isinstance(v, Value) else v for v in op.inputs])
    try:
        return op.bound.infer(specs), {}
    except Exception:
        for size in SAMPLES if symbols else ():
            dims = dict.fromkeys(symbols, size)
            with contextlib.suppress(Exception):  # not with this one
                return infer_with(op.bound, op.inputs, dims), dims
        raise
