"""Layers as functions: each call makes its parameters in the program under construction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import nn
from ...core.flags import is_earlier_generation
from ...core.interpreter import state
from ...core.no_effect import KERNELS, MEMORY, Immaterial, no_effect
from ...core.processes import job
from ...nn import functional as F
from ...nn.initializer import Constant
from ...nn.named_activation import apply_activation
from ...nn.norm import GroupNorm, InstanceNorm1D, InstanceNorm2D, InstanceNorm3D, SpectralNorm
from ...ops.manipulation import reshape
from ..builder import StaticBuilder
from ..lookups import look_up
from .named import biased, named, named_attrs, product

__all__ = [
    *("batch_norm", "bilinear_tensor_product", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose"),
    *("deform_conv2d", "embedding", "fc", "group_norm", "instance_norm", "layer_norm", "prelu", "row_conv"),
    *("sparse_embedding", "spectral_norm"),
]


def _convolved(layer: Any, input: Any, name: str | None, act: str | None, *more: Any) -> Any:
    """Return the result of a convolution, whose bias is an operator of its own where programs edit operators."""
    bias = layer.bias
    if bias is not None and is_earlier_generation():
        layer.bias = None
        out = named(layer(input, *more), name)
        out = named(biased(out, bias, 1 if layer._data_format.startswith("NC") else input.ndim - 1), name)
    else:
        out = named(layer(input, *more), name, 1 + (bias is not None))
    return out if act is None else named(apply_activation(out, act), name)


def _known(size: Any, what: str) -> int:
    if not isinstance(size, int):
        raise ValueError(f"{what} of the input is not known; declare it with a number in paddle.static.data")
    return size


def fc(
    x: Any, size: int, num_flatten_dims: int = 1, weight_attr: Any = None, bias_attr: Any = None,
    activation: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Fully connected layer: `x @ weight + bias`; for several inputs the sum of their products.

    Arguments:
        x: a tensor or a list of tensors.
        size: number of output features.
        num_flatten_dims: number of leading dimensions to keep; all others are flattened into the features. Default: 1.
        weight_attr: ParamAttr, initializer or name of the weight.
        bias_attr: ParamAttr, initializer or name of the bias; False: no bias.
        activation: name of the activation that is applied to the result; None: none.

    Returns:
        A tensor [*x.shape[:num_flatten_dims], size].

    Raises:
        ValueError: if the number of features is unknown.

    Examples:
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     fc(paddle.static.data("x", [None, 2, 3]), 5, activation="relu").shape[1:]
        paddle.Size([5])
        >>> paddle.disable_static()
    """
    inputs = list(x) if isinstance(x, list | tuple) else [x]
    attrs = weight_attr if isinstance(weight_attr, list | tuple) else [weight_attr] * len(inputs)
    weights, bias_attr = named_attrs(name, attrs[0], bias_attr)
    attrs = attrs if len(attrs) > 1 else [weights]
    layer, outs = nn.Layer(name or "fc"), []
    for each, attr in zip(inputs, attrs, strict=True):
        axis = num_flatten_dims % each.ndim
        width = math.prod(_known(n, "fc: a size that the weight depends on") for n in each.shape[axis:])
        weight = layer.create_parameter([width, size], attr, each.dtype)
        outs.append(product(each, weight, axis))
    out = outs[0]
    for more in outs[1:]:
        out = out + more
    bias = layer.create_parameter([size], bias_attr, inputs[0].dtype, is_bias=True)
    out = named(out, name)
    if bias is not None:
        axis = num_flatten_dims % inputs[0].ndim
        out = named(biased(out, bias, axis) if is_earlier_generation() else out + bias, name)
    return out if activation is None else named(apply_activation(out, activation), name)


@no_effect(is_distributed=Immaterial("with servers, they keep what is_sparse says"))
def embedding(
    input: Any, size: Sequence[int], is_sparse: bool = False, is_distributed: bool = False,
    padding_idx: int | None = None, param_attr: Any = None, dtype: Any = "float32",
) -> Any:  # fmt: skip
    """Look up rows of a trainable table of shape `size`; see paddle.nn.Embedding.

    Arguments:
        input: integer ids of any shape.
        size: [number of rows, length of a row].
        is_sparse: in a job with parameter servers, store the table on them. Default: False.
        padding_idx: id whose output is zeros and whose row is not trained; None: none.
        param_attr: ParamAttr, initializer or name of the table.
        dtype: dtype of the table. Default: 'float32'.

    Returns:
        A tensor [*input.shape, size[1]].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 3], "float32")
        ...     y = paddle.static.nn.embedding(x.astype("int64"), [4, 5])
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([2, 3], "float32")}, fetch_list=[y])[0].shape
        (2, 3, 5)
        >>> paddle.disable_static()
    """
    weight = nn.Layer("embedding").create_parameter(list(size), param_attr, dtype)
    return F.embedding(input, weight, _padding(padding_idx, size), sparse=is_sparse)


