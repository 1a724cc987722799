"""Comparing figures of ours with those of PaddlePaddle that gradient_cases.py records."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gradient_cases

GOLDEN = gradient_cases.golden()
# By the size of the largest element. In low precision: two roundings.
PRECISION = {"float32": 1e-6, "complex64": 1e-6, "float64": 1e-12, "bfloat16": 2.0**-7, "float16": 2.0**-10}
LOOSER = {  # how many times as far apart the values of an op may be, and why
    **dict.fromkeys(("lgamma", "digamma", "gammainc", "gammaincc"), (5, "other series")),
    **dict.fromkeys(("cond", "ctc_loss", "cosine_embedding_loss", "nll_loss"), (3, "sums of terms that cancel")),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d", "conv2d_transpose"), (3, "sums in another order")),
    **dict.fromkeys(("std", "instance_norm"), (3, "sums in another order")),
    # The bias has the sum of 792 gradients; NumPy's is nearer to the exact one than XLA's or PaddlePaddle's.
    "conv3d_transpose": (5, "sums of terms that cancel"),
    "interpolate": (10, "low precision is summed in float32; PaddlePaddle rounds each term of a gradient"),
}


def compare(case: str, found: dict[str, list[Any]], orders: str) -> None:
    """Compare the tensors that were found with what is recorded: results ("out"), gradients ("first", "second")."""
    key, _, _ = case.rpartition(" ")
    for order, wanted in GOLDEN[case].items():
        if order in orders.split() and not gradient_cases.apart(key, order):
            for got, want in zip(found.get(order, [None] * len(wanted)), wanted, strict=True):
                agree(gradient_cases.cases()[key].name, gradient_cases.summary(got), want)


def agree(name: str, got: list[Any], want: list[Any]) -> None:
    """Compare figures. Where PaddlePaddle has no gradient ours may have one; 0 is the same as none."""
    if not want or (not got and not any(want[2:])):
        return
    assert got[:2] == want[:2]
    (largest, total, *some), (size, sum_, *others) = got[2:], want[2:]
    bound = PRECISION.get(want[0], 0) * LOOSER.get(name, (1,))[0]
    finite = size if math.isfinite(size) else 1.0
    np.testing.assert_allclose([largest, *some], [size, *others], rtol=0, atol=bound * finite)
    np.testing.assert_allclose(total, sum_, rtol=0, atol=2 * bound * finite * max(1, math.prod(want[1])) ** 0.5)
