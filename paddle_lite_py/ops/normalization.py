"""Normalization."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..interpreter import no_grad
from ..op import op

__all__ = ["batch_norm", "layer_norm"]


def _axes(x: Any, data_format: str) -> tuple[int, tuple[int, ...]]:
    channel = x.ndim - 1 if data_format[-1] == "C" and x.ndim > 2 else 1
    return channel, tuple([i for i in range(x.ndim) if i != channel])


def _spread(v: Any, x: Any, channel: int) -> Any:
    return v.reshape([-1 if i == channel else 1 for i in range(x.ndim)])


@op(name="batch_norm", amp="black")
def _batch_norm(x: Any, mean: Any, variance: Any, weight: Any = None, bias: Any = None, /, *, training: bool,
                epsilon: float, data_format: str) -> Any:  # fmt: skip
    """Normalized x, and the mean and variance that it was normalized with."""
    channel, axes = _axes(x, data_format)
    if training:
        mean = jnp.mean(x, axis=axes)
        variance = jnp.mean(jnp.square(x - _spread(mean, x, channel)), axis=axes)
    scale = jax.lax.rsqrt(variance + epsilon)
    if weight is not None:
        scale = scale * weight
    out = (x - _spread(mean, x, channel)) * _spread(scale, x, channel)
    if bias is not None:
        out = out + _spread(bias, x, channel)
    return out.astype(x.dtype), mean, variance


@op(name="running_average", grad=False)
def _running(old: Any, new: Any, /, momentum: float) -> Any:
    return old * momentum + new * (1 - momentum)


def batch_norm(
    x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-5,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: Any = None,
) -> Any:
    """Normalize each channel; while training by the batch's own statistics, which also move the running ones."""
    batch = training if use_global_stats is None else not use_global_stats
    op_fn: Any = _batch_norm
    out, mean, var = op_fn(x, running_mean, running_var, weight, bias, training=batch, epsilon=epsilon, data_format=data_format)
    if batch and training:
        with no_grad():
            running_mean._set_payload(_running(running_mean, mean, momentum)._data)
            running_var._set_payload(_running(running_var, var, momentum)._data)
    return out


@op(name="layer_norm", amp="black")
def _layer_norm(x: Any, weight: Any = None, bias: Any = None, /, *, n_axes: int, epsilon: float) -> Any:
    axes = tuple(range(x.ndim - n_axes, x.ndim))
    mean = jnp.mean(x, axis=axes, keepdims=True)
    centred = x - mean
    out = centred * jax.lax.rsqrt(jnp.mean(jnp.square(centred), axis=axes, keepdims=True) + epsilon)
    if weight is not None:
        out = out * weight.reshape(x.shape[x.ndim - n_axes :])
    if bias is not None:
        out = out + bias.reshape(x.shape[x.ndim - n_axes :])
    return out.astype(x.dtype)


def layer_norm(x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, epsilon: float = 1e-5, name: Any = None) -> Any:
    """Normalize over the last dimensions, which have normalized_shape."""
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    if list(x.shape[-len(shape) :]) != shape:
        raise ValueError(f"layer_norm: normalized_shape is {shape}, but the last dimensions of x are {x.shape[-len(shape) :]}")
    op_fn: Any = _layer_norm
    return op_fn(x, weight, bias, n_axes=len(shape), epsilon=epsilon)
