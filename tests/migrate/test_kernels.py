"""Kernels of PaddlePaddle by name: what each gives is what public functions and their gradients give."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.model_files import kernels
from paddle_lite_py.nn import functional as F

K = paddle._C_ops
RNG = np.random.default_rng(0)


def ramp(*shape: int) -> paddle.Tensor:
    return paddle.to_tensor(RNG.normal(size=shape).astype("float32"))


def by_hand(function, inputs, out_grad):
    """The gradients of a function by the tape."""
    leaves = [x.detach() for x in inputs]
    for leaf in leaves:
        leaf.stop_gradient = False
    return paddle.grad(function(*leaves), leaves, [out_grad])


X, Y, AT, G = ramp(2, 3), ramp(2, 4), paddle.to_tensor([1, 0, 1]), ramp(3, 4)
PLACES, VALUES = paddle.to_tensor([[0, 1, 1]]), ramp(1, 3)
Q, ROWS = ramp(1, 4, 1, 2), paddle.to_tensor([3, 3, 4, 4], dtype="int32").reshape([1, 1, 4, 1])
# what a kernel gives, and the same by the tape
GRADIENTS = {
    "matmul_grad": (
        lambda: K.matmul_grad(X, Y, G, True, False),
        lambda: by_hand(lambda a, b: paddle.matmul(a, b, True, False), [X, Y], G),
    ),
    "gather_grad": (
        lambda: [K.gather_grad(X, AT, ramp_rows, 0)],
        lambda: by_hand(lambda a: paddle.gather(a, AT, 0), [X], ramp_rows),
    ),
    "reshape_grad": (lambda: [K.reshape_grad(X, X.reshape([6]) * 2)], lambda: [X * 2]),
    "flatten_grad": (lambda: [K.flatten_grad(X, X.flatten() * 2)], lambda: [X * 2]),
    "flashmask_attention_grad": (
        lambda: K.flashmask_attention_grad(Q, Q + 1, Q * 2, ROWS, None, None, None, Q, 0.0, True),
        lambda: by_hand(lambda *a: F.flashmask_attention(*a, ROWS, causal=True), [Q, Q + 1, Q * 2], Q),
    ),
    "put_along_axis_grad": (
        lambda: K.put_along_axis_grad(X, PLACES, VALUES, X, X, 0, "add", True),
        lambda: by_hand(lambda a, b: paddle.put_along_axis(a, PLACES, b, 0, "add"), [X, VALUES], X),
    ),
    "swiglu_grad": (lambda: K.swiglu_grad(X, X + 1, X), lambda: by_hand(lambda a, b: F.silu(a) * b, [X, X + 1], X)),
    "swiglu_grad of one": (
        lambda: [K.swiglu_grad(Y, None, Y[:, :2])[0]],
        lambda: by_hand(lambda a: F.silu(a[:, :2]) * a[:, 2:], [Y], Y[:, :2]),
    ),
    "topk_grad": (
        lambda: [K.topk_grad(X, paddle.topk(X, 2)[1], Y[:, :2], 2, -1, True, True)],
        lambda: by_hand(lambda a: paddle.topk(a, 2)[0], [X], Y[:, :2]),
    ),
}
ramp_rows = ramp(3, 3)


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    kernel, tape = GRADIENTS[name]
    for found, wanted in zip(kernel(), tape(), strict=True):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)


def test_normalizations():
    x, scale = ramp(2, 3, 4), ramp(12)
    out, mean, variance = K.layer_norm(x, scale, None, 1e-5, 1)
    rows = x.numpy().reshape(2, 12)
    np.testing.assert_allclose(mean.numpy(), rows.mean(1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(variance.numpy(), rows.var(1), rtol=1e-5)
    wanted = (rows - rows.mean(1, keepdims=True)) / np.sqrt(rows.var(1, keepdims=True) + 1e-5) * scale.numpy()
    np.testing.assert_allclose(out.numpy().reshape(2, 12), wanted, rtol=1e-4, atol=1e-5)
    unit, lengths = K.norm(X, 1, 0.0, False)
    np.testing.assert_allclose((unit * lengths).numpy(), X.numpy(), rtol=1e-5)
    np.testing.assert_allclose(lengths.numpy()[:, 0], np.linalg.norm(X.numpy(), axis=1), rtol=1e-5)


@pytest.mark.parametrize("soft", [False, True])
def test_cross_entropy_gives_the_softmax_as_well(soft):
    label = F.softmax(ramp(2, 3)) if soft else paddle.to_tensor([[2], [0]])
    softmax, loss = K.cross_entropy_with_softmax(X, label, soft, True, True, -100, -1)
    np.testing.assert_allclose(softmax.numpy(), F.softmax(X).numpy(), rtol=1e-6)
    target = label.numpy() if soft else np.eye(3)[label.numpy()[:, 0]]
    np.testing.assert_allclose(loss.numpy()[:, 0], -(target * np.log(softmax.numpy())).sum(1), rtol=1e-5)


def test_scaled_gradients_are_unscaled_and_looked_at():
    unscale, scale, found = paddle._legacy_C_ops.check_finite_and_unscale, paddle.to_tensor([2.0]), paddle.ones([1]) > 1
    grads = [paddle.to_tensor([2.0, 4.0]), paddle.to_tensor([6.0])]
    assert not unscale(grads, scale, grads, found)[1] and [g.tolist() for g in grads] == [[1.0, 2.0], [3.0]]
    grads[0].set_value(paddle.to_tensor([1.0, float("inf")]))
    assert unscale(grads, scale, grads, found)[1] and found.item()
    assert paddle._legacy_C_ops.squared_l2_norm(paddle.to_tensor([3.0, 4.0])).tolist() == [25.0]


def test_a_convolution_by_its_name():
    image, kernel = ramp(1, 2, 5, 5), ramp(3, 2, 3, 3)
    found = paddle.nn.functional.conv._conv_nd(image, kernel, padding=1, padding_algorithm="SAME")
    np.testing.assert_allclose(found.numpy(), F.conv2d(image, kernel, padding="SAME").numpy(), rtol=1e-5)
    volume, cube = image.reshape([1, 2, 5, 5, 1]), kernel.reshape([3, 2, 3, 3, 1])
    found = paddle.nn.functional.conv._conv_nd(volume, cube, op_type="conv3d", data_format="NCDHW")
    np.testing.assert_allclose(found.numpy(), F.conv3d(volume, cube).numpy(), rtol=1e-5)


def test_each_public_function_that_stands_for_a_kernel_is_there():
    for name, (module, function) in kernels.public_places().items():
        place = paddle.Tensor if module == "." else importlib.import_module(f"paddle_lite_py.{module}".rstrip("."))
        assert callable(getattr(place, function)), name


WRONG = [
    (lambda: K.linear_v2(X, X, None, True), NotImplementedError, "linear_v2: transpose_weight=True is not available"),
    (lambda: K.gaussian_inplace_(X.clone(), 0.0, 1.0, 7), NotImplementedError, "gaussian_inplace_: seed=7 is not"),
    (lambda: K.linear_v2(X, X, None, False, 1), TypeError, r"takes 4 arguments \(x weight bias !transpose_weight\)"),
]


@pytest.mark.parametrize("call, error, words", WRONG)
def test_what_a_kernel_does_not_take_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
