"""The next process finds what NumPy does for ops and gradients, and takes none for another."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.core import memo
from paddle_lite_py.core.small import DTYPES
from paddle_lite_py.cpu_compiler import executables, named_programs
from paddle_lite_py.host import kept_steps, open_sizes, tier
from paddle_lite_py.host.low_precision import ALL_DTYPES
from paddle_lite_py.host.steps import Steps
from paddle_lite_py.nn import functional as F

pytestmark = pytest.mark.counts


@pytest.fixture
def traces(monkeypatch, tmp_path):
    """Of which functions NumPy's were traced, with a folder of the test's own."""
    found = []
    choose = tier.choose_tier
    monkeypatch.setattr(tier, "choose_tier", lambda *a: found.append(a) or choose(*a))
    monkeypatch.setattr(executables, "folder", lambda: tmp_path)
    find = kept_steps.KeptSteps.find
    monkeypatch.setattr(kept_steps.KeptSteps, "find", lambda kept, *a: find(as_new(kept), *a))
    next_process()
    yield found
    next_process()


_met: list[kept_steps.KeptSteps] = []  # in this process


def as_new(kept):
    """Let what belongs to an op that has no attributes, which stays, read its file once in each process."""
    if not any(kept is k for k in _met):
        _met.append(forget(kept))
    return kept


def forget(kept):
    kept.__dict__.pop("_path", None), kept.__dict__.pop("_known", None)
    return kept


def next_process():
    """Write down what was found, and forget it."""
    kept_steps.write_all()
    memo.clear()
    for kept in _met:
        forget(kept)
    _met.clear()


def classify(rows=3, label_smoothing=0.0, scale=2.0, dtype="float32", like=paddle.tanh):
    """Gradients of small arrays, those of a loss that keeps residuals among them, and a second one."""
    x = paddle.arange(rows * 4, dtype=dtype).reshape([rows, 4]) / 10
    x.stop_gradient = False
    loss = F.cross_entropy(like(x) * scale, paddle.arange(rows) % 4, label_smoothing=label_smoothing)
    (first,) = paddle.grad(loss, x, create_graph=True)
    first.square().sum().backward()
    return [loss.numpy(), first.numpy(), x.grad.numpy()]


def new_traces(traces, **settings):
    """The results of the next process, and how many functions it traced."""
    next_process()
    before = len(traces)
    found = classify(**settings)
    return found, len(traces) - before


def test_the_next_process_traces_nothing_and_gives_the_same(traces):
    first = classify()
    assert traces
    found, n = new_traces(traces)
    assert n == 0
    for a, b in zip(found, first, strict=True):
        np.testing.assert_array_equal(a, b)


CHANGES = {
    "a shape": {"rows": 5},
    "an attribute": {"label_smoothing": 0.1},
    "the class of a number": {"scale": 2},
    "a dtype": {"dtype": "float64"},
    "an op": {"like": F.sigmoid},
}


@pytest.mark.parametrize("settings", CHANGES.values(), ids=CHANGES)
def test_what_a_function_depends_on_is_part_of_its_text(traces, monkeypatch, settings):
    classify()
    found, n = new_traces(traces, **settings)
    assert n
    monkeypatch.setattr(kept_steps.KeptSteps, "find", lambda *_: None)
    for a, b in zip(found, new_traces(traces, **settings)[0], strict=True):
        np.testing.assert_array_equal(a, b)


SETTINGS = {
    "another source of the package": lambda patch: patch.setattr(named_programs, "package_stamp", lambda: "another"),
    "another version of JAX": lambda patch: patch.setattr(named_programs, "JAX", "0.0.0"),
    "a flag": lambda patch: patch.setenv("FLAGS_of_this_test", "1"),
    "no files": lambda patch: [f.unlink() for f in executables.folder().glob("*.steps")],
    "damaged files": lambda patch: [f.write_bytes(b"x" * 50) for f in executables.folder().glob("*.steps")],
}


@pytest.mark.parametrize("change", SETTINGS.values(), ids=SETTINGS)
def test_under_other_settings_functions_are_traced(traces, monkeypatch, change):
    first = classify()
    n = len(traces)
    next_process()
    change(monkeypatch)
    found, again = new_traces(traces)
    assert again == n
    for a, b in zip(found, first, strict=True):
        np.testing.assert_array_equal(a, b)


def test_another_default_dtype_is_another_function(traces):
    def filled():
        next_process()
        return (paddle.full([3], 2) + 1.5).dtype

    filled()
    paddle.set_default_dtype("float64")
    kinds = {filled() for _ in range(2)}
    next_process()
    before = len(traces)
    assert kinds == {(paddle.full([3], 2) + 1.5).dtype}
    assert len(traces) == before


def test_the_rules_of_mixed_precision_are_part_of_what_is_kept(traces):
    def cast(casts):
        with paddle.amp.auto_cast(dtype="bfloat16", **casts):
            return new_traces(traces, like=lambda x: paddle.tanh(x @ x.T)[:, :4])

    rules = ({}, {"custom_black_list": ["matmul"]}, {"custom_white_list": ["tanh"]})
    found = [cast(casts) for casts in rules]
    assert all(n for _, n in found)
    for casts, (first, _) in zip(rules, found, strict=True):
        again, n = cast(casts)
        assert n == 0, casts
        for a, b in zip(again, first, strict=True):
            np.testing.assert_array_equal(a, b)


def test_an_op_of_the_users_is_traced(traces):
    found = []
    for factor in (2.0, 3.0):  # under one name, as a cell of a notebook that is run again
        next_process()
        own = paddle.utils.custom_op(lambda x, /, factor=factor: x * factor, name="scaled_and_kept")
        found.append(float(own(paddle.ones([2])).sum()))
    assert found == [4.0, 6.0]


def test_a_loop_and_what_keeps_residuals_are_found(traces):
    """The backward of a recurrent layer is known without its forward, which a second gradient traces."""

    def trained(twice):
        next_process()
        before = len(traces)
        paddle.seed(0)
        layer = paddle.nn.LSTM(3, 4)
        x = paddle.arange(24, dtype="float32").reshape([2, 4, 3]).sin()
        x.stop_gradient = False
        (first,) = paddle.grad(layer(x)[0].square().sum(), x, create_graph=twice)
        if twice:
            first.square().sum().backward()
        return [first.numpy(), *([x.grad.numpy()] if twice else [])], len(traces) - before

    once, n = trained(False)
    assert n
    again, n = trained(False)
    assert n == 0
    np.testing.assert_array_equal(again[0], once[0])
    twice, _ = trained(True)
    np.testing.assert_allclose(twice[0], once[0], rtol=1e-5, atol=1e-6)
    repeated, n = trained(True)
    assert n == 0
    for a, b in zip(repeated, twice, strict=True):
        np.testing.assert_array_equal(a, b)


def test_each_tier_of_a_function_has_a_file_of_its_own(traces):
    kinds = (np.ones([2], np.float32),)
    both = [kept_steps.KeptSteps(lambda: "a text", dtypes=dtypes) for dtypes in (DTYPES, ALL_DTYPES)]
    for kept in both:
        kept.keep(kept_steps.FoundSteps(None, True, 0.0), kinds)
    next_process()
    for dtypes in (DTYPES, ALL_DTYPES):
        found = kept_steps.KeptSteps(lambda: "a text", dtypes=dtypes).find(kinds)
        assert found is not None
        assert found.hosted


@pytest.mark.parametrize("size", [10, 20_000])
def test_large_constants_are_not_held_until_the_end(size, traces):
    given = np.ones(size)
    steps = Steps(jax.make_jaxpr(lambda x: x + np.arange(float(size)))(given))
    kept = kept_steps.KeptSteps(lambda: "adds constants")
    kept.keep(kept_steps.FoundSteps(steps, False, given), [given])
    assert bool(vars(kept)["_new"]) is (size == 10)


def test_a_program_may_replace_the_bool_of_numpy(monkeypatch):
    monkeypatch.setattr(np, "bool", bool)  # as packages do; NumPy names its own dtype `bool8` then
    for size in (7, 3001):  # new shapes, for which functions are generated
        x = paddle.arange(size).astype("float32")
        assert (x == 0.0).sum().item() == 1
        assert paddle.logical_not(x).sum().item() == 1
        assert x.astype("bool").all().item() is False
        assert (paddle.where(x > 1.0, x, x).max() < 1e-5).item() is False


def test_new_shapes_take_the_place_of_the_oldest(traces, monkeypatch):
    monkeypatch.setattr(open_sizes, "TRACED_FIRST", 1000)

    def rows(n):
        return paddle.tanh(paddle.ones([n, 2])).numpy()

    for n in range(kept_steps.MAX_KINDS + 3):
        rows(n + 1)
    next_process()
    before = len(traces)
    rows(kept_steps.MAX_KINDS + 3)
    assert len(traces) == before
    rows(1)
    assert len(traces) > before
