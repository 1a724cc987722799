"""Generators, generator expressions and itertools, where tensors say what they give: as in eager code."""

from __future__ import annotations

import itertools
import warnings

import pytest
from paddle_lite_py.jit import DataDependentWarning, to_static

import paddle_lite_py as paddle
from agreement import compare, plain

ROWS = [[2.0, 1.0], [-1.0, -3.0], [0.5, 1.0]]


def rows(x):
    for row in x:
        yield row * 2


def positive(x):
    for row in x:
        if row.sum() > 0:
            yield row


def until(x):
    total = x.abs().sum()
    for i in range(4):
        if total < 1:
            return
        yield i, total
        total = total * 0.5


def halves(x):
    while x.abs().sum() > 1:
        x = x * 0.5
        yield x


def is_large(row):
    return row.sum() > 0 and row[0] > 1


CASES = {
    "sum": lambda x: sum(rows(x)),
    "list": lambda x: list(rows(x)),
    "under a condition": lambda x: [list(positive(x)), len(list(positive(x)))],
    "return": lambda x: sum(i * total for i, total in until(x)),
    "while": lambda x: list(halves(x)),
    "elements left out": lambda x: list(v * 2 for v in x if v.sum() > 0),  # noqa: C400
    "joined": lambda x: ",".join(str(len(v)) for v in x if v.sum() > 0),
    "filter": lambda x: list(filter(is_large, x)),
    "takewhile": lambda x: list(itertools.takewhile(is_large, x)),
    "dropwhile": lambda x: list(itertools.dropwhile(is_large, x)),
    "filterfalse": lambda x: list(itertools.filterfalse(is_large, x)),
    "compress": lambda x: list(itertools.compress(x, [1, 0, 1])) + list(itertools.compress(list(x), x[:, 0] > 0)),
    "groupby": lambda x: [(k, [v.sum() for v in g]) for k, g in itertools.groupby(x, key=lambda r: float(r[0]) > 0)],
    "groupby without a key": lambda x: [len(list(g)) for _, g in itertools.groupby([1, 1, 2])] + [x],
    "starmap": lambda x: list(
        itertools.starmap(lambda a, b: a if a.sum() > b.sum() else b, zip(x, x[::-1], strict=True))
    ),
    "accumulate": lambda x: list(itertools.accumulate(x, lambda a, b: a + b if b.sum() > 0 else a)),
}


def in_a_branch(x):
    y = x * 1
    if x.sum() > -10:
        for half in halves(x):
            y = y + half
    return y


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("fn", [*CASES.values(), in_a_branch], ids=[*CASES, "in a branch"])
def test_they_give_what_they_give_in_eager_code(fn, full_graph):
    static = to_static(fn, full_graph=full_graph)
    for sign in (1, -1, 1):
        x = paddle.to_tensor(ROWS) * sign
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataDependentWarning)
            compare(plain(static(x)), plain(fn(x)))


def test_a_generator_that_a_statement_run_as_python_drives_is_no_static_function():
    def f(x):
        y = x * 2
        found = y.numpy().sum() + sum(float(total) for _, total in until(x))
        return sum((a - b).sum() for a, b in zip(x, y, strict=True)) + found

    x = paddle.to_tensor(ROWS)
    with pytest.warns(UserWarning, match="cannot be staged as a whole"):
        assert to_static(f)(x).item() == pytest.approx(f(x).item())
