"""What speed rests on, counted instead of timed: `make bench` tells the times."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dy2static

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import converter

    return converter


def steps(call: Callable[[], Any]) -> int:
    """How many functions a call runs through."""
    seen = []
    sys.setprofile(lambda frame, event, arg: seen.append(event))
    try:
        call()
    finally:
        sys.setprofile(None)
    return sum(event == "call" for event in seen)


def test_the_programs_do_the_same_converted(bench):
    for function, argument in bench.PROGRAMS:
        assert dy2static.convert(function)(argument) == function(argument)


def test_converting_grows_with_the_text(bench):
    few, many = bench.made(bench.program(2)), bench.made(bench.program(8))
    dy2static.convert(bench.made(bench.program(1)))
    first, second = (steps(lambda f=f: dy2static.convert(f, dy2static.Runtime())) for f in (few, many))
    assert second < 4.2 * first


def test_nothing_is_converted_twice(bench):
    f = bench.made(bench.program(2))
    dy2static.convert(f)
    assert steps(lambda: dy2static.convert(f)) < 20


def test_python_values_meet_no_operator():
    def f(n):
        total = 0
        while n > 0:
            if n % 3 == 0 and not n == 6:
                total += n
            n -= 1
        return total

    converted = dy2static.convert(f)
    assert steps(lambda: converted(50)) == steps(lambda: f(50))


def test_staged_code_waits_for_a_staged_value():
    from toy import Staged, Toy

    def f(x):
        return x if x > 0 else -x

    def g(x):
        if x > 0:
            return f(x)
        return x * 2

    converted = dy2static.convert(g, Toy())
    assert converted(3) == 3
    assert steps(lambda: converted(Staged(3))) > steps(lambda: converted(Staged(3)))  # it is compiled once
