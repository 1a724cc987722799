"""Ops over an axis that is split: each process computes a part of the result, which is Partial, as in the reference.

The values are at hand as well, reduced in the same program: what reads them knows nothing of parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
from jax.sharding import NamedSharding, PartitionSpec

from ...core.arrays import array_class
from ...core.memo import memo
from ...core.processes import divided_ops, world
from ...host.tier import xla_jit
from ...registry.bound import BoundOp
from ...registry.op import REGISTRY
from .layouts import mesh_of, sharding, xla_mesh
from .moving import REDUCTIONS, as_parts, stacked_sharding
from .process_mesh import Partial, Placement, ProcessMesh, ReduceType, Replicate, Shard

# For each dimension of an array, the axes of the mesh that it is split along.
Cuts = tuple[tuple[str, ...], ...]


class Division(NamedTuple):
    """How arguments and the result of an op in parts are split, and the axes along which it is Partial."""

    given: tuple[Cuts, ...]
    made: Cuts
    axes: tuple[str, ...] = ()
    kind: ReduceType = ReduceType.kRedSum


def _reduction(
    kind: ReduceType, attrs: dict[str, Any], cuts: Sequence[Cuts], _shapes: Any, names: Sequence[str]
) -> Division | None:
    (cut,), axis = cuts, attrs["axis"]
    if axis == ():
        return None
    ndim = len(cut)
    over = {a % ndim for a in (range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,))}
    split = {n for a in over for n in cut[a]}
    kept = [() if a in over else c for a, c in enumerate(cut) if a not in over or attrs["keepdim"]]
    return Division((cut,), tuple(kept), tuple([n for n in names if n in split]), kind) if split else None


def _labels(ndim: int, own: str, is_transposed: bool) -> list[Any]:
    """Name the dimensions of a factor: "k" is summed over, `own` is its other one, and numbers count from the last."""
    if ndim == 1:
        return ["k"]
    last = [own, "k"] if (own == "m") != is_transposed else ["k", own]
    return [*range(ndim - 2, 0, -1), *last]


def _product(
    attrs: dict[str, Any], cuts: Sequence[Cuts], shapes: Sequence[Any], names: Sequence[str]
) -> Division | None:
    """A matrix product. Where both factors are split along one axis, rows go before columns, and these before sums."""
    if len(cuts) != 2:  # with a bias, which would be added in each process
        return None
    flags = attrs.get("transpose_x", False), attrs.get("transpose_y", False)
    factors = [_labels(len(s), own, t) for s, own, t in zip(shapes, "mn", flags, strict=True)]
    where: dict[str, set[Any]] = {name: set() for name in names}
    for labels, cut in zip(factors, cuts, strict=True):
        for label, along in zip(labels, cut, strict=True):
            for name in along:
                where[name].add(label)
    chosen = {name: min(found, key=_rank) for name, found in where.items() if found}
    split: dict[Any, tuple[str, ...]] = {}
    for name, label in chosen.items():
        split[label] = (*split.get(label, ()), name)
    if "k" not in split and all(len(found) < 2 for found in where.values()):
        return None  # XLA does the same
    given = [
        tuple([split.get(label, ()) if n > 1 else () for label, n in zip(labels, shape, strict=True)])
        for labels, shape in zip(factors, shapes, strict=True)
    ]
    batch = max(factors, key=len)[:-2]
    own = [x for labels, x in zip(factors, "mn", strict=True) if x in labels]
    return Division(tuple(given), tuple([split.get(label, ()) for label in (*batch, *own)]), split.get("k", ()))


def _rank(label: Any) -> int:
    return ("m", "n", "k").index(label) if isinstance(label, str) else -1


_KINDS = {"sum": "Sum", "mean": "Avg", "max": "Max", "min": "Min", "any": "Any", "all": "All"}
_RULES: dict[str, Callable[..., Division | None]] = {
    **{name: partial(_reduction, ReduceType[f"kRed{kind}"]) for name, kind in _KINDS.items()},
    **{"matmul": _product, "linear": _product},
}


def _divided(bound: BoundOp, run: Callable[..., Any]) -> Callable[..., Any]:
    """Return the call of an op that computes it in parts where its rule says so."""
    name = bound.op.name
    if name not in _RULES or REGISTRY.get(name) is not bound.op:
        return run

    def call(*args: Any) -> Any:
        is_eager = any(a.__class__ is array_class() for a in args)  # not while JAX traces
        mesh = _mesh_to_divide(args) if is_eager else None
        specs = tuple([(a.shape, a.dtype) for a in args]) if mesh is not None else ()
        program = None if mesh is None else _program(bound, mesh.key, tuple(map(_cuts_of, args)), specs)
        if program is None or mesh is None:
            return run(*args)
        jitted, placements = program
        stacked, values = jitted(*args)
        if (parts := as_parts(stacked, mesh, placements)) is not stacked:
            parts.queue.reduced_to(values)
        return values

    return call


def _mesh_to_divide(args: Sequence[Any]) -> ProcessMesh | None:
    """Return the mesh that arguments are split over; None if none is, or they lie over several."""
    arrays = [a for a in args if isinstance(getattr(a, "sharding", None), NamedSharding)]
    if all(a.is_fully_replicated for a in arrays) or len({a.sharding.mesh for a in arrays}) != 1:
        return None
    return mesh_of(arrays[0])


def _cuts_of(array: Any) -> Cuts:
    where = getattr(array, "sharding", None)
    spec = where.spec if isinstance(where, NamedSharding) else ()
    each = [(names,) if isinstance(names, str) else tuple(names or ()) for names in spec]
    return (*each, *[()] * (array.ndim - len(each)))


# Key: the op with its attributes, the mesh, and the arguments' shapes, dtypes, and how they are split over it.
@memo(1024, context=False)
def _program(
    bound: BoundOp, key: Any, cuts: tuple[Cuts, ...], specs: tuple[tuple[tuple[int, ...], Any], ...]
) -> tuple[Callable[..., Any], list[Placement]] | None:
    """Return the program that computes an op in parts and reduces them, and the placements of its result."""
    mesh = ProcessMesh(shape=key[0], process_ids=key[1], dim_names=list(key[2]))
    attrs, shapes = dict(zip(bound.op.attr_names, bound.attrs, strict=False)), [shape for shape, _ in specs]
    division = _RULES[bound.op.name](attrs, cuts, shapes, mesh.dim_names)
    if division is None or not all(_divides(mesh, c, s) for c, s in zip(division.given, shapes, strict=True)):
        return None
    placements: list[Placement] = [Replicate() for _ in mesh.dim_names]
    for dim, along in enumerate(division.made):
        for name in along:
            placements[mesh.dim_names.index(name)] = Shard(dim)
    for name in division.axes:
        placements[mesh.dim_names.index(name)] = Partial(division.kind)
    reduced = [Replicate() if p.is_partial() else p for p in placements]
    lead = tuple(range(len(division.axes)))
    given = tuple([PartitionSpec(*c) for c in division.given])
    made = PartitionSpec(*division.axes, *division.made)

    def own(*parts: Any) -> Any:
        return bound.fn(*parts)[(None,) * len(lead)]

    def run(*args: Any) -> Any:
        divided = jax.shard_map(own, mesh=xla_mesh(mesh), in_specs=given, out_specs=made, check_vma=False)
        stacked = divided(*args)
        values = REDUCTIONS[division.kind](stacked, axis=lead) if lead else stacked
        return stacked, values

    run.__name__ = bound.op.name
    shape = jax.eval_shape(bound.fn, *[jax.ShapeDtypeStruct(*s) for s in specs]).shape
    lies = stacked_sharding(mesh, placements, shape)[0], sharding(mesh, reduced, shape)
    return xla_jit(run, out_shardings=lies), placements


def _divides(mesh: ProcessMesh, cuts: Cuts, shape: Sequence[int]) -> bool:
    pieces = [math.prod([mesh.dim_size(n) for n in names]) for names in cuts]
    return all(size % n == 0 for size, n in zip(shape, pieces, strict=True))


if world().size > 1:
    divided_ops[:] = [_divided]
