"""Processes in a box with named axes, and how a tensor lies over them."""

from __future__ import annotations

import enum
import functools
from typing import Any

import numpy as np

from ..group import Group, new_group


class ProcessMesh:
    """Mesh: an n-dimensional array of processes, or of devices of one process, with a name for each axis.

    Arguments:
        mesh: nested lists of process numbers; or give shape and process_ids.
        dim_names: names of the axes; None: d0, d1, ....
        shape: shape of the mesh.
        process_ids: process numbers in row-major order.

    Raises:
        ValueError: if a number occurs twice, or the names do not match the axes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> mesh = paddle.distributed.ProcessMesh([[0, 1], [2, 3]], dim_names=["x", "y"])
        >>> print(mesh)
        shape [2, 2], process_ids [0, 1, 2, 3], dim_names ['x', 'y']
    """

    def __init__(
        self, mesh: Any = None, dim_names: list[str] | None = None, shape: Any = None, process_ids: Any = None
    ) -> None:
        self._mesh = np.array(mesh if mesh is not None else np.reshape(list(process_ids), shape))
        if self._mesh.ndim == 0:
            self._mesh = self._mesh.reshape(1)
        self._names = list(dim_names) if dim_names is not None else [f"d{i}" for i in range(self._mesh.ndim)]
        if len(self._names) != self._mesh.ndim or len(set(self._names)) < len(self._names):
            raise ValueError(f"ProcessMesh: dim_names is {self._names} for a mesh of {self._mesh.ndim} axes")
        if len(set(self.process_ids)) < self._mesh.size:
            raise ValueError(f"ProcessMesh: a process appears twice in {self.process_ids}")

    mesh = property(lambda self: self._mesh)
    shape = property(lambda self: list(self._mesh.shape))
    ndim = property(lambda self: self._mesh.ndim)
    dim_names = property(lambda self: self._names)
    size = property(lambda self: self._mesh.size)

    @property
    def process_ids(self) -> list[int]:
        """The numbers, row by row."""
        return [int(i) for i in self._mesh.flatten()]

    @property
    def unique_id(self) -> int:
        """A number that equal meshes share."""
        return hash(self)

    def contains(self, process_id: int) -> bool:
        """Whether a process belongs to it."""
        return process_id in self.process_ids

    def empty(self) -> bool:
        """Whether nobody belongs to it."""
        return not self._mesh.size

    def dim_size(self, dim: str | int) -> int:
        """How long an axis is."""
        return self._mesh.shape[self._axis(dim)]

    get_dim_size = dim_size

    def _axis(self, dim: str | int) -> int:
        if isinstance(dim, str) and dim not in self._names:
            raise ValueError(f"ProcessMesh has no axis {dim!r}; it has {', '.join(self._names)}")
        return self._names.index(dim) if isinstance(dim, str) else dim

    def get_mesh_with_dim(self, dim_name: str, index: int | None = None) -> ProcessMesh:
        """Return the mesh with an axis first; its part at one place of that axis, if an index is given."""
        at = self._axis(dim_name)
        names = [self._names[at], *[n for i, n in enumerate(self._names) if i != at]]
        turned = np.moveaxis(self._mesh, at, 0)
        if index is None:
            return ProcessMesh(turned, names)
        part = turned[index]
        return ProcessMesh(part, names[1:]) if part.ndim else ProcessMesh([int(part)], names[:1])

    get_submesh_with_dim = functools.partialmethod(get_mesh_with_dim, index=0)

    def get_rank_by_dim_and_process_id(self, dim: str | int, process_id: int) -> int:
        """Return the place of a process along an axis; -1 where it does not belong to the mesh."""
        found = np.argwhere(self._mesh == process_id)
        return int(found[0][self._axis(dim)]) if len(found) else -1

    def get_group(self, dim_name: str | None = None) -> Group:
        """The processes that differ from this one along an axis only; all of the mesh with one axis by default."""
        at = self._axis(dim_name) if dim_name is not None else 0
        rows = np.moveaxis(self._mesh, at, -1).reshape(-1, self._mesh.shape[at])
        made = [new_group([int(i) for i in row]) for row in rows]
        return next((g for g in made if g.is_member()), made[0])

    def __getitem__(self, index: Any) -> ProcessMesh:
        part = self._mesh[index]
        where = index if isinstance(index, tuple) else (index,)
        names = [n for i, n in enumerate(self._names) if i >= len(where) or isinstance(where[i], slice)]
        return ProcessMesh(part, names) if np.ndim(part) else ProcessMesh([int(part)], self._names[:1])

    @property
    def key(self) -> tuple[Any, ...]:
        """All that tells it from other meshes; equal ones may differ in the names of their axes."""
        return self._mesh.shape, tuple(self.process_ids), tuple(self._names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProcessMesh) and self.key[:2] == other.key[:2]

    def __hash__(self) -> int:
        return hash(self.key[:2])

    def __str__(self) -> str:
        return f"shape {self.shape}, process_ids {self.process_ids}, dim_names {self._names}"


class ReduceType(enum.IntEnum):
    """Reductions of a Partial placement.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [t.name for t in paddle.distributed.ReduceType][:3]
        ['kRedSum', 'kRedMax', 'kRedMin']
    """

    kRedSum, kRedMax, kRedMin, kRedProd, kRedAvg, kRedAny, kRedAll = range(7)  # noqa: N815


class Placement:
    """Base class of placements: how a tensor is distributed along one axis of a mesh.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> shard = paddle.distributed.Shard(1)
        >>> isinstance(shard, paddle.distributed.Placement), shard.is_shard(), shard.is_replicated()
        (True, True, False)
    """

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether it is cut: along `dim`, if that is given."""
        return False

    def is_replicated(self) -> bool:
        """Whether each process has all of it."""
        return False

    def is_partial(self) -> bool:
        """Whether what processes have makes the whole only together."""
        return False

    def __eq__(self, other: object) -> bool:
        return repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


class Shard(Placement):
    """Placement: the tensor is split along a dimension.

    Arguments:
        dim: the dimension of the tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.Shard(1)
        Shard(dim=1)
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def get_dim(self) -> int:
        """Return the axis of the tensor."""
        return self.dim

    def is_shard(self, dim: int | None = None) -> bool:
        """See Placement."""
        return dim is None or dim == self.dim

    def __repr__(self) -> str:
        return f"Shard(dim={self.dim})"


class Replicate(Placement):
    """Placement: every process has the whole tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.Replicate()
        Replicate()
    """

    def is_replicated(self) -> bool:
        """See Placement."""
        return True

    def __repr__(self) -> str:
        return "Replicate()"


class Partial(Placement):
    """Placement: each process has a part, and the tensor is the reduction of all parts.

    Arguments:
        reduce_type: the reduction, a ReduceType.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> dist = paddle.distributed
        >>> dist.Partial(), dist.Partial(dist.ReduceType.kRedMax)
        (Partial(reduce_type=SUM), Partial(reduce_type=MAX))
    """

    def __init__(self, reduce_type: ReduceType = ReduceType.kRedSum) -> None:
        self._reduce_type = reduce_type

    def reduce_type(self) -> ReduceType:
        """How parts make the whole."""
        return self._reduce_type

    def is_partial(self) -> bool:
        """See Placement."""
        return True

    def __repr__(self) -> str:
        return f"Partial(reduce_type={self._reduce_type.name.removeprefix('kRed').upper()})"
