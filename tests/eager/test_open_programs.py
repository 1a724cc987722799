"""Training on batches whose sizes keep changing: NumPy runs one function for all of them, with the same results."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
import paddle_lite_py.nn.functional as F
from paddle_lite_py import nn
from paddle_lite_py.core.interpreter import state
from paddle_lite_py.core.switches import deferral
from paddle_lite_py.eager import lazy_program, open_programs
from paddle_lite_py.eager.execute import EAGER

LENGTHS = (5, 6, 7, 12, 11, 9)
SCENARIOS = {}


def scenario(fn):
    """Put a function into the table of training loops; each takes a net, its optimizer and batches."""
    SCENARIOS[fn.__name__] = fn
    return fn


class Net(nn.Layer):
    """A layer of attention over words."""

    def __init__(self, dropout=0.0):
        super().__init__()
        self.words, self.head = nn.Embedding(10, 8), nn.Linear(8, 10)
        self.layer = nn.TransformerEncoderLayer(8, 2, 8, dropout=dropout)

    def forward(self, words):
        return self.head(self.layer(self.words(words)))


def loss_of(net, words):
    return F.cross_entropy(net(words[:, :-1]).reshape([-1, 10]), words[:, 1:].reshape([-1]))


def stepped(optimizer, loss):
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss


@scenario
def training(net, optimizer, batches):
    return [stepped(optimizer, loss_of(net, words)) for words in batches]


@scenario
def training_with_dropout(net, optimizer, batches):
    net = Net(dropout=0.5)
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    return training(net, optimizer, batches)


@scenario
def training_in_bfloat16(net, optimizer, batches):
    found = []
    for words in batches:
        with paddle.amp.auto_cast(dtype="bfloat16"):
            loss = loss_of(net, words)
        found.append(stepped(optimizer, loss).astype("float32") // 0.25)
    return found


@scenario
def sizes_in_conditions(net, optimizer, batches):
    found = []
    for words in batches:
        n = words.shape[1]
        loss = loss_of(net, words if n % 2 else words[:, : n // 2]) * (2.0 if n > 10 else 1.0)
        found.append(stepped(optimizer, loss))
    return found


@scenario
def the_loss_is_read_before(net, optimizer, batches):
    found = []
    for words in batches:
        loss = loss_of(net, words)
        found += [float(loss), stepped(optimizer, loss)]
    return found


@scenario
def several_results_are_read_before(net, optimizer, batches):
    found = []
    for words in batches:
        out = net(words[:, :-1])
        found.append(out.argmax(-1).numpy().sum())
        loss = F.cross_entropy(out, words[:, 1:])
        found += [float(loss), float(out.sum())]
        found.append(stepped(optimizer, loss))
    return found


@scenario
def no_backward_comes(net, optimizer, batches):
    losses = [loss_of(net, words) for words in batches if float(net.head.bias.sum()) < 99]
    return [float(x) for x in losses] + [float(loss_of(net, words)) for words in batches]


@scenario
def gradients_of_losses_that_were_kept(net, optimizer, batches):
    losses = []
    for words in batches:
        losses.append(loss_of(net, words))
        float(losses[-1])
    return [stepped(optimizer, x) for x in losses]


@scenario
def weights_change_after_the_look(net, optimizer, batches):
    found = []
    for words in batches:
        loss = loss_of(net, words)
        found.append(float(loss))
        net.head.bias.set_value(net.head.bias.detach() + 1.0)
        found.append(stepped(optimizer, loss))
    return found


@scenario
def gradients_by_grad_after_the_look(net, optimizer, batches):
    found = []
    for words in batches:
        loss = loss_of(net, words)
        found += [float(loss), *paddle.grad(loss, [net.head.weight], retain_graph=True)]
        found.append(stepped(optimizer, loss))
    return found


@scenario
def hooks_after_the_look(net, optimizer, batches):
    found, gradients = [], []
    net.head.weight.register_hook(lambda g: g * 2)
    for words in batches:
        loss = loss_of(net, words)
        loss.register_hook(lambda g: gradients.append(float(g)))
        found += [float(loss), stepped(optimizer, loss)]
    return [*found, *gradients]


def trained_on_pictures(batches, *layers):
    """The losses of a net that ends with 4 channels, on pictures of ever other sizes."""
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(4, 3))
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    losses = []
    for words in batches:
        rows = words.astype("float32") / 10
        pictures = rows.unsqueeze([1, 3]) - rows[:, None, None, 2:]
        losses.append(stepped(optimizer, F.cross_entropy(net(pictures), words[:, 0] % 3)))
    return [*losses, *net.state_dict().values()]


@scenario
def convolutions_with_strides(net, optimizer, batches):
    first = nn.Conv2D(1, 8, 3, stride=2, padding=1, bias_attr=False)
    return trained_on_pictures(
        batches, first, nn.BatchNorm2D(8), nn.ReLU(), nn.Conv2D(8, 4, 3, stride=(2, 3), padding=1)
    )


@scenario
def convolutions_with_all_settings(net, optimizer, batches):
    first = nn.Conv2D(1, 4, (3, 2), stride=(3, 2), padding=[2, 1, 0, 3], dilation=(1, 2))
    last = nn.Conv2D(4, 4, 2, stride=2, padding=2, groups=2)
    return trained_on_pictures(batches, first, nn.Sigmoid(), last)


@scenario
def pooling(net, optimizer, batches):
    pools = nn.MaxPool2D(2, 2, 1), nn.AvgPool2D(2, 1)
    return trained_on_pictures(batches, nn.Conv2D(1, 4, 3, padding=1), *pools)


@scenario
def windows_that_lack_rows(net, optimizer, batches):
    return trained_on_pictures(batches, nn.Conv2D(1, 4, 3, padding=1), nn.MaxPool2D((14, 2), (14, 2)))


class TextCNN(nn.Layer):
    """The largest value of each channel of several convolutions over words, by windows that are as long as these."""

    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(10, 4), nn.Linear(15, 3)
        self.convs = nn.LayerList([nn.Conv1D(4, 5, k) for k in (2, 3, 4)])

    def forward(self, words):
        x = self.words(words).transpose([0, 2, 1])
        found = [F.relu(conv(x)) for conv in self.convs]
        pooled = [F.max_pool1d(y, y.shape[2], stride=1 + i).squeeze(2) for i, y in enumerate(found)]
        return self.head(paddle.concat(pooled, 1))


def trained_on_words(batches, net):
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    losses = [stepped(optimizer, F.cross_entropy(net(words), words[:, 0] % 3)) for words in batches]
    return [*losses, *net.state_dict().values()]


@scenario
def pictures_that_become_one_element(net, optimizer, batches):
    shrinking = [nn.Conv2D(n, 6, 3, 2, 1) for n in (1, 6, 6)]
    return trained_on_pictures(batches, *shrinking, nn.ReLU(), nn.Conv2D(6, 4, 1), nn.Conv2D(4, 4, 3, padding=1))


@scenario
def windows_over_all(net, optimizer, batches):
    return trained_on_words(batches, TextCNN())


@scenario
def windows_over_pictures(net, optimizer, batches):
    class Whole(nn.Layer):
        def forward(self, x):
            return F.max_pool2d(x, x.shape[2:])

    return trained_on_pictures(batches, nn.Conv2D(1, 4, 3, padding=1), nn.ReLU(), Whole())


@scenario
def upsampling(net, optimizer, batches):
    layers = nn.Conv2D(1, 4, 3, 2, 1), nn.Conv2DTranspose(4, 4, 3, 2, 1), nn.Upsample(scale_factor=2)
    return trained_on_pictures(batches, *layers)


@scenario
def few_windows_and_many(net, optimizer, batches):
    return trained_on_pictures(batches, nn.Conv2D(1, 4, 5, padding=1), nn.Hardtanh())


@pytest.fixture(autouse=True)
def only_new_programs(monkeypatch):
    """Nothing is compiled as a whole."""
    monkeypatch.setattr(lazy_program.LazyProgram, "should_compile", lambda self, arrays: False)
    state.interpreter = EAGER


@pytest.fixture
def written(monkeypatch):
    """What was written with sizes left open."""
    found, make = [], open_programs._make
    monkeypatch.setattr(open_programs, "_make", lambda *a: found.append(make(*a)) or found[-1])
    forget()
    return found


def forget():
    open_programs._open._groups.clear()
    open_programs._looks._groups.clear()
    lazy_program._programs.clear()


def results(name, waits):
    deferral.set(waits)
    paddle.set_flags({"FLAGS_host_tier": not waits})  # small arrays of XLA's wait too
    paddle.seed(3)
    net = Net()
    rng = np.random.default_rng(0)
    batches = [paddle.to_tensor(rng.integers(0, 10, (2, n))) for n in LENGTHS]
    found = SCENARIOS[name](net, paddle.optimizer.Adam(0.02, epsilon=1e-2, parameters=net.parameters()), batches)
    found += list(net.state_dict().values())
    return [np.asarray(f.numpy() if isinstance(f, paddle.Tensor) else f) for f in found]


@pytest.mark.parametrize("name", SCENARIOS)
def test_open_sizes_change_nothing(name, written):
    expected = results(name, False)
    for _ in range(2):  # at first ops are traced, and garbage of it holds results that nobody asks for
        forget()
        for found, want in zip(results(name, True), expected, strict=True):
            np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-2 if "bfloat16" in name else 1e-3)
    assert any(written)


def test_ops_that_did_not_wait_are_part_of_the_gradient(written):
    """What NumPy has computed at once, the words of a static layer that runs as Python, needs a gradient, too."""
    rng, found = np.random.default_rng(0), []
    batches = [paddle.to_tensor(rng.integers(0, 10, (2, n))) for n in (5, 6, 7, 12, 11, 9, 13)]
    for make in (lambda net: net, paddle.jit.to_static):
        written.clear()
        forget()
        paddle.seed(3)
        found.append(trained_on_words(batches, make(TextCNN())))
    assert any(written)
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-5)


def test_sizes_are_open_where_the_last_picture_has_one_element(written):
    paddle.set_flags({"FLAGS_host_tier": False})
    batches = [paddle.ones([2, n], "int64") for n in (8, 7, 6, 5)]
    SCENARIOS["pictures_that_become_one_element"](None, None, batches)
    assert len(written) <= 2 and any(written)


def test_one_function_serves_all_sizes(written):
    paddle.set_flags({"FLAGS_host_tier": False})
    net = Net()
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())

    def train(*lengths):
        training(net, optimizer, [paddle.ones([2, n], "int64") for n in lengths])

    train(*LENGTHS)
    known = len(written)
    train(10, 8, 13)
    assert len(written) == known > 0


def test_shapes_are_compiled_that_come_as_often_as_there_are_others():
    program = lazy_program.LazyProgram((), (), lazy_program.Wanted((), (), ()))
    rare = [program.is_rare([np.ones(n)]) for n in (1, 1, 1, 2, 2, 3, 4, 2, 2, 5, 1, 1)]
    assert rare == [True, False, False, True, False, True, True, True, False, True, True, False]


def test_an_error_is_that_of_the_op(written):
    paddle.set_flags({"FLAGS_host_tier": False})
    net = Net()
    for n in LENGTHS:
        words = paddle.ones([2, n], "int64")
        with pytest.raises(ValueError, match=r"x|y|broadcast"):
            net(words) + paddle.ones([3, n, 10])
        stepped(paddle.optimizer.SGD(0.1, parameters=net.parameters()), loss_of(net, words))
    with pytest.raises((IndexError, ValueError), match="label|index|holds 10"):
        float(loss_of(net, words + 9))
