"""Convolutions: channels last inside, as XLA's CPU kernels need; transposes cancel between layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..core.config import by_platform
from ..core.jax_compat.sizes import are_standing, is_known
from ..core.symbolic import has_symbolic, is_symbolic
from ..cpu_compiler import KINDS, takes
from ..dispatch.define import op
from . import conv3d_as_2d, conv_gemm, conv_shift_add, conv_taps, depthwise, grouped
from .transposed_conv import Transposed, convolve_transposed
from .types import Array, Ints, Padding

__all__ = ["conv1d", "conv1d_transpose", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose"]


def tuple_of(value: Any, n: int, what: str) -> tuple[int, ...]:
    """Normalize an int or a list of n ints to a tuple of n ints."""
    if isinstance(value, int) or is_symbolic(value):
        return (value,) * n
    out = tuple(value) * n if len(value) == 1 else tuple(value)
    if len(out) != n:
        raise ValueError(f"{what} is {value!r}; expected a number or {n} numbers")
    return out


def paddings(padding: Any, n: int, data_format: str = "NC") -> Any:
    """Normalize Paddle's `padding` argument to n pairs, "SAME" or "VALID".

    Accepted are an int, n ints, 2n ints (before and after each dimension), n pairs, or n + 2 pairs, one per dimension.
    """
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise ValueError(f"padding is {padding!r}; expected 'SAME', 'VALID' or numbers")
        return padding.upper()
    given = (padding,) if isinstance(padding, int) else tuple(padding)
    if any(isinstance(p, int) and p < 0 for p in given):
        raise ValueError(f"padding is {padding!r}; expected numbers of at least 0")
    if all(isinstance(p, list | tuple) for p in given) and len(given) in (n, n + 2):
        pairs = tuple([tuple(p) for p in given])
        return pairs if len(given) == n else pairs[2:] if data_format.startswith("NC") else pairs[1:-1]
    given = given * n if len(given) == 1 else given
    if len(given) == n:
        return tuple([(p, p) for p in given])
    if len(given) == 2 * n:
        return tuple(zip(given[::2], given[1::2], strict=True))
    raise ValueError(f"padding is {padding!r}; expected a number, {n} or {2 * n} numbers, or {n + 2} pairs")


def channels_first(data_format: str, n: int) -> bool:
    """Check `data_format` and return whether channels come before the n spatial dimensions."""
    letters = {1: "L", 2: "HW", 3: "DHW"}[n]
    if data_format not in (known := (f"NC{letters}", f"N{letters}C", "NCHW", "NHWC")):
        raise ValueError(f"data_format is {data_format!r}; expected {known[0]!r} or {known[1]!r}")
    return data_format[1] == "C"


def _convolve(x: Any, kernel: Any, bias: Any, first: bool, **options: Any) -> Any:
    """Convolve with a kernel [*sizes, in / groups, out]; the channels of `x` come second or last."""
    numbers = conv_gemm.axes_of(x.ndim - 2)
    x = conv_gemm.channels_last(x) if first else x
    out = jax.lax.conv_general_dilated(x, kernel, dimension_numbers=numbers, **options)
    return _finish(out, bias, first)


def _finish(out: Any, bias: Any, first: bool) -> Any:
    """Add the bias, and move the channels from the last dimension to their place."""
    if bias is not None:
        out = conv_gemm.with_bias(out, bias)
    return conv_gemm.channels_second(out) if first else out


def _conv(
    n: int, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int, data_format: str
) -> Any:
    _fit(x, weight, n)
    first, pad = channels_first(data_format, n), paddings(padding, n, data_format)
    _check(x, weight.shape[1] * groups, first, weight, groups)
    if any(is_known(s) and s < 1 for s in (*tuple_of(stride, n, "stride"), *tuple_of(dilation, n, "dilation"))):
        raise ValueError(f"stride is {stride} and dilation {dilation}; expected numbers of at least 1")
    # As in Paddle, "SAME" ignores the dilation.
    strides, steps = tuple_of(stride, n, "stride"), (1,) * n if pad == "SAME" else tuple_of(dilation, n, "dilation")
    space = x.shape[2:] if first else x.shape[1:-1]
    if not isinstance(pad, str) and any(
        is_known(a) and 0 < a < d * (k - 1) + 1 - sum(p)
        for a, k, d, p in zip(space, weight.shape[2:], steps, pad, strict=True)
    ):
        raise ValueError(f"weight {list(weight.shape)} does not fit into the padded x, {list(space)} before padding")
    if not isinstance(pad, str) and are_standing() and has_symbolic(tuple(space)):
        reach = [d * (k - 1) + 1 for d, k in zip(steps, weight.shape[2:], strict=True)]
        more = [(a + sum(p) - r) // s for a, p, r, s in zip(space, pad, reach, strides, strict=True)]
        if max(strides) > 1 or any(m == 0 for m in more):
            sizes = [r if m == 0 else m * s + r for m, s, r in zip(more, strides, reach, strict=True)]
            x, pad = _within_windows(x, first, pad, sizes), ((0, 0),) * n
    options = {"window_strides": strides, "padding": pad, "rhs_dilation": steps, "feature_group_count": groups}

    def by_xla(x: Any, weight: Any, bias: Any) -> Any:
        return _convolve(x, conv_gemm.kernel_last(weight), bias, first, **options)

    def by_onnx(x: Any, weight: Any, bias: Any) -> Any:
        """Channels first is what ONNX has: no transposes to be found and cancelled, which takes jax2onnx minutes."""
        out = jax.lax.conv_general_dilated(x, weight, dimension_numbers=conv_gemm.axes_of(n, first=True), **options)
        return out if bias is None else out + bias.reshape(-1, *[1] * n)

    others = {"onnx": by_onnx} if first else {}
    form = (
        None
        if isinstance(pad, str)
        else _form_for_cpus(x if first else conv_gemm.channels_second(x), weight, **options)
    )
    return _on_platforms(by_xla, form, x, weight, bias, first, **others)


def _within_windows(x: Any, first: bool, pads: Any, sizes: list[Any]) -> Any:
    """Return the padded x without what no window reaches: of how many rows that is, JAX's gradients must know.

    Arguments:
        sizes: what the windows reach; of a single one a number, since JAX takes a size that stands for 1 for either.
    """
    wide = [(0, 0, 0), (0, 0, 0), *[(*p, 0) for p in pads]]
    limits = [*x.shape[:2], *sizes] if first else [x.shape[0], *sizes, x.shape[-1]]
    padded = jax.lax.pad(x, jnp.zeros((), x.dtype), wide if first else [wide[0], *wide[2:], wide[1]])
    return jax.lax.slice(padded, [0] * x.ndim, limits)


def _on_platforms(by_xla: Any, form: Any, x: Any, weight: Any, bias: Any, first: bool, **others: Any) -> Any:
    """XLA's form of a convolution, or that for CPUs: a function of x with the channels second, if there is one."""

    def on_cpu(x: Any, weight: Any, bias: Any) -> Any:
        out = form(x if first else conv_gemm.channels_second(x), weight)
        return out if first and bias is None else _finish(conv_gemm.channels_last(out), bias, first)

    forms = others if form is None else {"cpu": on_cpu, **others}
    return by_platform(by_xla, x, weight, bias, **forms)


