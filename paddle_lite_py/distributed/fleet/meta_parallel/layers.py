"""Layers whose weights are split over processes; one process has them whole."""

from __future__ import annotations

from typing import Any

from ....core.no_effect import Immaterial, no_effect
from ....eager.tensor import Tensor
from ....nn import Layer
from ....nn import functional as F
from ...flex_checkpoint.dcp.sharded_weight import ShardedStateDict, build_sharded_state_dict
from ...group import Group
from ..current import hybrid_group
from ..layers.mpu.mp_ops import (
    _c_concat,
    _c_identity,
    _c_lookup_table,
    _c_softmax_with_cross_entropy,
    _c_split,
    _mp_allreduce,
)
from .tracker import get_rng_state_tracker

__all__ = ["ColumnParallelLinear", "ParallelCrossEntropy", "RowParallelLinear", "VocabParallelEmbedding"]


_FUSED = Immaterial("XLA joins what it can")


class _Split(Layer):
    """A layer of which each process of a group has a part.

    Arguments:
        mp_group: the group; that of model parallelism by default.
    """

    def __init__(self, mp_group: Group | None) -> None:
        super().__init__()
        self.model_parallel_group = mp_group or hybrid_group().get_model_parallel_group()
        self.world_size, self.rank = self.model_parallel_group.nranks, self.model_parallel_group.rank
        self.is_mp = self.world_size > 1

    def _share(self, name: str, size: int) -> int:
        if size % self.world_size:
            raise ValueError(
                f"{type(self).__name__}: {name} is {size}, which cannot be divided among {self.world_size} processes"
            )
        return size // self.world_size

    def _part(self, shape: list[int], attr: Any, axis: int, is_bias: bool = False) -> Any:
        """A parameter of which each process has another part; they are drawn from a stream of each process's own."""
        with get_rng_state_tracker().rng_state():
            found = self.create_parameter(shape, attr, is_bias=is_bias)
        if found is not None:
            found.is_distributed, found.split_axis = self.is_mp, axis
        return found

    def sharded_state_dict(self, structured_name_prefix: str = "") -> ShardedStateDict:
        """Return the parts of this process, with their places in the whole, for save_state_dict()."""
        axes = {name: p.split_axis for name, p in self.named_parameters() if hasattr(p, "split_axis")}
        return build_sharded_state_dict(self.state_dict(), axes, structured_name_prefix, self.model_parallel_group)


class ColumnParallelLinear(_Split):
    """Linear layer whose weight is split by columns over processes (tensor parallelism).

    Arguments:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output, of all processes together.
        weight_attr: ParamAttr, initializer or name of the weight; None: the default initializer.
        has_bias: add a bias.
        gather_output: gather the output of all processes; False: each has its columns. Default: True.
        fuse_matmul_bias: see docs/differences.md. Default: False.
        mp_group: the group of processes; None: that of model parallelism.

    Shape:
        Input: [*, in_features].
        Output: [*, out_features]; without gather_output [*, out_features / processes].

    Raises:
        ValueError: if out_features cannot be divided among the processes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> from paddle_lite_py.distributed.fleet.meta_parallel import ColumnParallelLinear
        >>> ColumnParallelLinear(2, 4, has_bias=False)(paddle.ones([3, 2])).shape
        paddle.Size([3, 4])
    """

    @no_effect(fuse_matmul_bias=_FUSED)
    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: bool | None = None,
        gather_output: bool = True, fuse_matmul_bias: bool = False, mp_group: Any = None, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(mp_group)
        self.name, self.gather_output = name, gather_output
        self.output_size_per_partition = self._share("out_features", out_features)
        self.weight = self._part([in_features, self.output_size_per_partition], weight_attr, axis=1)
        # As in PaddlePaddle: None means no bias.
        self.bias = self._part([self.output_size_per_partition], None, 0, is_bias=True) if has_bias else None

    def forward(self, x: Tensor) -> Tensor:
        """x @ weight + bias: this process's columns, or all."""
        out = F.linear(_c_identity(x, self.model_parallel_group), self.weight, self.bias)
        return _c_concat(out, self.model_parallel_group) if self.gather_output else out


