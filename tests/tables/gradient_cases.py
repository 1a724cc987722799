"""What PaddlePaddle computes for the rows of the op tables: results, gradients, and gradients of gradients.

Run in the same way here and in PaddlePaddle; see tests/golden/make.py.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import nn_ops_table
import ops_table
from ops_table import Row

KEPT = 6  # elements that tell one array from another, beside a weighted sum of all
LOW = ("bfloat16", "float16")
# Where PaddlePaddle's own gradient is not that of its result (by difference quotients), or none at all. See
# docs/differences.md. Each with the orders that are not compared.
APART = {
    "unfold": "first",  # windows overlap: it overwrites where it should add
    "masked_fill": "first",  # 0 for the value that is filled in
    "cholesky_solve": "first",  # by y
    "normalize": "first",  # where epsilon decides for some rows
    "gaussian_nll_loss": "second",  # the variance is a constant
    "softmax_with_cross_entropy": "first",  # nothing flows through the softmax that is returned as well
    "sigmoid_focal_loss": "first",  # by the label
    "cast": "first",  # through integers
    "view": "first",  # through integers
    "argsort": "first",  # through indices
}
UNDEFINED = ("empty_like", "as_strided")  # in PaddlePaddle they show memory that nobody wrote


@functools.cache
def cases() -> dict[str, Row]:
    """All rows with an argument to differentiate by, each under its key."""
    tables = (("", ops_table.ROWS), ("nn ", nn_ops_table.ROWS))
    rows = {f"{table}{i} {row}": row for table, rows in tables for i, row in enumerate(rows)}
    rows = {k: r for k, r in rows.items() if r.name not in UNDEFINED}
    return {k: r for k, r in rows.items() if any(v.dtype.kind in "fc" for v in _leaves(r.sample()))}


def _leaves(made: Any) -> list[Any]:
    return [v for m in made for v in _leaves(m)] if isinstance(made, list | tuple) else [made]


def _function(paddle: Any, key: str, name: str) -> Any:
    """The public function of a row, wherever it is."""
    family, _, last = name.rpartition(".")
    functional = paddle.nn.functional
    places = [functional, paddle] if key.startswith("nn ") else [paddle, paddle.linalg, functional, paddle.Tensor]
    return next(getattr(p, last) for p in [getattr(paddle, family, paddle), *places] if hasattr(p, last))


def arguments(paddle: Any, key: str, dtype: str) -> tuple[list[Any], list[Any]]:
    """The arguments of a row, and those among them (or in them) that a gradient may reach."""
    xs: list[Any] = []
    return [_tensor(paddle, s, dtype, xs) for s in cases()[key].sample()], xs


def results(paddle: Any, key: str, args: list[Any]) -> list[Any]:
    """The tensors that a row's function makes of arguments."""
    row, call = cases()[key], _function(paddle, key, cases()[key].name)
    made = call(**dict(zip(row.names, args, strict=True)), **row.attrs) if row.names else call(*args, **row.attrs)
    return [o for o in _leaves(made) if isinstance(o, paddle.Tensor)]


def run(paddle: Any, key: str, dtype: str = "float32") -> Iterator[tuple[str, list[Any]]]:
    """The results ("out"), the gradients ("first") and the gradients of these ("second") of a row."""
    args, xs = arguments(paddle, key, dtype)
    outs = results(paddle, key, args)
    yield "out", outs
    for order in ("first", "second"):
        flowing = [o for o in outs if o is not None and not o.stop_gradient]
        if not flowing:
            return
        weights = [weights_of(paddle, o) for o in flowing]
        once = paddle.grad(flowing, xs, weights, retain_graph=True, allow_unused=True)
        yield order, once
        outs = paddle.grad(flowing, xs, weights, create_graph=True, allow_unused=True) if order == "first" else []


def _tensor(paddle: Any, value: Any, dtype: str, found: list[Any]) -> Any:
    """The sample as tensors; those that a gradient may reach are put into `found` as well."""
    if isinstance(value, list):
        return [_tensor(paddle, v, dtype, found) for v in value]
    made = paddle.to_tensor(value)
    if value.dtype.kind in "fc":
        made = made if value.dtype != np.float32 else made.astype(dtype)
        made.stop_gradient = False
        found.append(made)
    return made


def weights_of(paddle: Any, out: Any) -> Any:
    """What stands for the gradient of a result: different numbers, and an imaginary part where there is one."""
    n = np.arange(int(np.prod(out.shape)), dtype="float32").reshape(out.shape)
    complex_ = "complex" in str(out.dtype)
    return paddle.to_tensor(np.cos(n + 1) + (1j * np.sin(n * 2) if complex_ else 0)).astype(out.dtype)


def summary(tensor: Any) -> list[Any]:
    """dtype, shape, the largest magnitude, a weighted sum, and some elements; a complex number is two numbers."""
    if tensor is None:
        return []
    name = str(tensor.dtype).rpartition(".")[2]
    array = (tensor.astype("float32") if name in LOW else tensor).numpy()
    flat = np.ascontiguousarray(array).reshape(-1)
    flat = flat.view(flat.real.dtype).astype("float64") if flat.dtype.kind == "c" else flat.astype("float64")
    numbers = [np.abs(flat).max(initial=0), flat @ np.sin(1.0 + np.arange(flat.size))]
    some = flat[:: max(1, -(-flat.size // KEPT))]
    return [name, list(array.shape), *(float(f"{x:.8g}") for x in [*numbers, *some])]


def record(paddle: Any) -> dict[str, dict[str, list[Any]]]:
    """The figures of all rows in all dtypes, as far as PaddlePaddle has them."""
    found = {f"{key} {dtype}": _figures(paddle, key, dtype) for key in cases() for dtype in ("float32", *LOW)}
    return {k: v for k, v in found.items() if v}


def _figures(paddle: Any, key: str, dtype: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    try:
        for order, tensors in run(paddle, key, dtype):
            if order == "second" and dtype in LOW:
                break
            found[order] = [summary(t) for t in tensors]
    except Exception:  # what an op has not is absent: a dtype, a gradient, that of a gradient
        pass
    return found


def apart(key: str, order: str) -> bool:
    """True if the figures of a row are not compared."""
    row = cases()[key]
    if row.name == "group_norm":  # without weight
        return order == "first" and len(row.inputs) == 1
    if row.name == "std":  # of two numbers: 0, but for rounding
        return order == "second" and row.attrs.get("axis") == 0
    if row.name == "cross_entropy":  # of soft labels, which it takes to sum to 1
        return order == "first" and "soft_label" in row.attrs
    if row.name == "interpolate":  # to size 1 along one axis: it flows to the start, which the result does not sample
        is_one = row.attrs.get("size") == [1] or "scale_factor" in row.attrs
        return order == "first" and row.attrs["mode"] == "linear" and is_one and row.attrs.get("align_mode") != 1
    if row.name == "max_pool2d":  # a window of padding alone: the least number, or minus infinity
        return order == "out" and "ceil_mode" in row.attrs
    return APART.get(row.name.rpartition(".")[2]) == order


@functools.cache
def golden() -> dict[str, dict[str, list[Any]]]:
    """The figures of PaddlePaddle."""
    return json.loads((Path(__file__).parents[1] / "golden" / "gradients.json").read_text())


def compared(key: str) -> bool:
    """True if the gradient of a row is PaddlePaddle's, by test_gradients.py."""
    return "first" in golden().get(f"{key} float32", {}) and not apart(key, "first")