def _form_for_cpus(
    x: Any, weight: Any, window_strides: Any, padding: Any, rhs_dilation: Any, feature_group_count: int
) -> Callable[..., Any] | None:
    """Return the faster CPU form for `x` with channels second; None if XLA's is as fast."""
    strides, steps, groups = window_strides, rhs_dilation, feature_group_count
    if groups == 1 and set(steps) == {1} and conv_gemm.pays(x, weight, strides, padding):
        return lambda x, w: conv_gemm.convolve(x, w, strides, padding)
    if depthwise.pays(x, weight, groups):
        return lambda x, w: depthwise.convolve(x, w, strides, padding, steps)
    if conv_taps.pays(x, weight, groups):
        return lambda x, w: conv_taps.convolve(x, w, strides, padding, steps, groups)
    in_groups, in_depth = grouped.pays(x, weight, groups), conv3d_as_2d.pays(x, weight, groups)
    # With only one kind in oneDNN, XLA's forms of the others would be the slowest.
    if (in_groups or in_depth) and takes(x, weight, strides, padding, steps, groups, *KINDS):
        return lambda x, w: conv_gemm.direct(x, w, strides, padding, steps, groups)
    if in_groups:
        return lambda x, w: grouped.convolve(x, w, groups, strides, padding, steps)
    if conv_shift_add.pays(x, weight, strides, groups):
        return lambda x, w: conv_shift_add.convolve(x, w, padding, steps)
    if in_depth:
        return lambda x, w: conv3d_as_2d.convolve(x, w, strides, padding, steps)
    return None


