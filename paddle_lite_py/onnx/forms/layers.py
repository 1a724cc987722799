"""Forms of layers: convolutions, pooling, normalization, resizing, recurrent layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.symbolic import is_symbolic
from ...model_files.writing.emitter import Unwritable
from ...model_files.writing.pir_text import FileValue, TensorType
from ..writer import OnnxWriter
from .table import form


def is_last(data_format: str) -> bool:
    """Whether channels stand last."""
    return data_format in ("NLC", "NHWC", "NDHWC")


def to_first(w: OnnxWriter, x: FileValue) -> FileValue:
    """Return a picture with its channels second."""
    n = len(x.type.shape)
    return w.transpose(x, [0, n - 1, *range(1, n - 1)])


def to_last(w: OnnxWriter, x: FileValue) -> FileValue:
    """Return a picture with its channels last."""
    n = len(x.type.shape)
    return w.transpose(x, [0, *range(2, n), 1])


def _first_type(kind: TensorType, data_format: str) -> TensorType:
    n, shape = len(kind.shape), kind.shape
    return TensorType((shape[0], shape[-1], *shape[1:-1]), kind.dtype) if is_last(data_format) and n else kind


# -- convolutions --------------------------------------------------------------------------------------------------
def _pads(paddings: Sequence[int], n: int, algorithm: str) -> dict[str, Any]:
    """Paddings as attributes: those before each axis, then those behind."""
    if algorithm != "EXPLICIT":
        return {"auto_pad": "SAME_UPPER" if algorithm == "SAME" else "VALID"}
    flat = [int(p) for p in paddings]
    if len(flat) == n:
        return {"pads": [*flat, *flat]}
    return {"pads": [*flat[::2], *flat[1::2]]}


@form("conv2d", "conv3d", "depthwise_conv2d")
def conv(
    w: OnnxWriter, to: Any, x: FileValue, weight: FileValue, strides: Any, paddings: Any, padding_algorithm: str,
    dilations: Any, groups: int, data_format: str,
) -> FileValue:  # fmt: skip
    n, is_turned = len(strides), is_last(data_format)
    attrs = _pads(paddings, n, padding_algorithm) | {"strides": list(strides), "dilations": list(dilations)}
    if not any(map(is_symbolic, weight.type.shape)):
        attrs["kernel_shape"] = [int(k) for k in weight.type.shape[2:]]
    x = to_first(w, x) if is_turned else x
    made = w.node("Conv", x, weight, to=_first_type(to[0], data_format), group=int(groups), **attrs)
    return to_last(w, made) if is_turned else made


@form("conv2d_transpose", "conv3d_transpose", "depthwise_conv2d_transpose")
def conv_transpose(
    w: OnnxWriter, to: Any, x: FileValue, weight: FileValue, size: FileValue | None = None, *, strides: Any,
    paddings: Any, padding_algorithm: str, dilations: Any, groups: int, data_format: str, output_padding: Any,
    output_size: Any = (),
) -> FileValue:  # fmt: skip
    n, is_turned = len(strides), is_last(data_format)
    kind = _first_type(to[0], data_format)
    attrs = _pads(paddings, n, padding_algorithm) | {"strides": list(strides), "dilations": list(dilations)}
    wanted = w.integers(size, "a size") if size is not None else list(output_size)
    if wanted:
        attrs["output_padding"] = _more(x, kind, weight, wanted, attrs, is_turned)
    elif output_padding:
        attrs["output_padding"] = [int(p) for p in output_padding]
    x = to_first(w, x) if is_turned else x
    made = w.node("ConvTranspose", x, weight, to=kind, group=int(groups), **attrs)
    return to_last(w, made) if is_turned else made


def _more(
    x: FileValue, kind: TensorType, weight: FileValue, wanted: list[int], attrs: dict[str, Any], is_turned: bool
) -> list[int]:
    """How much larger than by its definition a result is to be."""
    n, pads = len(wanted), attrs.get("pads")
    given = x.type.shape[1 : 1 + n] if is_turned else x.type.shape[2 : 2 + n]
    if pads is None or any(map(is_symbolic, given)):
        raise Unwritable("output_size has a form in ONNX where the sizes are known")
    kernel = [(k - 1) * d + 1 for k, d in zip(weight.type.shape[2:], attrs["dilations"], strict=True)]
    least = [
        (g - 1) * s + k - pads[i] - pads[n + i]
        for i, (g, s, k) in enumerate(zip(given, attrs["strides"], kernel, strict=True))
    ]
    return [a - b for a, b in zip(wanted, least, strict=True)]


# -- pooling -------------------------------------------------------------------------------------------------------
@form("pool2d", "pool3d")
def pool(
    w: OnnxWriter, to: Any, x: FileValue, size: FileValue | None = None, *, kernel_size: Any = (), strides: Any,
    paddings: Any, ceil_mode: bool, exclusive: bool, data_format: str, pooling_type: str, adaptive: bool,
    padding_algorithm: str, global_pooling: bool = False,
) -> FileValue:  # fmt: skip
    windows = w.integers(size, "a window") if size is not None else [int(k) for k in kernel_size]
    n, is_turned = len(windows), is_last(data_format)
    kind, x = _first_type(to[0], data_format), to_first(w, x) if is_turned else x
    if adaptive or global_pooling:
        made = _adaptive(w, x, windows if adaptive else [1] * n, kind, pooling_type)
    else:
        attrs = _pads(paddings, n, padding_algorithm) | {"kernel_shape": windows, "strides": list(strides)}
        attrs["ceil_mode"] = int(ceil_mode)
        if pooling_type == "avg":
            attrs["count_include_pad"] = int(not exclusive)
        made = w.node("AveragePool" if pooling_type == "avg" else "MaxPool", x, to=kind, **attrs)
    return to_last(w, made) if is_turned else made


def _adaptive(w: OnnxWriter, x: FileValue, sizes: Sequence[int], kind: TensorType, pooling_type: str) -> FileValue:
    name = "Average" if pooling_type == "avg" else "Max"
    if all(s == 1 for s in sizes):
        return w.node(f"Global{name}Pool", x, to=kind)
    windows = _even_windows(x.type.shape[2:], sizes)
    return w.node(f"{name}Pool", x, to=kind, kernel_shape=windows, strides=windows)


def _even_windows(given: Sequence[Any], sizes: Sequence[int]) -> list[int]:
    """Return the windows of an adaptive pooling whose result divides its picture."""
    if any(is_symbolic(g) or g % s for g, s in zip(given, sizes, strict=True)):
        raise Unwritable(f"an adaptive pooling of {list(given)} to {list(sizes)} has no form in ONNX")
    return [g // s for g, s in zip(given, sizes, strict=True)]


@form("max_pool2d_with_index")
def max_pool_with_index(
    w: OnnxWriter, to: Any, x: FileValue, kernel_size: Any, strides: Any, paddings: Any, ceil_mode: bool,
    adaptive: bool,
) -> Any:  # fmt: skip
    """ONNX's places count through batch and channels as well."""
    if adaptive:
        kernel_size = strides = _even_windows(x.type.shape[2:], kernel_size)
    attrs = _pads(paddings, 2, "EXPLICIT") | {"kernel_shape": list(kernel_size), "strides": list(strides)}
    kinds = [to[0], TensorType(to[0].shape, "int64")]
    found, places = w.nodes_of("MaxPool", [x], kinds, ceil_mode=int(ceil_mode), **attrs)
    area = w.size(x.type.shape[2] * x.type.shape[3])
    return found, w.cast(w.node("Mod", places, area, to=kinds[1]), to[1].dtype)


