"""How many rows go to which expert, and which of them have room there."""

from __future__ import annotations

from .....core.interpreter import no_grad
from .....distributed.collective import exchanged
from .....distributed.group import Group, init_parallel_env
from .....eager.tensor import Tensor
from .....ops.convert import to_tensor
from .....ops.creation import arange
from .....ops.joining import stack
from .....ops.search import where

__all__ = ["count_by_gate", "limit_by_capacity"]


def hits(index: Tensor, count: int) -> Tensor:
    """For each entry a row with a one at its number; zeros where that is negative."""
    return (index.reshape([-1, 1]) == arange(count, dtype=index.dtype)).astype("int64")


def places(index: Tensor, count: int) -> Tensor:
    """Return the how manieth of its number each entry is, from 0; -1 for negative numbers."""
    found = hits(index, count)
    return ((found.cumsum(0) * found).sum(1) - 1).reshape(index.shape)


def _number_count(numbers: Tensor, upper_range: int) -> Tensor:
    """How often each number below the bound is there."""
    return hits(numbers, upper_range).sum(0)


@no_grad()
def _assign_pos(x: Tensor, cum_count: Tensor) -> Tensor:
    """Return the entries by their number, in the order in which they are there; negative ones are left out."""
    flat = x.flatten()
    total = int(cum_count[-1].item())
    return where(flat < 0, flat.max() + 1, flat).argsort(stable=True)[:total]


def _random_routing(topk_idx: Tensor, topk_value: Tensor, prob: Tensor, topk: int = 2) -> Tensor:
    """Leave out the second expert with a probability that falls with its weight."""
    if topk != 2:
        raise ValueError(f"random routing: topk is {topk}; expected 2")
    kept = topk_value[:, 1] * 2 >= prob
    second = where(kept, topk_idx[:, 1], topk_idx[:, 1] * 0 - 1)
    return stack([topk_idx[:, 0], second], 1)


def _all_to_all(counts: Tensor, world_size: int, group: Group | None) -> Tensor:
    if world_size == 1:
        return counts
    among = group or init_parallel_env()
    if among.nranks != world_size:
        raise ValueError(f"limit_by_capacity: world_size is {world_size} for a group of {among.nranks} processes")
    return exchanged("all_to_all", counts.reshape([world_size, -1]), among).reshape(counts.shape)


@no_grad()
def count_by_gate(
    gate: Tensor, num_expert: int, world_size: int, require_pos: bool = True, group: Group | None = None
) -> tuple[Tensor | None, Tensor, Tensor]:
    """Rows by expert, how many go to each of all experts, and how many come from each process to those of this one.

    Arguments:
        gate: the numbers of experts; -1 for none.
        num_expert: how many experts a process has.
        world_size: how many processes have some.
        require_pos: whether to return the positions, which a program cannot.
        group: who they are; all by default.
    """
    own = _number_count(gate, num_expert * world_size)
    pos = _assign_pos(gate, own.cumsum(0)) if require_pos else None
    return pos, own, _all_to_all(own, world_size, group)


def _limit_by_capacity(expert_count: Tensor, capacity: Tensor, n_worker: int) -> Tensor:
    """Counts by process and expert, cut so that no expert gets more than its capacity; the first come first."""
    counts = expert_count.reshape([n_worker, -1])
    taken = counts.cumsum(0).minimum(capacity)
    return (taken - (counts.cumsum(0) - counts).minimum(capacity)).reshape(expert_count.shape)


def _prune_gate_by_capacity(gate_idx: Tensor, expert_count: Tensor, n_expert: int, n_worker: int) -> Tensor:
    """Return the numbers of experts, -1 for those rows for which there is no room."""
    index, at = gate_idx.flatten(), places(gate_idx, n_expert * n_worker).flatten()
    room = (hits(index, n_expert * n_worker) * expert_count).sum(1)
    return where(at < room, index, index * 0 - 1).reshape(gate_idx.shape)


@no_grad()
def limit_by_capacity(
    topk_idx: Tensor, num_expert: int, world_size: int, capacity: int, group: Group | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Limit the rows of each expert to its capacity, keeping those of the first processes.

    Arguments:
        topk_idx: the numbers of experts for each row.
        num_expert: how many experts a process has.
        world_size: how many processes have some.
        capacity: of each expert.
        group: who they are; all by default.

    Returns:
        How many rows go to each of all experts, how many come to those of this process, and the numbers of experts,
        -1 where there is no room.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> limit_by_capacity(paddle.to_tensor([[0, 1], [0, 1], [0, 1]]), 2, 1, 2)[2].tolist()
        [[0, 1], [0, 1], [-1, -1]]
    """
    _, _, coming = count_by_gate(topk_idx, num_expert, world_size, False, group)
    taken = _limit_by_capacity(coming, to_tensor(capacity, "int64"), world_size)
    going = _all_to_all(taken, world_size, group)
    return going, taken, _prune_gate_by_capacity(topk_idx, going, num_expert, world_size)
