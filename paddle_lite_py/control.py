"""Operators that hold blocks: cond, while, for (scan), and the gradient of a block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from . import symbolic
from .lower import read, run_block, run_ops
from .op import BoundOp, Op
from .program import Block

Arrays = tuple[Any, ...]


def _cond(pred: Any, operands: Any, true: Block, false: Block) -> Any:
    return jax.lax.cond(
        jnp.reshape(pred, ()).astype(bool),
        lambda args: tuple(run_block(true, args)),
        lambda args: tuple(run_block(false, args)),
        operands,
    )


def _while(test: Block, body: Block, n_carry: int) -> Callable[..., Arrays]:
    """Run `body` on the carries while `test`; both blocks read (carries, then what the loop only reads)."""

    def run(*args: Any) -> Arrays:
        carry, fixed = args[:n_carry], args[n_carry:]
        return jax.lax.while_loop(
            lambda c: jnp.reshape(run_block(test, (*c, *fixed))[0], ()).astype(bool),
            lambda c: tuple(run_block(body, (*c, *fixed))),
            carry,
        )

    return run


def _for(body: Block, n_carry: int, length: int) -> Callable[..., Arrays]:
    """Run `body` for i in range(length); it reads (i, carries, fixed) and has a gradient."""

    def run(*args: Any) -> Arrays:
        carry, fixed = args[:n_carry], args[n_carry:]

        def step(c: Arrays, i: Any) -> tuple[Arrays, None]:
            return tuple(run_block(body, (i, *c, *fixed))), None

        return jax.lax.scan(step, carry, jnp.arange(length, dtype=jnp.int64))[0]

    return run


def _grad(block: Block, wrt: tuple[int, ...], inner: tuple[int, ...], n_roots: int) -> Callable[..., Arrays]:
    """Forward outputs of a block and the gradient of its roots, by jax.vjp.

    The block's outputs are the roots, the forward values that are read later, and last the inner values that
    gradients are asked for; `wrt` are positions of inputs. Arguments: the block's inputs, then a cotangent a root.
    Results: roots and forward values, then the gradients of `wrt` and of the inner values.
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

        zeros = [jnp.zeros(symbolic.substitute(v.shape, symbolic.current()), v.dtype) for v in watched]
        roots, pull, rest = jax.vjp(forward, [inputs[i] for i in wrt], zeros, has_aux=True)
        diff, perturbed = pull([jnp.broadcast_to(c, r.shape).astype(r.dtype) for c, r in zip(cotangents, roots, strict=True)])
        return (*roots, *rest, *diff, *perturbed)

    return run


def _op(name: str, fn: Callable[..., Any]) -> Op:
    return Op(fn, name)


def _blank(*args: Any) -> Any:  # the function of a control operator is made for its blocks, below
    raise NotImplementedError


COND, WHILE, FOR, GRAD = _op("cond", _blank), _op("while", _blank), _op("for", _blank), _op("grad", _blank)
COND.attr_names = ("true", "false")
WHILE.attr_names = ("test", "body", "n_carry")
FOR.attr_names = ("body", "n_carry", "length")
GRAD.attr_names = ("block", "wrt", "inner", "n_roots")


def cond(true: Block, false: Block) -> BoundOp:
    """A branch; arguments: predicate, then the operands that both blocks read."""
    return BoundOp(COND, lambda pred, *operands: _cond(pred, operands, true, false), (true, false))


def while_(test: Block, body: Block, n_carry: int) -> BoundOp:
    """A loop on a condition."""
    return BoundOp(WHILE, _while(test, body, n_carry), (test, body, n_carry))


def for_(body: Block, n_carry: int, length: int) -> BoundOp:
    """A loop of known length."""
    return BoundOp(FOR, _for(body, n_carry, length), (body, n_carry, length))


def grad(block: Block, wrt: tuple[int, ...], inner: tuple[int, ...], n_roots: int) -> BoundOp:
    """A block with its gradient."""
    return BoundOp(GRAD, _grad(block, wrt, inner, n_roots), (block, wrt, inner, n_roots))


REBUILD: dict[str, Callable[..., BoundOp]] = {"cond": cond, "while": while_, "for": for_, "grad": grad}
