"""Tensors as Python objects: making them, operators, in-place methods, spellings, random numbers; and what the op table
cannot say of decompositions."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import paddle_lite_py as paddle
from ops_table import find
from paddle_lite_py.dispatch.define import INPLACE

T = paddle.to_tensor


# -- making ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (1, "int64", []),
        (1.5, "float32", []),
        (True, "bool", []),
        (1 + 2j, "complex64", []),
        ([1, 2.5], "float32", [2]),
        ([True, 1], "int64", [2]),
        ([], "float32", [0]),
        (((1, 2), (3, 4)), "int64", [2, 2]),
        (np.float64(1), "float64", []),
        (np.float16(1), "float16", []),
        (np.zeros((2, 1)), "float64", [2, 1]),
        (np.arange(3, dtype="int32"), "int32", [3]),
        ([np.float64(1.0)], "float32", [1]),
    ],
)
def test_to_tensor_dtypes(data, dtype, shape):
    made = T(data)
    assert (made.dtype, made.shape, made.stop_gradient) == (dtype, shape, True)


def test_to_tensor_copies():
    array = np.zeros(3, "float32")
    made = T(array)
    array[0] = 1
    again = T(made, dtype="float64", stop_gradient=False)
    again_data = T(again)
    assert made.tolist() == [0, 0, 0] and again.dtype == "float64" and not again.stop_gradient
    assert again_data is not again and again_data.stop_gradient
    assert T([T(1), T(2)]).tolist() == [1, 2] and T([1.0], "int8").dtype == "int8"


def test_default_dtype():
    paddle.set_default_dtype("float64")
    made = (paddle.zeros([1]), T(1.5), paddle.rand([1]), paddle.arange(1.0))
    assert {x.dtype.name for x in made} == {"float64"}
    # Integers become float32 whatever the default, as in PaddlePaddle.
    assert {x.dtype.name for x in (T([1]) / 2, paddle.exp(T([1])))} == {"float32"}


def test_shapes_may_hold_tensors():
    two = T(2)
    assert paddle.zeros([two, 3]).shape == paddle.zeros(T([2, 3])).shape == paddle.ones(2, 3).shape == [2, 3]
    x = paddle.zeros([6])
    assert x.reshape([two, -1]).shape == x.reshape(two, 3).shape == x.reshape(T([2, 3])).shape == [2, 3]
    assert paddle.arange(two).tolist() == [0, 1] and paddle.full([2], T(3.0)).tolist() == [3, 3]


# -- promotion ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("a", "b", "add", "divide"),
    [
        ("float16", "float32", "float32", "float32"),
        ("float16", "bfloat16", "float32", "float32"),
        ("bfloat16", "bfloat16", "bfloat16", "bfloat16"),
        ("float32", "float64", "float64", "float64"),
        ("int32", "int32", "int32", "float32"),
        ("int64", "int64", "int64", "float32"),
        ("int64", "float16", "float16", "float16"),
        ("float64", "complex64", "complex128", "complex128"),
        ("int64", "complex64", "complex64", "complex64"),
    ],
)
def test_promotion_of_tensors(a, b, add, divide):
    x, y = paddle.ones([2], a), paddle.ones([2], b)
    assert ((x + y).dtype, (y - x).dtype, (x / y).dtype) == (add, add, divide)


@pytest.mark.parametrize(
    ("large", "small", "added", "widest"),
    [
        ("float32", "float64", "float32", "float64"),
        ("float64", "float32", "float64", "float64"),
        ("int32", "int64", "int32", "int64"),
        ("uint8", "int64", "uint8", "int64"),
        ("int32", "float64", "float64", "float64"),
        ("float32", "int64", "float32", "float32"),
        ("float32", "complex64", "complex64", "complex64"),
        ("complex64", "complex128", "complex64", "complex128"),
    ],
)
def test_a_tensor_without_dimensions_follows_as_a_number_does(large, small, added, widest):
    x, y = paddle.ones([2], large), paddle.ones([], small)
    for f in (lambda x, y: x + y, lambda x, y: y - x, lambda x, y: y * x, lambda x, y: x**y):
        assert f(x, y).dtype == added
    assert paddle.where(x == y, x, y).dtype == widest
    assert (y + y.astype(large)).dtype == widest


def test_a_number_is_met_in_the_dtype_of_the_larger():
    assert (paddle.to_tensor([0.1]) == paddle.to_tensor(0.1, "float64")).item()
    assert not (paddle.to_tensor(0.1) == paddle.to_tensor(0.1, "float64")).item()


@pytest.mark.parametrize(
    ("kind", "with_int", "with_float", "divided"),
    [
        ("bool", "int64", "float32", "float32"),
        ("uint8", "uint8", "float32", "float32"),
        ("int32", "int32", "float32", "float32"),
        ("float16", "float16", "float16", "float16"),
        ("float64", "float64", "float64", "float64"),
    ],
)
def test_promotion_with_numbers(kind, with_int, with_float, divided):
    x = paddle.ones([2], kind)
    assert ((x + 2).dtype, (2 * x).dtype, (x * 2.5).dtype) == (with_int, with_int, with_float)
    assert ((x / 2).dtype, (1 / x).dtype, (x - np.float64(1)).dtype) == (divided, divided, with_float)


# -- operators ------------------------------------------------------------------------------------------------------
def test_operators_follow_python():
    x, a = T([7, -7, 3]), np.array([7, -7, 3])
    pairs = [
        (x + 1, a + 1), (1 - x, 1 - a), (x // 2, a // 2), (x // -2, a // -2), (x % 3, a % 3), (x % -3, a % -3),
        (x**2, a**2), (2 ** abs(x), 2 ** abs(a)), (-x, -a), (+x, a), (~x, ~a), (x << 1, a << 1), (x >> 1, a >> 1),
        (x & 3, a & 3), (x | 8, a | 8), (x ^ 1, a ^ 1), (1 << T([1, 2]), np.array([2, 4])), (x > 3, a > 3),
        (x <= 3, a <= 3), (x != 3, a != 3), (x @ x, a @ a), (7.5 % T([2.0]), np.array([1.5])),
        (9 // T([2]), np.array([4])),
    ]  # fmt: skip
    for got, want in pairs:
        np.testing.assert_array_equal(got.numpy(), want)


def test_numpy_on_either_side():
    x, a = T([1.0, 2.0]), np.array([3.0, 4.0], "float32")
    for got in (x + a, a + x, np.float32(1) * x, a @ x):
        assert isinstance(got, paddle.Tensor)
    assert (a - x).tolist() == [2.0, 2.0]


def test_numpy_functions_take_tensors():
    x, a = T([1.0, 4.0]), np.array([3.0, 4.0], "float32")
    assert np.sqrt(x).tolist() == [1.0, 2.0] and np.maximum(a, x).tolist() == [3.0, 4.0] and np.add.reduce(x) == 5.0
    assert all(isinstance(v, paddle.Tensor) for v in (np.add(a, x), a < x, a == x, a**x, a // x, a % x))
    assert (a <= x).tolist() == [False, True] and (np.int64(6) ^ T([3])).tolist() == [5]
    a += x
    assert a.tolist() == [4.0, 8.0]
    with pytest.raises(TypeError, match=r"numpy\.add\(\): `out` is a Tensor; expected an array"):
        np.add(a, a, out=x)


def test_equality_and_hash():
    x = T([1, 2])
    assert (x == T([1, 3])).tolist() == [True, False] and (x == None) is False and (x != None) is True  # noqa: E711
    assert len({x, x, T([1, 2])}) == 2 and 2 in x and 5 not in x


def test_iteration_and_unpacking():
    rows = T([[1, 2], [3, 4]])
    first, second = rows
    assert first.tolist() == [1, 2] and [r.tolist() for r in rows] == [[1, 2], [3, 4]] and second[1].item() == 4


# -- in place -------------------------------------------------------------------------------------------------------
def test_inplace_keeps_the_handle_and_the_graph():
    x = T([1.0, 2.0], stop_gradient=False)
    y = x * 1
    before = y
    y.multiply_(T([3.0, 3.0])).add_(T([1.0, 1.0]))
    assert y is before and y.tolist() == [4.0, 7.0]
    (y * y).sum().backward()
    assert x.grad.tolist() == [24.0, 42.0]


def test_inplace_may_reshape_where_the_reference_does():
    x = paddle.arange(6)
    assert x.reshape_([2, 3]).unsqueeze_(0).shape == [1, 2, 3] and x.squeeze_(0).flatten_().shape == [6]
    assert paddle.reshape_(x, [3, 2]) is x and x.shape == [3, 2]
    with pytest.raises(ValueError, match="in-place operation on int64"):
        x.add_(paddle.ones([4, 3, 2], "int64"))


def test_inplace_on_a_leaf_that_requires_gradient():
    x = T([1.0], stop_gradient=False)
    with pytest.raises(RuntimeError, match="leaf that requires gradient"):
        x.zero_()
    with paddle.no_grad():
        assert x.fill_(3.0).item() == 3.0


def test_filling():
    x = paddle.zeros([3, 3])
    assert x.fill_(2.0).tolist() == [[2.0] * 3] * 3 and not x.zero_().any()
    assert x.fill_diagonal_(1.0).tolist() == np.eye(3).tolist()
    for name in ("uniform_", "normal_", "exponential_", "log_normal_", "cauchy_", "bernoulli_"):
        assert getattr(x, name)() is x and x.isfinite().all()
    assert {"add_", "clip_", "scale_", "tanh_", "scatter_", "masked_fill_"} <= set(INPLACE)


# -- spellings ------------------------------------------------------------------------------------------------------
def test_other_keywords_and_spread_lists():
    x = paddle.arange(6.0).reshape(2, 3)
    assert paddle.sum(input=x, dim=1).tolist() == x.sum(axis=1).tolist() == [3.0, 12.0]
    assert paddle.add(input=x, other=x).tolist() == (2 * x).tolist() and paddle.add(x=x, y=x, name="n").shape == [2, 3]
    assert x.transpose(1, 0).shape == x.permute(1, 0).shape == x.T.shape == [3, 2]
    assert x.expand(2, -1, -1).shape == [2, 2, 3] and x.view(-1).shape == [6] and paddle.rand(2, 3).shape == [2, 3]
    assert paddle.zeros([2], "int32").dtype == "int32" and paddle.concat(tensors=[x, x], dim=1).shape == [2, 6]
    with pytest.raises(TypeError, match="unexpected keyword argument 'axes'"):
        x.sum(axes=1)


def test_conversions_and_siblings():
    x = paddle.ones([2])
    assert (x.int().dtype, x.long().dtype, x.half().dtype, x.bool().dtype) == ("int32", "int64", "float16", "bool")
    assert x.to("float64").dtype == x.to(dtype="float64").dtype == x.to("cpu", "float64").dtype == "float64"
    assert x.to(paddle.zeros([1], "int8")).dtype == x.type_as(paddle.zeros([1], "int8")).dtype == "int8"
    assert x.new_zeros([3]).shape == x.new_ones(3).shape == [3] and x.new_full([1], 7, dtype="int32").tolist() == [7]
    assert x.cpu().place == paddle.CPUPlace() and (x.data == x).all() and paddle.zeros([4, 2, 3]).mT.shape == [4, 3, 2]
    x.requires_grad = True
    assert not x.stop_gradient and x.requires_grad_(False).stop_gradient


# -- random numbers -------------------------------------------------------------------------------------------------
def draws():
    base = paddle.full([64], 0.5)
    return [
        paddle.rand([64]), paddle.randn([64]), paddle.randint(0, 100, [64]), paddle.randperm(64), paddle.uniform([64]),
        paddle.normal(1.0, 2.0, [64]), base.bernoulli(), paddle.multinomial(base, 8), paddle.poisson(base * 8),
        paddle.standard_gamma(base), paddle.binomial(base * 20, base), paddle.zeros([64]).exponential_(),
    ]  # fmt: skip


def test_seed_repeats_the_stream():
    paddle.seed(3)
    first, second = draws(), draws()
    paddle.seed(3)
    for a, b, c in zip(first, draws(), second, strict=True):
        assert a.tolist() == b.tolist() != c.tolist()


def test_distributions():
    paddle.seed(0)
    n = 20000
    moments = {
        "uniform": (paddle.uniform([n], min=-1.0, max=3.0), 1.0, 16 / 12),
        "normal": (paddle.normal(1.0, 2.0, [n]), 1.0, 4.0),
        "exponential": (paddle.zeros([n]).exponential_(2.0), 0.5, 0.25),
        "bernoulli": (paddle.bernoulli(paddle.full([n], 0.3)), 0.3, 0.21),
        "poisson": (paddle.poisson(paddle.full([n], 4.0)), 4.0, 4.0),
        "gamma": (paddle.standard_gamma(paddle.full([n], 3.0)), 3.0, 3.0),
        "geometric": (paddle.zeros([n]).geometric_(0.5), 1.4427, 2.0814),
    }
    for name, (sample, mean, variance) in moments.items():
        values = sample.numpy().astype("float64")
        assert values.mean() == pytest.approx(mean, abs=0.08), name
        assert values.var() == pytest.approx(variance, rel=0.1), name


def test_draws_without_replacement_differ():
    paddle.seed(0)
    picked = paddle.multinomial(T([0.0, 1.0, 2.0, 3.0]), 3)
    assert sorted(picked.tolist()) == [1, 2, 3] and paddle.multinomial(paddle.ones([2, 4]), 9, True).shape == [2, 9]
    with pytest.raises(ValueError, match="num_samples is 5, but x has 4 categories"):
        paddle.multinomial(paddle.ones([4]), 5)


def test_gradient_flows_through_the_parameters_of_a_distribution():
    mean, std = T([1.0, 2.0], stop_gradient=False), T([1.0, 1.0], stop_gradient=False)
    paddle.normal(mean, std).sum().backward()
    assert mean.grad.tolist() == [1.0, 1.0] and std.grad.shape == [2]


# -- products and decompositions: what the parts multiply to -------------------------------------------------------
def matrix(*shape: int) -> paddle.Tensor:
    return T(np.random.default_rng(0).standard_normal(shape))


def close(a, b) -> bool:
    return bool(paddle.allclose(a, b, atol=1e-8))


def test_einsum():
    x, y = matrix(2, 3), matrix(4, 3)
    assert close(paddle.einsum("ij,kj->ik", x, y), x @ y.T) and close(
        paddle.einsum("ii", matrix(3, 3)), matrix(3, 3).trace()
    )
    assert close(paddle.einsum("...i,i->...", x, y[0]), x @ y[0]) and paddle.einsum("ij->ji", x).shape == [3, 2]


def test_decompositions_multiply_to_the_matrix():
    x, square = matrix(3, 2), matrix(3, 3)
    symmetric = square + square.T
    u, s, vh = find("svd")(x)
    q, r = find("qr")(x)
    values, vectors = find("eigh")(symmetric)
    w, v = find("eig")(square)
    p, lower, upper = find("lu_unpack")(*find("lu")(square))
    assert close(u * s @ vh, x) and close(q @ r, x) and close(vectors * values @ vectors.T, symmetric)
    assert close(square.astype("complex128") @ v, v * w) and close(p @ lower @ upper, square)
    assert sorted(find("eigvals")(square).abs().tolist()) == pytest.approx(sorted(w.abs().tolist()))
    low_u, low_s, low_v = find("svd_lowrank")(x, q=2)
    assert close(low_u * low_s @ low_v.T, x) and find("qr")(x, mode="r").shape == [2, 2]
    assert find("pca_lowrank")(x, q=1)[1].shape == [1]


def test_solutions():
    x, y = matrix(4, 2), matrix(4, 3)
    solution, residual, rank, values = find("lstsq")(x, y, driver="gelsd")
    want = np.linalg.lstsq(x.numpy(), y.numpy(), rcond=None)
    for got, expected in zip((solution, residual, rank, values), want, strict=True):
        np.testing.assert_allclose(got.numpy(), expected)
    square = matrix(3, 3)
    assert close(square @ find("lu_solve")(matrix(3, 2), *find("lu")(square)), matrix(3, 2))
    reflectors, tau = T([[1.0, 0.0], [0.5, 1.0], [0.2, 0.3]], "float64"), T([1.1, 0.7], "float64")
    q = find("householder_product")(reflectors, tau)
    assert q.shape == [3, 2]
    for left, transpose, y, want in (
        (True, False, matrix(2, 3), lambda y: q @ y),
        (True, True, matrix(3, 2), lambda y: q.T @ y),
        (False, False, matrix(2, 3), lambda y: y @ q),
        (False, True, matrix(3, 2), lambda y: y @ q.T),
    ):
        assert close(find("ormqr")(reflectors, tau, y, left, transpose), want(y))


def test_gradients_at_the_edges():
    """Where a formula is not differentiable, the reference's choice and never NaN."""
    zero = T([0.0, 0.0], stop_gradient=False)
    find("norm")(zero).backward()
    assert zero.grad.tolist() == [0.0, 0.0]
    x = T([0.0, 1.0, 1.5, 2.0, 3.0], stop_gradient=False)
    x.clip(1.0, 2.0).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 1.0, 1.0, 0.0]
    tied = T([1.0, 3.0, 3.0], stop_gradient=False)
    tied.max().backward()
    assert tied.grad.tolist() == [0.0, 0.5, 0.5]
    factors = T([0.0, 2.0, 3.0], stop_gradient=False)
    (factors.prod() + factors.cumprod(0)[-1]).backward()
    assert factors.grad.tolist() == [12.0, 0.0, 0.0]


