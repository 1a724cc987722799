"""Operators that hold blocks: cond, while, for (scan), and the gradient of a block."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core import symbolic
from ..core.config import for_others
from ..core.dtypes import is_inexact
from ..core.lazy_vjp import defvjp, differentiated_twice
from ..core.nan_checks import locating
from ..registry.bound import BoundOp, conjugate_gradient_convention
from ..registry.op import Op
from .block import Block, Operator, Value
from .lower import read, run_block, run_ops
from .recorded_loop import record_loop

Arrays = tuple[Any, ...]


def _cond(pred: Any, operands: Any, true: Block, false: Block) -> Any:
    if not isinstance(pred, jax.core.Tracer):
        return tuple(run_block(true if pred else false, operands))
    return jax.lax.cond(
        jnp.reshape(pred, ()).astype(bool),
        lambda args: tuple(run_block(true, args)),
        lambda args: tuple(run_block(false, args)),
        operands,
    )


class Capacity:
    """How many iterations a loop with a gradient has room to record; raised when a run needs more."""

    def __init__(self, size: int = 64) -> None:
        self.size = size

    def __repr__(self) -> str:
        return str(self.size)


def _while(test: Block, body: Block, n_carry: int, capacity: Capacity | None) -> Callable[..., Arrays]:
    """Run `body` on the carries while `test`; both blocks read (carries, then what the loop only reads).

    With a capacity there is a gradient (`recorded_loop.py`). The number of iterations is then the last result, so that
    the caller can tell whether there was room.
    """

    def going(carry: Arrays, fixed: Arrays) -> Any:
        found = jnp.reshape(run_block(test, (*carry, *fixed))[0], ()).astype(bool)
        # XLA takes a loop such as `i = 0; while i < 1: i += 2` for one without iterations, where it knows the numbers.
        return found if for_others() else jax.lax.optimization_barrier(found)

    def step(carry: Arrays, fixed: Arrays) -> Arrays:
        return tuple(run_block(body, (*carry, *fixed)))

    def again(carry: Arrays, fixed: Arrays) -> Arrays:
        return tuple(run_block(silent, (*carry, *fixed)))

    silent = body if capacity is None else quiet(body)
    keeps = capacity is not None and not _acts(body)

    def run(*args: Any) -> Arrays:
        carry, fixed = args[:n_carry], args[n_carry:]
        if capacity is None:
            return jax.lax.while_loop(lambda c: going(c, fixed), lambda c: step(c, fixed), carry)
        out, count = record_loop(going, step, again, capacity.size, keeps)(carry, fixed)
        return (*out, count)

    return run


def _custom(backward: Block, n_out: int, n_in: int) -> Callable[..., Arrays]:
    """Return the results of a computation with the user's gradient.

    Arguments: the results, the inputs that they were computed from, then what the backward block reads besides the
    cotangents of the results.
    """

    @jax.custom_vjp
    def identity(outs: Arrays, inputs: Arrays, saved: Arrays) -> Arrays:
        return outs

    def back(saved: Any, cotangents: Any) -> Any:
        outs, inputs, kept = saved
        cts = [
            jnp.zeros_like(o) if not is_inexact(o.dtype) else conjugate_gradient_convention(c)
            for o, c in zip(outs, cotangents, strict=True)
        ]
        grads = run_block(backward, (*cts, *kept))
        given = [
            conjugate_gradient_convention(g.astype(x.dtype)) if is_inexact(x.dtype) else None
            for g, x in zip(grads, inputs, strict=True)
        ]
        return (None,) * len(outs), tuple(given), (None,) * len(kept)

    # The results pass through identity() here too, for a gradient of the block that contains this gradient.
    defvjp(identity, 3, lambda outs, inputs, kept: (identity(outs, inputs, kept), (outs, inputs, kept)), back)

    def run(*args: Any) -> Arrays:
        return identity(args[:n_out], args[n_out : n_out + n_in], args[n_out + n_in :])

    return run


def _for(body: Block, n_carry: int, length: int) -> Callable[..., Arrays]:
    """Run `body` for i in range(length); it reads (i, carries, fixed) and has a gradient."""

    def run(*args: Any) -> Arrays:
        carry, fixed = args[:n_carry], args[n_carry:]

        def step(c: Arrays, i: Any) -> tuple[Arrays, None]:
            return tuple(run_block(body, (i, *c, *fixed))), None

        return jax.lax.scan(step, carry, jnp.arange(length, dtype=jnp.int64))[0]

    return run


def _grad(
    block: Block, wrt: tuple[int, ...], inner: tuple[int, ...], n_roots: int, again: bool
) -> Callable[..., Arrays]:
    """Forward outputs of a block and the gradient of its roots, by jax.vjp.

    The block's outputs are the roots, the forward values that are read later, and last the inner values that
    gradients are needed; `wrt` are positions of inputs; `again` says that there may be second derivatives.
    Arguments: the block's inputs, then a cotangent a root. Results: roots and forward values, then the gradients of
    `wrt` and of the inner values.
    """
    n_in, n_out = len(block.inputs), len(block.outputs) - len(inner)
    watched = block.outputs[n_out:]

    def run(*args: Any) -> Arrays:
        inputs, cotangents = list(args[:n_in]), args[n_in:]

        def forward(diff: list[Any], zeros: list[Any]) -> tuple[Any, Any]:
            given = list(inputs)
            for i, d in zip(wrt, diff, strict=True):
                given[i] = d
            env = dict(zip(block.inputs, given, strict=True))
            run_ops(block.ops, env, dict(zip(watched, zeros, strict=True)))
            outs = [read(env, v) for v in block.outputs[:n_out]]
            return outs[:n_roots], outs[n_roots:]

        if locating.on:
            run_block(block, inputs)
        zeros = [jnp.zeros(symbolic.resolved(v.shape), v.dtype) for v in watched]
        with differentiated_twice() if again else nullcontext():
            roots, pull, rest = jax.vjp(forward, [inputs[i] for i in wrt], zeros, has_aux=True)
        diff, perturbed = pull(
            [
                conjugate_gradient_convention(jnp.broadcast_to(c, r.shape).astype(r.dtype))
                for c, r in zip(cotangents, roots, strict=True)
            ]
        )
        return (
            *roots,
            *rest,
            *map(conjugate_gradient_convention, diff),
            *map(conjugate_gradient_convention, perturbed),
        )

    return run


def _blank(*args: Any) -> Any:  # the function of a control operator is made for its blocks, below
    raise NotImplementedError


COND, GRAD, CUSTOM, RECOMPUTE = (Op(_blank, name) for name in ("cond", "grad", "custom", "recompute"))
WHILE, FOR = (Op(_blank, name, loops=True) for name in ("while", "for"))
COND.attr_names = ("true", "false")
WHILE.attr_names = ("test", "body", "n_carry", "capacity")
FOR.attr_names = ("body", "n_carry", "length")
GRAD.attr_names = ("block", "wrt", "inner", "n_roots", "again")
RECOMPUTE.attr_names = ("block",)
CUSTOM.attr_names = ("backward", "n_out", "n_in")


def cond(true: Block, false: Block) -> BoundOp:
    """Return a branch; arguments: predicate, then the operands that both blocks read."""
    return BoundOp(COND, lambda pred, *operands: _cond(pred, operands, true, false), (true, false))


def while_(test: Block, body: Block, n_carry: int, capacity: Capacity | None = None) -> BoundOp:
    """Return a loop on a condition; with a capacity, one that has a gradient."""
    return BoundOp(WHILE, _while(test, body, n_carry, capacity), (test, body, n_carry, capacity))


def custom(backward: Block, n_out: int, n_in: int) -> BoundOp:
    """Results with the user's own gradient."""
    return BoundOp(CUSTOM, _custom(backward, n_out, n_in), (backward, n_out, n_in))