def _padding(padding_idx: int | None, size: Sequence[int]) -> int | None:
    return padding_idx if padding_idx is None or padding_idx >= 0 else size[0] + padding_idx


_ONE_KIND = "a table has one kind: in memory, with a cold part on disk where its servers are told so"


@no_effect(table_class=Immaterial(_ONE_KIND), slot=Immaterial("features count alike, whatever their slot"))
def sparse_embedding(
    input: Any, size: Sequence[int], padding_idx: int | None = None, is_test: bool = False, entry: Any = None,
    table_class: str = "MemorySparseTable", param_attr: Any = None, dtype: Any = "float32", slot: Any = None,
) -> Any:  # fmt: skip
    """Look up rows of a table on parameter servers, for any ids; without servers, see embedding().

    Arguments:
        input: int64 ids of any shape.
        size: [number of rows, length of a row].
        padding_idx: id whose output is zeros and whose row is not trained; None: none.
        is_test: only read the rows. Default: False.
        entry: which features get a row: paddle.distributed.CountFilterEntry, ProbabilityEntry or ShowClickEntry; others
            read as zeros. Without servers all rows exist.
        param_attr: ParamAttr with the name of the table and the initializer of its rows.
        dtype: dtype of the table. Default: 'float32'.

    Returns:
        A tensor [*input.shape, size[1]].

    Raises:
        ValueError: if entry has another type, or servers do not support the initializer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 3], "float32")
        ...     y = paddle.static.nn.sparse_embedding(x.astype("int64"), [4, 5])
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([2, 3], "float32")}, fetch_list=[y])[0].shape
        (2, 3, 5)
        >>> paddle.disable_static()
    """
    from ...distributed.entry_attr import EntryAttr  # only here: with it all of paddle.distributed is loaded

    if entry is not None and not isinstance(entry, EntryAttr):
        raise ValueError(
            f"sparse_embedding: entry is a {type(entry).__name__}; expected paddle.distributed.CountFilterEntry, "
            "ProbabilityEntry or ShowClickEntry"
        )
    if job.session is not None and isinstance(state.interpreter, StaticBuilder):
        weight = nn.Layer("embedding").create_parameter(list(size), param_attr, dtype)
        return look_up(state.interpreter, input, weight, _padding(padding_idx, size), not is_test, entry)
    return embedding(input, size, True, False, padding_idx, param_attr, dtype)


def _channels(input: Any, data_format: str) -> int:
    return _known(input.shape[1 if data_format.startswith("NC") else -1], "the number of channels")


@no_effect(use_cudnn=KERNELS)
def conv2d(
    input: Any, num_filters: int, filter_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int | None = None, param_attr: Any = None, bias_attr: Any = None, use_cudnn: bool = True,
    act: str | None = None, name: str | None = None, data_format: str = "NCHW",
) -> Any:  # fmt: skip
    """2-D convolution with a trainable kernel and bias; see paddle.nn.Conv2D.

    Arguments:
        input: images [N, C, H, W], or [N, H, W, C] for "NHWC".
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Returns:
        A tensor [N, num_filters, H_out, W_out].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2, 4, 4], "float32")
        ...     y = paddle.static.nn.conv2d(x, 3, 3)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([1, 2, 4, 4], "float32")}, fetch_list=[y])[0].shape
        (1, 3, 2, 2)
        >>> paddle.disable_static()
    """
    param_attr, bias_attr = named_attrs(name, param_attr, bias_attr)
    layer = nn.Conv2D(
        _channels(input, data_format), num_filters, filter_size, stride, padding, dilation, groups or 1,
        weight_attr=param_attr, bias_attr=bias_attr, data_format=data_format,
    )  # fmt: skip
    return _convolved(layer, input, name, act)