def _transpose_for_cpus(
    x: Any, weight: Any, lhs_dilation: Any, padding: Any, rhs_dilation: Any, feature_group_count: int
) -> Callable[..., Any] | None:
    """Return the CPU form of a transposed convolution, with weight [in, out / groups, *sizes]."""
    apart, steps, groups = lhs_dilation, rhs_dilation, feature_group_count
    ones, none = (1,) * len(steps), ((0, 0),) * len(steps)

    def kernel(weight: Any) -> Any:
        return jnp.moveaxis(_flip(weight, groups), (-1, -2), (0, 1))

    if conv_taps.pays(x, weight, groups):
        return lambda x, w: conv_taps.convolve_transposed(x, w, apart, padding, steps, groups)
    if groups == 1:
        pays = conv3d_as_2d.pays(x, weight, groups)
        return (lambda x, w: conv3d_as_2d.convolve(x, kernel(w), ones, padding, steps, apart)) if pays else None

    def spread(x: Any) -> Any:
        """x with zeros around and between its elements: what works group by group knows no such thing."""
        within = [(*p, d - 1) for p, d in zip(padding, apart, strict=True)]
        return jax.lax.pad(x, jnp.zeros((), x.dtype), [(0, 0, 0), (0, 0, 0), *within])

    form = _form_for_cpus(jax.eval_shape(spread, x), jax.eval_shape(kernel, weight), ones, none, steps, groups)
    return None if form is None else lambda x, w: form(spread(x), kernel(w))


def _fit(x: Any, weight: Any, n: int) -> None:
    if x.ndim != n + 2:
        raise ValueError(f"x has {x.ndim} dimensions; expected {n + 2}: batch, channels and {n} of space")
    if weight.ndim != n + 2 or 0 in weight.shape[2:]:
        shape = list(weight.shape)
        raise ValueError(f"weight has the shape {shape}; expected two numbers of channels and {n} sizes of at least 1")
    if x.dtype != weight.dtype:
        raise TypeError(f"x is {x.dtype} and weight {weight.dtype}; expected one dtype")


def _check(x: Any, channels: int, first: bool, weight: Any, groups: int) -> None:
    if x.shape[1 if first else -1] != channels:
        found, shape = x.shape[1 if first else -1], list(weight.shape)
        raise ValueError(f"x has {found} channels, but weight {shape} with groups={groups} takes {channels}")


@op(amp="white", plain=True)
def conv1d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    /,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    groups: int = 1,
    data_format: str = "NCL",
) -> Any:
    """Compute a 1-D convolution (cross-correlation) of `x` [N, C_in, L].

    Arguments:
        weight: float tensor [C_out, C_in / groups, K].
        padding: int, pair (left, right), three pairs (one per dimension), "SAME" or "VALID". Default: 0.

    Returns:
        A tensor [N, C_out, L_out] with `L_out = floor((L + 2 * padding - dilation * (K - 1) - 1) / stride) + 1`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, w = paddle.to_tensor([[[1.0, 2.0, 4.0]]]), paddle.to_tensor([[[1.0, -1.0]]])
        >>> paddle.nn.functional.conv1d(x, w).tolist()
        [[[-1.0, -2.0]]]
    """
    return _conv(1, x, weight, bias, stride, padding, dilation, groups, data_format)


