"""Ops that wait: whatever a program does between them, it gives what it gives where each op runs at once."""

from __future__ import annotations

import contextlib
import copy
import gc
import pickle
import threading

import jax
import numpy as np
import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle
import paddle_lite_py.nn.functional as F
from paddle_lite_py import nn
from paddle_lite_py.core.interpreter import state
from paddle_lite_py.core.switches import deferral
from paddle_lite_py.eager import lazy_op, lazy_program, recurring
from paddle_lite_py.eager.deferred import Deferred
from paddle_lite_py.eager.execute import EAGER

SCENARIOS = {}


def scenario(fn):
    """Put a function into the table of programs; each gives a list of tensors, arrays and numbers."""
    SCENARIOS[fn.__name__] = fn
    return fn


@pytest.fixture(autouse=True)
def all_on_xla(monkeypatch):
    """Small arrays are XLA's too, so that ops on them wait."""
    paddle.set_flags({"FLAGS_host_tier": False})
    recurring._lone.clear()
    lazy_program._programs.clear()
    state.interpreter = EAGER


@pytest.fixture
def runs(monkeypatch):
    """The programs that are run, in order."""
    seen = []
    run = lazy_program.LazyProgram.run

    def counted(self, outside):
        seen.append(self)
        return run(self, outside)

    monkeypatch.setattr(lazy_program.LazyProgram, "run", counted)
    return seen


def batch(*shape: int, seed: int = 0):
    return paddle.to_tensor(np.random.RandomState(seed).randn(*shape).astype("float32"))


def net():
    return nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1D(8), nn.ReLU(), nn.Linear(8, 4))


def parameter(*shape: int, seed: int = 1):
    p = batch(*shape, seed=seed)
    p.stop_gradient = False
    return p


def labels():
    return paddle.to_tensor(np.array([0, 1, 2, 3]))


def trained(model, opt, steps: int = 3, look=lambda i, loss: None):
    """Losses and state after some steps of a loop."""
    losses = []
    for i in range(steps):
        loss = F.cross_entropy(model(batch(4, 6, seed=i)), labels())
        look(i, loss)
        loss.backward()
        opt.step()
        opt.clear_grad()
        losses.append(loss)
    return [*losses, *model.state_dict().values()]


def adam(model, **kwargs):
    return paddle.optimizer.Adam(0.02, epsilon=1e-2, parameters=model.parameters(), **kwargs)


# -- training --------------------------------------------------------------------------------------------------------
@scenario
def a_loop():
    model = net()
    return trained(model, adam(model))


@scenario
def a_loop_that_looks_at_the_loss_before():
    model = net()
    return trained(model, adam(model), look=lambda i, loss: float(loss))


@scenario
def a_loop_that_looks_every_other_time():
    model = net()
    return trained(model, adam(model), look=lambda i, loss: i % 2 and float(loss))


@scenario
def looks_between_backward_and_step():
    model, seen = net(), []
    opt = adam(model)
    for i in range(2):
        loss = model(batch(4, 6, seed=i)).square().mean()
        loss.backward()
        seen.append(float(loss))
        seen.append(model[0].weight.grad.numpy())
        opt.step()
        seen.append(model[0].weight.numpy())
        opt.clear_grad()
    return [*seen, *model.state_dict().values()]


def with_gradients(clear):
    """Weights and gradients after some steps; `clear` is called with the optimizer before each backward()."""
    model = net()
    opt = adam(model)
    for i in range(3):
        loss = model(batch(4, 6, seed=i)).square().mean()
        clear(opt)
        loss.backward()
        opt.step()
    return [*model.state_dict().values(), *[p.grad for p in model.parameters()]]


@scenario
def never_clears_gradients():
    return with_gradients(lambda opt: None)


@scenario
def clears_before_backward():
    return with_gradients(lambda opt: opt.clear_grad())


