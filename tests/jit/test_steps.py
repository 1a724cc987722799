"""Whole training steps as one program leave exactly the state of the eager run, in between as well."""

from __future__ import annotations

import numpy as np
import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle
from paddle_lite_py import nn


def data(n, *shape, seed=0):
    rng = np.random.RandomState(seed)
    return [paddle.to_tensor(rng.randn(*shape).astype("float32")) for _ in range(n)]


def mlp(seed=0, *, bn=False):
    paddle.seed(seed)
    return nn.Sequential(
        nn.Linear(3, 4, bias_attr=None if not bn else False),
        *([nn.BatchNorm1D(4)] if bn else []),
        nn.Tanh(),
        nn.Linear(4, 2),
    )


def assert_same(a, b):
    """Two training runs hold the same: parameters, buffers, gradients, and what the optimizers keep."""
    for x, y in zip(a.models, b.models, strict=True):
        for (name, p), q in zip(x.state_dict().items(), y.state_dict().values(), strict=True):
            np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=2e-4, atol=1e-6, err_msg=name)
        for p, q in zip(x.parameters(), y.parameters(), strict=True):
            assert (p.grad is None) == (q.grad is None), p.name
            if p.grad is not None:
                np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=2e-4, atol=1e-6)
    for x, y in zip(a.optimizers, b.optimizers, strict=True):
        for p, q in zip(x.state_dict().values(), y.state_dict().values(), strict=True):
            if isinstance(p, paddle.Tensor):
                np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=2e-4, atol=1e-6)


class Plain:
    """Forward, backward, clipping, a schedule, and statistics of batches."""

    def __init__(self):
        self.net = mlp(bn=True)
        self.schedule = paddle.optimizer.lr.CosineAnnealingDecay(0.1, 5)
        self.opt = paddle.optimizer.AdamW(
            self.schedule, parameters=self.net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.5)
        )
        self.models, self.optimizers = [self.net], [self.opt]

    def step(self, x):
        loss = (self.net(x) ** 2).mean()
        loss.backward()
        self.opt.step()
        self.opt.clear_grad()
        return loss

    def between(self):
        self.schedule.step()


class ClearedFirst(Plain):
    def step(self, x):
        self.opt.clear_grad()
        loss = (self.net(x) ** 2).mean()
        loss.backward()
        self.opt.step()
        return loss


class Gan:
    """Two networks with an optimizer each, one trained against the other."""

    def __init__(self):
        self.g, self.d = mlp(1), nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
        self.g_opt = paddle.optimizer.Adam(0.05, parameters=self.g.parameters())
        self.d_opt = paddle.optimizer.Momentum(0.05, parameters=self.d.parameters())
        self.models, self.optimizers = [self.g, self.d], [self.g_opt, self.d_opt]

    def step(self, x):
        fake = self.g(x)
        d_loss = (self.d(fake.detach()) ** 2).mean() + ((self.d(x[:, :2]) - 1.0) ** 2).mean()
        d_loss.backward()
        self.d_opt.step()
        self.d_opt.clear_grad()
        g_loss = ((self.d(fake) - 1.0) ** 2).mean()
        g_loss.backward()
        self.g_opt.step()
        self.g_opt.clear_grad()
        self.d_opt.clear_grad()
        return d_loss + g_loss

    def between(self):
        pass


class Accumulating(Plain):
    """Gradients of three calls make one update; the host counts."""

    count = 0

    def step(self, x):
        loss = (self.net(x) ** 2).mean() / 3.0
        loss.backward()
        if self.count % 3 == 2:
            self.opt.step()
            self.opt.clear_grad()
        return loss

    def between(self):
        self.count += 1


class AccumulatingOnDevice(Plain):
    """The same with a count that is a tensor."""

    def __init__(self):
        super().__init__()
        self.count = paddle.zeros([], "int64")
        self.trained = [p for p in self.net.parameters() if not p.stop_gradient]
        self.total = [paddle.zeros_like(p) for p in self.trained]

    def step(self, x):
        loss = (self.net(x) ** 2).mean() / 3.0
        grads = paddle.grad([loss], self.trained)
        with paddle.no_grad():
            for t, g in zip(self.total, grads, strict=True):
                t.add_(g)
            self.count.add_(paddle.ones([], "int64"))
            if self.count % 3 == 0:
                for p, t in zip(self.trained, self.total, strict=True):
                    p.subtract_(0.1 * t)
                    t.zero_()
        return loss