def test_repr_reads_like_paddles():
    x = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)
    want = "Tensor(shape=[1, 2], dtype=float32, place=Place(cpu), stop_gradient=False,\n       [[1., 2.]])"
    assert repr(x) == want == str(x)


def test_notebooks_show_a_folded_table_of_facts():
    page = paddle.to_tensor([[1.0, 2.0]])._repr_html_()
    assert page.startswith("<details") and "float32[1, 2]" in page and "[[1., 2.]]" in page and "<script" not in page


def test_tensors_made_as_in_torch():
    assert paddle.FloatTensor(2, 3).shape == [2, 3] and paddle.LongTensor([1, 2]).dtype == "int64"


def test_storage():
    x = paddle.to_tensor([1.0, 2.0, 3.0, 4.0])
    assert x.data_ptr() == x.detach().data_ptr() != (x + 1).data_ptr() and (x.layout, x.offset, x.type) == (
        "NCHW",
        0,
        paddle.base.core.VarDesc.VarType.DENSE_TENSOR,
    )
    y = paddle.zeros([1])
    assert y.set_(x, [2], offset=4) is y and y.tolist() == [2.0, 3.0]
    assert y.resize_([3]).tolist() == [2.0, 3.0, 0.0] and y.resize_([1]).tolist() == [2.0]
    assert y.set_().shape == [0]
    drawn = paddle.zeros([50]).random_(2, 5).numpy()
    assert set(drawn) == {2.0, 3.0, 4.0}
    with pytest.raises(ValueError, match="has no data before it runs"):
        paddle.jit.to_static(lambda t: t * t.data_ptr(), full_graph=True)(x)


