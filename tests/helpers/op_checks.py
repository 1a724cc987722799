"""What holds for each row of the op tables: its values are those of its oracle, its gradients difference quotients."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from op_calls import call, tensors
from ops_table import Row

EPS = 1e-6


def expected(row: Row, dtype: str):
    """The oracle's results in the dtypes that the op must give."""
    sample = row.sample(dtype)
    out = row.oracle(*sample)
    outs = [np.asarray(o) for o in (out if isinstance(out, tuple) else (out,))]
    names = row.out if isinstance(row.out, tuple) else (row.out,) * len(outs)
    return [o.astype(n or result_dtype(o, dtype)) for o, n in zip(outs, names, strict=True)]


def result_dtype(array: np.ndarray, dtype: str) -> str:
    floating = dtype if dtype.startswith("float") else "float32"
    if array.dtype.kind == "c":
        return "complex128" if floating == "float64" else "complex64"
    return floating if array.dtype.kind == "f" else str(array.dtype)


def check_value(row: Row, dtype: str) -> None:
    """Compare results and their dtypes with the oracle's."""
    want = expected(row, dtype)
    got = call(row, tensors(row.sample(dtype))[0])
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert (g.dtype.name, g.shape) == (str(w.dtype), list(w.shape))
        np.testing.assert_allclose(g.numpy(), w, rtol=row.tol, atol=row.tol)


def check_gradient(row: Row) -> None:
    """The derivative in a random direction, against a difference quotient in float64."""
    rng = np.random.default_rng(1)
    sample = row.sample("float64")
    args, xs = tensors(sample, differentiable=True)
    outs = [o for o in call(row, args) if o.dtype.is_floating]
    weights = [rng.standard_normal(o.shape) for o in outs]
    grads = paddle.grad(outs, xs, [paddle.to_tensor(w) for w in weights], allow_unused=True)
    assert all(o.dtype == "float64" and not o.stop_gradient for o in outs)
    steps = [rng.standard_normal(x.shape) for x in xs]

    def loss(sign: float) -> float:
        moved = iter([x.numpy() + sign * EPS * s for x, s in zip(xs, steps, strict=True)])
        shifted, _ = tensors([replace(v, moved) for v in sample])
        found = [o.numpy() for o in call(row, shifted) if o.dtype.is_floating]
        return sum(float((w * o).sum()) for w, o in zip(weights, found, strict=True))

    analytic = sum(float((g.numpy() * s).sum()) for g, s in zip(grads, steps, strict=True) if g is not None)
    assert analytic == pytest.approx((loss(1) - loss(-1)) / (2 * EPS), rel=1e-5, abs=1e-6)


def replace(value, moved):
    """The sample with its floating arrays taken from an iterator."""
    if isinstance(value, list):
        return [replace(v, moved) for v in value]
    return next(moved) if value.dtype.kind == "f" else value