@no_effect(use_cudnn=KERNELS)
def conv3d(
    input: Any, num_filters: int, filter_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int | None = None, param_attr: Any = None, bias_attr: Any = None, use_cudnn: bool = True,
    act: str | None = None, name: str | None = None, data_format: str = "NCDHW",
) -> Any:  # fmt: skip
    """3-D convolution with a trainable kernel and bias; see paddle.nn.Conv3D.

    Arguments:
        input: volumes [N, C, D, H, W], or [N, D, H, W, C] for "NDHWC".
        data_format: "NCDHW" or "NDHWC". Default: 'NCDHW'.

    Returns:
        A tensor [N, num_filters, D_out, H_out, W_out].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2, 3, 3, 3], "float32")
        ...     y = paddle.static.nn.conv3d(x, 3, 2)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([1, 2, 3, 3, 3], "float32")}, fetch_list=[y])[0].shape
        (1, 3, 2, 2, 2)
        >>> paddle.disable_static()
    """
    param_attr, bias_attr = named_attrs(name, param_attr, bias_attr)
    layer = nn.Conv3D(
        _channels(input, data_format), num_filters, filter_size, stride, padding, dilation, groups or 1,
        weight_attr=param_attr, bias_attr=bias_attr, data_format=data_format,
    )  # fmt: skip
    return _convolved(layer, input, name, act)


def _transposed(made: Any, input: Any, output_size: Any, filter_size: Any, stride: Any, padding: Any, dilation: Any,
                rest: dict[str, Any], act: str | None, name: str | None) -> Any:  # fmt: skip
    data_format = rest["data_format"]
    if filter_size is None:
        if output_size is None:
            raise ValueError("a transposed convolution needs filter_size or output_size")
        n = input.ndim - 2
        sizes = input.shape[2:] if data_format.startswith("NC") else input.shape[1:-1]
        full = [[v] * n if isinstance(v, int) else list(v) for v in (output_size, stride, padding, dilation)]
        filter_size = [
            (o - (_known(i, "a size") - 1) * s + 2 * p - 1) // d + 1 for i, o, s, p, d in zip(sizes, *full, strict=True)
        ]
    num_filters = rest.pop("num_filters")
    layer = made(_channels(input, data_format), num_filters, filter_size, stride, padding, dilation=dilation, **rest)
    return _convolved(layer, input, name, act, output_size)


@no_effect(use_cudnn=KERNELS)
def conv2d_transpose(
    input: Any, num_filters: int, output_size: Any = None, filter_size: Any = None, padding: Any = 0, stride: Any = 1,
    dilation: Any = 1, groups: int | None = None, param_attr: Any = None, bias_attr: Any = None,
    use_cudnn: bool = True, act: str | None = None, name: str | None = None, data_format: str = "NCHW",
) -> Any:  # fmt: skip
    """2-D transposed convolution with a trainable kernel and bias; see paddle.nn.Conv2DTranspose.

    Arguments:
        input: images [N, C, H, W], or [N, H, W, C] for "NHWC".
        output_size: spatial size of the output; None: computed from filter_size.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Returns:
        A tensor [N, num_filters, H_out, W_out].

    Raises:
        ValueError: if neither filter_size nor output_size is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2, 4, 4], "float32")
        ...     y = paddle.static.nn.conv2d_transpose(x, 3, filter_size=2)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([1, 2, 4, 4], "float32")}, fetch_list=[y])[0].shape
        (1, 3, 5, 5)
        >>> paddle.disable_static()
    """
    param_attr, bias_attr = named_attrs(name, param_attr, bias_attr)
    rest = {"num_filters": num_filters, "groups": groups or 1, "weight_attr": param_attr, "bias_attr": bias_attr}
    rest["data_format"] = data_format
    return _transposed(nn.Conv2DTranspose, input, output_size, filter_size, stride, padding, dilation, rest, act, name)