@scenario
def gradients_add_up_over_batches():
    model = net()
    opt = adam(model)
    held = []
    for i in range(4):
        model(batch(4, 6, seed=i)).square().mean().backward()
        held.append(model[0].weight.grad)
        if i % 2:
            opt.step()
            opt.clear_grad()
    return [*model.state_dict().values(), *held]


@scenario
def clips_and_decays():
    model = net()
    opt = adam(model, grad_clip=nn.ClipGradByGlobalNorm(0.1), weight_decay=0.01)
    return trained(model, opt)


@scenario
def a_clip_of_the_users_own():
    class Half(nn.ClipGradByNorm):
        def key(self):
            return None

        def __call__(self, pairs):
            return [(p, g * 0.5) for p, g in pairs]

    model = net()
    return trained(model, adam(model, grad_clip=Half(1.0)))


@scenario
def two_groups_and_a_schedule():
    model = net()
    rate = paddle.optimizer.lr.StepDecay(0.1, 1, 0.5)
    groups = [{"params": model[0].parameters()}, {"params": model[3].parameters(), "learning_rate": 0.1}]
    opt = paddle.optimizer.Momentum(rate, parameters=groups)
    out = []
    for _i in range(3):
        out += trained(model, opt, 1)
        rate.step()
    return out


@scenario
def comparisons_of_booleans():
    x = parameter(6, 1).tanh()
    small, large = x < 0.5, x > -0.5
    found = [small & large, small | large, small ^ large, small == large, small != large, small >= large]
    alike = [paddle.equal_all(small, large), paddle.allclose(small, large), paddle.isfinite(small), small.shape]
    return [*found, *map(np.asarray, alike), paddle.isclose(small, large), paddle.shape(small), paddle.numel(small), x]


@scenario
def a_parameter_without_gradient():
    model = net()
    unused = nn.Linear(2, 2)
    opt = paddle.optimizer.Adam(0.1, parameters=[*model.parameters(), *unused.parameters()])
    return [*trained(model, opt), *unused.parameters()]


@scenario
def an_optimizer_of_part_of_the_net():
    model = net()
    opt = paddle.optimizer.SGD(0.1, parameters=model[3].parameters())
    return [*trained(model, opt), *[p.grad for p in model[0].parameters()]]


@scenario
def two_nets_against_each_other():
    return against_each_other(nn.Linear(3, 6), net())


@scenario
def two_static_nets_against_each_other():
    return against_each_other(to_static(nn.Linear(3, 6)), to_static(net()))


def against_each_other(maker, judge):
    a, b = adam(maker), adam(judge)
    out = []
    for i in range(3):
        made = maker(batch(4, 3, seed=i))
        loss = judge(batch(4, 6, seed=i)).mean() - judge(made.detach()).mean()
        loss.backward()
        b.step()
        b.clear_grad()
        other, cheating = judge(made).mean(), judge(made).square().mean()
        (other + cheating).backward()
        a.step()
        a.clear_grad()
        b.clear_grad()
        out += [loss, other, cheating]
    return [*out, *maker.parameters(), *judge.state_dict().values()]


@scenario
def an_average_of_the_weights():
    model, kept = net(), None
    opt = adam(model)
    for _i in range(3):
        trained(model, opt, 1)
        with paddle.no_grad():
            now = [p.clone() for p in model.parameters()]
            kept = now if kept is None else [a * 0.5 + b * 0.5 for a, b in zip(kept, now, strict=True)]
    return kept


@scenario
def mixed_precision():
    model = net()
    opt, scaler = adam(model), paddle.amp.GradScaler(init_loss_scaling=8.0)
    for i in range(2):
        x = batch(4, 6, seed=i) * 1.0
        with paddle.amp.auto_cast(dtype="bfloat16"):
            loss = model(x).square().mean()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        opt.clear_grad()
    return [p.round(decimals=1) for p in model.parameters()]


@scenario
def dropout_draws_the_same():
    model = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 4))
    out = trained(model, adam(model))
    return [*out, paddle.rand([3])]


