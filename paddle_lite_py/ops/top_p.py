"""Top-p (nucleus) sampling."""

from __future__ import annotations

from typing import Any, Literal

import jax.numpy as jnp

from ..core.no_effect import Refused, no_effect
from ..dispatch.define import composite, op
from ..eager.tensor import Tensor
from . import ordering
from .random import uniform
from .search import topk

__all__ = ["top_p_sampling"]


@op(name="top_p", grad=False)
def _drawn(x: Any, ps: Any, threshold: Any, draw: Any, /, truncated: bool) -> Any:
    """Choose a category of each row by uniform numbers, the most probable first; return its probability and index."""
    order = ordering.argsort(-x, -1)
    p = jnp.take_along_axis(x, order, -1).astype(jnp.float32)
    before = jnp.cumsum(p, axis=-1) - p
    kept = (before < ps.reshape(-1, 1)) | (not truncated)
    kept = (kept & (p >= threshold.reshape(-1, 1))).at[:, 0].set(True)
    total = jnp.cumsum(jnp.where(kept, p, 0), -1)
    at = jnp.sum(total <= draw * total[:, -1:], -1, keepdims=True)  # never one of size 0
    index = jnp.take_along_axis(order, jnp.minimum(at, x.shape[-1] - 1), -1)
    return jnp.take_along_axis(x, index, -1), index.astype(jnp.int64)


@composite(methods=["top_p_sampling"])
@no_effect(topp_seed=Refused("the rows are drawn from one stream, which `seed` begins"))
def top_p_sampling(
    x: Tensor,
    ps: Tensor,
    threshold: Tensor | None = None,
    topp_seed: Tensor | None = None,
    seed: int = -1,
    k: int = 0,
    mode: Literal["truncated", "non-truncated"] = "truncated",
    return_top: bool = False,
    name: str | None = None,
) -> Any:
    """Sample one category per row among the most probable ones whose total probability reaches `ps`.

    Arguments:
        x: float tensor [rows, categories], probabilities.
        ps: float tensor [rows], the total probability to sample from.
        threshold: float tensor [rows], a lower bound of the probabilities sampled; None: no bound.
        seed: int; above 0: use a separate random stream with this seed, so that each call returns the same. Default:
            -1.
        k: int, how many of the largest probabilities `return_top` returns. Default: 0.
        mode: "truncated" or "non-truncated": sample among all categories above the threshold. Default: "truncated".
        return_top: return the k largest probabilities and their indices as well. Default: False.

    Returns:
        (values, indices): the sampled probabilities and their category indices, both [rows, 1].

    Raises:
        ValueError: if `mode` is invalid.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]])
        >>> top_p_sampling(x, paddle.to_tensor([0.5, 0.4]))[1].tolist()
        [[2], [0]]
    """
    if mode not in ("truncated", "non-truncated"):
        raise ValueError(f"mode is {mode!r}; expected 'truncated' or 'non-truncated'")
    draw = uniform([x.shape[0], 1], "float32", seed=max(seed, 0))
    found = _drawn(x, ps, ps * 0 if threshold is None else threshold, draw, mode == "truncated")
    return (*found, *topk(x, k)) if return_top else found
