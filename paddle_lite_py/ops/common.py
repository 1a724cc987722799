"""Linear and bilinear maps, embedding, and other functions of ids and lengths."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..core import dtypes
from ..core.interpreter import state
from ..core.symbolic import is_symbolic
from ..dispatch.call_cache import call_cached
from ..dispatch.define import composite, op
from ..eager.tensor import Tensor
from .dynamic import is_eager, known
from .gather import one_hot
from .linalg import product
from .types import Array

__all__ = ["bilinear", "embedding", "gather_tree", "linear", "one_hot", "sequence_mask"]


@op(amp="white")
def linear(x: Array, weight: Array, bias: Array | None = None, /) -> Any:
    """Apply a linear transformation: `y = x @ weight + bias`.

    Returns:
        A tensor [..., out_features].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, w = paddle.to_tensor([[1.0, 2.0]]), paddle.to_tensor([[1.0], [3.0]])
        >>> paddle.nn.functional.linear(x, w, paddle.to_tensor([0.5])).tolist()
        [[7.5]]
    """
    if x.shape[-1] != weight.shape[0]:
        raise ValueError(
            f"the last dimension of x is {x.shape[-1]}, but weight {list(weight.shape)} takes {weight.shape[0]}"
        )
    out = product(x, weight)
    return out if bias is None else out + bias


@op(amp="white")
def bilinear(x1: Array, x2: Array, weight: Array, bias: Array | None = None, /) -> Any:
    """Apply a bilinear transformation: `y[n, k] = x1[n] @ weight[k] @ x2[n] + bias[k]`.

    Returns:
        A tensor [N, out_features].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, w = paddle.to_tensor([[1.0, 2.0]]), paddle.ones([1, 2, 2])
        >>> paddle.nn.functional.bilinear(x, x, w).tolist()
        [[9.0]]
    """
    out = jnp.einsum("bi,oij,bj->bo", x1, weight, x2)
    return out if bias is None else out + bias.reshape(-1)


@op(name="embedding", amp="float32")
def _embedding(x: Any, weight: Any, /, row: int | None) -> Any:
    # An id out of range reads as NaN, since the nearest row would be silently wrong. As in Paddle, -1
    # is padding if there is no padding row. Written in lax, since it is retraced for each sequence length:
    # the jnp version takes four times as long.
    n = x.ndim
    ids = lax.select(lax.lt(x, lax.full_like(x, 0)), lax.full_like(x, weight.shape[0]), x)
    rows = lax.GatherDimensionNumbers(offset_dims=(n,), collapsed_slice_dims=(0,), start_index_map=(0,))
    out = lax.gather(weight, lax.expand_dims(ids, (n,)), rows, (1, weight.shape[1]), mode="fill")
    padded = lax.eq(x, lax.full_like(x, -1 if row is None else row))
    return lax.select(lax.broadcast_in_dim(padded, out.shape, range(n)), lax.full_like(out, 0), out)


@op(name="limit_rows")
def _limit_rows(weight: Any, x: Any, /, max_norm: float, norm_type: float) -> Any:
    """Scale the rows of `weight` that `x` refers to down to `max_norm`."""
    norm = jnp.linalg.norm(weight, norm_type, axis=1, keepdims=True)
    named = jnp.zeros(weight.shape[0], bool).at[x.reshape(-1)].set(True)[:, None]
    return jnp.where(named & (norm > max_norm), weight * (max_norm / (norm + 1e-7)), weight).astype(weight.dtype)


@jax.custom_vjp
def _identity_with_counts(weight: Any, counts: Any) -> Any:
    return weight


def _divide_by_counts(counts: Any, g: Any) -> tuple[Any, None]:
    return (g / jnp.maximum(counts, 1)[:, None]).astype(g.dtype), None


_identity_with_counts.defvjp(lambda weight, counts: (weight, counts), _divide_by_counts)


@op(name="even_rows")
def _even_rows(weight: Any, x: Any, /) -> Any:
    """Return `weight` with the gradient of each row divided by its number of occurrences in `x`."""
    return _identity_with_counts(weight, jnp.zeros(weight.shape[0], jnp.int32).at[x.reshape(-1)].add(1))


@composite(around=call_cached("x", "weight"))
def embedding(
    x: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    sparse: bool = False,
    scale_grad_by_freq: bool = False,
    name: str | None = None,
) -> Any:
    """Look up rows of an embedding table: `out = weight[x]`.

    Arguments:
        x: integer tensor of row indices; an index out of range gives NaN.
        padding_idx: index whose row reads as zeros and receives no gradient; None: no such row.
        max_norm: rescale the rows that are read, in `weight` itself, to at most this norm; None: no rescaling.
        norm_type: order of that norm. Default: 2.0.
        sparse: store the table on parameter servers, in static programs of a job that has them. Default: False.
        scale_grad_by_freq: divide the gradient of each row by the number of its occurrences in `x`. Default: False.

    Returns:
        A tensor of shape [*x.shape, embedding_dim].

    Raises:
        ValueError: if `padding_idx` is out of range.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.nn.functional.embedding(paddle.to_tensor([1, 0]), w, padding_idx=0).tolist()
        [[3.0, 4.0], [0.0, 0.0]]
    """
    if weight.ndim != 2:
        raise ValueError(f"embedding: weight has {weight.ndim} dimensions; expected 2: rows and their length")
    rows = weight.shape[0]
    if sparse and (found := state.interpreter.look_up(x, weight, padding_idx)) is not None:
        return found
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise ValueError(f"embedding: padding_idx is {padding_idx}, but weight has {rows} rows")
    if max_norm is not None:
        weight._set_payload(_limit_rows(weight.detach(), x, float(max_norm), float(norm_type))._payload)
    if scale_grad_by_freq:
        weight = _even_rows(weight, x)
    return _embedding(x, weight, padding_idx if padding_idx is None else padding_idx % rows)


@op(name="sequence_mask", grad=False)
def _sequence_mask(x: Any, /, length: int, dtype: str) -> Any:
    return (jnp.arange(length) < x[..., None]).astype(dtypes.as_dtype(dtype).np)


def sequence_mask(x: Any, maxlen: Any = None, dtype: Any = "int64", name: Any = None) -> Any:
    """Create a mask from sequence lengths: `mask[..., j] = j < x[...]`.

    Returns:
        A tensor of shape [*x.shape, maxlen] in the dtype `dtype`; `maxlen` is the largest length by default, or
        if it is negative.

    Raises:
        DataDependentError: if `maxlen` is missing in a static program that is compiled without a call.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.sequence_mask(paddle.to_tensor([1, 3])).tolist()
        [[1, 0, 0], [1, 1, 1]]
    """
    negative = isinstance(maxlen, int) and maxlen < 0
    longest = x.max() if maxlen is None or negative else maxlen
    if isinstance(longest, Tensor):
        longest = int(longest) if is_eager() else known(longest, "sequence_mask() without maxlen", "maxlen=n, a number")
    return _sequence_mask(x, longest if is_symbolic(longest) else int(longest), dtype)


@op(grad=False, loops=True)
def gather_tree(ids: Array, parents: Array, /) -> Any:
    """Backtrace the full sequences of a beam search from ids and parent beams.

    Returns:
        The sequences, an integer tensor [time, batch, beams].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> ids, parents = paddle.to_tensor([[[1, 2]], [[3, 4]]]), paddle.to_tensor([[[0, 0]], [[1, 0]]])
        >>> paddle.nn.functional.gather_tree(ids, parents).tolist()
        [[[2, 1]], [[3, 4]]]
    """

    def step(beam: Any, at: Any) -> Any:
        token, parent = at
        return jnp.take_along_axis(parent, beam, -1), jnp.take_along_axis(token, beam, -1)

    beams = jnp.broadcast_to(jnp.arange(ids.shape[-1], dtype=parents.dtype), ids.shape[1:])
    return jax.lax.scan(step, beams, (ids, parents), reverse=True)[1]
