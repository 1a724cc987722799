"""Operation counts: multiplications of a network."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import nn
from ..core.interpreter import no_grad
from ..ops.creation import zeros
from .summary import count_parameters, shape_of, table

__all__ = ["flops"]

Counter = Callable[[Any, Any, Any], int]


def _conv(layer: Any, x: Any, y: Any) -> int:
    a_value = math.prod(layer.weight.shape[1:]) + (layer.bias is not None)
    return math.prod(y.shape) * a_value


def _linear(layer: Any, x: Any, y: Any) -> int:
    return layer.weight.shape[0] * math.prod(y.shape)


def _each_output(layer: Any, x: Any, y: Any) -> int:
    return math.prod(y.shape)


def _norm(layer: Any, x: Any, y: Any) -> int:
    return 2 * math.prod(x[0].shape)


def _adaptive(layer: Any, x: Any, y: Any) -> int:
    kernel = math.prod(a // b for a, b in zip(x[0].shape[2:], y.shape[2:], strict=True))
    return (kernel + 1) * math.prod(y.shape)


_RULES: dict[str, Counter] = {
    **dict.fromkeys(("Conv1D", "Conv2D", "Conv3D", "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"), _conv),
    **dict.fromkeys(("BatchNorm2D", "BatchNorm"), _norm),
    **dict.fromkeys(("AvgPool1D", "AvgPool2D", "AvgPool3D", "LeakyReLU"), _each_output),
    **dict.fromkeys(("AdaptiveAvgPool1D", "AdaptiveAvgPool2D", "AdaptiveAvgPool3D"), _adaptive),
    "Linear": _linear,
}


def flops(net: nn.Layer, input_size: Any, custom_ops: Any = None, print_detail: bool = False) -> int:
    """Count the multiplications of one forward pass of a network.

    As in PaddlePaddle, convolutions, linear layers, batch normalization, average pooling and LeakyReLU are counted; all
    other layers count as 0.

    Arguments:
        net: the network.
        input_size: shape of the input, including the batch.
        custom_ops: functions `f(layer, inputs, output) -> number` by layer type, for further layers.
        print_detail: print a table of the layers with shapes, parameters and multiplications. Default: False.

    Returns:
        The total, an integer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.flops(paddle.nn.Linear(4, 3), [2, 4])
        24
    """
    rows: list[tuple[Any, ...]] = []

    def note(layer: Any, inputs: Any, output: Any) -> None:
        own = (custom_ops or {}).get(type(layer)) or _RULES.get(type(layer).__name__)
        n = int(own(layer, inputs, output)) if own else 0
        rows.append((layer.full_name(), shape_of(inputs[0]), shape_of(output), count_parameters(layer)[0], n))

    leaves = [s for s in net.sublayers(include_self=True) if not list(s.children())]
    handles = [leaf.register_forward_post_hook(note) for leaf in leaves]
    training = net.training
    try:
        net.eval()
        with no_grad():
            net(zeros(list(input_size), "float32"))
    finally:
        for handle in handles:
            handle.remove()
        if training:
            net.train()
    total = sum(row[-1] for row in rows)
    if print_detail:
        print("\n".join(table(("Layer Name", "Input Shape", "Output Shape", "Params", "Flops"), rows)))
        print(f"Total Flops: {total}     Total Params: {count_parameters(net)[0]}")
    return total
