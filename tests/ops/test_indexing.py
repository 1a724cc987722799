"""x[index] and x[index] = value, against NumPy."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import paddle_lite_py as paddle
from paddle_lite_py.ops import indexing
from paddle_lite_py.registry.op import REGISTRY
from paddle_lite_py.tracing.trace import trace

X = np.arange(24.0, dtype="float32").reshape(2, 3, 4)
PICK, GRID, MASK = np.array([1, 0, -1]), np.array([[0, 2], [1, 1]]), X[0] % 2 == 0

BASIC = [
    *(0, -1, (1, -2), (0, 1, 2), slice(None), slice(1, None), slice(None, None, -1), (slice(None), slice(2, None, -2))),
    *(Ellipsis, (Ellipsis, 0), (0, Ellipsis, slice(1, 3)), None, (slice(None), None, 1), (None, Ellipsis, None), ()),
    *((slice(5, None),), (slice(2, 1),), (slice(None), slice(None), slice(-1, -4, -2)), (slice(-10, 10),), np.int64(1)),
]
ADVANCED = [
    *(
        PICK,
        [1, 0],
        (slice(None), PICK),
        (slice(None), GRID),
        (PICK, PICK),
        (PICK, slice(None), PICK),
        (slice(None), PICK, PICK),
        (Ellipsis, PICK),
    ),
    *((PICK, None), (slice(1, 2), PICK), (slice(None), slice(None, None, -1), PICK), GRID % 2, range(2), []),
    *(np.array([True, False]), (slice(None), np.array([True, False, True]))),
    *((slice(None), MASK), (0, MASK), X > 7, (np.array([True, False]), PICK[:1]), (PICK, 0), (Ellipsis, None, GRID)),
]
IDS = [f"{i}" for i in range(len(BASIC) + len(ADVANCED))]


def tensor_index(index):
    """The same index with tensors for arrays."""
    if isinstance(index, tuple):
        return tuple(tensor_index(i) for i in index)
    return paddle.to_tensor(index) if isinstance(index, np.ndarray) else index


@pytest.mark.parametrize("as_tensors", [False, True])
@pytest.mark.parametrize("index", BASIC + ADVANCED, ids=IDS)
def test_get(index, as_tensors):
    got = paddle.to_tensor(X)[tensor_index(index) if as_tensors else index]
    want = X[index]
    assert got.shape == list(want.shape)
    np.testing.assert_array_equal(got.numpy(), want)


@pytest.mark.parametrize("index", BASIC + ADVANCED, ids=IDS)
def test_gradient_of_get(index):
    x = paddle.to_tensor(X, stop_gradient=False)
    out = x[tensor_index(index)]
    weights = np.arange(1.0, out.size + 1, dtype="float32").reshape(out.shape)
    out.backward(paddle.to_tensor(weights))
    want = np.zeros_like(X)
    np.add.at(want, index, weights)
    np.testing.assert_array_equal(x.grad.numpy(), want)


@pytest.mark.parametrize("index", BASIC + ADVANCED, ids=IDS)
def test_set_to_a_number_and_to_an_array(index):
    x, want = paddle.to_tensor(X), X.copy()
    x[tensor_index(index)] = -1
    want[index] = -1
    np.testing.assert_array_equal(x.numpy(), want)
    values = np.arange(100.0, 100.0 + want[index].size, dtype="float32").reshape(want[index].shape)
    if np.unique(_positions(index)).size == values.size:
        x[index] = paddle.to_tensor(values)
        want[index] = values
        np.testing.assert_array_equal(x.numpy(), want)


def _positions(index):
    return np.arange(X.size).reshape(X.shape)[index]


slices = st.builds(slice, *[st.none() | st.integers(-5, 5)] * 2, st.sampled_from([None, 1, 2, -1, -2, 3]))
parts = st.lists(slices | st.integers(-2, 1) | st.none(), max_size=4).map(tuple)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(parts)
def test_any_basic_index_is_as_in_numpy(index):
    if sum(p is not None for p in index) > 3:
        return
    want = X.copy()
    np.testing.assert_array_equal(paddle.to_tensor(X)[index].numpy(), want[index])
    x = paddle.to_tensor(X)
    x[index] = 7
    want[index] = 7
    np.testing.assert_array_equal(x.numpy(), want)


def outcome(index, value, dtype):
    """The part, its memory and what the tensor is with the part replaced, or the error."""
    x = paddle.to_tensor(X).astype(dtype)
    try:
        part = x[index]
        x[index] = value
        return part.numpy().tobytes(), part.shape, part.dtype, x.numpy().tobytes()
    except (IndexError, TypeError, ValueError) as error:
        return type(error), str(error)


VALUES = [0, 2.5, True, -300, 1e39, 1e-42, float("inf"), float("nan"), 2**40, paddle.ones([2]), paddle.ones([3, 1])]
quick = st.lists(slices | st.integers(-3, 2) | st.none() | st.just(...) | st.just(slice(0, 1, 0)), max_size=5)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(quick.map(tuple), st.sampled_from(VALUES), st.sampled_from(["float32", "int64", "uint8", "bool", "bfloat16"]))
def test_the_quick_way_gives_what_the_general_one_gives(index, value, dtype):
    found = outcome(index, value, dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing, "parse_plain", lambda shape, parts: None)
        assert found == outcome(index, value, dtype)


def test_set_broadcasts_and_casts():
    x = paddle.zeros([2, 3], "int64")
    x[:] = paddle.to_tensor([1.7, 2.0, 3.0])
    assert x.tolist() == [[1, 2, 3], [1, 2, 3]]
    x[1] = [[7, 8, 9]]
    x[0] = True
    assert x.tolist() == [[1, 1, 1], [7, 8, 9]]
    x[:, ::2] = paddle.to_tensor([[5], [6]])
    assert x.tolist() == [[5, 1, 5], [6, 8, 6]]


def test_mask_set_forms():
    x = paddle.to_tensor(X)
    mask = x > 11
    x[mask] = x[mask] * 10
    np.testing.assert_array_equal(x.numpy(), np.where(X > 11, X * 10, X))
    y = paddle.to_tensor(X)
    y[paddle.to_tensor([True, False])] = paddle.to_tensor([1.0, 2.0, 3.0, 4.0])
    assert y[0].tolist() == [[1, 2, 3, 4]] * 3 and y[1].tolist() == X[1].tolist()
    y[:, paddle.to_tensor([False, True, False]), 1:3] = paddle.to_tensor([[-1.0, -2.0]])
    assert y[0, 1].tolist() == y[1, 1].tolist()[:0] + [1, -1, -2, 4] and y[1, 1, 1:3].tolist() == [-1, -2]
    y[paddle.to_tensor(True)] = 0
    assert not y.any()


def test_an_int_beside_an_index_array_is_a_slice():
    """It drops its dimension, as in Paddle; NumPy takes it for an index array, and moves the result's dimensions."""
    x = paddle.to_tensor(X)
    np.testing.assert_array_equal(x[0, :, [1, 2]].numpy(), X[0][:, [1, 2]])
    x[0, :, [1, 2]] = 5.0
    assert x[0, :, 1:3].tolist() == [[5.0, 5.0]] * 3


