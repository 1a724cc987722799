"""Pooling as ONNX has it, in place of the general windows over all dimensions that jax2onnx writes.

    Unsqueeze, Unsqueeze, MaxPool of [1, 1, 3, 3], Squeeze    ->    MaxPool of [3, 3]
    Unsqueeze, Unsqueeze, Conv with ones, Squeeze             ->    AveragePool of [3, 3], Mul by 9

onnxruntime runs no more than three dimensions, and the short form has fast kernels everywhere.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def plain_pools(model: Any) -> None:
    """Rewrite the windows of a model whose first two dimensions are batch and channels."""
    graph = model.graph
    made = {name: node for node in graph.node for name in node.output}
    readers: dict[str, list[Any]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    ones = _kernels_of_ones(graph)
    for node in list(graph.node):
        chain = _chain(node, made, readers)
        window = _window(node, ones) if chain else None
        if chain and window:
            _replace(graph, node, chain, window)
    used = {name for node in graph.node for name in node.input}
    for left in [i for i in graph.initializer if i.name not in used]:
        graph.initializer.remove(left)


def _chain(node: Any, made: dict[str, Any], readers: dict[str, list[Any]]) -> list[Any] | None:
    """Return the two nodes before a window and the one behind it, if that is all that they are for."""
    if node.op_type not in ("MaxPool", "Conv"):
        return None
    second, behind = made.get(node.input[0]), readers.get(node.output[0], [])
    if second is None or second.op_type != "Unsqueeze":
        return None
    first = made.get(second.input[0])
    if first is None or first.op_type != "Unsqueeze" or len(behind) != 1 or behind[0].op_type != "Squeeze":
        return None
    alone = all(len(readers.get(n.output[0], [])) == 1 for n in (first, second))
    return [first, second, behind[0]] if alone else None


def _kernels_of_ones(graph: Any) -> dict[str, list[int]]:
    """Shapes of weights that are all one."""
    from onnx import numpy_helper

    small = [i for i in graph.initializer if len(i.dims) > 4 and math.prod(i.dims) <= 4096 and set(i.dims[:4]) == {1}]
    arrays = {i.name: numpy_helper.to_array(i) for i in small}
    return {name: list(a.shape[2:]) for name, a in arrays.items() if np.all(a == 1)}


def _window(node: Any, ones: dict[str, list[int]]) -> dict[str, Any] | None:
    """Attributes of the window over the dimensions behind the first two; None where it goes over those as well."""
    found = {a.name: list(a.ints) for a in node.attribute if a.ints}
    kernel = found.get("kernel_shape") or (ones.get(node.input[1]) if len(node.input) > 1 else None)
    if kernel is None or len(kernel) < 3:
        return None
    n = len(kernel)
    pads = found.get("pads", [0] * 2 * n)
    strides, dilations = found.get("strides", [1] * n), found.get("dilations", [1] * n)
    leading = [*kernel[:2], *strides[:2], *dilations[:2]], [*pads[:2], *pads[n : n + 2]]
    if leading != ([1] * 6, [0] * 4):
        return None
    window = {"kernel_shape": kernel[2:], "strides": strides[2:], "pads": [*pads[2:n], *pads[n + 2 :]]}
    # Only where there are any: onnxruntime's pools of 8-bit integers know no such attribute.
    return window | ({"dilations": dilations[2:]} if set(dilations) != {1} else {})


def _replace(graph: Any, node: Any, chain: list[Any], window: dict[str, Any]) -> None:
    from onnx import helper, numpy_helper

    first, _, behind = chain
    given, result, name = first.input[0], behind.output[0], node.output[0]
    if node.op_type == "MaxPool":
        made = [helper.make_node("MaxPool", [given], [result], name=node.name, **window)]
    else:
        size = np.array(math.prod(window["kernel_shape"]), np.float32)
        graph.initializer.append(numpy_helper.from_array(size, f"{name}_size"))
        mean = helper.make_node("AveragePool", [given], [f"{name}_mean"], name=node.name, count_include_pad=1, **window)
        made = [mean, helper.make_node("Mul", [f"{name}_mean", f"{name}_size"], [result])]
    at = list(graph.node).index(node)
    for old in (*chain, node):
        graph.node.remove(old)
    for i, new in enumerate(made):
        graph.node.insert(at - 2 + i, new)
    for info in [v for v in graph.value_info if v.name in {first.output[0], chain[1].output[0], name}]:
        graph.value_info.remove(info)
