"""Summary of a network: a table of its layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import nn
from ..core.interpreter import no_grad
from ..eager.tensor import Tensor
from ..ops.creation import zeros

__all__ = ["summary"]

Row = tuple[str, Any, Any, int]


def shape_of(value: Any) -> Any:
    """Return the shape of a tensor, or those of the tensors in a nested list."""
    if isinstance(value, Tensor):
        return [*value.shape]
    if isinstance(value, list | tuple):
        return [shape_of(v) for v in value if isinstance(v, Tensor | list | tuple)]
    return []


def _inputs(input_size: Any, kinds: Any) -> list[Tensor]:
    """Zeros of each size; unknown batch sizes are 1."""
    if hasattr(input_size, "shape"):
        input_size = input_size.shape
    single = isinstance(input_size, tuple | list) and all(isinstance(n, int | None) for n in input_size)
    sizes = [input_size] if single or not isinstance(input_size, tuple | list) else list(input_size)
    names = list(kinds) if isinstance(kinds, list | tuple) else [kinds] * len(sizes)
    if len(names) != len(sizes):
        raise ValueError(f"summary: {len(sizes)} inputs and {len(names)} dtypes")
    made = []
    for size, kind in zip(sizes, names, strict=True):
        shape = getattr(size, "shape", size)
        shape = [shape] if isinstance(shape, int) else [1 if n is None or n == -1 else int(n) for n in shape]
        made.append(zeros(shape, kind or "float32"))
    return made


def count_parameters(layer: nn.Layer, own: bool = False) -> tuple[int, int]:
    """Return the number of elements of all parameters, and of the trainable ones."""
    params = layer.parameters(include_sublayers=not own)
    return sum(p.size for p in params), sum(p.size for p in params if not p.stop_gradient)


def _record(net: nn.Layer, run: Any) -> list[Row]:
    """Return a row for each layer but containers, in the order in which they return first, with their last shapes.

    Their numbers are those of their names, in which all layers of the process are counted.
    """
    rows: dict[int, Row] = {}

    def note(layer: Any, inputs: Any, output: Any) -> None:
        number = int(layer._full_name.rpartition("_")[2]) + 1
        name, parameters = f"{type(layer).__name__}-{number}", count_parameters(layer, True)[0]
        rows[id(layer)] = name, shape_of(list(inputs)), shape_of(output), parameters

    shown = [s for s in net.sublayers() or [net] if not isinstance(s, nn.Sequential | nn.LayerList)]
    handles = [s.register_forward_post_hook(note) for s in shown]
    modes = [(s, s.training) for s in net.sublayers(include_self=True)]
    try:
        net.eval()
        with no_grad():
            run()
    finally:
        for handle in handles:
            handle.remove()
        for layer, training in modes:
            layer.training = training
    return list(rows.values())


def _numbers(shape: Any) -> int:
    if isinstance(shape, list) and shape and isinstance(shape[0], list):
        return sum(map(_numbers, shape))
    return math.prod(shape) if shape else 0


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Return the lines of a table, with rules around its heads and below it."""
    cells = [heads, *[[f"{c:,}" if isinstance(c, int) else str(c) for c in row] for row in rows]]
    widths = [max(15, *(len(row[k]) for row in cells)) for k in range(len(heads))]
    lines = [" ".join(f"{c:^{w}}" for c, w in zip(row, widths, strict=True)) for row in cells]
    width = sum(widths) + len(heads) + 1
    return ["-" * width, lines[0], "=" * width, *lines[1:], "=" * width]


def summary(net: nn.Layer, input_size: Any = None, dtypes: Any = None, input: Any = None) -> dict[str, int]:
    """Print a table of the layers of a network with their output shapes and numbers of parameters.

    Arguments:
        net: the network.
        input_size: shape of the input, or a list of shapes; unknown sizes are None or -1.
        dtypes: dtype of each input; None: float32.
        input: what the layer is called with, instead of input_size: a tensor, or a list or dictionary of tensors.

    Returns:
        A dict with "total_params" and "trainable_params".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.summary(paddle.nn.Linear(2, 3), (1, 2))  # doctest: +ELLIPSIS
        ---...
        {'total_params': 9, 'trainable_params': 9}
    """
    if input is None and input_size is None:
        raise ValueError("summary: give input_size or input")
    if input is not None:
        given: Any = input
    else:
        given = _inputs(input_size, dtypes)

    rows = _record(net, lambda: net(input) if input is not None else net(*given))
    total, trained = count_parameters(net)
    inputs = shape_of(list(given.values()) if isinstance(given, dict) else given)
    sizes = {
        "Input size": _numbers(inputs) * 4 / 2**20,
        "Forward/backward pass size": sum(_numbers(o) for _, _, o, _ in rows) * 4 * 2 / 2**20,
        "Params size": total * 4 / 2**20,
    }
    lines = table(("Layer (type)", "Input Shape", "Output Shape", "Param #"), rows)
    print("\n".join(lines))
    print(f"Total params: {total:,}\nTrainable params: {trained:,}\nNon-trainable params: {total - trained:,}")
    print("\n".join([lines[0], *(f"{what} (MB): {size:.2f}" for what, size in sizes.items())]))
    print(f"Estimated Total Size (MB): {sum(sizes.values()):.2f}\n{lines[0]}\n")
    return {"total_params": total, "trainable_params": trained}
