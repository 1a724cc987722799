"""Nets and functions that are written as model files of PaddlePaddle: what they are made of, and small inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.nn import functional as F  # noqa: N812

TOLERANCE, TOLERANCES = 2e-5, {"bfloat16": 1e-2}
MOST_FIGURES = 40  # of a result that are recorded


class Case(NamedTuple):
    """What is saved, the shapes that it is saved for, and arrays that it is run with."""

    run: Any
    specs: list[Any]
    arrays: list[np.ndarray]


CASES: dict[str, Callable[[], Case]] = {}


def case(make: Callable[..., Any]) -> Callable[..., Any]:
    """Enter a function that gives what is run, and a (shape of the spec, array) for each argument."""

    def made() -> Case:
        paddle.seed(0)
        run, *given = make(np.random.default_rng(0))
        names = list(inspect.signature(run.forward if isinstance(run, nn.Layer) else run).parameters)
        specs = [
            paddle.static.InputSpec(shape, a.dtype.name, name) for (shape, a), name in zip(given, names, strict=True)
        ]
        if isinstance(run, nn.Layer):
            settle(run.eval())
        return Case(run, specs, [a for _, a in given])

    CASES[make.__name__] = made
    return make


def settle(net: nn.Layer) -> None:
    """Give all weights numbers that do not depend on how they are drawn."""
    rng = np.random.default_rng(1)
    for weight in [*net.parameters(), *net.buffers()]:
        values = rng.uniform(0.2, 0.9, weight.shape) if weight.stop_gradient else rng.normal(0, 0.3, weight.shape)
        weight.set_value(values.astype(weight.dtype.name))


def leaves(value: Any) -> list[np.ndarray]:
    """The arrays of a result."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [array for v in value for array in leaves(v)]
    return [np.asarray(value.numpy())]


def figures(array: np.ndarray) -> list[float]:
    """The first numbers of an array."""
    return [round(float(v), 6) for v in array.reshape(-1)[:MOST_FIGURES]]


def save(name: str, folder: Path) -> tuple[Any, list[np.ndarray]]:
    """Write a case with its inputs; the case, and what it gives here."""
    case = CASES[name]()
    folder.mkdir(parents=True)
    paddle.jit.save(case.run, str(folder / "inference"), case.specs, format="paddle")
    np.savez(folder / "inputs.npz", **{s.name: a for s, a in zip(case.specs, case.arrays, strict=True)})
    with paddle.no_grad():
        return case, leaves(case.run(*map(paddle.to_tensor, case.arrays)))


def floats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype("float32")


class Applied(nn.Layer):
    """Several layers, each on the input."""

    def __init__(self, *layers: nn.Layer) -> None:
        super().__init__()
        self.layers = nn.LayerList(list(layers))

    def forward(self, x):
        return [layer(x) for layer in self.layers]


@case
def images(rng):
    """Convolutions, pooling and normalization; an unknown batch."""
    net = Applied(
        nn.Sequential(nn.Conv2D(4, 6, 3, 2, 1), nn.BatchNorm2D(6), nn.ReLU()), nn.Conv2D(4, 8, 3, groups=4),
        nn.Conv2D(4, 4, 3, padding=[1, 2, 0, 1], dilation=2), nn.Conv2D(4, 2, 2, padding="SAME"),
        nn.Conv2DTranspose(4, 3, 3, 2, 1, output_padding=1), nn.MaxPool2D(3, 2, 1), nn.AvgPool2D(2, 2, ceil_mode=True),
        nn.AvgPool2D(3, 1, 1, exclusive=False), nn.AdaptiveAvgPool2D(3), nn.GroupNorm(2, 4), nn.InstanceNorm2D(4),
        nn.PixelShuffle(2), nn.ChannelShuffle(2), nn.Upsample(scale_factor=2), nn.Pad2D([1, 2, 0, 1], "reflect"),
        nn.Upsample(size=[5, 7], mode="bilinear", align_corners=True), nn.ZeroPad2D(1), nn.Unfold(2), nn.Flatten(),
    )  # fmt: skip
    return net, ([None, 4, 7, 7], floats(rng, 2, 4, 7, 7))


@case
def sequences(rng):
    net = Applied(nn.Conv1D(4, 6, 3, 2, 1), nn.MaxPool1D(2), nn.AdaptiveAvgPool1D(2), nn.BatchNorm1D(4))
    return net, ([None, 4, 10], floats(rng, 2, 4, 10))


class Recurrent(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(3, 4, 2, direction="bidirect")
        self.gru, self.rnn = nn.GRU(8, 4), nn.SimpleRNN(4, 4)

    def forward(self, x, lengths):
        y, (h, c) = self.lstm(x, sequence_length=lengths)
        z, last = self.rnn(self.gru(y)[0])
        return {"y": y, "h": h, "c": c, "z": z, "last": last}


@case
def recurrent(rng):
    """Layers in both directions over sequences of unknown, and of given, length."""
    return Recurrent(), ([None, None, 3], floats(rng, 2, 5, 3)), ([None], np.array([5, 3]))


class Bert(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(20, 8), nn.Embedding(9, 8)
        self.norm, self.drop = nn.LayerNorm(8), nn.Dropout(0.1)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, activation="gelu"), 1)
        self.head = nn.Linear(8, 3)

    def forward(self, ids):
        mask = ((ids == 0).astype("float32") * -1e4).unsqueeze([1, 2])
        places = paddle.cumsum(paddle.ones_like(ids), -1) - 1
        h = self.encoder(self.drop(self.norm(self.words(ids) + self.places(places))), mask)
        return h, self.head(F.tanh(h[:, 0]))


