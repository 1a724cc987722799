"""Saved programs with loops: unknown lengths, gradients, local lists."""

# Programs to convert are odd on purpose.
# ruff: noqa: B007

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle


def weighted(x):
    total = paddle.zeros([2])
    for v in x:
        total = total * 0.5 + v
    return total


def largest(x):
    best = None
    for v in x:
        if best is None or v.sum() > best.sum():
            best = v
    return best


def counted(x):
    i = 0
    while i < 6 and x.sum() > i:
        i += 1
    return x * i


def in_a_list(x):
    out = []
    for v in x[:3]:
        if v.sum() > 0:
            out.append(v * 2)
        else:
            out.append(v)
    return paddle.stack(out)


class Function(paddle.nn.Layer):
    def __init__(self, f):
        super().__init__()
        self.forward = f


def masked_rows(x):
    total = paddle.zeros([])
    for v in x[:3]:
        total = total + v[v > 0].sum()
    return total


def grown(x):
    out = []
    for v in x:
        out.append(v * 2)  # noqa: PERF401
    return paddle.stack(out)


def saved(f, shape, path):
    paddle.jit.save(Function(f), str(path / "m"), input_spec=[paddle.static.InputSpec(shape, "float32")])
    return paddle.jit.load(str(path / "m"))


@pytest.mark.parametrize(
    ("f", "shape"),
    [*[(f, [None, 2]) for f in (weighted, largest, counted, grown)], (in_a_list, [4, 2]), (masked_rows, [4, 2])],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_values_and_gradients_are_those_of_eager(f, shape, tmp_path):
    loaded = saved(f, shape, tmp_path)
    for n in (4,) if shape[0] else (3, 1, 20):
        found = []
        for g in (f, loaded):
            x = paddle.linspace(-1.0, 2.0, n * 2).reshape([n, 2])
            x.stop_gradient = False
            y = g(x)
            y.sum().backward()
            found.append((y.numpy(), x.grad.numpy()))
        for want, got in zip(*found, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6)
