"""Normalization."""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.config import by_platform
from ..core.interpreter import no_grad
from ..core.no_effect import no_effect
from ..core.symbolic import is_symbolic
from ..dispatch.call_cache import call_cached
from ..dispatch.define import op
from ..eager.pending import payload_of
from ..eager.tensor import Tensor
from .promote import scalar_as_vector
from .types import Array, Ints

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "normalize", "rms_norm"]


def _wide(x: Any) -> Any:
    """x in at least float32: sums of squares overflow below."""
    return jax.lax.convert_element_type(x, jnp.promote_types(x.dtype, jnp.float32))


def _channel(x: Any, data_format: str) -> int:
    if data_format not in ("NC", "NCL", "NLC", "NCHW", "NHWC", "NCDHW", "NDHWC"):
        raise ValueError(
            f"data_format is {data_format!r}; expected 'NC', 'NCL', 'NLC', 'NCHW', 'NHWC', 'NCDHW' or 'NDHWC'"
        )
    return x.ndim - 1 if data_format[-1] == "C" and x.ndim > 2 else 1


def _by_channel(v: Any, x: Any, channel: int) -> Any:
    return v.reshape([-1 if i == channel else 1 for i in range(x.ndim)])


def _standard(x: Any, axes: tuple[int, ...], epsilon: float) -> Any:
    """x moved to mean 0 and variance 1 along axes."""
    centred = x - jnp.mean(x, axis=axes, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.mean(jnp.square(centred), axis=axes, keepdims=True) + epsilon)


def _affine(x: Any, weight: Any, bias: Any) -> Any:
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


@op(name="batch_norm", amp="keep", keeps=True)
def _batch_norm(
    x: Any,
    mean: Any,
    variance: Any,
    weight: Any = None,
    bias: Any = None,
    /,
    *,
    training: bool,
    epsilon: float,
    data_format: str,
) -> Any:
    """Normalized x, and the mean and variance that it was normalized with."""
    channel, wide = _channel(x, data_format), _wide(x)
    if training and _is_single(x.shape, channel):
        return x, mean, variance
    if training and weight is not None and bias is not None and weight.dtype == bias.dtype == wide.dtype:
        return _by_batch(x, weight, bias, channel, epsilon)
    if training:
        axes = tuple([i for i in range(x.ndim) if i != channel])
        mean = jnp.mean(wide, axis=axes)
        variance = jnp.mean(jnp.square(wide - _by_channel(mean, x, channel)), axis=axes)
    scale = jax.lax.rsqrt(variance + epsilon)
    scale = scale if weight is None else scale * weight
    shifted = (wide - _by_channel(mean, x, channel)) * _by_channel(scale, x, channel)
    out = shifted if bias is None else shifted + _by_channel(bias, x, channel)
    return out.astype(x.dtype), mean, variance


def _is_single(shape: tuple[Any, ...], channel: int) -> bool:
    """Whether each channel has one element, which has no variance: as in the reference, it is left as it is."""
    return all(isinstance(n, int) and n == 1 for i, n in enumerate(shape) if i != channel)


def _anew(x: Any) -> Any:
    """x, of which accelerators compute anew what they have computed: XLA else keeps that, in float32, for backward."""
    barrier = jax.lax.optimization_barrier
    return by_platform(lambda x: x, x, tpu=barrier, cuda=barrier, gpu=barrier)


@functools.partial(jax.custom_vjp, nondiff_argnums=(3, 4))
def _by_batch(x: Any, weight: Any, bias: Any, channel: int, epsilon: float) -> Any:
    """x normalized by its own statistics, and these; the gradient in closed form has two sums where JAX's has four."""
    return _by_batch_forward(x, weight, bias, channel, epsilon)[0]


