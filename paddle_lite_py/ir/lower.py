"""Lowering: a fold over operators that calls each op's JAX function."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer

from ..core import symbolic
from ..core.config import for_others
from ..core.nan_checks import look, watched
from ..registry.bound import BoundOp
from .block import Block, Operator, Value
from .program import Program

Env = dict[Value, Any]
# Ops that make conditions of sizes.
OF_SIZES = frozenset(
    "dimension full add subtract multiply floor_divide remainder maximum minimum cast identity reshape equal not_equal "
    "less_than less_equal greater_than greater_equal logical_not logical_and logical_or".split()
)
SCOPE = re.compile(r"([\w.]+)\.(\d+):")


def lower(program: Program) -> Callable[..., list[Any]]:
    """Return the program as one JAX function of its inputs."""
    block = program.block
    declared = [v.shape for v in block.inputs]

    def lowered(*args: Any) -> list[Any]:
        args = tuple([a if hasattr(a, "shape") else jnp.asarray(a) for a in args])  # numbers, of a program around it
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
    shared = _share_repeated(ops)
    for i, op in enumerate(ops):
        args = watched([read(env, v) for v in op.inputs], op.name, op.where)
        fn = shared.get(op.bound) if all(isinstance(a, Tracer) for a in args) else None
        with jax.named_scope(scope_name(op, i)), _at_once(op, args):
            out = (fn or concrete(op.bound).fn)(*args)
        outs = out if isinstance(out, tuple | list) else (out,)
        look(outs, op.name, op.where, bool(op.bound.op.effect))
        cut = any(isinstance(v, Value) and v.requires_grad for v in op.inputs)
        for value, array in zip(op.outputs, outs, strict=True):
            env[value] = jax.lax.stop_gradient(array) if cut and not value.requires_grad else array
            if perturb and value in perturb:
                env[value] = env[value] + perturb[value]


def _at_once(op: Operator, args: Sequence[Any]) -> AbstractContextManager[Any]:
    """What follows from sizes that are known is computed while XLA's program is made: a branch that is not taken may be
    impossible for them."""
    is_known = (
        op.name in OF_SIZES
        and not any(v.shape for v in op.outputs)
        and not any(isinstance(a, Tracer) or getattr(a, "shape", ()) for a in args)
        and not symbolic.has_symbolic(symbolic.resolved(op.bound.attrs))
    )
    return jax.ensure_compile_time_eval() if is_known else nullcontext()


def _share_repeated(ops: Sequence[Operator]) -> dict[BoundOp, Callable[..., Any]]:
    """For what stands in several places a function that JAX traces, and differentiates, once for all of one shape.

    A file shall hold a program in one piece, for those who read it.
    """
    count = Counter(op.bound for op in ops if not op.bound.op.effect)
    return {bound: jax.jit(concrete(bound).fn, inline=for_others()) for bound, n in count.items() if n > 1}


def scope_name(op: Operator, position: int) -> str:
    """Return XLA's name for the computations of an operator. A profiler reads its position in the block from it:
    a program from the cache of compiled ones may have been compiled when the source had other lines."""
    return f"{op.name}.{position}:{op.where}"


def operator_of(block: Block, path: str) -> tuple[Operator, bool] | None:
    """Return the innermost operator that XLA's name for a computation tells of, and whether it is of the gradient."""
    found, blocks = None, [block]
    for name, position in SCOPE.findall(path):
        inner = [b.ops[i] for b in blocks if (i := int(position)) < len(b.ops) and b.ops[i].name == name]
        if not inner:
            break
        found, blocks = inner[0], [b for op in inner for b in op.blocks]
    return None if found is None else (found, "transpose(" in path)


def read(env: Env, value: Any) -> Any:
    """Return the array of a Value; a Python scalar is itself."""
    return env[value] if isinstance(value, Value) else value


def concrete(bound: BoundOp) -> BoundOp:
    """Return the bound op with symbolic dimensions in its attributes replaced by their values."""
    if not any(map(symbolic.has_symbolic, bound.attrs)):
        return bound
    attrs = tuple(map(symbolic.resolved, bound.attrs))
    return bound.rebound(attrs)
