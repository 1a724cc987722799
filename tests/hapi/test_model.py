"""Model, its callbacks, and summaries."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn


class Data(paddle.io.Dataset):
    """Points of two classes."""

    def __init__(self, n: int = 16) -> None:
        rng = np.random.default_rng(0)
        self.x = rng.normal(size=(n, 4)).astype("float32")
        self.y = (self.x.sum(1) > 0).astype("int64")[:, None]

    def __getitem__(self, i):
        return self.x[i], self.y[i]

    def __len__(self):
        return len(self.x)


def model(rate=0.1, amp=None):
    paddle.seed(0)
    with paddle.utils.unique_name.guard():  # the names that a saved optimizer knows its parameters by
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    made = paddle.Model(net)
    opt = paddle.optimizer.Adam(rate, parameters=net.parameters())
    made.prepare(opt, nn.CrossEntropyLoss(), paddle.metric.Accuracy(), amp_configs=amp)
    return made


def test_fit_evaluate_predict(capsys):
    made = model()
    before = made.evaluate(Data(), batch_size=8, verbose=0)
    made.fit(Data(), Data(), batch_size=8, epochs=8, verbose=2)
    after = made.evaluate(Data(), batch_size=8, verbose=0)
    assert after["loss"][0] < before["loss"][0] and after["acc"] > 0.9
    out = capsys.readouterr().out
    assert "Epoch 8/8" in out and "step 2/2 - loss: " in out and "acc: " in out
    (found,) = made.predict(Data(), batch_size=8, stack_outputs=True, verbose=0)
    assert found.shape == (16, 2) and (found.argmax(1) == Data().y[:, 0]).mean() > 0.9


def test_one_batch_at_a_time():
    made, data = model(), Data()
    losses = [made.train_batch([data.x], [data.y])[0][0].item() for _ in range(4)]
    assert losses[-1] < losses[0]
    assert made.predict_batch([data.x])[0].shape == (16, 2)
    with pytest.raises(RuntimeError, match="train_batch needs an optimizer"):
        paddle.Model(nn.Linear(2, 2)).train_batch([np.ones((1, 2), "float32")])


def test_accumulated_gradients_are_those_of_one_batch():
    data, found = Data(8), []
    for size, every in ((4, 2), (8, 1)):
        made = model()
        made._optimizer = paddle.optimizer.SGD(0.1, parameters=made.parameters())
        made._loss = nn.CrossEntropyLoss(reduction="sum")
        made.fit(data, batch_size=size, epochs=1, verbose=0, shuffle=False, accumulate_grad_batches=every)
        found.append([p.numpy() for p in made.parameters()])
    for one, two in zip(*found, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)


def test_mixed_precision():
    made = model(amp={"level": "O1", "dtype": "bfloat16", "init_loss_scaling": 128})
    made.fit(Data(), batch_size=8, epochs=4, verbose=0)
    assert made.evaluate(Data(), batch_size=8, verbose=0)["acc"] > 0.6
    assert made._scaler.state_dict()["scale"] == 128


def test_saved_and_loaded(tmp_path: Path):
    made = model()
    made.fit(Data(), batch_size=8, epochs=2, verbose=0, save_dir=str(tmp_path))
    assert {p.name for p in tmp_path.iterdir()} >= {"0.pdparams", "1.pdopt", "final.pdparams"}
    other = model()
    other.load(str(tmp_path / "final"))
    for a, b in zip(made.parameters(), other.parameters(), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    wrong = paddle.Model(nn.Linear(3, 3))
    with pytest.raises(ValueError, match="does not fit") as caught:
        wrong.load(str(tmp_path / "final"))
    named = ["'0.bias' is not in the network", "'2.weight' is not in", "'bias' is missing", "'weight' is missing"]
    assert all(text in str(caught.value) for text in named)
    with pytest.warns(UserWarning, match="these are left as they are"):
        wrong.load(str(tmp_path / "final"), skip_mismatch=True)


def test_early_stopping_and_plateaus(capsys):
    made = model(rate=0.0)
    stop = paddle.callbacks.EarlyStopping("acc", patience=1, verbose=1)
    lower = paddle.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, verbose=0)
    made._optimizer.set_lr(1e-9)
    made.fit(Data(), Data(), batch_size=8, epochs=9, verbose=0, callbacks=[stop, lower])
    assert stop.stopped_epoch == 2 and "training stops" in capsys.readouterr().out
    assert made._optimizer.get_lr() < 1e-9


def test_callbacks_hear_everything(tmp_path: Path):
    heard = []

    class Ear(paddle.callbacks.Callback):
        def on_train_begin(self, logs=None):
            heard.append(("begin", self.params["epochs"]))

        def on_train_batch_end(self, step, logs=None):
            heard.append((step, sorted(logs)))

    made = model()
    rate = paddle.optimizer.lr.StepDecay(0.1, 1)
    made._optimizer.set_lr_scheduler(rate)
    made.fit(Data(), batch_size=8, verbose=0, num_iters=3, callbacks=[Ear(), paddle.callbacks.VisualDL(str(tmp_path))])
    logs = ["acc", "batch_size", "loss", "step"]
    assert heard == [("begin", 2), (0, logs), (1, logs), (0, logs)] and rate.last_epoch == 3
    lines = [json.loads(line) for line in (tmp_path / "scalars.jsonl").read_text().splitlines()]
    assert len(lines) == 3 and set(lines[0]) == {"step", "train/loss", "train/acc"}


def test_summary_and_flops(capsys):
    net = nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.ReLU(), nn.Flatten(), nn.Linear(18, 4))
    assert paddle.summary(net, (1, 1, 5, 5)) == {"total_params": 104, "trainable_params": 100}
    out = capsys.readouterr().out
    assert re.search(r"Conv2D-\d+", out) and "[1, 2, 3, 3]" in out and "Non-trainable params: 4" in out
    assert net.training
    assert paddle.flops(net, [1, 1, 5, 5], print_detail=True) == 18 * 10 + 2 * 18 + 18 * 4
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:2] == ["Layer", "Name"] and len(lines) == 3 + 5 + 2
    assert re.split(r"  +", lines[3].strip())[1:] == ["[1, 1, 5, 5]", "[1, 2, 3, 3]", "20", "180"]
    with pytest.raises(ValueError, match="give input_size or input"):
        paddle.summary(net)


def test_summary_shows_layers_that_are_made_of_others(capsys):
    block = nn.TransformerEncoderLayer(8, 2, 16)
    paddle.summary(nn.Sequential(block, nn.Linear(8, 1024)), (128, 4, 8))
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines if "-" in line and "[" in line]
    kinds = [name.partition("-")[0] for name in names]
    assert kinds[4] == "MultiHeadAttention" and kinds[-2:] == ["TransformerEncoderLayer", "Linear"]
    assert "Input size (MB): 0.02" in lines and "Params size (MB): 0.04" in lines


# -- static mode -------------------------------------------------------------------------------------------------------
def course(folder, amp=None):
    """All that a Model does: what it finds on the way."""
    paddle.seed(0)
    # A bias before the normalization would have rounding for a gradient, and Adam makes much of small differences.
    net = nn.Sequential(nn.Linear(4, 8, bias_attr=False), nn.BatchNorm1D(8), nn.ReLU(), nn.Linear(8, 2))
    specs = [paddle.static.InputSpec([None, 4], "float32", "x")], [paddle.static.InputSpec([None, 1], "int64", "y")]
    made = paddle.Model(net, *specs)
    rate = paddle.optimizer.lr.StepDecay(0.1, 3)
    kind = paddle.optimizer.SGD if amp else paddle.optimizer.Adam
    opt = kind(rate, parameters=net.parameters())
    made.prepare(opt, nn.CrossEntropyLoss(), [paddle.metric.Accuracy()], amp_configs=amp)
    made.fit(Data(), Data(), batch_size=8, epochs=2, verbose=0, shuffle=False)
    made.save(f"{folder}/trained")
    found = [made.evaluate(Data(), batch_size=8, verbose=0), made.train_batch([Data().x], [Data().y])]
    made.load(f"{folder}/trained")
    found += [made.train_batch([Data().x], [Data().y]), made.eval_batch([Data().x], [Data().y])]
    made.save(f"{folder}/inference", training=False)
    found += [made.predict(Data(), batch_size=8, stack_outputs=True, verbose=0)]
    found += [{n: p.numpy() for n, p in net.named_parameters()}, opt.get_lr()]
    return found, made


def leaves(found):
    if isinstance(found, dict):
        return leaves(list(found.values()))
    return [x for f in found for x in leaves(f)] if isinstance(found, list | tuple) else [np.asarray(found)]


@pytest.mark.parametrize("amp", [None, {"level": "O1", "dtype": "bfloat16", "init_loss_scaling": 1.0}])
def test_a_model_does_the_same_in_static_mode(tmp_path, static_mode, amp):
    static, made = course(tmp_path / "static", amp)
    with pytest.raises(NotImplementedError, match="GradientMergeOptimizer"):
        made.fit(Data(), batch_size=4, accumulate_grad_batches=2, verbose=0)
    paddle.disable_static()
    with paddle.utils.unique_name.guard():
        dynamic, _ = course(tmp_path / "dynamic", amp)
    assert len(leaves(static)) == len(leaves(dynamic)) > 10
    for a, b in zip(leaves(static), leaves(dynamic), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5 if amp is None else 0.05, atol=1e-6 if amp is None else 0.02)
    ready = [paddle.jit.load(str(tmp_path / kind / "inference")) for kind in ("static", "dynamic")]
    for r in ready:
        r.eval()
    a, b = (r(paddle.to_tensor(Data().x)).numpy() for r in ready)
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5 if amp is None else 0.02)
    paddle.enable_static()


def test_a_model_in_static_mode_declares_what_it_is_given(static_mode):
    made = model()
    first = made.evaluate(Data(), batch_size=8, verbose=0)["loss"][0]
    made.fit(Data(), batch_size=8, epochs=4, verbose=0)
    assert made.evaluate(Data(), batch_size=8, verbose=0)["loss"][0] < first
    assert made.predict_batch([Data().x[:3]])[0].shape == (3, 2)


def test_evaluations_are_written_by_epoch(tmp_path: Path):
    made, writer = model(), paddle.callbacks.VisualDL(str(tmp_path))
    made.fit(Data(), Data(), batch_size=16, epochs=2, verbose=0, callbacks=[writer])
    made.evaluate(Data(), batch_size=16, verbose=0, callbacks=[writer])
    lines = [json.loads(line) for line in (tmp_path / "scalars.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if "eval/loss" in line] == [0, 1, 1]
    steps = [line["step"] for line in lines if "train/loss" in line]
    assert steps == list(range(1, len(steps) + 1)) and len(steps) == 2 * len(range(0, len(Data()), 16))


def test_a_summary_calls_the_layer_with_its_input(capsys):
    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = paddle.nn.Linear(2, 3)

        def forward(self, x):
            return self.linear(x["a"] if isinstance(x, dict) else x[0])

    for given in ([paddle.ones([1, 2])], {"a": paddle.ones([1, 2])}):
        assert paddle.summary(Net(), input=given)["total_params"] == 9
    assert "Linear-" in capsys.readouterr().out


def test_a_layer_that_runs_twice_is_one_row_of_a_summary(capsys):
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    net = nn.Sequential(first, second, first)
    assert paddle.summary(net, (1, 2))["total_params"] == 12
    rows = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.strip().startswith("Linear-")]
    assert rows == [f"Linear-{int(layer.full_name().rpartition('_')[2]) + 1}" for layer in (first, second)]
