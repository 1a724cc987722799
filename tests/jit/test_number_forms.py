"""What eager code gives as a number is one after a static run, and from a loaded program, whatever made it."""

from __future__ import annotations

import linecache
import math

import numpy as np
import pytest

import paddle_lite_py as paddle

# In one program each.
SAVED = """
float(x.sum()), int(x.max()), bool(x.sum() > 0), x.sum().item(), not float(x[0])
float(x[0]) > 1, 1 < float(x[0]) < 3, int(x[0]) in [1, 2], int(x[0]) in {1, 2}, int(x[0]) in {1: 2}
int(x[0]) in range(5), int(x[0]) in range(5, 0, -2), int(x[0]) in range(0), int(x[0]) not in frozenset([1])
float(x[0]) in range(3), float(x[0]) / 2 in range(3)
max(int(x[0]), int(x[1])), sum(int(v) for v in x), any([bool(v > 0) for v in x]), abs(float(x[0]))
round(float(x[0])), divmod(int(x[0]), 2), pow(int(x[0]), 2), ~int(x[0]), int(x[0]) // 2
math.isclose(float(x[0]), 1), math.isclose(1.0, float(x[0]), rel_tol=0.9), math.isclose(float(x[0]), 1, abs_tol=2)
math.isclose(float(x[0]) * math.inf, math.inf), math.isclose(float(x[0]), math.inf)
math.hypot(float(x[0]), 2.0), math.copysign(float(x[0]), -1.0), math.degrees(float(x[0])), math.radians(float(x[0]))
float(x[0]) if x.sum() > 0 else 1.0, 1 if x.sum() > 0 else 0, {'a': float(x[0]), 'b': [int(x[1])]}
list(map(int, x)), list(map(float, x)), len(x), x.shape[0], x.numel().item(), isinstance(float(x[0]), float)
""".strip().splitlines()
CALLED = """
complex(float(x[0]), 1), complex(float(x[0])), complex(1, int(x[0]))
[int(x[0])] == [1], (int(x[0]), 2) == (1, 2), {'a': int(x[0])} != {'a': 1}
list(range(int(x[0]))), [*range(int(x[0]), 5)], range(int(x[0])), range(1, int(x[0]), 2)
f'{float(x[0]):.2f}', format(float(x[0]), '.1f'), format(int(x[0])), repr(float(x[0])), '%d' % int(x[0])
""".strip().splitlines()
INPUTS = ([1.0, 2.0, 3.0], [3.0, -2.0, 0.0])


def made(expression):
    """A function whose source is found."""
    text, name = f"def f(x):\n    return [{expression}]\n", f"<{expression}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    names = {"math": math}
    exec(compile(text, name, "exec"), names)
    return names["f"]


def typed(value):
    """A value with the types of all that it holds."""
    if isinstance(value, list | tuple):
        return type(value), [typed(v) for v in value]
    if isinstance(value, dict):
        return {k: typed(v) for k, v in value.items()}
    return type(value), round(value, 12) if isinstance(value, float) else value


@pytest.mark.parametrize("expression", [*SAVED, *CALLED])
def test_numbers_are_numbers_after_a_static_run(expression):
    f = made(expression)
    static = paddle.jit.to_static(f, full_graph=True)
    for numbers in (*INPUTS, *INPUTS):
        assert typed(static(paddle.to_tensor(numbers))) == typed(f(paddle.to_tensor(numbers)))


@pytest.mark.parametrize("expression", SAVED)
def test_numbers_are_numbers_from_a_loaded_program(expression, tmp_path):
    f, prefix = made(expression), str(tmp_path / "f")
    paddle.jit.save(f, prefix, [paddle.static.InputSpec([3])])
    loaded = paddle.jit.load(prefix)
    for numbers in INPUTS:
        assert typed(loaded(paddle.to_tensor(numbers))) == typed(f(paddle.to_tensor(numbers)))


def test_a_loaded_program_gives_numbers_in_a_program_and_tensors_to_a_predictor(tmp_path):
    prefix = str(tmp_path / "f")
    paddle.jit.save(lambda x: (float(x.sum()), x * 2), prefix, [paddle.static.InputSpec([None])])
    loaded, x = paddle.jit.load(prefix), paddle.to_tensor([1.0, 2.0])
    assert paddle.jit.to_static(lambda x: loaded(x)[0] + 1, full_graph=True)(x) == 4.0
    paddle.jit.save(loaded, str(tmp_path / "again"))
    assert type(paddle.jit.load(str(tmp_path / "again"))(x)[0]) is float
    found = paddle.inference.create_predictor(paddle.inference.Config(prefix)).run([x])
    assert [np.asarray(t).tolist() for t in found] == [3.0, [2.0, 4.0]]


def test_what_cannot_be_known_is_refused():
    for expression in ("{float(x[0]): 1}", "float(x[0]).hex()", "math.frexp(float(x[0]))"):
        with pytest.raises(TypeError, match=r"must be known while|needs the value of"):
            paddle.jit.to_static(made(expression), full_graph=True)(paddle.to_tensor(INPUTS[0]))


@pytest.mark.parametrize("expression", ["slice(int(x[0]))", "enumerate(x)", "zip(x, x)", "reversed(x)"])
def test_what_goes_over_tensors_is_not_returned(expression):
    f, x = made(expression), paddle.to_tensor(INPUTS[0])
    with pytest.raises(TypeError, match=r"a \w+ over a tensor is returned"):
        paddle.jit.to_static(f, full_graph=True)(x)
    with pytest.warns(UserWarning, match="cannot be staged as a whole"):
        assert type(paddle.jit.to_static(f)(x)[0]) is type(f(x)[0])


def mixed(x):
    if x.sum() > 0:
        return (x > 0).any(), 1, x.astype("int64").sum()
    return 3, x.shape[0] > 1, 0.5


@pytest.mark.filterwarnings("ignore::paddle_lite_py.jit.DataDependentWarning")
@pytest.mark.parametrize("full_graph", [False, True])
def test_a_bool_stays_one_and_an_integer_too_beside_a_number_of_the_other_branch(full_graph):
    static = paddle.jit.to_static(mixed, full_graph=full_graph)
    for values in ([1.0, 2.0], [-1.0, -2.0], [2.0, 1.0]):
        x = paddle.to_tensor(values)
        found, expected = static(x), mixed(x)
        assert [getattr(v, "dtype", type(v)) for v in found] == [getattr(v, "dtype", type(v)) for v in expected]
        assert [float(v) for v in found] == [float(v) for v in expected]
