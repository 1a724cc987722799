"""Functions for networks with torch's signatures and results."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from ...core.argument_docs import document as _document
from ...core.interpreter import no_grad
from ...eager.pending import payload_of
from ...nn import functional as F
from ...ops.convolution import tuple_of
from ...ops.creation import full_like, zeros, zeros_like
from ...ops.joining import stack
from ...ops.logic import logical_not, logical_or
from ...ops.math import maximum
from ...ops.math_names import softmax as softmax_of
from ...ops.normalization import by_batch
from ...ops.padding import pad_last
from ...ops.search import where
from .heads import multi_head_attention_forward

__all__ = [
    *("batch_norm", "conv1d", "conv2d", "conv3d", "cross_entropy", "embedding", "embedding_bag", "in_place"),
    *("max_pool1d", "max_pool2d", "max_pool3d", "softmin", "threshold"),
    *("dropout2d", "dropout3d", "linear", "pad", "scaled_dot_product_attention", "softmax", "unfold"),
    "multi_head_attention_forward",
]


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


def check_deprecated(who: str, size_average: Any, reduce: Any) -> None:
    """Refuse the arguments that torch has replaced by reduction."""
    if size_average is not None or reduce is not None:
        raise ValueError(f"{who}: size_average is {size_average} and reduce {reduce}; write reduction= instead")


def cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """Cross entropy of logits [N, C, ...] or [C] and classes [N, ...] or probabilities of the shape of the logits.

    Arguments:
        weight: [C], the weight of each class.
        ignore_index: class that does not count. Default: -100.
        reduction: "mean" (by the weights of the classes), "sum" or "none". Default: "mean".
        label_smoothing: the part of each label that all classes share. Default: 0.0.

    Raises:
        ValueError: size_average or reduce is given, or a shape does not fit.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> logits, target = paddle.zeros([1, 2, 3]), paddle.zeros([1, 3], "int64")
        >>> paddle.compat.nn.functional.cross_entropy(logits, target, reduction="sum").item()  # 3 log(2)
        2.07...
    """
    check_deprecated("cross_entropy", size_average, reduce)
    axis = 0 if input.ndim == 1 else 1
    if target.is_floating_point():
        return _of_probabilities(input, target, weight, reduction, label_smoothing, axis)
    if not label_smoothing:
        last = input if input.ndim < 3 else input.moveaxis(1, -1)
        return F.cross_entropy(last, target, weight, ignore_index, reduction)
    if input.ndim == 1:
        input, target = input.unsqueeze(0), target.unsqueeze(0)
        reduction = "sum" if reduction == "none" else reduction
    logs = F.log_softmax(input, 1)
    by_class = [1, -1] + [1] * (input.ndim - 2)
    hit = F.nll_loss(logs, target, weight, ignore_index, "none")
    counted = (target != ignore_index).astype(logs.dtype)
    spread = -(logs if weight is None else logs * weight.reshape(by_class)).sum(1) * counted
    loss = (1.0 - label_smoothing) * hit + label_smoothing / input.shape[1] * spread
    if reduction != "mean":
        return loss.sum() if reduction == "sum" else loss
    parts = counted if weight is None else counted * weight[target * counted.astype(target.dtype)]
    return loss.sum() / parts.sum()


def _of_probabilities(input: Any, target: Any, weight: Any, reduction: str, smoothing: float, axis: int) -> Any:
    if list(input.shape) != list(target.shape):
        raise ValueError(
            f"cross_entropy: target has the shape {[*target.shape]}; expected {[*input.shape]}, that of input"
        )
    wanted = target * (1.0 - smoothing) + smoothing / input.shape[axis]
    logs = F.log_softmax(input, axis)
    if weight is not None:
        logs = logs * weight.reshape([-1 if a == axis else 1 for a in range(input.ndim)])
    loss = -(wanted * logs).sum(axis)
    if reduction == "mean":
        return loss.sum() / max(loss.size, 1) if loss.ndim else loss
    return loss.sum() if reduction == "sum" else loss


def embedding(
    input: Any, weight: Any, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Any:  # fmt: skip
    """Rows of a table; those of padding_idx are returned as they are, and give no gradient.

    Arguments:
        input: integers of any shape.
        weight: [rows, columns].
        padding_idx: row without gradient; a negative one counts from the end.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> ids, table = paddle.to_tensor([0, 1]), paddle.to_tensor([[1.0], [2.0]])
        >>> paddle.compat.nn.functional.embedding(ids, table, padding_idx=0).tolist()
        [[1.0], [2.0]]
    """
    out = F.embedding(
        input, weight, max_norm=max_norm, norm_type=norm_type, sparse=sparse, scale_grad_by_freq=scale_grad_by_freq
    )
    if padding_idx is None:
        return out
    return where((input == padding_idx % weight.shape[0]).unsqueeze(-1), out.detach(), out)


def embedding_bag(
    input: Any, weight: Any, offsets: Any = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Any = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Any:  # fmt: skip
    """The sum, mean or maximum of the rows of each bag of indices; of an empty bag zeros.

    Arguments:
        input: [bags, n], or [n] with offsets.
        weight: [rows, columns].
        offsets: [bags], where each bag begins.
        mode: "sum", "mean" or "max". Default: "mean".
        per_sample_weights: factors of the rows, of the shape of input, with mode "sum".
        include_last_offset: the last offset is the end of the last bag. Default: False.
        padding_idx: index that does not count.

    Returns:
        [bags, columns].

    Raises:
        ValueError: mode is another one, there are weights with another mode than "sum", or offsets do not fit input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> table = paddle.to_tensor([[1.0], [2.0], [4.0]])
        >>> paddle.compat.nn.functional.embedding_bag(paddle.to_tensor([[0, 2], [1, 1]]), table).tolist()
        [[2.5], [2.0]]
    """
    if mode not in ("sum", "mean", "max") or (per_sample_weights is not None and mode != "sum"):
        raise ValueError(
            f"embedding_bag: mode is {mode!r}; expected 'sum', 'mean' or 'max', and 'sum' with per_sample_weights"
        )
    if (input.ndim == 1) != (offsets is not None):
        raise ValueError(f"embedding_bag: input is {[*input.shape]}; expected [bags, n], or [n] with offsets")
    rows = embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    if offsets is None and padding_idx is None and input.shape[1]:
        return getattr(rows, mode)(1)
    if offsets is None:
        pairs = [(rows[i], input[i]) for i in range(len(input))]
    else:
        ends = [*offsets.tolist(), *([] if include_last_offset else [len(input)])]
        pairs = [(rows[a:b], input[a:b]) for a, b in zip(ends, ends[1:], strict=False)]
    return stack([_bag(r, ids, mode, padding_idx) for r, ids in pairs])


def _bag(rows: Any, ids: Any, mode: str, padding_idx: int | None) -> Any:
    rows = rows if padding_idx is None else rows[ids != padding_idx]
    if not len(rows):
        return zeros(rows.shape[1:], rows.dtype)
    return getattr(rows, mode)(0)


def in_place(input: Any, output: Any, inplace: bool = True) -> Any:
    """Write a result into the tensor that it was computed from, as an activation with inplace=True does in torch.

    Arguments:
        input: the tensor that is written to.
        output: the result, of the same shape and dtype.
        inplace: False: return output alone. Default: True.

    Raises:
        RuntimeError: input is a leaf that requires gradient, while gradients are recorded.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([-1.0, 2.0])
        >>> _ = paddle.compat.nn.functional.in_place(x, paddle.nn.functional.relu(x))
        >>> x.tolist()
        [0.0, 2.0]
    """
    return input._rebind(output, False) if inplace and output is not input else output


def _max_pool(n: int, x: Any, size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, indices: bool) -> Any:
    if x.ndim == n + 1:
        made = _max_pool(n, x.unsqueeze(0), size, stride, padding, dilation, ceil, indices)
        return tuple(t.squeeze(0) for t in made) if indices else made.squeeze(0)
    spread = tuple_of(dilation, n, "dilation")
    if spread == (1,) * n:
        made = getattr(F, f"max_pool{n}d")(x, size, stride, padding, return_mask=indices, ceil_mode=ceil)
        return (made[0], made[1].astype("int64")) if indices else made
    if ceil or indices:
        raise ValueError(f"max_pool{n}d: dilation is {dilation}; expected 1 with ceil_mode or return_indices")
    kernel = tuple_of(size, n, "kernel_size")
    steps = kernel if stride is None else tuple_of(stride, n, "stride")
    pads = [(p, p) for p in tuple_of(padding, n, "padding")]
    x = pad_last(x, pads[::-1], "constant", float("-inf"))
    counts = [(m - d * (k - 1) - 1) // s + 1 for m, d, k, s in zip(x.shape[2:], spread, kernel, steps, strict=True)]
    found = None
    for at in itertools.product(*[range(k) for k in kernel]):
        parts = [slice(i * d, i * d + (c - 1) * s + 1, s) for i, d, c, s in zip(at, spread, counts, steps, strict=True)]
        part = x[(slice(None), slice(None), *parts)]
        found = part if found is None else maximum(found, part)
    return found


def max_pool1d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """Maximum of each window of [N, C, L]; with return_indices also where it stood.

    Raises:
        ValueError: windows are dilated, and ceil_mode or return_indices is set.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.functional.max_pool1d(paddle.to_tensor([[[1.0, 5.0, 2.0]]]), 2, 1, dilation=2).tolist()
        [[[2.0]]]
    """
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """Maximum of each window of [N, C, H, W]; with return_indices also where it stood.

    Raises:
        ValueError: windows are dilated, and ceil_mode or return_indices is set.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> values, at = paddle.compat.nn.functional.max_pool2d(paddle.ones([1, 1, 4, 4]), 2, return_indices=True)
        >>> at.tolist()
        [[[[0, 2], [8, 10]]]]
    """
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """Maximum of each window of [N, C, D, H, W]; with return_indices also where it stood.

    Raises:
        ValueError: windows are dilated, and ceil_mode or return_indices is set.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.functional.max_pool3d(paddle.ones([1, 1, 3, 3, 3]), 2, 1, dilation=2).shape
        paddle.Size([1, 1, 1, 1, 1])
    """
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """softmax() of the negative input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.functional.softmin(paddle.zeros([1, 2]), 1).tolist()
        [[0.5, 0.5]]
    """
    return softmax(-input, dim, _stacklevel, dtype)


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """The elements above a threshold, and a value in the place of the others.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.functional.threshold(paddle.to_tensor([0.5, 2.0]), 1.0, -1.0).tolist()
        [-1.0, 2.0]
    """
    return in_place(input, where(input > threshold, input, full_like(input, value)), inplace)


def _dropped(n: int, x: Any, p: float, training: bool, inplace: bool) -> Any:
    if x.ndim < 2:
        raise ValueError(f"dropout{n}d: input has {x.ndim} dimensions; expected batch and channels")
    return in_place(x, F.dropout(x, p, [0, 1], training), inplace)


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


def same_padding(kernel_size: Any, stride: Any, dilation: Any) -> list[tuple[int, int]]:
    """Return what padding="same" adds before and after each dimension, as torch does: the odd one after.

    Raises:
        ValueError: there is a stride.
    """
    if any(s != 1 for s in stride):
        raise ValueError(f"padding is 'same' and stride {stride}; expected a stride of 1")
    reach = [d * (k - 1) for d, k in zip(dilation, kernel_size, strict=True)]
    return [(r // 2, r - r // 2) for r in reach]


def _conv(n: int, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    if x.ndim == n + 1:
        return _conv(n, x.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)
    if padding == "same":
        padding = same_padding(weight.shape[2:], tuple_of(stride, n, "stride"), tuple_of(dilation, n, "dilation"))
    return getattr(F, f"conv{n}d")(x, weight, bias, stride, padding, dilation, groups)


def conv1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Convolution of [N, C, L], or of [C, L]; padding "same" counts the dilation.

    Raises:
        ValueError: padding is "same" and there is a stride.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.functional.conv1d(paddle.ones([1, 4]), paddle.ones([1, 1, 2]), padding="same").tolist()
        [[2.0, 2.0, 2.0, 1.0]]
    """
    return _conv(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Convolution of [N, C, H, W], or of [C, H, W]; padding "same" counts the dilation.

    Raises:
        ValueError: padding is "same" and there is a stride.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.functional.conv2d(paddle.ones([1, 3, 3]), paddle.ones([2, 1, 2, 2])).shape
        paddle.Size([2, 2, 2])
    """
    return _conv(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Convolution of [N, C, D, H, W], or of [C, D, H, W]; padding "same" counts the dilation.

    Raises:
        ValueError: padding is "same" and there is a stride.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, weight = paddle.ones([1, 1, 3, 3, 3]), paddle.ones([1, 1, 3, 3, 3])
        >>> paddle.compat.nn.functional.conv3d(x, weight, dilation=2, padding="same").shape
        paddle.Size([1, 1, 3, 3, 3])
    """
    return _conv(3, input, weight, bias, stride, padding, dilation, groups)


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

    A query that the mask lets attend to nothing gives zeros, and no gradient.

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
    mask, alone = (None, None) if attn_mask is None else _without_lone_queries(attn_mask)
    out = F.scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
    out = out.transpose([0, 2, 1, 3])
    return out if alone is None else where(alone, zeros_like(out), out)


def _without_lone_queries(mask: Any) -> tuple[Any, Any]:
    """Return a mask that lets queries that may attend to nothing attend to all, and which they are.

    The softmax over nothing is NaN, and so would the gradients of all other queries be.
    """
    if mask.dtype == "bool":
        alone = logical_not(mask.any(-1, keepdim=True))
        return logical_or(mask, alone), alone
    alone = (mask == -math.inf).all(-1, keepdim=True)
    return where(alone, zeros_like(mask), mask), alone


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
