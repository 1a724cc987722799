"""Moving tensors between placements and meshes: one XLA program within a mesh, pieces between processes otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.arrays import is_spread, laid_over
from ...core.memo import memo
from ...core.processes import world
from ...core.uninitialized import Uninitialized
from ...host.tier import xla_jit
from .layouts import PartialParts, Planned, complete, describe_missing, mesh_of, partial_axes, placements_of, sharding
from .pieces import in_pieces
from .process_mesh import Partial, Placement, ProcessMesh, ReduceType, Replicate, Shard

REDUCTIONS: dict[ReduceType, Callable[..., Any]] = {
    ReduceType.kRedSum: jnp.sum, ReduceType.kRedMax: jnp.max, ReduceType.kRedMin: jnp.min,
    ReduceType.kRedProd: jnp.prod, ReduceType.kRedAvg: jnp.mean, ReduceType.kRedAny: jnp.any,
    ReduceType.kRedAll: jnp.all,
}  # fmt: skip
# The value in the other processes if one of them holds it; for other reductions all have the value itself.
_NEUTRAL = {ReduceType.kRedSum: 0, ReduceType.kRedProd: 1}


def laid(data: Any, where: jax.sharding.NamedSharding) -> Any:
    """Return an array that each process has whole, or that lies over some devices already, laid over others."""
    if isinstance(data, Uninitialized):
        return data.laid(where)
    if isinstance(data, jax.ShapeDtypeStruct):  # computed from such
        return jax.ShapeDtypeStruct(data.shape, data.dtype, sharding=where)
    if world().size > 1 and is_spread(data):
        if [*data.sharding.mesh.devices.flat] == [*where.mesh.devices.flat]:
            return jax.device_put(data, where)
        return in_pieces(data, where)
    return laid_over(data, where)


def place_over_mesh(data: Any, mesh: ProcessMesh, placements: Sequence[Placement]) -> Any:
    """Return the payload of a tensor over a mesh, from data that each process has whole.

    Raises:
        ValueError: if the tensor cannot be split so.
    """
    each = complete(mesh, placements, len(data.shape))
    if describe_missing(mesh):
        known = None if isinstance(data, jax.ShapeDtypeStruct) else np.asarray(data)
        return Planned(mesh, each, data.shape, data.dtype, known)
    whole = laid(data, sharding(mesh, _reduced(each), data.shape))
    return reshard_payload(whole, mesh, each) if partial_axes(each) else whole


def _reduced(placements: Sequence[Placement]) -> list[Placement]:
    return [Replicate() if isinstance(p, Partial) else p for p in placements]


def reshard_payload(source: Any, mesh: ProcessMesh, placements: Sequence[Placement]) -> Any:
    """Return the payload of a tensor in other placements, perhaps over another mesh.

    Arguments:
        source: an array that lies over a mesh, or PartialParts.
        mesh: the new mesh.
        placements: a placement for each of its axes.
    """
    parts = source if isinstance(source, PartialParts) else None
    if partial_axes(placements) or parts is not None:
        before = parts.mesh if parts else mesh_of(source)
        if before is None or before.process_ids != mesh.process_ids:
            whole = parts.pending.value() if parts else source
            return placed_from(whole, mesh, placements)
        return _within(source, before, parts.placements if parts else placements_of(source) or [], mesh, placements)
    return laid(source, sharding(mesh, placements, source.shape))


def placed_from(source: Any, mesh: ProcessMesh, placements: Sequence[Placement]) -> Any:
    """Return the same between meshes of other processes."""
    whole = laid(source, sharding(mesh, _reduced(placements), source.shape))
    return reshard_payload(whole, mesh, placements) if partial_axes(placements) else whole


# -- within the processes of a mesh: one program ---------------------------------------------------------------------
def _within(source: Any, before: ProcessMesh, old: Sequence[Placement], mesh: ProcessMesh, new: Any) -> Any:
    stacked = source.stacked if isinstance(source, PartialParts) else source
    shape = stacked.shape[len(partial_axes(old)) :]
    out = program(before, tuple(old), mesh, tuple(new), shape)(stacked)
    return as_parts(out, mesh, new)


def as_parts(stacked: Any, mesh: ProcessMesh, placements: Sequence[Placement]) -> Any:
    """The payload of parts that lie over a mesh: what waits for their reduction, or themselves if none is Partial."""
    if not partial_axes(placements):
        return stacked
    return PartialParts(
        stacked, mesh, placements, lambda parts: reshard_payload(parts, mesh, _reduced(placements))
    ).pending


def stacked_sharding(mesh: ProcessMesh, placements: Sequence[Placement], shape: Sequence[int]) -> Any:
    """How the parts of a Partial tensor lie, and the shape of all."""
    axes = partial_axes(placements)
    each = [Shard(axes.index(i)) if i in axes else _later(p, len(axes)) for i, p in enumerate(placements)]
    whole = (*[mesh.shape[i] for i in axes], *shape)
    return sharding(mesh, each, whole), whole


def _later(placement: Placement, by: int) -> Placement:
    return Shard(placement.dim + by) if isinstance(placement, Shard) else placement


def program(
    before: ProcessMesh, old: tuple[Placement, ...], mesh: ProcessMesh, new: tuple[Placement, ...],
    shape: tuple[int, ...],
) -> Callable[[Any], Any]:  # fmt: skip
    """Return the program that reduces the parts of a tensor where needed, and makes new ones."""
    return _program(before.key, old, mesh.key, new, shape)


# Key: both meshes and placements, and the shape; jax.jit has the dtype.
@memo(1024, context=False)
def _program(old_key: Any, old: Any, new_key: Any, new: Any, shape: tuple[int, ...]) -> Callable[[Any], Any]:
    before, mesh = (ProcessMesh(shape=k[0], process_ids=k[1], dim_names=list(k[2])) for k in (old_key, new_key))
    is_same = before == mesh

    def run(stacked: Any) -> Any:
        now = list(old)
        for i in reversed(partial_axes(old)):
            if is_same and new[i] == old[i]:
                continue
            goal = new[i] if is_same else None
            at = partial_axes(now).index(i)
            if _can_scatter(now, i, goal):
                stacked = _scatter(stacked, before, now, i, goal, shape)
                now[i] = goal or Replicate()
            else:
                stacked = REDUCTIONS[old[i].reduce_type()](stacked, axis=at)
                now[i] = Replicate()
        kept = [i for i in partial_axes(now) if is_same]
        for i in partial_axes(new):
            if i not in kept:
                at = len([k for k in partial_axes(new) if k < i])
                stacked = _divided(stacked, mesh.shape[i], at, new[i].reduce_type())
        return stacked

    return xla_jit(run, out_shardings=stacked_sharding(mesh, new, shape)[0])


def _can_scatter(now: Sequence[Placement], axis: int, goal: Placement | None) -> bool:
    """Whether each process can receive just its share of a sum along an axis of the mesh."""
    if not isinstance(goal, Shard) or any(isinstance(p, Shard) and p.dim == goal.dim for p in now):
        return False
    return now[axis].reduce_type() in (ReduceType.kRedSum, ReduceType.kRedAvg)  # type: ignore[attr-defined]


def _scatter(
    stacked: Any, mesh: ProcessMesh, now: list[Placement], axis: int, goal: Any, shape: tuple[int, ...]
) -> Any:
    """Return a sum of parts of which each process receives its share: half the bytes of a sum that all receive."""
    after = [*now[:axis], goal, *now[axis + 1 :]]
    before, later = (stacked_sharding(mesh, p, shape)[0] for p in (now, after))
    at, name = partial_axes(now).index(axis), mesh.dim_names[axis]
    dim, count = goal.dim + len(partial_axes(after)), mesh.shape[axis]
    is_mean = now[axis].reduce_type() is ReduceType.kRedAvg  # type: ignore[attr-defined]

    def share(part: Any) -> Any:
        out = lax.psum_scatter(part.squeeze(at), name, scatter_dimension=dim, tiled=True)
        return out / count if is_mean else out

    return jax.shard_map(share, mesh=before.mesh, in_specs=before.spec, out_specs=later.spec)(stacked)


def _divided(value: Any, count: int, at: int, kind: ReduceType) -> Any:
    """Parts along a new dimension whose reduction is the value: the first has it, the others what adds nothing."""
    spread = jnp.broadcast_to(jnp.expand_dims(value, at), (*value.shape[:at], count, *value.shape[at:]))
    if kind not in _NEUTRAL:
        return spread
    number = lax.broadcasted_iota(jnp.int32, spread.shape, at)
    return jnp.where(number == 0, spread, jnp.asarray(_NEUTRAL[kind], value.dtype))
