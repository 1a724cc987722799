"""State under a staged condition (aliases, elements, keys, attributes, errors): as in eager code."""

from __future__ import annotations

import dataclasses
import os
import threading

import pytest
from paddle_lite_py.jit import DataDependentWarning, to_static, tracer

import paddle_lite_py as paddle
from agreement import agree, plain

pytestmark = pytest.mark.filterwarnings(f"ignore::{DataDependentWarning.__module__}.DataDependentWarning")
SIGNS = ([1.0, -2.0, 3.0], [-1.0, -2.0, 0.5])


class Box:
    pass


# -- aliases ---------------------------------------------------------------------------------------------------------
def written_or_rebound(x):
    y = x * 1
    if x.sum() > 0:
        y[0] = 100.0
    else:
        y = y + 1
    return y


def method_or_rebound(x):
    o, d, items = Box(), {"y": x * 2}, [x * 3]
    o.b = x * 1
    if x.sum() > 0:
        o.b.add_(x)
        d["y"].scale_(3.0)
        items[0][items[0] > 0] = 0.0
    elif x[2] > 0:
        o.b = o.b - 1
        d["y"] = d["y"] + 1
        items[0] = items[0] + 1
    return o.b, d, items


def chosen_then_written(x):
    a, b = x * 1, x * 2
    c = a
    if x.sum() > 0:
        c = b
    c.add_(paddle.ones([3]))
    return a, b, c


def written_then_read(x):
    a = x * 1
    c = a if x.sum() > 0 else x * 2
    a.add_(paddle.ones([3]))
    return a, c


def chosen_list(x):
    a, b = [x * 1], [x * 2]
    c = b if x.sum() > 0 else a
    c.append(x)
    c[0] = c[0] + 1
    return a, b, c


def chosen_in_a_loop(x):
    a, b = x * 1, x * 2
    c = a
    for i in range(paddle.to_tensor(3)):
        c.add_(paddle.ones([3]))
        if x[0] > i:
            c = b
    return a, b, c


def view_of_either(x):
    y = x * 1
    if x.sum() > 0:
        v = y[:2]
    else:
        v = y[1:]
    v.fill_(9.0)
    return y, v


# -- elements, keys, attributes, sizes -------------------------------------------------------------------------------
def last_element(x):
    items = [x, x * 2]
    for _ in range(paddle.to_tensor(3)):
        items[-1] = items[-1] + 1
    return items


def states_of_layers(x):
    hs = [x, x * 2, x * 3]
    for _ in range(paddle.to_tensor(2)):
        for j in range(3):
            hs[j] = hs[j] * 0.5 + (hs[j - 1] if j else x)
    return hs


def aliased_element(x):
    o, items = Box(), [x, x]
    o.v = x * 1
    if x.sum() > 0:
        items[-1] = o.v
        o.v.add_(x)
    return items, o.v


def keys(x):
    d = {"a": x}
    if x.sum() > 0:
        d["b"] = x * 2
    d2 = {**d, "c": x}
    return x * len(d), "b" in d, d.get("b", x), list(d2), d2


def deleted(x):
    o, d, items = Box(), {"a": x, "b": x}, [x, x * 2]
    o.a = x
    if x.sum() > 0:
        del d["b"], items[0], o.a
    return len(d), len(items), hasattr(o, "a"), getattr(o, "a", x + 7), items[-1]


def grown(x):
    items = [x]
    if x.sum() > 0:
        items += [x * 2]
        items[1:] = [x, x]
    return items, len(items)


# -- errors and numbers ----------------------------------------------------------------------------------------------
def caught(x):
    y = x * 1
    try:
        y = y + 1
        if x.sum() > 0:
            raise ValueError("positive")
        assert x[2] < 0, "third"
        y = y * 2
    except ValueError:
        y = y - 10
    except AssertionError:
        y = y - 20
    return y


def only_when_taken(x):
    if x.sum() > 0:
        x = [x][0] * 2
    else:
        x = x * (1 if x[2] > 0 else {}["missing"])
    return x


def numbers(x):
    n = 1
    if x.sum() > 0:
        n = 2
    k = 0
    while k < n:
        k = k + 1
    return isinstance(n, int), isinstance(k, (float, str)), type(n) is int, x.astype("int32") * n + k


