"""Tables of vectors with torch's arguments and initialization."""

from __future__ import annotations

from typing import Any

from ... import nn as _nn
from ...nn.base import Layer
from ...nn.initializer import Normal
from . import functional

__all__ = ["Embedding", "EmbeddingBag"]
nn: Any = _nn  # whose lists of names mypy cannot read


class Embedding(nn.Embedding):
    """paddle.nn.Embedding whose table starts normal; the row padding_idx has no gradient, and is returned as it is.

    Arguments:
        num_embeddings, embedding_dim: rows and columns of the table.
        padding_idx: row that starts as zeros and is not trained.
        max_norm, norm_type: rows of a greater norm are scaled to it when they are looked up.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> table = paddle.compat.nn.Embedding(3, 2, padding_idx=0)
        >>> table(paddle.to_tensor([0])).tolist(), table.num_embeddings
        ([[0.0, 0.0]], 3)
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Any = None,
        _freeze: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, sparse, Normal(),
            scale_grad_by_freq=scale_grad_by_freq, _weight=_weight, _freeze=_freeze, device=device, dtype=dtype,
        )  # fmt: skip
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse = (
            max_norm, norm_type, scale_grad_by_freq, sparse
        )  # fmt: skip

    @classmethod
    def from_pretrained(cls, embeddings: Any, freeze: bool = True, padding_idx: int | None = None) -> Embedding:
        """Make a layer of a table [rows, columns].

        Arguments:
            embeddings: the table.
            freeze: do not train it. Default: True.
            padding_idx: row without gradient.
        """
        rows, columns = embeddings.shape
        return cls(rows, columns, padding_idx, _weight=embeddings, _freeze=freeze)

    def reset_parameters(self) -> None:
        """Draw the table anew."""
        self.weight.set_value(self.create_parameter(self.weight.shape, default_initializer=Normal()))
        if self.padding_idx is not None:
            self.weight.detach()[self.padding_idx] = 0.0

    def forward(self, input: Any) -> Any:
        """Return the rows of the indices, [*input.shape, embedding_dim]."""
        return functional.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )


class EmbeddingBag(Layer):
    """The sum, mean or maximum of the rows of each bag of indices.

    Arguments:
        num_embeddings, embedding_dim: rows and columns of the table.
        mode: "sum", "mean" or "max". Default: "mean".
        padding_idx: index that does not count, and whose row is not trained.
        include_last_offset: the last offset is the end of the last bag. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> bags = paddle.compat.nn.EmbeddingBag.from_pretrained(paddle.to_tensor([[1.0], [2.0], [4.0]]), mode="sum")
        >>> bags(paddle.to_tensor([0, 1, 2]), paddle.to_tensor([0, 2])).tolist()
        [[3.0], [4.0]]
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, mode: str = "mean", include_last_offset: bool = False,
        padding_idx: int | None = None, _weight: Any = None, _freeze: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.mode, self.include_last_offset, self.padding_idx = mode, include_last_offset, padding_idx
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.weight = self.create_parameter([num_embeddings, embedding_dim], default_initializer=Normal())
        if padding_idx is not None:
            self.weight.detach()[padding_idx] = 0.0
        if _weight is not None:
            self.weight.set_value(_weight)
        self.weight.stop_gradient = _freeze

    @classmethod
    def from_pretrained(
        cls, embeddings: Any, freeze: bool = True, mode: str = "mean", include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:  # fmt: skip
        """Make a layer of a table [rows, columns].

        Arguments:
            embeddings: the table.
            freeze: do not train it. Default: True.
        """
        rows, columns = embeddings.shape
        return cls(rows, columns, mode, include_last_offset, padding_idx, embeddings, freeze)

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        """Return a row for each bag: for the rows of indices [bags, n], or the parts of [n] that begin at offsets."""
        return functional.embedding_bag(
            input, self.weight, offsets, mode=self.mode, per_sample_weights=per_sample_weights,
            include_last_offset=self.include_last_offset, padding_idx=self.padding_idx,
        )  # fmt: skip