class Averaged(Plain):
    """An exponential moving average of the parameters, and a metric."""

    def __init__(self):
        super().__init__()
        self.shadow = {n: p.detach().clone() for n, p in self.net.named_parameters()}
        self.seen, self.hits = paddle.zeros([]), paddle.zeros([])

    def step(self, x):
        out = self.net(x)
        label = (x[:, 0] > 0).astype("int64")
        loss = nn.functional.cross_entropy(out, label)
        loss.backward()
        self.opt.step()
        self.opt.clear_grad()
        with paddle.no_grad():
            for n, p in self.net.named_parameters():
                self.shadow[n] = 0.9 * self.shadow[n] + 0.1 * p
            self.seen.add_(paddle.to_tensor(float(x.shape[0])))
            self.hits.add_((out.argmax(axis=1) == label).astype("float32").sum())
        return loss, self.hits / self.seen


KINDS = [Plain, ClearedFirst, Gan, Accumulating, AccumulatingOnDevice, Averaged]


@pytest.mark.parametrize("kind", KINDS)
def test_state_is_that_of_the_eager_run_after_each_step(kind):
    static, eager = kind(), kind()
    step = to_static(static.step)
    for i, x in enumerate(data(7, 5, 3)):
        got, want = step(x), eager.step(x)
        for a, b in zip(np.atleast_1d(got), np.atleast_1d(want), strict=True):
            np.testing.assert_allclose(float(a), float(b), rtol=1e-3, atol=1e-6)
        assert_same(static, eager)
        static.between()
        eager.between()
        if i == 3:  # state may be changed between steps
            for run in (static, eager):
                run.models[0][0].weight.set_value(np.full((3, 4), 0.1, "float32"))
    if kind is Averaged:
        for n, value in static.shadow.items():
            np.testing.assert_allclose(value.numpy(), eager.shadow[n].numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "traces"), [(Plain, 1), (ClearedFirst, 1), (Gan, 1), (AccumulatingOnDevice, 1), (Averaged, 1)]
)
def test_one_program_serves_all_steps(kind, traces):
    run = kind()
    step = to_static(run.step)
    for x in data(5, 5, 3):
        step(x)
        run.between()
    assert step.get_traced_count() == traces, step.explain()


def test_state_is_saved_and_loaded_between_steps(tmp_path):
    runs = [Plain(), Plain()]
    steps = [to_static(r.step) for r in runs]
    batches = data(6, 5, 3)
    for x in batches[:3]:
        steps[0](x)
        runs[0].between()
    paddle.save(runs[0].net.state_dict(), str(tmp_path / "net.pdparams"))
    paddle.save(runs[0].opt.state_dict(), str(tmp_path / "opt.pdopt"))
    steps[1](batches[0])
    runs[1].net.set_state_dict(paddle.load(str(tmp_path / "net.pdparams")))
    state = paddle.load(str(tmp_path / "opt.pdopt"))
    names = dict(
        zip([p.name for p in runs[0].net.parameters()], [p.name for p in runs[1].net.parameters()], strict=True)
    )
    runs[1].opt.set_state_dict({renamed(k, names): v for k, v in state.items()})
    for x in batches[3:]:
        np.testing.assert_allclose(steps[0](x).item(), steps[1](x).item(), rtol=1e-4)
        for r in runs:
            r.between()
    assert_same(*runs)


def renamed(key, names):
    old = next((n for n in names if key.startswith(n)), None)
    return key if old is None else names[old] + key.removeprefix(old)


@pytest.mark.parametrize("loop", ["tensor", "range"])
def test_many_steps_in_one_call_are_one_scan(loop):
    static, eager = Plain(), Plain()

    def epoch(batches):
        total = paddle.zeros([])
        if loop == "tensor":
            for x in batches:
                total = total + static.step(x)
        else:
            for i in range(batches.shape[0]):
                total = total + static.step(batches[i])
        return total

    run = to_static(epoch)
    stacked = paddle.stack(data(4, 5, 3))
    for _ in range(2):
        want = sum(eager.step(x).item() for x in stacked)
        np.testing.assert_allclose(run(stacked).item(), want, rtol=1e-4)
        assert_same(static, eager)
    assert run.get_traced_count() == 1
    scans = [op for op in run.main_program.block.ops if op.name == "for"]
    assert len(scans) == (1 if loop == "tensor" else 0)


