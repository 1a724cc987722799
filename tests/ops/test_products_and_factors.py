"""Products over axes given as tensors or of size 1, and factors of matrices that are not square."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle

RNG = np.random.default_rng(0)
X, Y = RNG.random((3, 3, 3)), RNG.random((3, 3, 3))

AXES = {
    "a tensor": (lambda: paddle.to_tensor([1]), ([1], [1])),
    "a tensor of two": (lambda: paddle.to_tensor([1, 2]), ([1, 2], [1, 2])),
    "a number": (lambda: paddle.to_tensor(1), 1),
    "two tensors": (lambda: [paddle.to_tensor([1]), paddle.to_tensor([0])], ([1], [0])),
    "a tensor of lists": (lambda: paddle.to_tensor([[1, 2], [0, 1]]), ([1, 2], [0, 1])),
    "lists of two lengths": (lambda: [[2, 1], [0]], ([2, 1], [0, 1])),
}


@pytest.mark.parametrize(("axes", "expected"), AXES.values(), ids=AXES)
def test_axes_of_tensordot_are_numbers_lists_or_tensors(axes, expected):
    found = paddle.tensordot(paddle.to_tensor(X), paddle.to_tensor(Y), axes())
    np.testing.assert_allclose(found.numpy(), np.tensordot(X, Y, expected), rtol=1e-12)


@pytest.mark.parametrize("axes", [([0], [1]), ([0, 1], [0, 1]), 2])
def test_contracted_axes_of_size_1_are_broadcast(axes):
    x, y = X[:1, :, 0], Y[0]
    found = paddle.tensordot(paddle.to_tensor(x), paddle.to_tensor(y), axes)
    np.testing.assert_allclose(found.numpy(), np.tensordot(np.repeat(x, 3, 0), y, axes), rtol=1e-12)


@pytest.mark.parametrize("shape", [(2, 3), (3, 2)])
def test_full_factors_have_the_gradient_of_the_reduced_ones(shape):
    made = []
    for full in (True, False):
        x = paddle.to_tensor(X[0][: shape[0], : shape[1]], stop_gradient=False)
        u, s, vh = paddle.linalg.svd(x, full_matrices=full)
        (u.abs()[:, 0].sum() + s.sum() + vh.square()[0, 0]).backward()
        made.append(x.grad.numpy())
        if full:
            assert [*u.shape] == [shape[0]] * 2 and [*vh.shape] == [shape[1]] * 2
            for basis in (u.detach(), vh.detach()):
                np.testing.assert_allclose((basis @ basis.T).numpy(), np.eye(len(basis)), atol=1e-12)
            np.testing.assert_allclose(((u[:, :2] * s) @ vh[:2]).numpy(), x.numpy(), rtol=1e-12)
    np.testing.assert_allclose(*made, rtol=1e-12)


def test_the_first_smallest_of_one_number():
    value, index = paddle.kthvalue(paddle.to_tensor(3.0), 1)
    assert (value.item(), index.item(), [*value.shape]) == (3.0, 0, [])
