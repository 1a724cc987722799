"""Reparametrized weights whose parts have torch's shapes."""

from __future__ import annotations

from typing import Any

from ...nn.utils import weight_norm as _weight_norm
from ...nn.utils.derived import derive_parameter

__all__ = ["weight_norm"]


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Reparametrize a weight by length and direction; the lengths have as many dimensions as the weight.

    Arguments:
        module: the layer, which is changed in place.
        name: name of the parameter. Default: 'weight'.
        dim: dimension along which each slice has a length of its own; None: one length for the whole weight. Default:
            0.

    Returns:
        The layer.

    Raises:
        ValueError: if the weight is normalized already, or has no such dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> nn = paddle.compat.nn
        >>> [(n, p.shape) for n, p in nn.weight_norm(nn.Linear(2, 3)).named_parameters()]
        [('bias', paddle.Size([3])), ('weight_g', paddle.Size([3, 1])), ('weight_v', paddle.Size([3, 2]))]
    """
    layer = _weight_norm(module, name, dim)
    parameters: Any = layer._parameters
    v, g = (parameters.pop(f"{name}_{part}") for part in "vg")
    if g.ndim:
        shape = [n if i == dim % v.ndim else 1 for i, n in enumerate(v.shape)] if dim is not None else []
        g = derive_parameter(layer, shape, lambda lengths: lengths.reshape(shape), g)
    layer.add_parameter(f"{name}_g", g)
    layer.add_parameter(f"{name}_v", v)
    return layer
