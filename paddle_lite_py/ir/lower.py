"""Lowering: a fold over operators that calls each op's JAX function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from ..core import symbolic
from ..registry.bound import BoundOp
from .block import Block, Operator, Value
from .program import Program

Env = dict[Value, Any]


def lower(program: Program) -> Callable[..., list[Any]]:
    """The program as one JAX function of its inputs."""
    block = program.block
    declared = [v.shape for v in block.inputs]

    def lowered(*args: Any) -> list[Any]:
        with symbolic.known(symbolic.solve(declared, [a.shape for a in args])):
            return run_block(block, args)

    return lowered


def run_block(block: Block, args: Sequence[Any]) -> list[Any]:
    """Outputs of a block for JAX arrays or tracers."""
    env = dict(zip(block.inputs, args, strict=True))
    run_ops(block.ops, env)
    return [read(env, v) for v in block.outputs]


def run_ops(ops: Sequence[Operator], env: Env, perturb: Env | None = None) -> None:
    """Run operators in order; `perturb` adds to values as they are made, so that gradients reach them."""
    for op in ops:
        # XLA drops what stands behind an "@".
        with jax.named_scope(f"{op.name}#{op.where}"):
            out = concrete(op.bound).fn(*[read(env, v) for v in op.inputs])
        outs = out if isinstance(out, tuple | list) else (out,)
        cut = any(isinstance(v, Value) and v.requires_grad for v in op.inputs)
        for value, array in zip(op.outputs, outs, strict=True):
            env[value] = jax.lax.stop_gradient(array) if cut and not value.requires_grad else array
            if perturb and value in perturb:
                env[value] = env[value] + perturb[value]


def read(env: Env, value: Any) -> Any:
    """The array of a Value; a Python scalar is itself."""
    return env[value] if isinstance(value, Value) else value


def concrete(bound: BoundOp) -> BoundOp:
    """The bound op with symbolic dimensions in its attributes replaced by their values."""
    if not any(map(symbolic.has_symbolic, bound.attrs)):
        return bound
    attrs = tuple(map(symbolic.resolved, bound.attrs))
    return bound.op.bind(attrs, bound.layout)
