"""Rows of layers: convolutions, pooling, normalization, resizing, attention, recurrent layers."""

from __future__ import annotations

import math
from typing import Any

from ....core.symbolic import is_symbolic
from ....ops.convolution import channels_first, paddings, tuple_of
from ..emitter import Emitter, Unwritable
from ..pir_text import Double, FileValue, IntArray, Long, TensorType
from .table import row


@row("linear")
def linear(w: Emitter, x: Any, weight: Any, bias: Any) -> FileValue:
    out = w.out[0]
    x, weight = (w.cast(v, out.dtype) for v in (x, weight))
    made = w.matmul(x, weight, to=out)
    return made if bias is None else w.op("add", made, w.cast(bias, out.dtype))


# -- convolutions --------------------------------------------------------------------------------------------------
def _explicit(padding: Any, n: int, first: bool) -> tuple[list[int], str]:
    """Paddings and what they are called there."""
    pads = paddings(padding, n, "NC" if first else "N")
    if isinstance(pads, str):
        return [0] * n, pads
    flat = [int(v) for pair in pads for v in pair]
    return ([p[0] for p in pads] if all(a == b for a, b in pads) else flat), "EXPLICIT"


def with_bias(w: Emitter, x: FileValue, bias: Any, first: bool) -> FileValue:
    """Return a convolution's result with its bias."""
    if bias is None:
        return x
    n = len(x.type.shape)
    spread = (1, math.prod(bias.type.shape), *[1] * (n - 2)) if first else tuple(bias.type.shape)
    return w.op("add", x, w.reshape(w.cast(bias, x.type.dtype), spread))


def _options(n: int, stride: Any, padding: Any, dilation: Any, first: bool) -> dict[str, Any]:
    pads, algorithm = _explicit(padding, n, first)
    return {
        "strides": list(tuple_of(stride, n, "stride")), "paddings": pads, "padding_algorithm": algorithm,
        "dilations": list(tuple_of(dilation, n, "dilation")),
    }  # fmt: skip


@row("conv2d", "conv3d")
def convolution(
    w: Emitter, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int, data_format: str
) -> FileValue:
    n = len(weight.type.shape) - 2
    first = channels_first(data_format, n)
    x, weight = (w.cast(v, w.out[0].dtype) for v in (x, weight))
    attrs = _options(n, stride, padding, dilation, first) | {"groups": groups, "data_format": data_format}
    is_deep = n == 2 and groups > 1 and weight.type.shape[1] == 1 and weight.type.shape[0] % groups == 0
    made = w.op("depthwise_conv2d" if is_deep else f"conv{n}d", x, weight, to=w.out[0], **attrs)
    return with_bias(w, made, bias, first)


def _flat_pads(padding: Any, first: bool) -> Any:
    """Return the padding of a sequence as that of an image of one row."""
    pads = paddings(padding, 1, "NC" if first else "N")
    return pads if isinstance(pads, str) else ((0, 0), pads[0])


def _as_image(w: Emitter, x: FileValue, first: bool) -> tuple[FileValue, TensorType]:
    """Return a sequence as an image of one row, and the type of what becomes of it."""
    out, at = list(w.out[0].shape), 2 if first else 1
    out.insert(at, 1)
    return w.unsqueeze(x, at), TensorType(tuple(out), w.out[0].dtype)


@row("conv1d")
def conv1d(
    w: Emitter, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int, data_format: str
) -> FileValue:
    first = channels_first(data_format, 1)
    x, weight = (w.cast(v, w.out[0].dtype) for v in (x, weight))
    image, kind = _as_image(w, x, first)
    pair = [(1, *tuple_of(v, 1, "stride")) for v in (stride, dilation)]
    attrs = _options(2, pair[0], _flat_pads(padding, first), pair[1], first)
    form = "NCHW" if first else "NHWC"
    made = w.op("conv2d", image, w.unsqueeze(weight, 2), to=kind, **attrs, groups=groups, data_format=form)
    return with_bias(w, w.reshape(made, w.out[0].shape), bias, first)