# Written in jax.lax, which JAX traces in half the time of jax.numpy: a large net has a hundred of these.
def _by_batch_forward(x: Any, weight: Any, bias: Any, channel: int, epsilon: float) -> Any:
    wide, per_channel = _wide(x), functools.partial(_in_channel, ndim=x.ndim, channel=channel)
    mean = _mean_of_batch(wide, channel)
    variance = _mean_of_batch(jax.lax.square(jax.lax.sub(wide, per_channel(mean))), channel)
    rate = jax.lax.rsqrt(jax.lax.add(variance, np.asarray(epsilon, wide.dtype)))
    x = x if x.dtype == wide.dtype else _anew(x)
    scaled = jax.lax.mul(jax.lax.sub(_wide(x), per_channel(mean)), per_channel(jax.lax.mul(rate, weight)))
    out = jax.lax.add(scaled, per_channel(bias))
    return (jax.lax.convert_element_type(out, x.dtype), mean, variance), (x, mean, rate, weight)


def _mean_of_batch(x: Any, channel: int) -> Any:
    axes = tuple([i for i in range(x.ndim) if i != channel])
    n = x.size // x.shape[channel]
    return jax.lax.div(jax.lax.reduce_sum(x, axes), np.asarray(n, x.dtype)) if isinstance(n, int) else x.mean(axes)


def _in_channel(v: Any, ndim: int, channel: int) -> Any:
    """A vector with an element for each channel, with all axes."""
    return jax.lax.reshape(v, [v.shape[0] if i == channel else 1 for i in range(ndim)])


def _by_batch_backward(channel: int, epsilon: float, saved: Any, cotangents: Any) -> Any:
    x, mean, rate, weight = saved
    g, g_mean, g_variance = cotangents
    g, per_channel = _wide(g), functools.partial(_in_channel, ndim=x.ndim, channel=channel)
    axes = tuple([i for i in range(x.ndim) if i != channel])
    n, centred = x.size // x.shape[channel], jax.lax.sub(_wide(x), per_channel(mean))
    g_bias = jax.lax.reduce_sum(g, axes)
    g_weight = jax.lax.mul(jax.lax.reduce_sum(jax.lax.mul(g, centred), axes), rate)
    # With normalized = centred * rate: weight * rate * (g - mean(g) - normalized * mean(g * normalized)),
    # plus the gradients of the statistics.
    pull = (g_weight * weight * rate**2 - 2 * g_variance) / n
    shift = (g_bias * weight * rate - g_mean) / n
    g_x = jax.lax.sub(
        jax.lax.sub(
            jax.lax.mul(g, per_channel(jax.lax.mul(rate, weight))),
            jax.lax.mul(centred, per_channel(pull)),
        ),
        per_channel(shift),
    )
    return jax.lax.convert_element_type(g_x, x.dtype), g_weight, g_bias


_by_batch.defvjp(_by_batch_forward, _by_batch_backward)


@op(name="running_average", grad=False, amp="keep")
def _running(old: Any, new: Any, /, momentum: float) -> Any:
    return (old * momentum + new * (1 - momentum)).astype(old.dtype)


def _update(running: Any, new: Any, momentum: float) -> None:
    with no_grad():
        running._set_payload(payload_of(_running(running, new, momentum)))


@call_cached("x", "running_mean", "running_var", "weight", "bias")
def batch_norm(
    x: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-5,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: str | None = None,
) -> Any:
    """Apply batch normalization per channel: `y = (x - mean) / sqrt(var + epsilon) * weight + bias`.

    In training, mean and var are those of the batch, and the running statistics are updated in place. A channel of one
    element has no variance: `y` is `x` then, and the running statistics stay.

    Arguments:
        momentum: fraction of the old running statistics kept: `running = momentum * running + (1 - momentum) * batch`.
            Default: 0.9.
        use_global_stats: normalize by the running statistics (True) or by those of the batch (False); None: by the
            batch in training.

    Returns:
        A tensor with the shape and dtype of `x`.

    Source: Ioffe and Szegedy, Batch Normalization, 2015.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> mean, variance = paddle.zeros([1]), paddle.ones([1])
        >>> y = paddle.nn.functional.batch_norm(paddle.to_tensor([[1.0], [3.0]]), mean, variance, training=True)
        >>> y.round(3).tolist(), mean.round(3).tolist()
        ([[-1.0], [1.0]], [0.2...])
    """
    batch = training if use_global_stats is None else not use_global_stats
    op_fn: Any = _batch_norm
    out, mean, var = op_fn(
        x, running_mean, running_var, weight, bias, training=batch, epsilon=epsilon, data_format=data_format
    )
    if batch and training and not _is_single(payload_of(x).shape, _channel(x, data_format)):
        _update(running_mean, mean, momentum)
        _update(running_var, var, momentum)
    return out


