"""Losses of classes with torch's arguments: the classes are the second dimension."""

from __future__ import annotations

from typing import Any

from ...nn.base import Layer
from . import functional

__all__ = ["CrossEntropyLoss"]


class CrossEntropyLoss(Layer):
    """Cross entropy of logits [N, C, ...] and classes [N, ...] or probabilities [N, C, ...].

    Arguments:
        weight: [C], the weight of each class.
        ignore_index: class that does not count. Default: -100.
        reduction: "mean" (by the weights of the classes), "sum" or "none". Default: "mean".
        label_smoothing: the part of each label that all classes share. Default: 0.0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> loss = paddle.compat.nn.CrossEntropyLoss()
        >>> round(loss(paddle.zeros([2, 4, 3]), paddle.zeros([2, 3], "int64")).item(), 4)  # log(4)
        1.3863
    """

    def __init__(
        self, weight: Any = None, size_average: Any = None, ignore_index: int = -100, reduce: Any = None,
        reduction: str = "mean", label_smoothing: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__()
        functional.check_deprecated("CrossEntropyLoss", size_average, reduce)
        self.register_buffer("weight", weight)
        self.ignore_index, self.reduction, self.label_smoothing = ignore_index, reduction, label_smoothing

    def forward(self, input: Any, target: Any) -> Any:
        """Return the loss."""
        return functional.cross_entropy(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )  # fmt: skip