@no_effect(use_cudnn=KERNELS)
def conv3d_transpose(
    input: Any, num_filters: int, output_size: Any = None, filter_size: Any = None, padding: Any = 0, stride: Any = 1,
    dilation: Any = 1, groups: int | None = None, param_attr: Any = None, bias_attr: Any = None,
    use_cudnn: bool = True, act: str | None = None, name: str | None = None, data_format: str = "NCDHW",
) -> Any:  # fmt: skip
    """3-D transposed convolution with a trainable kernel and bias; see paddle.nn.Conv3DTranspose.

    Arguments:
        input: volumes [N, C, D, H, W], or [N, D, H, W, C] for "NDHWC".
        output_size: spatial size of the output; None: computed from filter_size.
        data_format: "NCDHW" or "NDHWC". Default: 'NCDHW'.

    Returns:
        A tensor [N, num_filters, D_out, H_out, W_out].

    Raises:
        ValueError: if neither filter_size nor output_size is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2, 3, 3, 3], "float32")
        ...     y = paddle.static.nn.conv3d_transpose(x, 3, filter_size=2)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([1, 2, 3, 3, 3], "float32")}, fetch_list=[y])[0].shape
        (1, 3, 4, 4, 4)
        >>> paddle.disable_static()
    """
    param_attr, bias_attr = named_attrs(name, param_attr, bias_attr)
    rest = {"num_filters": num_filters, "groups": groups or 1, "weight_attr": param_attr, "bias_attr": bias_attr}
    rest["data_format"] = data_format
    return _transposed(nn.Conv3DTranspose, input, output_size, filter_size, stride, padding, dilation, rest, act, name)


@no_effect(im2col_step=KERNELS)
def deform_conv2d(
    x: Any, offset: Any, mask: Any, num_filters: int, filter_size: Any, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1, deformable_groups: int = 1, im2col_step: int = 1, weight_attr: Any = None,
    bias_attr: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Deformable 2-D convolution with a trainable kernel and bias; see paddle.vision.ops.DeformConv2D.

    Arguments:
        x: images [N, C, H, W].
        offset: offsets of each kernel element; see paddle.vision.ops.deform_conv2d().
        mask: factors of the samples; None: none.
        filter_size: size of the kernel, an integer or two.
        stride: step of the kernel, an integer or two. Default: 1.
        padding: zero padding of both sides, an integer or two. Default: 0.
        groups: number of groups of the convolution. Default: 1.
        deformable_groups: number of groups of input channels with offsets of their own. Default: 1.
        weight_attr: ParamAttr, initializer or name of the weight.
        bias_attr: ParamAttr, initializer or name of the bias; False: no bias.

    Returns:
        A tensor [N, num_filters, H_out, W_out].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2, 4, 4], "float32")
        ...     y = paddle.static.nn.deform_conv2d(x, paddle.zeros([1, 8, 3, 3]), paddle.ones([1, 4, 3, 3]), 3, 2)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([1, 2, 4, 4], "float32")}, fetch_list=[y])[0].shape
        (1, 3, 3, 3)
        >>> paddle.disable_static()
    """
    from ...vision.ops import DeformConv2D  # with it come data sets and models

    layer = DeformConv2D(
        _channels(x, "NCHW"), num_filters, filter_size, stride, padding, dilation, deformable_groups, groups,
        weight_attr, bias_attr,
    )  # fmt: skip
    return layer(x, offset, mask)


@no_effect(in_place=MEMORY, do_model_average_for_mean_and_var=Immaterial("ModelAverage averages parameters only"))
def batch_norm(
    input: Any, act: str | None = None, is_test: bool = False, momentum: float = 0.9, epsilon: float = 1e-5,
    param_attr: Any = None, bias_attr: Any = None, data_layout: str = "NCHW", in_place: bool = False,
    name: str | None = None, moving_mean_name: str | None = None, moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True, use_global_stats: bool = False,
) -> Any:  # fmt: skip
    """Batch normalization of each channel, with trainable scale and shift.

    In training the statistics of the batch are used and the running ones updated; in evaluation the running ones are
    used.

    Arguments:
        input: the tensor [N, C, *], or channels last.
        is_test: use the running statistics. Default: False.
        momentum: weight of the old running statistics in an update. Default: 0.9.
        param_attr: ParamAttr, initializer or name of the scale; None: ones.
        bias_attr: ParamAttr, initializer or name of the shift; None: zeros.
        data_layout: "NCHW" or "NHWC". Default: 'NCHW'.
        moving_mean_name: name of the running mean; None: a unique one.
        moving_variance_name: name of the running variance; None: a unique one.
        use_global_stats: use the running statistics in training too. Default: False.

    Returns:
        A tensor of the shape and dtype of input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2, 4, 4], "float32")
        ...     y = paddle.static.nn.batch_norm(x)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([1, 2, 4, 4], "float32")}, fetch_list=[y])[0].shape
        (1, 2, 4, 4)
        >>> paddle.disable_static()
    """
    param_attr, bias_attr = named_attrs(name, param_attr, bias_attr)
    layer = nn.BatchNorm(
        _channels(input, data_layout), act, is_test, momentum, epsilon, param_attr, bias_attr, input.dtype.name,
        data_layout, False, moving_mean_name, moving_variance_name, True, use_global_stats,
    )  # fmt: skip
    return named(layer(input), name, 3 + (act is not None))


def layer_norm(
    input: Any, scale: bool = True, shift: bool = True, begin_norm_axis: int = 1, epsilon: float = 1e-5,
    param_attr: Any = None, bias_attr: Any = None, act: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Layer normalization over the dimensions from begin_norm_axis on, with trainable scale and shift.

    Arguments:
        input: the tensor.
        scale: multiply by a trainable scale. Default: True.
        shift: add a trainable shift. Default: True.
        begin_norm_axis: first dimension to normalize over. Default: 1.

    Returns:
        A tensor of the shape and dtype of input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 3], "float32")
        ...     y = paddle.static.nn.layer_norm(x)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([2, 3], "float32")}, fetch_list=[y])[0].shape
        (2, 3)
        >>> paddle.disable_static()
    """
    sizes = [_known(n, "layer_norm: a normalized size") for n in input.shape[begin_norm_axis:]]
    layer, width = nn.Layer(name or "layer_norm"), [math.prod(sizes)]
    ones = Constant(1.0)
    weight = layer.create_parameter(width, param_attr, input.dtype, default_initializer=ones) if scale else None
    bias = layer.create_parameter(width, bias_attr, input.dtype, is_bias=True) if shift else None
    shaped = [None if p is None else reshape(p, sizes) for p in (weight, bias)]
    return apply_activation(F.layer_norm(input, sizes, shaped[0], shaped[1], epsilon), act)


