"""Batches of a Model as programs: the same numbers as eager ones, few programs, and what cannot be compiled."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.hapi.compiled_engine import CompiledEngine

N = 20
RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(2, N, 4)).astype("float32")
Y = (X.sum(1) > 0).astype("int64")[:, None]


class Rows(paddle.io.Dataset):
    def __init__(self, *columns) -> None:
        self.columns = columns

    def __getitem__(self, i):
        return tuple(c[i] for c in self.columns)

    def __len__(self):
        return len(self.columns[0])


class Two(nn.Layer):
    """Two inputs, two outputs, and state of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.norm = nn.Linear(4, 3), nn.Linear(4, 3), nn.BatchNorm1D(3)

    def forward(self, x, z):
        h = self.norm(self.a(x) + self.b(z))
        return h, h.mean(axis=1, keepdim=True)


class Peeks(nn.Layer):
    """Asks for the values of a tensor in a way that no program can."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        np.asarray(x.numpy())  # peeks
        return self.fc(x)


class Seen(paddle.metric.Metric):
    """A metric whose compute() is Python of the host."""

    def __init__(self) -> None:
        super().__init__()
        self.reset()

    def name(self):
        return "seen"

    def reset(self):
        self.rows = 0

    def compute(self, pred, label):
        return np.array([len(row) for row in pred.numpy()])

    def update(self, rows):
        self.rows += len(rows)
        return self.rows

    def accumulate(self):
        return float(self.rows)


def classifier(eager, net=None, metrics=None, amp=None):
    paddle.seed(0)
    # A bias before the normalization would have rounding for a gradient, and Adam makes much of small differences.
    layers = [nn.Linear(4, 8, bias_attr=False), nn.BatchNorm1D(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 2)]
    net = net() if net else nn.Sequential(*layers)
    made = paddle.Model(net, eager=eager)
    rate = paddle.optimizer.lr.ExponentialDecay(0.05, 0.9)
    opt = paddle.optimizer.AdamW(rate, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
    made.prepare(opt, nn.CrossEntropyLoss(), metrics or [paddle.metric.Accuracy()], amp_configs=amp)
    return made


def two(eager):
    paddle.seed(0)
    net = Two()
    made = paddle.Model(net, inputs=[None, None], eager=eager)
    opt = paddle.optimizer.Momentum(0.1, parameters=net.parameters())
    first, second = nn.CrossEntropyLoss(), nn.MSELoss()
    made.prepare(opt, lambda h, m, y, t: [first(h, y), second(m, t)])
    return made


def course(made, data, every=1):
    """What a training gives: losses after each batch, the evaluation, predictions, weights."""
    losses = []

    class Ear(paddle.callbacks.Callback):
        def on_train_batch_end(self, step, logs=None):
            losses.append([*logs["loss"], logs.get("acc", 0.0)])

    made.fit(data, batch_size=8, epochs=2, verbose=0, shuffle=False, callbacks=[Ear()], accumulate_grad_batches=every)
    found = made.evaluate(data, batch_size=8, verbose=0)
    outputs = made.predict(data, batch_size=8, stack_outputs=True, verbose=0)
    return [
        np.array(losses),
        *map(np.array, found.values()),
        *outputs,
        *[v.numpy() for v in made.network.state_dict().values()],
    ]


def programs(made):
    return {k[:1] + k[2:]: s._program.cache.count for k, s in made._engine._steps.items()}


CASES = {
    "plain": (classifier, Rows(X, Y), 1),
    "two inputs, outputs and losses": (two, Rows(X, Z, Y, X[:, :1]), 1),
    "accumulated": (classifier, Rows(X, Y), 2),
    "bfloat16": (lambda eager: classifier(eager, amp={"level": "O1", "dtype": "bfloat16"}), Rows(X, Y), 1),
    "float16 throughout": (lambda eager: classifier(eager, amp="O2"), Rows(X, Y), 1),
}


@pytest.mark.parametrize("case", CASES)
def test_a_compiled_model_gives_what_an_eager_one_gives(case):
    make, data, every = CASES[case]
    made = make(False)
    ours, theirs = course(made, data, every), course(make(True), data, every)
    low = "float" in case
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=0.1 if low else 2e-4, atol=0.05 if low else 2e-5)
    # One program for batches of 8 and one for the last, of 4, which is the one that updates when two are added up.
    steps = {("train", True): 2} if every == 1 else {("train", False): 1, ("train", True): 2}
    assert programs(made) == {**steps, ("eval", False): 2, ("predict", False): 2}


def test_a_model_that_cannot_be_compiled_runs_eagerly_with_one_warning():
    data = Rows(X, Y)
    made = classifier(False, Peeks)
    with pytest.warns(UserWarning, match="run eagerly") as told:
        made.fit(data, batch_size=8, verbose=0, shuffle=False, epochs=2)
    line = next(i for i, text in enumerate(Path(__file__).read_text().splitlines(), 1) if "# peeks" in text)
    assert len(told) == 1 and f"test_compiled.py:{line}" in str(told[0].message) and "Peeks" in str(told[0].message)
    other = classifier(True, Peeks)
    other.fit(data, batch_size=8, verbose=0, shuffle=False, epochs=2)
    for a, b in zip(made.parameters(), other.parameters(), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("draw", [random.random, np.random.rand])
def test_random_numbers_of_the_host_are_drawn_anew_in_each_step(draw):
    class Draws(Peeks):
        def forward(self, x):
            return self.fc(x * draw())

    def trained(eager):
        random.seed(4), np.random.seed(4)
        made = classifier(eager, Draws)
        made.fit(Rows(X, Y), batch_size=4, verbose=0, shuffle=False)
        return [p.numpy() for p in made.parameters()]

    with pytest.warns(UserWarning, match="run eagerly.*random numbers of Python or NumPy"):
        ours = trained(False)
    for a, b in zip(ours, trained(True), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_generator_of_the_users_is_drawn_from_in_each_step():
    class Draws(Peeks):
        def __init__(self):
            super().__init__()
            self.rng = np.random.default_rng(0)

        def forward(self, x):
            return self.fc(x * self.rng.normal())  # draws

    made = classifier(False, Draws)
    with pytest.warns(UserWarning, match=r"run eagerly.*Generator.normal\(\) at test_compiled.py:\d+"):
        made.fit(Rows(X, Y), batch_size=4, verbose=0, shuffle=False)
    other = np.random.default_rng(0)
    other.normal(size=N // 4)  # what was drawn for a program that is not run was put back
    assert made.network.rng.normal() == other.normal()


def test_metrics_of_the_host_leave_the_step_a_program():
    made = classifier(False, metrics=[Seen(), paddle.metric.Accuracy()])
    found = course(made, Rows(X, Y))
    assert found[1] < 2 and made.evaluate(Rows(X, Y), batch_size=8, verbose=0)["seen"] == N
    assert programs(made) == {("train", True): 2, ("eval", False): 2, ("predict", False): 2}


def test_the_error_of_a_layer_is_its_own():
    class Fails(Peeks):
        def forward(self, x):
            if x.shape[0] == 4:
                raise KeyError("the last batch")
            return self.fc(x)

    with pytest.raises(KeyError, match="the last batch"):
        classifier(False, Fails).fit(Rows(X, Y), batch_size=8, verbose=0)
    with pytest.raises(ValueError, match="linear"):
        classifier(False).train_batch([X[:, :3]], [Y])


def test_another_optimizer_is_another_program():
    made = classifier(False)
    made.train_batch([X], [Y])
    before = made.network[0].weight.numpy()
    made._optimizer = paddle.optimizer.SGD(0.0, parameters=made.parameters())
    made.train_batch([X], [Y])
    assert not np.array_equal(before, X) and isinstance(made._engine, CompiledEngine)
    np.testing.assert_array_equal(made.network[0].weight.numpy(), before)


def test_data_that_decide_anew_each_time_do_not_compile_for_ever(recwarn):
    class Positive(Peeks):
        def forward(self, x):
            kept = x[x[:, 0] > self.least]  # another number of rows each time
            return self.fc(kept).mean(axis=0, keepdim=True).expand([x.shape[0], 2])

    made = classifier(False, Positive)
    made.network.least = paddle.zeros([])
    for k in range(12):
        made.network.least.set_value(np.float32(np.sort(X[:, 0])[k] + 1e-4))
        made.train_batch([X], [Y])
    texts = [str(w.message) for w in recwarn.list if "run eagerly" in str(w.message)]
    assert len(texts) == 1 and "data decide" in texts[0]
    assert made._engine._steps["train", 1, True]._program.cache.count <= 9


class Pooled(nn.Layer):
    """Takes images of any size; the mean is over those pixels that are there."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.fc = nn.Conv2D(1, 4, 1, bias_attr=False), nn.Linear(4, 2)

    def forward(self, x, size):
        return self.fc(self.conv(x).sum(axis=[2, 3]) / size.prod(axis=1, keepdim=True).astype("float32"))