def test_boolean_scalars():
    x = paddle.to_tensor(X)
    assert x[True].shape == [1, 2, 3, 4] and x[False].shape == [0, 2, 3, 4]
    assert x[paddle.to_tensor(True)].shape == [1, 2, 3, 4]


def test_tensor_ints_and_bounds():
    x, n = paddle.to_tensor(X), paddle.to_tensor(1)
    assert x[n].tolist() == X[1].tolist() and x[n - 2].tolist() == X[-1].tolist()
    assert x[:, :n].shape == [2, 1, 4] and x[n:, paddle.to_tensor(0) : n + 1].shape == [1, 2, 4]
    x[n, 0] = 5.0
    assert x[1, 0].tolist() == [5.0] * 4


def test_gradient_of_set_flows_to_the_value_and_the_rest():
    x = paddle.to_tensor(X, stop_gradient=False)
    v = paddle.to_tensor([1.0, 2.0, 3.0, 4.0], stop_gradient=False)
    y = x * 2
    y[:, 1] = v
    (y * y).sum().backward()
    want = 8 * X
    want[:, 1] = 0
    np.testing.assert_array_equal(x.grad.numpy(), want)
    np.testing.assert_array_equal(v.grad.numpy(), 4 * v.numpy())


def test_a_leaf_that_requires_gradient_cannot_be_set():
    x = paddle.to_tensor(X, stop_gradient=False)
    with pytest.raises(RuntimeError, match="leaf that requires gradient"):
        x[0] = 1.0
    with paddle.no_grad():
        x[0] = 1.0
    assert x[0, 0, 0].item() == 1.0


def test_earlier_results_keep_their_values():
    x = paddle.to_tensor(X)
    row, copy, view = x[[0]], x.numpy(), x[0]
    x[0] = 0.0
    assert row.tolist() == X[[0]].tolist() and copy.tolist() == X.tolist()
    assert not view.any()


@pytest.mark.parametrize(
    ("index", "kind", "message"),
    [
        (2, IndexError, "index 2 is out of range for dimension 0 of size 2"),
        ((0, -4), IndexError, "index -4 is out of range for dimension 1 of size 3"),
        ((0, 0, 0, 0), IndexError, "too many indices: 4 for a tensor of 3 dimensions"),
        ("a", TypeError, "cannot be indexed with 'a'"),
        (0.5, TypeError, r"cannot be indexed with 0.5 \(float\)"),
        (np.array([True, False, True]), IndexError, r"the mask has shape \[3\]"),
        ((Ellipsis, Ellipsis), IndexError, "only one"),
        (np.array([0.5]), TypeError, "an index tensor is float64"),
        (slice(None, None, 0), ValueError, "step of a slice cannot be 0"),
    ],
)
def test_errors(index, kind, message):
    with pytest.raises(kind, match=message):
        paddle.to_tensor(X)[index]
    with pytest.raises(kind, match=message):
        paddle.to_tensor(X)[index] = 0


