"""Saved loops over a size left open, which cut rows out by their counter, serve every size."""

import numpy as np
import pytest
from paddle_lite_py.jit import InputSpec, load, save, to_static
from paddle_lite_py.jit.artifact import ArtifactError

import paddle_lite_py as paddle


def rows(n):
    x = paddle.to_tensor(np.linspace(0.3, 2, 3 * n, dtype="float32").reshape(n, 3))
    x.stop_gradient = False
    return x


def saved(function, tmp_path):
    prefix = str(tmp_path / "program")
    save(to_static(function, full_graph=True), prefix, input_spec=[InputSpec([None, 3])])
    return load(prefix)


def first_of_one(x):
    found = paddle.zeros([0, 3])
    for i in range(x.shape[0]):
        v = x[i : i + 1]
        found = paddle.concat([found, (v[0] * 2).unsqueeze(0), (v[0] + 1).unsqueeze(0)])
    return found


def both_of_two(x):
    found = paddle.zeros([0, 3])
    for i in range(x.shape[0] - 1):
        v = x[i : i + 2]
        found = paddle.concat([found, (v[0] * v[1]).unsqueeze(0)])
    return found


def second_of_two(x):
    found = paddle.zeros([3])
    for i in range(x.shape[0] - 1):
        found = found + x[i : i + 2][1] * 2
    return found


def up_to(x):
    found = paddle.zeros([1, 3])
    for i in range(x.shape[0]):
        found = paddle.concat([found, x[:i] * 2])
    return found


def from_there(x):
    found = paddle.zeros([0, 3])
    for i in range(x.shape[0]):
        v = x[i:]
        found = paddle.concat([found, (v[0] * 2).unsqueeze(0), v])
    return found


def in_a_branch(x):
    found = paddle.zeros([3])
    for i in range(x.shape[0]):
        v = x[i : i + 2]
        if v.sum() > 3:
            found = found + v[-1] * v[0]
        else:
            found = found - v[0]
    return found


@pytest.mark.parametrize(
    "function", [first_of_one, both_of_two, second_of_two, up_to, from_there, in_a_branch], ids=lambda f: f.__name__
)
def test_rows_cut_out_by_the_counter(function, tmp_path):
    loaded = saved(function, tmp_path)
    for n in (4, 2):
        results, grads = [], []
        for f in (function, loaded):
            x = rows(n)
            y = f(x)
            (y * y).sum().backward()
            results.append(y.numpy())
            grads.append(x.grad.numpy())
        np.testing.assert_allclose(*results, rtol=1e-5)
        np.testing.assert_allclose(*grads, rtol=1e-5)


def beyond(x):
    found = paddle.zeros([3])
    for i in range(x.shape[0]):
        found = found + x[i : i + 2][1]
    return found


def of_few(x):
    return x[x[:, 0] > 1][2] * 2


def written(x):
    few = x[x[:, 0] > 1]
    few[2] = 5.0
    return few


@pytest.mark.parametrize("function", [beyond, of_few, written], ids=lambda f: f.__name__)
def test_a_row_that_a_run_does_not_find_is_an_error_that_names_it(function, tmp_path):
    loaded = saved(function, tmp_path)
    x = rows(3).detach()
    with pytest.raises(IndexError, match="is out of range for dimension 0"):
        function(x)
    for _ in range(3):  # run operator by operator at first, compiled later
        with pytest.raises(ArtifactError, match="index . is out of range for dimension 0 of size ."):
            loaded(x)


def chosen_row(x, at):
    y = x[x[:, 0] > 0]
    for _ in range(3):
        y = paddle.tanh(y) + 1
    return y[at] * 2


@pytest.mark.parametrize("columns", [3, 20_000], ids=["small", "large"])
@pytest.mark.parametrize("at", [-3, 2])
def test_an_index_into_too_few_rows_is_refused_in_each_run(tmp_path, at, columns):
    f = paddle.jit.to_static(lambda x: chosen_row(x, at), input_spec=[InputSpec([None, None], "float32", "x")])
    paddle.jit.save(f, str(tmp_path / "f"))
    loaded = paddle.jit.load(str(tmp_path / "f"))

    def rows(n):
        values = np.full((6, columns), -1, "float32")
        values[:n] = np.arange(1, n + 1)[:, None]
        return paddle.to_tensor(values)

    for _ in range(5):  # one by one at first, and compiled then
        for n in (4, 2, 1, 3):
            if n > 2:
                np.testing.assert_allclose(loaded(rows(n)).numpy(), chosen_row(rows(n), at).numpy(), rtol=1e-5)
            else:
                with pytest.raises(IndexError, match=f"index {at} is out of range for dimension 0 of size {n}"):
                    loaded(rows(n))