@scenario
def a_recurrent_layer():
    model = nn.LSTM(3, 4)
    opt = adam(model)
    for i in range(2):
        out, _ = model(batch(2, 5, 3, seed=i))
        loss = out.square().mean()
        if i:
            float(loss)
        loss.backward()
        opt.step()
        opt.clear_grad()
    return model.parameters()


# -- graphs ----------------------------------------------------------------------------------------------------------
@scenario
def hooks_of_all_kinds():
    w, seen = parameter(4, 4), []
    w.register_hook(lambda g: g * 2)
    x = w * 3
    x.register_hook(lambda g: seen.append(g.numpy()) or g + 1)
    x.retain_grads()
    (x * x).sum().backward()
    return [w.grad, x.grad, *seen]


@scenario
def a_layer_of_the_users_own_gradient():
    class Twice(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensor()
            return g * 2 + x

    w = parameter(4, 4)
    (Twice.apply(w * 3) * w).sum().backward()
    return [w.grad]


@scenario
def a_retained_graph():
    w = parameter(4, 4)
    y = F.layer_norm(w * 3, [4])
    loss = (y * y * w).sum()
    loss.backward(retain_graph=True)
    first = w.grad.numpy()
    loss.backward()
    return [first, w.grad]


@scenario
def two_losses_of_one_trunk():
    w = parameter(4, 4)
    trunk = F.layer_norm(w * 3, [4])
    a, b = trunk.exp().sum(), (trunk * w).sum()
    a.backward(retain_graph=True)
    b.backward()
    return [w.grad, a, b]


@scenario
def backward_of_two_tensors_and_with_a_gradient():
    w = parameter(4, 4)
    a, b = w * 2, w.exp()
    paddle.autograd.backward([a, b], [batch(4, 4), None])
    (w * w).backward(batch(4, 4, seed=5))
    return [w.grad]


@scenario
def gradients_of_gradients():
    w = parameter(4, 4)
    y = (w.tanh() * w).sum()
    (g,) = paddle.grad(y, [w], create_graph=True)
    (g * g).sum().backward()
    return [g, w.grad, *paddle.grad((w * w).sum(), [w])]


@scenario
def several_results_of_an_op():
    w = parameter(4, 6)
    a, b, c = paddle.split(w * 2, 3, axis=1)
    values, at = paddle.topk(a * b, 1)
    (values.sum() + c.square().sum()).backward()
    return [w.grad, values, at]


@scenario
def complex_numbers():
    w = parameter(4, 4)
    z = paddle.complex(w, w * 2)
    (z * z.conj() * (1 + 2j)).abs().sum().backward()
    return [w.grad]


@scenario
def packed_for_backward():
    w = parameter(4, 4)
    y = w * 3
    with paddle.autograd.saved_tensors_hooks(lambda t: t.numpy(), paddle.to_tensor):
        z = y * y
    z.sum().backward()
    return [w.grad]


@scenario
def a_static_function_in_the_middle():
    inner = nn.Linear(8, 8)
    static = paddle.jit.to_static(inner)
    w = parameter(4, 8)
    y = F.relu(static(w * 2)) * 3
    y.sum().backward()
    return [w.grad, inner.weight.grad]


@scenario
def captured_by_a_static_function():
    w = parameter(4, 4)
    y = w * 2

    @paddle.jit.to_static
    def f(x):
        return x + y

    return [f(w), f(y)]


# -- changes in place ------------------------------------------------------------------------------------------------
@scenario
def changed_in_place():
    w = parameter(4, 4)
    x = w * 2
    x.add_(w)
    x[1] = 0.0
    x[2] = w[3] * 2
    x.sum().backward()
    return [w.grad, x]


@scenario
def written_through_views():
    w = parameter(4, 4)
    x = w * 2
    row, flat = x[0], x.reshape([-1])
    with paddle.no_grad():
        row.zero_()
        flat[5] = 7.0
    rows = x.unbind(0)
    (x.exp() + rows[1]).sum().backward()
    return [w.grad, x, row, flat, *rows]


@scenario
def detached_and_changed():
    w = parameter(4, 4)
    x = w * 2
    d = x.detach()
    d[0] = 5.0
    x.square().sum().backward()
    return [w.grad, x, d, x.clone(), copy.deepcopy(x.detach()), copy.copy(d)]


@scenario
def a_parameter_is_set_before_the_step():
    model = nn.Linear(4, 4)
    opt = adam(model)
    model(batch(4, 4)).sum().backward()
    model.bias.set_value(np.ones(4, "float32"))
    opt.step()
    return [*model.parameters()]


@scenario
def old_weights_stay():
    model = nn.Linear(4, 4)
    opt = adam(model)
    out = []
    for i in range(3):
        held = model.weight.detach()
        seen, kept = model.weight.numpy(), model.weight * 1
        model(batch(4, 4, seed=i)).sum().backward()
        opt.step()
        opt.clear_grad()
        out += [seen, kept, held, model.weight]
    return out


@scenario
def statistics_are_read_while_they_wait():
    model = net()
    y = model(batch(4, 6))
    first = model[1]._mean.numpy()
    model(batch(4, 6, seed=1))
    model.eval()
    return [first, y, model[1]._mean, model(batch(4, 6, seed=2))]


# -- looks -----------------------------------------------------------------------------------------------------------
@scenario
def python_decides():
    w = parameter(4, 4)
    x = w * 2
    for _ in range(3):
        x = x.exp() if x.mean() < 1 else x / 3
    x.sum().backward()
    return [w.grad, x]


@scenario
def data_decide_the_shape():
    w = parameter(4, 4)
    x = w * 2
    chosen = x[x > 0]
    chosen.square().sum().backward()
    return [w.grad, chosen, paddle.nonzero(x)]


@scenario
def metrics_without_gradient():
    w, right = parameter(4, 4), 0.0
    for i in range(3):
        y = batch(4, 4, seed=i) @ w
        right = right + (y.argmax(1) == labels()).astype("float32").mean()
    return [right]


@scenario
def a_loop_by_hand():
    w = parameter(4, 4)
    h = batch(4, 4)
    for _ in range(5):
        h = (h @ w).tanh()
    h.sum().backward()
    return [w.grad, h]


@scenario
def pickled():
    w = parameter(4, 4)
    x = w * 2
    return [pickle.loads(pickle.dumps(x)), x]


@scenario
def read_in_another_thread():
    w, seen = parameter(4, 4), []
    x = w * 2
    y = x.exp()
    other = threading.Thread(target=lambda: seen.append(x.numpy()))
    other.start()
    other.join()
    (y * x).sum().backward()
    return [*seen, w.grad]


@scenario
def numbers_change():
    w, out = parameter(4, 4), []
    for i in range(4):
        w.clear_grad()
        (w * (i + 0.5) + i).square().sum().backward()
        out.append(w.grad.numpy())
    return out


@scenario
def a_static_layer():
    model = to_static(net())
    found = trained(model, adam(model), 4)
    model.eval()
    return [*found, model(batch(4, 6, seed=9)), model[1]._mean, model[1]._variance]


@scenario
def a_static_layer_that_is_looked_at():
    model, found = to_static(net()), []
    opt = adam(model)
    for i in range(3):
        out = model(batch(4, 6, seed=i))
        found += [out.numpy(), model[1]._mean.numpy()]
        F.cross_entropy(out, labels()).backward()
        found.append(model[0].weight.grad.numpy())
        opt.step()
        opt.clear_grad()
    return [*found, model[0].weight]


@scenario
def a_static_layer_called_twice():
    model = to_static(net())
    opt = adam(model)
    for i in range(3):
        (model(batch(4, 6, seed=i)) - model(batch(4, 6, seed=i + 7))).square().mean().backward()
        opt.step()
        opt.clear_grad()
    return [*model.parameters(), model[1]._mean]


@scenario
def a_static_layer_with_dropout():
    model, found = to_static(nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 4))), []
    opt = adam(model)
    for seed in (5, 6, 5):
        paddle.seed(seed)
        trained(model, opt, 2)
        found += [paddle.rand([3]), model(batch(4, 6))]
    return [*found, *model.parameters()]