def test_printing_can_be_set():
    paddle.set_printoptions(precision=2, sci_mode=True)
    try:
        assert "1.23e+00" in str(paddle.to_tensor([1.2345]))
    finally:
        paddle.set_printoptions(precision=8, sci_mode=False)
    assert "1.2345" in str(paddle.to_tensor([1.2345]))


def test_tensors_on_one_device():
    x, y = paddle.ones([2, 3]), paddle.zeros([1])
    assert (x.sparse_dim(), x.dense_dim(), x.placements, x.process_mesh) == (0, 2, None, None)
    y.reconstruct_from_(x)
    assert y.shape == [2, 3] and x.sum().item() == 6


def test_a_tensor_is_moved_as_another_one_is():
    x = paddle.ones([2])
    assert x.to(other=paddle.zeros([1], "int32")).dtype == "int32"
    assert x.to("float32", non_blocking=True) is x
    copied = x.to("float32", copy=True)
    copied.add_(paddle.ones([2]))
    assert x.tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match="unexpected keyword argument 'place'"):
        x.to(place="cpu")


def test_a_tensor_becomes_another_one():
    x, other = paddle.to_tensor([1.0], stop_gradient=False), paddle.to_tensor([2, 3])
    x.reconstruct_from_(other)
    assert x.tolist() == [2, 3] and x.dtype == "int64" and x.stop_gradient


