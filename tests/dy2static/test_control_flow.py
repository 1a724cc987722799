"""Branches, loops and jumps: as Python, and staged."""

# Programs to convert are odd on purpose.
# ruff: noqa: F841, SIM201, UP008, B007, B008, B012, B018, B023, C400, C402, C416, C420, E501, E731, S102, SIM102, SIM108, SIM114, UP028

from __future__ import annotations

import contextlib
import itertools
import types

import pytest

from conversions import Staged, Toy, plain, same, staged
from dy2static import convert
from programs import compiled


def if_else(x):
    if x > 0:
        y = x + 1
    else:
        y = x * 2
    return y


def elif_chain(x):
    if x > 5:
        y = x + 1
    elif x > 0:
        y = x + 10
    elif x > -5:
        y = x + 100
    else:
        y = x * 3
    return y


def return_chain(x):
    if x > 5:
        return x + 1
    if x > 0:
        return x + 2
    return x + 4


def return_nested(x):
    if x > 0:
        if x > 3:
            return x * 10
        x = x + 1
    else:
        if x < -2:
            return -x
    return x * 2


def code_after_return(x):
    scale = 2.0
    if x > 0:
        y = x * scale
        return y
    else:
        scale = 3.0
    y = x * scale
    return y + 1


def guarded_use(x):
    positive = x > 0
    if positive:
        t = x * 4
    y = x + 1
    if positive:
        y = y + t
    return y


def delete_in_branch(x):
    if x > 0:
        t = x + 1
        x = t * 2
        del t
    return x


def while_break_continue(x):
    i = 0
    while i < 10:
        i += 1
        if i % 3 == 0:
            continue
        x = x * 2
        if x > 40:
            break
        x = x + 1
    return x, i


def while_test(x):
    while x < 20:
        x = abs(x) * 2 + 1
    return x


def while_return(x):
    i = 0
    while i < 6:
        x = x * 2
        if x > 20:
            return x
        i = i + 1
    return x - 1


def while_test_reads_what_the_body_writes(x):
    k = 0
    while k < 3 and x > 0:
        k += 1
        x = 1
    return k


def while_true(x):
    while True:
        x = x * 2
        if x > 50 or x == 0 or x < -50:
            break
    return x


def while_else(x):
    i = 0
    while i < 4:
        if x > 20:
            break
        x = x * 2
        i = i + 1
    else:
        x = x - 100
    return x


def nested_loops(x):
    total = x * 0
    i = 0
    while i < x:
        j = 0
        while True:
            if j > i:
                break
            total = total + j
            j += 1
        else:
            total = -1
        if total > 30:
            break
        i += 1
    return total, i


def for_range(x):
    y = x
    for i in range(x):
        y = y * 2 + i
    return y


def for_variable_after(x):
    i = -1
    for i in range(x):
        pass
    return i


def for_break(x):
    for i in range(5):
        x = x * 2
        if x > 20:
            break
    return x


def for_range_break(x):
    y = x
    for i in range(x):
        y = y * 2
        if y > 20:
            break
        if i == 1:
            continue
        y = y + 1
    return y


def for_return(x):
    for i in range(4):
        x = x * 2
        if x > 20:
            return x, i
    return x, -1


def for_else(x):
    for i in range(3):
        if x > i + 1:
            x = x * 2
            break
    else:
        x = x - 1
    return x


def nested_for(x):
    count = 0
    for i in range(x):
        for j in range(4):
            if j > i:
                break
            count = count + 1
        if count > 5:
            break
    return count


def for_tuple_target(x):
    total = 0
    for i, (a, *b) in enumerate([(1, 2, 3), (4, 5)]):
        if a > x:
            continue
        total = total + i * a + sum(b)
    return total


def try_finally(x):
    try:
        if x > 0:
            return x * 2
        x = x - 1
    finally:
        x = x + 1
    return x


def try_except_else(x):
    for d in (1, 0):
        try:
            y = 6 // d
            if x > 3:
                break
        except ZeroDivisionError as error:
            y = -1
            message = str(error)
            if x > 0:
                return message
        else:
            y = y + 1
        x = x + y
    return x


def finally_return(x):
    for i in range(3):
        try:
            if i == x:
                return "try"
            1 // (i - 1)
        except ZeroDivisionError:
            continue
        finally:
            if i == 2:
                return "finally"
    return "end"


def loops_in_a_finally(x):
    seen = []
    try:
        x = 10 // x
    finally:
        for i in range(x):
            seen.append(i)
            if i == 3:
                break
        else:
            x += 100
        while x < 0:
            x += 1
        else:
            x += 1000
        if x > 1107:
            return "finally", x
    return x, seen


def finally_always_returns(x):
    try:
        try:
            x = x // (x - 1)
            raise KeyError(x)
        except ZeroDivisionError:
            x = 7
        else:
            if x > 0:
                x = 8
    finally:
        return x


