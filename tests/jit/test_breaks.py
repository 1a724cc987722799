"""What cannot be staged runs as Python between compiled parts; with full_graph=True it is an error that explains it."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from paddle_lite_py.jit import StaticFunction, to_static

import paddle_lite_py as paddle
from dy2static import ConversionError
from dy2static.split import split
from paddle_lite_py import nn
from paddle_lite_py.core.errors import TracedValueError
from paddle_lite_py.tracing.executor import Executable


def tensor(*data, **kwargs):
    return paddle.to_tensor(list(data), **kwargs)


@pytest.fixture
def compiled_calls(monkeypatch):
    """The names of the programs that run, as they run."""
    names = []
    for method in ("run", "run_with_grad"):
        plain = getattr(Executable, method)

        def run(self, args, plain=plain):
            names.append(self.name)
            return plain(self, args)

        monkeypatch.setattr(Executable, method, run)
    return names


broken = to_static


def through_numpy(x):
    y = x * 2.0 + 1.0
    order = np.argsort(y.numpy())
    z = y[paddle.to_tensor(order)]
    return z.cumsum()


def test_parts_before_and_after_are_compiled(compiled_calls):
    f = broken(through_numpy)
    x = tensor(3.0, 1.0, 2.0)
    with pytest.warns(UserWarning, match=r"`through_numpy` cannot be staged.*test_breaks.py:\d+ runs as Python"):
        first = f(x)
    assert first.tolist() == through_numpy(x).tolist()
    compiled_calls.clear()
    assert f(tensor(1.0, 5.0, 3.0)).tolist() == [3.0, 10.0, 21.0]
    assert compiled_calls == ["through_numpy"] * 2


def test_one_warning_names_the_statement(recwarn):
    f = broken(through_numpy)
    for _ in range(3):
        f(tensor(3.0, 1.0, 2.0))
    assert len(recwarn) == 1 and "numpy()" in str(recwarn[0].message)


def test_full_graph_is_an_error_that_names_line_and_fix():
    with pytest.raises(TracedValueError, match=r"numpy\(\) at test_breaks.py:\d+ needs the value of.*move this"):
        to_static(through_numpy, full_graph=True)(tensor(1.0))


@pytest.mark.filterwarnings("ignore:.*cannot be staged")
def test_effects_happen_in_order_and_each_time(capfd):
    seen = []

    def f(x):
        print("before", x.sum())
        y = x + 1.0
        seen.append(float(y.numpy().sum()))
        print("after", y.sum())
        return y

    static = broken(f)
    outputs = []
    for run in (static, f):
        seen.clear()
        for v in (1.0, 2.0):
            run(tensor(v))
        outputs.append((list(seen), capfd.readouterr().out))
    assert outputs[0] == outputs[1]


@pytest.mark.filterwarnings("ignore:.*cannot be staged")
def test_gradients_flow_through_all_parts():
    w = tensor(2.0, stop_gradient=False)

    def f(x):
        y = w * x
        scale = float(y.numpy().max())
        z = y * scale
        return (z * z).sum()

    grads = []
    for run in (broken(f), f):
        for v in (3.0, 4.0):
            run(tensor(v)).backward()
        grads.append(w.grad.item())
        w.clear_gradient(False)
    assert grads[0] == grads[1]


@pytest.mark.filterwarnings("ignore:.*cannot be staged")
def test_whole_training_steps_in_parts():
    losses = []
    for static in (True, False):
        paddle.seed(0)
        net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1D(3), nn.Linear(3, 1))
        opt = paddle.optimizer.Momentum(0.1, parameters=net.parameters())
        history = []

        def step(x, net=net, opt=opt, history=history):
            loss = (net(x) ** 2).mean()
            history.append(loss.item())
            loss.backward()
            opt.step()
            opt.clear_grad()
            return loss

        run = broken(step) if static else step
        for i in range(4):
            run(paddle.to_tensor(np.random.RandomState(i).randn(4, 2).astype("float32")))
        losses.append(history)
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)


class Inner(nn.Layer):
    def forward(self, x):
        y = x * 2.0
        k = int(y.numpy().sum() > 0)
        return y + k


class Outer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.inner, self.b = nn.Linear(2, 2), Inner(), nn.Linear(2, 2)

    def forward(self, x, flag=True):
        x = self.a(x)
        if flag:
            x = self.inner(x)
        return self.b(x)


@pytest.mark.filterwarnings("ignore:.*cannot be staged")
def test_a_break_in_a_sublayer_splits_that_too(compiled_calls):
    net, twin = Outer(), Outer()
    twin.set_state_dict(net.state_dict())
    static = broken(net)
    x = paddle.ones([1, 2])
    for _ in range(2):
        np.testing.assert_allclose(static(x).numpy(), twin(x).numpy(), rtol=1e-5)
    compiled_calls.clear()
    static(x)
    assert compiled_calls == ["forward"] * 4  # before, in the sublayer before and after, after
    np.testing.assert_allclose(static(x, flag=False).numpy(), twin(x, flag=False).numpy(), rtol=1e-5)


def early(x, limit=10.0):
    if x.numpy().sum() > limit:
        return "large"
    total = 0.0
    for v in x:
        total = total + v
    if float(total.numpy()) < 0:
        return {"negative": total}
    names = [f"v{i}" for i in range(2)]
    return total * 2.0, names


def conditional(x, keep):
    if keep:
        extra = x * 3.0
    size = len(str(x.numpy()))
    y = x + 0.0 * size
    if keep:
        y = y + extra
    return y


class Plain:
    count = 0

    def method(self, x, *rest, scale=2.0, **more):
        y = x * scale
        self.count += int(y.numpy()[0])
        for r in rest:
            y = y + r
        return y + more.get("bias", 0.0) + self.count


@pytest.mark.filterwarnings("ignore:.*cannot be staged")
@pytest.mark.parametrize(
    ("f", "calls"),
    [
        (early, [(tensor(1.0, 2.0),), (tensor(20.0),), (tensor(-4.0, 1.0),), (tensor(1.0), 0.5)]),
        (conditional, [(ONE := tensor(1.0), True), (ONE, False), (ONE, True)]),
    ],
)
def test_returns_and_names_mean_what_they_mean_to_python(f, calls):
    static = broken(f)
    for args in calls:
        assert str(static(*args)) == str(f(*args))


def collecting(x, outs, table):
    outs.append(x * 2.0)
    table["first"] = [x + 1.0]
    n = float(x.numpy().sum())
    outs.append(x * n)
    table["first"].append(outs[0] + n)
    return outs


@pytest.mark.filterwarnings("ignore:.*cannot be staged")
def test_containers_keep_their_identity_and_get_what_is_put_into_them():
    static = broken(collecting)
    for v in (3.0, 4.0):
        results = []
        for run in (static, collecting):
            outs, table = [tensor(0.0)], {"first": []}
            assert run(tensor(v), outs, table) is outs
            results.append(str((outs, table)))
        assert results[0] == results[1]


@pytest.mark.filterwarnings("ignore:.*cannot be staged")
def test_methods_with_all_kinds_of_arguments():
    a, b = Plain(), Plain()
    static = broken(a.method)
    for kwargs in ({}, {"scale": 3.0}, {"bias": 0.5}):
        got = static(tensor(1.0), tensor(2.0), **kwargs)
        assert got.tolist() == b.method(tensor(1.0), tensor(2.0), **kwargs).tolist()
    assert a.count == b.count


def test_what_cannot_be_taken_apart_runs_as_it_is():
    f = lambda x: x * float(x.numpy().sum())  # noqa: E731
    with pytest.warns(UserWarning, match="it runs as plain Python as a whole"):
        assert broken(f)(tensor(2.0)).tolist() == [4.0]


def test_errors_of_the_user_stay_errors():
    def f(x):
        y = x + 1.0
        return y.reshape([7])

    static = broken(f)
    with pytest.raises(ValueError, match="reshape"):  # and no warning that it cannot be staged
        static(tensor(1.0))


def test_backward_from_outside_is_not_cut_off():
    w = tensor(2.0, stop_gradient=False)

    def run_backward(loss):
        loss.backward()

    with pytest.raises(TypeError, match=r"backward\(\) at test_breaks.py:\d+ reaches argument `loss`, which was"):
        to_static(run_backward, full_graph=True)((w * w).sum())
    with pytest.warns(UserWarning, match="cannot be staged"):
        broken(run_backward)((w * w).sum())
    assert w.grad.tolist() == [4.0]
    leaf = tensor(3.0, stop_gradient=False)
    to_static(lambda x: (x * x).sum().backward())(leaf)
    assert leaf.grad.tolist() == [6.0]


def test_what_can_be_staged_is_one_program(compiled_calls):
    f = broken(lambda x: x * 2.0 if x.sum() > 0 else -x)
    assert isinstance(f, StaticFunction) and f(tensor(-1.0)).tolist() == [1.0]
    assert compiled_calls.count("<lambda>") == 1


def test_print_of_text_happens_in_each_run(capfd):
    def f(x):
        print("start", x.shape)
        for i in range(2):
            print("round", i, x.sum())
        print("end")
        return x

    outputs = []
    for run in (to_static(f), f):
        for _ in range(2):
            run(tensor(1.0, 2.0))
        outputs.append(capfd.readouterr().out)
    assert outputs[0] == outputs[1]


def test_a_decorated_function_is_taken_apart_by_its_own_parameters():
    def doubled(f):
        @functools.wraps(f)
        def inner(*args, **kwargs):
            print(float(args[0].numpy().sum()))
            return f(*args, **kwargs) * 2

        return inner

    def f(x, *, by=1.0):
        return sum((a - b).sum() for a, b in zip(x, x[::-1] * by, strict=True)) + x.numpy().sum()

    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    for decorate in (doubled, paddle.no_grad()):
        with pytest.warns(UserWarning, match="cannot be staged as a whole"):
            assert to_static(decorate(f))(x, by=3.0).item() == decorate(f)(x, by=3.0).item()


def test_a_method_that_a_decorator_wraps_runs_in_parts():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.scale = 3.0

        @paddle.no_grad()
        def forward(self, x, n=2):
            y = x * self.scale
            return y * float(np.linalg.norm(y.numpy())) * n

    net, x = Net(), paddle.to_tensor([3.0, 4.0])
    expected = net.forward(x).tolist()
    static = to_static(net.forward)
    with pytest.warns(UserWarning, match="cannot be staged as a whole"):
        assert static(x).tolist() == pytest.approx(expected)
    assert static(x, n=1).tolist() == pytest.approx([v / 2 for v in expected])


def test_a_break_that_came_through_no_statement_of_the_function():
    with pytest.raises(ConversionError, match=r"it is not known which statement of .*through_numpy.* it is"):
        split(through_numpy, [])
    with pytest.raises(ConversionError, match=r"no statement of .*through_numpy.* is at line 1, 2"):
        split(through_numpy, [1, 2])
