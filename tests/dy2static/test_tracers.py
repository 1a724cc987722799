"""Coverage tools and debuggers see the user's lines in converted code."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dy2static
from toy import Staged, Toy


def lines(call):
    """The lines of this file that run during a call, as a coverage tool records them."""
    seen = set()

    def trace(frame, event, argument):
        if frame.f_code.co_filename != __file__:
            return None
        if event == "line":
            seen.add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return seen


def program(x, n):
    total = 0
    for i in range(n):
        if i % 2 == 0 and not i == 4:
            total = total + x
        elif i > 7:
            break
        while total > 100:
            total = total - 100
    try:
        y = total if x > 0 else -total
    finally:
        total = 0
    return [v for v in (y, x) if v != 3]


@pytest.mark.parametrize("x", [2, 60, -1])
def test_the_same_lines_run(x):
    converted = dy2static.convert(program)
    assert lines(lambda: converted(x, 10)) == lines(lambda: program(x, 10))


def branch(x):
    if x > 0:
        y = x
    else:
        y = -x
    return y


def test_both_branches_of_a_staged_test_run():
    converted = dy2static.convert(branch, Toy())
    first = branch.__code__.co_firstlineno
    assert {first + n for n in range(1, 6)} - {first + 3} <= lines(lambda: converted(Staged(1)))


def test_code_of_a_command_line_explains_itself():
    code = "import dy2static\ndef f(x): return x\nprint(dy2static.convert(f)(3))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    kept = sys.version_info >= (3, 13)  # Python keeps the source of what it is given
    assert done.stdout == ("3\n" if kept else "") and ("was not found" in done.stderr) is not kept
