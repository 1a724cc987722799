"""Passes that take away: common subexpressions, constants, identities, dropout."""

from __future__ import annotations

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.ir.verify import verify
from paddle_lite_py.nn import functional as F
from paddle_lite_py.passes import apply, function
from rewritten import SPEC, X, idempotent, names, program_of, same


def test_common_subexpressions():
    def f(x):
        a, b = x.exp() + 1.0, x.exp() + 1.0
        return a * b + x.sum(axis=0) + x.sum(axis=0, keepdim=True)

    program = program_of(f)
    changed = idempotent(program, "common_subexpressions")
    assert names(changed) == ["exp", "add", "multiply", "sum", "add", "sum", "add"]
    same(program, changed, X)


def test_random_numbers_and_effects_are_never_merged():
    def f(x):
        print(x)
        print(x)
        return paddle.rand([3]) + paddle.rand([3]) + x

    program = program_of(f)
    assert names(apply(program, ["clean", "inference"])).count("print_") == 2
    assert names(apply(program, "clean")).count("uniform") == 2


def test_one_and_one_point_nought_are_not_the_same():
    program = program_of(lambda x: (x + 1, x + 1.0, x * True), SPEC([3], "int32"))
    assert names(apply(program, "common_subexpressions")) == names(program)


def test_branches_keep_their_own_and_prints_keep_their_order(capsys):
    def f(x):
        print("first", x.sum())
        if x.sum() > 0:
            print("second")
            y = x.exp() + x.exp()
        else:
            y = x.exp()
        print("third")
        return y + x.exp()

    program = program_of(f)
    changed = idempotent(program, "clean")
    assert names(changed).count("exp") == names(program).count("exp") - 1
    same(program, changed, X)
    paddle.device.synchronize()
    out = capsys.readouterr().out
    assert [w for w in out.split() if w in ("first", "second", "third")] == ["first", "second", "third"] * 2


def test_constants_are_folded_in_branches_too():
    def f(x):
        y = paddle.ones([3]) * 2.0 + 1.0
        return x * y if x.sum() > 0 else x + paddle.ones([3]) * 3.0

    program = program_of(f)
    changed = idempotent(program, "fold_constants")
    assert names(changed).count("constant") == 2 and "full" not in names(changed)
    same(program, changed, X)


def test_identities_go_and_detached_values_stay():
    def f(x):
        return x.astype("float32").reshape([3]).assign() if hasattr(x, "assign") else paddle.assign(x).reshape([3])

    assert names(idempotent(program_of(f), "drop_identities")) == []
    net = nn.Linear(3, 3)
    program = program_of(lambda x: net(x).detach() * net(x), SPEC([2, 3]))
    assert names(apply(program, "drop_identities")) == names(program)


def test_values_that_gradients_are_asked_for_stay():
    w = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)

    def f(x):
        h = paddle.assign(w * x)
        g = paddle.assign(h)
        return paddle.grad((g * g).sum(), h)[0]

    program = program_of(f)
    changed = apply(program, "clean")
    verify(changed)
    same(program, changed, X)


def test_dropout_goes_and_the_draws_with_it():
    def f(x):
        a = F.dropout(x, 0.5) + F.dropout(x, 0.25, mode="downscale_in_infer")
        return a + F.alpha_dropout(x, 0.5)

    program = program_of(f)
    changed = idempotent(program, "drop_dropout")
    assert "dropout" not in names(changed)
    before = paddle.get_rng_state()
    assert function(changed)(X).tolist() == [2.75, 5.5, 8.25]
    assert str(paddle.get_rng_state()) == str(before)
