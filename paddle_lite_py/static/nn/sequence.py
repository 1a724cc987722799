"""Sequences of unlike lengths: padded to the longest, [n, time, ...], with their lengths [n]."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...core.no_effect import KERNELS, NO_GRADIENT, Immaterial, no_effect
from ...nn import functional as F
from ...nn.named_activation import apply_activation
from ...ops.creation import arange, full_like
from ...ops.manipulation import reshape, unsqueeze
from ...ops.math import clip
from ...ops.search import where
from .common import _known

__all__ = [
    *("sequence_conv", "sequence_expand", "sequence_first_step", "sequence_last_step", "sequence_pool"),
    "sequence_softmax",
]


def _mask(input: Any, lengths: Any, ndim: int | None = None) -> Any:
    """True for the steps of [n, time, ...] that belong to a sequence; all of them without lengths."""
    steps = arange(input.shape[1], dtype="int64")
    if lengths is None:
        mask = unsqueeze(steps >= 0, 0)
    else:
        mask = unsqueeze(steps, 0) < reshape(lengths, [-1, 1]).astype("int64")
    return reshape(mask, [*mask.shape, *[1] * ((ndim or input.ndim) - 2)])


def _at(input: Any, index: Any) -> Any:
    """Return the step of each sequence at an index, [n, ...]."""
    index = reshape(index, [-1, *[1] * (input.ndim - 1)]).astype("int64")
    chosen = unsqueeze(arange(input.shape[1], dtype="int64"), 0)
    hit = reshape(chosen, [1, -1, *[1] * (input.ndim - 2)]) == index
    return where(hit, input, input * 0).sum(1)


@no_effect(is_test=NO_GRADIENT)
def sequence_pool(
    input: Any, pool_type: str, is_test: bool = False, pad_value: float = 0.0, lengths: Any = None
) -> Any:
    """Reduce each padded sequence to one value over its steps.

    Arguments:
        pool_type: "sum", "average", "sqrt" (sum divided by the square root of the length), "max", "first" or "last".
        pad_value: result for empty sequences. Default: 0.0.

    Returns:
        A tensor [N, ...].

    Raises:
        ValueError: for another pool_type.

    Examples:
        >>> x = paddle.to_tensor([[[1.0], [2.0], [9.0]], [[4.0], [9.0], [9.0]]])
        >>> sequence_pool(x, "average", lengths=paddle.to_tensor([2, 1])).tolist()
        [[1.5], [4.0]]
    """
    kind = pool_type.lower()
    if kind not in ("sum", "average", "sqrt", "max", "first", "last"):
        raise ValueError(f"sequence_pool: pool_type is {pool_type!r}; expected sum, average, sqrt, max, first or last")
    mask = _mask(input, lengths)
    n = mask.astype("int64").sum(1)
    some = clip(n, 1).astype(input.dtype)
    if kind in ("first", "last"):
        out = _at(input, clip(n - 1, 0) * (kind == "last"))
    elif kind == "max":
        out = where(mask, input, full_like(input, -float("inf"))).max(1)
    else:
        out = where(mask, input, input * 0).sum(1) / (
            1 if kind == "sum" else some if kind == "average" else some.sqrt()
        )
    return out if lengths is None else where(n > 0, out, full_like(out, pad_value))


def sequence_first_step(input: Any, lengths: Any = None) -> Any:
    """Return the first step of each sequence.

    Returns:
        A tensor [N, ...] for input [N, time, ...].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 4, 3], "float32")
        ...     y = paddle.static.nn.sequence_first_step(x)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([2, 4, 3], "float32")}, fetch_list=[y])[0].shape
        (2, 3)
        >>> paddle.disable_static()
    """
    return sequence_pool(input, "first", lengths=lengths)


def sequence_last_step(input: Any, lengths: Any = None) -> Any:
    """Return the last valid step of each sequence.

    Returns:
        A tensor [N, ...] for input [N, time, ...].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 4, 3], "float32")
        ...     y = paddle.static.nn.sequence_last_step(x)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([2, 4, 3], "float32")}, fetch_list=[y])[0].shape
        (2, 3)
        >>> paddle.disable_static()
    """
    return sequence_pool(input, "last", lengths=lengths)


@no_effect(use_cudnn=KERNELS)
def sequence_softmax(input: Any, use_cudnn: bool = False, name: str | None = None, lengths: Any = None) -> Any:
    """Softmax over the steps of each padded sequence; steps after its end get 0.

    Arguments:
        input: scores [N, time] or [N, time, 1].

    Returns:
        A tensor of the shape of input.

    Examples:
        >>> x = paddle.to_tensor([[0.0, 0.0, 5.0]])
        >>> sequence_softmax(x, lengths=paddle.to_tensor([2])).tolist()
        [[0.5, 0.5, 0.0]]
    """
    mask = _mask(input, lengths)
    out = F.softmax(where(mask, input, full_like(input, -1e30)), axis=1)
    return where(mask, out, out * 0)


def sequence_expand(x: Any, y: Any, ref_level: int = -1, name: str | None = None, lengths: Any = None) -> Any:
    """Repeat each row of x for all steps of the sequence of y.

    Arguments:
        x: tensor [N, ...].
        y: padded sequences [N, time, ...].
        ref_level: -1 or 0. Default: -1.
        lengths: number of valid steps of each sequence of y, [N]; None: all.

    Returns:
        A tensor [N, time, ...] with zeros after the end of a sequence.

    Raises:
        ValueError: for another ref_level: padded data have one level.

    Examples:
        >>> x, y = paddle.to_tensor([[1.0], [2.0]]), paddle.zeros([2, 2, 1])
        >>> sequence_expand(x, y, lengths=paddle.to_tensor([2, 1])).tolist()
        [[[1.0], [1.0]], [[2.0], [0.0]]]
    """
    if ref_level not in (-1, 0):
        raise ValueError(f"sequence_expand: ref_level is {ref_level}; padded data have one level, 0 or -1")
    out = unsqueeze(x, 1)
    return where(_mask(y, lengths, out.ndim), out, out * 0)


@no_effect(padding=Immaterial("steps beyond the ends are zeros in any case"))
def sequence_conv(
    input: Any, num_filters: int, filter_size: int = 3, filter_stride: int = 1, padding: bool = True,
    padding_start: int | None = None, bias_attr: Any = None, param_attr: Any = None, act: str | None = None,
    name: str | None = None, lengths: Any = None,
) -> Any:  # fmt: skip
    """1-D convolution of padded sequences over windows of filter_size steps; steps beyond the ends are zeros.

    Arguments:
        input: sequences [N, time, width].
        num_filters: number of output features.
        filter_size: number of steps in a window. Default: 3.
        filter_stride: must be 1. Default: 1.
        padding_start: offset of the first step of the window; None: -filter_size / 2, rounded.
        param_attr: ParamAttr, initializer or name of the weight; None: the default initializer.
        bias_attr: ParamAttr, initializer or name of the bias; None: zeros; False: no bias.
        act: name of the activation that is applied to the result, such as "relu"; None: none.

    Returns:
        A tensor [N, time, num_filters].

    Raises:
        NotImplementedError: if filter_stride is not 1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 4, 3], "float32")
        ...     y = paddle.static.nn.sequence_conv(x, 5)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([2, 4, 3], "float32")}, fetch_list=[y])[0].shape
        (2, 4, 5)
        >>> paddle.disable_static()
    """
    if filter_stride != 1:
        raise NotImplementedError(f"sequence_conv: filter_stride is {filter_stride}; only 1 is available")
    width, steps = _known(input.shape[-1], "sequence_conv: the width"), input.shape[1]
    mask = _mask(input, lengths)
    held = where(mask, input, input * 0)
    start = -(filter_size // 2) if padding_start is None else padding_start
    before, after = max(0, -start), max(0, start + filter_size - 1)
    padded = F.pad(held, [0, 0, before, after, 0, 0])
    layer = nn.Layer(name or "sequence_conv")
    weight = layer.create_parameter([filter_size * width, num_filters], param_attr, input.dtype)
    out = sum(
        padded[:, k + start + before : k + start + before + steps].matmul(weight[k * width : (k + 1) * width])
        for k in range(filter_size)
    )
    bias = layer.create_parameter([num_filters], bias_attr, input.dtype, is_bias=True)
    return apply_activation(out if bias is None else out + bias, act)
