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
    """A part of a tensor.

    Arguments:
        key: the name of the whole.
        local_tensor: the part.
        local_shape: its shape.
        global_shape: the shape of the whole.
        global_offset: where the part begins.
        is_flattened, flattened_range: whether the part is a flat stretch of such a part, and which.

    Raises:
        ValueError: if the part does not lie in the whole.

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
    """This process's part of a tensor that is cut along an axis, one part for each process of a group.

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
    """A tensor that each process has whole."""
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
    """The parts of a layer's state.

    Arguments:
        state_dict: the layer's.
        shard_rules: the axis along which a name is cut; all others are whole.
        prefix: stands before the names.
        group: who has parts; all processes by default.

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
    """The names and wholes of tensors of which each process has a part; all processes ask at once.

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
        held = np.asarray(part.local_tensor._data).reshape(part.local_shape)
        objects.all_gather_object(found, (part.global_offset, held), among)
        whole = np.zeros(part.global_shape, held.dtype)
        for offset, array in found:
            whole[tuple(slice(o, o + n) for o, n in zip(offset, array.shape, strict=True))] = array
        yield key, to_tensor(whole)
