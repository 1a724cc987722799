"""Code of the user's that Python or a library reaches by itself, and what it leaves behind.

Each case of `protocol_cases.txt` is a module: what stands before the function, the statements that compute `y` from
`x`, and an expression that shows the state. `o` and its like are made once, before the calls.
"""

from __future__ import annotations

import itertools
import linecache
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Case(NamedTuple):
    """A protocol, as code."""

    name: str
    setup: str
    body: str
    state: str


def _cases() -> list[Case]:
    text = Path(__file__).with_suffix(".txt").read_text()
    parts = [re.split(r"\n-- (?:call|state)\n", block) for block in text.split("\n== ")[1:]]
    return [Case(*head.split("\n", 1), call, state.strip()) for head, call, state in parts]


CASES = _cases()
_PRELUDE = """
import paddle_lite_py as paddle

class Counter:
    def __init__(self):
        self.n, self.log = 0, []

    def count(self):
        self.n += 1
        self.log.append(self.n)
        return self.n
"""
_PLAIN = """
{setup}
def f(x):
{body}
    return y
def state():
    return {state}
"""
_CONDITION = """
{setup}
def f(x):
    y = x
    if x.sum() > 0:
{deeper}
    return y
def state():
    return {state}
"""
# With classes and state in an enclosing function.
_LOCAL = """
def make():
{inner}
    def f(x):
{deeper}
        return y
    def state():
        return {state}
    return f, state
f, state = make()
"""
_TRIED = """
{setup}
def f(x):
    try:
{deeper}
    except Exception:
        y = x - 77
    return y
def state():
    return {state}
"""
_LOOPED = """
{setup}
def f(x):
    i = paddle.zeros([], "int64")
    y = x
    while i < 2:
{deeper}
        i = i + 1
    return y
def state():
    return {state}
"""
FORMS = {"plain": _PLAIN, "condition": _CONDITION, "local": _LOCAL, "tried": _TRIED, "looped": _LOOPED}
_numbers = itertools.count()


def compiled(case: Case, form: str) -> tuple[Callable[..., Any], Callable[[], Any]]:
    """The function of a case, and what shows its state, both fresh."""
    if form == "local" and "global" in case.setup + case.body:
        return compiled(case, "plain")
    text = _PRELUDE + FORMS[form].format(
        setup=case.setup,
        inner=textwrap.indent(case.setup, "    "),
        body=textwrap.indent(case.body, "    "),
        deeper=textwrap.indent(case.body, "        "),
        state=case.state,
    )
    filename = f"<protocol {case.name} {form} {next(_numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    module: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, filename, "exec"), module)
    return module["f"], module["state"]
