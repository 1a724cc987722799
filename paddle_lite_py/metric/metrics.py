"""Accuracy, precision, recall and area under the ROC curve."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.no_effect import Immaterial, no_effect, nothing_more
from ..dispatch.define import op
from ..eager.tensor import Tensor


def _host(x: Any) -> np.ndarray:
    return x.numpy() if isinstance(x, Tensor) else np.asarray(x)


class Metric:
    """Base of metrics: compute() works on the tensors of a batch, update() collects what it returned.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.metric.Accuracy, paddle.metric.Metric)
        True
    """

    def name(self) -> Any:
        """Name, or names of several values."""
        raise NotImplementedError(f"{type(self).__name__} must define name()")

    def reset(self) -> None:
        """Begin anew."""
        raise NotImplementedError(f"{type(self).__name__} must define reset()")

    def update(self, *args: Any) -> Any:
        """Take in what compute() returned for a batch."""
        raise NotImplementedError(f"{type(self).__name__} must define update()")

    def accumulate(self) -> Any:
        """The value over all batches so far."""
        raise NotImplementedError(f"{type(self).__name__} must define accumulate()")

    def compute(self, *args: Any) -> Any:
        """What update() needs of a batch; the arguments themselves by default."""
        return args


@op(name="correct_topk", grad=False)
def _correct(pred: Any, label: Any, /, k: int) -> Any:
    best = jax.lax.top_k(pred, k)[1]
    if label.ndim == pred.ndim and label.shape[-1] != 1:
        label = jnp.argmax(label, axis=-1, keepdims=True)
    elif label.ndim < pred.ndim:
        label = label[..., None]
    return (best == label).astype(jnp.float32)


@op(name="accuracy", grad=False)
def _accuracy(pred: Any, label: Any, /, k: int) -> Any:
    best = jax.lax.top_k(pred, k)[1]
    hits = jnp.sum(jnp.any(best == label.reshape(-1, 1), axis=-1), dtype=jnp.int32)
    total = jnp.int32(pred.shape[0])
    return hits.astype(jnp.float32) / total, hits, total


def accuracy(
    input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None, name: str | None = None
) -> Tensor:
    """Part of the rows of which the label is among the k largest elements.

    Arguments:
        input: [N, classes].
        label: [N, 1].
        correct, total: tensors that take the number of such rows, and of all.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> scores = paddle.to_tensor([[0.1, 0.9], [0.8, 0.2]])
        >>> paddle.metric.accuracy(scores, paddle.to_tensor([[1], [1]])).item()
        0.5
    """
    part, *counts = _accuracy(input, label, k)
    for given, count in zip((correct, total), counts, strict=True):
        if given is not None:
            given._rebind(count, True)
    return part


class Accuracy(Metric):
    """Part of the samples of which the label is among the k largest elements, for each k of topk.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> metric = paddle.metric.Accuracy()
        >>> correct = metric.compute(paddle.to_tensor([[0.1, 0.9], [0.8, 0.2]]), paddle.to_tensor([[1], [1]]))
        >>> _ = metric.update(correct); metric.accumulate()
        0.5
    """

    def __init__(self, topk: tuple[int, ...] = (1,), name: str | None = None, *args: Any, **kwargs: Any) -> None:
        nothing_more(Accuracy, args, kwargs)
        self.topk = tuple(topk)
        self.maxk = max(self.topk)
        base = name or "acc"
        self._names = [base] if self.maxk == 1 else [f"{base}_top{k}" for k in self.topk]
        self.total: list[float] = []
        self.count: list[int] = []
        self.reset()

    @no_effect(args=Immaterial("of many labels the first counts"))
    def compute(self, pred: Any, label: Any, *args: Any) -> Tensor:
        """For each sample and each of the maxk largest elements whether it is the label."""
        return _correct(pred, label, self.maxk)

    @no_effect(args=Immaterial("compute() gives one result"))
    def update(self, correct: Any, *args: Any) -> Any:
        """Take in what compute() returned; the accuracy of this batch."""
        found = _host(correct)
        samples = int(np.prod(found.shape[:-1]))
        hits = [float(found[..., :k].sum()) for k in self.topk]
        self.total = [t + h for t, h in zip(self.total, hits, strict=True)]
        self.count = [c + samples for c in self.count]
        return _one_or_all([h / samples for h in hits])

    def reset(self) -> None:
        """Begin anew."""
        self.total = [0.0] * len(self.topk)
        self.count = [0] * len(self.topk)

    def accumulate(self) -> Any:
        """The accuracy over all batches, or a list of them."""
        return _one_or_all([t / c if c else 0.0 for t, c in zip(self.total, self.count, strict=True)])

    def name(self) -> list[str]:
        """The names."""
        return self._names


def _one_or_all(values: list[float]) -> Any:
    return values[0] if len(values) == 1 else values


class _Binary(Metric):
    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
        nothing_more(type(self), args, kwargs)
        self._name = name
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self.tp = self.fp = self.fn = 0

    def update(self, preds: Any, labels: Any) -> None:
        """Take in probabilities and labels 0 or 1; above 0.5 counts as 1."""
        found = np.floor(_host(preds).ravel() + 0.5).astype(np.int64)
        truth = _host(labels).ravel()
        self.tp += int(((found == 1) & (truth == 1)).sum())
        self.fp += int(((found == 1) & (truth != 1)).sum())
        self.fn += int(((found != 1) & (truth == 1)).sum())

    def name(self) -> str:
        """The name."""
        return self._name


class Precision(_Binary):
    """Of what is predicted to be 1, the part that is.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> metric = paddle.metric.Precision()
        >>> metric.update(np.array([0.1, 0.6, 0.8]), np.array([0, 1, 0])); metric.accumulate()
        0.5
    """

    def __init__(self, name: str = "precision", *args: Any, **kwargs: Any) -> None:
        super().__init__(name, *args, **kwargs)

    def accumulate(self) -> float:
        """The precision over all batches."""
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 0.0


class Recall(_Binary):
    """Of what is 1, the part that is predicted to be.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> m = paddle.metric.Recall()
        >>> m.update(np.array([0.9, 0.1]), np.array([1, 1])); m.accumulate()
        0.5
    """

    def __init__(self, name: str = "recall", *args: Any, **kwargs: Any) -> None:
        super().__init__(name, *args, **kwargs)

    def accumulate(self) -> float:
        """The recall over all batches."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 0.0