# -- normalization -------------------------------------------------------------------------------------------------
@form("batch_norm_")
def batch_norm(
    w: OnnxWriter, _to: Any, x: FileValue, mean: FileValue, variance: FileValue, weight: FileValue, bias: FileValue,
    epsilon: float, data_format: str,
) -> Any:  # fmt: skip
    is_turned = data_format == "NHWC" and len(x.type.shape) > 2
    x = to_first(w, x) if is_turned else x
    made = w.node("BatchNormalization", x, weight, bias, mean, variance, to=x.type, epsilon=float(epsilon))
    return to_last(w, made) if is_turned else made, mean, variance


@form("layer_norm")
def layer_norm(
    w: OnnxWriter, to: Any, x: FileValue, weight: FileValue | None, bias: FileValue | None, epsilon: float,
    begin_norm_axis: int,
) -> FileValue:  # fmt: skip
    rest = x.type.shape[begin_norm_axis:]
    if any(map(is_symbolic, rest)):
        raise Unwritable("a normalization over an axis of unknown size has no form in ONNX")
    weight = w.full(1.0, x.type.dtype, rest) if weight is None else w.reshape(weight, rest)
    more = [] if bias is None else [w.reshape(bias, rest)]
    attrs = {"axis": begin_norm_axis, "epsilon": float(epsilon)}
    return w.node("LayerNormalization", x, weight, *more, to=to[0], **attrs)


