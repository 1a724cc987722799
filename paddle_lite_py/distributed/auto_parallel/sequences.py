"""Sequences over a mesh, cut so that processes have equal work under a causal mask."""

from __future__ import annotations

from ...eager.pending import payload_of
from ...eager.tensor import Tensor
from ..fleet.meta_parallel.context_parallel import balance_causal
from .api import get_mesh, reshard
from .layouts import mesh_of, placements_of
from .process_mesh import ProcessMesh, Replicate, Shard

__all__ = ["shard_seq_load_balance", "unshard_seq_load_balance"]


def _mesh(tensor: Tensor) -> ProcessMesh:
    found = mesh_of(payload_of(tensor)) or get_mesh()
    if found is None or "sep" not in found.dim_names:
        raise ValueError(f"a sequence is cut along an axis 'sep' of the mesh; the mesh is {found}")
    return found


def shard_seq_load_balance(tensor: Tensor, seq_dim: int) -> Tensor:
    """A tensor cut along the axis "sep" of its mesh: each place has one piece from the front, and one from the back.

    Arguments:
        tensor: over a mesh with that axis.
        seq_dim: along which it is a sequence.

    Raises:
        ValueError: if there is no such axis, or the sequence cannot be cut so.
    """
    mesh = _mesh(tensor)
    placements = placements_of(payload_of(tensor)) or [Replicate() for _ in mesh.dim_names]
    placements[mesh.dim_names.index("sep")] = Shard(seq_dim)
    return reshard(balance_causal(tensor, mesh.get_dim_size("sep"), seq_dim), mesh, placements)


def unshard_seq_load_balance(tensor: Tensor, seq_dim: int) -> Tensor:
    """Return the way back from shard_seq_load_balance(): whole along "sep", in its own order."""
    mesh = _mesh(tensor)
    placements = placements_of(payload_of(tensor)) or [Replicate() for _ in mesh.dim_names]
    placements[mesh.dim_names.index("sep")] = Replicate()
    return balance_causal(reshard(tensor, mesh, placements), mesh.get_dim_size("sep"), seq_dim, back=True)
