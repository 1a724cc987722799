"""Functions of NumPy in programs, with the user's gradient; the order of what acts on the world."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from custom_ops import SPEC, leaf
from paddle_lite_py import nn
from paddle_lite_py.utils import numpy_op


def test_a_numpy_function_runs_in_programs_and_has_the_users_gradient():
    calls = []

    @numpy_op(backward=lambda a, out, g: calls.append("backward") or 2 * a * g)
    def square(a):
        assert isinstance(a, np.ndarray)
        calls.append("forward")
        return a * a

    for wrap in (lambda f: f, paddle.jit.to_static):
        x = leaf(1.0, 3.0)
        wrap(lambda x: square(x).sum())(x).backward()
        assert x.grad.tolist() == [2.0, 6.0]
        assert calls == ["forward", "backward"]
        calls.clear()

    def step(x):
        for _ in range(3):
            x = square(x)
        x.sum().backward()

    x = leaf(1.0)
    paddle.jit.to_static(step)(x)
    assert x.grad.tolist() == [8.0] and calls == ["forward"] * 3 + ["backward"] * 3


def test_py_func_takes_lists_and_specs_and_writes_into_tensors():
    a, b, out = leaf(1.0, 2.0), leaf(3.0, 4.0), paddle.zeros([2])
    found = paddle.static.py_func(lambda x, y: x * y, [a, b], out)
    assert found is out and out.tolist() == [3.0, 8.0]
    low, high = paddle.static.py_func(
        lambda x: (x.min(keepdims=True), x.max(keepdims=True)), a, [SPEC([1], "float32"), SPEC([1], "float32")]
    )
    assert (float(low), float(high), low.stop_gradient) == (1.0, 2.0, True)
    seen = []
    assert paddle.static.py_func(lambda x: seen.append(x.sum()), a, None) is None
    assert seen == [3.0]


def test_py_func_leaves_out_what_its_backward_does_not_want():
    x, spec, given = leaf(1.0, 2.0), SPEC([2], "float32"), []

    def back(*arrays):
        given.append(len(arrays))
        return arrays[-1] * 5

    paddle.static.py_func(lambda v: v * 5, x, spec, back, skip_vars_in_backward_input=[x]).sum().backward()
    assert given == [2] and x.grad.tolist() == [5.0, 5.0]
    y = leaf(1.0, 1.0)
    paddle.static.py_func(lambda v, w: v + w, [x, y], spec, lambda v, w, o, g: (g, None)).sum().backward()
    assert x.grad.tolist() == [6.0, 6.0] and y.grad.tolist() == [0.0, 0.0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("wrap", [lambda f: f, paddle.jit.to_static])
def test_errors_of_the_users_python_arrive_as_they_are(wrap, caplog):
    @numpy_op
    def shorter(a):
        return a[:1]

    @numpy_op
    def fails(a):
        raise KeyError("no such row")

    with pytest.raises(ValueError, match=r"`shorter` gave float32\[1\] as result 0, but float32\[2\] is declared"):
        wrap(lambda x: shorter(x) + 1.0)(leaf(1.0, 2.0))
    with pytest.raises(KeyError, match="no such row"):
        wrap(lambda x: fails(x) + 1.0)(leaf(1.0, 2.0))
    with pytest.raises(ValueError, match=r"py_func: out is declared as \[-1\]; give each dimension a number"):
        paddle.static.py_func(np.sort, leaf(1.0), SPEC([None], "float32"))
    with pytest.raises(TypeError, match="py_func: out is 3; expected a tensor or an InputSpec"):
        paddle.static.py_func(np.sort, leaf(1.0), 3)


@pytest.mark.usefixtures("static_mode")
def test_py_func_trains_in_the_static_mode_as_in_paddle():
    seen = []
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x, label = paddle.static.data("x", [None, 4]), paddle.static.data("label", [None, 1], "int64")
        h = paddle.static.nn.fc(x, 5, weight_attr=nn.initializer.Constant(0.1))
        out = main.current_block().create_var(name="out", dtype="float32", shape=h.shape)
        back = lambda y, dy: dy * (1 - np.square(y))  # noqa: E731
        h = paddle.static.py_func(np.tanh, h, out, back, skip_vars_in_backward_input=h)
        paddle.static.py_func(lambda a: seen.append(a.shape), h, None)
        h = paddle.static.nn.fc(h, 3, weight_attr=nn.initializer.Constant(0.2))
        loss = nn.functional.cross_entropy(h, label)
        paddle.optimizer.SGD(0.5).minimize(loss)
    exe, rng = paddle.static.Executor(), np.random.RandomState(0)
    exe.run(startup)
    feed = {"x": rng.rand(6, 4).astype("float32"), "label": rng.randint(0, 3, (6, 1))}
    losses = [float(exe.run(main, feed=feed, fetch_list=[loss])[0]) for _ in range(4)]
    # What PaddlePaddle 3.3.1 gives for the same program.
    np.testing.assert_allclose(losses, [1.0986123, 1.0677332, 1.0483236, 1.0358939], rtol=1e-5)
    assert seen == [(6, 5)] * 4


def test_saving_a_call_of_python_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"py_func at test_host.py:\d+ calls the Python function `sort`"):
        paddle.jit.save(
            lambda x: paddle.static.py_func(np.sort, x, x * 1.0), str(tmp_path / "m"), input_spec=[SPEC([2])]
        )


def test_effects_keep_their_order_in_a_training_step(capsys):
    told = []

    @numpy_op(backward=lambda a, out, g: g)
    def tell(a):
        told.append(float(a.sum()))
        return a

    def step(x):
        print("start")
        h = x * 2
        print("h")
        y = tell(h)
        for _ in range(paddle.to_tensor(2)):
            print("staged")
            y = y * 1.5
        while y.sum() < 30:
            print("while")
            y = y * 2
        print("end")
        loss = y.sum()
        loss.backward()
        print("after")
        return loss

    out, grads = [], []
    for f in (step, paddle.jit.to_static(step)):
        x = leaf(1.0, 2.0)
        f(x)
        paddle.device.synchronize()
        out.append(capsys.readouterr().out.split())
        grads.append(x.grad.tolist())
    assert out[0] == out[1] == ["start", "h", "staged", "staged", "while", "while", "end", "after"]
    assert grads[0] == grads[1] and told == [6.0, 6.0]