def test_one_compiled_function_serves_every_position():
    x = paddle.to_tensor(X)
    bound = REGISTRY["getitem"].known
    x[0], x[0:1, 1]
    before = len(bound)
    for i in range(2):
        x[i], x[i : i + 1, i + 1]
    assert len(bound) == before


def traced(fn, shape=(2, 3)):
    spec = jax.ShapeDtypeStruct(shape, np.float32)
    return trace(fn, [spec], [False], ["x"])


def test_a_mask_with_a_value_stages_and_a_selection_does_not():
    def clamp(x):
        x = x * 1
        x[x < 0] = 0.0
        return x

    assert "setitem" in str(traced(clamp).program)
    with pytest.raises(
        NotImplementedError, match=r"x\[mask\] at .* gives a tensor whose shape depends on the data.*where\(mask"
    ):
        traced(lambda x: x[x > 0])
    with pytest.raises(NotImplementedError, match="nonzero"):
        traced(lambda x: paddle.nonzero(x))


def test_unknown_sizes():
    b = jax.export.symbolic_shape("b")[0]
    shapes = []

    def fn(x):
        outs = [x[0], x[-1], x[1:], x[:, -1], x[:, None], x[:-1, 1:], x[::2]]
        y = x * 1
        y[:, 0] = 0.0
        y[1:] = 1.0
        shapes.extend(str(o._payload.shape) for o in outs)
        return y

    traced(fn, (b, 3))
    assert (
        shapes[0] == "(3,)"
        and shapes[1] == "(3,)"
        and shapes[3] == "(b,)"
        and "b - 1" in shapes[2].replace("-1 + b", "b - 1")
    )


TRUTHS = [
    (False,),
    (0, True),
    (0, False),
    (True, 0),
    (0, False, 1),
    (True, False),
    (True, True),
    (True, [0, 1]),
    ([0, 1], True),
    (None, True, True),
    *[(flag, slice(None)) for flag in (True, False)],
]
TRUTHS += [index[::-1] for index in TRUTHS]


@pytest.mark.parametrize("form", [bool, np.bool_, np.array, paddle.to_tensor])
@pytest.mark.parametrize("index", TRUTHS, ids=str)
def test_truths_among_other_parts_pick_all_or_nothing_of_one_new_axis(index, form):
    x, plain = np.arange(6.0).reshape(2, 3), paddle.arange(6.0, dtype="float64").reshape([2, 3])
    parts = tuple([form(p) if isinstance(p, bool) else p for p in index])
    np.testing.assert_array_equal(plain[parts].numpy(), x[index])
    plain[parts], x[index] = 9.0, 9.0
    np.testing.assert_array_equal(plain.numpy(), x)


@pytest.mark.parametrize("static", [False, True])
def test_index_put_takes_masks(static):
    def put(x, value, *indices, accumulate=False):
        return paddle.index_put(x, indices, value, accumulate)

    put = paddle.jit.to_static(put) if static else put
    x, mask = paddle.ones([2, 3]), paddle.to_tensor([[True, False, True], [False, True, False]])
    assert put(x, paddle.to_tensor(5.0), mask).tolist() == [[5, 1, 5], [1, 5, 1]]
    assert put(x, paddle.to_tensor([1.0, 2.0, 3.0]), paddle.to_tensor([True, False])).tolist() == [[1, 2, 3], [1, 1, 1]]
    assert put(x, paddle.to_tensor([4.0, 6.0, 8.0]), mask).tolist() == [[4, 1, 6], [1, 8, 1]]
    assert put(x, paddle.to_tensor([4.0, 6.0, 8.0]), mask, accumulate=True).tolist() == [[5, 1, 7], [1, 9, 1]]
    row, column = paddle.to_tensor([True, False]), paddle.to_tensor([1])
    assert put(x, paddle.to_tensor([7.0]), row, column).tolist() == [[1, 7, 1], [1, 1, 1]]


def test_what_is_written_out_of_range_is_an_error():
    x, one = paddle.zeros([2, 3]), paddle.to_tensor([1.0])
    with pytest.raises(IndexError, match=r"indices\[1\] holds 3 at \[0\]; expected -3 to 2"):
        paddle.index_put(x, (paddle.to_tensor([0]), paddle.to_tensor([3])), one)
    with pytest.raises(IndexError, match="there are 3 indices for a tensor of 2 dimensions"):
        paddle.index_put(x, (paddle.to_tensor([0]),) * 3, one)
    with pytest.raises(IndexError, match=r"the index holds -3 at \[1\]; expected -2 to 1"):
        x[paddle.to_tensor([0, -3])] = one
    with pytest.raises(IndexError, match=r"the mask has shape \[3\], but"):
        paddle.index_put(x, (paddle.to_tensor([True, False, True]),), one)
    assert x.tolist() == [[0.0] * 3] * 2
