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
    "cummax": ((X, 1, paddle.int64), lambda: paddle.cummax(X, 1)),
}


def _flat(x):
    return [np.asarray(y) for y in (x if isinstance(x, list | tuple) else [x])]


@pytest.mark.parametrize("name", CALLS)
def test_kernels_give_what_functions_give(name):
    given, expected = CALLS[name]
    found = getattr(_C_ops, name)(*given)
    for a, b in zip(_flat(found), _flat(expected()), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


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
    image = paddle.ones([1, 2, 1, 1])
    per = paddle.ones([2])
    with pytest.raises(NotImplementedError, match="inference alone"):
        kernel("batch_norm_")(image, per, per, per, per, False, 0.9, 1e-5, "NCHW", False, False)
