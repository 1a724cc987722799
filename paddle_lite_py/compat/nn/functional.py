"""Functions for networks with torch's signatures and results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.argument_docs import document as _document
from ...core.interpreter import no_grad
from ...eager.pending import payload_of
from ...nn import functional as F
from ...ops.math_names import softmax as softmax_of
from ...ops.normalization import by_batch
from ...ops.padding import pad_last

__all__ = ["batch_norm", "dropout2d", "dropout3d", "linear", "pad", "scaled_dot_product_attention", "softmax", "unfold"]


def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: Any = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Batch normalization whose running variance is the unbiased one, n / (n - 1) times that of the batch.

    Arguments:
        input: [N, C, ...].
        running_mean, running_var: [C], updated in place while training; None there: nothing is kept.
        training: normalize by the batch's statistics. Default: False.
        momentum: the part of the new statistics. Default: 0.1.

    Raises:
        ValueError: in training each channel has one element.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> mean, variance = paddle.zeros([1]), paddle.ones([1])
        >>> x = paddle.to_tensor([[1.0], [3.0]])
        >>> _ = paddle.compat.nn.functional.batch_norm(x, mean, variance, training=True, momentum=0.5)
        >>> mean.tolist(), variance.tolist()
        ([1.0], [1.5])
    """
    if not training:
        return F.batch_norm(input, running_mean, running_var, weight, bias, epsilon=eps)
    count = input.size // input.shape[1]
    if count == 1:
        raise ValueError(
            f"batch_norm: the input {[*input.shape]} has one element in each channel; expected more in training"
        )
    out, mean, variance = by_batch(input, weight, bias, eps)
    if running_mean is not None:
        with no_grad():
            for running, new in ((running_mean, mean), (running_var, variance * (count / (count - 1)))):
                running._set_payload(payload_of(running * (1.0 - momentum) + new * momentum))
    return out


def _dropped(n: int, x: Any, p: float, training: bool, inplace: bool) -> Any:
    if x.ndim < 2:
        raise ValueError(f"dropout{n}d: input has {x.ndim} dimensions; expected batch and channels")
    out = F.dropout(x, p, [0, 1], training)
    return x._rebind(out, False) if inplace and out is not x else out


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Set whole channels of [N, C, H, W] to zero with probability p while training; of [N, C] single elements.

    Raises:
        ValueError: the input has less than two dimensions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.functional.dropout2d(paddle.ones([2, 3]), training=False).shape
        paddle.Size([2, 3])
    """
    return _dropped(2, input, p, training, inplace)


def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Set whole channels of [N, C, D, H, W] to zero with probability p while training; of [N, C] single elements.

    Raises:
        ValueError: the input has less than two dimensions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.functional.dropout3d(paddle.ones([2, 3, 4]), 0.0).shape
        paddle.Size([2, 3, 4])
    """
    return _dropped(3, input, p, training, inplace)


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """input @ weight.T + bias, with a weight [out, in].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.functional.linear(paddle.ones([1, 2]), paddle.ones([3, 2])).tolist()
        [[2.0, 2.0, 2.0]]
    """
    return F.linear(input, weight.t(), bias)


def pad(input: Any, pad: Sequence[int], mode: str = "constant", value: float = 0.0) -> Any:
    """Elements before and after, of the last axis first, then of the one before it, and so on.

    Arguments:
        mode: "constant", "reflect", "replicate" or "circular".

    Raises:
        ValueError: if there are more numbers than sides, or a number alone.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.functional.pad(paddle.ones([1, 1]), [1, 0], value=7.0).tolist()
        [[7.0, 1.0]]
    """
    widths = [int(p) for p in pad]
    if len(widths) % 2 or len(widths) > 2 * input.ndim:
        raise ValueError(f"pad: pad is {widths}; expected two numbers for each of up to {input.ndim} axes")
    return pad_last(input, list(zip(widths[::2], widths[1::2], strict=True)), mode, value)


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Attention of [batch, heads, length, size]; see paddle.nn.functional.scaled_dot_product_attention().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> q = paddle.ones([1, 2, 3, 4])
        >>> paddle.compat.nn.functional.scaled_dot_product_attention(q, q, q).shape
        paddle.Size([1, 2, 3, 4])
    """
    if query.ndim == 3:  # without heads
        q, k, v = (t.unsqueeze(1) for t in (query, key, value))
        mask = attn_mask.unsqueeze(-3) if attn_mask is not None and attn_mask.ndim == 3 else attn_mask
        return scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal, scale, enable_gqa).squeeze(1)
    q, k, v = (t.transpose([0, 2, 1, 3]) for t in (query, key, value))
    out = F.scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
    return out.transpose([0, 2, 1, 3])


def softmax(input: Any, dim: int | None = None, _stacklevel: Any = 3, dtype: Any = None, *, out: Any = None) -> Any:
    """exp(x) over its sum along a dimension: where none is given the first of 0, 1 or 3, else the second.

    Arguments:
        dtype: to convert to before; it may stand in the third place.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.functional.softmax(paddle.zeros([1, 4])).tolist()
        [[0.25, 0.25, 0.25, 0.25]]
    """
    return softmax_of(input, dim, dtype if isinstance(_stacklevel, int) else _stacklevel, out=out)


def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Return the windows of an image as columns; see paddle.nn.functional.unfold().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.functional.unfold(paddle.ones([1, 1, 3, 3]), 2).shape
        paddle.Size([1, 4, 4])
    """
    return F.unfold(input, kernel_size, stride, padding, dilation)


_document(globals())