@row("conv2d_transpose", "conv3d_transpose")
def transposed(
    w: Emitter, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any, dilation: Any,
    groups: int, output_size: Any, data_format: str,
) -> FileValue:  # fmt: skip
    n = len(weight.type.shape) - 2
    first = channels_first(data_format, n)
    x, weight = (w.cast(v, w.out[0].dtype) for v in (x, weight))
    attrs = _options(n, stride, padding, dilation, first) | {"groups": groups, "data_format": data_format}
    more = list(tuple_of(output_padding, n, "output_padding"))
    attrs["output_padding"] = more if any(more) else []
    size = [] if output_size is None else list(tuple_of(output_size, n, "output_size"))
    if n == 2:
        operands = [x, weight, w.ints(size)]
    else:
        operands, attrs["output_size"] = [x, weight], size
    is_deep = n == 2 and groups > 1 and groups == weight.type.shape[0] and weight.type.shape[1] == 1
    name = "depthwise_conv2d_transpose" if is_deep else f"conv{n}d_transpose"
    return with_bias(w, w.op(name, *operands, to=w.out[0], **attrs), bias, first)


@row("conv1d_transpose")
def transposed_1d(
    w: Emitter, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any, groups: int,
    dilation: Any, output_size: Any, data_format: str,
) -> FileValue:  # fmt: skip
    """That of an image of one row."""
    first = channels_first(data_format, 1)
    x, weight = (w.cast(v, w.out[0].dtype) for v in (x, weight))
    image, kind = _as_image(w, x, first)
    pair = [(1, *tuple_of(v, 1, "stride")) for v in (stride, dilation)]
    attrs = _options(2, pair[0], _flat_pads(padding, first), pair[1], first)
    (more,) = tuple_of(output_padding, 1, "output_padding")
    attrs |= {"output_padding": [0, more] if more else [], "groups": groups, "data_format": "NCHW" if first else "NHWC"}
    size = [] if output_size is None else [1, *tuple_of(output_size, 1, "output_size")]
    made = w.op("conv2d_transpose", image, w.unsqueeze(weight, 2), w.ints(size), to=kind, **attrs)
    return with_bias(w, w.reshape(made, w.out[0].shape), bias, first)


# -- pooling -------------------------------------------------------------------------------------------------------
def _pool(w: Emitter, x: FileValue, n: int, size: Any, first: bool, **attrs: Any) -> FileValue:
    """Return a pooling; one of a sequence is one of an image of one row."""
    form = {1: "NCHW" if first else "NHWC", 2: "NCHW" if first else "NHWC", 3: "NCDHW" if first else "NDHWC"}[n]
    image, kind = _as_image(w, x, first) if n == 1 else (x, w.out[0])
    options: dict[str, Any] = {
        "strides": [1] * max(n, 2), "paddings": [0] * max(n, 2), "ceil_mode": False, "exclusive": True,
        "data_format": form, "pooling_type": "avg", "global_pooling": False, "adaptive": False,
        "padding_algorithm": "EXPLICIT",
    } | attrs  # fmt: skip
    options = {k: list(map(Long, v)) if k in ("strides", "paddings") else v for k, v in options.items()}
    sizes = [1, *size] if n == 1 else list(size)
    if n == 3:
        options["kernel_size"] = list(map(Long, sizes))
        return w.op("pool3d", x, to=kind, **options)
    return w.reshape(w.op("pool2d", image, w.ints(sizes), to=kind, **options), w.out[0].shape)


def _windows(n: int, kernel: Any, stride: Any, padding: Any, ceil: bool, first: bool) -> tuple[Any, dict[str, Any]]:
    size = tuple_of(kernel, n, "kernel_size")
    step = size if stride is None or stride == () else tuple_of(stride, n, "stride")
    pads, algorithm = _explicit(_flat_pads(padding, first) if n == 1 else padding, max(n, 2), first)
    steps = [1, *step] if n == 1 else list(step)
    return size, {"strides": steps, "paddings": pads, "padding_algorithm": algorithm, "ceil_mode": ceil}


