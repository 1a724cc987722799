"""FLAGS_check_nan_inf: what makes a NaN or an infinity is named wherever it runs, in each thread."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

import paddle_lite_py as paddle

FLAG = "FLAGS_check_nan_inf"


def check(on=True):
    paddle.set_flags({FLAG: on})


def scaled_log(x):
    return paddle.log(x * 2) + 1


def logs(x):
    i = paddle.zeros([])
    while i < 3:
        x = paddle.log(x)
        i = i + 1
    return x


def gradient(size, find):
    x = paddle.zeros([size])
    x.stop_gradient = False
    y = (paddle.sqrt(x) * 2).sum()
    return find(y, x)


def backward(y, x):
    y.backward()
    return x.grad.numpy()


class Training:
    """A step that is called with what has no logarithm, in a static function or not."""

    def __init__(self, form):
        self.net = paddle.nn.Linear(2, 2)
        self.optimizer = paddle.optimizer.Adam(parameters=self.net.parameters())
        self.step = form(self.take)

    def take(self, x):
        loss = paddle.log(self.net(x)).mean()
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        return loss

    def __call__(self):
        return self.step(paddle.to_tensor([[-1.0, -1.0], [1.0, 1.0]])).numpy()


def line(function, number):
    return f"test_nan_checks.py:{function.__code__.co_firstlineno + number}"


def cases():
    """By name: a call, and what its error says."""
    static = paddle.jit.to_static
    given = {"negative": [1.0, -1.0], "zero": [1.0, 0.0], "positive": [1.0, 2.0]}
    f, g = static(scaled_log), static(logs)

    def of(function, name):
        return lambda: function(paddle.to_tensor(given[name])).numpy()

    return {
        "op, NaN": (of(paddle.log, "negative"), r"log\(x=float32\[2\]\): invalid value .nan. .*: 1 NaN and 0 inf"),
        "op, infinity": (of(paddle.log, "zero"), r"log\(x=float32\[2\]\): invalid value .inf. .*: 0 NaN and 1 inf"),
        "loop": (of(logs, "positive"), r"log\(x=float32\[2\]\): invalid value .inf."),
        "large op": (lambda: scaled_log(paddle.zeros([40000])).numpy(), r"invalid value .inf. in the result of log"),
        "backward": (lambda: gradient(2, backward), "in the result of sqrt_grad"),
        "large backward": (lambda: gradient(40000, backward), "in the result of sqrt_grad"),
        "grad": (lambda: gradient(2, paddle.grad)[0].numpy(), "in the result of sqrt_grad"),
        "static function": (of(f, "negative"), f"in the result of log at {line(scaled_log, 1)}: 1 NaN"),
        "static loop": (of(g, "positive"), f"in the result of log at {line(logs, 3)}"),
        "step": (Training(lambda f: f), r"log\(x=float32\[2, 2\]\): invalid value .nan."),
        "static step": (Training(static), f"in the result of log at {line(Training.take, 1)}"),
    }


def look_at(found, each, name=""):
    """Note what was not found where it should have been."""
    for case, (call, text) in each.items():
        try:
            call()
            found.append(f"{name} {case}: nothing")
        except (FloatingPointError, ValueError, RuntimeError) as error:
            if not re.search(text, str(error)) or not isinstance(error, FloatingPointError):
                found.append(f"{name} {case}: {error!r}")


def trace_loops():
    """What ends a check of JAX's in the thread."""

    def doubled(x):
        while x.sum() < 100:
            x = x * 2
        return x

    assert paddle.jit.to_static(doubled)(paddle.ones([2])).tolist() == [64, 64]
    paddle.ones([3]).median()


def in_thread(function, *args):
    thread = threading.Thread(target=function, args=args)
    thread.start()
    thread.join()


def test_each_is_found_in_each_thread_and_after_loops():
    each, found = cases(), []
    check()
    look_at(found, each, "this thread")
    in_thread(look_at, found, each, "another thread")
    trace_loops()
    look_at(found, each, "after a loop")
    in_thread(lambda: (trace_loops(), look_at(found, each, "after a loop in another thread")))
    assert found == []


