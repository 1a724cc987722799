"""Lists that grow in loops over open sizes: a saved program joins, indexes and goes over them for any size."""

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.nn import functional as F
from paddle_lite_py.static import InputSpec

ROWS = [InputSpec([None, 4])]


def rows(n):
    return paddle.to_tensor(np.random.default_rng(n).standard_normal((n, 4)).astype("float32"))


def saved(function, tmp_path):
    prefix = str(tmp_path / "program")
    paddle.jit.save(paddle.jit.to_static(function, full_graph=True), prefix, input_spec=ROWS)
    return paddle.jit.load(prefix)


def listed(found):
    return list(found) if isinstance(found, list | tuple) else [found]


def cut_rows(x):
    found = []
    for i in range(x.shape[0]):
        found.append(x[i : i + 1][0])
    return paddle.stack(found)


def state(x):
    h, found = paddle.zeros([4]), []
    for i in range(x.shape[0] - 1, -1, -1):
        h = F.tanh(h + x[i])
        found.append(h)
    return paddle.stack(found[::-1], axis=1) + x.T


def comprehensions(x):
    found = [row * 2 for row in x]
    again = [a * i for i, a in enumerate(found)]
    both = [a + b for a, b in zip(found, again, strict=False)]
    return paddle.concat([a.unsqueeze(0) for a in again]), paddle.stack(both)


def nested(x):
    found = []
    for i in range(x.shape[0]):
        inner = []
        for j in range(x.shape[1]):
            inner.append(x[i, j] * i)
        found.append(paddle.stack(inner))
    return paddle.stack(found)


def known_items(x):
    found = [x[0], x[0] * 2]
    for i in range(x.shape[0]):
        found.append(found[i] + x[i])
    found.append(x[-1])
    return paddle.stack(found), found[0] + found[-1], found[-2], found[2]


def whiles(x):
    found = []
    while len(found) < x.shape[0]:
        found.append(x[len(found)] * 2)
    i, total = 0, 0
    while i < x.shape[0]:
        total = total + found[i]
        i += 1
    return total


def as_tests(x):
    found = []
    for i in range(x.shape[0]):
        if not found:
            found.append(x[i] * 2)
        else:
            found.append(found[-1] + x[i])
    return paddle.stack(found)


def some(x):
    found = []
    for i in range(x.shape[0]):
        if x[i].sum() > 0:
            found.append(x[i])
    return paddle.stack(found)


def until(x):
    found = []
    for i in range(x.shape[0]):
        if i > 2:
            break
        if i == 1:
            continue
        found.append(x[i])
    return paddle.stack(found)


def methods(x):
    found, other = [], {"a": []}
    for i in range(x.shape[0]):
        found.insert(0, x[i])
        other["a"].extend([x[i], x[i] * 2])
    found.reverse()
    last = other["a"].pop()
    return paddle.stack(found), last, paddle.add_n(other["a"]), sum(found), other["a"].pop(0), len(other["a"]) + last


def joined(x):
    found, both = (), []
    for i in range(x.shape[0]):
        found = found + (x[i],)
        both += [x[i], -x[i]]
    return paddle.stack([*found, *both[1:]])


def items_set(x):
    found = []
    for i in range(x.shape[0]):
        found.append(x[i] * 1)
    for i in range(x.shape[0]):
        found[i] = found[i] * 3
    found[0][1] = 5.0
    return paddle.stack(found)


def begun_anew(x):
    total = paddle.zeros([4])
    for i in range(x.shape[0]):
        found = []
        for j in range(x.shape[0]):
            found.append(x[j] * i)
        total = total + paddle.stack(found).sum(0)
    return total


def pairs_and_numbers(x):
    found, numbers = [], []
    for i in range(x.shape[0]):
        found.append((x[i], {"sum": x[i].sum()}))
        numbers.append(i * 2)
    return paddle.stack([a * b["sum"] for a, b in found]), x.sum() * sum([n * 1.0 for n in numbers])


def pieces(x):
    found = []
    for i in range(0, x.shape[0], 2):
        found.append(x[i : i + 2] * i)
    return paddle.concat(found), found[0], len(found) + found[-1]


def tensors_that_grow(x):
    out = x[0:1]
    for i in range(1, x.shape[0]):
        if x[i].sum() > 0:
            out = paddle.concat([out, x[i : i + 1] + out[-1:]])
    return out


CASES = [
    *(cut_rows, state, comprehensions, nested, known_items, whiles, as_tests, some, until, methods, joined, items_set),
    *(begun_anew, pairs_and_numbers, pieces, tensors_that_grow),
]


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_a_list_that_grows_over_an_open_size(function, tmp_path):
    loaded = saved(function, tmp_path)
    for n in (3, 5, 1, 3):
        x = rows(n) + (2 if function is some and n == 1 else 0)
        for a, b in zip(listed(loaded(x)), listed(function(x)), strict=True):
            assert a.shape == b.shape
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-5)


def test_gradients_flow_through_a_grown_list(tmp_path):
    loaded, found = saved(state, tmp_path), []
    for function in (loaded, state):
        x = rows(3)
        x.stop_gradient = False
        (function(x) ** 2).sum().backward()
        found.append(x.grad.numpy())
    np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-5)


def returns(x):
    found = []
    for i in range(x.shape[0]):
        found.append(x[i])
    return found


def mixes(x):
    found = []
    for i in range(x.shape[0]):
        found.append(x[i] if i == 0 else x[i].sum())
    return paddle.stack(found)


def stacks_pieces(x):
    found = []
    for i in range(0, x.shape[0], 2):
        found.append(x[i : i + 2])
    return paddle.stack(found)


def sorts(x):
    found = []
    for i in range(x.shape[0]):
        found.append(x[i].sum())
    found.sort()
    return found[0]


REFUSED = {
    returns: "it returns a list that has grown in a loop",
    mixes: "must agree",
    stacks_pieces: "differ in the size of dimension 0",
    sorts: "`sort` needs the items of a list that grows in a staged loop",
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_what_such_a_list_cannot_do_is_told(function, tmp_path):
    with pytest.raises((ValueError, TypeError), match=REFUSED[function]):
        saved(function, tmp_path)


def folded(x):
    if x.shape[0] % 2 == 0 and x.shape[0] > 3:
        return x.reshape([-1, 2, 4]).sum(1)[:2].reshape([8])[:4]
    return x.sum(0)


def shrinks(x):
    while x.shape[0] > 2:
        x = x[:-1]
    return x


@pytest.mark.parametrize("function", [folded, shrinks], ids=lambda f: f.__name__)
def test_a_branch_that_is_not_taken_may_be_impossible_for_a_size(function, tmp_path):
    loaded = saved(function, tmp_path)
    for n in (4, 3, 1, 6):
        np.testing.assert_allclose(loaded(rows(n)).numpy(), function(rows(n)).numpy(), rtol=1e-5)


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_loop_whose_first_step_is_beyond_the_end_runs_once(step, tmp_path):
    """XLA leaves out `i = 0; while i < 1: i += 2` where it knows the numbers."""

    def every(x):
        i, total = 0, x[0] * 0
        while i < x.shape[0]:
            total = total + x[i]
            i += step
        return total

    loaded = saved(every, tmp_path)
    for n in (1, 2, 3, 4):
        np.testing.assert_allclose(loaded(rows(n)).numpy(), every(rows(n)).numpy(), rtol=1e-6)
