"""Speed, with wide margins: shared machines are slow at times. run it as a script for figures."""

# Programs to convert are odd on purpose.
# ruff: noqa: F841, SIM201, UP008, B007, B008, B012, B018, B023, C400, C402, C416, C420, E501, E731, S102, SIM102, SIM108, SIM114, UP028

from __future__ import annotations

import math
import time

from programs import compiled

from dy2static import Runtime, convert

BLOCK = """
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
LONG = "def f(x, f, g):\n    y = z = 1\n" + "".join(BLOCK.format(i=i) for i in range(15)) + "    return x, y, z\n"


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def search(rows):
    total = 0
    for row in rows:
        if row < 0:
            continue
        if row > 900 and not total < 0:
            break
        total += row
    else:
        return -1
    return total


def helper(x, y):
    if x > y:
        return x - y
    return y * 2


def calls(rows):
    total = 0
    for row in rows:
        if len(row) > 2:
            total += helper(sum(row), max(row)) + math.sqrt(row[0])
    return total


def chained(x):
    if x is None:
        return 0
    if 0 < x < 10 and not x == 5:
        y = 1 if x > 3 else 2
    else:
        y = 3
    return y


def best(f, *args, rounds=30, repeat=20):
    """The time of one call, in microseconds."""
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(repeat):
            f(*args)
        found.append(time.perf_counter() - start)
    return min(found) / repeat * 1e6


def conversion():
    """The time to convert a function of 210 lines, in milliseconds."""
    f = compiled(LONG)
    return min(best(convert, f, runtime, rounds=1, repeat=1) for runtime in (Runtime(), Runtime(), Runtime())) / 1e3


CASES = [
    (collatz, 27),
    (search, list(range(1, 1000, 7))),
    (calls, [[i, i + 1, i + 2, 7] for i in range(50)]),
    (chained, 4),
]


def test_converting_is_fast():
    assert conversion() < 400


def test_python_values_run_at_about_plain_speed():
    for f, arg in CASES:
        assert best(convert(f), arg) < 6 * best(f, arg), f.__name__


if __name__ == "__main__":
    print(f"convert {LONG.count(chr(10))} lines: {conversion():.0f} ms")
    for f, arg in CASES:
        plain, ours = best(f, arg), best(convert(f), arg)
        print(f"{f.__name__}: plain {plain:.2f} us, converted {ours:.2f} us, {ours / plain:.2f} times")
