"""Eager differentiation: the tape, its compiled segments, hooks, PyLayer, second derivatives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.core.errors import GraphFreedError
from paddle_lite_py.eager import recurring, tape
from paddle_lite_py.nn import functional as F


def leaf(*data: float) -> paddle.Tensor:
    return paddle.to_tensor(list(data), stop_gradient=False)


def loss(x: paddle.Tensor) -> paddle.Tensor:
    return (paddle.tanh(x * 2.0) * x).sum()


def expected(x: np.ndarray) -> np.ndarray:
    t = np.tanh(2 * x)
    return t + 2 * x * (1 - t * t)


def test_gradient_is_right_before_and_after_the_segment_is_compiled():
    for _ in range(4):
        x = leaf(0.5, -1.0)
        loss(x).backward()
        np.testing.assert_allclose(x.grad.numpy(), expected(x.numpy()), rtol=1e-6)


def test_a_hot_segment_is_one_compiled_call_and_traces_once():
    x = leaf(0.3, 0.4)
    tape._forms.clear()  # other tests met this structure with other shapes
    for _ in range(recurring.HOT + 3):
        loss(x).backward()
    forms = [f for f in tape._forms.values() if f.met >= recurring.HOT + 3]
    assert forms and all(f.traces <= 1 for f in forms)  # none, where an earlier process left its text


def test_changing_shapes_do_not_compile_for_ever():
    def run(n: int) -> None:
        x = paddle.ones([n])
        x.stop_gradient = False
        paddle.exp(paddle.cos(x)).sum().backward()

    for n in range(2, 2 + 3 * recurring.MAX_TRACES):
        run(n)
    newest = next(reversed(tape._forms.values()))
    assert newest.met == 3 * recurring.MAX_TRACES
    assert newest.traces <= recurring.MAX_TRACES


def test_gradients_accumulate_and_clear():
    x = leaf(1.0)
    (x * 3.0).backward()
    (x * 4.0).backward()
    assert x.grad.tolist() == [7.0]
    x.clear_gradient()
    assert x.grad.tolist() == [0.0]
    x.clear_gradient(set_to_zero=False)
    assert x.grad is None


def test_a_tensor_used_twice_gets_the_sum():
    x = leaf(2.0)
    y = x * x
    (y * y + y).sum().backward()
    assert x.grad.tolist() == [4 * 8 + 4.0]


def test_several_outputs_of_one_op():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    a, b = paddle.split(x, 2)
    (a * 2.0 + b * b).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 6.0, 8.0]


def test_integer_outputs_stay_outside():
    x = leaf(3.0, 1.0)
    values, indices = paddle.topk(x, 1)
    assert indices.stop_gradient and not values.stop_gradient
    values.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0]


def test_backward_frees_the_graph():
    x = leaf(1.0)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(GraphFreedError, match="retain_graph=True"):
        y.backward()


def test_retain_graph():
    x = leaf(1.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0]


@pytest.mark.parametrize("size", [1, 10**6], ids=["small", "large"])
def test_backward_without_a_graph_does_nothing_and_warns_once_for_each_line(size):
    x, y = paddle.ones([size]), leaf(1.0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for _ in range(3):
            x.backward()
        (x * 2).sum().backward()
        paddle.autograd.backward([(y * 2).sum(), x.sum()])  # the others have their gradients
    assert x.grad is None and y.grad.tolist() == [2.0]
    assert len(told) == 3 and all("does nothing, since it requires no gradient" in str(w.message) for w in told)
    assert {w.filename for w in told} == {__file__}
    with pytest.raises(RuntimeError, match=r"grad\(\) of a float32\[\] tensor with stop_gradient=True"):
        paddle.grad(x.sum(), y)


def test_backward_without_a_graph_in_a_program():
    @paddle.jit.to_static(full_graph=True)
    def doubled(a):
        b = a * 2
        b.backward()
        return b

    with pytest.warns(UserWarning, match="backward\\(\\) of a float32\\[2\\] tensor does nothing"):
        assert doubled(paddle.ones([2])).tolist() == [2.0, 2.0]


def test_no_grad_and_enable_grad():
    x = leaf(1.0)
    with paddle.no_grad():
        assert (x * 2.0).stop_gradient
        with paddle.enable_grad():
            assert not (x * 2.0).stop_gradient

    @paddle.no_grad()
    def f(v: paddle.Tensor) -> paddle.Tensor:
        return v * 2.0

    assert f(x).stop_gradient
    assert not (x * 2.0).stop_gradient


def test_detach_shares_data_and_cuts_the_graph():
    x = leaf(2.0)
    y = (x * x).detach()
    assert y.stop_gradient
    (x * y).sum().backward()
    assert x.grad.tolist() == [4.0]


def test_in_place_change_does_not_disturb_what_was_recorded():
    x = leaf(2.0)
    y = x * 1.0
    z = y * y
    y.add_(paddle.ones([1]))
    (z + y).sum().backward()
    assert x.grad.tolist() == [5.0]


def test_a_leaf_cannot_be_changed_in_place_while_recording():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="leaf that requires gradient"):
        x.add_(paddle.ones([1]))
    with paddle.no_grad():
        x.add_(paddle.ones([1]))
    assert x.tolist() == [2.0] and not x.stop_gradient and x.is_leaf


def test_set_item_passes_gradients_to_both():
    x, v = leaf(1.0, 2.0, 3.0), leaf(5.0)
    y = x * 2.0
    y[1] = v[0]
    (y * y).sum().backward()
    assert x.grad.tolist() == [8.0, 0.0, 24.0]
    assert v.grad.tolist() == [10.0]


def test_hook_on_an_inner_tensor_changes_the_gradient():
    x = leaf(1.0)
    y = x * 2.0
    handle = y.register_hook(lambda g: g * 10.0)
    (y * 3.0).sum().backward()
    assert x.grad.tolist() == [60.0]
    handle.remove()
    x.clear_gradient()
    (x * 2.0).sum().backward()
    assert x.grad.tolist() == [2.0]


def test_hook_on_a_leaf_and_retain_grads():
    x = leaf(1.0)
    x.register_hook(lambda g: g + 1.0)
    y = x * 2.0
    y.retain_grads()
    (y * 3.0).sum().backward()
    assert y.grad.tolist() == [3.0]
    assert x.grad.tolist() == [7.0]


@pytest.mark.parametrize(
    ("calls", "retained", "arriving"),
    [
        ("r", 6, 18),
        ("rh", 6, 180),
        ("hr", 60, 180),
        ("hrh", 60, 1800),
        ("rhr", 6, 180),
        ("rr", 6, 18),
        ("hrr", 60, 180),
    ],
)
def test_what_is_retained_is_what_the_hooks_before_have_left(calls, retained, arriving):
    x = leaf(1.0)
    y = x * 3.0
    for call in calls:
        y.retain_grads() if call == "r" else y.register_hook(lambda g: g * 10.0)
    z = (y * y).sum()
    for _ in range(2):  # it is not added up
        z.backward(retain_graph=True)
        assert y.grad.tolist() == [retained]
    assert x.grad.tolist() == [2.0 * arriving]


def test_a_gradient_is_retained_once_after_a_change_in_place():
    x = leaf(1.0)
    y = x * 3.0
    y.retain_grads()
    y.multiply_(paddle.to_tensor([5.0]))
    y.retain_grads()
    (y * y).sum().backward()
    assert y.grad.tolist() == [150.0] and x.grad.tolist() == [450.0]


def test_register_hook_needs_a_gradient():
    with pytest.raises(RuntimeError, match="stop_gradient=True"):
        paddle.ones([1]).register_hook(lambda g: g)


def test_grad_leaves_dot_grad_alone():
    x, w = leaf(2.0), leaf(5.0)
    y = x * x * w
    (dx,) = paddle.grad(y, x)
    assert dx.tolist() == [20.0] and x.grad is None and w.grad is None


def test_grad_of_an_inner_tensor():
    x = leaf(2.0)
    y = x * x
    (dy,) = paddle.grad((y * y).sum(), y)
    assert dy.tolist() == [8.0]


def test_unused_input():
    x, w = leaf(2.0), leaf(1.0)
    with pytest.raises(RuntimeError, match=r"inputs\[1\]"):
        paddle.grad(x * 2.0, [x, w])
    assert paddle.grad(x * 2.0, [x, w], allow_unused=True)[1] is None


def test_second_and_third_derivative():
    x = leaf(2.0)
    (d1,) = paddle.grad((x**4).sum(), x, create_graph=True)
    (d2,) = paddle.grad(d1.sum(), x, create_graph=True)
    (d3,) = paddle.grad(d2.sum(), x)
    np.testing.assert_allclose([d1.item(), d2.item(), d3.item()], [32, 48, 48], rtol=1e-5)


def test_gradient_penalty_reaches_parameters():
    x, w = leaf(2.0), leaf(3.0)
    (dx,) = paddle.grad((x * x * w).sum(), x, create_graph=True)
    (dx * dx).sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), [2 * (2 * 2 * 3) * 2 * 2], rtol=1e-6)


class Scaled(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x, y, k):
        ctx.save_for_backward(x, y)
        ctx.k = k
        return x * y * k

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensor()
        return g * y * ctx.k * 100.0, g * x * ctx.k


def test_py_layer():
    x, y = leaf(2.0), leaf(3.0)
    (Scaled.apply(x * 1.0, y, 2.0) * 1.0).sum().backward()
    assert x.grad.tolist() == [600.0] and y.grad.tolist() == [4.0]


def test_py_layer_with_a_wrong_number_of_gradients():
    class Wrong(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(ValueError, match="Wrong.backward gave 1 gradients, but forward took 2"):
        Wrong.apply(leaf(1.0), leaf(1.0)).backward()


def test_grad_tensor():
    x = leaf(1.0, 2.0)
    (x * x).backward(paddle.to_tensor([1.0, 10.0]))
    assert x.grad.tolist() == [2.0, 40.0]
    with pytest.raises(ValueError, match="grad_tensor has shape"):
        (x * x).backward(paddle.ones([3]))


def test_backward_of_several_tensors():
    x = leaf(1.0)
    paddle.autograd.backward([x * 2.0, x * 3.0])
    assert x.grad.tolist() == [5.0]


def test_the_gradient_of_a_complex_number_points_where_the_loss_grows():
    def loss(z):
        return (z * z * (1 - 2j)).abs().sum()

    z, w = (paddle.to_tensor([1 + 2j, 3 - 1j], stop_gradient=False) for _ in range(2))
    loss(z).backward()
    paddle.jit.to_static(loss)(w).backward()
    inside = paddle.jit.to_static(lambda z: paddle.grad(loss(z), z)[0])(z)
    for found in (z.grad, w.grad, inside):  # |z * z * (1 - 2j)| is |z|^2 times the root of 5
        np.testing.assert_allclose(found.numpy(), 2 * 5**0.5 * np.array([1 + 2j, 3 - 1j]), rtol=1e-6)


@pytest.mark.parametrize("kind", [paddle.nn.LSTM, paddle.nn.GRU, paddle.nn.SimpleRNN])
def test_recurrent_layers_keep_what_their_gradients_need(kind):
    paddle.seed(0)
    net = kind(2, 3)
    x = paddle.rand([2, 4, 2])
    x.stop_gradient = False

    def once(create_graph):
        out = net(x)[0].sum()
        (g,) = paddle.grad(out, x, create_graph=create_graph)
        return g

    first = once(False)
    second = once(True)
    np.testing.assert_allclose(first.numpy(), second.numpy(), rtol=1e-5, atol=1e-6)
    (second**2).sum().backward()
    step, before = 1e-2, x.grad.numpy()[0, 1, 0]
    data = x.numpy()
    ends = []
    for sign in (1, -1):
        moved = data.copy()
        moved[0, 1, 0] += sign * step
        x = paddle.to_tensor(moved, stop_gradient=False)
        ends.append(float((once(False) ** 2).sum()))
    assert abs((ends[0] - ends[1]) / (2 * step) - before) < 1e-3 * max(1.0, abs(before))


def test_what_a_gradient_keeps_is_told_apart_by_shape_and_dtype():
    """All calls are recorded before the first gradient is taken."""
    cases = [(dtype, rows) for rows in (2, 3) for dtype in ("float32", "float64")]
    inputs = [paddle.arange(rows * 3, dtype=dtype).reshape([rows, 3]).sin() for dtype, rows in cases]
    for x in inputs:
        x.stop_gradient = False
    losses = [(F.layer_norm(x, 3) ** 3).sum() + F.cross_entropy(x, paddle.zeros([x.shape[0]], "int64")) for x in inputs]
    for loss, x, (dtype, _) in zip(losses, inputs, cases, strict=True):
        loss.backward()
        a = x.numpy().astype("float64")
        assert x.grad.dtype.name == dtype
        np.testing.assert_allclose(x.grad.numpy(), slope(normed_and_classed, a), rtol=1e-3, atol=1e-4)


def normed_and_classed(x: np.ndarray) -> float:
    centred = x - x.mean(1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
    return (normal**3).sum() + (np.log(np.exp(x).sum(1)) - x[:, 0]).mean()


def slope(f, x: np.ndarray) -> np.ndarray:
    steps = np.eye(x.size).reshape(x.size, *x.shape) * 1e-5
    return np.array([(f(x + s) - f(x - s)) / 2e-5 for s in steps]).reshape(x.shape)


def test_what_a_gradient_keeps_does_not_copy_its_inputs():
    x = paddle.ones([4, 8])
    x.stop_gradient = False
    node = F.layer_norm(x, 8)._source
    assert any(kept is x._payload for kept in node.data)


def test_a_gradient_is_a_leaf_of_its_own():
    x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    for _ in range(2):
        x.square().sum().backward()
        assert x.grad.is_leaf and not x.grad.stop_gradient
    (x.grad * 2).sum().backward()
    assert x.grad.grad.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="no_grad"):
        x.grad.zero_()
    with paddle.no_grad():
        x.grad.zero_()
    x.clear_grad()
    assert not x.grad.stop_gradient and paddle.grad(x.square().sum(), x)[0].stop_gradient


def test_what_a_hook_gives_is_a_leaf():
    x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    handle = x.register_hook(lambda g: None if g.stop_gradient else g * 2)
    for _ in range(2):
        x.square().sum().backward()
    assert x.grad.is_leaf and x.grad.tolist() == [16.0, 24.0]
    assert repr(handle) == "RemoveHandle(on)" and handle.remove() and repr(handle) == "RemoveHandle(removed)"


def test_an_op_has_as_many_results_as_its_argument_has_rows():
    for n in (2, 3, 1, 4):
        x = paddle.ones([n, 3])
        x.stop_gradient = False
        rows = paddle.unbind(x)
        sum((i + 1) * row.sum() for i, row in enumerate(rows)).backward()
        assert [row.stop_gradient for row in rows] == [False] * n
        assert x.grad[:, 0].tolist() == [i + 1 for i in range(n)]
