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
    f = paddle.jit.to_static(lambda x: x + random.gauss(0, 1))
    with pytest.warns(UserWarning, match="draws from the numbers of Python or NumPy"):
        f(paddle.ones([2]))


def test_other_methods_and_draws_of_paddle_are_not_told():
    def f(x):
        RNG.bit_generator, OLD.get_state()
        return x + paddle.rand([2]) + np.linspace(0, 1, 2).astype("float32")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paddle.jit.to_static(f)(paddle.ones([2]))
