"""What no gradient comes to takes no part in a backward: zero times infinity is NaN, and a hook is not called."""

from __future__ import annotations

import pytest
from paddle_lite_py.jit import InputSpec

import paddle_lite_py as paddle


def hooked(x):
    y = x / 0.0
    y.register_hook(lambda g: g + 5)
    return x * 2, y


def looped(x):
    y = x
    while y.sum() < 10:
        y = y / 0.0
    return x * 2, y


def branched(x):
    return (x * 2 if x.sum() > 0 else x), x / 0.0


class Failing(paddle.autograd.PyLayer):
    """An identity whose gradient is infinite."""

    @staticmethod
    def forward(ctx, x):
        return x * 1.0

    @staticmethod
    def backward(ctx, dy):
        return dy / 0.0


FUNCTIONS = {
    "division": lambda x: (x * 2, x / 0.0),
    "root": lambda x: (x * 2, x.sqrt()),
    "in a list": lambda x: (x * 2, [x / 0.0, {"log": x.log()}]),
    "several ops": lambda x: (x * 2, (x / 0.0 + 1).sum() * 3),
    "hook": hooked,
    "loop": looped,
    "branch": branched,
    "PyLayer": lambda x: (x * 2, Failing.apply(x)),
}


def saved(fn, folder):
    paddle.jit.save(fn, str(folder / "f"), input_spec=[InputSpec([2])])
    return paddle.jit.load(str(folder / "f"))


MODES = {
    "eager": lambda fn, _: fn,
    "static": lambda fn, _: paddle.jit.to_static(fn, full_graph=True),
    "saved": saved,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_output_that_no_gradient_comes_to_leaves_the_others_alone(name, mode, tmp_path):
    fn = MODES[mode](FUNCTIONS[name], tmp_path)
    x = paddle.to_tensor([0.0, 2.0], stop_gradient=False)
    for create_graph in (False, name != "loop"):
        (found,) = paddle.grad(fn(x)[0].sum(), [x], create_graph=create_graph)
        assert found.tolist() == [2.0, 2.0]


def test_state_that_no_gradient_comes_to_leaves_the_results_alone():
    kept = {}

    @paddle.jit.to_static(full_graph=True)
    def step(x):
        kept["y"] = x / 0.0
        return x * 2

    x = paddle.to_tensor([0.0, 2.0], stop_gradient=False)
    step(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