def _vector(w: OnnxWriter, value: FileValue | None, size: int, default: float, dtype: str) -> FileValue:
    return w.full(default, dtype, [size]) if value is None else value


@form("group_norm")
def group_norm(
    w: OnnxWriter, _to: Any, x: FileValue, weight: FileValue | None, bias: FileValue | None, epsilon: float,
    groups: int, data_format: str,
) -> FileValue:  # fmt: skip
    is_turned = data_format == "NHWC"
    x = to_first(w, x) if is_turned else x
    c, dtype = x.type.shape[1], x.type.dtype
    scale, shift = _vector(w, weight, c, 1.0, dtype), _vector(w, bias, c, 0.0, dtype)
    attrs = {"epsilon": float(epsilon), "num_groups": int(groups)}
    made = w.node("GroupNormalization", x, scale, shift, to=x.type, **attrs)
    return to_last(w, made) if is_turned else made


@form("instance_norm")
def instance_norm(
    w: OnnxWriter, to: Any, x: FileValue, weight: FileValue, bias: FileValue, epsilon: float
) -> FileValue:
    return w.node("InstanceNormalization", x, weight, bias, to=to[0], epsilon=float(epsilon))


# -- pictures ------------------------------------------------------------------------------------------------------
_RESIZED = {"nearest": "nearest", "bilinear": "linear", "linear": "linear", "trilinear": "linear", "bicubic": "cubic"}


@form("nearest_interp", "bilinear_interp", "linear_interp", "trilinear_interp", "bicubic_interp")
def resize(
    w: OnnxWriter, to: Any, x: FileValue, *_: Any, data_format: str, interp_method: str, align_corners: bool,
    align_mode: int, scale: Sequence[float] = (),
) -> FileValue:  # fmt: skip
    is_turned = is_last(data_format)
    kind, x = _first_type(to[0], data_format), to_first(w, x) if is_turned else x
    half = "half_pixel" if align_mode == 0 or interp_method == "bicubic" else "asymmetric"
    if interp_method == "nearest":
        half = "asymmetric"
    elif half == "half_pixel" and interp_method in ("bilinear", "bicubic"):
        half = "pytorch_half_pixel"  # an output of size 1 samples the start of x
    attrs: dict[str, Any] = {
        "mode": _RESIZED[interp_method], "coordinate_transformation_mode": "align_corners" if align_corners else half,
    }  # fmt: skip
    if interp_method == "nearest":
        attrs["nearest_mode"] = "round_prefer_ceil" if align_corners else "floor"
    if interp_method == "bicubic":
        attrs["cubic_coeff_a"] = -0.75
    factors = _factors(x.type.shape[2:], kind.shape[2:], scale)
    scales, sizes = (w.constant([1, 1, *factors], "float32"), None) if factors else (None, w.sizes(kind.shape))
    made = w.node("Resize", x, None, scales, sizes, to=kind, **attrs)
    return to_last(w, made) if is_turned else made


