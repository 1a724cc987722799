"""Losses over many classes as layers: the weights of a tree, or of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from ..dispatch.define import op
from . import functional as F
from .base import Layer

__all__ = ["AdaptiveLogSoftmaxWithLoss", "HSigmoidLoss"]


class HSigmoidLoss(Layer):
    """Hierarchical sigmoid loss over a binary tree of classes, with trainable weights; see hsigmoid_loss().

    Arguments:
        feature_size: size of the last dimension of the input.
        num_classes: number of classes, the leaves of the tree.
        weight_attr: ParamAttr, initializer or name of the weights; None: the default initializer.
        bias_attr: ParamAttr, initializer or name of the biases; None: zeros; False: no biases.
        is_custom: the tree is passed with each call, as path_table and path_code; False: a complete binary tree.
            Default: False.

    Shape:
        input: [N, feature_size]; label: integers [N] or [N, 1].
        Output: [N, 1].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.nn.HSigmoidLoss(3, 4)
        >>> round(layer(paddle.zeros([1, 3]), paddle.to_tensor([1])).item(), 4)
        1.3863
    """

    def __init__(
        self,
        feature_size: int,
        num_classes: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        is_custom: bool = False,
        is_sparse: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if num_classes < 2:
            raise ValueError(f"HSigmoidLoss: num_classes is {num_classes}; expected at least 2")
        self._num_classes, self._is_custom, self._is_sparse = num_classes, is_custom, is_sparse
        nodes = num_classes if is_custom else num_classes - 1
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.weight = self.create_parameter([nodes, feature_size], weight_attr)
        self.bias = self.create_parameter([nodes, 1], bias_attr, is_bias=True)

    def forward(self, input: Any, label: Any, path_table: Any = None, path_code: Any = None) -> Any:
        """Compute the loss of each sample.

        Returns:
            The losses [N, 1].
        """
        if self._is_custom and path_table is None:
            raise ValueError("HSigmoidLoss: is_custom is True, so path_table and path_code must be given")
        settings = self.weight, self.bias, path_table, path_code, self._is_sparse
        return F.hsigmoid_loss(input, label, self._num_classes, *settings)


@op(name="adaptive_log_probabilities", amp="black")
def _join_clusters(head: Any, tails: list[Any], /, *, first: int) -> Any:
    """Log probabilities of all classes from those of the head and, given its cluster, of each class in a cluster."""
    parts = [head[:, :first], *[head[:, first + i, None] + t for i, t in enumerate(tails)]]
    return jnp.concatenate(parts, 1)


class AdaptiveLogSoftmaxWithLoss(Layer):
    """Adaptive softmax for many classes: frequent classes in the head, rare ones in clusters of smaller projections.

    Arguments:
        in_features: size of the last dimension of the input.
        n_classes: number of classes, numbered from the most frequent to the rarest.
        cutoffs: increasing class ids at which the clusters begin; classes below the first are in the head.
        weight_attr: ParamAttr, initializer or name of the weights; None: the default initializer.
        bias_attr: ParamAttr, initializer or name of the biases; None: zeros; False: no biases.
        div_value: each cluster has this many times fewer features than the one before. Default: 4.0.
        head_bias: add a bias to the head. Default: False.

    Shape:
        input: [N, in_features]; label: integers [N].
        Output: the log probabilities of the labels [N], and the loss, a scalar.

    Raises:
        ValueError: if cutoffs is not an increasing sequence within [1, n_classes - 1].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.nn.AdaptiveLogSoftmaxWithLoss(8, 6, [2, 4])
        >>> x = paddle.rand([3, 8])
        >>> layer.log_prob(x).exp().sum(-1).round(decimals=4).tolist(), layer.predict(x).shape
        ([1.0, 1.0, 1.0], paddle.Size([3]))

    Source: Grave et al., Efficient Softmax Approximation for GPUs, 2017.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        weight_attr: Any = None,
        bias_attr: Any = None,
        div_value: float = 4.0,
        head_bias: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        ends = [int(c) for c in cutoffs]
        if not ends or ends != sorted(set(ends)) or ends[0] < 1 or ends[-1] >= n_classes:
            raise ValueError(
                f"AdaptiveLogSoftmaxWithLoss: cutoffs is {cutoffs!r}; "
                f"expected growing integers from 1 to {n_classes - 1}"
            )
        self.in_features, self.n_classes, self.div_value = in_features, n_classes, div_value
        self.cutoffs, self.is_head_bias = [*ends, n_classes], head_bias
        self.shortlist_size, self.n_clusters = ends[0], len(ends)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head_weight = self.create_parameter([in_features, self.head_size], weight_attr)
        self.head_bias = self.create_parameter([self.head_size], bias_attr, is_bias=True) if head_bias else None
        for i, (low, high) in enumerate(zip(ends, self.cutoffs[1:], strict=True)):
            size = int(in_features // div_value ** (i + 1))
            for k, shape in enumerate(([in_features, size], [size, high - low])):
                self.add_parameter(f"tail_weight_{i}_{k}", self.create_parameter(shape, weight_attr))

    @property
    def tail_weights(self) -> list[list[Any]]:
        """The two projection matrices of each cluster."""
        return [[getattr(self, f"tail_weight_{i}_{k}") for k in (0, 1)] for i in range(self.n_clusters)]

    def forward(self, input: Any, label: Any) -> Any:
        """Compute the log probability of each label, and the loss.

        Returns:
            The log probabilities [N], and their negative mean, a scalar.
        """
        return F.adaptive_log_softmax_with_loss(
            input, label, self.head_weight, self.tail_weights, self.cutoffs, self.head_bias
        )

    def log_prob(self, input: Any) -> Any:
        """Compute the log probabilities of all classes.

        Returns:
            A tensor [N, n_classes].
        """
        head = F.log_softmax(F.linear(input, self.head_weight, self.head_bias))
        tails = [F.log_softmax(input.matmul(a).matmul(b)) for a, b in self.tail_weights]
        fn: Any = _join_clusters
        return fn(head, tails, first=self.shortlist_size)

    def predict(self, input: Any) -> Any:
        """Find the most likely class of each row.

        Returns:
            An integer tensor [N].
        """
        return self.log_prob(input).argmax(-1)