@row("max_pool")
def max_pool(w: Emitter, x: Any, n: int, kernel: Any, stride: Any, padding: Any, ceil: bool, first: bool) -> FileValue:
    size, attrs = _windows(n, kernel, stride, padding, ceil, first)
    return _pool(w, x, n, size, first, **attrs, pooling_type="max")


@row("avg_pool")
def avg_pool(
    w: Emitter, x: Any, n: int, kernel: Any, stride: Any, padding: Any, ceil: bool, exclusive: bool, divisor: Any,
    first: bool,
) -> FileValue:  # fmt: skip
    size, attrs = _windows(n, kernel, stride, padding, ceil, first)
    if divisor and exclusive and (ceil or any(attrs["paddings"])):
        raise Unwritable("divisor_override with windows that end outside has no form there")
    made = _pool(w, x, n, size, first, **attrs, exclusive=exclusive)
    return times(w, made, math.prod(size) / divisor) if divisor else made


def times(w: Emitter, x: FileValue, factor: float) -> FileValue:
    """Return a tensor times a number."""
    return w.op("scale", x, w.number(float(factor), "float32"), bias=0.0, bias_after_scale=True)


@row("lp_pool")
def lp_pool(
    w: Emitter, x: Any, n: int, p: float, kernel: Any, stride: Any, padding: Any, ceil: bool, first: bool
) -> FileValue:
    size, attrs = _windows(n, kernel, stride, padding, ceil, first)
    if n != 2:
        raise Unwritable("it has a form there for images alone")
    attrs = {k: list(map(Long, v)) if isinstance(v, list) else v for k, v in attrs.items()}
    attrs |= {
        "kernel_size": IntArray(size), "exclusive": True, "data_format": "NCHW" if first else "NHWC",
        "pooling_type": "", "global_pooling": False, "adaptive": False, "norm_type": float(p),
    }  # fmt: skip
    return w.op("lp_pool2d", x, to=w.out[0], **attrs)


def _adaptive_sizes(x: FileValue, n: int, size: Any, first: bool) -> list[int]:
    at = 2 if first else 1
    given = (size,) * n if isinstance(size, int) or size is None else tuple(size)
    sizes = [x.type.shape[at + i] if s is None else s for i, s in enumerate(given)]
    if any(map(is_symbolic, sizes)):
        raise Unwritable("a size that is not known")
    return sizes


@row("adaptive_avg_pool")
def adaptive_avg_pool(w: Emitter, x: Any, n: int, size: Any, first: bool) -> FileValue:
    return _pool(w, x, n, _adaptive_sizes(x, n, size, first), first, adaptive=True)


@row("adaptive_max_pool")
def adaptive_max_pool(w: Emitter, x: Any, n: int, size: Any) -> tuple[FileValue, ...]:
    if n != 2:
        raise Unwritable("its places have no form there, but for images")
    attrs = {"strides": [1, 1], "paddings": [0, 0], "global_pooling": False, "adaptive": True, "ceil_mode": False}
    sizes = _adaptive_sizes(x, n, size, True)
    return tuple(w.emit("max_pool2d_with_index", [x], w.out, kernel_size=sizes, **attrs))


@row("max_pool_with_index")
def max_pool_with_index(
    w: Emitter, x: Any, n: int, kernel: Any, stride: Any, padding: Any, ceil: bool, first: bool
) -> tuple[FileValue, ...]:
    size, attrs = _windows(n, kernel, stride, padding, ceil, first)
    if n != 2 or not first or attrs.pop("padding_algorithm") != "EXPLICIT" or len(attrs["paddings"]) != 2:
        raise Unwritable("places of the largest have a form there for images with channels first alone")
    attrs |= {"kernel_size": list(size), "global_pooling": False, "adaptive": False}
    return tuple(w.emit("max_pool2d_with_index", [x], w.out, **attrs))


