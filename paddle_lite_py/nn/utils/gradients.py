"""Clipping of gradients in place, and all parameters as one vector."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import jax.numpy as jnp

from ...core.interpreter import no_grad
from ...dispatch.define import op
from ...eager.tensor import Tensor, wrap
from ...ops.joining import concat


def _list(parameters: Any) -> list[Tensor]:
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


@op(grad=False)
def clip_grad_norm(grads: list[Any], /, max_norm: float, norm_type: float) -> Any:
    """Compute the joint norm of gradients, and the gradients scaled so that it is at most max_norm."""
    if math.isinf(norm_type):
        total = jnp.max(jnp.stack([jnp.max(jnp.abs(g)).astype(jnp.float32) for g in grads]))
    else:
        powers = sum(jnp.sum(jnp.abs(g).astype(jnp.float32) ** norm_type) for g in grads)
        total = powers ** (1.0 / norm_type)
    scale = jnp.minimum(max_norm / (total + 1e-6), 1.0)
    return (total, *[(g * scale).astype(g.dtype) for g in grads])


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Scale the gradients of parameters in place so that their joint norm is at most max_norm.

    Arguments:
        parameters: a parameter, or an iterable of them; those without a gradient are skipped.
        max_norm: largest joint norm.
        norm_type: order p of the norm; float("inf") for the maximum. Default: 2.0.
        error_if_nonfinite: raise if the norm is NaN or infinite. Default: False.

    Returns:
        The joint norm before scaling, a scalar tensor.

    Raises:
        RuntimeError: if error_if_nonfinite and the norm is not finite.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([2], "float32")
        >>> (w * paddle.to_tensor([3.0, 4.0])).sum().backward()
        >>> norm = paddle.nn.utils.clip_grad_norm_(w, 1.0)
        >>> norm.item(), w.grad.round(decimals=3).tolist()
        (5.0, [0.6000000238418579, 0.800000011920929])
    """
    params = [p for p in _list(parameters) if p._grad is not None]
    if not params:
        return Tensor(0.0)
    with no_grad():
        total, *clipped = clip_grad_norm([p.grad for p in params], float(max_norm), float(norm_type))
    if error_if_nonfinite and not math.isfinite(float(total)):
        raise RuntimeError(f"clip_grad_norm_: the norm of the gradients is {float(total)}")
    for p, g in zip(params, clipped, strict=True):
        p.grad = g
    return total


def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Clip each element of the gradients of parameters in place to [-clip_value, clip_value].

    Arguments:
        parameters: a parameter, or an iterable of them; those without a gradient are skipped.
        clip_value: largest absolute value.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        >>> (w * 5.0).sum().backward()
        >>> paddle.nn.utils.clip_grad_value_([w], 1.0); w.grad.tolist()
        [1.0]
    """
    if clip_value < 0:
        raise ValueError(f"clip_grad_value_: clip_value is {clip_value}; expected at least 0")
    with no_grad():
        for p in _list(parameters):
            if p._grad is not None:
                p.grad = p.grad.clip(-clip_value, clip_value)  # type: ignore[union-attr]


def parameters_to_vector(parameters: Iterable[Tensor], name: str | None = None) -> Tensor:
    """Concatenate parameters into one vector.

    Arguments:
        parameters: an iterable of parameters.

    Returns:
        A 1-D tensor with the elements of all parameters.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.utils.parameters_to_vector(paddle.nn.Linear(2, 3).parameters()).shape
        paddle.Size([9])
    """
    return concat([p.reshape([-1]) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor], name: str | None = None) -> None:
    """Copy the elements of a vector into parameters.

    Arguments:
        vec: a 1-D tensor with as many elements as all parameters together.
        parameters: an iterable of parameters.

    Raises:
        ValueError: if the sizes differ; nothing is changed then.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.nn.Linear(2, 1)
        >>> paddle.nn.utils.vector_to_parameters(paddle.to_tensor([1.0, 2.0, 3.0]), layer.parameters())
        >>> layer.bias.tolist()
        [3.0]
    """
    params = list(parameters)
    total = sum(p.size for p in params)
    if vec.size != total:
        raise ValueError(f"vector_to_parameters: the vector has {vec.size} elements, the parameters {total}")
    start = 0
    for p in params:
        p._set_payload(wrap(vec._payload)[start : start + p.size].reshape(p.shape).astype(p.dtype)._payload)
        start += p.size