@pytest.mark.parametrize("setting", ["another thread", "amp.debugging"])
def test_each_is_found_where_it_ran_before_the_check(setting):
    each, found, traced, is_set = cases(), [], threading.Event(), threading.Event()
    debugging = paddle.amp.debugging

    def run():
        trace_loops()
        traced.set()
        is_set.wait()
        look_at(found, {k: v for k, v in each.items() if "step" not in k}, "a thread that traced before")

    for name, (call, _) in each.items():
        if "step" not in name:  # that would leave NaN in the parameters
            call()
    trace_loops()
    thread = threading.Thread(target=run)
    thread.start()
    traced.wait()
    if setting == "another thread":
        in_thread(check)
    else:
        debugging.enable_tensor_checker(debugging.TensorCheckerConfig(enable=True))
    is_set.set()
    thread.join()
    look_at(found, each, "the first thread")
    debugging.disable_tensor_checker()
    assert found == []


def test_a_step_that_fails_changes_nothing():
    training = Training(paddle.jit.to_static)
    before = [p.numpy() for p in training.net.parameters()]
    check()
    for _ in range(2):
        with pytest.raises(FloatingPointError):
            training()
    for p, was in zip(training.net.parameters(), before, strict=True):
        np.testing.assert_array_equal(p.numpy(), was)
    training.net.bias.set_value(paddle.full([2], 9.0))
    assert np.isfinite(training().item())


def test_what_only_a_gradient_would_need_is_no_result():
    check()
    x = paddle.to_tensor([1.0, 0.0], stop_gradient=False)
    y = paddle.jit.to_static(lambda x: paddle.sqrt(x) * 1)(x)
    assert y.tolist() == [1.0, 0.0]
    with pytest.raises(FloatingPointError, match=r"sqrt_grad at test_nan_checks.py:\d+: 0 NaN and 1 infinities"):
        y.sum().backward()


def rooted(x):
    return paddle.sqrt(x * 2).sum()


def in_a_loop(x):
    total = paddle.zeros([])
    for _ in range(paddle.to_tensor(2)):
        total = total + rooted(x)
    return total


def in_a_branch(x):
    return rooted(x) if x.sum() > 0 else x.sum()


def inside(x):
    (grad,) = paddle.grad(rooted(x), [x])
    return grad.sum()


@pytest.mark.parametrize("function", [rooted, in_a_loop, in_a_branch, inside], ids=lambda f: f.__name__)
def test_the_gradient_of_a_static_function_names_op_and_line(function):
    check()
    static, line = paddle.jit.to_static(function), rooted.__code__.co_firstlineno + 1
    for _ in range(2):
        x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
        with pytest.raises(FloatingPointError, match=rf"\(inf\) in the result of sqrt_grad at .*:{line}: 0 NaN and 1"):
            static(x).backward()
    x = paddle.to_tensor([4.0, 1.0], stop_gradient=False)
    assert np.isfinite(static(x).item())


def test_a_program_that_acts_on_the_world_acts_once(capfd):
    @paddle.jit.to_static
    def shown(x):
        y = paddle.log(x)
        print("x is", x)
        return y

    check()
    with pytest.raises(FloatingPointError, match="in the result of"):
        shown(paddle.to_tensor([-1.0]))
    assert capfd.readouterr().out.count("x is") == 1


def test_ops_that_waited_when_the_check_began_are_not_checked_and_later_ones_are():
    x = paddle.zeros([40000])
    x.stop_gradient = False
    y = paddle.log(x)
    check()
    assert paddle.isinf(y.detach().numpy()[0])
    with pytest.raises(FloatingPointError):
        paddle.log(x)


def test_nothing_is_found_once_it_is_off():
    each = cases()
    check()
    look_at([], each)
    check(False)
    for call, _ in each.values():
        call()


def test_the_environment_sets_it(tmp_path):
    text = "import paddle_lite_py as paddle\npaddle.jit.to_static(lambda x: paddle.log(x))(paddle.to_tensor([-1.0]))"
    run = subprocess.run(
        [sys.executable, "-c", text], env=os.environ | {FLAG: "1"}, capture_output=True, text=True, cwd=tmp_path
    )
    assert "in the result of log: 1 NaN" in run.stderr or "in the result of log at <string>:2: 1 NaN" in run.stderr