@pytest.mark.filterwarnings("ignore:.*has no single static program")
def test_a_step_that_a_tensor_skips():
    """backward() in a branch, of a graph that begins before it: a program for each outcome."""
    found = []
    for wrap in (lambda f: f, paddle.jit.to_static):
        paddle.seed(1)
        layer = paddle.nn.Linear(2, 1)
        optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())

        @wrap
        def step(x, layer=layer, optimizer=optimizer):
            loss = (layer(x) ** 2).mean()
            if paddle.isnan(loss):
                return loss * 0 - 1
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        losses = [step(paddle.full([3, 2], v)).item() for v in (1.0, float("nan"), 2.0)]
        found.append((losses, layer.weight.numpy()))
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-6)
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=1e-6)


def fill(layer, seed=0):
    rng = np.random.RandomState(seed)
    for p in layer.parameters():
        p.set_value((rng.rand(*p.shape) - 0.4).astype("float32"))
    return layer


OPTIMIZERS = {
    "sgd": lambda p: paddle.optimizer.SGD(0.1, parameters=p),
    "momentum": lambda p: paddle.optimizer.Momentum(0.1, 0.9, parameters=p, use_nesterov=True),
    "adam": lambda p: paddle.optimizer.Adam(0.1, parameters=p),
    "adamw": lambda p: paddle.optimizer.AdamW(0.1, parameters=p, weight_decay=0.1),
    "clipped": lambda p: paddle.optimizer.Adam(0.1, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.1)),
}


def make_step(optimizer):
    net = nn.Sequential(fill(nn.Linear(3, 4)), nn.ReLU(), fill(nn.Linear(4, 1), 1))
    opt = OPTIMIZERS[optimizer](net.parameters())

    def step(x, y):
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return net, opt, step


def batches(n=4):
    rng = np.random.RandomState(3)
    return [
        (paddle.to_tensor(rng.randn(5, 3).astype("float32")), paddle.to_tensor(rng.randn(5, 1).astype("float32")))
        for _ in range(n)
    ]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_whole_training_step_is_one_program_and_leaves_the_eager_state(optimizer):
    net, opt, step = make_step(optimizer)
    twin, twin_opt, eager = make_step(optimizer)
    static = to_static(step)
    for x, y in batches():
        np.testing.assert_allclose(static(x, y).item(), eager(x, y).item(), rtol=1e-4)
    assert len(static.program_cache) == 1
    for a, b in zip(net.parameters(), twin.parameters(), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-6)
    assert sorted(opt.state_dict()) == sorted(k.replace("", "") for k in opt.state_dict())
    assert len(opt.state_dict()) == len(twin_opt.state_dict())


def test_a_scheduled_learning_rate_is_an_input():
    net = fill(nn.Linear(2, 1))
    schedule = paddle.optimizer.lr.StepDecay(0.5, step_size=1, gamma=0.1)
    opt = paddle.optimizer.SGD(schedule, parameters=net.parameters())

    @to_static
    def step(x):
        net(x).sum().backward()
        opt.step()
        opt.clear_grad()

    moved = []
    for _ in range(3):
        before = net.bias.item()
        step(paddle.ones([1, 2]))
        moved.append(before - net.bias.item())
        schedule.step()
    np.testing.assert_allclose(moved, [0.5, 0.05, 0.005], rtol=1e-3)
    assert len(step.program_cache) == 1


def test_gradient_accumulation_over_calls():
    net, twin = fill(nn.Linear(2, 1)), fill(nn.Linear(2, 1))
    x = paddle.ones([3, 2])

    def accumulate(model):
        def run(v):
            model(v).sum().backward()

        return run

    static = to_static(accumulate(net))
    for _ in range(3):
        static(x)
        accumulate(twin)(x)
    np.testing.assert_allclose(net.weight.grad.numpy(), twin.weight.grad.numpy())
    assert len(static.program_cache) == 2  # without and with a gradient to add to


def test_a_gradient_that_is_held_is_cleared_too():
    @to_static
    def f(x):
        x.stop_gradient = False
        (x * x).sum().backward()
        held = x.grad
        x.clear_gradient()
        return held, held + 1.0

    held, more = f(paddle.to_tensor([1.0, 2.0]))
    assert held.tolist() == [0.0, 0.0] and more.tolist() == [1.0, 1.0]
