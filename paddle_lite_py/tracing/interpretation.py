"""Running a program's operators one by one: eagerly with gradients, or as a part of another program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import symbolic
from ..core.errors import DataDependentError
from ..core.interpreter import state
from ..eager.tensor import Tensor, wrap
from ..ir import control
from ..ir.block import Block, Operator, Value
from ..ir.parts import found_within, is_apart, symbols_of
from ..ir.program import Measured

Env = dict[Any, Any]


def interpret(
    block: Block, measured: dict[str, Measured], given: Sequence[Tensor], around: symbolic.Dims | None = None
) -> list[Tensor]:
    """Run a block on tensors, each operator by the current interpreter.

    Arguments:
        measured: sizes that the program finds itself. around: those that are known of blocks around it.
    """
    given = [t if isinstance(t, Tensor) else Tensor(t) for t in given]  # the number of an iteration
    env: Env = dict(zip(block.inputs, given, strict=True))
    dims = {**(around or {}), **symbolic.solve([v.shape for v in block.inputs], [t._payload.shape for t in given])}
    for op in block.ops:
        for name in symbols_of(op) - found_within(op, measured):
            if name in measured and name not in dims and measured[name].value not in op.outputs:
                dims[name] = 1 + _size(measured[name], env[measured[name].value])
        args = [env[v] if isinstance(v, Value) else v for v in op.inputs]
        for value, found in zip(op.outputs, _run(op, args, measured, dims), strict=True):
            made = found if isinstance(found, Tensor) else Tensor(found)
            env[value] = made if value.requires_grad else made.detach()
    return [env[v] if isinstance(v, Value) else v for v in block.outputs]


def _size(measured: Measured, tensor: Tensor) -> Any:
    if measured.axis is not None:
        return tensor._payload.shape[measured.axis]
    found = tensor if measured.element is None else tensor.reshape([-1])[measured.element]
    return found.reshape([])._static_value("a size that the program finds")


def _run(op: Operator, args: list[Any], measured: dict[str, Measured], dims: symbolic.Dims) -> Sequence[Any]:
    if op.bound.op.on_host:
        return _on_host(op, args)
    if is_apart(op, measured):
        return _apart(op, args, measured, dims)
    out = state.interpreter.run(control.with_sizes(op, dims).bound, tuple(args))
    return out if isinstance(out, tuple) else (out,)


def _on_host(op: Operator, args: list[Any]) -> Sequence[Any]:
    if state.interpreter.is_eager:
        return [wrap(a) for a in op.bound.fn(*[t._payload for t in args])]
    run = state.interpreter.run_on_host
    if run is None:
        raise _refusal(op)
    return list(run(op.bound, args, [(tuple(map(_named, v.shape)), v.dtype) for v in op.outputs]))


def _named(size: Any) -> Any:
    return size if isinstance(size, int) else str(size)


def _apart(op: Operator, args: list[Any], measured: dict[str, Measured], dims: symbolic.Dims) -> Sequence[Any]:
    """Return a branch or loop whose blocks find sizes of their own: Python chooses and repeats them."""
    if not state.interpreter.is_eager:
        raise _refusal(op)

    def block(i: int, given: Sequence[Any]) -> list[Tensor]:
        return interpret(op.blocks[i], measured, given, dims)

    return control.run_chosen(op, args, block)


def _refusal(op: Operator) -> Exception:
    return DataDependentError(
        f"{op.name} at {op.where} of a loaded program runs between compiled parts, so that no static function can hold "
        "it: call the loaded program outside of it"
    )