@op(amp="white", plain=True)
def conv2d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    /,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    groups: int = 1,
    data_format: str = "NCHW",
) -> Any:
    """Compute a 2-D convolution (cross-correlation) of `x` [N, C_in, H, W].

    Arguments:
        weight: float tensor [C_out, C_in / groups, KH, KW].
        padding: int, two ints, four ints [top, bottom, left, right], four pairs (one per dimension), "SAME" or "VALID".
            Default: 0.

    Returns:
        A tensor [N, C_out, H_out, W_out] with `H_out = floor((H + 2 * padding - dilation * (KH - 1) - 1) / stride) +
        1`.

    Raises:
        ValueError: if the channels of `x` do not match `weight`, or an option has a wrong length.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.conv2d(paddle.ones([1, 1, 3, 3]), paddle.ones([1, 1, 2, 2])).tolist()
        [[[[4.0, 4.0], [4.0, 4.0]]]]
        >>> x, w = paddle.zeros([2, 3, 32, 32]), paddle.zeros([8, 3, 3, 3])
        >>> paddle.nn.functional.conv2d(x, w, stride=2, padding=1).shape
        paddle.Size([2, 8, 16, 16])
    """
    return _conv(2, x, weight, bias, stride, padding, dilation, groups, data_format)


@op(amp="white", plain=True)
def conv3d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    /,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    groups: int = 1,
    data_format: str = "NCDHW",
) -> Any:
    """Compute a 3-D convolution (cross-correlation) of `x` [N, C_in, D, H, W].

    Returns:
        A tensor [N, C_out, D_out, H_out, W_out], whose sizes follow as in `conv2d()`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.conv3d(paddle.ones([1, 1, 2, 2, 2]), paddle.ones([1, 1, 2, 2, 2])).tolist()
        [[[[[8.0]]]]]
    """
    return _conv(3, x, weight, bias, stride, padding, dilation, groups, data_format)


def _transposed(
    n: int,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    extra: Any,
    groups: int,
    dilation: Any,
    size: Any,
    data_format: str,
) -> Any:
    _fit(x, weight, n)
    first = channels_first(data_format, n)
    _check(x, weight.shape[0], first, weight, groups)
    steps, spread, kernel = tuple_of(stride, n, "stride"), tuple_of(dilation, n, "dilation"), weight.shape[2:]
    space = x.shape[2:] if first else x.shape[1:-1]
    pad = paddings(padding, n, data_format)
    if isinstance(pad, str):
        spread = (1,) * n if pad == "SAME" else spread
        pad = [_same(*a) if pad == "SAME" else (0, 0) for a in zip(space, steps, kernel, strict=True)]
    reach = [d * (k - 1) for d, k in zip(spread, kernel, strict=True)]
    more = tuple_of(extra, n, "output_padding")
    if any(not 0 <= m < max(s, d) for m, s, d in zip(more, steps, spread, strict=True)):
        raise ValueError(f"output_padding is {extra!r}; expected numbers below the larger of stride and dilation")
    least = [(a - 1) * s - sum(p) + r + 1 for a, s, p, r in zip(space, steps, pad, reach, strict=True)]
    if size is not None:
        more = _output_padding(tuple_of(size, n, "output_size"), least, steps)
    options: dict[str, Any] = {
        "padding": tuple([(r - p[0], r - p[1] + m) for r, p, m in zip(reach, pad, more, strict=True)]),
        "lhs_dilation": steps,
        "rhs_dilation": spread,
        "feature_group_count": groups,
    }

    def by_xla(x: Any, weight: Any, bias: Any) -> Any:
        return _convolve(x, _flip(weight, groups), bias, first, window_strides=(1,) * n, **options)

    def by_gradient(x: Any, weight: Any, bias: Any) -> Any:
        # With more than a step left over, the convolution of the result would be larger than x.
        pads = tuple([(p[0], p[1] - m if m >= s else p[1]) for p, m, s in zip(pad, more, steps, strict=True)])
        sizes = tuple([n + m for n, m in zip(least, more, strict=True)])
        transposed = Transposed(sizes, steps, pads, spread, groups)
        out = convolve_transposed(conv_gemm.channels_last(x) if first else x, weight, transposed)
        return _finish(out, bias, first)

    others = {"cuda": by_gradient, "gpu": by_gradient} if all(map(is_known, space)) else {}
    form = _transpose_for_cpus(x if first else jnp.moveaxis(x, -1, 1), weight, **options)
    return _on_platforms(by_xla, form, x, weight, bias, first, **others)


