"""Layers as operators: convolutions, pooling, normalization, resizing, recurrent layers, losses."""

from __future__ import annotations

from typing import Any

from ...eager.tensor import Tensor
from ...nn import functional as _functional
from ...nn.rnn import run_op
from .table import P, numbers, operator, tensor
from .values import _listed

F: Any = _functional


def _padding(paddings: Any, algorithm: str) -> Any:
    return list(paddings) if algorithm == "EXPLICIT" else algorithm


def _convolution(name: str, of: str) -> None:
    @operator(name)
    def convolve(
        x: Any, weight: Any, *, strides: Any = 1, paddings: Any = (0,), padding_algorithm: str = "EXPLICIT",
        dilations: Any = 1, groups: int = 1, data_format: str = "NCHW",
    ) -> Any:  # fmt: skip
        form = data_format if of == "conv3d" else {"NHWC": "NHWC"}.get(data_format, "NCHW")
        padding = _padding(paddings, padding_algorithm)
        return getattr(F, of)(
            tensor(x), tensor(weight), None, list(strides), padding, list(dilations), groups or 1, form
        )


for _name, _of in (("conv2d", "conv2d"), ("depthwise_conv2d", "conv2d"), ("conv3d", "conv3d")):
    _convolution(_name, _of)


def _transposed(name: str, of: str) -> None:
    @operator(name)
    def convolve(
        x: Any, weight: Any, output_size: Any = None, *, strides: Any = 1, paddings: Any = (0,),
        output_padding: Any = (), padding_algorithm: str = "EXPLICIT", groups: int = 1, dilations: Any = 1,
        data_format: str = "NCHW",
    ) -> Any:  # fmt: skip
        form = data_format if of == "conv3d_transpose" else {"NHWC": "NHWC"}.get(data_format, "NCHW")
        size = _listed(output_size) if output_size is not None else None
        return getattr(F, of)(
            tensor(x), tensor(weight), stride=list(strides), padding=_padding(paddings, padding_algorithm),
            output_padding=list(output_padding) or 0, groups=groups or 1, dilation=list(dilations),
            output_size=size or None, data_format=form,
        )  # fmt: skip


for _name in ("conv2d_transpose", "depthwise_conv2d_transpose", "conv3d_transpose"):
    _transposed(_name, "conv3d_transpose" if "3d" in _name else "conv2d_transpose")


def _pooling(name: str, rank: int) -> None:
    @operator(name)
    def pool(
        x: Any, size_operand: Any = None, *, kernel_size: Any = None, strides: Any = 1, paddings: Any = (0,),
        ceil_mode: bool = False, exclusive: bool = True, data_format: str = "", pooling_type: str = "max",
        global_pooling: bool = False, adaptive: bool = False, padding_algorithm: str = "EXPLICIT",
    ) -> Any:  # fmt: skip
        x = tensor(x)
        last = data_format.endswith("C")
        form = ("NHWC" if rank == 2 else "NDHWC") if last else ("NCHW" if rank == 2 else "NCDHW")
        size = _listed(size_operand) if size_operand is not None else list(kernel_size)
        kind = "max" if pooling_type == "max" else "avg"
        if adaptive or global_pooling:
            return _adaptive(x, [1] * rank if global_pooling else size, kind, rank, form)
        padding = _padding(paddings, padding_algorithm)
        if kind == "max":
            return getattr(F, f"max_pool{rank}d")(x, size, list(strides), padding, False, ceil_mode, form)
        return getattr(F, f"avg_pool{rank}d")(x, size, list(strides), padding, ceil_mode, exclusive, None, form)


def _adaptive(x: Any, size: Any, kind: str, rank: int, form: str) -> Any:
    size = size * rank if len(size) == 1 else size
    if list(size) == [1] * rank:
        axes = list(range(1, rank + 1)) if form.endswith("C") else list(range(2, rank + 2))
        return (P.max if kind == "max" else P.mean)(x, axes, True)
    if kind == "max":
        return getattr(F, f"adaptive_max_pool{rank}d")(x, size)
    return getattr(F, f"adaptive_avg_pool{rank}d")(x, size, form)


_pooling("pool2d", 2)
_pooling("pool3d", 3)