def test_a_module_that_makes_tensors():
    x = paddle.tensor([1, 2], dtype="float32", requires_grad=True)
    assert not x.stop_gradient and paddle.tensor(x).stop_gradient and paddle.asarray(x).stop_gradient
    plain = paddle.ones([1])
    assert paddle.asarray(plain) is plain and not paddle.asarray(plain, requires_grad=True).stop_gradient


def test_changes_in_place_are_counted():
    x = paddle.ones([4, 2])
    assert x.inplace_version == 0
    x[0] = 2.0
    paddle.assign(paddle.ones([4, 2]), x)
    x.add_(paddle.ones([2])).squeeze_()
    x.set_value(paddle.zeros([4, 2]))
    with pytest.raises(ValueError, match="shape and dtype must stay"):
        x.add_(paddle.ones([3, 4, 2]))
    assert x.inplace_version == 5 and (x + 1).inplace_version == 0


def test_a_deep_copy_of_what_was_computed_is_a_leaf_of_its_own():
    x = paddle.to_tensor([2.0], stop_gradient=False)
    y = copy.deepcopy(x * 3)
    (y * y).sum().backward()
    assert (y.is_leaf, y.grad.item(), x.grad) == (True, 12.0, None)


def test_a_bool_in_the_place_of_dtype_is_keepdim():
    x = paddle.ones([2, 3])
    assert (x.sum(0, True).shape, paddle.sum(x, 1, True).shape) == ([1, 3], [2, 1])


