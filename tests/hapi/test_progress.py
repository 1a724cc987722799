"""What Model shows: a bar on a terminal, lines elsewhere; files that TensorBoard opens; figures beside XLA's."""

from __future__ import annotations

import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.utils.event_file import EventFile, crc32c

DATA = [(np.full(4, i, "float32"), np.array([i % 2])) for i in range(12)]
PROGRAM = """
import numpy as np, paddle_lite_py as paddle
net = paddle.nn.Linear(4, 2)
model = paddle.Model(net)
model.prepare(
    paddle.optimizer.SGD(0.1, parameters=net.parameters()), paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy()
)
data = [(np.full(4, i, "float32"), np.array([i % 2])) for i in range(12)]
model.fit(data, data, batch_size=4, epochs=2, log_freq=1)
"""


def model():
    net = nn.Linear(4, 2)
    made = paddle.Model(net)
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    made.prepare(opt, nn.CrossEntropyLoss(), paddle.metric.Accuracy())
    return made


def on_a_terminal(program: str) -> str:
    """What a program shows on a terminal."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 160))
    done = subprocess.Popen([sys.executable, "-c", program], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert done.wait() == 0, shown.decode()
    return shown.decode()


def test_a_terminal_shows_a_bar():
    shown = on_a_terminal(PROGRAM)
    bars = [part for part in re.split(r"[\r\n]+", shown) if part.startswith("Epoch 2/2")]
    assert re.search(r"100%.*3/3.*loss: \d+\.\d{4} - acc: \d\.\d{4}, [\d.,]+ samples/s", bars[-1])
    assert "<" in bars[-1] and "ms/step" not in shown and re.search(r"Eval: 100%.*acc: ", shown)


def test_elsewhere_there_are_lines(capsys):
    model().fit(DATA, DATA, batch_size=4, epochs=1, log_freq=2)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Epoch 1/1" and [line[:8] for line in lines[1:]] == [
        "step 2/3",
        "step 3/3",
        "Eval",
        "Eval 3/3",
    ]
    assert all(re.search(r"loss: .* - acc: .* - [\d.]+ms/step - [\d.,]+ samples/s", line) for line in lines[1:3])


def records(path):
    """The events of a file, whose checksums are right."""
    data = path.read_bytes()

    def masked(part):
        crc = crc32c(part)
        return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF

    while data:
        (size,), (check,) = struct.unpack("<Q", data[:8]), struct.unpack("<I", data[8:12])
        event, (after,) = data[12 : 12 + size], struct.unpack("<I", data[12 + size : 16 + size])
        assert (check, after) == (masked(data[:8]), masked(event))
        yield event
        data = data[16 + size :]


def test_event_files(tmp_path):
    made = model()
    made.fit(DATA, DATA, batch_size=4, epochs=2, verbose=0, callbacks=[paddle.callbacks.TensorBoard(str(tmp_path))])
    (path,) = tmp_path.iterdir()
    found = list(records(path))
    assert len(found) == 1 + 2 * (3 * 2 + 2) and b"brain.Event:2" in found[0] and b"train/loss" in found[1]
    with pytest.raises(ValueError, match="closed"):
        file = EventFile(str(tmp_path))
        file.close()
        file.add_scalar("a", 1.0, 0)


def test_tensorboard_opens_event_files(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    file = EventFile(str(tmp_path))
    for step in (1, 300):
        file.add_scalar("train/loss", step / 8, step)
    file.close()
    shown = accumulator.EventAccumulator(str(tmp_path))
    shown.Reload()
    assert [(e.step, e.value) for e in shown.Scalars("train/loss")] == [(1, 0.125), (300, 37.5)]


def test_figures_of_a_network_are_those_of_xla(capsys):
    net = nn.Sequential(
        nn.Conv2D(3, 8, 3), nn.ReLU(), nn.Conv2D(8, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(2304, 32)
    )
    net.eval()
    lowered = paddle.jit.to_static(lambda x: net(x)).lower(paddle.zeros([1, 3, 16, 16]))
    compiled = lowered.compile()
    products = paddle.flops(nn.Sequential(*[layer for layer in net if not isinstance(layer, nn.ReLU)]), [1, 3, 16, 16])
    assert compiled.cost_analysis()["flops"] == pytest.approx(2 * products, rel=0.03)
    found = paddle.summary(net, (1, 3, 16, 16))
    held = compiled.memory_analysis()["argument"]
    assert held == pytest.approx(4 * (found["total_params"] + 3 * 16 * 16), rel=0.01)
    assert f"Params size (MB): {4 * found['total_params'] / 2**20:.2f}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"verbose": 0, "num": 3}, r""),
        ({"verbose": 2, "num": 3}, r"step 1/3 - loss: 0\.5000 - t: 2 s - \S+ms/step\nstep 3/3 - \S+ms/step\n"),
        ({"name": "batch"}, r"batch 1 - loss: 0\.5000 - t: 2 s - \S+ms/batch\nbatch 3 - \S+ms/batch\n"),
        ({"num": 3, "width": 5}, r"[^\n]*\rstep 3/3 \[=====\], - \S+ms/step\n"),
    ],
)
def test_a_bar_for_callbacks_of_the_users(given, expected):
    from paddle_lite_py.hapi.progressbar import ProgressBar

    file = io.StringIO()
    bar = ProgressBar(file=file, **given)
    bar.update(1, [("loss", np.array([0.5])), ("t", "2 s")])
    bar.update(3)
    assert re.fullmatch(expected, file.getvalue()), file.getvalue()