def _same(size: int, step: int, kernel: int) -> tuple[int, int]:
    total = max(-(-size // step) * step - step + kernel - size, 0)
    return total // 2, total - total // 2


def _output_padding(size: Any, least: Any, steps: Any) -> tuple[int, ...]:
    if any(not 0 <= a - b < s for a, b, s in zip(size, least, steps, strict=True)):
        most = [b + s - 1 for b, s in zip(least, steps, strict=True)]
        raise ValueError(f"output_size is {list(size)}; expected sizes from {least} to {most}")
    return tuple([a - b for a, b in zip(size, least, strict=True)])


def _flip(weight: Any, groups: int) -> Any:
    """Convert [in, out / groups, *sizes] to [*sizes, in / groups, out], mirrored in space."""
    n_in, n_out, *sizes = weight.shape
    w = jnp.flip(weight, range(2, weight.ndim)).reshape(groups, n_in // groups, n_out, *sizes)
    w = jnp.moveaxis(w, (1, 0, 2), (-3, -2, -1))
    return w.reshape(*sizes, n_in // groups, groups * n_out)


@op(amp="white", plain=True)
def conv1d_transpose(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    /,
    stride: Ints = 1,
    padding: Padding = 0,
    output_padding: Ints = 0,
    groups: int = 1,
    dilation: Ints = 1,
    output_size: Ints | None = None,
    data_format: str = "NCL",
) -> Any:
    """Compute a 1-D transposed convolution: the gradient of `conv1d()` with respect to its input.

    Returns:
        A tensor [N, C_out, L_out], `L_out = (L - 1) * stride - 2 * padding + dilation * (K - 1) + 1 + output_padding`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, w = paddle.to_tensor([[[1.0, 2.0]]]), paddle.to_tensor([[[1.0, 3.0]]])
        >>> paddle.nn.functional.conv1d_transpose(x, w, stride=2).tolist()
        [[[1.0, 3.0, 2.0, 6.0]]]
    """
    return _transposed(1, x, weight, bias, stride, padding, output_padding, groups, dilation, output_size, data_format)


@op(amp="white", plain=True)
def conv2d_transpose(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    /,
    stride: Ints = 1,
    padding: Padding = 0,
    output_padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    output_size: Ints | None = None,
    data_format: str = "NCHW",
) -> Any:
    """Compute a 2-D transposed convolution: the gradient of `conv2d()` with respect to its input.

    Arguments:
        output_padding: rows and columns added at the end of the output. Default: 0.
        output_size: (height, width) of the output, instead of `output_padding`: with a stride above 1 several sizes are
            possible.

    Returns:
        A tensor [N, C_out, H_out, W_out], whose sizes follow as in `conv1d_transpose()`.

    Raises:
        ValueError: if output_size is not a possible size.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.conv2d_transpose(paddle.ones([1, 1, 1, 1]), paddle.ones([1, 1, 2, 2])).tolist()
        [[[[1.0, 1.0], [1.0, 1.0]]]]
    """
    return _transposed(2, x, weight, bias, stride, padding, output_padding, groups, dilation, output_size, data_format)


@op(amp="white", plain=True)
def conv3d_transpose(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    /,
    stride: Ints = 1,
    padding: Padding = 0,
    output_padding: Ints = 0,
    groups: int = 1,
    dilation: Ints = 1,
    output_size: Ints | None = None,
    data_format: str = "NCDHW",
) -> Any:
    """Compute a 3-D transposed convolution: the gradient of `conv3d()` with respect to its input.

    Returns:
        A tensor [N, C_out, D_out, H_out, W_out], whose sizes follow as in `conv1d_transpose()`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.conv3d_transpose(paddle.ones([1, 1, 1, 1, 1]), paddle.ones([1, 1, 1, 1, 2])).tolist()
        [[[[[1.0, 1.0]]]]]
    """
    return _transposed(3, x, weight, bias, stride, padding, output_padding, groups, dilation, output_size, data_format)
