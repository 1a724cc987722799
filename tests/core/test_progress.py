"""The line about a long compilation."""

from __future__ import annotations

import time

import jax
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.core import progress


@pytest.fixture
def patience(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS", 0.01)


def compiled_slowly(name: str) -> None:
    def f(x):
        for i in range(150):
            x = jax.numpy.sin(x) * jax.numpy.cos(x + i) if i % 2 else jax.numpy.sort(x)
        return x

    f.__name__ = name
    jax.jit(f)(jax.numpy.arange(float(len(name))))
    time.sleep(0.05)


def test_a_long_compilation_says_what_it_is(patience, capsys):
    compiled_slowly("slow")
    assert "compiling `slow`" in capsys.readouterr().err
    paddle.set_flags({"FLAGS_compile_progress": False})
    compiled_slowly("quiet")
    assert "quiet" not in capsys.readouterr().err


def test_a_short_one_says_nothing(capsys):
    jax.jit(lambda x: x + 1)(1.0)
    assert "compiling" not in capsys.readouterr().err and not progress._waiting
