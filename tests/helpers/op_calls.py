"""Calling an op with the arguments that a row of the op tables samples."""

from __future__ import annotations

import paddle_lite_py as paddle
from ops_table import Row

# What a wrong call may raise.
ERRORS = (ValueError, TypeError, IndexError, NotImplementedError)


def tensors(sample, differentiable: bool = False):
    """The sampled arguments as tensors, and the list of the floating ones."""
    found: list[paddle.Tensor] = []

    def make(value):
        if isinstance(value, list):
            return [make(v) for v in value]
        made = paddle.to_tensor(value)
        if differentiable and value.dtype.kind == "f":
            made.stop_gradient = False
            found.append(made)
        return made

    return [make(v) for v in sample], found


def call(row: Row, args, function=None):
    """Call an op on its sampled arguments; its results as a list."""
    function = function or row.function
    out = (
        function(**dict(zip(row.names, args, strict=True)), **row.attrs) if row.names else function(*args, **row.attrs)
    )
    flat = []
    for o in out if isinstance(out, tuple | list) else [out]:
        flat += o if isinstance(o, list) else [o]
    return flat
