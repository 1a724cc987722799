"""Numbers of Python made of traced tensors: values, types and errors as eager Python has them."""

from __future__ import annotations

import collections

import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle
from number_programs import (
    ARITHMETIC,
    BAD,
    FLOATS,
    INTS,
    KEYS,
    MANY,
    PROGRAMS,
    RAISING,
    REPEATED,
    TYPES,
    tensor,
)  # fmt: skip
from paddle_lite_py.core.errors import DataDependentError


def outcome(f, *args):
    try:
        return described(f(*args))
    except Exception as e:
        return type(e).__name__, str(e)


def described(value):
    """A result with the types in it."""
    if isinstance(value, paddle.Tensor):
        return "tensor", value.dtype.name, value.tolist()
    if isinstance(value, dict):
        return type(value).__name__, [(described(k), described(v)) for k, v in value.items()]
    if isinstance(value, list | tuple):
        return type(value).__name__, [described(v) for v in value]
    if isinstance(value, set | frozenset):
        return type(value).__name__, sorted(map(described, value))
    return type(value).__name__, repr(value)


MODES = pytest.mark.parametrize("full", [True, False], ids=["full", "default"])


def cases(table):
    return pytest.mark.parametrize("f", list(table.values()), ids=list(table))


@MODES
@cases(KEYS)
def test_numbers_are_keys_by_value(f, full):
    static = to_static(f, full_graph=full)
    for t in (INTS, INTS, tensor(2, 3, 3, 3), INTS):
        assert outcome(static, t) == outcome(f, t)


@MODES
@cases(REPEATED)
def test_sequences_are_repeated(f, full):
    static = to_static(f, full_graph=full)
    for t in (INTS, tensor(1, 0, 2, 2), INTS):
        assert outcome(static, t) == outcome(f, t)


@MODES
@pytest.mark.filterwarnings("ignore::paddle_lite_py.jit.DataDependentWarning")
@cases(ARITHMETIC)
def test_arithmetic_is_that_of_python(f, full):
    static = to_static(f, full_graph=full)
    assert outcome(static, FLOATS, MANY) == outcome(f, FLOATS, MANY)


@MODES
@cases(RAISING)
def test_errors_are_those_of_python(f, full):
    static = to_static(f, full_graph=full)
    expected = outcome(f, BAD, tensor(0))
    assert expected[0] in ("ZeroDivisionError", "ValueError", "OverflowError")
    assert outcome(static, BAD, tensor(0)) == expected


@MODES
@cases(TYPES)
def test_types_are_those_of_python(f, full):
    static = to_static(f, full_graph=full)
    assert outcome(static, FLOATS, MANY) == outcome(f, FLOATS, MANY)


@MODES
@pytest.mark.filterwarnings("ignore::paddle_lite_py.jit.DataDependentWarning")
@cases(PROGRAMS)
def test_programs_with_numbers_are_those_of_python(f, full):
    static, expected = to_static(f, full_graph=full), outcome(f, FLOATS, MANY)
    assert [outcome(static, FLOATS, MANY) for _ in range(2)] == [expected] * 2


class Tally(paddle.nn.Layer):
    """What a call leaves in attributes and containers."""

    def __init__(self):
        super().__init__()
        self.total, self.seen, self.counts, self.values, self.pairs = 0, set(), collections.Counter(), [], {}

    def forward(self, x, n):
        k = int(n[0])
        self.total += k
        self.seen.add(k)
        self.counts[k] += 1
        self.counts.update(int(v) for v in n)
        self.values.append(float(x[0]) + 0.1)
        self.pairs[k] = k, float(x[1])
        self.last = {"k": k}
        return x * k

    def state(self):
        return described([self.total, self.seen, self.counts, self.values, self.pairs, self.last])


@MODES
def test_what_is_left_behind_holds_numbers(full):
    eager, static = Tally(), Tally()
    static.forward = to_static(static.forward, full_graph=full)
    for i in range(4):
        for layer in (eager, static):
            layer(tensor(0.1 * i, 2.0), tensor(i % 3, 5, i))
        assert static.state() == eager.state()


GROWN = set(), collections.Counter(), [], collections.deque(), {}