@scenario
def a_static_function_of_what_waits():
    w = parameter(4, 4)

    @to_static
    def both(x, y):
        return {"sum": (x @ y).tanh(), "count": (x > 0).sum(), "same": x}

    found = []
    for i in range(3):
        made = both(w * (i + 1.0), w.exp())
        (made["sum"].sum() + made["same"].mean()).backward()
        found += [w.grad.numpy(), made["count"]]
        w.clear_grad()
    return found


@scenario
def gradients_of_gradients_of_a_static_layer():
    model = to_static(nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1)))
    x = parameter(4, 6)
    (grad,) = paddle.grad(model(x).sum(), x, create_graph=True)
    (grad.square().sum() + model(x).mean()).backward()
    return [grad, x.grad, *[p.grad for p in model.parameters() if p.grad is not None]]


@scenario
def a_static_layer_with_hooks_and_clipping():
    model, seen = to_static(net()), []
    model[0].weight.register_hook(lambda g: g * 2)
    opt = paddle.optimizer.Momentum(0.1, 0.9, model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.5))
    for i in range(3):
        out = model(batch(4, 6, seed=i))
        out.register_hook(lambda g: seen.append(g.sum()))
        F.cross_entropy(out, labels()).backward()
        opt.step()
        opt.clear_grad()
    return [*seen, *model.parameters()]


