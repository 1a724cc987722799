"""Patterns and rewrites: what matches, what takes its place, state and weights that come along."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.ir.block import Block
from paddle_lite_py.passes import PassError, PassManager, apply, call, function, rewrite
from rewritten import SPEC, VECTOR, X, exp_of_log, names, program_of, same


def test_a_rewrite_replaces_what_matches_and_leaves_the_original():
    program = program_of(lambda x: x.log().exp() * 2.0)
    before = str(program)
    changed = apply(program, exp_of_log)
    assert names(changed) == ["multiply"] and str(program) == before
    same(program, changed, X, atol=1e-6)


def test_an_inner_result_that_others_read_is_no_match_unless_it_may_be_shared():
    def f(x):
        y = x.log()
        return y.exp() + y

    assert names(apply(program_of(f), exp_of_log)) == ["log", "exp", "add"]
    shared = rewrite(call("exp", call("log", "x", shared=True)))(lambda m: m.x)
    assert names(apply(program_of(f), shared)) == ["log", "add"]


def test_names_attributes_and_absent_arguments_are_bound():
    found = []

    @rewrite(call(("add", "multiply"), "x", "x", bind="twice"), call("sum", "x", bind="sum", attrs={"axis": (0,)}))
    def note(m):
        found.append(m.twice.name if "twice" in m._found else m.sum["axis"])

    program = program_of(lambda x: (x + x, x * 2.0, x.sum(axis=0), x.sum()))
    axis = next(op.bound.attrs[0] for op in program.ops() if op.name == "sum")
    rule = rewrite(call("sum", "x", bind="sum", attrs={"axis": axis}))(lambda m: found.append(m.sum["axis"]))
    assert apply(program, [note, rule]) is program  # None leaves all as it is
    assert found[0] == "add" and found[-1] == axis and len(found) <= 3


def test_a_predicate_and_a_repeated_name_tell_calls_apart():
    rule = rewrite(call(lambda op: op.name.startswith("a"), "x", "x"))(lambda m: m.x * 2.0)
    assert names(apply(program_of(lambda x, y: (x + x, x + y), *VECTOR, *VECTOR), rule)) == ["multiply", "add"]


def test_a_rewrite_reaches_branches_and_loops():
    def f(x):
        if x.sum() > 0:
            y = x.log().exp()
        else:
            y = x
        for _ in range(paddle.to_tensor(3)):
            y = y.log().exp() + 1.0
        return y

    program = program_of(f)
    changed = apply(program, exp_of_log)
    assert "exp" in names(program) and not {"exp", "log"} & set(names(changed))
    same(program, changed, X, atol=1e-5)


def test_a_rewrite_brings_weights_along():
    weight = paddle.to_tensor([1.0, 0.0, 2.0])
    rule = rewrite(call("exp", "x"))(lambda m: m.x * weight)
    changed = apply(program_of(lambda x: x.exp() + x.exp()), rule)
    assert [t is weight for t in changed.captured.values()] == [True]
    assert function(changed)(X).tolist() == [2.0, 0.0, 12.0]


def in_a_branch(x):
    return x.exp() + (x.exp() if x.sum() > 0 else x)


def in_a_loop(x):
    y, i = x, paddle.zeros([], "int64")
    while i < 3:
        y, i = y.exp(), i + 1
    return y + x.exp()


def in_a_loop_of_known_length(x):
    for _ in range(paddle.to_tensor(3)):
        x = x.exp()
    return x


def deep_inside(x):
    for _ in range(paddle.to_tensor(2)):
        if x.sum() > 0:
            i = paddle.zeros([], "int64")
            while i < 2:
                x, i = x.exp(), i + 1
    return x


def in_a_gradient(x):
    y = x * 1.0
    y.stop_gradient = False
    (g,) = paddle.grad((y.exp() * y).sum(), [y], create_graph=True)
    return y.exp() + g


INSIDE = [in_a_branch, in_a_loop, in_a_loop_of_known_length, deep_inside, in_a_gradient]


@pytest.mark.parametrize("f", INSIDE)
def test_a_rewrite_brings_weights_into_branches_loops_and_gradients(f):
    weight = paddle.to_tensor([1.0, 0.5, -2.0])

    def scaled(x):
        return x * weight

    changed = apply(program_of(f), rewrite(call("exp", "x"))(lambda m: scaled(m.x)))
    assert "exp" not in names(changed) and any(t is weight for t in changed.captured.values())
    given = paddle.to_tensor(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paddle.Tensor, "exp", scaled)
        np.testing.assert_allclose(function(changed)(given).numpy(), f(given).numpy(), rtol=1e-6)
    weight.set_value(np.zeros(3, "float32"))  # it is read in each run
    assert function(changed)(given).tolist() != function(apply(program_of(f), []))(given).tolist()


@pytest.mark.parametrize("f", INSIDE)
def test_a_rewrite_keeps_state_in_branches_loops_and_gradients(f):
    """Each run counts how often it passes the place, and multiplies by the count."""
    count, times = paddle.zeros([]), paddle.zeros([])

    @rewrite(call("exp", "x"))
    def counted(m):
        count.add_(paddle.ones([]))
        return m.x * count

    def as_counted(x):
        times.add_(paddle.ones([]))
        return x * times

    run, given = function(apply(program_of(f), counted)), paddle.to_tensor(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paddle.Tensor, "exp", as_counted)
        for _ in range(2):
            np.testing.assert_allclose(run(given).numpy(), f(given).numpy(), rtol=1e-6)
            assert float(count) == float(times) > 0


def test_what_a_rewrite_cannot_bring_inside_is_explained():
    trained, count = paddle.create_parameter([3], "float32"), paddle.zeros([])
    with pytest.raises(PassError, match=r"pass `.*` on `grad` at test_rewriting.py:.*before minimize\(\) or backward"):
        apply(program_of(in_a_gradient), rewrite(call("exp", "x"))(lambda m: m.x * trained))

    def until_large(x):
        while x.exp().sum() < 100:
            x = x + 1.0
        return x

    @rewrite(call("exp", "x"))
    def counted(m):
        count.add_(paddle.ones([]))
        return m.x * count

    with pytest.raises(PassError, match="on `while` at .* changes a buffer, which a loop's condition"):
        apply(program_of(until_large), counted)


def test_a_rewrite_keeps_state_of_its_own():
    count = paddle.zeros([])

    @rewrite(call("exp", "x"))
    def counted(m):
        count.add_(paddle.ones([]))
        return m.x * count

    run = function(apply(program_of(lambda x: x.exp() + x.exp()), counted))
    assert float(count) == 0
    assert run(X).tolist() == [3.0, 6.0, 9.0] and float(count) == 2
    assert run(X).tolist() == [7.0, 14.0, 21.0]


def test_a_replacement_of_another_type_is_refused():
    with pytest.raises(PassError, match=r"it is float32\[3\], its replacement float32\[\]: both must agree"):
        apply(program_of(lambda x: x.exp()), rewrite(call("exp", "x"))(lambda m: m.x.sum()))


def test_a_pass_must_give_a_well_formed_program():
    with pytest.raises(PassError, match="pass `upside_down` gave a program that is not well formed"):

        def upside_down(p):
            return p.replaced(Block(p.block.inputs, p.block.ops[::-1], p.block.outputs))

        apply(program_of(lambda x: x.exp().log()), upside_down)
    with pytest.raises(PassError, match="gave a NoneType; it must return a Program"):
        apply(program_of(lambda x: x.exp()), [lambda p: None])
    with pytest.raises(TypeError, match="takes a Program, got function"):
        apply(lambda x: x, "clean")
    with pytest.raises(TypeError, match="3 is no pass"):
        PassManager(["clean", 3])


def test_a_name_in_a_match_that_the_pattern_has_not_is_explained():
    with pytest.raises(AttributeError, match="the pattern has no name 'y'; it has x"):
        apply(program_of(lambda x: x.exp()), rewrite(call("exp", "x"))(lambda m: m.y))


def test_the_gradient_goes_through_a_rewritten_net():
    net = nn.Linear(3, 2)
    program = program_of(net.forward, SPEC([None, 3]))
    changed = apply(program, rewrite(call("linear", "x", "w", "b"))(lambda m: m.x @ m.w + m.b))
    x, grads = paddle.rand([4, 3]), []
    for p in (program, changed):
        function(p)(x).square().sum().backward()
        grads.append(net.weight.grad.numpy())
        net.clear_gradients()
    np.testing.assert_allclose(*grads, rtol=1e-5)