@operator("lp_pool2d")
def lp_pool2d(
    x: Any, *, kernel_size: Any, strides: Any, paddings: Any, ceil_mode: bool = False, data_format: str = "NCHW",
    norm_type: float = 2.0,
) -> Any:  # fmt: skip
    return F.lp_pool2d(tensor(x), norm_type, list(kernel_size), list(strides), list(paddings), ceil_mode, data_format)


@operator("max_pool2d_with_index")
def max_pool2d_with_index(
    x: Any, *, kernel_size: Any, strides: Any, paddings: Any, global_pooling: bool = False, adaptive: bool = False,
    ceil_mode: bool = False,
) -> Any:  # fmt: skip
    if adaptive or global_pooling:
        return F.adaptive_max_pool2d(tensor(x), [1, 1] if global_pooling else list(kernel_size), return_mask=True)
    return F.max_pool2d(tensor(x), list(kernel_size), list(strides), list(paddings), True, ceil_mode)


@operator("unpool")
def unpool(x: Any, indices: Any, output_size: Any, *, ksize: Any, strides: Any, padding: Any) -> Any:
    return F.max_unpool2d(
        tensor(x), tensor(indices), list(ksize), list(strides), list(padding), output_size=_listed(output_size)
    )


@operator("batch_norm_", "batch_norm", "sync_batch_norm_")
def batch_norm(
    x: Any, mean: Any, variance: Any, scale: Any = None, bias: Any = None, *, epsilon: float = 1e-5,
    data_format: str = "NCHW",
) -> Any:  # fmt: skip
    given = map(tensor, (x, mean, variance, scale, bias))
    out = F.batch_norm(*given, training=False, epsilon=epsilon, data_format=_form(tensor(x).ndim, data_format))
    return out, mean, variance, None, None, None


def _form(ndim: int, form: str) -> str:
    """Return the name of a layout for a tensor of so many dimensions."""
    first = {2: "NC", 3: "NCL", 4: "NCHW", 5: "NCDHW"}
    last = {2: "NC", 3: "NLC", 4: "NHWC", 5: "NDHWC"}
    return (last if form.endswith("C") and len(form) > 2 else first)[ndim]


@operator("layer_norm")
def layer_norm(x: Any, scale: Any = None, bias: Any = None, *, epsilon: float = 1e-5, begin_norm_axis: int = 1) -> Any:
    x, scale, bias = map(tensor, (x, scale, bias))
    shape = x._payload.shape[begin_norm_axis:]
    scale, bias = (v if v is None else P.reshape(v, list(shape)) for v in (scale, bias))
    return F.layer_norm(x, list(shape), scale, bias, epsilon), None, None


@operator("group_norm")
def group_norm(
    x: Any, scale: Any = None, bias: Any = None, *, epsilon: float = 1e-5, groups: int = 1, data_format: str = "NCHW"
) -> Any:
    return F.group_norm(tensor(x), groups, epsilon, tensor(scale), tensor(bias), data_format), None, None


@operator("instance_norm")
def instance_norm(x: Any, scale: Any = None, bias: Any = None, *, epsilon: float = 1e-5) -> Any:
    return F.instance_norm(tensor(x), weight=tensor(scale), bias=tensor(bias), eps=epsilon), None, None


def _resize(name: str, mode: str) -> None:
    @operator(name)
    def resize(
        x: Any, out_size: Any = None, size_tensor: Any = None, scale_tensor: Any = None, *, data_format: str = "NCHW",
        out_d: int = -1, out_h: int = -1, out_w: int = -1, scale: Any = (), align_corners: bool = False,
        align_mode: int = 1,
    ) -> Any:  # fmt: skip
        x = tensor(x)
        rank, last = x.ndim - 2, data_format.endswith("C")
        form = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[rank] if last else {1: "NCW", 2: "NCHW", 3: "NCDHW"}[rank]
        given = [out_d, out_h, out_w][3 - rank :]
        size = _listed(size_tensor if size_tensor else out_size)
        scales = list(scale) if isinstance(scale, list | tuple) else [scale]
        scales = numbers(scale_tensor) if scale_tensor is not None else scales
        if isinstance(scales, Tensor):
            raise NotImplementedError("a scale that is known only when the model runs")
        if size is None and not scales:
            size = given
        options: dict[str, Any] = {"mode": mode, "align_corners": align_corners, "align_mode": align_mode}
        if size is not None:
            return F.interpolate(x, size, data_format=form, **options)
        factor = [float(s) for s in (scales * rank if len(scales) == 1 else scales)]
        return F.interpolate(x, scale_factor=factor, data_format=form, **options)