def for_(body: Block, n_carry: int, length: int) -> BoundOp:
    """Return a loop of known length."""
    return BoundOp(FOR, _for(body, n_carry, length), (body, n_carry, length))


def grad(block: Block, wrt: tuple[int, ...], inner: tuple[int, ...], n_roots: int, again: bool = False) -> BoundOp:
    """Return a block with its gradient."""
    return BoundOp(GRAD, _grad(block, wrt, inner, n_roots, again), (block, wrt, inner, n_roots, again))


def recompute(block: Block) -> BoundOp:
    """Return a block whose inner values are not kept for its gradient, but computed again."""
    run = jax.checkpoint(lambda *args: tuple(run_block(block, args)))
    return BoundOp(RECOMPUTE, run, (block,))


REBUILD: dict[str, Callable[..., BoundOp]] = {
    "cond": cond,
    "while": while_,
    "for": for_,
    "grad": grad,
    "custom": custom,
    "recompute": recompute,
}


def with_blocks(op: Operator, change: Callable[[Block], Block]) -> Operator:
    """Return the operator with each of its blocks changed; itself where nothing changes."""
    attrs = [change(a) if isinstance(a, Block) else a for a in op.bound.attrs]
    if all(a is b for a, b in zip(attrs, op.bound.attrs, strict=True)):
        return op
    bound = REBUILD[op.name](**dict(zip(op.bound.op.attr_names, attrs, strict=True)))
    return Operator(bound, op.inputs, op.outputs, op.where)


def with_sizes(op: Operator, dims: symbolic.Dims) -> Operator:
    """Return the operator with the symbolic dimensions in its attributes, and in those of its blocks, replaced."""
    if op.blocks:
        return with_blocks(op, lambda block: block.with_ops([with_sizes(o, dims) for o in block.ops]))
    if not any(map(symbolic.has_symbolic, op.bound.attrs)):
        return op
    attrs = tuple([symbolic.substitute(a, dims) for a in op.bound.attrs])
    return Operator(op.bound.rebound(attrs), op.inputs, op.outputs, op.where)