# -- normalization -------------------------------------------------------------------------------------------------
def _form(data_format: str) -> str:
    return "NHWC" if data_format.endswith("C") and len(data_format) > 2 else "NCHW"


def _vector(w: Emitter, value: Any, size: int, default: float, dtype: str = "float32") -> FileValue:
    return w.full(default, dtype, [size]) if value is None else value


@row("batch_norm")
def batch_norm(
    w: Emitter, x: Any, mean: Any, variance: Any, weight: Any, bias: Any, training: bool, epsilon: float,
    data_format: str,
) -> Any:  # fmt: skip
    if training:
        raise Unwritable("it normalizes by the batch: save the model in eval mode")
    c = mean.type.shape[0]
    dtype = mean.type.dtype
    given = [x, mean, variance, _vector(w, weight, c, 1.0, dtype), _vector(w, bias, c, 0.0, dtype)]
    attrs = {
        "is_test": True, "momentum": 0.9, "epsilon": epsilon, "data_format": _form(data_format),
        "use_global_stats": True, "trainable_statistics": False,
    }  # fmt: skip
    types = [w.out[0], *[mean.type] * 4, TensorType((-1,), "uint8")]
    out = w.emit("batch_norm_", given, types, **attrs)[0]
    return (out, mean, variance)[: len(w.out)] if len(w.out) > 1 else out


@row("layer_norm")
def layer_norm(w: Emitter, x: Any, weight: Any, bias: Any, n_axes: int, epsilon: float) -> FileValue:
    shape, at = x.type.shape, len(x.type.shape) - n_axes
    flat = [None if v is None else w.reshape(v, (math.prod(v.type.shape),)) for v in (weight, bias)]
    types = [w.out[0], *[TensorType(shape[:at], "float32")] * 2]
    return w.emit("layer_norm", [x, *flat], types, epsilon=epsilon, begin_norm_axis=at)[0]


@row("group_norm")
def group_norm(w: Emitter, x: Any, weight: Any, bias: Any, groups: int, epsilon: float, data_format: str) -> FileValue:
    types = [w.out[0], *[TensorType((x.type.shape[0], groups), "float32")] * 2]
    attrs = {"epsilon": Double(epsilon), "groups": groups, "data_format": _form(data_format)}
    return w.emit("group_norm", [x, weight, bias], types, **attrs)[0]


@row("instance_norm")
def instance_norm(w: Emitter, x: Any, weight: Any, bias: Any, epsilon: float, data_format: str) -> FileValue:
    if _form(data_format) != "NCHW":
        raise Unwritable("channels stand second there")
    c = x.type.shape[1]
    given = [x, _vector(w, weight, c, 1.0), _vector(w, bias, c, 0.0)]
    return w.emit("instance_norm", given, [w.out[0], *[TensorType((-1,), "float32")] * 2], epsilon=epsilon)[0]


# -- pictures ------------------------------------------------------------------------------------------------------
@row("interpolate")
def interpolate(
    w: Emitter, x: Any, size: Any, scale: Any, mode: str, align_corners: bool, half: bool, first: int
) -> FileValue:
    if mode == "area":
        raise Unwritable("mode 'area' has no form there: use adaptive_avg_pool")
    n = len(size)
    is_known = not any(map(is_symbolic, size))
    if not is_known and scale is None:
        raise Unwritable("a size that is not known")
    sizes = [-1] * (3 - n) + (list(size) if is_known and scale is None else [-1] * n)
    attrs = dict(zip(("out_d", "out_h", "out_w"), sizes, strict=True))
    attrs |= {
        "data_format": "NCHW" if first == 2 else "NHWC", "scale": [Double(s) for s in scale or ()],
        "interp_method": mode, "align_corners": align_corners,
        "align_mode": 0 if half or mode in ("nearest", "bicubic") else 1,
    }  # fmt: skip
    return w.op(f"{mode}_interp", x, None, None, None, to=w.out[0], **attrs)


