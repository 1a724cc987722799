"""The layout of a tensor over a mesh: an XLA array, unreduced parts, or a plan for absent processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ...core.arrays import meshes
from ...core.jax_compat.xla import on_devices
from ...core.memo import IdentityMap, memo
from ...core.processes import other_meshes, world
from ...eager.pending import Pending
from ..exchange import exchanges
from .process_mesh import Partial, Placement, ProcessMesh, Replicate, Shard


def devices() -> Sequence[Any]:
    """Return the devices of meshes, by their numbers: one of each process, or those of a process that trains alone."""
    return exchanges().devices if world().size > 1 else jax.devices()


def describe_missing(mesh: ProcessMesh) -> str:
    """Which processes of a mesh there are not, in words; empty if all are there."""
    count = len(devices())
    absent = [i for i in mesh.process_ids if not 0 <= i < count]
    if not absent:
        return ""
    return (
        f"ProcessMesh {mesh} has the processes {absent}, but there are {count} devices; start as many processes by "
        "`python -m paddle_lite_py.distributed.launch --nproc_per_node ...`, or one with "
        f"XLA_FLAGS={on_devices(max(mesh.process_ids) + 1)}"
    )


def xla_mesh(mesh: ProcessMesh) -> jax.sharding.Mesh:
    """Return the devices of a mesh.

    Raises:
        ValueError: if some are not there.
    """
    return _xla_mesh(*mesh.key)


# Key: the shape of a mesh, its processes and the names of its axes.
@memo(256, context=False)
def _xla_mesh(shape: tuple[int, ...], process_ids: tuple[int, ...], names: tuple[str, ...]) -> jax.sharding.Mesh:
    mesh = ProcessMesh(shape=shape, process_ids=process_ids, dim_names=list(names))
    if absent := describe_missing(mesh):
        raise ValueError(absent)
    made = jax.sharding.Mesh(np.array([devices()[i] for i in process_ids]).reshape(shape), names)
    if world().size > 1 and world().rank not in process_ids:
        other_meshes.append(made)
    _met[made] = mesh
    meshes[:] = [made]
    return made


_met: dict[Any, ProcessMesh] = {}  # by jax.sharding.Mesh


def complete(mesh: ProcessMesh, placements: Sequence[Placement], ndim: int) -> list[Placement]:
    """Return a placement for each axis of a mesh, dimensions counted from 0.

    Raises:
        ValueError: if there are too many, or a dimension does not exist.
    """
    if any(not p.is_replicated() for p in placements[mesh.ndim :]):
        raise ValueError(f"placements has {len(placements)} entries for a mesh of {mesh.ndim} axes: {mesh}")
    each: list[Placement] = [*placements[: mesh.ndim], *[Replicate() for _ in range(mesh.ndim - len(placements))]]
    for i, p in enumerate(each):
        if isinstance(p, Shard):
            if not -ndim <= p.dim < ndim:
                raise ValueError(
                    f"{p} along {mesh.dim_names[i]!r} of a tensor of {ndim} dimensions: it has no such axis; the mesh "
                    f"is {mesh}"
                )
            each[i] = Shard(p.dim % ndim)
    return each


def cuts(mesh: ProcessMesh, placements: Sequence[Placement], shape: Sequence[int]) -> list[list[str]]:
    """For each dimension of a tensor the axes of the mesh that it is split along.

    Raises:
        ValueError: if it cannot be split so.
    """
    found: list[list[str]] = [[] for _ in shape]
    for name, placement in zip(mesh.dim_names, complete(mesh, placements, len(shape)), strict=True):
        if isinstance(placement, Shard):
            found[placement.dim].append(name)
    for dim, names in enumerate(found):
        pieces = int(np.prod([mesh.dim_size(n) for n in names]))
        if shape[dim] % pieces:
            raise ValueError(
                f"rank {world().rank}: axis {dim} of the shape {list(shape)} cannot be cut into {pieces} equal pieces "
                f"along {', '.join(names)} of the mesh {mesh}; pad it, replicate it there, or drop a "
                "last batch that is smaller (drop_last=True)"
            )
    return found


def sharding(mesh: ProcessMesh, placements: Sequence[Placement], shape: Sequence[int]) -> jax.sharding.NamedSharding:
    """How XLA lays a tensor of a shape.

    Raises:
        ValueError: if the placements do not fit the mesh and the shape, or devices are missing.
    """
    spec = [tuple(names) if names else None for names in cuts(mesh, placements, shape)]
    return jax.sharding.NamedSharding(xla_mesh(mesh), jax.sharding.PartitionSpec(*spec))


class Planned(jax.ShapeDtypeStruct):
    """Payload of a tensor over a mesh with processes that are not there: it can be looked at, and not computed with.

    Arguments:
        mesh: the mesh.
        placements: a placement for each of its axes.
        data: the values, where this process has them; None: a plan without values.
    """

    def __init__(
        self, mesh: ProcessMesh, placements: Sequence[Placement], shape: Any, dtype: Any, data: Any = None
    ) -> None:
        super().__init__(tuple(shape), dtype)
        self.mesh, self.placements, self.data = mesh, complete(mesh, placements, len(shape)), data

    def concrete(self, what: str) -> Any:
        """Refuse.

        Raises:
            RuntimeError: with the processes that are missing.
        """
        raise RuntimeError(f"{what} needs a tensor whose parts lie in other processes: {describe_missing(self.mesh)}")

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self.concrete("NumPy")

    def part(self) -> Any:
        """Return the part of this process; None if it is not in the mesh, or there are no values."""
        where = np.argwhere(self.mesh.mesh == world().rank)
        if self.data is None or not len(where):
            return None
        at = dict(zip(self.mesh.dim_names, where[0], strict=True))
        index = []
        for size, names in zip(self.shape, cuts(self.mesh, self.placements, self.shape), strict=True):
            place, pieces = 0, 1
            for name in names:
                place, pieces = place * self.mesh.dim_size(name) + int(at[name]), pieces * self.mesh.dim_size(name)
            index.append(slice(place * size // pieces, (place + 1) * size // pieces))
        return self.data[tuple(index)]


def partial_axes(placements: Sequence[Placement]) -> list[int]:
    """Return the axes of a mesh along which a tensor is Partial."""
    return [i for i, p in enumerate(placements) if isinstance(p, Partial)]


class PartialParts:
    """The parts of a Partial tensor, reduced when its values are read: what waits of a Pending payload.

    Arguments:
        stacked: the parts, over the mesh: a leading dimension for each axis along which the tensor is Partial.
        mesh: the mesh.
        placements: a placement for each of its axes.
        reduced: gives the values, of these parts.
    """

    def __init__(
        self, stacked: Any, mesh: ProcessMesh, placements: Sequence[Placement], reduced: Callable[[PartialParts], Any]
    ) -> None:
        self.stacked, self.mesh, self.placements, self._values = stacked, mesh, list(placements), reduced
        shape = stacked.shape[len(partial_axes(placements)) :]
        self.pending = Pending(self, 0, shape, stacked.dtype)

    def look(self) -> None:
        """Reduce the parts."""
        self.reduced_to(self._values(self))

    def reduced_to(self, values: Any) -> None:
        """Note the values, which the parts were reduced to."""
        self.pending.array = values
        _reduced.put(values, self)


# The parts of arrays that were reduced from them.
_reduced = IdentityMap()


def parts_of(payload: Any) -> PartialParts | None:
    """Return the parts of a Partial tensor, by its payload or what stands for it; None of another."""
    if payload.__class__ is Pending:
        return payload.queue if isinstance(payload.queue, PartialParts) else None
    return _reduced.find(payload)


def mesh_of(payload: Any) -> ProcessMesh | None:
    """Return the mesh of a payload, or of what stands for one; None of an array on a single device."""
    if planned := parts_of(payload) or (isinstance(payload, Planned) and payload):
        return planned.mesh
    where = getattr(payload, "sharding", None)
    return _met.get(where.mesh) if isinstance(where, jax.sharding.NamedSharding) else None


def placements_of(payload: Any) -> list[Placement] | None:
    """Return the placement along each axis of its mesh; None of an array on a single device."""
    if planned := parts_of(payload) or (isinstance(payload, Planned) and payload):
        return list(planned.placements)
    mesh = mesh_of(payload)
    if mesh is None:
        return None
    found: list[Placement] = [Replicate() for _ in mesh.dim_names]
    for axis, names in enumerate(payload.sharding.spec):
        for name in (names,) if isinstance(names, str) else names or ():
            found[mesh.dim_names.index(name)] = Shard(axis)
    return found
