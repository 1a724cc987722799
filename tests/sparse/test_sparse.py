"""Sparse tensors: products, gradients, errors."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn


def matrix():
    dense = np.array([[0, 1, 0, 2], [0, 0, 3, 0], [4, 5, 0, 0]], "float32")
    return dense, paddle.to_tensor(dense).to_sparse_coo(2)


@pytest.mark.parametrize("kind", ["to_sparse_coo", "to_sparse_csr"])
def test_products_of_sparse_matrices(kind):
    dense, x = matrix()
    y = np.random.default_rng(0).normal(size=(4, 2)).astype("float32")
    sparse = getattr(x, kind)()
    np.testing.assert_allclose(
        paddle.sparse.matmul(sparse, paddle.to_tensor(y)).numpy(), dense @ y, rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(paddle.sparse.mv(sparse, paddle.ones([4])).numpy(), dense.sum(1))
    product = paddle.sparse.matmul(sparse, paddle.to_tensor(y).to_sparse_coo(2))
    np.testing.assert_allclose(product.to_dense().numpy(), dense @ y, rtol=1e-6, atol=1e-6)
    a = np.random.default_rng(1).normal(size=(3, 2)).astype("float32")
    masked = paddle.sparse.masked_matmul(paddle.to_tensor(a), paddle.to_tensor(y.T), sparse)
    np.testing.assert_allclose(masked.to_dense().numpy(), (a @ y.T) * (dense != 0), rtol=1e-5, atol=1e-6)


def test_gradients_of_sparse_values():
    values = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], values, [2, 2], stop_gradient=False)
    paddle.sparse.matmul(paddle.sparse.square(x), paddle.to_tensor([[3.0], [5.0]])).sum().backward()
    assert values.grad.tolist() == [10.0, 12.0]


def test_sparse_tensors_that_do_not_fit():
    make = paddle.sparse.sparse_coo_tensor
    with pytest.raises(ValueError, match="the places reach"):
        make([[0, 5]], [1.0, 2.0], [3])
    with pytest.raises(ValueError, match="for 3 values"):
        make([[0, 1]], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="do not fit the shape"):
        paddle.sparse.sparse_csr_tensor([0, 1], [9], [1.0], [1, 3])
    with pytest.raises(ValueError, match="x has 4 columns, y 3 rows"):
        paddle.sparse.matmul(matrix()[1], paddle.ones([3, 2]))
    with pytest.raises(ValueError, match="this one is dense"):
        paddle.ones([2]).values()


def test_reshaped_and_summed():
    dense, x = matrix()
    np.testing.assert_array_equal(paddle.sparse.reshape(x, [4, -1]).to_dense().numpy(), dense.reshape(4, 3))
    for kind in (x, x.to_sparse_csr()):
        for axis, keepdim in [(0, False), (1, False), (-1, True), (None, True), ((0, 1), True)]:
            found = paddle.sparse.sum(kind, axis, keepdim=keepdim)
            kept = keepdim or kind is not x  # rows stay a matrix
            np.testing.assert_array_equal(found.to_dense().numpy(), dense.sum(axis, keepdims=kept))
    total = paddle.sparse.sum(x)
    assert total.shape == [1] and total.values().item() == dense.sum()
    assert paddle.sparse.sum(x, dtype="float64").dtype == "float64"


def test_sums_of_blocks():
    blocks = paddle.to_tensor([[-2.0, 0.0], [1.0, 2.0]]).to_sparse_coo(1)
    found = {axis: paddle.sparse.sum(blocks, axis) for axis in (0, 1)}
    assert [(f.shape, f.indices().tolist(), f.values().tolist()) for f in found.values()] == [
        ([1, 2], [[0]], [[-1.0, 2.0]]),
        ([2], [[0, 1]], [-2.0, 3.0]),
    ]
    assert (blocks.sparse_dim(), blocks.dense_dim(), blocks.dim()) == (1, 1, 2)


def test_a_quotient_has_an_element_everywhere():
    a, b = paddle.to_tensor([[0.0, -1.0, 2.0]]), paddle.to_tensor([[0.0, 0.0, -2.0]])
    for sparse in (lambda t: t.to_sparse_coo(2), lambda t: t.to_sparse_coo(1), lambda t: t.to_sparse_csr()):
        found = paddle.sparse.divide(sparse(a), sparse(b))
        np.testing.assert_array_equal(found.to_dense().numpy(), [[np.nan, -np.inf, -1.0]])


def test_what_is_known_to_be_coalesced():
    x = paddle.sparse.sparse_coo_tensor([[0, 0, 1], [1, 1, 2]], [1.0, 2.0, 3.0], stop_gradient=False)
    assert not x.is_coalesced() and x.coalesce().is_coalesced() and x.to_dense().to_sparse_coo(2).is_coalesced()
    assert not x.clone().is_coalesced() and x.is_leaf and not x.clone().is_leaf and x.element_size() == 4
    x.clone().to_dense().sum().backward()
    assert x.grad.values().tolist() == [1.0] * 3
    x.clear_grad()
    assert not x.grad.values().any() and x.cast("float64").cpu().dtype == "float64"


def test_a_sparse_tensor_is_a_tensor_without_dense_data():
    x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, -2.0], [2, 2], stop_gradient=False)
    dense = paddle.ones([2, 2])
    assert isinstance(x, paddle.Tensor) and paddle.is_tensor(x) and isinstance(x.to_sparse_csr(), paddle.Tensor)
    # What is true of both kinds, each value with its own text.
    assert (x.ndimension(), x.size, x.name == x.values().name, f"{x:}" == str(x)) == (2, 4, True, True)
    refused = {
        "exp": lambda: paddle.exp(x), "concat": lambda: paddle.concat([x, x]), "linear": lambda: nn.Linear(2, 2)(x),
    }  # fmt: skip
    for name, call in refused.items():
        with pytest.raises(TypeError, match=rf"^{name}\(.*sparse float32\[2, 2\].*call its to_dense"):
            call()
    for call in (lambda: bool(x), lambda: list(x), lambda: np.asarray(x), lambda: x[0], lambda: dense.set_value(x)):
        with pytest.raises(TypeError, match="a sparse tensor is given; call its to_dense"):
            call()
    for call in (lambda: paddle.grad(x.values().sum(), x), lambda: paddle.autograd.backward([x])):
        with pytest.raises(TypeError, match=r"give its values\(\)"):
            call()
    with pytest.raises(TypeError, match="holds a SparseCooTensor; expected a Parameter"):
        paddle.optimizer.SGD(parameters=[x])
    with pytest.raises(TypeError, match="must be a Tensor, got SparseCooTensor"):
        nn.Linear(1, 1).register_buffer("adjacency", x)


class Graph(nn.Layer):
    """A layer whose attribute is sparse."""

    def __init__(self, adjacency):
        super().__init__()
        self.adjacency = adjacency

    def forward(self, x):
        return paddle.sparse.matmul(self.adjacency, x)


def test_a_sparse_tensor_in_layers_copies_and_static_functions(tmp_path):
    dense, x = matrix()
    y = np.eye(4, dtype="float32")
    for copied in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.to_sparse_csr()):
        assert type(copied).__name__.startswith("Sparse")
        net = Graph(copied)
        assert not net.state_dict()
        np.testing.assert_array_equal(net(paddle.to_tensor(y)).numpy(), dense)
        np.testing.assert_array_equal(paddle.jit.to_static(net)(paddle.to_tensor(y)).numpy(), dense)
    product = paddle.jit.to_static(lambda a, b: paddle.sparse.matmul(a, b))
    for made in (x, paddle.sparse.square(x)):
        np.testing.assert_array_equal(product(made, paddle.to_tensor(y)).numpy(), made.numpy())
    for kind, parts in ((x, r"indices\(\)"), (x.to_sparse_csr(), r"crows\(\), cols\(\)")):
        with pytest.raises(TypeError, match=rf"a sparse tensor; save its {parts} and values\(\)"):
            paddle.save({"adjacency": kind}, str(tmp_path / "x.pdparams"))


def test_hooks_see_sparse_gradients():
    values = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], values, [2, 2], stop_gradient=False)
    seen = []
    x.register_hook(lambda grad: seen.append(grad.to_dense().tolist()) or paddle.sparse.multiply(grad, 2.0))
    paddle.sparse.matmul(x, paddle.to_tensor([[3.0], [5.0]])).sum().backward()
    assert (seen, x.grad.values().tolist()) == ([[[0.0, 5.0], [3.0, 0.0]]], [10.0, 6.0])


OPERATORS = {
    "dense @ sparse": lambda s, d: d @ s,
    "sparse @ dense": lambda s, d: paddle.mm(s, d),
    "dense + sparse": lambda s, d: d + s,
    "sparse - dense": lambda s, d: paddle.subtract(s, d),
    "dense * sparse": lambda s, d: (d * s).to_dense(),
    "sparse / dense": lambda s, d: (s / d).to_dense(),
    "2 * sparse - sparse": lambda s, d: (2.0 * s - s).to_dense() * d,
    "-sparse.T": lambda s, d: (-s.T).to_dense() + d,
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_of_sparse_and_dense_tensors(name):
    found = []
    for convert in (lambda s: s.to_dense(), lambda s: s):
        s = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2], stop_gradient=False)
        d = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
        x = convert(s)
        out = OPERATORS[name](x, d)
        (out * d if out.is_dense() else out.to_dense()).sum().backward()
        found.append([out.numpy(), s.grad.to_dense().numpy(), d.grad.numpy()])
        made = paddle.jit.to_static(lambda a, s=s: OPERATORS[name](s, a))(d)
        np.testing.assert_allclose(made.numpy(), found[-1][0], rtol=1e-6)
    for dense, sparse in zip(*found, strict=True):
        np.testing.assert_allclose(sparse, dense, rtol=1e-6)


def test_operators_of_a_sparse_tensor_that_mean_nothing():
    s = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])
    for call in (lambda: s + 2.0, lambda: paddle.ones([2, 2]) / s, lambda: s @ 2.0, lambda: s * paddle.ones([2])):
        with pytest.raises(TypeError, match=r"sparse float32\[2, 2\].*a sparse tensor is given"):
            call()
