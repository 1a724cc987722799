"""Powers with exponents known beforehand, which have forms of their own."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle

X = np.array([[0.3, 1.0, 2.5], [1.7, 0.6, 3.0]], "float32")


@pytest.mark.parametrize("exponent", [2, 2.0, 3.0, -1.0, -2, 0.5, -0.5, 1.3, 65.0, 0.0])
def test_power_and_gradient(exponent):
    x = paddle.to_tensor(X, stop_gradient=False)
    y = x**exponent
    y.sum().backward()
    wide = X.astype("float64")
    np.testing.assert_allclose(y.numpy(), wide**exponent, rtol=1e-5)
    np.testing.assert_allclose(x.grad.numpy(), exponent * wide ** (exponent - 1), rtol=1e-5)


@pytest.mark.parametrize(
    ("exponent", "dtype", "expected"), [(2, "int64", [16, 81]), (2.0, "float32", [16, 81]), (0.5, "float32", [2, 3])]
)
def test_a_power_of_integers_has_the_type_of_a_product_with_the_exponent(exponent, dtype, expected):
    y = paddle.to_tensor([4, 9]) ** exponent
    assert (y.dtype.name, y.tolist()) == (dtype, expected)