def images(count):
    """Images of ever new sizes, and their labels."""
    rng = np.random.default_rng(1)
    return [(rng.normal(size=(1, 3 + i % 5, 4 + i % 7)).astype("float32"), np.array([i % 2])) for i in range(count)]


def test_images_of_many_sizes_are_few_programs():
    pad = paddle.io.PadCollate([8, 12], axis=(1, 2), with_lengths=True)

    def collate(batch):
        x, label, size = pad(batch)
        return x, size, label

    def fitted(eager):
        paddle.seed(0)
        net = Pooled()
        made = paddle.Model(net, inputs=[None, None], eager=eager)
        made.prepare(paddle.optimizer.SGD(0.1, parameters=net.parameters()), nn.CrossEntropyLoss())
        loader = paddle.io.DataLoader(images(36), batch_size=4, collate_fn=collate)
        made.fit(loader, epochs=2, verbose=0)
        return made

    made, other = fitted(False), fitted(True)
    assert programs(made) == {("train", True): 2}  # widths up to 8, and up to 12, in 18 batches
    for a, b in zip(made.parameters(), other.parameters(), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=2e-4, atol=1e-5)


# -- numbers are fetched when somebody looks ---------------------------------------------------------------------------
def test_numbers_are_read_when_a_callback_looks_at_them():
    from paddle_lite_py.hapi.callbacks import CallbackList, LRScheduler
    from paddle_lite_py.hapi.progress import ProgBarLogger

    class Own(LRScheduler):
        def on_train_batch_end(self, step, logs=None):
            self.seen = logs

    def reads(*callbacks):
        heard = CallbackList(callbacks, None, {"steps": 7})
        return [heard.reads("train_batch_end", step) for step in range(7)]

    assert reads(LRScheduler(), ProgBarLogger(3, 2)) == [False, False, True, False, False, True, True]
    assert not any(reads(LRScheduler(), ProgBarLogger(3, 1)))
    assert all(reads(Own()))


