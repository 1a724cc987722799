"""`:=` in operands that Python evaluates only if need be: it binds where eager code would, and nowhere else."""

from __future__ import annotations

import pytest
from paddle_lite_py.jit import InputSpec

import paddle_lite_py as paddle


def both_branches(x):
    z = (y := x * 3) if x.sum() > 0 else (y := x * 5)
    return z + y


def one_branch(x):
    y = x
    z = (y := x * 3) if x.sum() > 0 else x
    return y, z


def nested_branches(x):
    z = ((y := x) if x.max() > 1 else (y := x + 1)) if x.sum() > 0 else (y := x - 1)
    return y, z


def right_of_and(x):
    y = x
    z = (x.sum() > 0) and (y := x * 2).sum() > 1
    return y, z


def innermost(x):
    y = x
    z = (x.sum() > 0) and ((x.max() > 0.5) and (y := x + 1).sum() > 0)
    return y, z


def last_of_three(x):
    y = x
    z = x.sum() > 5 or x.max() > 1 or (y := x + 1).sum() > 0
    return y, z


def chain(x):
    y = x
    z = 0 < x.sum() < (y := x * 2).sum()
    return y, z


def loop_test(x):
    y = x
    while y.sum().abs() < 100 and (y := y * 2).sum() < 50:
        x = x + 1
    return y, x


def branch_test(x):
    y = x
    if not (x.sum() > 5 or (y := x + 1).sum() > 2):
        y = y * 2
    elif x.sum() > 0 and (y := x - 7).sum() < 0:
        y = y * 3
    return y


def in_a_comprehension(x):
    y = x
    z = [(y := y + i) if x.sum() > 0 else x for i in range(2)]
    return y, z


def in_a_staged_branch(x):
    y = x
    if x.max() > 0.5:
        z = x.sum() > 0 and (y := x * 2).sum() > 1
    else:
        z = x.sum() > 9
    return y, z


FUNCTIONS = {
    f.__name__: f
    for f in (both_branches, one_branch, nested_branches, right_of_and, innermost, last_of_three, chain, loop_test,
              branch_test, in_a_comprehension, in_a_staged_branch)
}  # fmt: skip
DATA = [[1.0, 2.0], [-1.0, -2.0], [0.25, 0.25]]


def plain(found):
    return paddle.utils.map_structure(lambda t: t.tolist(), found)


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_binds_where_eager_code_would(name, saved, tmp_path):
    fn = static = FUNCTIONS[name]
    if saved:
        paddle.jit.save(fn, str(tmp_path / "f"), input_spec=[InputSpec([2])])
        static = paddle.jit.load(str(tmp_path / "f"))
    else:
        static = paddle.jit.to_static(fn, full_graph=True)
    for data in DATA:
        assert plain(static(paddle.to_tensor(data))) == plain(fn(paddle.to_tensor(data)))


def test_a_name_that_stays_unbound_is_named():
    @paddle.jit.to_static(full_graph=True)
    def f(x):
        z = x.sum() > 0 and (q := x * 2).sum() > 1
        return q, z

    with pytest.raises(UnboundLocalError, match="`q`"):
        f(paddle.to_tensor([-1.0]))