class Operands:
    """How the blocks of an operator take what it is given, and where what they give stands among its results."""

    def __init__(self, op: Operator) -> None:
        self.op, kind = op, op.bound.op
        attrs = dict(zip(kind.attr_names, op.bound.attrs, strict=True))
        self.loop = kind in (WHILE, FOR)
        self.carried: int = attrs.get("n_carry", 0)  # inputs that a loop changes: the first ones
        # The first input of the operator that its blocks take, and the first input of the blocks that they take it by.
        self.outer: int = {COND: 1, CUSTOM: attrs.get("n_out", 0) + attrs.get("n_in", 0)}.get(kind, 0)
        self.inner: int = {FOR: 1, CUSTOM: attrs.get("n_out", 0)}.get(kind, 0)
        # The results end where the number of iterations, or gradients, begin.
        ends = {WHILE: self.carried, GRAD: len(op.outputs) - len(attrs.get("wrt", ())) - len(attrs.get("inner", ()))}
        self.results: int = ends.get(kind, len(op.outputs))

    def pairs(self, block: Block) -> list[tuple[Value, Any]]:
        """Inputs of a block with what they are given, without those that a loop changes."""
        both = zip(block.inputs[self.inner :], self.op.inputs[self.outer :], strict=False)
        return list(both)[self.carried :]

    def block(self, block: Block, changing: list[Value], fixed: list[Value], results: list[Value]) -> Block:
        """Return a block with more inputs, of which a loop changes some, and more results."""
        at = self.inner + self.carried
        inputs = [*block.inputs[:at], *changing, *block.inputs[at:], *fixed]
        return Block(inputs, block.ops, [*block.outputs[: self.results], *results, *block.outputs[self.results :]])

    def extended(
        self, blocks: list[Block], changing: list[Value], fixed: list[Value], results: list[Value]
    ) -> Operator:
        """Return the operator with such blocks, given values for their new inputs."""
        op, at = self.op, self.outer + self.carried
        end = self.outer + len(op.blocks[0].inputs) - self.inner
        inputs = (*op.inputs[:at], *changing, *op.inputs[at:end], *fixed, *op.inputs[end:])
        outputs = (*op.outputs[: self.results], *results, *op.outputs[self.results :])
        new = iter(blocks)
        attrs = dict(zip(op.bound.op.attr_names, op.bound.attrs, strict=True))
        attrs = {k: next(new) if isinstance(a, Block) else a for k, a in attrs.items()}
        if self.loop:
            attrs["n_carry"] += len(changing)
        return Operator(REBUILD[op.name](**attrs), inputs, outputs, op.where)


def trimmed(op: Operator) -> Operator:
    """Return the operator without what its blocks are given and none of them reads."""
    layout, blocks = Operands(op), op.blocks
    start, wrt = layout.inner + layout.carried, op.bound.attrs[1] if op.bound.op is GRAD else ()
    read = [{v for o in b.ops for v in o.inputs}.union(v for v in b.outputs if isinstance(v, Value)) for b in blocks]
    places = range(len(blocks[0].inputs))
    kept = [
        i for i in places if i < start or i in wrt or any(b.inputs[i] in r for b, r in zip(blocks, read, strict=True))
    ]
    if len(kept) == len(places):
        return op
    gone = {layout.outer + i - layout.inner for i in set(places) - set(kept)}
    inputs = tuple([v for i, v in enumerate(op.inputs) if i not in gone])
    attrs = dict(zip(op.bound.op.attr_names, op.bound.attrs, strict=True))
    for name, a in attrs.items():
        if isinstance(a, Block):
            attrs[name] = Block([a.inputs[i] for i in kept], a.ops, a.outputs)
    if wrt:
        attrs["wrt"] = tuple([kept.index(i) for i in wrt])
    return Operator(REBUILD[op.name](**attrs), inputs, op.outputs, op.where)


def quiet(block: Block) -> Block:
    """The block without operators that only act on the world: what is run again for a gradient was heard before."""
    return block.with_ops([with_blocks(op, quiet) for op in block.ops if op.outputs])


def _acts(block: Block) -> bool:
    """Whether some operator only acts on the world."""
    return any(not op.outputs or any(map(_acts, op.blocks)) for op in block.ops)


def run_chosen(op: Operator, args: list[Any], run: Callable[[int, list[Any]], list[Any]]) -> list[Any]:
    """Run a branch or loop where Python decides which block runs next; run(i, arguments) runs one of them."""
    attrs = dict(zip(op.bound.op.attr_names, op.bound.attrs, strict=True))
    if op.bound.op is COND:
        return run(0 if bool(args[0]) else 1, args[1:])
    if op.bound.op not in (WHILE, FOR):
        return run(0, args)
    carry, fixed, count = args[: attrs["n_carry"]], args[attrs["n_carry"] :], 0
    if op.bound.op is FOR:
        for i in range(attrs["length"]):
            carry = run(0, [np.int64(i), *carry, *fixed])
        return carry
    while bool(run(0, [*carry, *fixed])[0]):
        carry, count = run(1, [*carry, *fixed]), count + 1
    return carry if attrs["capacity"] is None else [*carry, np.int32(count)]