def group_norm(
    input: Any, groups: int, epsilon: float = 1e-5, param_attr: Any = None, bias_attr: Any = None,
    act: str | None = None, data_layout: str = "NCHW", name: str | None = None,
) -> Any:  # fmt: skip
    """Group normalization with trainable scale and shift; see paddle.nn.GroupNorm.

    Arguments:
        input: the tensor [N, C, *], or channels last.
        groups: number of groups; it must divide the number of channels.
        param_attr: ParamAttr, initializer or name of the scale; None: ones; False: no scale.
        bias_attr: ParamAttr, initializer or name of the shift; None: zeros; False: no shift.
        data_layout: "NCHW" or "NHWC". Default: 'NCHW'.

    Returns:
        A tensor of the shape and dtype of input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2, 4, 4], "float32")
        ...     y = paddle.static.nn.group_norm(x, 2)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([1, 2, 4, 4], "float32")}, fetch_list=[y])[0].shape
        (1, 2, 4, 4)
        >>> paddle.disable_static()
    """
    channels = _channels(input, data_layout)
    layer = GroupNorm(groups, channels, epsilon, param_attr, bias_attr, data_layout)
    return apply_activation(layer(input), act)


def instance_norm(
    input: Any, epsilon: float = 1e-5, param_attr: Any = None, bias_attr: Any = None, name: str | None = None
) -> Any:
    """Instance normalization with trainable scale and shift; see paddle.nn.InstanceNorm2D.

    Arguments:
        input: the tensor [N, C, *].
        param_attr: ParamAttr, initializer or name of the scale; None: ones; False: no scale.
        bias_attr: ParamAttr, initializer or name of the shift; None: zeros; False: no shift.

    Returns:
        A tensor of the shape and dtype of input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2, 4, 4], "float32")
        ...     y = paddle.static.nn.instance_norm(x)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([1, 2, 4, 4], "float32")}, fetch_list=[y])[0].shape
        (1, 2, 4, 4)
        >>> paddle.disable_static()
    """
    kinds = {3: InstanceNorm1D, 4: InstanceNorm2D, 5: InstanceNorm3D}
    if input.ndim not in kinds:
        raise ValueError(f"instance_norm: input has {input.ndim} dimensions; expected 3 to 5")
    layer = kinds[input.ndim](_channels(input, "NCHW"), epsilon, weight_attr=param_attr, bias_attr=bias_attr)
    return layer(input)


