"""Checkpoints: what they hold, which are kept, and that a training which was killed goes on to the same bits."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

import numpy as np
import pytest

import house
import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.hapi import Checkpoints

SCRIPT = house.ROOT / "tests" / "helpers" / "resumed_training.py"
DATA = [(np.full(4, i / 9, "float32"), np.array([i % 2])) for i in range(10)]


def parts(kind=paddle.optimizer.Adam):
    net = nn.Linear(4, 2)
    return net, kind(paddle.optimizer.lr.StepDecay(0.1, 2), parameters=net.parameters())


def step(net, opt):
    net(paddle.rand([3, 4])).mean().backward()
    opt.step()
    opt.clear_grad()
    opt._learning_rate.step()


def started(folder, kind):
    env = {**os.environ, "PYTHONPATH": str(house.ROOT)}
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(folder), kind], stdout=subprocess.PIPE, text=True, env=env
    )


def digest(folder, kind, kills=0):
    """What a training ends with that is killed so many times on the way, and how often it was."""
    draw, killed = random.Random(1), 0
    while True:
        with started(folder, kind) as running:
            assert running.stdout.readline() == "begun\n"
            if killed == kills:
                return running.stdout.readline(), killed
            time.sleep(draw.uniform(0.0, 0.35))
            if running.poll() is not None:
                return running.stdout.readline(), killed
            running.kill()
            killed += 1


@pytest.mark.parametrize("kind", ["fit", pytest.param("loop", marks=pytest.mark.repeat)])
def test_a_killed_training_goes_on_to_the_same_bits(tmp_path, kind):
    whole, _ = digest(tmp_path / "whole", kind)
    found, killed = digest(tmp_path / "killed", kind, int(os.environ.get("KILLS", 2)) // 2)
    assert found == whole and whole.startswith("done ") and killed > 0
    assert not [p for p in (tmp_path / "killed").iterdir() if p.name.startswith(".checkpoint")]


def test_everything_is_put_back(tmp_path):
    paddle.seed(1)
    (net, opt), scaler = parts(), paddle.amp.GradScaler(init_loss_scaling=8.0)
    kept = Checkpoints(tmp_path, net=net, opt=opt, scaler=scaler)
    assert kept.restore() == {}
    step(net, opt)
    kept.save({"epoch": 4})

    def course():
        for _ in range(3):
            step(net, opt)
        return [p.numpy() for p in net.parameters()], np.random.rand(), random.random(), opt.get_lr()

    first = course()
    scaler.set_init_loss_scaling(2.0)
    assert kept.restore() == {"epoch": 4} and scaler.state_dict()["scale"] == 8.0
    second = course()
    assert first[1:] == second[1:] and all((a == b).all() for a, b in zip(first[0], second[0], strict=True))


def test_an_optimizer_is_found_under_other_names(tmp_path):
    (net, opt), (other, theirs) = parts(), parts()
    step(net, opt)
    Checkpoints(tmp_path, net=net, opt=opt).save({})
    Checkpoints(tmp_path, net=other, opt=theirs).restore()
    assert net.weight.name != other.weight.name and opt.get_lr() == theirs.get_lr()
    ours, own = opt.state_dict(), theirs.state_dict()
    a, b = ours[f"{net.weight.name}_moment1_0"], own[f"{other.weight.name}_moment1_0"]
    assert (a.numpy() == b.numpy()).all() and (a.numpy() != 0).any()


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_newest_and_the_best_are_kept(tmp_path, asynchronous):
    net, _ = parts()
    kept = Checkpoints(tmp_path, keep=2, best="loss", asynchronous=asynchronous, net=net)
    for i, score in enumerate([3.0, 1.0, 2.0, 5.0]):
        net.bias.set_value(np.full(2, i, "float32"))
        kept.save({"i": i}, score)
        net.bias.set_value(np.full(2, 9, "float32"))  # not seen by what is being written
    kept.wait()
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "best.pdckpt",
        "checkpoint-00000003.pdckpt",
        "checkpoint-00000004.pdckpt",
    ]
    assert kept.restore() == {"i": 3} and net.bias.tolist() == [3.0, 3.0]
    again = Checkpoints(tmp_path, keep=2, best="loss", net=net)
    again.save({"i": 4}, 1.5)  # no better than what another process has found
    assert again.restore(best=True) == {"i": 1} and net.bias.tolist() == [1.0, 1.0]


def test_a_damaged_checkpoint_is_left_out(tmp_path):
    net, _ = parts()
    kept = Checkpoints(tmp_path, net=net)
    kept.save({"i": 1})
    kept.save({"i": 2})
    newest = tmp_path / "checkpoint-00000002.pdckpt"
    newest.write_bytes(newest.read_bytes()[:-40])
    with pytest.warns(UserWarning, match="checkpoint-00000002.pdckpt is damaged"):
        assert kept.restore() == {"i": 1}


def test_what_does_not_fit_is_named_all_at_once(tmp_path):
    net = nn.Sequential(nn.Linear(4, 2), nn.Linear(2, 2))
    Checkpoints(tmp_path, net=net).save({})
    other = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2), nn.Linear(2, 2))
    before = other[0].bias.numpy()
    with pytest.raises(ValueError, match="does not fit") as caught:
        Checkpoints(tmp_path, net=other, opt=parts()[1]).restore()
    text = str(caught.value)
    for part in (
        "'opt' is not in it",
        "'2.weight' is missing",
        "'0.weight' is [4, 2], here [4, 3]",
        "'1.weight' is [2, 2], here [3, 2]",
    ):
        assert part in text
    assert (other[0].bias.numpy() == before).all()
    with pytest.raises(ValueError, match="keep is 0"):
        Checkpoints(tmp_path, keep=0)


def test_what_could_not_be_written_is_told(tmp_path):
    net, _ = parts()
    (tmp_path / "file").write_text("")
    kept = Checkpoints(tmp_path / "file" / "folder", net=net, asynchronous=True)
    kept.save({})
    with pytest.raises(OSError, match="file"):
        kept.wait()


def test_fit_goes_on_where_it_was_broken_off(tmp_path):
    def model():
        paddle.seed(0)
        net, opt = parts()
        made = paddle.Model(net)
        made.prepare(opt, nn.CrossEntropyLoss())
        return made

    def weights(made):
        return [p.numpy() for p in made.parameters()]

    whole, first, second = model(), model(), model()
    np.random.seed(5)
    whole.fit(DATA, batch_size=2, epochs=3, verbose=0)
    np.random.seed(5)
    first.fit(DATA, batch_size=2, epochs=3, num_iters=7, verbose=0, resume=tmp_path)
    epochs = []

    class Ear(paddle.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            epochs.append(epoch)

    np.random.seed(8)
    second.fit(DATA, batch_size=2, epochs=3, verbose=0, resume=tmp_path, callbacks=[Ear()])
    assert epochs == [1, 2] and all((a == b).all() for a, b in zip(weights(whole), weights(second), strict=True))
    second.fit(DATA, batch_size=2, epochs=3, verbose=0, resume=tmp_path)  # nothing is left to do
    assert all((a == b).all() for a, b in zip(weights(whole), weights(second), strict=True))
