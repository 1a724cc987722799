"""Metrics as operators of a program."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..core.interpreter import no_grad
from ..core.no_effect import Refused, no_effect
from ..dispatch.define import op
from ..eager.tensor import Tensor
from ..metric import accuracy
from ..ops.joining import concat
from .variables import create_global_var

__all__ = ["accuracy", "auc", "ctr_metric_bundle"]


@op(name="auc_histogram", grad=False)
def _histogram(pred: Any, label: Any, /, bins: int) -> Any:
    """Return the numbers of positives and negatives in each bin of the prediction, int64[2, bins]."""
    index = jnp.clip((pred[:, -1] * (bins - 1)).astype(jnp.int32), 0, bins - 1)
    truth = label.reshape(-1).astype(bool)
    counts = [jnp.zeros(bins, jnp.int64).at[index].add(t.astype(jnp.int64)) for t in (truth, ~truth)]
    return jnp.stack(counts)


@op(name="auc_area", grad=False)
def _area(counts: Any, /) -> Any:
    """Return the area under the ROC curve of a histogram; 0 where one class is missing."""
    up = jnp.cumsum(counts[:, ::-1].astype(jnp.float64), axis=1)
    above, wrong = jnp.pad(up[0], (1, 0)), jnp.pad(up[1], (1, 0))
    area = ((wrong[1:] - wrong[:-1]) * (above[1:] + above[:-1]) / 2).sum()
    return jnp.where(above[-1] * wrong[-1] > 0, area / jnp.maximum(above[-1] * wrong[-1], 1), 0.0)


_ALIKE = Refused("instances count alike; take those that count before the call")


@no_effect(
    topk=Refused("the last column of input counts"),
    ins_tag_weight=_ALIKE,
)
def auc(
    input: Tensor, label: Tensor, curve: str = "ROC", num_thresholds: int = 4095, topk: int = 1, slide_steps: int = 1,
    ins_tag_weight: Any = None,
) -> tuple[Tensor, Tensor, list[Tensor]]:  # fmt: skip
    """Compute the area under the ROC curve over all batches so far, and over the last ones.

    Arguments:
        input: probabilities [N, 2], of which the second column is used.
        label: [N, 1], 0 or 1.
        curve: "ROC". Default: 'ROC'.
        num_thresholds: number of bins of the histogram, minus one. Default: 4095.
        slide_steps: number of last batches, including this one, of the second result; 0: all. Default: 1.

    Returns:
        The area over all batches, that over the last batches, and four int64 states [1, num_thresholds + 1]: histograms
            of positives and negatives, of the last batches and of all.

    Raises:
        ValueError: for another curve than "ROC", or a negative number of batches.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [2, 2], "float32")
        ...     y = paddle.static.auc(x, paddle.to_tensor([[1], [0]]))
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> float(exe.run(main, feed={"x": np.array([[0.2, 0.8], [0.9, 0.1]], "float32")}, fetch_list=[y[0]])[0])
        1.0
        >>> paddle.disable_static()
    """
    if curve != "ROC":
        raise ValueError(f"auc: curve is {curve!r}; expected 'ROC'")
    if slide_steps < 0:
        raise ValueError(f"auc: slide_steps is {slide_steps}; expected how many batches, or 0 for all")
    fn: Any = _histogram
    area: Any = _area
    states = [create_global_var([1, num_thresholds + 1], 0, "int64", persistable=True) for _ in range(4)]
    with no_grad():
        batch = fn(input.detach(), label, bins=num_thresholds + 1)
        total = concat(states[2:], 0) + batch
        last = _of_last(batch, slide_steps) if slide_steps else total
        for i, rows in enumerate((last[:1], last[1:], total[:1], total[1:])):
            states[i]._set_payload(rows._payload)
        return area(total), area(last), states


def _of_last(batch: Tensor, count: int) -> Tensor:
    """Return the sum of what this batch and those before it gave, of so many in all."""
    if count == 1:
        return batch
    last = create_global_var([count, *batch.shape], 0, "int64")
    last._set_payload(concat([last[1:], batch.unsqueeze(0)], 0)._payload)
    return last.sum(0)


@no_effect(ins_tag_weight=_ALIKE)
def ctr_metric_bundle(input: Tensor, label: Tensor, ins_tag_weight: Any = None) -> tuple[Tensor, ...]:
    """Accumulate sums for click-through rate metrics over all batches so far.

    Arguments:
        input: probabilities [N, 1].
        label: [N, 1], 0 or 1.

    Returns:
        Six states [1]: the sums of squared errors, absolute errors, probabilities and odds p / (1 - p), and the
            numbers of positives and samples.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [2, 1], "float32")
        ...     y = paddle.static.ctr_metric_bundle(x, paddle.ones([2, 1]))
        >>> len(y)
        6
        >>> paddle.disable_static()
    """
    with no_grad():
        pred, truth = input.detach(), label.astype(input.dtype)
        error = pred - truth
        parts = [(error * error).sum(), error.abs().sum(), pred.sum(), (pred / (1.0 - pred)).sum(), truth.sum()]
        found = [*parts, (pred * 0 + 1).sum()]
        out = []
        for part in found:
            total = create_global_var([1], 0.0, input.dtype)
            total._set_payload((total + part)._payload)
            out.append(total)
    return tuple(out)
