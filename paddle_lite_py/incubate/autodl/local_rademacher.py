"""Regularization by local Rademacher complexity: how well a network's margins correlate with random signs."""

from __future__ import annotations

from ...eager.tensor import Tensor
from ...ops.random import randint


def local_rademacher_loss(logits: Tensor, label: Tensor, samples: int = 50) -> Tensor:
    """Estimate the local Rademacher complexity of a classifier at a batch, to be added to its loss.

    The estimate is the mean over draws of |mean of s_ij * (logits_ij - logits_iy)|, over examples i and the classes j
    other than the label y, where the signs s_ij are drawn anew each time.

    Arguments:
        logits: scores of classes, [batch, classes], of a floating dtype; at least two classes.
        label: the class of each example, [batch] or [batch, 1], integers.
        samples: how many times signs are drawn.

    Returns:
        The estimate, a tensor without dimensions of the dtype of `logits`.

    Raises:
        ValueError: the shapes do not fit each other, or there is one class alone.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> logits, label = paddle.to_tensor([[2.0, 0.0], [0.0, 2.0]]), paddle.to_tensor([0, 1])
        >>> loss = paddle.nn.functional.cross_entropy(logits, label)
        >>> total = loss + 0.7 * paddle.incubate.autodl.local_rademacher_loss(logits, label)
        >>> bool(total > loss)
        True

    References:
        Yang, Li and Huan: An Empirical Study on Regularization of Deep Neural Networks by Local Rademacher Complexity,
        arXiv:1902.00873.
    """
    if logits.ndim != 2 or logits.shape[1] == 1:
        raise ValueError(f"logits is {[*logits.shape]}; expected [batch, classes] with at least two classes")
    if label.ndim not in (1, 2) or (label.ndim == 2 and label.shape[1] != 1):
        raise ValueError(f"label is {[*label.shape]}; expected [batch] or [batch, 1]")
    if samples < 1:
        raise ValueError(f"samples is {samples}; expected at least 1")
    margins = logits - logits.take_along_axis(label.reshape([-1, 1]), 1)  # 0 at the label
    n, classes = margins.shape
    signs = (randint(0, 2, [samples, n, classes]) * 2 - 1).astype(logits.dtype)
    return (signs * margins).sum([1, 2]).abs().mean() / (n * (classes - 1))
