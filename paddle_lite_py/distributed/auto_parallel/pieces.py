"""Arrays between meshes of different processes: each receives the pieces that it lacks, from one that has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import numpy as np

from ...core.processes import world
from ..exchange import PATIENCE, exchanges
from ..messenger import PeerGone

# The group of these messages, which no group has for a number.
_TAG = -1
Box = tuple[tuple[int, int], ...]


class Piece(NamedTuple):
    """A piece of an array that one process gives to another, or to itself."""

    source: int
    target: int
    box: Box


def boxes(where: jax.sharding.NamedSharding, shape: tuple[int, ...]) -> dict[int, Box]:
    """Return the part of an array that each process of a mesh has: where it begins and ends in each dimension."""
    found: dict[Any, Any] = dict(where.devices_indices_map(shape))
    ends = {d.process_index: [s.indices(n)[:2] for s, n in zip(at, shape, strict=True)] for d, at in found.items()}
    return {rank: tuple([(a, b) for a, b in each]) for rank, each in ends.items()}


def transfers(old: dict[int, Box], new: dict[int, Box]) -> Iterator[Piece]:
    """Yield the pieces that make all new parts of the old ones, in an order on which all processes agree.

    A process keeps what it has, and takes the rest from the first one that has it.
    """
    for target, wanted in new.items():
        owners = {box: rank for rank, box in reversed(old.items())}
        if target in old:
            owners[old[target]] = target
        for box, source in owners.items():
            common = _common(box, wanted)
            if all(a < b for a, b in common):
                yield Piece(source, target, common)


def _common(one: Box, other: Box) -> Box:
    return tuple([(max(a, c), min(b, d)) for (a, b), (c, d) in zip(one, other, strict=True)])


def _within(box: Box, outer: Box) -> tuple[slice, ...]:
    return tuple([slice(a - start, b - start) for (a, b), (start, _) in zip(box, outer, strict=True)])


def in_pieces(data: jax.Array, where: jax.sharding.NamedSharding) -> jax.Array:
    """Return an array over the devices of another mesh; all processes of both meshes call it.

    Raises:
        RuntimeError: if a process ends, or does not come, while this one waits for its piece.
    """
    here, messenger = world().rank, exchanges().messenger
    old, new = (boxes(s, data.shape) for s in (data.sharding, where))  # type: ignore[arg-type]
    mine = np.asarray(data.addressable_data(0)) if here in old else np.zeros(0)
    part = np.empty([b - a for a, b in new[here]] if here in new else 0, data.dtype)
    waited: list[Piece] = []
    try:
        for piece in transfers(old, new):
            if piece.source == here:
                values = mine[_within(piece.box, old[here])]
                if piece.target == here:
                    part[_within(piece.box, new[here])] = values
                else:
                    messenger.send(piece.target, _TAG, values)
            elif piece.target == here:
                waited.append(piece)
        for piece in waited:
            part[_within(piece.box, new[here])] = messenger.receive(piece.source, _TAG, PATIENCE)
    except (PeerGone, TimeoutError) as e:
        raise RuntimeError(_explain(data, where, e)) from None
    return jax.make_array_from_callback(data.shape, where, lambda _: part, dtype=data.dtype)


def _explain(data: jax.Array, where: Any, error: Exception) -> str:
    old: Any = data.sharding
    ends = [f"{[d.process_index for d in s.mesh.devices.flat]} ({', '.join(s.mesh.axis_names)})" for s in (old, where)]
    return (
        f"rank {world().rank}: a tensor {data.dtype.name}{[*data.shape]} moves from the mesh of processes {ends[0]} to "
        f"that of {ends[1]}: {error}"
    )