for _name, _mode in (
    ("nearest_interp", "nearest"),
    ("linear_interp", "linear"),
    ("bilinear_interp", "bilinear"),
    ("trilinear_interp", "trilinear"),
    ("bicubic_interp", "bicubic"),
):
    _resize(_name, _mode)


@operator("pixel_shuffle")
def pixel_shuffle(x: Any, *, upscale_factor: int = 1, data_format: str = "NCHW") -> Any:
    return F.pixel_shuffle(tensor(x), upscale_factor, data_format)


@operator("pixel_unshuffle")
def pixel_unshuffle(x: Any, *, downscale_factor: int = 1, data_format: str = "NCHW") -> Any:
    return F.pixel_unshuffle(tensor(x), downscale_factor, data_format)


@operator("channel_shuffle", "shuffle_channel")
def channel_shuffle(x: Any, *, groups: int, data_format: str = "NCHW") -> Any:
    return F.channel_shuffle(tensor(x), groups, data_format)


@operator("temporal_shift")
def temporal_shift(x: Any, *, seg_num: int, shift_ratio: float = 0.25, data_format: str = "NCHW") -> Any:
    return F.temporal_shift(tensor(x), seg_num, shift_ratio, data_format=data_format)


@operator("unfold")
def unfold(x: Any, *, kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any) -> Any:
    return F.unfold(tensor(x), list(kernel_sizes), list(strides), list(paddings), list(dilations))


@operator("fold")
def fold(x: Any, *, output_sizes: Any, kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any) -> Any:
    return F.fold(tensor(x), *map(list, (output_sizes, kernel_sizes, strides, paddings, dilations)))


@operator("grid_sample")
def grid_sample(
    x: Any, grid: Any, *, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = True
) -> Any:
    return F.grid_sample(tensor(x), tensor(grid), mode, padding_mode, align_corners)


@operator("affine_grid")
def affine_grid(theta: Any, output_shape: Any, *, align_corners: bool = True) -> Any:
    return F.affine_grid(tensor(theta), _listed(output_shape), align_corners)


@operator("bilinear")
def bilinear(x: Any, y: Any, weight: Any, bias: Any = None) -> Any:
    return F.bilinear(tensor(x), tensor(y), tensor(weight), tensor(bias))


@operator("rnn")
def rnn(
    x: Any, pre_state: Any, weight_list: Any, sequence_length: Any = None, _dropout_state: Any = None, *,
    is_bidirec: bool = False, num_layers: int = 1, mode: str = "LSTM",
) -> Any:  # fmt: skip
    """Return the layers of a recurrent network, time first: weights by layer and direction, then all biases."""
    kind = {"LSTM": "lstm", "GRU": "gru"}.get(mode, "rnn")
    attrs = {"activation": mode.rpartition("_")[2].lower()} if kind == "rnn" else {}
    states, given, lengths = tensor(pre_state), tensor(weight_list), tensor(sequence_length)
    out, last = tensor(x), []
    count = num_layers * (1 + is_bidirec)
    biases = given[2 * count :] or [None] * (2 * count)
    for layer in range(num_layers):
        outs = []
        for direction in range(1 + is_bidirec):
            at = layer * (1 + is_bidirec) + direction
            weights = [*given[2 * at : 2 * at + 2], *biases[2 * at : 2 * at + 2]]
            made, *new = run_op(
                kind, out, tuple(s[at] for s in states), weights, lengths, reverse=bool(direction), **attrs
            )
            outs.append(made)
            last.append(new)
        out = outs[0] if len(outs) == 1 else P.concat(outs, -1)
    return out, None, [P.stack(list(column)) for column in zip(*last, strict=True)], None


# -- losses --------------------------------------------------------------------------------------------------------
@operator("cross_entropy_with_softmax")
def cross_entropy_with_softmax(
    logits: Any, label: Any, *, soft_label: bool = False, use_softmax: bool = True, ignore_index: int = -100,
    axis: int = -1,
) -> Any:  # fmt: skip
    logits, label = tensor(logits), tensor(label)
    loss = F.cross_entropy(logits, label, None, ignore_index, "none", soft_label, axis, use_softmax)
    loss = loss if loss.ndim == logits.ndim else P.unsqueeze(loss, axis)
    return (F.softmax(logits, axis) if use_softmax else logits), loss