@scenario
def a_static_layer_that_is_frozen_later():
    model = to_static(net())
    opt = adam(model)
    found = trained(model, opt, 2)
    model[0].weight.stop_gradient = True
    found += trained(model, opt, 2)
    with paddle.no_grad():
        found.append(model(batch(4, 6)))
    return found


@scenario
def weights_that_are_loaded_between_steps():
    model = to_static(net())
    opt = adam(model)
    saved = {k: v.numpy() for k, v in model.state_dict().items()}
    found = trained(model, opt, 2)
    model.set_state_dict(saved)
    return [*found, *trained(model, opt, 2), *model.parameters(), model[1]._mean]


@scenario
def what_waits_is_written_in_a_static_function():
    w = parameter(4, 4)
    kept, failed = (w * 2).detach(), (w * 3).detach()

    @to_static
    def write(x, where, stop):
        where.set_value(x)
        if stop:
            raise KeyError("stop")
        return x + 1

    out = write(batch(4, 4), kept, False)
    with pytest.raises(KeyError):
        write(batch(4, 4), failed, True)
    return [out, kept, failed, w]


@scenario
def state_that_waits_is_written_in_a_static_function():
    class Holder(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("state", paddle.zeros([4, 4]))
            self.fails = False

        @to_static
        def forward(self, x):
            self.state.set_value(x * 2)
            if self.fails:
                raise KeyError("stop")
            return x.sum()

    w, layer, found = parameter(4, 4), Holder(), []
    for i in range(3):
        layer.state.set_value((w * (i + 1.0)).detach())
        layer.fails = i == 1
        try:
            found.append(layer(batch(4, 4)))
        except KeyError:
            pass
        found.append(layer.state.numpy())
    return found


@scenario
def filled_with_other_numbers():
    x = parameter(4, 4).mean(1)
    with paddle.no_grad():
        return [paddle.full_like(x, 1.0), paddle.full_like(x, 0.0), x.clone().fill_(9.0), x.clone().fill_(7.0)]


@scenario
def as_many_results_as_rows():
    found = []
    for n in (2, 3, 1, 4):
        w = parameter(n, 3)
        sum((i + 1.0) * row.sum() for i, row in enumerate(paddle.unbind(w * 2))).backward()
        found.append(w.grad)
    return found


@scenario
def numbers_of_other_kinds():
    w = parameter(4, 4)
    counted = [((w * n) > 0).astype("int64").sum(0) * n for n in (1, 1, 1.0, True, 2, 2.0)]
    return [*counted, *[str(c.dtype) == "paddle.float32" for c in counted]]


@scenario
def slices_that_move():
    w, found = parameter(8, 6), []
    for i in (1, 1, 2, 3, 1):
        (w[i:4, -i:] * w[:i].sum() * i).sum().backward()
        found += [w.grad.numpy(), w[i - 1] * 2]
        w.clear_grad()
    return found


def _arrays(found):
    return [np.asarray(f.numpy() if isinstance(f, paddle.Tensor) else f) for f in found if f is not None]


@pytest.mark.parametrize("name", SCENARIOS)
def test_waiting_changes_nothing(name, runs):
    def run(waits):
        deferral.set(waits)
        paddle.seed(3)
        return _arrays(SCENARIOS[name]())

    expected = run(False)
    assert not runs
    for _ in range(2):  # compiled, and known
        for a, b in zip(run(True), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    assert runs


@pytest.mark.parametrize(
    "name", ["a_loop", "hooks_of_all_kinds", "a_retained_graph", "old_weights_stay", "a_recurrent_layer"]
)
def test_op_by_op_where_nothing_comes_again(name, runs, monkeypatch):
    deferral.set(False)
    paddle.seed(3)
    expected = _arrays(SCENARIOS[name]())
    deferral.set(True)
    monkeypatch.setattr(lazy_program.LazyProgram, "should_compile", lambda self, arrays: False)
    paddle.seed(3)
    for a, b in zip(_arrays(SCENARIOS[name]()), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)
    assert not runs


def test_a_training_step_is_one_program(runs):
    model = net()
    opt = adam(model)
    trained(model, opt, 4)
    assert len(runs) == 4
    assert len(set(runs[1:])) == 1
    assert runs[-1].traces == 1


def test_bounds_of_slices_are_part_of_the_program(runs):
    w = parameter(8, 6)
    for i in (1, 1, 2, 3, 4, 1):
        (w[i : i + 3] * 2).sum().backward()
        expected = np.zeros((8, 6))
        expected[i : i + 3] = 2
        np.testing.assert_array_equal(w.grad.numpy(), expected)
        w.clear_grad()
    (program,) = set(runs)
    assert program.traces == 2  # with the first bounds, and for any


def test_a_step_with_a_static_layer_is_one_program(runs):
    model = to_static(net())
    trained(model, adam(model), 5)
    assert len(runs) == 5
    assert len(set(runs[2:])) == 1
    assert runs[-1].traces == 1


@pytest.mark.parametrize(("turns", "programs"), [(130, [1, 1, 1, 1]), (1, [])])
def test_a_large_program_that_is_called_again_and_again_is_not_compiled_as_often(turns, programs, runs):
    @to_static
    def deep(x):
        for _ in range(turns):
            x = (x * 2).tanh()
        return x

    w = parameter(4, 4)
    for _ in range(3):  # the function itself, its program, and that again
        deep(w).numpy()
    runs.clear()
    kept = [deep(w) for _ in range(5)]
    assert [len(program._steps) for program in runs] == programs
    np.testing.assert_array_equal(kept[0].numpy(), kept[4].numpy())


def test_nothing_is_computed_before_somebody_looks(runs):
    w = parameter(4, 4)
    y = (w * 2).exp()
    assert (y.shape, y.dtype, y.ndim, y.stop_gradient) == ([4, 4], paddle.float32, 2, False)
    assert not runs
    y.numpy()
    assert len(runs) == 1


def test_shapes_are_known_before_anything_is_computed(runs):
    x = parameter(4, 6) * 2
    assert paddle.shape(x).tolist() == [4, 6]
    assert (int(paddle.numel(x)), int(paddle.rank(x)), len(x), x.size) == (24, 2, 4, 24)
    assert F.interpolate(x.reshape([1, 1, 4, 6]), paddle.shape(x)).shape == [1, 1, 4, 6]
    assert not runs


def test_waiting_for_the_device_is_a_look(runs):
    y = parameter(4, 4) * 2
    paddle.device.synchronize()
    assert len(runs) == 1
    assert "_payload" not in vars(y)  # it is there, and nobody has asked for it
    y.numpy()
    assert len(runs) == 1


def test_what_nobody_asks_for_is_not_computed(runs):
    w = parameter(4, 4)
    (w * 2).exp()
    (w * 2).exp()
    gc.collect()
    state.interpreter.flush()
    assert not runs


def test_an_error_comes_from_the_op_that_has_it():
    w = parameter(4, 4)
    x = w * 2
    with pytest.raises(ValueError, match="do not broadcast"):
        x + batch(3, 5)
    with pytest.raises(ValueError, match="holds 9"):
        F.embedding(paddle.to_tensor([9]), x)
    (x * x).sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), 8 * w.numpy(), rtol=1e-6)


