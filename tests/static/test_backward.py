"""Gradients of static programs: to second order, from given ones, by name, recomputed."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import static
from static_nets import batch, network, started

pytestmark = pytest.mark.usefixtures("static_mode")


def test_gradients_to_second_order_and_of_inner_values():
    x = static.data("x", [2])
    x.stop_gradient = False
    y = x * x
    (dx,) = static.gradients(y * x, x)
    (ddx,) = static.gradients(dx, x)
    (dy,) = static.gradients((y * 2).sum(), y)
    found = static.Executor().run(feed={"x": np.array([1.0, 2.0], "float32")}, fetch_list=[dx, ddx, dy])
    assert [a.tolist() for a in found] == [[3, 12], [6, 12], [2, 2]]


def test_gradients_start_from_given_ones_and_stop():
    x = static.data("x", [2])
    x.stop_gradient = False
    y = x * 3
    (dx,) = static.gradients([y + x], [x], target_gradients=[static.data("g", [2])], no_grad_set={y.name})
    feed = {"x": np.ones([2], "float32"), "g": np.array([1.0, 2.0], "float32")}
    assert static.Executor().run(feed=feed, fetch_list=[dx])[0].tolist() == [1, 2]


def test_append_backward_names_gradients():
    net, loss = network()
    pairs = static.append_backward(loss, parameter_list=[net[0].weight, "linear_1.b_0"])
    assert [(p.name, g.name) for p, g in pairs] == [
        ("linear_0.w_0", "linear_0.w_0@GRAD"), ("linear_1.b_0", "linear_1.b_0@GRAD")
    ]  # fmt: skip
    (by_name,) = started().run(feed=batch(), fetch_list=["linear_0.w_0@GRAD"])
    assert by_name.shape == (4, 8) and by_name.any()


def test_recomputed_gradients_are_the_same():
    net, loss = network()
    hidden = static.default_main_program().global_block().ops[1].output_arg_names
    whole = static.default_main_program().clone()
    found = []
    for program, checkpoints in ((whole, None), (static.default_main_program(), hidden)):
        with static.program_guard(program):
            pairs = static.append_backward(loss, checkpoints=checkpoints)
            found.append((program, [g for _, g in pairs]))
    exe = started()
    (kept, again) = (exe.run(p, feed=batch(), fetch_list=g) for p, g in found)
    for a, b in zip(kept, again, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert "recompute" in str(static.default_main_program()) and "recompute" not in str(whole)
    with pytest.raises(ValueError, match="'x' is not what an operator of the program gives"):
        static.append_backward(loss, checkpoints=["x"])


def test_append_backward_says_what_is_wrong():
    net, loss = network()
    with pytest.raises(ValueError, match=r"loss is float32\[.*8\]; expected one number"):
        static.append_backward(net[0](static.data("x", [None, 4])))
    with pytest.raises(ValueError, match="depends on none of the parameters"):
        paddle.optimizer.SGD(0.1).minimize(static.data("x", [None, 4]).mean())
    with pytest.raises(ValueError, match="'w', which is no parameter"):
        static.append_backward(loss, parameter_list=["w"])
    paddle.disable_static()
    with pytest.raises(RuntimeError, match="append_backward: no program is under construction"):
        static.append_backward(loss)
    paddle.enable_static()


def test_the_last_parameter_stands_first():
    x = static.data("x", [2, 3])
    w, unused, v = (static.create_parameter([3, 3], "float32", name=n) for n in ("w", "unused", "v"))
    loss = (x @ w @ v @ w).mean()
    names = lambda pairs: [(p.name, g is not None) for p, g in pairs]  # noqa: E731
    assert names(static.append_backward(loss)) == [("v", True), ("unused", False), ("w", True)]
    listed = static.append_backward(loss, parameter_list=[w, "unused", v])
    assert names(listed) == [("w", True), ("unused", False), ("v", True)]
    assert names(static.append_backward(loss, [w, v], no_grad_set={w})) == [("w", False), ("v", True)]
    assert names(static.append_backward(x.mean(), [w])) == [("w", False)]
    assert names(paddle.optimizer.SGD(0.1).minimize(loss)[1]) == [("v", True), ("w", True)]
    assert names(paddle.optimizer.SGD(0.1, parameters=[w, unused, v]).backward(loss)) == [("w", True), ("v", True)]


def test_a_target_is_its_own_gradient_where_it_is_stopped_too():
    x = static.data("x", [2])
    x.stop_gradient = False
    y = x * 3.0
    y.stop_gradient = True
    (own, none), (start,) = static.gradients(y, [y, x]), static.gradients(y, y, [x])
    assert none is None and start is x
    assert static.Executor().run(feed={"x": np.ones(2, "float32")}, fetch_list=[own])[0].tolist() == [1.0, 1.0]


def test_a_value_that_one_gradient_does_not_pass_is_passed_by_the_next():
    x, v = static.data("x", [3]), static.create_parameter([3], "float32", name="v")
    x.stop_gradient = False
    t = v / (x * x + 1.0)
    y = x * t
    assert static.gradients(y, v, no_grad_set={t}) == [None]
    (stopped,) = static.gradients(y, x, no_grad_set={t})
    (whole,) = static.gradients(y, x)
    static.Executor().run(static.default_startup_program())
    at = np.array([1.0, -2.0, 0.5], "float32")
    found, held, weight = static.Executor().run(feed={"x": at}, fetch_list=[whole, stopped, v])
    np.testing.assert_allclose(held, weight / (at * at + 1), rtol=1e-6)
    np.testing.assert_allclose(found, weight * (1 - at * at) / (at * at + 1) ** 2, rtol=1e-5)


def test_a_gradient_that_was_asked_of_more_does_not_make_one_that_is_not_there():
    x, w = static.data("x", [3]), static.create_parameter([3], "float32", name="w")
    x.stop_gradient = False
    y = x * 2.0
    z = static.nn.cond(y.sum() > w.sum(), lambda: y * 2.0, lambda: w * w)
    assert [g is None for g in static.gradients([y, z], [x, w])] == [False, False]
    assert [g is None for g in static.gradients(y, [x, w])] == [False, True]


def inputs(*names: str) -> list[paddle.Tensor]:
    found = [static.data(name, [2]) for name in names]
    for x in found:
        x.stop_gradient = False
    return found


def run(fetch: list[paddle.Tensor], **feed: list[float]) -> list[list[float]]:
    found = static.Executor().run(feed={k: np.array(v, "float32") for k, v in feed.items()}, fetch_list=fetch)
    return [a.tolist() for a in found]


def test_targets_that_are_stopped():
    """As in the reference: none from a target in no_grad_set; what is stopped has its own start, and nothing else."""
    (x,) = inputs("x")
    y = x * x
    z = y * 3.0
    y.stop_gradient = True
    assert static.gradients(z, [x], no_grad_set={z}) == [None]
    assert static.gradients([z, x * 2.0], [y], no_grad_set={z}) == [None]
    (of_y,), (own,) = static.gradients([z, y], [y]), static.gradients([z, y], [y], target_gradients=[None, x])
    assert static.gradients(z, [y]) == [None]
    (twice,) = static.gradients([x * 2.0, x * 3.0], [x], no_grad_set={z})
    assert run([of_y, own, twice], x=[2.0, 5.0]) == [[1.0, 1.0], [2.0, 5.0], [5.0, 5.0]]


def test_a_choice_passes_no_gradient_to_what_is_stopped():
    x, v = inputs("x", "v")
    stopped = v * x
    stopped.stop_gradient = True
    out = static.nn.cond(x.sum() > 0, lambda: x * 2.0, lambda: stopped * stopped * x)
    dx, dv = static.gradients(out, [x, v])
    assert dv is None
    assert run([dx], x=[1.0, 1.0], v=[1.0, 3.0]) == [[2.0, 2.0]]
    assert run([dx], x=[-1.0, -1.0], v=[1.0, 3.0]) == [[1.0, 9.0]]