class RowParallelLinear(_Split):
    """Linear, of which each process holds some rows of the weight.

    Arguments:
        in_features, out_features: sizes of the last dimension before and after, of all rows.
        weight_attr: ParamAttr of the weight.
        has_bias: whether something is added.
        input_is_parallel: each process has its own part of the input already.
        fuse_matmul_bias: see docs/differences.md.
        mp_group: who has the rows; the processes of model parallelism by default.

    Raises:
        ValueError: if in_features cannot be divided among the processes.
    """

    @no_effect(fuse_matmul_bias=_FUSED)
    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: bool = True,
        input_is_parallel: bool = False, fuse_matmul_bias: bool = False, mp_group: Any = None, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(mp_group)
        self.name, self.input_is_parallel = name, input_is_parallel
        self.input_size_per_partition = self._share("in_features", in_features)
        self.weight = self._part([self.input_size_per_partition, out_features], weight_attr, axis=0)
        self.bias = self.create_parameter([out_features], is_bias=True) if has_bias else None

    def forward(self, x: Tensor) -> Tensor:
        """x @ weight + bias, the sum over all rows."""
        part = x if self.input_is_parallel else _c_split(x, self.model_parallel_group)
        out = _mp_allreduce(F.linear(part, self.weight), group=self.model_parallel_group)
        return out if self.bias is None else out + self.bias


class VocabParallelEmbedding(_Split):
    """Embedding, of which each process holds some rows.

    Arguments:
        num_embeddings, embedding_dim: the size of the whole table.
        weight_attr: ParamAttr of the table.
        mp_group: who has the rows; the processes of model parallelism by default.

    Raises:
        ValueError: if num_embeddings cannot be divided among the processes.
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, weight_attr: Any = None, mp_group: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(mp_group)
        self.name, self.num_embeddings = name, num_embeddings
        self.per_part_size = self._share("num_embeddings", num_embeddings)
        self.vocab_start_index = self.rank * self.per_part_size
        self.weight = self._part([self.per_part_size, embedding_dim], weight_attr, axis=0)

    def forward(self, x: Tensor) -> Tensor:
        """Return the rows of some indices."""
        if not self.is_mp:
            return F.embedding(x, self.weight)
        found = _c_lookup_table(self.weight, x, self.vocab_start_index)
        return _mp_allreduce(found, group=self.model_parallel_group)


def split(
    x: Tensor, size: tuple[int, int], operation: str, axis: int = 0, num_partitions: int = 1, gather_out: bool = True,
    weight_attr: Any = None, bias_attr: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return a linear layer or a table made, of which each process of model parallelism has a part, and applied.

    Arguments:
        x: its input.
        size: of the whole weight.
        operation: "linear" or "embedding".
        axis: along which the weight is cut.
        num_partitions: the number of processes.
        gather_out: give each process the results of all, where columns are cut.
        weight_attr: ParamAttr of the weight.
        bias_attr: False: there is no bias.

    Raises:
        ValueError: for another operation, or another number of processes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> split(paddle.ones([2, 3]), (3, 4), "linear", axis=1).shape
        paddle.Size([2, 4])
    """
    if operation not in ("linear", "embedding"):
        raise ValueError(f"split: operation is {operation!r}; expected 'linear' or 'embedding'")
    if num_partitions != (count := hybrid_group().get_model_parallel_world_size()):
        raise ValueError(f"split: num_partitions is {num_partitions}, but {count} processes share layers")
    if operation == "embedding":
        return VocabParallelEmbedding(*size, weight_attr=weight_attr)(x)
    with_bias = bias_attr is not False
    if axis == 1:
        return ColumnParallelLinear(*size, weight_attr=weight_attr, has_bias=with_bias, gather_output=gather_out)(x)
    return RowParallelLinear(*size, weight_attr=weight_attr, has_bias=with_bias)(x)


class ParallelCrossEntropy(Layer):
    """The cross entropy of each element, [..., 1], of which each process holds some classes.

    Arguments:
        mp_group: who has the classes; the processes of model parallelism by default.
        ignore_index: the label that counts nothing.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> loss = paddle.distributed.fleet.meta_parallel.ParallelCrossEntropy()
        >>> loss(paddle.zeros([3, 5]), paddle.zeros([3], "int64")).shape
        paddle.Size([3, 1])
    """

    def __init__(self, mp_group: Any = None, name: str | None = None, ignore_index: int = -100) -> None:
        super().__init__()
        self.name, self.ignore_index = name, ignore_index
        self.model_parallel_group = mp_group or hybrid_group().get_model_parallel_group()

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        """Return the losses."""
        return _c_softmax_with_cross_entropy(input, label, self.model_parallel_group, ignore_index=self.ignore_index)