def test_after_an_error_the_next_step_is_the_usual_one(runs):
    model = net()
    opt = adam(model)
    trained(model, opt, 2)
    with pytest.raises(ValueError):
        model(batch(4, 6)) + batch(3, 3)
    assert float(model[1]._mean.sum()) != 0  # what waited is computed
    trained(model, opt, 2)
    assert runs[-1] is runs[1]


def test_an_interrupt_loses_nothing(monkeypatch):
    w = parameter(4, 4)
    y = (w * 2).exp()
    run = lazy_program.LazyProgram.run

    def interrupted(self, outside):
        monkeypatch.setattr(lazy_program.LazyProgram, "run", run)
        raise KeyboardInterrupt

    monkeypatch.setattr(lazy_program.LazyProgram, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        y.numpy()
    np.testing.assert_allclose(y.numpy(), np.exp(2 * w.numpy()), rtol=1e-6)
    y.sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), 2 * y.numpy(), rtol=1e-6)


def test_a_freed_graph_says_so():
    w = parameter(4, 4)
    loss = (w * w).sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="retain_graph"):
        loss.backward()


def test_a_long_loop_is_computed_in_parts(runs):
    w = parameter(4, 4)
    x, kept = w, []
    for _ in range(1100):
        x = x * 0.999
        kept.append(x)
    assert len(runs) == 1
    np.testing.assert_allclose(x.numpy(), w.numpy() * 0.999**1100, rtol=1e-3)


