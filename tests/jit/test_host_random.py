"""Random numbers of Python and NumPy in static functions: a program keeps them, which is told."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest

import paddle_lite_py as paddle

RNG, OLD, OWN = np.random.default_rng(0), np.random.RandomState(0), random.Random(0)
DRAWS = {
    "Generator.normal()": lambda x: x + RNG.normal(),
    "RandomState.randn()": lambda x: x + OLD.randn(2).astype("float32"),
    "RandomState.rand()": lambda x: x + np.random.rand(),
    "Random.random()": lambda x: x + OWN.random(),
    "Random.uniform()": lambda x: x + OWN.uniform(0, 1),
    "Random.randint()": lambda x: x + OWN.randint(0, 9),
    "Random.choice()": lambda x: x + OWN.choice([1.0, 2.0]),
    "Random.sample()": lambda x: x + OWN.sample([1.0, 2.0], 1)[0],
}


@pytest.mark.parametrize("what", DRAWS)
def test_what_is_drawn_is_told_with_its_line(what):
    f = paddle.jit.to_static(DRAWS[what])
    line = DRAWS[what].__code__.co_firstlineno
    with pytest.warns(UserWarning) as told:
        first = f(paddle.ones([2]))
    assert len(told) == 1 and f"draws from {what} at test_host_random.py:{line} while" in str(told[0].message)
    assert f(paddle.ones([2])).tolist() == first.tolist()  # without a warning: nothing is traced


def test_what_a_module_draws_within_is_told():
    f = paddle.jit.to_static(lambda x: x + random.betavariate(1, 1))
    with pytest.warns(UserWarning, match=r"draws from Random.betavariate\(\)"):
        f(paddle.ones([2]))


def test_a_staged_loop_does_not_draw():
    def drawn(x):
        while x.sum() < 20:
            x = x + OWN.uniform(1, 2)
        return x

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        paddle.jit.to_static(drawn)(paddle.ones([2]))
    said = " ".join(str(w.message) for w in told)
    assert "has no single static program: Random.uniform()" in said and "while it is traced" in said


def test_other_methods_and_draws_of_paddle_are_not_told():
    def f(x):
        RNG.bit_generator, OLD.get_state()
        return x + paddle.rand([2]) + np.linspace(0, 1, 2).astype("float32")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paddle.jit.to_static(f)(paddle.ones([2]))
