"""The op tables once more in static programs, many rows in each: they give what eager code gives, and survive JSON."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradient_cases
import paddle_lite_py as paddle
from figures import GOLDEN, compare
from op_calls import call, tensors
from ops_table import ROWS, Row
from paddle_lite_py.ir import serialize
from paddle_lite_py.ir.verify import verify

SIZE = 24  # rows of a program: compiled one by one, they take five times as long
# Without a program: its shape depends on the data; jax has no second derivative.
EAGER_ONLY = ("histogramdd",)
NO_SECOND = ("gammainc", "gammaincc")


def parts(rows: list[Any]) -> list[list[Any]]:
    return [rows[i : i + SIZE] for i in range(0, len(rows), SIZE)]


def of(case: str, names: tuple[str, ...]) -> bool:
    return gradient_cases.cases()[case.rpartition(" ")[0]].name in names


def row_by_row(rows: list[Any], run: Callable[[Any], Any]) -> list[Any]:
    """What `run` makes of each; an error says of which."""
    made = []
    for row in rows:
        try:
            made.append(run(row))
        except Exception as error:
            error.add_note(f"row {row}")
            raise
    return made


def program_of(f: Any) -> Any:
    """The program of a static function that has run, verified, and compared with what is read back from JSON."""
    data = serialize.to_json(verify(f.main_program))
    assert serialize.to_json(serialize.from_json(json.loads(json.dumps(data)))) == data
    return f.main_program


FIGURES = [c for c in GOLDEN if c.endswith(" float32") and not of(c, EAGER_ONLY)]


@pytest.mark.parametrize("cases", parts(FIGURES), ids=lambda cases: cases[0])
def test_a_static_function_on_the_tape_has_the_figures(cases: list[str]):
    keys = [c.rpartition(" ")[0] for c in cases]
    made = [arguments(c) for c in cases]

    @paddle.jit.to_static
    def f(args):
        return row_by_row(list(zip(keys, args, strict=True)), lambda row: gradient_cases.results(paddle, *row))

    outs = f([args for args, _ in made])
    program_of(f)
    flowing = [o for out in outs for o in out if not o.stop_gradient]
    weights = [gradient_cases.weights_of(paddle, o) for o in flowing]
    grads = iter(paddle.grad(flowing, [x for _, xs in made for x in xs], weights, allow_unused=True))
    for case, out, (_, xs) in zip(cases, outs, made, strict=True):
        first = list(itertools.islice(grads, len(xs)))
        compare(case, {"out": out, "first": first}, "out first")


def arguments(case: str) -> tuple[list[Any], list[Any]]:
    """The arguments of a row, and those among them that PaddlePaddle has gradients by."""
    args, xs = gradient_cases.arguments(paddle, case.rpartition(" ")[0], "float32")
    if "first" in GOLDEN[case]:
        return args, xs
    for x in xs:
        x.stop_gradient = True
    return args, []


LOW = [c for c in GOLDEN if not c.endswith(" float32")]
SECOND = [c for c in GOLDEN if "second" in GOLDEN[c] and not of(c, NO_SECOND + EAGER_ONLY)]


@pytest.mark.parametrize("cases", parts(LOW) + parts(SECOND), ids=lambda cases: cases[0])
def test_gradients_inside_of_a_program_have_the_figures(cases: list[str]):
    """In low precision, and to the second order."""

    def run(case: str) -> list[Any]:
        key, _, dtype = case.rpartition(" ")
        return [found for _, found in itertools.islice(gradient_cases.run(paddle, key, dtype), len(GOLDEN[case]))]

    f = paddle.jit.to_static(lambda: row_by_row(cases, run))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*draws from Generator")  # the samples are to be constants
        results = f()
    program_of(f)
    for case, result in zip(cases, results, strict=True):
        compare(case, dict(zip(GOLDEN[case], result, strict=False)), " ".join(GOLDEN[case]))


def apart(key: str, row: Row) -> bool:
    """True if no figures of the row are compared, or not its gradient."""
    known = GOLDEN.get(f"{key} float32", {})
    same = "out" in known and not gradient_cases.apart(key, "out")
    return not (same and (gradient_cases.compared(key) or not row.grad))


STATIC = [r for i, r in enumerate(ROWS) if not r.dynamic and r.inputs and apart(f"{i} {r}", r)]


@pytest.mark.parametrize("rows", parts(STATIC), ids=lambda rows: str(rows[0]))
def test_what_has_no_figures_is_as_in_eager_code(rows: list[Row]):
    made = [tensors(row.sample(row.dtypes[0]), differentiable=row.grad) for row in rows]
    args, leaves = [a for a, _ in made], [xs for _, xs in made]

    @paddle.jit.to_static
    def f(args):
        return row_by_row(list(zip(rows, args, strict=True)), lambda row: call(*row))

    found = f(args)
    program_of(f)
    found_grads = gradients([o for outs in found for o in outs], leaves)
    wanted = row_by_row(list(zip(rows, args, strict=True)), lambda row: call(*row))
    wanted_grads = gradients([o for outs in wanted for o in outs], leaves)
    for row, got, want, *grads in zip(rows, found, wanted, found_grads, wanted_grads, strict=True):
        assert len(got) == len(want), row
        for g, w in zip(got, want, strict=True):
            assert (g.dtype, g.shape) == (w.dtype, w.shape), row
            np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=row.tol, atol=row.tol, err_msg=str(row))
        for g, w in zip(*grads, strict=True):
            np.testing.assert_allclose(g, w, rtol=row.tol * 10, atol=row.tol * 10, err_msg=str(row))


def gradients(outs: list[Any], leaves: list[list[Any]]) -> list[list[np.ndarray]]:
    """The gradients of the sum of all results by the leaves of each row; zeros where there is none."""
    paddle.autograd.backward([o for o in outs if not o.stop_gradient])
    found = [[np.zeros(x.shape) if x.grad is None else x.grad.numpy() for x in xs] for xs in leaves]
    for x in itertools.chain(*leaves):
        x.clear_gradient(False)
    return found