@case
def bert(rng):
    return Bert(), ([None, None], np.array([[3, 4, 5, 6], [7, 8, 0, 0]]))


class Translator(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.body, self.head = nn.Embedding(11, 8), nn.Transformer(8, 2, 1, 1, 16), nn.Linear(8, 11)

    def forward(self, source, target):
        mask = self.body.generate_square_subsequent_mask(target.shape[1])
        return self.head(self.body(self.words(source), self.words(target), tgt_mask=mask))


@case
def transformer(rng):
    return Translator(), ([None, None], rng.integers(0, 11, (2, 4))), ([None, 3], rng.integers(0, 11, (2, 3)))


class Branches(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        y = self.one(x) if x.sum() > 0 else self.other(x) - 1
        if y.mean() > 0:
            y = y * 2
        return y, x, y


@case
def branches(rng):
    return Branches(), ([None, 4], floats(rng, 2, 4))


class Loops(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.step = nn.Linear(4, 4)

    def forward(self, x, n):
        i, h = paddle.zeros([], "int64"), paddle.zeros([x.shape[0], 4])
        while i < n:
            h = F.tanh(self.step(h)) + x[:, 0]
            i = i + 1
            if h.mean() > 10:
                break
        for t in range(x.shape[1]):
            h = F.tanh(self.step(h) + x[:, t])
        return h, i


@case
def loops(rng):
    """On a condition, with a break, and over the steps of a sequence of unknown length."""
    return Loops(), ([None, None, 4], floats(rng, 2, 3, 4)), ([], np.array(3))


@case
def shapes(rng):
    """Sizes that only a run knows, and indices."""

    def run(x, i):
        b, n = x.shape[0], x.shape[1]
        return [
            x.reshape([b * n, 4]), x.transpose([1, 0, 2]).reshape([n, -1]), paddle.concat([x, x], 1), x[:, -1],
            x[:, 1:3], x[:, ::2], x[:, :, None], x.flatten(), paddle.arange(n), x.expand([3, b, n, 4]),
            paddle.full([n, b], 2.5), x[i], x[0, i], paddle.gather(x, i, 1), x.unsqueeze(1).tile([1, 2, 1, 1]),
            paddle.flip(x, [1]), paddle.roll(x, 1, 1), x[-1, 0], *paddle.split(x, 2, -1), paddle.nonzero(x > 0),
            x[x > 0], paddle.ones([1]) * n,
        ]  # fmt: skip

    return run, ([None, None, 4], floats(rng, 2, 5, 4)), ([None], np.array([1, -1]))


@case
def writes(rng):
    def run(x, v, i):
        def changed(index, value):
            y = x.clone()
            y[index] = value
            return y

        whole = slice(None)
        return [
            changed((whole, 1), v), changed(0, 1.5), changed((whole, slice(1, 3)), 0.0), changed(x > 0, -1.0),
            changed(i, 7.0), changed((0, 1), 3.0), changed((whole, slice(None, None, 2)), 2.0),
        ]  # fmt: skip

    return run, ([3, 4], floats(rng, 3, 4)), ([3], floats(rng, 3)), ([2], np.array([0, 2]))


ACTIVATIONS = (
    "relu relu6 sigmoid tanh silu gelu elu celu selu leaky_relu hardswish hardsigmoid hardtanh hardshrink softshrink "
    "softplus softsign tanhshrink log_sigmoid mish thresholded_relu softmax log_softmax glu normalize"
).split()


@case
def elements(rng):
    def run(x, i):
        named = [getattr(F, name)(x) for name in ACTIVATIONS]
        mixed = [x + i, x / 3, 3 / x, x // 0.3, x % 0.3, -x, 2**x, x**3, i / 2, i // 2, x > i, (x > 0) & (i > 1)]
        return named + mixed + [paddle.where(x > 0, x, -x), x.clip(-1, 1), paddle.scale(x, 2.0, 1.0), i.astype("bool")]

    return run, ([None, 6], floats(rng, 3, 6)), ([6], np.arange(6))


@case
def reductions(rng):
    def run(x, y, label):
        return [
            x.sum(1), x.mean([0, 1], keepdim=True), x.max(1), x.prod(-1), paddle.logsumexp(x, 1), x.std(), x.var(1),
            x.norm(), (x > 0).any(1), x.cumsum(1), x.argmin(1), paddle.topk(x, 2)[1], paddle.sort(x, 0), x @ y.t(),
            paddle.einsum("ij,kj->ik", x, y), F.cross_entropy(x, label), F.mse_loss(x, y), F.cosine_similarity(x, y),
            paddle.quantile(x, 0.4, axis=1), paddle.diff(x), x.sum(1),
        ]  # fmt: skip

    return run, ([3, 5], floats(rng, 3, 5)), ([3, 5], floats(rng, 3, 5)), ([3], np.array([0, 2, 4]))


class Low(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 2)
        self.bfloat16()

    def forward(self, x):
        return self.second(F.relu(self.first(x.astype("bfloat16")))).astype("float32")


@case
def bfloat16(rng):
    return Low(), ([None, 4], floats(rng, 3, 4))
