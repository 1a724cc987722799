"""Functions and methods of the ops under the names of other versions and libraries."""

from __future__ import annotations

import math

import numpy as np
import pytest

import paddle_lite_py as paddle


def test_constants_and_dtypes():
    assert (paddle.pi, paddle.e, paddle.inf, paddle.newaxis) == (math.pi, math.e, math.inf, None)
    assert math.isnan(paddle.nan) and paddle.cfloat == "complex64" and paddle.cdouble == "complex128"


def test_functions_of_networks_in_the_facade():
    x, w = paddle.ones([1, 1, 3]), paddle.ones([1, 1, 2])
    assert paddle.conv1d(x, w).tolist() == [[[2.0, 2.0]]]
    assert paddle.layer_norm(x, 3).abs().max().item() < 1e-3
    assert paddle.softmax(paddle.zeros([2, 4])).sum(1).tolist() == [1.0, 1.0]
    assert paddle.special.softmax(paddle.zeros([2, 1, 1])).flatten().tolist() == [0.5, 0.5]
    np.testing.assert_allclose(paddle.hann_window(4, False).numpy(), np.hanning(4), atol=1e-6)


@pytest.mark.parametrize("name", ["float16", "float64", "int8", "int64", "uint8", "complex64"])
def test_methods_named_after_dtypes(name):
    assert getattr(paddle.ones([1]), name)().dtype == name


def test_comparisons_in_place():
    x = paddle.to_tensor([1.0, 2.0, 3.0])
    assert x.less_than_(2.0) is x and x.dtype == "bool" and x.tolist() == [True, False, False]
    kept = paddle.to_tensor([1.0, 2.0])
    paddle.Tensor.where_(kept > 1, kept, paddle.zeros([2]))
    assert kept.tolist() == [0.0, 2.0]


def test_methods_that_are_functions():
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.reverse([0]).tolist() == [[3.0, 4.0], [1.0, 2.0]]
    np.testing.assert_array_equal(x.cdist(x).numpy(), paddle.cdist(x, x).numpy())
    assert x.shard_index is not None and not x.is_sparse_coo() and not x.is_coalesced()


def test_swapaxes_takes_an_order():
    x = paddle.zeros([2, 3, 4])
    assert paddle.swapaxes(x, 0, 2).shape == x.swapdims(dim0=0, dim1=2).shape == [4, 3, 2]
    assert paddle.swapaxes(x, perm=[1, 2, 0]).shape == paddle.swapdims(x, [1, 2, 0]).shape == [3, 4, 2]
    assert x.swapaxes(perm=(2, 1, 0)).shape == [4, 3, 2]


def test_comparisons_in_place_as_functions():
    for name, wanted in (("equal_", [False, True]), ("less_", [True, False]), ("greater_equal_", [False, True])):
        x = paddle.to_tensor([1.0, 2.0])
        assert getattr(paddle, name)(x, paddle.to_tensor([2.0, 2.0])) is x and x.tolist() == wanted


def test_lists_of_tensors():
    one, at = paddle.ones([1]), paddle.zeros([1], "int64")
    array = paddle.tensor.create_array("float32", [one])
    assert paddle.tensor.array_write(one * 2, at + 1, array=array) is array
    paddle.tensor.array.array_write(one * 3, at, array)
    assert [t.item() for t in array] == [3.0, 2.0] and paddle.tensor.array_length(array) == 2
    assert paddle.tensor.array_read(array, at + 1).item() == 2.0
    with pytest.raises(IndexError, match="i is 4, and the array holds 2 tensors; expected 0 to 2"):
        paddle.tensor.array_write(one, 4, array)
    with pytest.raises(TypeError, match=r"initialized_list\[0\] is a float"):
        paddle.tensor.create_array(initialized_list=[1.0])


@pytest.mark.parametrize("call", [
    "x.scatter(0, i, s)", "x.scatter(dim=0, index=i, src=s)", "x.scatter_(0, i, s)", "x.scatter_(0, i, value=1.0)",
    "paddle.scatter(x, 0, i, s)", "x.scatter(dim=0, index=i, src=s, reduce='add')",
])  # fmt: skip
def test_scatter_along_an_axis(call):
    given = {"x": paddle.zeros([2, 3]), "i": paddle.to_tensor([[0, 1, 0]]), "s": paddle.ones([1, 3]), "paddle": paddle}
    assert eval(call, given).tolist() == [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]


def test_scatter_along_an_axis_needs_values():
    with pytest.raises(TypeError, match="writes src, a tensor, or value, a number"):
        paddle.zeros([2]).scatter(0, paddle.to_tensor([0]))


X = paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
FIRST = paddle.to_tensor([0])


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: X.transpose(0, 1), [[1, 4], [2, 5], [3, 6]]),
        (lambda: X.transpose(-1, 0), [[1, 4], [2, 5], [3, 6]]),
        (lambda: paddle.transpose(X, 1, 0), [[1, 4], [2, 5], [3, 6]]),
        (lambda: paddle.transpose(X, dim0=0, dim1=1), [[1, 4], [2, 5], [3, 6]]),
        (lambda: X.transpose([0, 1]), X.tolist()),
        (lambda: X.gather(FIRST, 1), [[1], [4]]),
        (lambda: X.gather(1, paddle.to_tensor([[2], [0]])), [[3], [4]]),
        (lambda: paddle.gather(input=X, dim=0, index=paddle.to_tensor([[1, 0]])), [[4, 2]]),
        (lambda: X.index_select(1, FIRST), [[1], [4]]),
        (lambda: X.index_select(FIRST, 1), [[1], [4]]),
        (lambda: X.index_add(1, FIRST, X[:, :1]), [[2, 2, 3], [8, 5, 6]]),
        (lambda: X.index_add(1, index=FIRST, value=X[:, :1]), [[2, 2, 3], [8, 5, 6]]),
        (lambda: X.index_select(1, index=FIRST), [[1], [4]]),
        (lambda: paddle.gather(X, 1, index=paddle.to_tensor([[2], [0]])), [[3], [4]]),
        (lambda: X.scatter(0, index=paddle.to_tensor([[1, 0, 1]]), src=X[:1] * 0), [[1, 0, 3], [0, 5, 0]]),
        (lambda: X.sum(1, True, dtype="float64"), [[6], [15]]),
        (lambda: X.transpose(0, dim1=1), [[1, 4], [2, 5], [3, 6]]),
        (lambda: FIRST.masked_scatter(X > 4, paddle.to_tensor([7, 8])), [[0, 0, 0], [0, 7, 8]]),
        (lambda: paddle.nn.functional.lp_pool1d(X[None], 1, 2, 2, True), [[[3, 3], [9, 6]]]),
        (lambda: paddle.nn.LPPool1D(1, 2, 2, True)(X[None]), [[[3, 3], [9, 6]]]),
        (lambda: paddle.nn.functional.group_norm(X, 1, None, X[0], eps=1.0), [[0.2254, 2.0, 3.7746]] * 2),
        (lambda: paddle.nn.functional.group_norm(X, 1, None, bias=X[0], eps=1.0), [[0.2254, 2.0, 3.7746]] * 2),
        (lambda: paddle.nn.functional.group_norm(X, 1, None, X[0], 1.0), [[0.2254, 2.0, 3.7746]] * 2),
        (lambda: paddle.nn.functional.group_norm(X, 1, 1.0, None, X[0]), [[0.2254, 2.0, 3.7746]] * 2),
        (lambda: X.topk(1).values, [[3], [6]]),
        (lambda: paddle.nn.functional.cosine_similarity(x1=X, x2=X, dim=1), [1, 1]),
        (lambda: paddle.nn.functional.embedding(input=FIRST, weight=X), [[1, 2, 3]]),
        (lambda: paddle.clip(paddle.to_tensor([1, 5]), max=paddle.to_tensor([3], "int32")), [1, 3]),
        (lambda: paddle.full_like(X, paddle.to_tensor([7.0])), [[7] * 3] * 2),
        (lambda: paddle.inner(X[0], paddle.to_tensor([2.0])), [2, 4, 6]),
        (lambda: X.rank(), 2),
    ],
)
def test_calls_spelt_in_other_ways(call, expected):
    for _ in range(3):  # the third is the cached one
        np.testing.assert_allclose(call().numpy(), expected, rtol=1e-4)


def test_a_sum_takes_its_dtype_after_keepdim_too():
    for made in (X.sum(1, True, "float64"), X.sum(1, "float64", True), X.sum(1, True, dtype="float64")):
        assert made.dtype == paddle.float64 and made.shape == [2, 1]


def test_a_keyword_for_what_stands_there_already():
    with pytest.raises(TypeError, match="index is given by position and as a keyword; axis in its place is an int"):
        X.index_select(FIRST, index=FIRST)


def test_the_size_is_a_number_and_called_the_sizes():
    assert (X.size, X.size(), X.size(-1), X.size + 1) == (6, [2, 3], 3, 7)
    static = paddle.jit.to_static(lambda x: (x.sum() / x.size, x.size(0)), full_graph=True)
    assert [static(X)[0].item(), static(X)[1]] == [3.5, 2]