def by_batch(x: Tensor, weight: Any, bias: Any, epsilon: float) -> Any:
    """Return x [N, C, ...] with each channel normalized by its own statistics, and their mean and variance.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> out, mean, variance = by_batch(paddle.to_tensor([[1.0], [3.0]]), None, None, 0.0)
        >>> out.tolist(), mean.tolist(), variance.tolist()
        ([[-1.0], [1.0]], [2.0], [1.0])
    """
    op_fn: Any = _batch_norm
    return op_fn(x, 0.0, 1.0, weight, bias, training=True, epsilon=epsilon, data_format="NCHW")


_OWN = "each instance is normalized by its own statistics, as in PaddlePaddle"


@op(name="instance_norm", amp="keep")
def _instance_norm(x: Any, weight: Any = None, bias: Any = None, /, *, epsilon: float, data_format: str) -> Any:
    channel = _channel(x, data_format)
    out = _standard(_wide(x), tuple([i for i in range(1, x.ndim) if i != channel]), epsilon)
    return _affine(out, *[None if v is None else _by_channel(v, x, channel) for v in (weight, bias)]).astype(x.dtype)


@call_cached("x", "weight", "bias")
@no_effect(running_mean=_OWN, running_var=_OWN, use_input_stats=_OWN, momentum=_OWN)
def instance_norm(
    x: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.9,
    eps: float = 1e-5,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Apply instance normalization: normalize each channel of each sample by its own mean and variance.

    Returns:
        A tensor with the shape and dtype of `x`.

    Source: Ulyanov et al., Instance Normalization, 2016.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.instance_norm(paddle.to_tensor([[[1.0, 3.0]]])).round(3).tolist()
        [[[-1.0, 1.0]]]
    """
    if x.ndim < 3:
        raise ValueError(f"instance_norm: x has {x.ndim} dimensions; expected 3 to 5: batch, channels and space")
    op_fn: Any = _instance_norm
    return op_fn(x, weight, bias, epsilon=eps, data_format=data_format)


@op(name="group_norm", amp="black")
def _group_norm(
    x: Any, weight: Any = None, bias: Any = None, /, *, groups: int, epsilon: float, data_format: str
) -> Any:
    channel = _channel(x, data_format)
    c = x.shape[channel]
    if c % groups:
        raise ValueError(f"x has {c} channels, which num_groups={groups} does not divide")
    parts = _wide(x).reshape(*x.shape[:channel], groups, c // groups, *x.shape[channel + 1 :])
    out = _standard(parts, tuple([i for i in range(1, parts.ndim) if i != channel]), epsilon).reshape(x.shape)
    return _affine(out, *[None if v is None else _by_channel(v, x, channel) for v in (weight, bias)]).astype(x.dtype)


@call_cached("x", "weight", "bias")
def group_norm(
    x: Tensor,
    num_groups: int,
    epsilon: Any = 1e-5,
    weight: Any = None,
    bias: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
    *,
    eps: float | None = None,
) -> Any:
    """Apply group normalization: normalize each group of channels of each sample by its mean and variance.

    Arguments:
        epsilon, weight, bias: also in the order weight, bias, epsilon.
        eps: epsilon by another name.

    Returns:
        A tensor with the shape and dtype of `x`.

    Raises:
        ValueError: if num_groups does not divide the number of channels.

    Source: Wu and He, Group Normalization, 2018.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.group_norm(paddle.to_tensor([[1.0, 3.0, 5.0, 9.0]]), 2).round(3).tolist()
        [[-1.0, 1.0, -1.0, 1.0]]
    """
    if epsilon is None or isinstance(epsilon, Tensor):  # PyTorch's order: weight, bias, eps
        given, weight = weight, epsilon
        if bias is None or isinstance(bias, Tensor):
            epsilon, bias = 1e-5, given if bias is None else bias
        else:
            epsilon, bias = bias, given
    epsilon = epsilon if eps is None else eps
    op_fn: Any = _group_norm
    return op_fn(x, weight, bias, groups=num_groups, epsilon=epsilon, data_format=data_format)


def _tail(function: str, x: Any, normalized_shape: Any) -> int:
    """Return the number of axes that normalized_shape names; it must be the end of the shape of x."""
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    last = list(x.shape[-len(shape) :])
    if len(last) < len(shape) or any(not is_symbolic(a) and a != b for a, b in zip(last, shape, strict=True)):
        raise ValueError(f"{function}: normalized_shape is {shape}, but the last dimensions of x are {last}")
    return len(shape)


@functools.partial(jax.custom_vjp, nondiff_argnums=(3, 4, 5))
def _of_tail(x: Any, weight: Any, bias: Any, n_axes: int, epsilon: float, centred: bool) -> Any:
    """x moved along its last axes to mean 0 (if centred) and variance 1, times weight, plus bias, which may be None.

    The gradient needs, besides x, two numbers for each row; JAX's keeps several arrays of the size of x.
    """
    return _of_tail_forward(x, weight, bias, n_axes, epsilon, centred)[0]


def _of_tail_forward(x: Any, weight: Any, bias: Any, n_axes: int, epsilon: float, centred: bool) -> Any:
    rows = _rows(x, n_axes)
    mean = jnp.mean(rows, axis=1, keepdims=True) if centred else None
    moved = rows - mean if centred else rows
    rate = jax.lax.rsqrt(jnp.mean(jnp.square(moved), axis=1, keepdims=True) + epsilon)
    out = _affine(moved * rate, *[None if v is None else v.reshape(-1) for v in (weight, bias)])
    return out.reshape(x.shape).astype(x.dtype), (x, mean, rate, weight, bias)


def _of_tail_backward(n_axes: int, epsilon: float, centred: bool, saved: Any, g: Any) -> Any:
    x, mean, rate, weight, bias = saved
    rows, g = _rows(x, n_axes), _rows(g, n_axes)
    moved = rows - mean if centred else rows
    product, (m, n) = g * moved, rows.shape
    # Sums as matrix-vector products take two thirds of the time on the CPU.
    sums = functools.partial(jnp.matmul, precision="highest")
    factors = jnp.ones(n, g.dtype) if weight is None else weight.reshape(-1).astype(g.dtype)
    g_x = g * factors - moved * (sums(product, factors)[:, None] * rate**2 / n)
    g_x = (g_x - sums(g, factors)[:, None] / n if centred else g_x) * rate
    g_weight = None if weight is None else sums(rate[:, 0], product).reshape(weight.shape).astype(weight.dtype)
    g_bias = None if bias is None else sums(jnp.ones(m, g.dtype), g).reshape(bias.shape).astype(bias.dtype)
    return g_x.reshape(x.shape).astype(x.dtype), g_weight, g_bias


def _rows(x: Any, n_axes: int) -> Any:
    """x as a matrix whose rows are the last axes, in at least float32."""
    at = x.ndim - n_axes
    return _wide(x).reshape(math.prod(x.shape[:at]), math.prod(x.shape[at:]))


_of_tail.defvjp(_of_tail_forward, _of_tail_backward)


@op(name="layer_norm", amp="black", keeps=True)
def _layer_norm(x: Any, weight: Any = None, bias: Any = None, /, *, n_axes: int, epsilon: float) -> Any:
    return _of_tail(x, weight, bias, n_axes, epsilon, True)


@call_cached("x", "weight", "bias")
def layer_norm(
    x: Tensor,
    normalized_shape: Ints,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    epsilon: float = 1e-5,
    name: str | None = None,
) -> Any:
    """Normalize over the last dimensions: `y = (x - mean) / sqrt(var + epsilon) * weight + bias`.

    Returns:
        A tensor with the shape and dtype of `x`.

    Raises:
        ValueError: if the shapes differ.

    Source: Ba et al., Layer Normalization, 2016.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.layer_norm(paddle.to_tensor([[1.0, 3.0]]), 2).round(3).tolist()
        [[-1.0, 1.0]]
    """
    op_fn: Any = _layer_norm
    return op_fn(x, weight, bias, n_axes=_tail("layer_norm", x, normalized_shape), epsilon=epsilon)


@op(name="rms_norm", keeps=True)
def _rms_norm(x: Any, weight: Any = None, /, *, n_axes: int, epsilon: float) -> Any:
    return _of_tail(x, weight, None, n_axes, epsilon, False)


@call_cached("input", "weight")
def rms_norm(
    input: Tensor, normalized_shape: Ints, weight: Tensor | None = None, eps: float = 1e-5, name: str | None = None
) -> Any:
    """Apply root mean square normalization: `y = x / sqrt(mean(x ** 2) + eps) * weight`.

    Returns:
        A tensor with the shape and dtype of `input`.

    Source: Zhang and Sennrich, Root Mean Square Layer Normalization, 2019.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> (paddle.nn.functional.rms_norm(paddle.to_tensor([[1.0, 7.0]]), 2) * 10).round().tolist()
        [[2.0, 14.0]]
    """
    op_fn: Any = _rms_norm
    return op_fn(input, weight, n_axes=_tail("rms_norm", input, normalized_shape), epsilon=eps)


@op(out_first=True)
@scalar_as_vector
def normalize(x: Array, /, p: float = 2, axis: int = 1, epsilon: float = 1e-12) -> Any:
    """Scale `x` to unit p-norm along a dimension: `y = x / max(|x|_p, epsilon)`.

    Returns:
        A tensor with the shape of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> (paddle.nn.functional.normalize(paddle.to_tensor([[3.0, 4.0]])) * 10).round().tolist()
        [[6.0, 8.0]]
    """
    axis = axis if x.ndim > 1 else 0
    if p == 2:  # the gradient of this form is 0 at 0, and not NaN
        square = jnp.sum(x * x, axis=axis, keepdims=True)
        return x * jax.lax.rsqrt(jnp.maximum(square, epsilon * epsilon).astype(x.dtype))
    if math.isinf(p):
        norm = jnp.max(jnp.abs(x), axis=axis, keepdims=True)
    else:
        norm = jnp.sum(jnp.abs(x) ** p, axis=axis, keepdims=True) ** (1 / p)
    return x / jnp.maximum(norm, epsilon)


@op
def local_response_norm(
    x: Array, /, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0, data_format: str = "NCHW"
) -> Any:
    """Normalize across channels: `y = x / (k + alpha * mean(squares of size neighboring channels)) ** beta`.

    Returns:
        A tensor with the shape of `x`.

    Source: Krizhevsky et al., ImageNet Classification with Deep Convolutional Neural Networks, 2012.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.functional.local_response_norm(paddle.ones([1, 1, 1]), 1, alpha=3.0, beta=0.5).tolist()
        [[[0.5]]]
    """
    if x.ndim < 3:
        raise ValueError(f"x has {x.ndim} dimensions; expected 3 or more: batch, channels and space")
    channel = _channel(x, data_format)
    width, around = [1] * x.ndim, [(0, 0)] * x.ndim
    width[channel], around[channel] = size, (size // 2, (size - 1) // 2)
    total = jax.lax.reduce_window(jnp.square(x), x.dtype.type(0), jax.lax.add, width, [1] * x.ndim, around)
    return x / (k + alpha * total / size) ** beta