@pytest.mark.parametrize(
    "f",
    [written_or_rebound, method_or_rebound, chosen_then_written, written_then_read, chosen_list, chosen_in_a_loop,
     view_of_either, last_element, states_of_layers, aliased_element, keys, deleted, grown, caught, only_when_taken,
     numbers],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_static_is_eager(f):
    agree(f, *SIGNS)


def test_gradients_reach_what_was_written():
    def f(x):
        y = x * 1
        c = y
        if x.sum() > 0:
            y[0] = x[1] * 5
        else:
            c = x * 2
        c.add_(x)
        return (y * y).sum() + (c * x).sum()

    for numbers in SIGNS:
        found = []
        for g in (f, to_static(f)):
            x = paddle.to_tensor(numbers, stop_gradient=False)
            g(x).backward()
            found.append(x.grad.tolist())
        assert found[0] == found[1]


def test_what_nobody_writes_to_is_one_program():
    def f(x, y):
        c = x if x.sum() > 0 else y
        d = {"a": c}
        if y.sum() > 0:
            d["a"] = x
        return d["a"] + c

    static = agree(f, *[(a, b) for a in SIGNS for b in SIGNS])
    assert static.get_traced_count() == 1


class Task:
    def __init__(self, cost):
        self.cost = cost

    def __lt__(self, other):
        return self.cost.sum() < other.cost.sum()


def test_objects_are_sorted_by_comparisons_that_give_tensors():
    def f(x):
        tasks = [Task(x), Task(-x), Task(x * 2)]
        return [t.cost for t in sorted(tasks)], min(tasks).cost, max(tasks).cost

    agree(f, *SIGNS)


@dataclasses.dataclass
class State:
    h: paddle.Tensor
    seen: list
    steps: int = 0


def test_a_dataclass_keeps_what_is_written_to_it():
    def f(state, x):
        state.h = state.h + x
        state.seen.append(x)
        state.steps += 1
        return state

    found = []
    for g in (f, to_static(f)):
        state = State(paddle.zeros([3]), [])
        for numbers in SIGNS:
            assert g(state, paddle.to_tensor(numbers)) is state
        found.append((state.h.tolist(), plain(state.seen), state.steps))
    assert str(found[0]) == str(found[1])


def test_the_environment_and_thread_locals_are_guarded(monkeypatch):
    local = threading.local()

    def f(x):
        return x * local.scale if os.environ.get("PADDLE_LITE_TEST_SIGN") == "plus" else -x * local.scale

    static = to_static(f)
    for sign, scale in [("plus", 2.0), ("minus", 2.0), ("minus", 3.0), ("plus", 2.0)]:
        monkeypatch.setenv("PADDLE_LITE_TEST_SIGN", sign)
        local.scale = scale
        assert static(paddle.ones([1])).item() == f(paddle.ones([1])).item()


def test_python_counters_keep_what_is_counted_before_an_error():
    found = []
    for wrap in (lambda f: f, to_static):
        box = Box()
        box.count = 0

        def f(x, box=box):
            box.count += 1
            if x.sum() > 0:
                raise ValueError("positive")
            return x

        g = wrap(f)
        for numbers in (*SIGNS, SIGNS[0]):
            try:
                g(paddle.to_tensor(numbers))
            except ValueError as e:
                assert str(e) == "positive"
        found.append(box.count)
    assert found == [3, 3]


def test_a_program_that_prints_leaves_state_alone_where_it_fails(capfd):
    total = paddle.zeros([1])

    @to_static
    def f(x):
        total.add_(x)
        print("sum", x.sum())
        assert x.sum() > 0, "positive please"
        return x

    f(paddle.ones([1]))
    with pytest.raises(AssertionError, match="positive please") as failed:
        f(-paddle.ones([1]))
    assert total.tolist() == [1.0] and "raised by the static program" in failed.value.__notes__[0]
    assert capfd.readouterr().out.count("sum") == 2


HELD = []


def changes_and_replaces(x):
    HELD[0].add_(x)
    HELD[0] = x * 2.0
    return x + 1.0


def puts_back(x):
    HELD[0] = HELD[0]
    HELD[0].add_(x)
    return x


@pytest.mark.parametrize("f", [changes_and_replaces, puts_back])
def test_what_a_run_finds_in_a_place_is_changed_in_place(f):
    outcomes = []
    for run in (f, paddle.jit.to_static(f)):
        seen = []
        for value in (1.0, 2.0, 3.0):  # each time another tensor, which other names have as well
            other = paddle.to_tensor([value])
            HELD[:] = [other]
            run(paddle.ones([1]))
            seen.append((other.item(), HELD[0].item(), HELD[0] is other))
        outcomes.append(seen)
    assert outcomes[0] == outcomes[1]


def test_all_that_data_must_decide_is_found_in_one_trace(monkeypatch):
    def f(a, b):
        total, c, d = a.sum(), a * 1.0, b * 1.0
        for i in range(6):
            if a[i % 3] > 0.5 * i:
                e = c
            else:
                e = d
            if a[0] < i:
                g = e
            else:
                g = c
            g.add_(b)
            total = total + c.sum() * e[0]
        return total, c, d

    traces, original = [], tracer.trace
    monkeypatch.setattr(tracer, "trace", lambda *args, **more: traces.append(0) or original(*args, **more))
    static = to_static(f)
    for first in (1.0, 3.0):
        a, b = paddle.to_tensor([first, -2.0, 0.5]), paddle.to_tensor([0.5, 0.25, 1.0])
        assert plain(static(a, b)) == [pytest.approx(v) for v in plain(f(a, b))]
    assert len(traces) == 3  # one that finds them, and one for each outcome
