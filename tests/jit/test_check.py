"""Eager beside static (check=True), and lengths padded to buckets."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from paddle_lite_py.jit import CheckError, InputSpec, not_to_static, to_static

import paddle_lite_py as paddle
from paddle_lite_py import nn


def tensor(*data, **kwargs):
    return paddle.to_tensor(list(data), **kwargs)


def counter():
    """Counts its calls in a cache, which no trace looks at."""
    cached = functools.lru_cache(None)(lambda key: key)

    def count():
        cached(object())
        return cached.cache_info().misses

    return count


def test_what_agrees_passes_and_changes_state_once():
    net, total = nn.Sequential(nn.Linear(3, 3, bias_attr=False), nn.BatchNorm1D(3), nn.Dropout(0.5)), paddle.zeros([])
    twin = nn.Sequential(nn.Linear(3, 3, bias_attr=False), nn.BatchNorm1D(3), nn.Dropout(0.5))
    twin.set_state_dict(net.state_dict())

    def step_of(model, opt, count):
        def step(x):
            loss = (model(x) ** 2).mean()
            loss.backward()
            opt.step()
            opt.clear_grad()
            if loss > 0:
                count.add_(paddle.ones([]))
            return loss

        return step

    opts = [paddle.optimizer.Adam(0.1, parameters=m.parameters()) for m in (net, twin)]
    eager, count = step_of(twin, opts[1], paddle.zeros([])), paddle.zeros([])
    static = to_static(step_of(net, opts[0], total), check=True)
    x = paddle.to_tensor(np.random.RandomState(0).randn(4, 3).astype("float32"))
    losses = []
    for run in (static, eager):
        paddle.seed(7)
        losses.append([run(x).item() for _ in range(3)])
    np.testing.assert_allclose(*losses, rtol=1e-4)
    assert total.item() == 3.0 and count.item() == 0.0
    np.testing.assert_allclose(net[1]._mean.numpy(), twin[1]._mean.numpy(), rtol=1e-4)


def test_the_first_operator_that_differs_is_named():
    count = counter()

    @not_to_static
    def drift(x):
        return x * float(count())

    @to_static(check=True)
    def f(x):
        y = x + 1.0
        if y.sum() > 0:
            y = drift(y)
        return y.tanh()

    with pytest.raises(CheckError, match=r"result is float32\[1\].*first operator that differs is multiply at test_ch"):
        f(tensor(1.0))


def test_state_that_differs_is_named_and_left_as_eager_left_it():
    total, count = paddle.zeros([1]), counter()
    total.name = "total"

    @not_to_static
    def drift(x):
        return x * float(count())

    @to_static(check=True)
    def f(x):
        total.add_(drift(x))

    with pytest.raises(CheckError, match="tensor 'total' is"):
        f(tensor(1.0))
    assert total.tolist() == [2.0]  # the trace counted one, the eager run two


@pytest.mark.parametrize("variable", ["1", "0"])
def test_the_flag_checks_all(variable, monkeypatch):
    from paddle_lite_py.jit.static_function import settings

    monkeypatch.setattr(settings, "check", variable == "1")
    seen = counter()

    @not_to_static
    def note():
        seen()

    def f(x):
        note()
        return x + 1.0

    static = to_static(f)
    static(tensor(1.0))
    assert seen() == 2 + (variable == "1")


@to_static(check=True)
def looped(x, n):
    i = paddle.zeros([], "int64")
    while i < n:
        x = x * 1.5
        i += 1
    for k in range(3):
        x = x + k
    for v in x:
        x = x + v
    return {"x": x, "i": i}


def test_loops_are_checked():
    assert looped(tensor(1.0, 2.0), paddle.to_tensor(3))["i"].item() == 3


# -- buckets -------------------------------------------------------------------------------------------------------
def test_lengths_are_padded_to_buckets_and_cut_back():
    sizes = []

    @to_static(input_spec=[InputSpec([None, 2], "float32")], buckets=[4, 8])
    def f(x):
        return {"y": x * 2.0, "total": x.sum(), "pairs": paddle.concat([x, x], axis=1)}

    for n in (4, 1, 2, 3, 4, 5, 7, 8, 9):
        x = paddle.to_tensor(np.random.RandomState(n).rand(n, 2).astype("float32"))
        out = f(x)
        np.testing.assert_allclose(out["y"].numpy(), x.numpy() * 2.0)
        np.testing.assert_allclose(out["total"].numpy(), x.numpy().sum(), rtol=1e-5)
        assert out["pairs"].shape == [n, 4]
        if len(out["y"]) == 4:
            entry = f.program_cache[0]
            entry.run = lambda args, run=entry.run: (sizes.append(args[0].shape[0]), run(args))[1]
    assert f.get_traced_count() == 1
    assert set(sizes) == {4, 8, 9, 1, 5}  # 1 and 5 once, to verify; 9 is longer than all buckets


def test_gradients_pass_through_the_padding():
    @to_static(input_spec=[InputSpec(["n"], "float32")], buckets={"n": [4]})
    def f(x):
        return (x**2).sum()

    x = tensor(1.0, 2.0, 3.0, stop_gradient=False)
    f(x).backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


REACHED = {
    "max": lambda x: x.max(axis=0),
    "min": lambda x: x.min(axis=0),
    "argmax": lambda x: x.argmax(axis=0),
    "argmin": lambda x: x.argmin(axis=0),
    "logsumexp": lambda x: paddle.logsumexp(x, axis=0),
    "any": lambda x: (x <= 0).any(axis=0),
    "all": lambda x: (x > 0).all(axis=0),
    "prod": lambda x: x.prod(axis=0),
    "mean": lambda x: x.mean(axis=0),
    "softmax": lambda x: paddle.nn.functional.softmax(x, axis=0),
    "sort": lambda x: x.sort(axis=0),
    "topk": lambda x: x.topk(1, axis=0)[0],
    "flip": lambda x: x.flip(0),
    "norm": lambda x: (x + 1).norm(),
}


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("name", REACHED)
def test_padding_that_reaches_the_results_is_refused_whatever_the_data(name, sign):
    f = to_static(REACHED[name], input_spec=[InputSpec([None, 2], "float32")], buckets=[8])
    with pytest.raises(CheckError, match="padded to a bucket"):
        f(paddle.to_tensor(sign * np.array([[1.0, 5.0], [7.0, 2.0], [3.0, 4.0]], "float32")))


def test_masks_and_ids_are_padded_with_zeros():
    @to_static(input_spec=[InputSpec([None, 2], "float32"), InputSpec([None], "float32")], buckets=[8])
    def f(x, mask):
        hidden = x + (mask.unsqueeze(1) - 1) * 1e9
        return (x * mask.unsqueeze(1)).sum(axis=0) / mask.sum(), hidden.max(axis=0)

    x = np.array([[-1.0, -5.0], [-7.0, -2.0], [3.0, 4.0]], "float32")
    for mask in ([1, 1, 0], [1, 1, 1]):
        mean, largest = f(paddle.to_tensor(x), paddle.to_tensor(mask, "float32"))
        chosen = x[np.array(mask, bool)]
        np.testing.assert_allclose(mean.numpy(), chosen.mean(0), rtol=1e-6)
        np.testing.assert_allclose(largest.numpy(), chosen.max(0), rtol=1e-6)


def test_padding_is_looked_at_again():
    f = to_static(lambda n: n.max(), input_spec=[InputSpec([None], "int64")], buckets=[4])
    assert f(paddle.to_tensor([1, 2])).item() == 2
    with pytest.raises(CheckError):
        for _ in range(3):
            f(paddle.to_tensor([-1, -2]))


def test_looking_at_padding_changes_no_state():
    net = paddle.nn.Linear(2, 1)
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())

    def step(x):
        loss = (net(x) * (x != 0).any(axis=1, keepdim=True)).sum()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    static, x = to_static(step, input_spec=[InputSpec([None, 2], "float32")], buckets=[4]), tensor([1.0, 2.0])
    first = {k: v.numpy() for k, v in net.state_dict().items()}
    found = static(x).item(), net.weight.numpy()
    net.set_state_dict(first)
    right = step(x).item(), net.weight.numpy()
    np.testing.assert_allclose(found[0], right[0], rtol=1e-6)
    np.testing.assert_allclose(found[1], right[1], rtol=1e-6)


def test_padding_that_reaches_the_results_is_refused():
    f = to_static(lambda x: x.mean(), input_spec=[InputSpec([None], "float32")], buckets=[4])
    assert f(tensor(1.0, 2.0, 3.0, 4.0)).item() == 2.5
    with pytest.raises(CheckError, match="gives other results when its arguments are padded to a bucket.*Mask it"):
        f(tensor(1.0, 2.0))


def test_bad_buckets_are_refused():
    spec = [InputSpec([None], "float32")]
    for buckets in ([], [4, 2], [0], {"n": [3, 3]}):
        with pytest.raises(ValueError, match="expected increasing sizes"):
            to_static(lambda x: x, input_spec=spec, buckets=buckets)
    with pytest.raises(ValueError, match="needs an input_spec"):
        to_static(lambda x: x, buckets=[2])