class Auc(Metric):
    """Area under the ROC curve, from a histogram of the predictions.

    Arguments:
        curve: "ROC".
        num_thresholds: bins of the histogram, less one.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> m = paddle.metric.Auc()
        >>> m.update(np.array([[0.8, 0.2], [0.3, 0.7]]), np.array([[0], [1]])); float(m.accumulate())
        1.0
    """

    def __init__(
        self, curve: str = "ROC", num_thresholds: int = 4095, name: str = "auc", *args: Any, **kwargs: Any
    ) -> None:
        nothing_more(Auc, args, kwargs)
        if curve != "ROC":
            raise ValueError(f"Auc: curve is {curve!r}; expected 'ROC'")
        self._num_thresholds, self._name = num_thresholds, name
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._positive = np.zeros(self._num_thresholds + 1)
        self._negative = np.zeros(self._num_thresholds + 1)

    def update(self, preds: Any, labels: Any) -> None:
        """Take in probabilities [N, 2] (the second counts) or [N], and labels 0 or 1."""
        found = _host(preds)
        found = found[:, 1] if found.ndim == 2 and found.shape[1] == 2 else found.ravel()
        bins = (found * self._num_thresholds).astype(np.int64)
        truth = _host(labels).ravel().astype(bool)
        self._positive += np.bincount(bins[truth], minlength=self._num_thresholds + 1)
        self._negative += np.bincount(bins[~truth], minlength=self._num_thresholds + 1)

    @staticmethod
    def trapezoid_area(x1: float, x2: float, y1: float, y2: float) -> float:
        """Area between two points and the axis."""
        return abs(x1 - x2) * (y1 + y2) / 2.0

    def accumulate(self) -> float:
        """The area over all batches."""
        above = np.concatenate([[0.0], np.cumsum(self._positive[::-1])])
        wrong = np.concatenate([[0.0], np.cumsum(self._negative[::-1])])
        if not above[-1] or not wrong[-1]:
            return 0.0
        area = ((wrong[1:] - wrong[:-1]) * (above[1:] + above[:-1]) / 2).sum()
        return float(area / above[-1] / wrong[-1])

    def name(self) -> str:
        """The name."""
        return self._name
