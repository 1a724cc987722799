"""Reading a tensor over a mesh: its mesh, the part of this process, and its values gathered from all."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ...core.memo import Memo, memo
from ...core.processes import blamed_process, compared_program, gathered_arrays, world
from ...dispatch.define import add_methods
from ...eager.pending import payload_of
from ...eager.tensor import Tensor, wrap
from ...host.tier import xla_jit
from ..exchange import ASKS_ALWAYS, exchanges
from ..group import Group
from .layouts import Planned, describe_missing, mesh_of, parts_of, placements_of
from .process_mesh import Placement, ProcessMesh

_groups: dict[tuple[int, ...], Group] = {}
# Key: the mesh, and what its processes do with which tensor: whether they have compared it before.
_compared: Memo[Any, bool] = Memo("what processes of a mesh have compared", 4096)


def group_of(ranks: tuple[int, ...]) -> Group:
    """Return the group of the processes of a mesh, which has a number of its own."""
    return _groups.setdefault(ranks, Group.of([*ranks], 1 << 33 | zlib.crc32(repr(ranks).encode())))


def _is_new(group: Group, what: str) -> bool:
    is_new = (group.id, what) not in _compared
    _compared.put((group.id, what), True)
    return is_new


def agree(name: str, tensor: Tensor, mesh: ProcessMesh, placements: Sequence[Placement]) -> None:
    """Check that the other processes of a mesh do the same with a tensor of the same shape.

    Raises:
        RuntimeError: if one has done something else.
    """
    if world().size == 1 or describe_missing(mesh):
        return
    before = mesh_of(payload_of(tensor))
    ranks = tuple(sorted({*mesh.process_ids, *(before.process_ids if before is not None else ())}))
    if world().rank in ranks:
        what = f"{name}({tensor.dtype.name}{[*tensor.shape]}, {[*placements]}) over the mesh {mesh}"
        exchanges().note(group := group_of(ranks), what, _is_new(group, what))


def whole(data: Any) -> Any:
    """Return all values of an array: of one that lies over several processes, all processes of its mesh gather them.

    A process that has no part of it gets no values, as in the reference.

    Raises:
        RuntimeError: if one of them has ended, or does something else.
    """
    if not isinstance(data, jax.Array) or data.is_fully_addressable:
        return data
    if not data.sharding.addressable_devices:
        return np.zeros(0, data.dtype)
    mesh: Any = data.sharding.mesh  # type: ignore[attr-defined]
    group = group_of(tuple(sorted(d.process_index for d in mesh.devices.flat)))
    what = f"reading a tensor {data.dtype.name}{[*data.shape]} over the mesh {mesh_of(data)}"
    if data.is_fully_replicated:
        with exchanges().waiting(group, what):
            return np.asarray(data.addressable_data(0))
    with exchanges().watched(group, what, _is_new(group, what)):
        return np.asarray(_gather_program(mesh)(data).addressable_data(0))


# Key: the mesh; jax.jit has shapes, dtypes and placements.
@memo(64, context=False)
def _gather_program(mesh: jax.sharding.Mesh) -> Any:
    """Return the program that gives all processes of a mesh the whole array."""
    return xla_jit(lambda x: x, out_shardings=jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()))


def _blame(args: Sequence[Any]) -> str:
    """Which process has ended, where a program over a mesh has failed; empty if none has."""
    mesh = next((m for a in args if (m := mesh_of(a)) is not None), None)
    group = mesh and group_of(tuple(sorted(mesh.process_ids)))
    return exchanges().lost(group, f"computing over the mesh {mesh}") if group else ""


def _compare_program(jitted: Any, args: Sequence[Any]) -> None:
    """Check that the processes of a mesh run the same program of what is split over it.

    Raises:
        RuntimeError: if one has run something else.
    """
    meshes = {mesh_of(a): a for a in args if isinstance(a, jax.Array) and not a.is_fully_replicated}
    for mesh in meshes:
        if mesh is not None:
            shown = ", ".join(f"{a.dtype.name}{[*a.shape]}" for a in args if isinstance(a, jax.Array))
            what = f"{jitted.__name__}({shown}) over the mesh {mesh}"
            exchanges().note(group_of(tuple(sorted(mesh.process_ids))), what, is_new=True)


if world().size > 1:
    compared_program[:] = [_compare_program] if ASKS_ALWAYS else []
    gathered_arrays[:], blamed_process[:] = [whole], [_blame]


def own_part(tensor: Tensor) -> Any:
    """Return the part of a tensor that this process has, on its first device; no elements where it has none."""
    source = payload_of(tensor)
    if isinstance(source, Planned):
        part = source.part()
    elif (parts := parts_of(source)) is not None:
        part = _local_data(parts.stacked)
        part = part if part is None else part.reshape(part.shape[-tensor.ndim :] if tensor.ndim else ())
    else:
        part = _local_data(source) if mesh_of(source) is not None else tensor._payload
    return np.zeros(0, source.dtype) if part is None else part


def _local_data(data: jax.Array) -> Any:
    return data.addressable_data(0) if data.sharding.addressable_devices else None


def _has_part(self: Tensor) -> bool:
    """Whether this process has values of the tensor."""
    if mesh_of(source := payload_of(self)) is None:
        return not isinstance(source, jax.ShapeDtypeStruct)
    return own_part(self).size > 0


def _local_value(self: Tensor) -> Tensor:
    """Return the part of a tensor that this process has, on its first device."""
    out = wrap(own_part(self))
    out.stop_gradient = self.stop_gradient
    return out


def _layout_text(self: Tensor) -> str:
    """How the tensor lies over a mesh, as its text has it; empty if it lies over none."""
    mesh = mesh_of(payload_of(self))
    if mesh is None:
        return ""
    ids = f"shape: {mesh.shape}, process_ids: {mesh.process_ids}, dim_names: {mesh.dim_names}".replace("'", "")
    return f"process_mesh={{{ids}}}, placements={placements_of(payload_of(self))}"


add_methods([
    ("is_dist", lambda self: mesh_of(payload_of(self)) is not None),
    ("placements", property(lambda self: placements_of(payload_of(self)))),
    ("process_mesh", property(lambda self: mesh_of(payload_of(self)))),
    ("_is_initialized", _has_part),
    ("_local_value", _local_value),
    ("_local_shape", property(lambda self: list(own_part(self).shape))),
    ("_layout_text", _layout_text),
])  # fmt: skip
