"""Measures converted code on Python values against the code as it was, and the time to convert.

usage: converter.py [--rounds N]

The two sides of a row take turns in one process, and a figure is the best turn.
"""

from __future__ import annotations

import argparse
import itertools
import linecache
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import dy2static
from converter_programs import PROGRAMS

LIMIT, LIMIT_CONVERSION, LIMIT_GROWTH = 2.0, 100.0, 1.3
_number = itertools.count()
_BLOCK = """
    if x.a > {i}:
        y = f(x, {i})
        for k in range(3):
            if k == x.b and y > 3 or not z:
                continue
            y = y + g(k, z)
    else:
        y = [v * 2 for v in x.c]
        z = y[0] + 1
    x.q = y
    w = z + {i}
    w = w * 2
    print(w, y, z)
"""


class Turns(NamedTuple):
    """Best times of two calls in microseconds."""

    plain: float
    converted: float


def main() -> None:
    """Print the table, and how many targets are missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200, help="turns of each side (default 200)")
    rounds = parser.parse_args().rounds
    print(
        "| program        |   plain us | converted us | ratio |\n|----------------|------------|--------------|-------|"
    )
    ratios = []
    for function, argument in PROGRAMS:
        turns = compare(function, argument, rounds)
        ratios.append(turns.converted / turns.plain)
        print(
            f"| {function.__name__:14} | {turns.plain:10.2f} | {turns.converted:12.2f} | {ratios[-1]:5.2f} |",
            flush=True,
        )
    small, long = conversion(15), conversion(60)
    growth, hit = long[1] / small[1] / (long[0] / small[0]), cache_hit()
    print(f"\nconverting {small[0]} lines takes {small[1]:.0f} ms, {long[0]} lines {long[1]:.0f} ms")
    print(f"converting a second time takes {hit:.1f} us")
    missed = sum(r > LIMIT for r in ratios) + (small[1] > LIMIT_CONVERSION) + (growth > LIMIT_GROWTH)
    print(f"{missed} of {len(ratios) + 2} targets missed: at most {LIMIT:g} times, {LIMIT_CONVERSION:g} ms, "
          f"{LIMIT_GROWTH:g} times the growth in lines")  # fmt: skip


def compare(function: Callable[[Any], Any], argument: Any, rounds: int) -> Turns:
    """The best of alternating turns."""
    converted = dy2static.convert(function)
    assert converted(argument) == function(argument)
    calls = max(1, int(1e-3 / clock(function, argument, 3)))
    turns = [(clock(function, argument, calls), clock(converted, argument, calls)) for _ in range(rounds)]
    return Turns(*[min(side) * 1e6 for side in zip(*turns, strict=True)])


def clock(function: Callable[[Any], Any], argument: Any, calls: int) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    for _ in range(calls):
        function(argument)
    return (time.perf_counter() - start) / calls


def conversion(blocks: int) -> tuple[int, float]:
    """Lines of a function made of so many blocks, and the milliseconds that converting it takes."""
    text, times = program(blocks), []
    for _ in range(7):
        function, runtime = made(text), dy2static.Runtime()
        start = time.thread_time()  # long enough for other processes to come in between
        dy2static.convert(function, runtime)
        times.append(time.thread_time() - start)
    return text.count("\n"), min(times) * 1e3


def program(blocks: int) -> str:
    """The text of a function of fourteen lines for each block."""
    return (
        "def f(x, f, g):\n    y = z = 1\n" + "".join(_BLOCK.format(i=i) for i in range(blocks)) + "    return x, y, z\n"
    )


def cache_hit() -> float:
    """Microseconds that converting again takes."""
    function = PROGRAMS[0][0]
    dy2static.convert(function)
    return min(clock(dy2static.convert, function, 1000) for _ in range(20)) * 1e6


def made(text: str) -> Callable[..., Any]:
    """The function `f` of a text that `linecache` knows."""
    name = f"<benchmark {next(_number)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec"), namespace)  # noqa: S102
    return namespace["f"]


if __name__ == "__main__":
    main()
