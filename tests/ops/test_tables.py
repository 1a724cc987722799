"""Tests derived from the op table: values and dtypes, gradients, methods, documentation."""

from __future__ import annotations

import ast
import doctest
import inspect
from typing import Any

import pytest

import gradient_cases
import paddle_lite_py as paddle
from op_checks import check_gradient, check_value
from ops_table import ROWS, Row, families, find
from paddle_lite_py.dispatch.define import INPLACE
from paddle_lite_py.ops import public
from paddle_lite_py.registry.op import REGISTRY

IDS = [f"{i}-{r}"[:80] for i, r in enumerate(ROWS)]


CASES = [(row, dtype) for row in ROWS for dtype in row.dtypes]


@pytest.mark.parametrize(("row", "dtype"), CASES, ids=[f"{i}-{r.name}-{d}" for i, (r, d) in enumerate(CASES)])
def test_value_and_dtype(row: Row, dtype: str):
    check_value(row, dtype)


WITH_GRADIENT = [r for i, r in enumerate(ROWS) if r.grad and r.inputs and not gradient_cases.compared(f"{i} {r}")]


@pytest.mark.parametrize("row", WITH_GRADIENT, ids=[f"{i}-{r.name}" for i, r in enumerate(WITH_GRADIENT)])
def test_gradient(row: Row):
    check_gradient(row)


def method_of(row: Row):
    """The Tensor method that is the row's function, if there is one."""
    name = row.name.rpartition(".")[2]
    found = getattr(paddle.Tensor, name, None)
    return found if row.inputs and not isinstance(row.inputs[0], list) and found is row.function else None


def test_methods_are_the_functions():
    """A method is the very function, so that the tests of one are those of the other; or the function calls it."""
    rows = {r.name: r for r in ROWS if r.inputs and not isinstance(r.inputs[0], list) and "." not in r.name}
    named = {n for n in rows if inspect.isfunction(getattr(paddle.Tensor, n, None))}
    assert named > {"add", "sum", "reshape", "gather", "norm", "sort"}
    assert [n for n in named if method_of(rows[n]) is None] == ["clone"]


TABLED = ("math", "binary", "unary", "logic", "reduction", "statistics", "manipulation", "slicing", "joining", "gather")
TABLED += ("splitting", "diagonals", "creation", "scatter", "search", "norms", "linalg", "fft")


@pytest.mark.parametrize("family", TABLED)
def test_every_op_has_a_row(family: str):
    tested = {id(r.function) for r in ROWS}
    here = {id(f): n for n in families()[family].__all__ if (f := getattr(families()[family], n))}
    missing = sorted(n for key, n in here.items() if key not in tested)
    elsewhere = {
        "increment",
        "lerp",
        "broadcast_shape",
        "broadcast_shapes",
        "einsum",
        "hfft2",
        "hfftn",
        "ihfft2",
        "ihfftn",
    }
    assert set(missing) <= elsewhere


def generated(family: str) -> dict[str, Any]:
    """The functions of a family that its source does not write out; tests/test_doctests.py finds the others."""
    module = families()[family]
    written = {n.name for n in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(n, ast.FunctionDef)}
    return {n: getattr(module, n) for n in set(module.__all__) - written}


@pytest.mark.parametrize("family", ["unary", "logic", "joining", "inplace"])
def test_examples_of_generated_docstrings(family: str):
    for name, function in (INPLACE if family == "inplace" else generated(family)).items():
        case = doctest.DocTestParser().get_doctest(function.__doc__, {"paddle": paddle}, name, None, 0)
        report: list[str] = []
        doctest.DocTestRunner().run(case, out=report.append)
        assert case.examples and not report, "".join(report)


def test_inplace_methods_have_functions():
    x = paddle.to_tensor([1.0, 4.0])
    for name in INPLACE:
        assert getattr(public, name) is getattr(paddle.Tensor, name)
    assert paddle.sqrt_(x) is x and x.tolist() == [1.0, 2.0]


ERRORS = [
    (lambda x: paddle.add(x, paddle.zeros([4])), ValueError, r"add\(x=float32\[2, 3\], y=float32\[4\]\)"),
    (lambda x: paddle.matmul(x, x), ValueError, r"matmul\(x=float32\[2, 3\], y=float32\[2, 3\]"),
    (lambda x: x.reshape([5]), ValueError, r"reshape\(x=float32\[2, 3\], shape=\(5,\)\)"),
    (lambda x: paddle.split(x, 2, axis=1), ValueError, "size 3 cannot be split into 2 equal parts"),
    (lambda x: paddle.split(x, [1, 1], axis=1), ValueError, "add up to 2; the axis has size 3"),
    (
        lambda x: paddle.concat([x, paddle.zeros([1, 2])]),
        ValueError,
        r"concat\(x\[0\]=float32\[2, 3\], x\[1\]=float32\[1, 2\]",
    ),
    (lambda x: x.squeeze(5), ValueError, "axis is 5; expected -2 to 1"),
    (lambda x: x.astype("float33"), TypeError, "dtype is 'float33'; expected one of bool"),
    (lambda x: paddle.topk(x, 4), ValueError, "k is 4, but axis -1 has size 3"),
    (lambda x: paddle.bmm(x, x), ValueError, "x has 2 dimensions; expected 3"),
    (lambda x: x & x, TypeError, r"bitwise_and\(x=float32\[2, 3\]"),
    (lambda x: x.sum(axis=2), ValueError, r"sum\(x=float32\[2, 3\], axis=2"),
    (
        lambda x: paddle.gather(x, paddle.zeros([2, 2], "int64")),
        ValueError,
        r"index has shape \[2, 2\]; expected a vector",
    ),
    (lambda x: find("norm")(x, "best"), ValueError, "p is 'best'"),
    (lambda x: paddle.to_tensor("a"), TypeError, "data is 'a'; expected a number"),
    (lambda x: paddle.to_tensor([[1], [1, 2]]), ValueError, "rectangular"),
    (lambda x: paddle.randint(5, 3), ValueError, "range from 5 to 3 is empty"),
    (lambda x: x.median(mode="max"), ValueError, "mode is 'max'; expected 'avg' or 'min'"),
    (lambda x: x.sum(axis={}), TypeError, "axis is a dict"),
    (lambda x: paddle.where(x > 0, x), ValueError, "both x and y"),
]


@pytest.mark.parametrize(("wrong", "kind", "message"), ERRORS, ids=range(len(ERRORS)))
def test_errors_name_the_argument(wrong, kind, message):
    with pytest.raises(kind, match=message):
        wrong(paddle.ones([2, 3]))


def test_code_for_ever_new_attributes_is_dropped(monkeypatch):
    op = REGISTRY["full"]
    monkeypatch.setattr(op.known, "limit", 8)
    for n in [*range(1, 20), 1]:  # of shapes that no other test makes, whose code is known already
        assert paddle.full([n, 7, 1], 2.0).shape == [n, 7, 1]
    assert len(op.known) == 8
