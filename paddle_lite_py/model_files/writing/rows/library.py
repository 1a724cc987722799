"""Rows of losses, linear algebra, spectra, and of places that are counted or written to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....ops.convolution import tuple_of
from ..emitter import Emitter, Unwritable
from ..pir_text import DTypeAttribute, FileValue, IntArray, Long, TensorType
from .elementwise import axes_of
from .layers import with_bias
from .shaping import filled, wrapped
from .table import row


# -- losses --------------------------------------------------------------------------------------------------------
def reduced(w: Emitter, loss: FileValue, reduction: str) -> FileValue:
    """Return a loss of each row, put together."""
    if reduction == "none":
        return w.reshape(loss, w.out[0].shape)
    attrs = {} if reduction == "mean" else {"dtype": DTypeAttribute(w.out[0].dtype)}
    return w.op(reduction, loss, w.ints([]), to=w.out[0], **attrs, keepdim=False)


@row("cross_entropy")
def cross_entropy(
    w: Emitter, x: Any, label: Any, weight: Any, ignore_index: int, reduction: str, soft_label: bool, axis: int,
    use_softmax: bool, label_smoothing: float,
) -> FileValue:  # fmt: skip
    if weight is not None or label_smoothing or (reduction == "mean" and ignore_index >= 0 and not soft_label):
        raise Unwritable("weights of classes, label smoothing, and a mean without rows have no form there")
    n = len(x.type.shape)
    axis %= n
    shape = tuple([1 if i == axis else m for i, m in enumerate(x.type.shape)])
    label = label if soft_label else w.reshape(label, shape)
    attrs = {
        "soft_label": soft_label, "use_softmax": use_softmax, "numeric_stable_mode": True, "ignore_index": ignore_index,
        "axis": axis,
    }  # fmt: skip
    types = [x.type, TensorType(shape, x.type.dtype)]
    return reduced(w, w.emit("cross_entropy_with_softmax", [x, label], types, **attrs)[1], reduction)


@row("nll_loss")
def nll_loss(w: Emitter, x: Any, label: Any, weight: Any, ignore_index: int, reduction: str) -> FileValue:
    types = [w.out[0], TensorType((), x.type.dtype)]
    attrs = {"ignore_index": Long(ignore_index), "reduction": reduction}
    return w.emit("nll_loss", [x, label, weight], types, **attrs)[0]


# -- linear algebra ------------------------------------------------------------------------------------------------
@row("cholesky")
def cholesky(w: Emitter, x: Any, upper: bool) -> FileValue:
    return w.op("cholesky", x, upper=upper)


@row("cholesky_solve")
def cholesky_solve(w: Emitter, x: Any, y: Any, upper: bool) -> FileValue:
    return w.op("cholesky_solve", x, y, to=w.out[0], upper=upper)


@row("triangular_solve")
def triangular_solve(w: Emitter, x: Any, y: Any, upper: bool, transpose: bool, unitriangular: bool) -> FileValue:
    attrs = {"upper": upper, "transpose": transpose, "unitriangular": unitriangular}
    return w.op("triangular_solve", x, y, to=w.out[0], **attrs)


@row("solve")
def solve(w: Emitter, x: Any, y: Any, left: bool) -> FileValue:
    if not left:
        raise Unwritable("left=False has no form there: transpose both")
    return w.op("solve", x, y, to=w.out[0])


@row("matrix_power")
def matrix_power(w: Emitter, x: Any, n: int) -> FileValue:
    return w.op("matrix_power", x, n=n)


@row("cross")
def cross(w: Emitter, x: Any, y: Any, axis: Any) -> FileValue:
    return w.op("cross", x, y, to=w.out[0], axis=9 if axis is None else axis)


@row("complex")
def complex_(w: Emitter, real: Any, imag: Any) -> FileValue:
    parts = "float64" if w.out[0].dtype == "complex128" else "float32"
    return w.op("complex", w.tensor(real, parts), w.tensor(imag, parts), to=w.out[0])


# -- spectra -------------------------------------------------------------------------------------------------------
def _spectrum(kind: str, forward: bool) -> Any:
    """Return a transform between complex numbers (c2c), of real ones (r2c), or to real ones (c2r)."""

    def write(w: Emitter, x: Any, norm: str, **sizes: Any) -> FileValue:
        n, axes = next(iter(sizes.values())), list(sizes.values())[1]
        count = len(x.type.shape)
        axes = list(range(count)) if axes is None else [axes] if isinstance(axes, int) else list(axes)
        given = None if n is None else [n] if isinstance(n, int) else list(n)
        axes = [a % count for a in axes][-len(given) if given else 0 :]
        wanted = [w.out[0].shape[a] for a in axes] if kind == "c2r" else [x.type.shape[a] for a in axes]
        if given is not None and (given[:-1] != [x.type.shape[a] for a in axes[:-1]] or given != wanted):
            raise Unwritable("a size that is not that of the tensor has no form there: pad it, or cut it")
        attrs: dict[str, Any] = {"axes": list(map(Long, axes)), "normalization": norm, "forward": forward}
        if kind == "r2c":
            return w.op("fft_r2c", x, to=w.out[0], **attrs, onesided=True)
        wide = "complex128" if x.type.dtype in ("float64", "complex128") else "complex64"
        more = {"last_dim_size": Long(w.out[0].shape[axes[-1]])} if kind == "c2r" else {}
        return w.op(f"fft_{kind}", w.cast(x, wide), to=w.out[0], **attrs, **more)

    return write


for _kind, _forward, _names in (
    ("c2c", True, ("fft", "fft2", "fftn")),
    ("c2c", False, ("ifft", "ifft2", "ifftn")),
    ("r2c", True, ("rfft", "rfft2", "rfftn")),
    ("r2c", False, ("ihfft",)),
    ("c2r", False, ("irfft", "irfft2", "irfftn")),
    ("c2r", True, ("hfft",)),
):
    row(*_names)(_spectrum(_kind, _forward))


# -- order and places ----------------------------------------------------------------------------------------------
@row("_searchsorted")
def searchsorted(w: Emitter, sequence: Any, values: Any, _dtype: str, right: bool) -> FileValue:
    values = w.cast(values, sequence.type.dtype)
    return w.op("searchsorted", sequence, values, to=w.out[0], out_int32=w.out[0].dtype == "int32", right=right)


@row("_median", "_nanmedian")
def median(w: Emitter, x: Any, axis: Any, keepdim: bool) -> FileValue:
    axes = axes_of(x, axis) or list(range(len(x.type.shape)))
    name = w.name[1:]
    types = [w.out[0], TensorType((-1,), "int64")]
    return w.emit(name, [x], types, axis=IntArray(axes), keepdim=keepdim, mode="avg")[0]


@row("_bincount")
def bincount(w: Emitter, x: Any, weights: Any, length: Any) -> FileValue:
    least = w.reshape(w.cast(w.size(length), "int32"), (1,))
    return w.op("bincount", x, weights, least, to=w.out[0])


@row("_put_along_axis")
def put_along_axis(
    w: Emitter, x: Any, indices: Any, values: Any, axis: int, reduce: str, include_self: bool, broadcast: bool
) -> FileValue:
    axis %= len(x.type.shape)
    target = [indices.type.shape[axis] if i == axis else n for i, n in enumerate(x.type.shape)]
    values = w.tensor(values, x.type.dtype)
    if broadcast:
        indices, values = w.expand(indices, target), w.expand(values, target)
    elif not values.type.shape:
        values = w.expand(values, indices.type.shape)
    index = wrapped(w, indices, x.type.shape[axis])
    return w.op("put_along_axis", x, index, values, axis=axis, reduce=reduce, include_self=include_self)


@row("scatter_nd")
def scatter_nd(w: Emitter, index: Any, updates: Any, _shape: Any) -> FileValue:
    return w.op("scatter_nd_add", filled(w, 0, w.out[0]), index, updates)


@row("_repeat_interleave")
def repeat_interleave(w: Emitter, x: Any, index: Any, repeats: int, axis: Any) -> FileValue:
    if index is not None:
        raise Unwritable("repeats as a list have no form there: give a tensor")
    x = w.reshape(x, (-1,)) if axis is None else x
    return w.op("repeat_interleave", x, to=w.out[0], repeats=repeats, axis=axis or 0, output_size=Long(-1))


@row("_repeat_by")
def repeat_by(w: Emitter, x: Any, counts: Any, _total: Any, axis: Any) -> FileValue:
    x = w.reshape(x, (-1,)) if axis is None else x
    attrs = {"axis": axis or 0, "output_size": Long(-1)}
    return w.op("repeat_interleave_with_tensor_index", x, counts, to=w.out[0], **attrs)


@row("cummax", "cummin")
def extremes(w: Emitter, x: Any, axis: Any, _dtype: Any) -> tuple[FileValue, ...]:
    x = w.reshape(x, w.out[0].shape) if axis is None else x
    return tuple(w.emit(w.name, [x], w.out, axis=0 if axis is None else axis, dtype=DTypeAttribute(w.out[1].dtype)))


@row("logcumsumexp")
def logcumsumexp(w: Emitter, x: Any, axis: Any, _dtype: Any) -> FileValue:
    attrs = {"flatten": axis is None, "exclusive": False, "reverse": False}
    return w.op("logcumsumexp", w.cast(x, w.out[0].dtype), to=w.out[0], axis=-1 if axis is None else axis, **attrs)


@row("mode")
def mode(w: Emitter, x: Any, axis: int, keepdim: bool) -> tuple[FileValue, ...]:
    return tuple(w.emit("mode", [x], w.out, axis=axis, keepdim=keepdim))


@row("multiplex")
def multiplex(w: Emitter, inputs: Sequence[FileValue], index: Any) -> FileValue:
    return w.op("multiplex", w.combined(inputs), w.cast(index, "int32"), to=w.out[0])


# -- pictures ------------------------------------------------------------------------------------------------------
@row("deform_conv2d")
def deform_conv2d(
    w: Emitter, x: Any, offset: Any, weight: Any, bias: Any, mask: Any, stride: Any, padding: Any, dilation: Any,
    deformable_groups: int, groups: int,
) -> FileValue:  # fmt: skip
    attrs: dict[str, Any] = {"strides": stride, "paddings": padding, "dilations": dilation}
    attrs = {k: list(tuple_of(v, 2, k)) for k, v in attrs.items()}
    attrs |= {"deformable_groups": deformable_groups, "groups": groups, "im2col_step": 1}
    return with_bias(w, w.op("deformable_conv", x, offset, weight, mask, to=w.out[0], **attrs), bias, True)


@row("col2im")
def col2im(
    w: Emitter, x: Any, output_sizes: Any, kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any
) -> FileValue:
    pairs = {"output_sizes": output_sizes, "kernel_sizes": kernel_sizes, "strides": strides, "dilations": dilations}
    attrs = {k: list(tuple_of(v, 2, k)) for k, v in pairs.items()}
    pads = [paddings] * 4 if isinstance(paddings, int) else list(paddings) * (4 // len(paddings))
    return w.op("fold", x, to=w.out[0], **attrs, paddings=pads)


@row("temporal_shift")
def temporal_shift(w: Emitter, x: Any, seg_num: int, shift_ratio: float, last: bool) -> FileValue:
    form = "NHWC" if last else "NCHW"
    return w.op("temporal_shift", x, seg_num=seg_num, shift_ratio=float(shift_ratio), data_format=form)


@row("max_unpool")
def max_unpool(w: Emitter, x: Any, indices: Any, size: Any) -> FileValue:
    if len(size) != 2:
        raise Unwritable("it has a form there for images alone")
    shape = [1, 1]
    attrs = {"ksize": shape, "strides": shape, "padding": [0, 0], "data_format": "NCHW"}
    return w.op("unpool", x, indices, w.ints([int(n) for n in size]), to=w.out[0], **attrs)
