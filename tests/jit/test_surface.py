"""What Paddle's static functions and layers show and can do."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
from paddle_lite_py.jit import InputSpec, ignore_module, not_to_static, to_static

import paddle_lite_py as paddle
from paddle_lite_py import nn


def tensor(*data, **kwargs):
    return paddle.to_tensor(list(data), **kwargs)


def double(x):
    return x * 2.0


@to_static
def decorated(x):
    return x * 3.0


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)

    @to_static
    def score(self, x):
        return self.forward(x).sum() if x.sum() > 0 else self.fc(x).max()


ONES = paddle.ones([1, 2])


def test_properties():
    net = to_static(Net())
    f = net.forward
    assert f.get_traced_count() == 0 and f.class_instance is net
    net(ONES)
    program, entry = f.get_concrete_program(ONES)
    assert program.main_program is f.main_program is f.concrete_program.main_program
    assert entry is f.program_cache[-1] and f.get_traced_count() == 1
    assert [s.shape for s in f.inputs] == [(1, 2)] and [s.shape for s in f.outputs] == [(1, 2)]
    assert {id(p) for p in f.concrete_program.parameters} == {id(p) for p in net.parameters()}
    assert "linear(" in str(f.main_program) and "def forward" in f.code
    assert list(f.function_spec.parameters) == ["x"] and f.dygraph_function.__name__ == "forward"
    f.eval()
    assert not net.fc.training
    f.train()
    assert net.fc.training
    to_static(double).eval()  # as in the reference, of a function nothing depends on it


def test_input_spec_gives_a_program_before_the_first_call():
    f = to_static(double, input_spec=[InputSpec([None, 3], "float32", "x")])
    assert f.inputs[0].shape == (-1, 3) == f.outputs[0].shape
    other = f.concrete_program_specify_input_spec([InputSpec([5], "int64")])
    assert other.inputs[0].shape == (5,)


def test_build_strategy_and_backend_are_accepted():
    with pytest.warns(UserWarning, match="build_strategy=.* has no effect|backend='CINN' has no effect"):
        f = to_static(double, build_strategy=object(), backend="CINN", property=False)
    assert f(tensor(1.0)).tolist() == [2.0]


def test_rollback_gives_the_layer_its_own_forward_back():
    net = to_static(Net())
    plain = net.forward.rollback()
    assert net.forward.__func__ is Net.forward and plain.__func__ is Net.forward
    assert to_static(double).rollback() is double


def test_class_level_decoration_serves_each_instance():
    @to_static
    class Scaled(nn.Layer):
        def __init__(self, k):
            super().__init__()
            self.k = k

        def forward(self, x):
            return x * self.k if x.sum() > 0 else x

    two, three = Scaled(2.0), Scaled(3.0)
    assert isinstance(two, nn.Layer) and two(ONES).sum().item() == 4.0 and three(ONES).sum().item() == 6.0
    assert two.forward.get_traced_count() == 1 and two.forward is not three.forward


def test_wrong_things_are_named():
    with pytest.raises(TypeError, match="to_static takes a function, a method or a Layer, got int"):
        to_static(3)
    with pytest.raises(TypeError, match="got the class dict"):
        to_static(dict)


def test_decorated_methods_share_parameters_with_the_layer():
    net = to_static(Net())
    assert net.score(ONES).item() == pytest.approx(net(ONES).sum().item(), rel=1e-5)
    net.fc.bias.set_value(np.full(2, 9.0, "float32"))
    assert net.score(ONES).item() == pytest.approx(net(ONES).sum().item(), rel=1e-5)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["deepcopy", "pickle"])
def test_copies_are_static_and_stand_alone(copied):
    net = to_static(Net())
    net(ONES)
    twin = copied(net)
    np.testing.assert_array_equal(twin(ONES).numpy(), net(ONES).numpy())
    twin.fc.weight.set_value(np.zeros((2, 2), "float32"))
    twin.fc.bias.set_value(np.zeros(2, "float32"))
    assert twin(ONES).sum().item() == 0.0 and net(ONES).abs().sum().item() > 0.0
    assert twin.forward.get_traced_count() == 1 and sorted(twin.state_dict()) == sorted(net.state_dict())


def test_static_functions_of_modules_are_pickled_by_what_they_hold():
    f = pickle.loads(pickle.dumps(to_static(double)))
    assert f(tensor(1.0)).tolist() == [2.0]
    assert copy.deepcopy(decorated)(tensor(1.0)).tolist() == [3.0]


def test_hooks_on_layers_run_in_order():
    seen = []
    net = to_static(Net())
    net.fc.register_forward_pre_hook(lambda layer, args: (seen.append("pre"), (args[0] * 2.0,))[1])
    net.fc.register_forward_post_hook(lambda layer, args, out: out + 1.0)
    twin = Net()
    twin.set_state_dict(net.state_dict())
    np.testing.assert_allclose(net(ONES).numpy(), twin(ONES * 2.0).numpy() + 1.0, rtol=1e-6)
    handle = net.fc.register_forward_post_hook(lambda layer, args, out: out * 10.0)
    np.testing.assert_allclose(net(ONES).numpy(), (twin(ONES * 2.0).numpy() + 1.0) * 10.0, rtol=1e-6)
    handle.remove()
    np.testing.assert_allclose(net(ONES).numpy(), twin(ONES * 2.0).numpy() + 1.0, rtol=1e-6)


def test_ignored_modules_are_called_as_they_are():
    import statistics

    f = to_static(lambda x: x * statistics.mean([1.0, 3.0]))
    ignore_module([statistics])
    assert f(tensor(1.0)).tolist() == [2.0]


def test_not_to_static_as_a_decorator_with_and_without_call():
    @not_to_static()
    def a(x):
        return x + 1.0

    @not_to_static
    def b(x):
        return x + 2.0

    assert to_static(lambda x: a(b(x)))(tensor(1.0)).tolist() == [4.0]


def test_switching_off_runs_as_written(capsys):
    def f(x):
        print("python")
        return x

    static = to_static(f)
    paddle.jit.enable_to_static(False)
    try:
        static(tensor(1.0))
        static(tensor(1.0))
    finally:
        paddle.jit.enable_to_static(True)
    assert capsys.readouterr().out == "python\npython\n" and static.get_traced_count() == 0


def test_code_and_programs_are_shown_when_asked_for(capsys):
    paddle.jit.set_code_level(100)
    paddle.jit.set_verbosity(1)
    try:
        to_static(double)(tensor(1.0))
    finally:
        paddle.jit.set_code_level(0)
        paddle.jit.set_verbosity(0)
    out = capsys.readouterr().out
    assert "def double(x)" in out and "traced `double` for float32[1]: first call" in out
    to_static(double)(tensor(1.0))
    assert capsys.readouterr().out == ""


def test_the_gradient_of_a_gradient_through_a_static_call():
    def cube(x):
        return x * x * x if x.sum() > 0 else -x

    f = to_static(cube)
    for function in (f, cube):
        x = tensor(2.0, stop_gradient=False)
        (first,) = paddle.grad([function(x)], [x], create_graph=True)
        (second,) = paddle.grad([first.sum()], [x], create_graph=True)
        assert (first.item(), second.item()) == (12.0, 12.0)


def test_gradients_of_every_order_through_a_staged_while():
    def grow(x):
        while x.sum() < 10:
            x = x * x + 1
        return x

    static, found = to_static(grow), []
    for function in (grow, static, static):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        y = function(x).sum()
        (first,) = paddle.grad([y], [x], create_graph=True)
        (second,) = paddle.grad([first.sum()], [x], create_graph=True)
        (third,) = paddle.grad([second.sum()], [x], create_graph=True)
        ((first * first).sum() + third.sum() + y).backward()
        found.append([g.tolist() for g in (first, second, third, x.grad)])
    assert found[0][1:3] == [[16.0, 52.0], [24.0, 48.0]] and found[1] == found[2] == found[0]


def test_a_gradient_penalty_trains_parameters_behind_a_static_layer():
    nets = [Net(), Net()]
    nets[1].set_state_dict(nets[0].state_dict())
    to_static(nets[0])
    for net in nets:
        x = paddle.ones([3, 2])
        x.stop_gradient = False
        (g,) = paddle.grad([net(x).tanh().sum()], [x], create_graph=True)
        ((g**2).sum() + net(x).mean()).backward()
    for a, b in zip(nets[0].parameters(), nets[1].parameters(), strict=True):
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-4)


def test_hooks_on_gradients_inside_a_static_function():
    w = tensor(2.0, stop_gradient=False)

    def step(x):
        y = w * x
        y.register_hook(lambda g: g * 10.0)
        (y * 3.0).sum().backward()

    for run in (to_static(step), step):
        run(tensor(5.0))
        assert w.grad.tolist() == [150.0]
        w.clear_gradient(False)


def test_a_run_that_waits_for_a_trace_without_end_says_so(monkeypatch):
    import threading

    from paddle_lite_py.tracing import executor
    from paddle_lite_py.tracing.trace import LOCK

    total = paddle.zeros([1])
    f = to_static(lambda x: total.add_(x))
    f(tensor(1.0))
    f(tensor(1.0))
    monkeypatch.setattr(executor, "PATIENCE", 0.05)
    held, done = threading.Event(), threading.Event()

    def hold():
        with LOCK:
            held.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    try:
        with pytest.raises(RuntimeError, match=r"has waited 0.05 s for another thread to end its trace"):
            f._last.run([tensor(1.0)])
    finally:
        done.set()
        thread.join()
    f(tensor(1.0))
    assert total.tolist() == [3.0]


def test_more_specs_than_arguments_and_things_that_are_no_function():
    f = to_static(lambda x: x, input_spec=[InputSpec([1]), InputSpec([1])])
    with pytest.raises(ValueError, match=r"input_spec declares 2 tensors, the call has 1 \(x\)"):
        f(tensor(1.0))
    with pytest.raises(TypeError, match="jit.save takes a Layer or a function, got int"):
        paddle.jit.save(3, "never-written")


def test_the_static_methods_of_an_object_go_with_it():
    class Counted:
        def __init__(self):
            self.scale = 2.0

        @to_static
        def run(self, x):
            return x * self.scale

    first, gone = Counted(), []
    assert first.run is first.run and first.run(tensor(3.0)).tolist() == [6.0]
    second, third = copy.copy(first), copy.deepcopy(first)
    second.scale, third.scale = 3.0, 4.0
    assert [c.run(tensor(3.0)).tolist() for c in (first, second, third)] == [[6.0], [9.0], [12.0]]
    weakref.finalize(first, gone.append, 1)
    del first
    gc.collect()
    assert gone and second.run.get_traced_count() == 1