def break_in_finally(x):
    for i in range(3):
        try:
            if i == x:
                break
            x = x // x
        finally:
            if x > 2:
                break
    else:
        x = "else"
    return x


class Enter:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return error[0] is KeyError


def with_return(x):
    with Enter() as e:
        if x > 0:
            return x, e is not None
        if x < -3:
            raise KeyError(x)
        x = x + 1
    return x


def global_and_nonlocal(x):
    count = 0

    def bump(v):
        nonlocal count
        count = count + 1
        if v > 0:
            return v * 2
        return v - 1

    y = bump(x)
    if y > 3:
        y = bump(y)
    return y, count


def nonlocal_in_branch(x):
    best = x

    def update(v):
        nonlocal best
        if v > best:
            best = v

    update(x * 2)
    update(x - 10)
    return best


def none_first(x):
    best = None
    for v in (3, 1, x):
        if best is None:
            best = v
        elif v > best:
            best = v
    return best


def raise_in_branch(x):
    if x > 4:
        raise ValueError("too large")
    elif x < -4:
        raise KeyError
    return x


def return_nothing(x):
    if x > 0:
        return


def match_patterns(x):
    found = []
    for p in [(1, 2), [3, 4, 5], {"k": 6}, 7, 8, "s", None, 2.5]:
        match p:
            case (a, b) if a + b > x:
                found.append(("pair", a, b))
            case [a, *rest] if x > 2:
                found.append((a, rest))
            case {"k": v, **others}:
                found.append((v, others))
            case 7 | 8:
                found.append("value")
            case str() as s:
                found.append(s)
            case float(real=r):
                found.append(r)
            case None:
                break
            case _:
                continue
    return found


FUNCTIONS = [f for f in list(globals().values()) if isinstance(f, types.FunctionType) and f.__module__ == __name__]
PLAIN_ONLY = {
    "raise_in_branch",
    "return_nothing",
    "finally_return",
    "finally_always_returns",
    "loops_in_a_finally",
    "break_in_finally",
    "try_except_else",
    "match_patterns",
    "with_return",
}
SETS = [(v,) for v in (-9, -4, -1, 0, 1, 2, 3, 5, 8, 30)]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_like_python(f):
    same(f, *SETS)


@pytest.mark.parametrize("f", [f for f in FUNCTIONS if f.__name__ not in PLAIN_ONLY], ids=lambda f: f.__name__)
def test_staged(f):
    assert staged(f, *SETS)


@pytest.mark.parametrize("returns", [False, True])
def test_long_chains_stay_linear(returns):
    if returns:
        branches = "".join(f"    if x == {i}:\n        return {i}\n" for i in range(150))
        text = f"def f(x):\n{branches}    return -1\n"
    else:
        branches = "".join(f"    {'el' if i else ''}if x == {i}:\n        y = {i}\n" for i in range(150))
        text = f"def f(x):\n{branches}    else:\n        y = -1\n    return y\n"
    f = compiled(text)
    same(f, 0, 70, 149, 150)
    staged(f, 0, 149, 150)
    size = sum(len(code.co_code) for code in codes(convert(f).__code__))
    assert size < 150 * 2000


def codes(code):
    """The code and all codes in it."""
    return [code, *(c for const in code.co_consts if isinstance(const, types.CodeType) for c in codes(const))]


def flag_in_the_last_branch(xs):
    total = 0
    for x in xs:
        if x < 0:
            continue
        total += x
        if total > 10:
            break
        elif x > 5:
            total += 1
            if total > 8:
                break
    else:
        return -total
    return total


def flag_in_another_branch(xs):
    total = 0
    for x in xs:
        if total > 10:
            break
        if x > 5:
            total += x
        total += 1
    return total


def flag_behind_a_with(xs):
    total = 0
    for x in xs:
        with contextlib.suppress(ZeroDivisionError):
            if x > 5:
                break
            total += 10 // x
        total += 1
    return total


@pytest.mark.parametrize("f", [flag_in_the_last_branch, flag_in_another_branch, flag_behind_a_with])
@pytest.mark.parametrize("numbers", [(1, 2, 3), (6, 1, 9), (-1, 4, 5, 6), (11, 1), (0, 5, 7), ()])
def test_flags_of_loops(f, numbers):
    """Where each number is staged or plain, the loop leaves at the same place."""
    expected = f(list(numbers))
    assert convert(f)(list(numbers)) == expected
    for chosen in itertools.product((False, True), repeat=len(numbers)):
        mixed = [Staged(n) if stage else n for n, stage in zip(numbers, chosen, strict=True)]
        try:
            found = convert(f, Toy())(mixed)
        except ZeroDivisionError:
            continue
        assert plain(found) == expected, chosen