@operator("sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(
    x: Any, label: Any, pos_weight: Any = None, *, normalize: bool = False, ignore_index: int = -100
) -> Any:
    x, label = tensor(x), tensor(label)
    soft = F.softplus(-x)  # pos_weight weighs it as it is: the public function makes it of its own and of the label
    loss = (1 - label) * x + (soft if pos_weight is None else tensor(pos_weight) * soft)
    counted = (label != ignore_index).astype(x.dtype)
    loss = loss * counted
    return loss / counted.sum().clip(min=1) if normalize else loss


@operator("huber_loss")
def huber_loss(x: Any, label: Any, *, delta: float = 1.0) -> Any:
    x, label = tensor(x), tensor(label)
    return F.smooth_l1_loss(x, label, "none", delta), label - x


@operator("kldiv_loss")
def kldiv_loss(x: Any, label: Any, *, reduction: str = "mean", log_target: bool = False) -> Any:
    return F.kl_div(tensor(x), tensor(label), reduction, log_target)


@operator("nll_loss")
def nll_loss(x: Any, label: Any, weight: Any = None, *, ignore_index: int = -100, reduction: str = "mean") -> Any:
    return F.nll_loss(tensor(x), tensor(label), tensor(weight), ignore_index, reduction), None


@operator("bce_loss")
def bce_loss(x: Any, label: Any) -> Any:
    return F.binary_cross_entropy(tensor(x), tensor(label), reduction="none")


@operator("label_smooth")
def label_smooth(label: Any, prior_dist: Any = None, *, epsilon: float = 0.1) -> Any:
    return F.label_smooth(tensor(label), tensor(prior_dist), epsilon)


@operator("warpctc")
def warpctc(
    logits: Any, label: Any, logits_length: Any = None, labels_length: Any = None, *, blank: int = 0,
    norm_by_times: bool = False,
) -> Any:  # fmt: skip
    given = map(tensor, (logits, label, logits_length, labels_length))
    return P.unsqueeze(F.ctc_loss(*given, blank, "none", norm_by_times), -1), None


@operator("accuracy")
def accuracy(_x: Any, indices: Any, label: Any) -> Any:
    right = (tensor(indices) == tensor(label)).any(-1).astype("float32")
    count = right.sum()
    return count / right.shape[0], count.astype("int32"), P.full([], right.shape[0], "int32")


_SPECTRA = {
    ("fft_c2c", True): "fftn",
    ("fft_c2c", False): "ifftn",
    ("fft_r2c", True): "rfftn",
    ("fft_r2c", False): "ihfftn",
    ("fft_c2r", True): "hfftn",
    ("fft_c2r", False): "irfftn",
}


@operator("fft_c2c")
def fft_c2c(x: Any, *, axes: Any, normalization: str, forward: bool) -> Any:
    return _spectrum("fft_c2c", forward)(tensor(x), None, list(axes), _norm(normalization, forward))


@operator("fft_r2c")
def fft_r2c(x: Any, *, axes: Any, normalization: str, forward: bool, onesided: bool = True) -> Any:
    if not onesided:
        return _spectrum("fft_c2c", forward)(tensor(x), None, list(axes), _norm(normalization, forward))
    return _spectrum("fft_r2c", forward)(tensor(x), None, list(axes), _norm(normalization, forward))


@operator("fft_c2r")
def fft_c2r(x: Any, *, axes: Any, normalization: str, forward: bool, last_dim_size: int = 0) -> Any:
    x = tensor(x)
    size = [x.shape[a] for a in axes[:-1]] + [last_dim_size] if last_dim_size else None
    return _spectrum("fft_c2r", forward)(x, size, list(axes), _norm(normalization, forward))


def _spectrum(name: str, forward: bool) -> Any:
    from ... import fft

    return getattr(fft, _SPECTRA[name, forward])


def _norm(given: str, forward: bool) -> str:
    """Return the `norm` argument for the file's normalization (none, by the size or by its root) in that direction."""
    if given == "by_sqrt_n" or given == "ortho":
        return "ortho"
    return given if given in ("backward", "forward") else "backward"