class Edges(paddle.Tensor):
    """A tensor whose class names a property as the framework might name its payload."""

    def __init__(self, data):  # does not call Tensor's own
        self.data = data

    @property
    def _data(self):
        return self.data


def test_a_subclass_may_have_a_property_of_its_own_called_data():
    assert Edges.__new__(Edges).shape == [0]
    edges = Edges(paddle.to_tensor([[1.0, 2.0]], stop_gradient=False))
    assert edges._payload.tolist() == edges.numpy().tolist() == (edges * 1).tolist() == [[1.0, 2.0]]
    assert paddle.jit.to_static(lambda x: x + x)(edges).tolist() == paddle.concat([edges], 0).add(edges).tolist()
    edges.set_value(np.zeros([1, 2], "float32"))
    assert edges._payload.sum().item() == 0


def test_a_gradient_may_be_set_by_its_private_name():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    x._set_grad_ivar(paddle.to_tensor([3.0, 4.0]))
    assert x.grad.tolist() == x._grad_ivar().tolist() == [3.0, 4.0]
    with pytest.raises(ValueError, match=r"shape \[2\] expected, got \[1\]"):
        x._set_grad_ivar(paddle.ones([1]))


def test_clone_calls_the_method_of_a_subclass():
    class Tagged(paddle.Tensor):
        def clone(self):
            made = super().clone()
            made.tag = "copy"
            return made

    assert paddle.clone(Tagged([1.0])).tag == "copy"
    assert paddle.clone([1, 2]).tolist() == [1, 2]
