"""Layers whose weights would be split over processes."""

from __future__ import annotations

from typing import Any

from ....nn import Layer
from ....nn import functional as F
from ....nn.common import Embedding, Linear

__all__ = ["ColumnParallelLinear", "ParallelCrossEntropy", "RowParallelLinear", "VocabParallelEmbedding"]


class ColumnParallelLinear(Linear):
    """Linear, of which each process would hold some columns of the weight.

    Args:
        in_features, out_features: sizes of the last dimension before and after.
        weight_attr: ParamAttr of the weight.
        has_bias: whether something is added.
        gather_output, fuse_matmul_bias, mp_group: accepted for compatibility.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> from paddle_lite_py.distributed.fleet.meta_parallel import ColumnParallelLinear
        >>> ColumnParallelLinear(2, 4, has_bias=False)(paddle.ones([3, 2])).shape
        paddle.Size([3, 4])
    """

    is_mp, world_size = False, 1

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: bool | None = None,
        gather_output: bool = True, fuse_matmul_bias: bool = False, mp_group: Any = None, name: str | None = None,
    ) -> None:  # fmt: skip
        # As in PaddlePaddle: None means no bias.
        super().__init__(in_features, out_features, weight_attr, None if has_bias else False, name)
        self.gather_output, self.output_size_per_partition = gather_output, out_features


class RowParallelLinear(Linear):
    """Linear, of which each process would hold some rows of the weight.

    Args:
        in_features, out_features: sizes of the last dimension before and after.
        weight_attr: ParamAttr of the weight.
        has_bias: whether something is added.
        input_is_parallel, fuse_matmul_bias, mp_group: accepted for compatibility.
    """

    is_mp, world_size = False, 1

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: bool = True,
        input_is_parallel: bool = False, fuse_matmul_bias: bool = False, mp_group: Any = None, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(in_features, out_features, weight_attr, None if has_bias else False, name)
        self.input_is_parallel, self.input_size_per_partition = input_is_parallel, in_features


class VocabParallelEmbedding(Embedding):
    """Embedding, of which each process would hold some rows.

    Args:
        num_embeddings, embedding_dim: the size of the table.
        weight_attr: ParamAttr of the table.
        mp_group: accepted for compatibility.
    """

    is_mp, world_size = False, 1

    def __init__(
        self, num_embeddings: int, embedding_dim: int, weight_attr: Any = None, mp_group: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(num_embeddings, embedding_dim, weight_attr=weight_attr, name=name)


class ParallelCrossEntropy(Layer):
    """The cross entropy of each element, [..., 1], of which each process would hold some classes.

    Args:
        mp_group, name: accepted for compatibility.
        ignore_index: the label that counts nothing.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> loss = paddle.distributed.fleet.meta_parallel.ParallelCrossEntropy()
        >>> loss(paddle.zeros([3, 5]), paddle.zeros([3], "int64")).shape
        paddle.Size([3, 1])
    """

    def __init__(self, mp_group: Any = None, name: str | None = None, ignore_index: int = -100) -> None:
        super().__init__()
        self.ignore_index = ignore_index

    def forward(self, input: Any, label: Any) -> Any:
        """The losses."""
        if label.ndim == input.ndim - 1:
            label = label.unsqueeze(-1)
        return F.cross_entropy(input, label, reduction="none", ignore_index=self.ignore_index)