@row("grid_sample")
def grid_sample(w: Emitter, x: Any, grid: Any, nearest: bool, padding: str, align_corners: bool) -> FileValue:
    attrs = {"mode": "nearest" if nearest else "bilinear", "padding_mode": padding, "align_corners": align_corners}
    return w.op("grid_sample", x, grid, to=w.out[0], **attrs)


@row("affine_grid")
def affine_grid(w: Emitter, theta: Any, size: Any, align_corners: bool) -> FileValue:
    shape = w.sizes([theta.type.shape[0], 1, *size])
    return w.op("affine_grid", theta, shape, to=w.out[0], align_corners=align_corners)


@row("pixel_shuffle")
def pixel_shuffle(w: Emitter, x: Any, upscale_factor: int, data_format: str) -> FileValue:
    return w.op("pixel_shuffle", x, to=w.out[0], upscale_factor=upscale_factor, data_format=data_format)


@row("pixel_unshuffle")
def pixel_unshuffle(w: Emitter, x: Any, downscale_factor: int, data_format: str) -> FileValue:
    return w.op("pixel_unshuffle", x, to=w.out[0], downscale_factor=downscale_factor, data_format=data_format)


@row("channel_shuffle")
def channel_shuffle(w: Emitter, x: Any, groups: int, data_format: str) -> FileValue:
    return w.op("channel_shuffle", x, to=w.out[0], groups=groups, data_format=data_format)


@row("im2col")
def im2col(w: Emitter, x: Any, kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any) -> FileValue:
    pair = {"kernel_sizes": kernel_sizes, "strides": strides, "dilations": dilations}
    attrs = {k: list(tuple_of(v, 2, k)) for k, v in pair.items()}
    pads = [paddings] * 4 if isinstance(paddings, int) else list(paddings) * (4 // len(paddings))
    return w.op("unfold", x, to=w.out[0], **attrs, paddings=pads)


# -- attention -----------------------------------------------------------------------------------------------------
@row("attention")
def attention(w: Emitter, q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: float) -> FileValue:
    """By its definition: softmax(q k^T * scale + mask) v, of [batch, length, heads, size]."""
    if q.type.shape[2] != k.type.shape[2]:
        k, v = (_repeated(w, a, q.type.shape[2]) for a in (k, v))
    heads = [w.transpose(a, [0, 2, 1, 3]) for a in (q, k, v)]
    kind = TensorType((*heads[0].type.shape[:3], heads[1].type.shape[2]), q.type.dtype)
    scores = w.matmul(heads[0], heads[1], True, kind)
    scores = times(w, scores, scale)
    if causal:
        seen = w.op("triu", _everywhere(w, kind, -math.inf), diagonal=1)
        scores = w.op("add", scores, seen)
    if mask is not None:
        scores = _masked(w, scores, mask)
    weights = w.op("softmax", scores, axis=-1)
    mixed = w.matmul(weights, heads[2], to=heads[0].type._replace(shape=(*kind.shape[:3], v.type.shape[3])))
    return w.transpose(mixed, [0, 2, 1, 3])


def _everywhere(w: Emitter, kind: TensorType, value: float) -> FileValue:
    """Return a matrix of one number, as large as the last two axes."""
    last = kind.shape[-2:]
    return w.expand(w.full(value, kind.dtype, [1, 1]), last)


def _masked(w: Emitter, scores: FileValue, mask: FileValue) -> FileValue:
    if mask.type.dtype != "bool":
        return w.op("add", scores, w.cast(mask, scores.type.dtype))
    least = w.expand(w.full(-math.inf, scores.type.dtype), scores.type.shape)
    return w.op("where", w.expand(mask, scores.type.shape), scores, least, to=scores.type)


def _repeated(w: Emitter, x: FileValue, heads: int) -> FileValue:
    b, n, own, size = x.type.shape
    wide = w.expand(w.unsqueeze(x, 3), (b, n, own, heads // own, size))
    return w.reshape(wide, (b, n, heads, size))
