"""Functions whose arguments keep changing sizes: a few are traced as they are, then one with its sizes left open."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paddle_lite_py as paddle
import paddle_lite_py.nn.functional as F
from helpers.decoders import compilations
from paddle_lite_py.core import symbolic
from paddle_lite_py.core.jax_compat.sizes import standing_for
from paddle_lite_py.eager.open_backward import OpenBackward
from paddle_lite_py.host import open_sizes
from paddle_lite_py.host.baseline import baseline
from paddle_lite_py.host.tier import tiered

SIZES = [7, 8, 9, 10, 30, 12, 3, 2, 1, 0, 25, 11, 40, 41]


def array(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


# name: the function under test in JAX, the same in NumPy, shapes of its arguments for a size.
FUNCTIONS = {
    "elementwise": (lambda x: jnp.tanh(x) * 2 + x, lambda x: np.tanh(x) * 2 + x, lambda n: [(n, 3)]),
    "mean": (lambda x: x.mean(0), lambda x: x.mean(0) if len(x) else np.full(3, np.nan, "float32"), lambda n: [(n, 3)]),
    "sizes in the result": (lambda x: x * x.shape[0], lambda x: x * x.shape[0], lambda n: [(n,)]),
    "sort": (lambda x: jnp.sort(x, 0), lambda x: np.sort(x, 0), lambda n: [(n, 3)]),
    "order": (lambda x: jnp.argsort(x, stable=True), lambda x: np.argsort(x, kind="stable"), lambda n: [(n,)]),
    "pad": (lambda x: jnp.pad(x, (1, 2)), lambda x: np.pad(x, (1, 2)), lambda n: [(n,)]),
    "flat": (lambda x: x.reshape(-1), lambda x: x.reshape(-1), lambda n: [(n, 2)]),
    "halves": (lambda x: x[: x.shape[0] // 2], lambda x: x[: len(x) // 2], lambda n: [(n,)]),
    "places": (lambda x: jnp.arange(x.shape[0]), lambda x: np.arange(len(x)), lambda n: [(n,)]),
    "running sum": (lambda x: jnp.cumsum(x, 0), lambda x: np.cumsum(x, 0), lambda n: [(n, 3)]),
    "all pairs": (lambda x, y: x[:, None] - y, lambda x, y: x[:, None] - y, lambda n: [(n,), (n // 2 + 1,)]),
    "product": (lambda x, y: x @ y, lambda x, y: x @ y, lambda n: [(4, n), (n, 5)]),
    "rows": (
        lambda x, i: x[i],
        lambda x, i: x[i],
        lambda n: [(50, 2), np.arange(n)[::-1].copy()],
    ),
    "a loop": (
        lambda x: jax.lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(3, "float32"), x, reverse=True)[1],
        lambda x: (np.cumsum(x[::-1], 0)[::-1] - x) * x,
        lambda n: [(n, 3)],
    ),
    "exclusive or of numbers": (
        lambda x: x + ((x > 0).sum() ^ 6),
        lambda x: x + ((x > 0).sum() ^ 6).astype("float32"),
        lambda n: [(n,)],
    ),
    "even and odd": (
        lambda x: x * (2 if x.shape[0] % 2 == 0 else 3),
        lambda x: x * (2 if x.shape[0] % 2 == 0 else 3),
        lambda n: [(n,)],
    ),
    "a limit": (
        lambda x: x + 1 if x.shape[0] > 10 else x - 1,
        lambda x: x + 1 if x.shape[0] > 10 else x - 1,
        lambda n: [(n,)],
    ),
    "a special size": (
        lambda x: x + 1 if x.shape[0] - 12 else x * 7,
        lambda x: x + 1 if len(x) != 12 else x * 7,
        lambda n: [(n,)],
    ),
    "a size as a number": (
        lambda x: x * float(int(x.shape[0])),  # which no symbol is
        lambda x: x * float(len(x)),
        lambda n: [(n,)],
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_those_of_each_size(name):
    run, expected, shapes = FUNCTIONS[name]
    given = [[a if isinstance(a, np.ndarray) else array(*a) for a in shapes(n)] for n in SIZES]
    call = tiered(run, len(given[0]))
    for n, args in zip(SIZES, given, strict=True):
        np.testing.assert_allclose(np.asarray(call(*args)), expected(*args), 1e-5, 1e-6, err_msg=f"{name} of {n}")


@pytest.mark.parametrize(("name", "most"), [("elementwise", 6), ("product", 6), ("even and odd", 8), ("a limit", 8)])
def test_traces_are_few(name, most):
    """Of sizes from 2 on: the first three, and two for each answer to what the function asks, with its size and open.

    Two more may come: JAX's caches compare sizes as well.
    """
    run, _, shapes = FUNCTIONS[name]
    traces = []

    def counted(*args):
        traces.append([a.shape for a in args])
        return run(*args)

    call = tiered(counted, len(shapes(2)))
    for n in (7, 8, 9, *range(13, 40), 6):
        call(*[array(*s) for s in shapes(n)])
    assert len(traces) <= most, traces


def test_sizes_that_are_equal_by_chance():
    call = tiered(lambda x, y: jnp.outer(x, y).sum(0), 2)
    for n, m in [(5, 5), (6, 6), (7, 7), (8, 8), (8, 9), (9, 9), (4, 3), (9, 2), (1, 8), (8, 1)]:
        x, y = array(n), array(m, seed=1)
        np.testing.assert_allclose(call(x, y), np.outer(x, y).sum(0), 1e-5, 1e-6)


def test_a_function_that_is_not_traced_with_symbols_is_tried_twice():
    failed = []

    def asks(x):
        if not isinstance(x.shape[0], int):
            failed.append(x.shape)
        return x * np.float32(range(x.shape[0])[-1])

    call = tiered(asks, 1)
    for n in range(5, 20):
        np.testing.assert_array_equal(call(array(n)), array(n) * np.float32(n - 1))
    assert len(failed) == open_sizes.MAX_FAILURES


def losses(first, monkeypatch):
    """The losses and gradients of a small net over batches of many sizes."""
    monkeypatch.setattr(open_sizes, "TRACED_FIRST", first)
    paddle.seed(3)
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 6), paddle.nn.LayerNorm(6), paddle.nn.GELU(), paddle.nn.Linear(6, 5))
    found = []
    for n in (7, 8, 9, 10, 31, 12, 3, 1, 2):
        x, y = paddle.to_tensor(array(n, 4), stop_gradient=False), paddle.to_tensor(np.arange(n) % 5)
        heads = (x.reshape([n, 2, 2]).transpose([1, 0, 2]) ** 2).reshape([2, n * 2]).mean()
        for reduction in ("mean", "sum"):
            loss = F.cross_entropy(net(x), y, reduction=reduction)
            loss.backward()
        heads.backward()
        found.append([float(loss), x.grad.numpy(), *[p.grad.numpy() for p in net.parameters()]])
        net.clear_gradients()
    return found


def test_gradients_are_the_same_bits(monkeypatch):
    """A backward for open sizes meets forwards of known ones, and the other way round."""
    each = losses(1000, monkeypatch)
    for first in (1, 3):
        for known, opened in zip(each, losses(first, monkeypatch), strict=True):
            for a, b in zip(known, opened, strict=True):
                np.testing.assert_array_equal(a, b)


def pooled(x):
    image = x.reshape([1, 1, -1, 4])
    return F.adaptive_avg_pool2d(image, [3, 2]).sum() + (F.adaptive_max_pool2d(image, [3, 2]) ** 2).sum()


def sent(x):
    n = x.shape[0]
    to = paddle.arange(n) // 2
    return (paddle.geometric.send_u_recv(x, to, paddle.arange(n) * 3 % n, "mean") * x).sum()


LAYERS = {
    "lstm": lambda: paddle.nn.LSTM(4, 3),
    "gru": lambda: paddle.nn.GRU(4, 3, direction="bidirect"),
    "rnn": lambda: paddle.nn.SimpleRNN(4, 3, activation="relu"),
    "adaptive pooling": lambda: pooled,
    "messages": lambda: sent,
}


def trained_on_lengths(make):
    """Gradients of a layer over sequences of many lengths, and how often XLA compiled a program for the last ones."""
    paddle.seed(1)
    layer, found = make(), []

    def train(n):
        x = paddle.to_tensor(array(n, 4), stop_gradient=False)
        out = layer(x.unsqueeze(0)) if isinstance(layer, paddle.nn.Layer) else layer(x)
        (out[0] ** 2 if isinstance(out, tuple) else out).sum().backward()
        found.extend([x.grad.numpy(), *[p.grad.numpy() for p in getattr(layer, "parameters", list)()]])

    for n in (5, 6, 7, 8, 9):
        train(n)
    with compilations() as count:
        for n in (10, 11, 13, 12):
            train(n)
    return found, count[0]


@pytest.mark.parametrize("name", LAYERS)
def test_layers_over_many_lengths(name, monkeypatch):
    opened, compiled = trained_on_lengths(LAYERS[name])
    assert compiled == 0
    monkeypatch.setattr(open_sizes, "TRACED_FIRST", 1000)
    for found, expected in zip(opened, trained_on_lengths(LAYERS[name])[0], strict=True):
        np.testing.assert_allclose(found, expected, 1e-5, 1e-6)


def test_a_loop_that_is_too_long_for_numpy_is_compiled():
    call = tiered(lambda x: jax.lax.scan(lambda c, r: (c * 0.5 + r, None), jnp.zeros(3, "float32"), x)[0], 1)
    for n in (5, 6, 7, 8, 9, 3000):
        expected = sum(row * 0.5 ** (n - 1 - i) for i, row in enumerate(array(n, 3)))
        np.testing.assert_allclose(np.asarray(call(array(n, 3))), expected, 1e-5, 1e-5)


# name: the op under test, the same in NumPy.
ATTRIBUTES = {
    "reshape": (lambda n: paddle.to_tensor(array(2 * n, 3)).reshape([n, 6]), lambda n: array(2 * n, 3).reshape(n, 6)),
    "expand": (lambda n: paddle.to_tensor(array(1, 3)).expand([n, 3]), lambda n: np.tile(array(1, 3), (n, 1))),
    "tile": (lambda n: paddle.to_tensor(array(3)).tile([n, 2]), lambda n: np.tile(array(3), (n, 2))),
    "zeros": (lambda n: paddle.zeros([n, 2]), lambda n: np.zeros((n, 2), "float32")),
    "full": (lambda n: paddle.full([n], n + 0.5), lambda n: np.full(n, n + 0.5, "float32")),
    "arange": (lambda n: paddle.arange(n), lambda n: np.arange(n)),
    "steps": (lambda n: paddle.arange(0, 3 * n, n), lambda n: np.arange(0, 3 * n, n)),
    "linspace": (lambda n: paddle.linspace(0, 1, n), lambda n: np.linspace(0, 1, n, dtype="float32")),
    "eye": (lambda n: paddle.eye(n, n + 1), lambda n: np.eye(n, n + 1, dtype="float32")),
    "tril": (lambda n: paddle.tril(paddle.ones([5, 5]), n - 9), lambda n: np.tril(np.ones((5, 5), "float32"), n - 9)),
    "roll": (lambda n: paddle.roll(paddle.arange(50), n), lambda n: np.roll(np.arange(50), n)),
    "split": (lambda n: paddle.split(paddle.arange(60), [n, 60 - n])[1], lambda n: np.arange(n, 60)),
    "pad": (lambda n: F.pad(paddle.to_tensor(array(3)), [n, 1]), lambda n: np.pad(array(3), (n, 1))),
    "best": (lambda n: paddle.topk(paddle.arange(60), n)[0], lambda n: np.arange(59, 59 - n, -1)),
    "one hot": (lambda n: F.one_hot(paddle.to_tensor([0, 1]), n + 2), lambda n: np.eye(n + 2, dtype="float32")[:2]),
    "power": (lambda n: paddle.to_tensor(array(3)) ** (n % 5), lambda n: array(3) ** (n % 5)),
}


@pytest.mark.parametrize("told", [False, True], ids=["of_one_axis", "of_all_axes"])
def test_a_backward_is_for_open_sizes_where_what_is_saved_tells_them(told):
    """Which cotangents are there is known later: only that of the first result, for example."""
    scope = symbolic.Symbols()
    scope.new("rows")
    scope.new("columns")
    rows, columns = scope.symbols["rows"], scope.symbols["columns"]

    def spec(*shape):
        return jax.ShapeDtypeStruct(shape, jnp.float32)

    def pulled(_, cotangents):
        is_one_column = len(cotangents) == 1 and cotangents[0].shape[1] == 1
        return [cotangents[0] * (3 if is_one_column else 2)]

    saved, results = [spec(rows, columns if told else 1)], [spec(rows, columns), spec(rows)]
    with standing_for({"rows": 3, "columns": 4}, scope.scope):
        if not told:
            with pytest.raises(KeyError, match="columns"):
                OpenBackward(pulled, saved, results)
            return
        backward = OpenBackward(pulled, saved, results)
    (made,) = jax.eval_shape(lambda *of: backward(of[:1], of[1:]), spec(5, 7), spec(5, 7))
    assert made.shape == (5, 7)


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_that_keep_changing(name):
    op, expected = ATTRIBUTES[name]
    for n in SIZES:
        if n or name not in ("best", "steps"):
            found = op(n)
            assert found.shape == list(expected(n).shape)
            np.testing.assert_allclose(found.numpy(), expected(n), 1e-5, 1e-6, err_msg=f"{name} of {n}")


def test_draws_of_many_sizes_are_those_of_each():
    sizes = [4, 5, 6, 7, 8, 30]

    def draws(sizes):
        found = []
        for n in sizes:
            paddle.seed(n)
            found.append(paddle.randn([n, 2]).numpy())
        return found

    expected = [draws([n])[0] for n in sizes[:3]] + [None] * 3
    for again, first in zip(draws(sizes), expected, strict=True):
        if first is not None:
            np.testing.assert_array_equal(again, first)
    for n, found in zip(sizes, draws(sizes), strict=True):
        paddle.seed(n)
        np.testing.assert_array_equal(found, jax.device_get(paddle.randn([n, 2]).numpy()))


def test_a_convolution_of_many_lengths_is_compiled_for_the_first():
    conv = paddle.nn.Conv1D(2, 3, 3)
    inputs = [array(1, 2, n) for n in range(20, 40)]
    found = [conv(paddle.to_tensor(x)).numpy() for x in inputs[:5]]
    with compilations() as count:
        found += [conv(paddle.to_tensor(x)).numpy() for x in inputs[5:]]
    assert count[0] == 0
    weight, bias = conv.weight.numpy(), conv.bias.numpy()
    for x, y in zip(inputs, found, strict=True):
        windows = np.lib.stride_tricks.sliding_window_view(x[0], 3, 1)
        np.testing.assert_allclose(y[0], np.einsum("ink,oik->on", windows, weight) + bias[:, None], 1e-4, 1e-5)


DRAWS = {
    "uniform": lambda n: paddle.rand([n]),
    "normal": lambda n: paddle.randn([n, 2]),
    "integers": lambda n: paddle.randint(0, 5, [n]),
    "coins": lambda n: paddle.bernoulli(paddle.full([n], 0.5)),
    "dropout": lambda n: F.dropout(paddle.ones([n]), 0.5),
    "places": lambda n: paddle.multinomial(paddle.ones([n]), 3),
}


@pytest.mark.parametrize("name", DRAWS)
def test_more_numbers_than_numpy_draws_are_drawn_by_xla(name):
    for n in (5, 6, 7, 8, 9, 255, 256, 257, 512, 513, 700):
        paddle.seed(0)
        found = DRAWS[name](n).numpy()
        paddle.seed(0)
        np.testing.assert_array_equal(DRAWS[name](n).numpy(), found)
        assert found.size in (n, 2 * n, 3)


# calls that are refused, after calls with other sizes that are not.
REFUSED = {
    "labels for fewer": lambda n, m: F.cross_entropy(paddle.ones([n, 3]), paddle.zeros([m], "int64")),
    "equal parts": lambda n, m: paddle.split(paddle.ones([6 * n + n - m]), 6),
    "sections": lambda n, m: paddle.split(paddle.ones([2 * n + n - m]), [n, n]),
    "best of fewer": lambda n, m: paddle.topk(paddle.ones([m]), n),
    "other rows": lambda n, m: paddle.concat([paddle.ones([2, n]), paddle.ones([2, m])]),
    "inner sizes": lambda n, m: paddle.ones([2, n]) @ paddle.ones([m, 2]),
    "shapes": lambda n, m: paddle.ones([n, 2]) + paddle.ones([m, 2]),
    "losses of shapes": lambda n, m: F.triplet_margin_loss(
        paddle.ones([2, n]), paddle.ones([2, n]), paddle.ones([2, m])
    ),
    "elements": lambda n, m: paddle.ones([n, 6]).reshape([m, 6]),
    "elements in a row": lambda n, m: paddle.ones([n, 2]).reshape([2 * m]),
    "more rows": lambda n, m: paddle.ones([n, 2]).expand([m, 2]),
    "more elements": lambda n, m: paddle.ones([n, 2]).unflatten(0, [1, m]),
    "messages to more nodes": lambda n, m: paddle.geometric.send_u_recv(
        paddle.ones([m, 2]), paddle.arange(n), paddle.arange(n)
    ),
    "a view": lambda n, m: paddle.ones([n, 3]).view([3, m]),
    "a mask": lambda n, m: paddle.ones([n])[paddle.ones([m]) > 0],
    "channels": lambda n, m: F.conv1d(paddle.ones([1, n, 5]), paddle.ones([1, m, 3])),
    "features": lambda n, m: F.linear(paddle.ones([2, n]), paddle.ones([m, 2])),
    "batches": lambda n, m: paddle.bmm(paddle.ones([n, 2, 2]), paddle.ones([m, 2, 2])),
    "products": lambda n, m: paddle.dot(paddle.ones([n]), paddle.ones([m])),
    "stacked": lambda n, m: paddle.stack([paddle.ones([n]), paddle.ones([m])]),
    "a norm": lambda n, m: F.layer_norm(paddle.ones([2, n]), [m]),
    "crossed": lambda n, m: F.mse_loss(paddle.ones([n, 2]), paddle.ones([m, 2])),
    "rows of labels": lambda n, m: F.nll_loss(paddle.zeros([n, 3]), paddle.zeros([m], "int64")),
    "a third": lambda n, m: paddle.where(paddle.ones([n]) > 0, paddle.ones([m]), paddle.ones([m])),
    "written": lambda n, m: paddle.ones([n, 2]).__setitem__(slice(0, n), paddle.ones([m, 2])),
    "an equation": lambda n, m: paddle.einsum("ij,jk->ik", paddle.ones([2, n]), paddle.ones([m, 2])),
    "kernels of pools": lambda n, m: F.avg_pool1d(paddle.ones([1, 1, n]), n + (n - m) * 9, 1),
    "a large kernel": lambda n, m: F.conv1d(paddle.ones([1, 1, n]), paddle.ones([1, 1, n + (n - m) * 9])),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_of_one_size_is_refused_of_all(name):
    call = REFUSED[name]
    for n in range(4, 14):
        call(n, n)
    for n, m in [(8, 7), (20, 18), (5, 3), (12, 4)]:
        with pytest.raises((ValueError, IndexError)):
            call(n, m)
        call(n, n)


def test_sizes_below_0_are_refused():
    for n in range(2, 9):
        paddle.rand([n])
    for call in (paddle.rand, paddle.zeros, paddle.ones):
        with pytest.raises(ValueError, match="-2"):
            call([-2])


CHOICES = {
    "windows as columns or spots": lambda x: jax.lax.conv(x, np.ones((4, 1, 5, 5), "float32"), (1, 1), "VALID"),
    "a choice by bits": lambda x: jnp.where(x > 0, x, 2 * x),
    "memory that XLA takes over": lambda x: jnp.concatenate([x, x]),
}


def for_open_sizes(function, size):
    """The NumPy function of pictures whose sizes stand for this one, and what that asks of them."""
    scope = symbolic.Symbols()
    scope.new("n")
    with standing_for({"n": size}, scope.scope) as conditions:
        x = jax.ShapeDtypeStruct((2, 1, scope.symbols["n"], scope.symbols["n"]), "float32")
        closed, info = jax.make_jaxpr(function, return_shape=True)(x)
        return baseline(closed, info, math.inf, sizes={"n": "a0.shape[2]"}), [*conditions.texts]


@pytest.mark.parametrize("name", CHOICES)
def test_by_what_means_numpy_computes_a_step_is_no_condition(name):
    (run, asked), (_, of_large) = (for_open_sizes(CHOICES[name], size) for size in (8, 200))
    assert asked == of_large
    for n in (6, 8, 300):
        x = array(2, 1, n, n)
        np.testing.assert_allclose(run(x), jax.jit(CHOICES[name])(x), rtol=1e-4, atol=1e-4)
