"""Other spellings of how a tensor lies over a mesh: a name of an axis, or its number, for each dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .process_mesh import Partial, Placement, ProcessMesh, Replicate, Shard

__all__ = ["DistAttr"]


class DistAttr:
    """How a tensor is split: for each of its dimensions the name of an axis of a mesh, or None.

    Arguments:
        mesh: the mesh.
        sharding_specs: a list of names and None.

    Raises:
        ValueError: if the mesh is none, or a name is no axis of it.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> attr = dist.DistAttr(dist.ProcessMesh([[0, 1], [2, 3]], ["x", "y"]), [None, "x"])
        >>> attr.dims_mapping, attr.placements
        ([-1, 0], [Shard(dim=1), Replicate()])
    """

    def __init__(self, mesh: ProcessMesh, sharding_specs: list[str | None]) -> None:
        if not isinstance(mesh, ProcessMesh):
            raise ValueError("The mesh must be an instance of paddle.distributed.ProcessMesh.")
        if not isinstance(sharding_specs, list):
            raise ValueError("The sharding_specs must be an instance of list.")
        self.process_mesh, self.sharding_specs = mesh, sharding_specs
        self.dims_mapping = convert_to_dims_mapping(sharding_specs, mesh)

    @property
    def placements(self) -> list[Placement]:
        """The placement along each axis of the mesh."""
        return dims_mapping_to_placements(self.dims_mapping, self.process_mesh)

    def __repr__(self) -> str:
        return f"{{process_mesh: {{{self.process_mesh}}}, dims_mappings: {self.dims_mapping}}}"


def dims_mapping_to_placements(
    dim_map: Sequence[int], mesh: ProcessMesh, partial_idx: Sequence[int] = ()
) -> list[Placement]:
    """The placement along each axis of a mesh, by the axis of each dimension and the axes where it is Partial."""
    found: list[Placement] = [Partial() if i in partial_idx else Replicate() for i in range(mesh.ndim)]
    for dim, axis in enumerate(dim_map):
        if axis != -1:
            found[axis] = Shard(dim)
    return found


def to_dim_map(placements: Sequence[Placement], tensor_dims: int) -> tuple[list[int], dict[int, Any]]:
    """Return the way back: the axis of each dimension, and {axis: reduction} where the tensor is Partial."""
    mapping = [-1] * tensor_dims
    for axis, placement in enumerate(placements):
        if isinstance(placement, Shard):
            mapping[placement.dim] = axis
    return mapping, {i: p.reduce_type() for i, p in enumerate(placements) if isinstance(p, Partial)}


def check_placements_equal(this: Sequence[Placement], that: Sequence[Placement]) -> bool:
    """Whether placements are the same, where those that are left out are Replicate."""
    longest = max(len(this), len(that))
    one, other = ([*p, *[Replicate()] * (longest - len(p))] for p in (this, that))
    return one == other


def convert_to_dims_mapping(shard_spec: Sequence[str | None], process_mesh: ProcessMesh) -> list[int]:
    """Return the number of the axis of each dimension, by names; -1 for None.

    Raises:
        ValueError: if a name is no axis.
    """
    for name in shard_spec:
        if name is not None and name not in process_mesh.dim_names:
            raise ValueError(
                f"Invalid sharding dimension '{name}'. Available dimensions in mesh are: {process_mesh.dim_names}."
            )
    return [-1 if name is None else process_mesh.dim_names.index(name) for name in shard_spec]


def convert_to_shard_spec(dims_mapping: Sequence[int], process_mesh: ProcessMesh) -> list[str | None]:
    """Return the way back from convert_to_dims_mapping()."""
    return [None if axis == -1 else process_mesh.dim_names[axis] for axis in dims_mapping]


def verify_dims_mapping(dims_mapping: Sequence[int] | None, process_mesh: ProcessMesh) -> bool:
    """Whether each number is an axis of the mesh or -1, and no axis occurs twice."""
    if dims_mapping is None or not all(-1 <= axis < process_mesh.ndim for axis in dims_mapping):
        return False
    used = [axis for axis in dims_mapping if axis != -1]
    return len(set(used)) == len(used)


def verify_shard_spec(shard_spec: Sequence[str | None], tensor_shape: Sequence[int], process_mesh: ProcessMesh) -> bool:
    """Whether a tensor of a shape can be split so."""
    if len(shard_spec) != len(tensor_shape) or not all(n is None or n in process_mesh.dim_names for n in shard_spec):
        return False
    pieces = [1 if name is None else process_mesh.get_dim_size(name) for name in shard_spec]
    is_even = all(size % count == 0 for size, count in zip(tensor_shape, pieces, strict=True))
    return is_even and verify_dims_mapping(convert_to_dims_mapping(shard_spec, process_mesh), process_mesh)


def compute_compatible_dim_mapping(dim_mappings: Sequence[int]) -> int | None:
    """Return the axis on which all agree that name one; None if they differ."""
    named = {axis for axis in dim_mappings if axis != -1}
    return None if not dim_mappings or len(named) > 1 else next(iter(named), -1)


def compute_compatible_dims_mapping(dims_mapping_list: Sequence[Sequence[int]]) -> list[int] | None:
    """Return the same for each dimension."""
    found = [compute_compatible_dim_mapping(each) for each in zip(*dims_mapping_list, strict=True)]
    return None if not found or None in found else found  # type: ignore[return-value]


def compute_compatible_process_mesh(process_mesh_list: Sequence[ProcessMesh | None]) -> ProcessMesh | None:
    """Return the largest mesh, if it has the processes of all others; else None."""
    given = [mesh for mesh in process_mesh_list if mesh is not None]
    largest = max(given, key=lambda mesh: mesh.size, default=None)
    has_all = largest is not None and all(set(m.process_ids) <= set(largest.process_ids) for m in given)
    return largest if has_all else None


def merge_process_mesh(process_mesh_list: Sequence[ProcessMesh | None]) -> ProcessMesh | None:
    """Return a mesh of one axis with the processes of all; None if there are none."""
    found = sorted({i for mesh in process_mesh_list if mesh is not None for i in mesh.process_ids})
    return ProcessMesh(found) if found else None


def split_mesh(global_mesh: ProcessMesh, sub_mesh_dim: int) -> list[ProcessMesh]:
    """Return the parts of a mesh along one of its axes, each with that axis of length 1."""
    parts = np.split(global_mesh.mesh, global_mesh.shape[sub_mesh_dim], axis=sub_mesh_dim)
    return [ProcessMesh(part, global_mesh.dim_names) for part in parts]


def to_list(value: Any) -> list[Any]:
    """Return a list as it is, a tuple as a list, None as none, anything else alone in a list."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]