def prelu(x: Any, mode: str, param_attr: Any = None, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Leaky ReLU with a trainable slope: `x` if x > 0, else `slope * x`.

    Arguments:
        x: the tensor.
        mode: "all" (one slope), "channel" (one for each channel) or "element" (one for each element).
        param_attr: ParamAttr, initializer or name of the slope.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Returns:
        A tensor of the shape and dtype of x.

    Raises:
        ValueError: if mode is none of the three.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 3], "float32")
        ...     y = paddle.static.nn.prelu(x, "all")
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([2, 3], "float32")}, fetch_list=[y])[0].shape
        (2, 3)
        >>> paddle.disable_static()
    """
    layer, first = nn.Layer("prelu"), Constant(0.25)
    if mode in ("all", "channel"):
        size = 1 if mode == "all" else _channels(x, data_format)
        return F.prelu(x, layer.create_parameter([size], param_attr, x.dtype, default_initializer=first), data_format)
    if mode != "element":
        raise ValueError(f"prelu: mode is {mode!r}; expected 'all', 'channel' or 'element'")
    shape = [1, *[_known(n, "prelu: a size that the slopes depend on") for n in x.shape[1:]]]
    weight = layer.create_parameter(shape, param_attr, x.dtype, default_initializer=first)
    return F.relu(x) - weight * F.relu(-x)


def spectral_norm(weight: Any, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None) -> Any:
    """Divide a weight by its largest singular value, estimated by power iteration; see paddle.nn.SpectralNorm.

    Arguments:
        weight: the weight.
        dim: dimension that forms the rows of the matrix; all others form the columns. Default: 0.
        power_iters: number of power iterations in each run. Default: 1.
        eps: lower bound of the divisors, for numerical stability. Default: 1e-12.

    Returns:
        A tensor of the shape and dtype of weight.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 3], "float32")
        ...     y = paddle.static.nn.spectral_norm(paddle.create_parameter([2, 3], "float32")) + x.sum()
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([2, 3], "float32")}, fetch_list=[y])[0].shape
        (2, 3)
        >>> paddle.disable_static()
    """
    return SpectralNorm(weight.shape, dim, power_iters, eps, weight.dtype.name)(weight)


def bilinear_tensor_product(
    x: Any, y: Any, size: int, act: str | None = None, name: str | None = None, param_attr: Any = None,
    bias_attr: Any = None,
) -> Any:  # fmt: skip
    """Bilinear transformation with a trainable weight: `out[:, i] = x @ W_i @ y.T + b_i` for each of `size` outputs.

    Arguments:
        x: tensor [N, m].
        y: tensor [N, n].
        size: number of outputs.

    Returns:
        A tensor [N, size].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 3], "float32")
        ...     y = paddle.static.nn.bilinear_tensor_product(x, x, 5)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([2, 3], "float32")}, fetch_list=[y])[0].shape
        (2, 5)
        >>> paddle.disable_static()
    """
    layer = nn.Layer(name or "bilinear_tensor_product")
    shape = [size, _known(x.shape[1], "the width of x"), _known(y.shape[1], "the width of y")]
    weight = layer.create_parameter(shape, param_attr, x.dtype)
    bias = layer.create_parameter([1, size], bias_attr, x.dtype, is_bias=True)
    return apply_activation(F.bilinear(x, y, weight, bias), act)


def row_conv(input: Any, future_context_size: int, param_attr: Any = None, act: str | None = None) -> Any:
    """Lookahead convolution: each step becomes a weighted sum of itself and the next future_context_size steps.

    Arguments:
        input: sequences [N, time, features].
        future_context_size: number of future steps.
        param_attr: ParamAttr of the weight [future_context_size + 1, features].

    Returns:
        A tensor of the shape and dtype of input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 4, 3], "float32")
        ...     y = paddle.static.nn.row_conv(x, 2)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([2, 4, 3], "float32")}, fetch_list=[y])[0].shape
        (2, 4, 3)
        >>> paddle.disable_static()
    """
    width = _known(input.shape[-1], "row_conv: the width")
    weight = nn.Layer("row_conv").create_parameter([future_context_size + 1, width], param_attr, input.dtype)
    padded = F.pad(input, [0, 0, 0, future_context_size, 0, 0])
    steps = input.shape[1]
    out = sum(padded[:, k : k + steps] * weight[k] for k in range(future_context_size + 1))
    return apply_activation(out, act)
