"""paddle._C_ops: kernels by name, which take operands and attributes in the reference's order."""

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import _C_ops
from paddle_lite_py.model_files.kernels import kernel, kernel_names
from paddle_lite_py.nn import functional as F

X = paddle.to_tensor([[0.5, 2.0, 1.0], [3.0, 0.25, 4.0]])
Y = paddle.to_tensor([[1.0, 1.0, 2.0], [2.0, 0.5, 1.0]])
I = paddle.to_tensor([1, 0])  # noqa: E741

# What a call gives as the public function gives it.
CALLS = {
    "full_like": ((X, 2.0, paddle.float32, paddle.CPUPlace()), lambda: paddle.full_like(X, 2.0)),
    "mean": ((X, [0], True), lambda: X.mean(0, keepdim=True)),
    "topk": ((X, 2, 1, True, True), lambda: paddle.topk(X, 2, 1)),
    "group_norm": ((X, None, None, 1e-5, 1, "NCHW"), lambda: F.group_norm(X, 1)),
    "concat": (([X, Y], 0), lambda: paddle.concat([X, Y])),
    "split": ((X, [1, 2], 1), lambda: paddle.split(X, [1, 2], 1)),
    "transpose": ((X, [1, 0]), lambda: X.t()),
    "matmul": ((X, Y, False, True), lambda: X @ Y.t()),
    "scale": ((X, 2.0, 1.0, True), lambda: X * 2 + 1),
    "cast": ((X, paddle.int32), lambda: X.astype("int32")),
    "slice": ((X, [1], [0], [2], [1], []), lambda: X[:, :2]),
    "gather": ((X, I, 0), lambda: X[I]),
    "clip": ((X, 0.4, 2.0), lambda: X.clip(0.4, 2.0)),
    "p_norm": ((X, 2.0, 1, 1e-12, False, False), lambda: X.norm(2, 1)),
    "cross_entropy_with_softmax": (
        (X, I.unsqueeze(1), False, True, True, -100, -1),
        lambda: (
            F.softmax(X),
            F.cross_entropy(X, I.unsqueeze(1), reduction="none"),
        ),
    ),
    "cholesky": ((paddle.eye(2) * 4, False), lambda: paddle.eye(2) * 2),
    "assign_value_": (
        (paddle.zeros([0]), [2], paddle.float32, [1.5, 2.0], paddle.CPUPlace()),
        lambda: paddle.to_tensor([1.5, 2.0]),
    ),
    "cummax": ((X, 1, paddle.int64), lambda: paddle.cummax(X, 1)),
}


NUMBERS = {  # printed by PaddlePaddle
    "variance": ((X, [0], False), [1.5625, 0.765625, 2.25]),
    "squared_l2_norm": ((X,), [30.3125]),
    "view_slice": ((X, 1, 2), [[3.0, 0.25, 4.0]]),
    "index_select_strided": ((X, 1, 0), [3.0, 0.25, 4.0]),
    "partial_sum": (([X, Y], 0, 2), [[1.5, 3.0], [5.0, 0.75]]),
    "histogram": ((X, None, 2, 0, 4, False), [3, 3]),
    "fill": ((X, 2.0), [[2.0] * 3] * 2),
}


def _flat(x):
    return [np.asarray(y) for y in (x if isinstance(x, list | tuple) else [x])]


@pytest.mark.parametrize("name", CALLS)
def test_kernels_give_what_functions_give(name):
    given, expected = CALLS[name]
    found = getattr(_C_ops, name)(*given)
    for a, b in zip(_flat(found), _flat(expected()), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("name", NUMBERS)
def test_kernels_that_only_programs_of_old_call(name):
    given, expected = NUMBERS[name]
    np.testing.assert_allclose(getattr(_C_ops, name)(*given).numpy(), expected, rtol=1e-6)


def test_kernels_of_updates_change_what_they_are_given():
    number = lambda value: paddle.to_tensor([value])  # noqa: E731
    p, first, second, power1, power2 = X.clone(), X * 0, X * 0, number(0.9), number(0.99)
    given = (Y, number(0.1), first, second, None, power1, power2, None, None)
    found = _C_ops.adamw_(p, *given, 0.9, 0.99, 1e-8, 1.0, 0.5, True, False, 1000, False, False, False)
    assert found[0] is p and found[1] is first
    np.testing.assert_allclose(p.numpy(), (X * 0.95 - 0.1).numpy(), rtol=1e-5)
    np.testing.assert_allclose(first.numpy(), (Y * 0.1).numpy(), rtol=1e-5)
    assert abs(power1.item() - 0.81) < 1e-6
    gradients, scale = [Y.clone()], number(2.0)
    _, is_found = _C_ops.check_finite_and_unscale_(gradients, scale)
    assert not is_found and gradients[0].tolist() == (Y / 2).tolist()
    _C_ops.update_loss_scaling_(
        gradients,
        paddle.to_tensor([True]),
        scale,
        *(paddle.to_tensor([n], "int32") for n in (1, 0)),
        2,
        1,
        2.0,
        0.5,
        False,
    )
    assert scale.item() == 1.0 and gradients[0].tolist() == (Y * 0).tolist()


def test_kernels_in_place_and_their_gradients():
    x = X.clone()
    assert _C_ops.add_(x, Y) is x and x.tolist() == (X + Y).tolist()
    assert _C_ops.reshape_(x, [6]).shape == [6] == x.shape
    w = X.clone()
    w.stop_gradient = False
    _C_ops.multiply(w, Y).sum().backward()
    assert w.grad.tolist() == Y.tolist()


def test_every_kernel_of_the_table_is_there():
    assert all(callable(kernel(name)) for name in kernel_names())
    assert {"full_like", "add_"} <= set(dir(_C_ops))


def test_what_is_not_there_is_said():
    with pytest.raises(AttributeError, match="no kernel 'sparse_acos'"):
        _C_ops.sparse_acos  # noqa: B018
    with pytest.raises(TypeError, match="scale takes 4 arguments"):
        _C_ops.scale(X, 1.0, 0.0, True, None, None)


def test_normalization_moves_its_statistics_in_training():
    x, mean, variance, one = X.reshape([3, 2]) * 2.0, paddle.zeros([2]), paddle.ones([2]), paddle.ones([2])
    for in_test in (True, False):
        found = kernel("batch_norm")(x, mean, variance, one, one, in_test, 0.5, 1e-5, "NCHW", False, False)
        assert len(found) == 6 and found[1] is mean and found[2] is variance
        public = paddle.nn.functional.batch_norm(x, paddle.zeros([2]), paddle.ones([2]), one, one, not in_test, 0.5)
        np.testing.assert_allclose(found[0].numpy(), public.numpy(), rtol=1e-6)
    np.testing.assert_allclose(mean.numpy(), x.numpy().mean(0) / 2, rtol=1e-6)