def test_the_metric_of_an_epoch_takes_in_every_batch():
    made = classifier(False, metrics=[Seen()])
    logs = []

    class Ear(paddle.callbacks.Callback):
        def on_epoch_end(self, epoch, told=None):
            logs.append(told)

    made.fit(Rows(*[np.concatenate([a] * 4) for a in (X, Y)]), batch_size=2, verbose=0, callbacks=[Ear()])
    assert logs[0]["seen"] == 4 * N and logs[0]["step"] == 39 and len(logs[0]["loss"]) == 1


# -- Ctrl-C ------------------------------------------------------------------------------------------------------------
class Press(paddle.callbacks.Callback):
    def __init__(self, times: int) -> None:
        super().__init__()
        self.times, self.ended = times, []

    def on_train_batch_end(self, step, logs=None):
        if step == 1:
            for _ in range(self.times):
                os.kill(os.getpid(), signal.SIGINT)

    def on_epoch_end(self, epoch, logs=None):
        self.ended.append((epoch, logs["step"]))


def test_ctrl_c_ends_an_epoch_after_the_batch(capsys):
    made, press = classifier(False), Press(1)
    made.fit(Rows(X, Y), Rows(X, Y), batch_size=4, epochs=3, verbose=0, shuffle=False, callbacks=[press])
    other = classifier(False)
    other.fit(Rows(X, Y), batch_size=4, num_iters=2, verbose=0, shuffle=False)
    assert press.ended == [(0, 1)] and "training stops after this batch" in capsys.readouterr().err
    for a, b in zip(made.parameters(), other.parameters(), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    with pytest.raises(KeyboardInterrupt):
        made.fit(Rows(X, Y), batch_size=4, verbose=0, callbacks=[Press(2)])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# -- bad input ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("data", "settings", "part"),
    [
        (Rows(X[:0]), {}, "epoch 1: it is a Rows without samples"),
        (Rows(X[:3], Y[:3]), {"batch_size": 4, "drop_last": True}, "a Rows of 3 samples, fewer than a batch"),
        (iter([(X, Y)]), {"epochs": 2}, "epoch 2: an iterator is used up"),
    ],
)
def test_nothing_to_train_on_is_an_error(data, settings, part):
    with pytest.raises(ValueError, match=part):
        classifier(False).fit(data, verbose=0, **settings)


def test_a_callback_that_raises_is_named():
    class Fails(paddle.callbacks.Callback):
        def on_train_batch_end(self, step, logs=None):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full") as caught:
        classifier(False).fit(Rows(X, Y), batch_size=4, verbose=0, callbacks=[Fails()])
    assert caught.value.__notes__ == ["in on_train_batch_end(0) of the callback Fails"]


def test_a_metric_that_raises_is_named():
    class Fails(Seen):
        def update(self, rows):
            raise OverflowError("too many")

    with pytest.raises(OverflowError, match="too many") as caught:
        classifier(False, metrics=[Fails()]).evaluate(Rows(X, Y), batch_size=20, verbose=0)
    assert caught.value.__notes__ == ["in update() of the metric Fails, for ndarray[20]"]


@pytest.mark.parametrize("workers", [0, 2])
def test_samples_that_do_not_fit_together_are_named(workers):
    ragged = [(np.zeros(5 if i == 6 else 4, "float32"), np.array([0])) for i in range(8)]
    with pytest.raises(ValueError, match=r"number 2 \(\(5,\)\) of the batch") as caught:
        classifier(False).fit(ragged, batch_size=4, shuffle=False, verbose=0, num_workers=workers)
    notes = " ".join(caught.value.__notes__)
    assert "in the field 0 of the samples" in notes and "samples [4, 5, 6, 7]" in notes
    mixed = [(np.zeros(4, "float32") if i else "text", np.array([0])) for i in range(4)]
    with pytest.raises(
        TypeError, match=r"Unlike the others: number 0|number [123]|cannot be batched|expected one kind"
    ):
        classifier(False).fit(mixed[::-1], batch_size=4, shuffle=False, verbose=0, num_workers=workers)
