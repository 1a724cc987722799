"""Collective operations as functions of each process's array, along an axis with one place for each process."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from . import axis, ring

SUM, MAX, MIN, PROD, AVG = range(5)
OP_NAMES = ("SUM", "MAX", "MIN", "PROD", "AVG")


def _gather(x: Any) -> Any:
    """Return the arrays of all, along a new first axis; booleans travel as bytes."""
    if x.dtype == bool:
        return axis.all_gather(x.astype(jnp.uint8)).astype(bool)
    return axis.all_gather(x)


def _extreme(x: Any, over: Callable[[Any], Any]) -> Any:
    return over(x.astype(jnp.uint8)).astype(bool) if x.dtype == bool else over(x)


def all_reduce(x: Any, op: int) -> Any:
    """Return the reduction over all, for each."""
    if op == PROD:
        return jnp.prod(_gather(x), axis=0, dtype=x.dtype)
    if op in (MAX, MIN):
        return _extreme(x, axis.pmax if op == MAX else axis.pmin)
    if x.dtype == bool:
        return axis.psum(x.astype(jnp.int32)) > 0
    total = axis.psum(x)
    return total if op == SUM else (total / axis.size()).astype(x.dtype)


def broadcast(x: Any, root: int) -> Any:
    """Return the array of one, for each: the bytes of all others are zero in a sum, which changes none."""
    if jnp.iscomplexobj(x):
        return lax.complex(broadcast(x.real, root), broadcast(x.imag, root))
    held = x.astype(jnp.uint8) if x.dtype == bool else lax.bitcast_convert_type(x, jnp.uint8)
    taken = axis.psum(jnp.where(axis.index() == root, held, jnp.zeros_like(held)))
    return taken.astype(bool) if x.dtype == bool else lax.bitcast_convert_type(taken, x.dtype)


def all_gather(x: Any) -> Any:
    """Return the arrays of all, along a new first axis."""
    return _gather(x)


def all_to_all(x: Any) -> Any:
    """Row i of the result is what process i had for this one: its row of this number."""
    if x.dtype == bool:
        return all_to_all(x.astype(jnp.uint8)).astype(bool)
    return axis.all_to_all(x)


def reduce_scatter(x: Any, op: int) -> Any:
    """Return the reduction over all of what each had for this process: its row of this number."""
    if op in (SUM, AVG) and x.dtype != bool:
        total = axis.psum_scatter(x)
        return total if op == SUM else (total / axis.size()).astype(x.dtype)
    found = all_to_all(x)
    if op in (MAX, MIN):
        return (found.max if op == MAX else found.min)(axis=0)
    return jnp.prod(found, axis=0, dtype=x.dtype) if op == PROD else found.any(axis=0)


def scatter(x: Any, root: int) -> Any:
    """Return the part that one process had for this one."""
    return all_to_all(x)[root]


def reduced(*given: Any) -> tuple[Any, ...]:
    """all_reduce() of several arrays at once: those of one dtype travel as one.

    After the arrays come the operation, and which arrays they are, for processes to agree on.
    """
    *xs, op, _ = given
    made: list[Any] = [None] * len(xs)
    for kind in {x.dtype for x in xs}:
        at = [i for i, x in enumerate(xs) if x.dtype == kind]
        flat = all_reduce(jnp.concatenate([xs[i].reshape(-1) for i in at]), op)
        ends = [sum(xs[i].size for i in at[: n + 1]) for n in range(len(at))]
        for i, part in zip(at, jnp.split(flat, ends[:-1]), strict=True):
            made[i] = part.reshape(xs[i].shape)
    return tuple(made)


def broadcasts(*xs_and_root: Any) -> tuple[Any, ...]:
    """broadcast() of several arrays at once. The last argument is the place of the one that has them."""
    *xs, root = xs_and_root
    return tuple([broadcast(x, root) for x in xs])


def gathered_flat(*xs: Any) -> tuple[Any, ...]:
    """Flat arrays of all, joined; those of one dtype travel as one."""
    made: list[Any] = [None] * len(xs)
    for kind in {x.dtype for x in xs}:
        at = [i for i, x in enumerate(xs) if x.dtype == kind]
        rows = _gather(jnp.concatenate([xs[i] for i in at]))
        ends = list(itertools.accumulate(xs[i].size for i in at))
        for i, part in zip(at, jnp.split(rows, ends[:-1], axis=1), strict=True):
            made[i] = part.reshape(-1)
    return tuple(made)


def own_shares(*xs: Any) -> tuple[Any, ...]:
    """This process's shares of flat arrays that all have, each of which has a share for each process."""
    rank, count = axis.index(), axis.size()
    return tuple([lax.dynamic_slice(x, (rank * (x.size // count),), (x.size // count,)) for x in xs])


def scattered_flat(*xs: Any) -> tuple[Any, ...]:
    """This process's shares of the means of flat arrays, each of which has a share for each process."""
    made: list[Any] = [None] * len(xs)
    for kind in {x.dtype for x in xs}:
        at = [i for i, x in enumerate(xs) if x.dtype == kind]
        rows = jnp.concatenate([xs[i].reshape(axis.size(), -1) for i in at], axis=1)
        ends = list(itertools.accumulate(xs[i].size // axis.size() for i in at))
        for i, part in zip(at, jnp.split(reduce_scatter(rows, AVG), ends[:-1]), strict=True):
            made[i] = part
    return tuple(made)


def sparse_sum(values: Any, index: Any, total: int) -> Any:
    """The sum over all of arrays of which each gives some elements: numbers, and where they stand in the flat array."""
    return jnp.zeros(total, values.dtype).at[_gather(index).reshape(-1)].add(_gather(values).reshape(-1))


# By the name under which messages speak of an exchange.
KERNELS: dict[str, Callable[..., Any]] = {
    "all_reduce": all_reduce,
    "reduce": lambda x, op, root: all_reduce(x, op),
    "broadcast": broadcast,
    "all_gather": all_gather,
    "gather": lambda x, root: all_gather(x),
    "all_gather of objects": lambda x, *purpose: all_gather(x),
    "all_to_all": all_to_all,
    "reduce_scatter": reduce_scatter,
    "scatter": scatter,
    "all_reduce of gradients": reduced,
    "broadcast of a model": broadcasts,
    "own shares": own_shares,
    "all_gather of parameters": gathered_flat,
    "reduce_scatter of gradients": scattered_flat,
    "sum of sparse gradients": sparse_sum,
    "ring_attention": ring.attention,
    "gradient of ring_attention": ring.gradient,
}


def over(mesh: jax.sharding.Mesh, fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the arrays of one process as one of those of all, stacked along their first axis."""
    spec = jax.sharding.PartitionSpec(axis.AXIS)
    return jax.shard_map(fn, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)


# The same for a process that is alone.
ALONE: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("all_reduce", "reduce", "broadcast", "all_to_all"), lambda x: x),
    **dict.fromkeys(("all_gather", "gather"), lambda x: x.unsqueeze(0)),
    **dict.fromkeys(("reduce_scatter", "scatter"), lambda x: x[0]),
}