def grow(n):
    numbers, counts, listed, queue, pairs = GROWN
    numbers.update(int(v) for v in n)
    counts.update(int(v) for v in n)
    listed.extend(int(v) for v in n)
    queue.extend(float(v) for v in n)
    pairs.update((int(v), float(v)) for v in n)
    return n * 2


def grown(f):
    for container in GROWN:
        container.clear()
    for data in ((1, 2, 2), (3, 3, 3), (1, 2, 2)):
        f(tensor(*data))
    return repr(GROWN)


@MODES
def test_containers_take_items_from_generators(full):
    assert grown(to_static(grow, full_graph=full)) == grown(grow)


@MODES
def test_each_run_makes_sets_anew(full):
    kept = {5}

    def f(t, given):
        given.add(1)
        return {int(i) for i in t}, {1, 2}, given, kept

    static, given = to_static(f, full_graph=full), set()
    numbers, plain, same, outer = static(INTS, given)
    numbers.add(9)
    plain.add(9)
    assert same is given and outer is kept
    assert static(INTS, given)[:2] == ({0, 2, 3}, {1, 2})


def test_numbers_that_no_key_depends_on_make_no_programs():
    f = to_static(lambda x, n: (float(x) + 0.1, int(n) * 3, 10 // int(n)), full_graph=True)
    for i in range(1, 6):
        assert f(paddle.to_tensor(float(i)), paddle.to_tensor(i)) == (i + 0.1, i * 3, 10 // i)
    assert f.get_traced_count() == 1


def test_keys_make_a_program_for_each_value():
    f = to_static(lambda n: {int(n): [0] * int(n)}, full_graph=True)
    for i in (1, 2, 1, 2, 1):
        assert f(paddle.to_tensor(i)) == {i: [0] * i}
    assert f.get_traced_count() == 2


@MODES
def test_floor_division_of_infinity(full):
    def f(x):
        return -1.0 // float(x[1]), float(x[3]) // float(x[1]), float(x[1]) % 2

    assert outcome(to_static(f, full_graph=full), BAD) == outcome(f, BAD)


# -- saved and loaded ----------------------------------------------------------------------------------------------
SPECS = [paddle.static.InputSpec([3], "float32"), paddle.static.InputSpec([4], "int64")]
LOADED = [name for name in ARITHMETIC if name not in ("sum", "mean", "sorted", "reduce", "any", "all", "min of mixed")]


def load(f, specs, path):
    paddle.jit.save(to_static(f, input_spec=specs, full_graph=True), str(path))
    return paddle.jit.load(str(path))


def number(value):
    """What a file gives: tensors in the place of numbers."""
    if isinstance(value, tuple | list):
        return [number(v) for v in value]
    if isinstance(value, dict):
        return {k: number(v) for k, v in value.items()}
    return value.tolist() if isinstance(value, paddle.Tensor) else value


@cases({name: ARITHMETIC[name] for name in LOADED})
def test_loaded_arithmetic_is_the_same_or_refused(f, tmp_path):
    expected = f(FLOATS, MANY)
    if type(expected) in (int, float) and (abs(expected) >= 1 << 63 or expected == 2**-7):
        with pytest.raises((OverflowError, ValueError, DataDependentError), match="64 bits|negative exponent|be known"):
            load(f, SPECS, tmp_path / "f")(FLOATS, MANY)
    else:
        assert number(load(f, SPECS, tmp_path / "f")(FLOATS, MANY)) == number(expected)


@cases(RAISING)
def test_loaded_programs_raise_the_same(f, tmp_path):
    loaded = load(f, [paddle.static.InputSpec([4], "float32"), paddle.static.InputSpec([], "int64")], tmp_path / "f")
    try:
        f(BAD, tensor(0))
    except Exception as e:
        expected = type(e)
    with pytest.raises(expected):
        loaded(BAD, paddle.to_tensor(0))


@cases({**KEYS, **REPEATED})
def test_a_saved_program_has_no_keys_by_value(f, tmp_path):
    with pytest.raises(Exception, match="must be known while a static program is traced") as caught:
        load(f, [paddle.static.InputSpec([4], "int64")], tmp_path / "f")
    assert "number_programs.py" in str(caught.value)
