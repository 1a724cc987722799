"""Connectionist temporal classification (CTC): the loss of label sequences without a given alignment."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.call_cache import call_cached
from ..dispatch.define import op
from ..eager.tensor import Tensor
from .losses import reduce

__all__ = ["ctc_loss"]

# Stands for log(0), but finite, so that no gradient becomes NaN.
_NEVER = -1e30


@op(name="ctc_loss", amp="black", loops=True)
def _ctc(logits: Any, labels: Any, input_lengths: Any, label_lengths: Any, /, *, blank: int) -> Any:
    """Compute the negative log likelihood of each label sequence under logits [time, batch, classes]."""
    log_p = jax.nn.log_softmax(logits, axis=-1)
    batch, longest = labels.shape
    # Blanks surround each label.
    states = jnp.full((batch, 2 * longest + 1), blank, labels.dtype).at[:, 1::2].set(labels)
    at = jnp.arange(2 * longest + 1)
    skips = (at >= 2) & (states != blank) & (states != jnp.roll(states, 2, axis=1))
    emitted = jnp.take_along_axis(log_p, jnp.broadcast_to(states, (log_p.shape[0], *states.shape)), axis=2)
    first = jnp.where(at < 2, emitted[0], _NEVER)

    def step(alpha: Any, now: Any) -> Any:
        e, t = now
        one = jnp.pad(alpha, ((0, 0), (1, 0)), constant_values=_NEVER)[:, :-1]
        two = jnp.pad(alpha, ((0, 0), (2, 0)), constant_values=_NEVER)[:, :-2]
        total = jax.nn.logsumexp(jnp.stack([alpha, one, jnp.where(skips, two, _NEVER)]), axis=0)
        return jnp.where((t < input_lengths)[:, None], jnp.maximum(total + e, _NEVER), alpha), None

    alpha, _ = jax.lax.scan(step, first, (emitted[1:], jnp.arange(1, log_p.shape[0])))
    end = 2 * label_lengths[:, None].astype(jnp.int32)
    last = jnp.take_along_axis(alpha, end, axis=1)
    before = jnp.where(end > 0, jnp.take_along_axis(alpha, jnp.maximum(end - 1, 0), axis=1), _NEVER)
    return -jnp.logaddexp(last, before)[:, 0]


@op(name="ctc_scaled")
def _by_times(loss: Any, lengths: Any, /) -> Any:
    """Return the loss with its gradient divided by the number of steps."""
    part = loss / lengths.astype(loss.dtype)
    return part + jax.lax.stop_gradient(loss - part)


@op(name="ctc_reduce")
def _reduced(loss: Any, label_lengths: Any, /, reduction: str, zero_infinity: bool) -> Any:
    loss = jnp.where(loss > -_NEVER / 2, 0 if zero_infinity else jnp.inf, loss)
    return reduce(loss / label_lengths.astype(loss.dtype) if reduction == "mean" else loss, reduction)


@call_cached("log_probs", "labels", "input_lengths", "label_lengths")
def ctc_loss(
    log_probs: Tensor,
    labels: Tensor,
    input_lengths: Tensor,
    label_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    norm_by_times: bool = False,
    zero_infinity: bool = False,
) -> Any:
    """Compute the CTC loss: the negative log likelihood of label sequences, summed over all alignments.

    Arguments:
        log_probs: float tensor [time, batch, classes], logits or log probabilities (`log_softmax()` is applied here).
        labels: integer tensor [batch, max_label_length], padded label sequences.
        input_lengths, label_lengths: integer tensors [batch].
        blank: int, index of the blank class. Default: 0.
        reduction: "mean": divide each loss by its label length, then average; "sum" or "none". Default: "mean".
        norm_by_times: divide the gradient by the input length. Default: False.
        zero_infinity: set infinite losses (sequences that cannot be aligned) to 0. Default: False.

    Returns:
        The loss: 0-D for "mean" and "sum", [batch] for "none".

    Source: Graves et al., Connectionist Temporal Classification, 2006.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> one = paddle.to_tensor([1])
        >>> loss = paddle.nn.functional.ctc_loss(paddle.zeros([1, 1, 2]), paddle.to_tensor([[1]], "int32"), one, one)
        >>> round(float(loss), 4)
        0.6931
    """
    fn: Any = _ctc
    loss = fn(log_probs, labels, input_lengths, label_lengths, blank=blank)
    if norm_by_times:
        loss = _by_times(loss, input_lengths)
    last: Any = _reduced
    return last(loss, label_lengths, reduction, zero_infinity)
