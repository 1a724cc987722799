"""The edit distance of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.define import composite, op
from ..eager.tensor import Tensor
from .creation import ones

__all__ = ["edit_distance"]


def _without(tokens: Any, length: Any, ignored: tuple[int, ...]) -> tuple[Any, Any]:
    """Move the tokens that are not ignored to the front, in order, and count them."""
    at = jnp.arange(tokens.shape[0])
    left = (at < length) & ~jnp.isin(tokens, jnp.asarray(ignored, tokens.dtype))
    return tokens[jnp.argsort(~left, stable=True)], left.sum()


def _distance(a: Any, b: Any, n: Any, m: Any) -> Any:
    """Compute the Levenshtein distance of the first n tokens of a and the first m of b, row by row."""
    at = jnp.arange(b.shape[0] + 1)

    def row(before: Any, now: Any) -> tuple[Any, None]:
        token, i = now
        replaced = before[:-1] + (b != token)
        best = jnp.concatenate([before[:1] + 1, jnp.minimum(before[1:] + 1, replaced)])
        inserted = jax.lax.cummin(best - at) + at  # from any place to the left
        return jnp.where(i < n, inserted, before), None

    last, _ = jax.lax.scan(row, at, (a, jnp.arange(a.shape[0])))
    return last[m]


@op(name="edit_distance", grad=False, loops=True)
def _edit_distance(input: Any, label: Any, n: Any, m: Any, /, normalized: bool, ignored: tuple[int, ...]) -> Any:
    a, n = jax.vmap(lambda t, k: _without(t, k, ignored))(input, n)
    b, m = jax.vmap(lambda t, k: _without(t, k, ignored))(label, m)
    found = jax.vmap(_distance)(a, b, n, m).astype(jnp.float32)
    return (found / m if normalized else found)[:, None]


@composite
def edit_distance(
    input: Tensor,
    label: Tensor,
    normalized: bool = True,
    ignored_tokens: Sequence[int] | None = None,
    input_length: Tensor | None = None,
    label_length: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute the Levenshtein distance: the fewest insertions, deletions and substitutions between sequences.

    Arguments:
        input, label: integer tensors [batch, length], token sequences.
        normalized: divide by the length of the label. Default: True.
        ignored_tokens: list of tokens removed before the comparison; None: none.
        input_length, label_length: integer tensors [batch], the lengths of the sequences; None: the full length.

    Returns:
        (count, distance): the number of sequences, int64 [1], and the float distances [batch, 1].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> i = paddle.to_tensor
        >>> edit_distance(i([[1, 2, 3]]), i([[1, 3, 4, 1]]), normalized=False)[1].tolist()
        [[3.0]]
    """
    made: Any = _edit_distance
    lengths = [
        ones([t.shape[0]], "int64") * t.shape[1] if n is None else n.reshape([-1])
        for t, n in ((input, input_length), (label, label_length))
    ]
    found = made(input, label, *lengths, normalized, tuple(ignored_tokens or ()))
    return ones([1], "int64") * input.shape[0], found
