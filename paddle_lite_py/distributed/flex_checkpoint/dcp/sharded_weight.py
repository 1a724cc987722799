"""A part of a tensor that a process has, with its place in the whole: what checkpoints of split layers are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....eager.tensor import Tensor
from ....ops.convert import to_tensor
from ... import objects
from ...group import Group, init_parallel_env

__all__ = [
    *("ShardedStateDict", "ShardedWeight", "build_sharded_state_dict", "create_sharded_weight_with_new_local"),
    *("full_param", "make_replicated_sharded_weight", "shard_weight"),
]


class ShardedWeight:
    """Part of a distributed tensor, for checkpoints.

    Arguments:
        key: name of the whole tensor.
        local_tensor: the part.
        local_shape: its shape.
        global_shape: shape of the whole tensor.
        global_offset: index at which the part begins.
        is_flattened: the part is a range of the flattened part. Default: False.
        flattened_range: the range, a slice.

    Raises:
        ValueError: if the part exceeds the whole tensor.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> part = paddle.distributed.ShardedWeight("w", paddle.ones([1, 3]), (1, 3), (2, 3), (1, 0))
        >>> part.global_shape
        (2, 3)
    """

    def __init__(
        self, key: str, local_tensor: Tensor, local_shape: Any, global_shape: Any, global_offset: Any,
        is_flattened: bool = False, flattened_range: slice | None = None,
    ) -> None:  # fmt: skip
        self.key, self.local_tensor = key, local_tensor
        self.local_shape, self.global_shape = tuple(local_shape), tuple(global_shape)
        self.global_offset = tuple(global_offset)
        self.is_flattened, self.flattened_range = is_flattened, flattened_range
        ends = np.add(self.local_shape, self.global_offset)
        if len(self.local_shape) != len(self.global_shape) or (ends > self.global_shape).any():
            raise ValueError(
                f"ShardedWeight: {key} has a part {list(self.local_shape)} at {list(self.global_offset)}, which does "
                f"not lie in {list(self.global_shape)}"
            )

    def __str__(self) -> str:
        return f"ShardedWeight({self.key}: {self.local_shape} at {self.global_offset} of {self.global_shape})"


ShardedStateDict = dict[str, ShardedWeight]


def shard_weight(key: str, weight: Tensor, axis: int, group: Group) -> ShardedWeight:
    """Describe the part of this process of a tensor that is split evenly along a dimension over a group.

    Arguments:
        key: name of the whole tensor.
        weight: the part of this process.
        axis: dimension along which the tensor is split.
        group: the group of processes.

    Returns:
        A ShardedWeight.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> print(shard_weight("w", paddle.ones([2, 3]), 0, paddle.distributed.new_group([0])))
        ShardedWeight(w: (2, 3) at (0, 0) of (2, 3))
    """
    whole, offset = list(weight.shape), [0] * weight.ndim
    whole[axis] *= group.nranks
    offset[axis] = group.rank * weight.shape[axis]
    return ShardedWeight(key, weight, weight.shape, whole, offset)


def make_replicated_sharded_weight(key: str, tensor: Tensor) -> ShardedWeight:
    """Return a tensor that each process has whole."""
    return ShardedWeight(key, tensor, tensor.shape, tensor.shape, [0] * tensor.ndim)


def create_sharded_weight_with_new_local(
    new_key: str, new_local_tensor: Tensor, reference_tensor: ShardedWeight
) -> ShardedWeight:
    """Another tensor at the place of a part."""
    like = reference_tensor
    return ShardedWeight(
        new_key, new_local_tensor, like.local_shape, like.global_shape, like.global_offset, like.is_flattened,
        like.flattened_range,
    )  # fmt: skip


def build_sharded_state_dict(
    state_dict: dict[str, Tensor], shard_rules: dict[str, int] | None = None, prefix: str = "",
    group: Group | None = None,
) -> ShardedStateDict:  # fmt: skip
    """Describe the state of a layer as parts of distributed tensors.

    Arguments:
        state_dict: state_dict() of the layer.
        shard_rules: dimension along which each name is split; all other tensors are replicated.
        prefix: prefix of the names. Default: ''.
        group: the group of processes; None: all.

    Returns:
        A dict from names to ShardedWeights.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> from paddle_lite_py.distributed import build_sharded_state_dict
        >>> parts = build_sharded_state_dict(paddle.nn.Linear(2, 3).state_dict(), prefix="net.")
        >>> sorted(parts)
        ['net.bias', 'net.weight']
    """
    among, rules = group or init_parallel_env(), shard_rules or {}
    return {
        prefix + name: shard_weight(prefix + name, t, rules[name], among)
        if name in rules and among.nranks > 1
        else make_replicated_sharded_weight(prefix + name, t)
        for name, t in state_dict.items()
    }


def full_param(sharded_state_dict: ShardedStateDict, group: Group | None = None) -> Iterator[tuple[str, Tensor]]:
    """Yield the names and wholes of tensors of which each process has a part; all processes ask at once.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> parts = build_sharded_state_dict({"w": paddle.ones([2])})
        >>> [(name, t.tolist()) for name, t in full_param(parts)]
        [('w', [1.0, 1.0])]
    """
    among = group or init_parallel_env()
    for key in sorted(sharded_state_dict):
        part = sharded_state_dict[key]
        found: list[Any] = []
        held = np.asarray(part.local_tensor._payload).reshape(part.local_shape)
        objects.all_gather_object(found, (part.global_offset, held), among)
        whole = np.zeros(part.global_shape, held.dtype)
        for offset, array in found:
            whole[tuple(slice(o, o + n) for o, n in zip(offset, array.shape, strict=True))] = array
        yield key, to_tensor(whole)
