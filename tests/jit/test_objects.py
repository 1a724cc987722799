"""Programs with objects, wrappers and loops as people write them: static against eager."""

# Programs to convert are odd on purpose.
# ruff: noqa: B007, B905, B010, E731, F841, SIM102, SIM103, SIM108, SIM114, C417, UP028, PLR1704

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import math
import operator

import pytest

import paddle_lite_py as paddle
from agreement import SIGNS, agree

CASES = []


def case(f):
    CASES.append(f)
    return f


@paddle.no_grad()
def nograd_helper(x):
    if x.sum() > 0:
        return x * 2
    return x


@case
def no_grad_decorated(x):
    return nograd_helper(x)


@contextlib.contextmanager
def cm(x, log):
    if x.sum() > 0:
        log.append(x * 2)
    else:
        log.append(x)
    yield log


@case
def contextmanager_with_condition(x):
    with cm(x, []) as log:
        y = log[0] + 1
    return y


@functools.lru_cache
def cached(n):
    return n + 1


@case
def lru(x):
    if x.sum() > cached(1):
        return x
    return -x


@functools.singledispatch
def sd(v):
    return v


@sd.register
def _(v: float):
    return v + 1


@case
def single(x):
    return x * sd(2.0)


@case
def while_else(x):
    i = 0
    s = x.sum()
    while s < 5:
        s = s + 2
        i += 1
        if i > 2 and s > 4:
            break
    else:
        s = s * 10
    return s, i


@case
def for_else_break(x):
    for v in x:
        if v < -1.5:
            r = v
            break
    else:
        r = x.sum()
    return r


@case
def nested_break(x):
    n = x.sum() * 0
    for i in range(3):
        for j in range(3):
            if x[i] > x[j] + 2:
                break
            n = n + 1
        else:
            n = n + 100
            continue
        n = n - 5
    return n


@case
def dict_items(x):
    d = {"a": x[0], "b": x[1]}
    out = {}
    for k, v in d.items():
        if v > 0:
            out[k] = v * 2
        else:
            out[k] = v
    return out


@case
def list_of_lists(x):
    rows = [[x[0], x[1]], [x[2], x[0]]]
    for i, row in enumerate(rows, start=1):
        for j, v in enumerate(row):
            if v > 0:
                rows[i - 1][j] = v * i
    return rows


@case
def zip_mixed(x):
    t = 0
    for a, b, c in zip(x, [1.0, 2.0, 3.0], reversed([x[0], x[1], x[2]])):
        if a > b:
            t = t + c
        else:
            t = t - b
    return t


@case
def try_return_loop(x):
    log = []
    for i in range(3):
        try:
            if x[i] < 0:
                return x[i], i
        finally:
            log.append(i)
    return x.sum(), -1


@case
def custom_raise(x):
    try:
        if x.sum() > 100:
            raise ValueError("too big")
    except KeyError:
        pass
    return x


@case
def del_and_locals(x):
    y = x * 2
    if x.sum() > 0:
        z = y + 1
        y = z
        del z
    return y


class Box:
    def __init__(self, v):
        self._v = v
        self.count = 0

    @property
    def v(self):
        return self._v

    @v.setter
    def v(self, value):
        if value.sum() > 0:
            self._v = value
        else:
            self._v = -value

    def __getitem__(self, i):
        if self._v[i] > 0:
            return self._v[i]
        return self._v[i] * 0

    def __len__(self):
        return 3

    def __iter__(self):
        return (self[i] for i in range(3))

    def __enter__(self):
        if self._v.sum() > 0:
            self.count = 1
        return self

    def __exit__(self, *a):
        return False


@case
def property_setter(x):
    b = Box(x)
    b.v = x * 2
    return b.v


@case
def dunder_getitem(x):
    b = Box(x)
    return b[0] + b[1]


@case
def dunder_enter(x):
    with Box(x) as b:
        return x * b.count


@dataclasses.dataclass
class Post:
    a: object

    def __post_init__(self):
        if self.a.sum() > 0:
            self.a = self.a * 2


@case
def post_init(x):
    return Post(x).a


@case
def star_calls(x):
    def g(*a, k=1, **kw):
        return sum(a) * k if a[0] > 0 else kw["z"]

    args = [x[0], x[1]]
    kw = {"k": 2, "z": x[2]}
    return g(*args, **kw), max(*args)


@case
def while_walrus(x):
    s = x.sum()
    n = 0
    while (t := s * 2) < 7:
        s = s + 1
        n += 1
    return s, t, n


@case
def loop_none_init(x):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best


@case
def op_module(x):
    return (
        operator.add(x, 1),
        functools.reduce(operator.mul, [x[0], x[1]]),
        list(itertools.accumulate([x[0], x[1]])),
        math.pi * x,
    )


@case
def sort_method(x):
    ys = [x[2], x[0], x[1]]
    ys.sort(reverse=True)
    return ys


@case
def string_state(x):
    mode = "train"
    if len(x) > 2:
        mode = "eval"
    if mode == "eval" and x.sum() > 0:
        return x * 2
    return x


@case
def cond_expr_call(x):
    f = (lambda v: v * 2) if x.shape[0] > 2 else (lambda v: v)
    g = abs if x.sum().shape == [] else len
    return f(x), g(x)


@case
def not_in_str(x):
    if "a" not in "bcd" and x.sum() > 0:
        return x
    return -x


@case
def multi_target(x):
    a = b = x
    (c, d), e = (a, b), x * 2
    if x.sum() > 0:
        a, c = c * 3, a
    return a, b, c, d, e


@case
def ternary_chain_none(x):
    y = None if x.sum().ndim else x
    return y if y is not None else -x


@case
def mask_assign(x):
    y = x * 1
    y[x > 0] *= 2
    y[0] = y[0] if y[0] < 1 else y[0] - 1
    return y


@case
def inplace_branch(x):
    y = x * 1
    if x.sum() > 0:
        y.add_(paddle.to_tensor(1.0))
        y *= 2
    return y


@case
def nested_def_in_branch(x):
    if x.sum() > 0:

        def g(v):
            return v * 2
    else:

        def g(v):
            return v - 1

    return x


@case
def in_dict_tensor(x):
    d = {"k": x}
    if "k" in d and "z" not in d:
        return d["k"]
    return None


@case
def early_continue(x):
    t = x.sum() * 0
    for i in range(len(x)):
        if x[i] == 0:
            continue
        if x[i] < 0:
            t = t - x[i]
            continue
        t = t + x[i]
    return t


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore:.*has no single static program")
def test_static_is_eager(f):
    agree(f, *SIGNS)
