"""The loss of a recurrent neural network transducer (RNN-T)."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.define import op
from .losses import reduce

__all__ = ["rnnt_loss"]

# Stands for log(0), but finite, so that no gradient becomes NaN.
_NEVER = -1e30


def _skew(x: Any) -> Any:
    """Skew [batch, time, labels] to diagonals [time + labels - 1, batch, labels]: entry (n, u) is x at (n - u, u)."""
    time, labels = x.shape[1:]
    t = jnp.arange(time + labels - 1)[:, None] - jnp.arange(labels)
    found = jnp.moveaxis(x, 0, -1)[jnp.clip(t, 0, time - 1), jnp.arange(labels)]
    return jnp.where(((t >= 0) & (t < time))[..., None], found, _NEVER).swapaxes(1, 2)


@op(name="rnnt_loss", amp="black", loops=True)
def _rnnt(
    x: Any, labels: Any, times: Any, lengths: Any, /, *, blank: int, fastemit_lambda: float, reduction: str
) -> Any:
    silent = x[..., blank]
    spoken = jnp.take_along_axis(x[:, :, :-1], labels[:, None, :, None].astype(jnp.int32), -1)[..., 0]
    # FastEmit scales the gradient of emitted labels, not their value.
    spoken = spoken + fastemit_lambda * (spoken - jax.lax.stop_gradient(spoken))
    spoken = jnp.pad(spoken, ((0, 0), (0, 0), (0, 1)), constant_values=_NEVER)
    by_blank, by_label = _skew(silent), _skew(spoken)
    first = jnp.where(jnp.arange(x.shape[2]) == 0, 0.0, jnp.full(x.shape[:1] + x.shape[2:3], _NEVER, x.dtype))

    def step(alpha: Any, now: Any) -> Any:
        stay, emit = now
        moved = jnp.pad((alpha + emit)[:, :-1], ((0, 0), (1, 0)), constant_values=_NEVER)
        following = jnp.maximum(jnp.logaddexp(alpha + stay, moved), _NEVER)
        return following, alpha

    _, alphas = jax.lax.scan(step, first.astype(x.dtype), (by_blank, by_label))
    batch, u, t = jnp.arange(x.shape[0]), lengths.astype(jnp.int32), times.astype(jnp.int32) - 1
    return reduce(-(alphas[t + u, batch, u] + silent[batch, t, u]), reduction)


def rnnt_loss(
    input: Any,
    label: Any,
    input_lengths: Any,
    label_lengths: Any,
    blank: int = 0,
    fastemit_lambda: float = 0.001,
    reduction: str = "mean",
    name: Any = None,
) -> Any:
    """Compute the RNN-T loss: the negative log likelihood of label sequences, summed over all alignments.

    Arguments:
        input: float tensor [batch, time, max_label_length + 1, classes], log probabilities.
        label: integer tensor [batch, max_label_length], padded label sequences.
        input_lengths, label_lengths: integer tensors [batch].
        blank: int, index of the blank class. Default: 0.
        fastemit_lambda: weight of the FastEmit regularization, which favors early labels. Default: 0.001.
        reduction: "mean" (over the batch), "sum" or "none". Default: "mean".

    Returns:
        The loss: 0-D for "mean" and "sum", [batch] for "none".

    Raises:
        ValueError: if the shapes do not match.

    Source: Graves, Sequence Transduction with Recurrent Neural Networks, 2012; Yu et al., FastEmit, 2021.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, one = paddle.nn.functional.log_softmax(paddle.zeros([1, 1, 2, 2])), paddle.to_tensor([1], "int32")
        >>> round(paddle.nn.functional.rnnt_loss(x, one.reshape([1, 1]), one, one).item(), 4)
        1.3863
    """
    if input.ndim != 4 or label.ndim != 2 or input.shape[2] != label.shape[1] + 1:
        raise ValueError(
            f"rnnt_loss: input of shape {list(input.shape)} and label of shape {list(label.shape)}; expected "
            "[batch, time, longest + 1, classes] and [batch, longest]"
        )
    fn: Any = _rnnt
    settings: dict[str, Any] = {"blank": blank, "fastemit_lambda": float(fastemit_lambda), "reduction": reduction}
    return fn(input, label, input_lengths, label_lengths, **settings)