def _factors(sizes: Sequence[Any], made: Sequence[Any], scale: Sequence[float]) -> list[float]:
    """Return the factors to sample by; none where sizes say it, or where a runtime would make others of factors."""
    known = not any(map(is_symbolic, (*sizes, *made)))
    exact = all(int(np.float32(n) * np.float32(s)) == m for n, m, s in zip(sizes, made, scale, strict=False) if known)
    return [float(s) for s in scale] if exact and [*sizes] != [*made] else []


@form("grid_sample")
def grid_sample(
    w: OnnxWriter, to: Any, x: FileValue, grid: FileValue, mode: str, padding_mode: str, align_corners: bool
) -> FileValue:
    attrs = {"mode": "linear" if mode == "bilinear" else mode, "padding_mode": padding_mode}
    return w.node("GridSample", x, grid, to=to[0], align_corners=int(align_corners), **attrs)


@form("affine_grid")
def affine_grid(w: OnnxWriter, to: Any, theta: FileValue, shape: FileValue, align_corners: bool) -> FileValue:
    return w.node("AffineGrid", theta, w.cast(shape, "int64"), to=to[0], align_corners=int(align_corners))


@form("pixel_shuffle")
def pixel_shuffle(w: OnnxWriter, to: Any, x: FileValue, upscale_factor: int, data_format: str) -> FileValue:
    is_turned = is_last(data_format)
    kind, x = _first_type(to[0], data_format), to_first(w, x) if is_turned else x
    made = w.node("DepthToSpace", x, to=kind, blocksize=int(upscale_factor), mode="CRD")
    return to_last(w, made) if is_turned else made