def test_a_loop_without_looks_does_not_grow():
    w = parameter(4, 4)
    total = batch(4)
    for i in range(20):
        total = total + (batch(4, 4, seed=i) @ w).argmax(1).astype("float32")
        assert not isinstance(state.interpreter, Deferred) or len(state.interpreter._steps) < 20
    assert total.shape == [4]


def test_small_arrays_wait_for_nothing(runs):
    paddle.set_flags({"FLAGS_host_tier": True})
    w = parameter(4, 4)
    (w * 2).sum().backward()
    assert state.interpreter is EAGER
    assert not runs


def test_memory_of_parameters_is_used_again():
    model = nn.Linear(4, 4)
    opt = adam(model)

    def step():
        model(batch(4, 4)).sum().backward()
        opt.step()
        opt.clear_grad()

    step()
    before = model.weight._payload
    pointer = before.unsafe_buffer_pointer()
    del before
    step()
    assert model.weight._payload.unsafe_buffer_pointer() == pointer


def test_a_graph_from_before_an_update_has_the_weights_of_then():
    w = parameter(4, 4)
    opt = paddle.optimizer.SGD(0.1, parameters=[w])
    for _ in range(4):
        old = w.numpy()
        earlier = (w * w).sum()
        (w * 3).sum().backward()
        opt.step()
        opt.clear_grad()
        earlier.backward()
        np.testing.assert_allclose(w.grad.numpy(), 2 * old, rtol=1e-6)
        opt.clear_grad()


