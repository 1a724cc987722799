"""Gradients of grid_sample at points that lie exactly on pixels, as layers with learned offsets begin."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.nn import functional as F

PIXELS = [1.0, 3.0, 7.0]


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize(("at", "wanted"), [(0, 2.0), (1, 4.0), (-0.5, 0.0), (2.5, 0.0)])
def test_the_border_has_the_gradient_of_the_points_behind_it(at, wanted, static):
    def sampled(grid):
        return F.grid_sample(paddle.to_tensor(PIXELS).reshape([1, 1, 1, 3]), grid, padding_mode="border")

    grid = paddle.to_tensor([[[[at - 1.0, 0.0]]]])  # the pixels are at -1, 0 and 1
    grid.stop_gradient = False
    (paddle.jit.to_static(sampled) if static else sampled)(grid).sum().backward()
    assert grid.grad[..., 0].item() == wanted


@pytest.mark.parametrize(("at", "wanted"), [(0, 2.0), (1, 4.0), (2.5, -4.0), (-0.5, -2.0)])
def test_a_reflection_has_the_gradient_of_one_side(at, wanted):
    grid = paddle.to_tensor([[[[at - 1.0, 0.0]]]], stop_gradient=False)
    F.grid_sample(paddle.to_tensor(PIXELS).reshape([1, 1, 1, 3]), grid, padding_mode="reflection").sum().backward()
    assert grid.grad[..., 0].item() == wanted


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [4, 8, 14, 25, 100])
def test_points_that_are_meant_to_lie_on_pixels_do(n, dtype):
    assert paddle.linspace(0.5, n - 0.5, n, dtype).tolist() == [i + 0.5 for i in range(n)]
    step = np.dtype(dtype).type(2) / np.dtype(dtype).type(n)
    theta = paddle.to_tensor([[[1.0, 0, 0], [0, 1.0, 0]]], dtype)
    found = F.affine_grid(theta, [1, 1, n, n], align_corners=False)[0, 0, :, 0].numpy()
    assert (found == -np.dtype(dtype).type(n - 1) / np.dtype(dtype).type(n) + step * np.arange(n).astype(dtype)).all()
