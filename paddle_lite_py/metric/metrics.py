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
    """Base class of metrics.

    compute() runs on the tensors of a batch and may be compiled; update() accumulates its results on the host;
    accumulate() returns the metric over all batches since reset().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.metric.Accuracy, paddle.metric.Metric)
        True
    """

    def name(self) -> Any:
        """Return the name of the metric, or a list of names."""
        raise NotImplementedError(f"{type(self).__name__} must define name()")

    def reset(self) -> None:
        """Reset the accumulated state."""
        raise NotImplementedError(f"{type(self).__name__} must define reset()")

    def update(self, *args: Any) -> Any:
        """Accumulate the results of compute() for a batch."""
        raise NotImplementedError(f"{type(self).__name__} must define update()")

    def accumulate(self) -> Any:
        """Return the metric over all batches since reset()."""
        raise NotImplementedError(f"{type(self).__name__} must define accumulate()")

    def compute(self, *args: Any) -> Any:
        """Compute what update() needs from the outputs and labels of a batch; by default returns its arguments."""
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
    """Compute the top-k accuracy: the fraction of rows whose label is among the k largest scores.

    Arguments:
        input: scores [N, classes].
        label: integer class ids [N, 1].
        k: number of largest scores to consider. Default: 1.
        correct: tensor that receives the number of correct rows; None: not needed.
        total: tensor that receives the number of rows; None: not needed.

    Returns:
        A float32 scalar.

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
    """Top-k accuracy: the fraction of samples whose label is among the k largest scores.

    Arguments:
        topk: the values of k; with several, the metric has one value for each. Default: (1,).
        name: name of the metric; None: "acc".

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
        """Return for each sample whether each of its largest scores belongs to the label.

        Arguments:
            pred: scores [N, ..., classes].
            label: class ids [N, ...] or [N, ..., 1], or one-hot labels.

        Returns:
            A float tensor [N, ..., max(topk)] of zeros and ones.
        """
        return _correct(pred, label, self.maxk)

    @no_effect(args=Immaterial("compute() gives one result"))
    def update(self, correct: Any, *args: Any) -> Any:
        """Accumulate the results of compute().

        Returns:
            The accuracy of this batch, or a list with one for each k.
        """
        found = _host(correct)
        samples = int(np.prod(found.shape[:-1]))
        hits = [float(found[..., :k].sum()) for k in self.topk]
        self.total = [t + h for t, h in zip(self.total, hits, strict=True)]
        self.count = [c + samples for c in self.count]
        return _one_or_all([h / samples for h in hits])

    def reset(self) -> None:
        """Reset the counts."""
        self.total = [0.0] * len(self.topk)
        self.count = [0] * len(self.topk)

    def accumulate(self) -> Any:
        """Return the accuracy over all batches, or a list with one for each k."""
        return _one_or_all([t / c if c else 0.0 for t, c in zip(self.total, self.count, strict=True)])

    def name(self) -> list[str]:
        """Return the list of names."""
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
        """Return the name."""
        return self._name


class Precision(_Binary):
    """Precision of binary classification: `true positives / (true positives + false positives)`.

    Predictions above 0.5 count as positive.

    Arguments:
        name: name of the metric. Default: 'precision'.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> metric = paddle.metric.Precision()
        >>> metric.update(np.array([0.1, 0.6, 0.8]), np.array([0, 1, 0])); metric.accumulate()
        0.5
    """

    def __init__(self, name: str = "precision", *args: Any, **kwargs: Any) -> None:
        super().__init__(name, *args, **kwargs)

    def accumulate(self) -> float:
        """Return the precision over all batches."""
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 0.0


class Recall(_Binary):
    """Recall of binary classification: `true positives / (true positives + false negatives)`.

    Predictions above 0.5 count as positive.

    Arguments:
        name: name of the metric. Default: 'recall'.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> m = paddle.metric.Recall()
        >>> m.update(np.array([0.9, 0.1]), np.array([1, 1])); m.accumulate()
        0.5
    """

    def __init__(self, name: str = "recall", *args: Any, **kwargs: Any) -> None:
        super().__init__(name, *args, **kwargs)

    def accumulate(self) -> float:
        """Return the recall over all batches."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 0.0


class Auc(Metric):
    """Area under the ROC curve of binary classification, from a histogram of the predictions.

    Arguments:
        curve: "ROC". Default: 'ROC'.
        num_thresholds: number of thresholds, the bins of the histogram minus one. Default: 4095.
        name: name of the metric. Default: 'auc'.

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
        """Reset the histogram."""
        self._positive = np.zeros(self._num_thresholds + 1)
        self._negative = np.zeros(self._num_thresholds + 1)

    def update(self, preds: Any, labels: Any) -> None:
        """Accumulate a batch.

        Arguments:
            preds: probabilities [N, 2], of which the second column is used, or [N].
            labels: 0 or 1, [N] or [N, 1].
        """
        found = _host(preds)
        found = found[:, 1] if found.ndim == 2 and found.shape[1] == 2 else found.ravel()
        bins = (found * self._num_thresholds).astype(np.int64)
        truth = _host(labels).ravel().astype(bool)
        self._positive += np.bincount(bins[truth], minlength=self._num_thresholds + 1)
        self._negative += np.bincount(bins[~truth], minlength=self._num_thresholds + 1)

    @staticmethod
    def trapezoid_area(x1: float, x2: float, y1: float, y2: float) -> float:
        """Return the area of the trapezoid between two points and the axis."""
        return abs(x1 - x2) * (y1 + y2) / 2.0

    def accumulate(self) -> float:
        """Return the area over all batches."""
        above = np.concatenate([[0.0], np.cumsum(self._positive[::-1])])
        wrong = np.concatenate([[0.0], np.cumsum(self._negative[::-1])])
        if not above[-1] or not wrong[-1]:
            return 0.0
        area = ((wrong[1:] - wrong[:-1]) * (above[1:] + above[:-1]) / 2).sum()
        return float(area / above[-1] / wrong[-1])

    def name(self) -> str:
        """Return the name."""
        return self._name
