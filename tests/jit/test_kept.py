"""Layers that change more than buffers when they are called, saved."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn

X = paddle.ones([1, 2])


class Keeps(nn.Layer):
    """Has attributes of each kind, which `body` changes."""

    def __init__(self, body):
        super().__init__()
        self.fc, self.body = nn.Linear(2, 2), body
        self.training_only, self.calls, self.features, self.cache = False, 0, None, {}
        self.state = paddle.zeros([1, 2])
        self.register_buffer("total", paddle.zeros([1, 2]))

    def forward(self, x):
        return self.body(self, x)


def writes_what_is_there(self, x):
    self.training_only = False
    return self.fc(x)


def counts(self, x):
    self.calls += 1
    return self.fc(x)


def leaves_features(self, x):
    self.features = self.cache["x"] = self.fc(x)
    return self.features + 1


def adds_to_a_buffer(self, x):
    self.features = x * 2
    self.total.add_(x)
    return self.fc(self.total), self.features


def carries_state(self, x):
    self.state = self.state + x
    return self.fc(self.state)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (writes_what_is_there, None),
        (counts, r"it changes Keeps\.calls, which a saved program does not do"),
        (leaves_features, r"it changes Keeps\.features, dict\['x'\], which"),
        (adds_to_a_buffer, r"it changes Keeps\.features, which"),
    ],
)
def test_what_only_python_can_see_is_left_out(tmp_path, body, told):
    net = Keeps(body)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        paddle.jit.save(net, str(tmp_path / "net"), input_spec=[X])
    assert len({str(w.message) for w in seen}) == bool(told)
    if told:
        assert re.search(told, str(seen[0].message)) and seen[0].filename == __file__
    loaded = paddle.jit.load(str(tmp_path / "net"))
    for _ in range(2):  # the buffer goes on from what it is
        for a, b in zip(paddle.utils.flatten(loaded(X)), paddle.utils.flatten(net(X)), strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


def test_state_that_the_next_call_reads_is_to_be_a_buffer(tmp_path):
    with pytest.raises(
        ValueError, match=r"it changes Keeps\.state, which a saved program cannot keep; make it a buffer"
    ):
        paddle.jit.save(Keeps(carries_state), str(tmp_path / "net"), input_spec=[X])


class Output(dict):
    """A kind of dict, as packages of models give."""


def gives_a_container_of_its_own(self, x):
    out = Output()
    out["y"] = self.fc(x)
    return out


def test_what_is_given_is_nothing_kept(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paddle.jit.save(Keeps(gives_a_container_of_its_own), str(tmp_path / "net"), input_spec=[X])


def test_the_state_of_random_numbers_is_that_of_the_run():
    def f(x):
        kept = paddle.get_rng_state()
        first = paddle.rand([2])
        paddle.set_rng_state(kept)
        return first, paddle.rand([2]) + x * 0

    drawn = []
    for run in (f, paddle.jit.to_static(f)):
        paddle.seed(5)
        drawn.append([[t.tolist() for t in run(paddle.ones([2]))] for _ in range(3)])
    assert drawn[0] == drawn[1]
    assert all(a == b for a, b in drawn[0]) and drawn[0][0] != drawn[0][1]
