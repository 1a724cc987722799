"""Weight normalization: a weight as its length times its direction."""

from __future__ import annotations

import functools
from typing import Any

from ...core.interpreter import state
from ...eager.tensor import RemoveHandle, Tensor
from ..base import Layer
from .derived import derive_parameter


def _length(v: Tensor, dim: int | None) -> Tensor:
    """Return the 2-norm over all dimensions but `dim`, [n]; over all of them if dim is None."""
    squares = v * v
    if dim is None:
        return squares.sum().sqrt()
    return squares.sum(axis=[i for i in range(v.ndim) if i != dim]).sqrt()


def _weight(v: Tensor, g: Tensor, dim: int | None) -> Tensor:
    length = _length(v, dim)
    scale = g.reshape(length.shape) / length
    return v * (scale if dim is None else scale.reshape([-1 if i == dim else 1 for i in range(v.ndim)]))


class WeightNorm:
    """Pre-hook that computes a weight of a layer from `<name>_g` and `<name>_v`."""

    def __init__(self, name: str, dim: int | None, handle: RemoveHandle | None = None) -> None:
        self.name, self.dim, self.handle = name, dim, handle

    def __call__(self, layer: Layer, _inputs: Any) -> None:
        found = _weight(getattr(layer, f"{self.name}_v"), getattr(layer, f"{self.name}_g"), self.dim)
        state.interpreter.rebound(layer, self.name)
        setattr(layer, self.name, found)


def weight_norm(layer: Layer, name: str = "weight", dim: int | None = 0) -> Layer:
    """Reparametrize a weight by length and direction: `w = g * v / norm(v)` (Salimans and Kingma, 2016).

    The layer then trains `<name>_g` and `<name>_v` instead of `<name>`.

    Arguments:
        layer: the layer, which is changed in place.
        name: name of the parameter. Default: 'weight'.
        dim: dimension along which each slice has a length of its own; None: one length for the whole weight. Default:
            0.

    Returns:
        The layer.

    Raises:
        ValueError: if the weight is normalized already, or has no such dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [n for n, _ in paddle.nn.utils.weight_norm(paddle.nn.Linear(2, 3)).named_parameters()]
        ['bias', 'weight_v', 'weight_g']
    """
    if name not in layer._parameters:
        raise ValueError(f"weight_norm: {type(layer).__name__} has no parameter '{name}' (is it normalized already?)")
    weight: Any = layer._parameters[name]
    if dim is not None and not -weight.ndim <= dim < weight.ndim:
        raise ValueError(f"weight_norm: dim is {dim}, but '{name}' has {weight.ndim} dimensions")
    dim = None if dim in (None, -1) else dim % weight.ndim
    hook = WeightNorm(name, dim)
    delattr(layer, name)
    lengths = [] if dim is None else [weight.shape[dim]]
    layer.add_parameter(f"{name}_v", derive_parameter(layer, list(weight.shape), lambda w: w, weight))
    layer.add_parameter(f"{name}_g", derive_parameter(layer, lengths, lambda w: _length(w, dim), weight))
    hook(layer, None)
    hook.handle = layer.register_forward_pre_hook(hook)
    return layer


def remove_weight_norm(layer: Layer, name: str = "weight") -> Layer:
    """Undo weight_norm(): compute the weight and make it an ordinary parameter again.

    Arguments:
        layer: the layer, which is changed in place.
        name: name of the parameter. Default: 'weight'.

    Returns:
        The layer.

    Raises:
        ValueError: if the weight is not normalized.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.nn.utils.weight_norm(paddle.nn.Linear(2, 2))
        >>> sorted(n for n, _ in paddle.nn.utils.remove_weight_norm(layer).named_parameters())
        ['bias', 'weight']
    """
    for found in list(layer._forward_pre_hooks.values()):
        if isinstance(found, WeightNorm) and found.name == name:
            v, g = getattr(layer, f"{name}_v"), getattr(layer, f"{name}_g")
            for gone in (name, f"{name}_v", f"{name}_g"):
                delattr(layer, gone)
            layer.add_parameter(
                name, derive_parameter(layer, list(v.shape), functools.partial(_weight, dim=found.dim), v, g)
            )
            if found.handle is not None:
                found.handle.remove()
            return layer
    raise ValueError(f"remove_weight_norm: '{name}' of {type(layer).__name__} is not normalized")