@form("pixel_unshuffle")
def pixel_unshuffle(w: OnnxWriter, to: Any, x: FileValue, downscale_factor: int, data_format: str) -> FileValue:
    is_turned, r = is_last(data_format), int(downscale_factor)
    kind, x = _first_type(to[0], data_format), to_first(w, x) if is_turned else x
    n, c, height, width = x.type.shape
    cells = w.reshape(x, (n, c, height // r, r, width // r, r))
    made = w.reshape(w.transpose(cells, [0, 1, 3, 5, 2, 4]), kind.shape)
    return to_last(w, made) if is_turned else made


@form("channel_shuffle")
def channel_shuffle(w: OnnxWriter, _to: Any, x: FileValue, groups: int, data_format: str) -> FileValue:
    is_turned = is_last(data_format)
    x = to_first(w, x) if is_turned else x
    n, c, *rest = x.type.shape
    cells = w.transpose(w.reshape(x, (n, groups, c // groups, *rest)), [0, 2, 1, *range(3, 3 + len(rest))])
    made = w.reshape(cells, x.type.shape)
    return to_last(w, made) if is_turned else made


@form("unfold")
def unfold(
    w: OnnxWriter, to: Any, x: FileValue, kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any
) -> FileValue:
    """By a convolution of each channel whose kernels choose one place each."""
    (n, c, *_), (height, width) = x.type.shape, kernel_sizes
    if is_symbolic(c):
        raise Unwritable("its channels are not known")
    taps = height * width
    kernel = np.tile(np.eye(taps).reshape(taps, 1, height, width), (c, 1, 1, 1))
    attrs = {"kernel_shape": [height, width], "strides": list(strides), "dilations": list(dilations)}
    kind = TensorType((n, c * taps, None, None), x.type.dtype)
    pads = [int(p) for p in paddings]
    made = w.node("Conv", x, w.constant(kernel, x.type.dtype), to=kind, group=int(c), pads=pads, **attrs)
    return w.node("Reshape", made, w.ints([0, c * taps, -1]), to=to[0])


@form("fold")
def fold(
    w: OnnxWriter, to: Any, x: FileValue, output_sizes: Any, kernel_sizes: Any, strides: Any, dilations: Any,
    paddings: Any,
) -> FileValue:  # fmt: skip
    pads = [int(p) for p in (paddings if len(paddings) == 4 else [*paddings, *paddings])]
    sizes = [w.ints([int(v) for v in s]) for s in (output_sizes, kernel_sizes)]
    attrs = {"dilations": list(dilations), "strides": list(strides), "pads": pads}
    return w.node("Col2Im", x, *sizes, to=to[0], **attrs)


# -- recurrent layers ----------------------------------------------------------------------------------------------
# Where ONNX has the gates of a weight, by those of the reference.
_ORDERS = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN_TANH": (0,), "RNN_RELU": (0,)}


@form("rnn")
def rnn(
    w: OnnxWriter, to: Any, x: FileValue, states: FileValue, weights: FileValue, lengths: FileValue | None, _mask: Any,
    is_bidirec: bool, hidden_size: int, num_layers: int, mode: str,
) -> Any:  # fmt: skip
    """Return one layer, of inputs with time first."""
    given, times = w.items(weights), 2 if is_bidirec else 1
    if num_layers != 1 or any(v not in w.known for v in given):
        raise Unwritable("recurrent layers whose weights a run computes have no form in ONNX")
    per = [[w.known[v] for v in (given[2 * k], given[2 * k + 1])] for k in range(times)]
    biases = [[w.known[v] for v in given[2 * times + 2 * k : 2 * times + 2 * k + 2]] for k in range(times)]
    order = _ORDERS[mode]
    stacked = [np.stack([_gates(pair[i], order) for pair in per]) for i in (0, 1)]
    bias = np.stack([np.concatenate([_gates(b, order) for b in pair]) for pair in biases])
    start = w.items(states)
    attrs: dict[str, Any] = {"hidden_size": int(hidden_size), "direction": "bidirectional" if is_bidirec else "forward"}
    attrs |= {"linear_before_reset": 1} if mode == "GRU" else {}
    attrs |= {"activations": ["Relu" if mode == "RNN_RELU" else "Tanh"] * times} if mode.startswith("RNN") else {}
    seen = None if lengths is None else w.cast(lengths, "int32")
    t, batch = x.type.shape[:2]
    made = [TensorType((t, times, batch, hidden_size), x.type.dtype), *[s.type for s in start]]
    operands = [x, *map(w.constant, (*stacked, bias)), seen, *start]
    out, *last = w.nodes_of(mode.partition("_")[0], operands, made, **attrs)
    joined = w.reshape(w.transpose(out, [0, 2, 1, 3]), to[0].shape)
    return joined, None, w.combined(last), None


def _gates(weight: np.ndarray, order: Sequence[int]) -> np.ndarray:
    """Return a weight with its gates in another order."""
    parts = np.split(weight, len(order))
    return np.concatenate([parts[k] for k in order])


@form("temporal_shift")
def temporal_shift(
    w: OnnxWriter, _to: Any, x: FileValue, seg_num: int, shift_ratio: float, data_format: str
) -> FileValue:
    """Some channels of the next picture, some of the one before, and the rest."""
    is_turned = is_last(data_format)
    x = to_first(w, x) if is_turned else x
    c = x.type.shape[1]
    whole = w.reshape(x, (x.type.shape[0] // seg_num, seg_num, *x.type.shape[1:]))
    fold, twice = int(c * shift_ratio), int(c * 2 * shift_ratio)
    padded = w.node("Pad", whole, w.ints([0, 1, 0, 0, 0, 0, 1, 0, 0, 0]), to=whole.type)
    cuts = [(0, fold, 0), (fold, twice, 2), (twice, c, 1)]
    parts = [w.slice(w.slice(padded, 1, at, at + seg_num), 2, a, b) for a, b, at in cuts]
    made = w.reshape(w.joined(parts, 2, whole.type), x.type.shape)
    return to_last(w, made) if is_turned else made
