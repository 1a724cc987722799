"""Variables without a value, and what Python cannot pause: the errors say what and where."""

# Programs to convert are odd on purpose.
# ruff: noqa: F841, SIM201, UP008, B007, B008, B012, B018, B023, C400, C402, C416, C420, E501, E731, S102, SIM102, SIM108, SIM114, UP028

from __future__ import annotations

import copy
import operator
import pickle

import pytest

from conversions import Short, Staged, Toy, plain
from dy2static import ConversionError, Undefined, UndefinedError, convert
from dy2static.location import Location


def test_every_use_raises():
    t = Undefined("t", Location("/m/model.py", 12, "f"))
    uses = [bool, len, iter, str, int, abs, operator.neg, lambda v: v + 1, lambda v: 1 - v, lambda v: v == 1, lambda v: v(),
            lambda v: v[0], lambda v: v.shape, lambda v: f"{v}", lambda v: v < 2, lambda v: 1 in v]  # fmt: skip
    for use in uses:
        with pytest.raises(UndefinedError, match=r"variable `t` .* statement at model\.py:12 may leave it without one"):
            use(t)
    assert repr(t) == "<undefined t>" and issubclass(UndefinedError, UnboundLocalError)
    assert not hasattr(t, "__array__") and isinstance(hash(t), int)
    assert copy.copy(t).name == pickle.loads(pickle.dumps(t)).name == "t"


def maybe(x):
    if x > 0:
        t = x
    for i in range(x):
        last = i
    if x > 5:
        return last
    return t


@pytest.mark.parametrize("runtime", [None, Short(), Toy()])
def test_plain_reads_raise_as_in_python(runtime):
    g = convert(maybe, runtime)
    assert g(3) == 3 and g(6) == 5
    with pytest.raises(NameError if isinstance(runtime, Short) else UnboundLocalError, match="'t'"):
        g(0)


def test_staged_reads_name_the_variable_and_the_place():
    def f(x, n):
        if x > 0:
            pass
        for i in range(n):
            t = i
        return t

    with pytest.raises(UndefinedError, match=rf"variable `t` .* test_undefined\.py:{f.__code__.co_firstlineno + 3}"):
        convert(f, Toy())(Staged(1), Staged(0))


def test_deleted_in_a_branch():
    def f(x):
        t = 1
        if x > 0:
            del t
        return t

    with pytest.raises(UnboundLocalError):
        convert(f)(1)
    assert convert(f)(-1) == 1


def generator(x, n):
    i = 0
    while i < n:
        if i == 1:
            i += 2
            continue
        z = x if x > 2 else 2
        if z > 5:
            z = z - 1
            return
        yield z + i
        i += 1
    for v in [1, 2]:
        got = yield v
        if got is not None:
            break
    try:
        yield from range(n)
    finally:
        yield -1


@pytest.mark.parametrize("runtime", [None, Short(), Toy()])
def test_generators(runtime):
    for args in ((1, 3), (9, 2), (3, 0)):
        assert list(convert(generator, runtime)(*args)) == list(generator(*args))


def test_staged_values_inside_generators():
    def f(x):
        for i in range(3):
            y = x + i
            if y > 2:
                y = y * 2
            yield y

    assert [plain(v) for v in convert(f, Toy())(Staged(1))] == list(f(1))


@pytest.mark.parametrize("what", ["while", "if", "for"])
def test_staged_pause_is_explained(what):
    def f(x):
        if what == "while":
            while x > 0:
                yield x
        if what == "if":
            if x > 0:
                yield x
        if what == "for":
            for i in range(x):
                yield i

    match = rf"the `{what}` statement at test_undefined\.py:\d+, in `f`, depends on a staged value.*Collect the results"
    with pytest.raises(ConversionError, match=match):
        list(convert(f, Toy())(Staged(1)))
