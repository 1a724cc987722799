"""Linear maps, embedding and dropout."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..op import op

__all__ = ["dropout", "embedding", "linear"]


@op(amp="white")
def linear(x: Any, weight: Any, bias: Any = None, /) -> Any:
    """x @ weight + bias; weight is [in, out]."""
    out = jnp.matmul(x, weight)
    return out if bias is None else out + bias


@op
def embedding(x: Any, weight: Any, /, padding_idx: int | None = None, max_norm: float | None = None,
              norm_type: float = 2.0, sparse: bool = False, scale_grad_by_freq: bool = False) -> Any:  # fmt: skip
    """Rows of weight for the ids in x; the row padding_idx reads as zeros and gets no gradient."""
    out = jnp.take(weight, x, axis=0, mode="clip")
    if padding_idx is None:
        return out
    row = padding_idx if padding_idx >= 0 else padding_idx + weight.shape[0]
    return jnp.where((x == row)[..., None], 0, out).astype(out.dtype)


@op(name="dropout", random=True)
def _dropout(key: Any, x: Any, /, p: float, axis: Any, upscale: bool) -> Any:
    shape = x.shape
    if axis is not None:
        kept = {a % x.ndim for a in ((axis,) if isinstance(axis, int) else axis)}
        shape = tuple([n if i in kept else 1 for i, n in enumerate(shape)])
    keep = jax.random.bernoulli(key, 1 - p, shape)
    return jnp.where(keep, x / (1 - p) if upscale and p < 1 else x, 0).astype(x.dtype)


def dropout(
    x: Any, p: float = 0.5, axis: Any = None, training: bool = True, mode: str = "upscale_in_train", name: Any = None
) -> Any:
    """Zero each element with probability p while training.

    Arguments:
        axis: axes along which elements are dropped one by one; all others share one draw.
        mode: "upscale_in_train" divides the kept elements by 1 - p; "downscale_in_infer" multiplies by 1 - p otherwise.

    Raises:
        ValueError: if p is not in [0, 1] or mode is not one of the two.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout: p is {p!r}; expected a probability between 0 and 1")
    if mode not in ("upscale_in_train", "downscale_in_infer"):
        raise ValueError(f"dropout: mode is {mode!r}; expected 'upscale_in_train' or 'downscale_in_infer'")
    if training and p > 0:
        return _dropout(x, p, axis, mode == "upscale_in_train")
    return x if mode == "upscale_in_train" or training else x * (1 - p)