class Broken:
    """Makes the function of an op fail where it is compiled, as one does whose gradient JAX does not know."""

    def __init__(self, monkeypatch, name: str) -> None:
        function = getattr(paddle, name)
        function(paddle.ones([1]))  # its code is written at its first call
        # The op that the function holds: once memos have been cleared, bind() gives another one.
        self._bound, self._set = function.__globals__["_bare"], monkeypatch.setattr
        self._fn, self._on = self._bound.fn, False
        self._set(self._bound, "lazy", None)
        # Texts do not lead past it, to what an earlier process has found.
        self._set(lazy_op, "text_of_call", lambda *_: None)
        self._set(lazy_program, "text_or_none", lambda *_: None)
        self.on = False

    @property
    def on(self) -> bool:
        """Whether it fails."""
        return self._on

    @on.setter
    def on(self, value: bool) -> None:
        def fn(*args):  # another one each time, of which JAX has no trace yet
            if value:
                raise NotImplementedError("no rule for this")
            return self._fn(*args)

        self._on = value
        fresh = {"fn": fn, "jitted": self._bound._first_call, "keeping": None, "_inferred": None, "_pullbacks": {}}
        for attribute, made in fresh.items():
            self._set(self._bound, attribute, made)


def test_an_op_that_fails_takes_no_other_with_it(monkeypatch):
    broken = Broken(monkeypatch, "exp")
    w = parameter(4, 4)
    x = w * 2
    y, z = x.exp(), x.tanh()
    broken.on = True
    with pytest.raises(NotImplementedError, match="no rule"):
        y.numpy()
    np.testing.assert_allclose(z.numpy(), np.tanh(2 * w.numpy()), rtol=1e-6)
    with pytest.raises(NotImplementedError, match="no rule"):
        (y + 1).numpy()
    z.sum().backward()
    assert w.grad is not None


def test_a_step_that_fails_changes_no_parameter(monkeypatch):
    broken = Broken(monkeypatch, "exp")
    model = nn.Linear(4, 4)
    opt = adam(model)
    before = [p.numpy() for p in model.parameters()]
    model(batch(4, 4)).exp().sum().backward()
    opt.step()
    broken.on = True
    with pytest.raises(NotImplementedError, match="no rule"):
        opt.clear_grad()
    for p, b in zip(model.parameters(), before, strict=True):
        np.testing.assert_array_equal(p.numpy(), b)
    broken.on = False
    model(batch(4, 4)).exp().sum().backward()
    opt.step()
    opt.clear_grad()
    assert (model.weight.numpy() != before[0]).any()


def test_what_comes_after_an_update_waits_in_another_queue():
    w = parameter(300, 300)
    opt = paddle.optimizer.SGD(0.1, parameters=[w])
    (w * w).sum().backward()
    opt.step()
    assert w._pending is not None and w._pending.array is None
    with paddle.no_grad():
        w * 2
    assert "_payload" in vars(w)


def test_an_interrupt_of_a_training_step_loses_no_parameters(monkeypatch):
    """In a notebook the next cell goes on with them."""
    net = nn.Linear(300, 300)
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())

    def wait(_arrays):
        raise KeyboardInterrupt

    monkeypatch.setattr(jax, "block_until_ready", wait)
    net(paddle.ones([300, 300])).sum().backward()
    opt.step()
    with contextlib.suppress(KeyboardInterrupt):
        opt.clear_grad()
    monkeypatch.undo()
    for p in net.parameters():
        assert np.isfinite(p.numpy()).all()
