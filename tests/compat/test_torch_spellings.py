"""What programs that come from PyTorch write, and the reference takes."""

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.nn import functional as F


def test_tensors_of_sizes_and_of_data():
    assert paddle.Tensor(2, 3).shape == [2, 3] and paddle.Tensor(3).shape == [3] and paddle.Tensor().shape == [0]
    assert paddle.Tensor([1, 2]).dtype == "float32" and paddle.Tensor(np.array([1])).dtype == "int64"
    named = paddle.Tensor(value=np.ones(2), place=paddle.CPUPlace(), name="x", persistable=True, stop_gradient=False)
    assert named.name == "x" and named.persistable and not named.stop_gradient
    with pytest.warns(UserWarning, match=r"^Tensor: zero_copy=True has no effect"):
        assert paddle.Tensor(np.array([1.0]), zero_copy=True).dtype == "float64"


def test_parameters_that_are_not_trained():
    x = paddle.ones([2])
    assert paddle.nn.Parameter(x, False).stop_gradient and paddle.nn.Parameter(x, requires_grad=False).stop_gradient
    assert not paddle.nn.Parameter(x).stop_gradient and paddle.nn.Parameter(x, "float64").dtype == "float64"


@pytest.mark.parametrize("name", ["logical_and_", "logical_or_", "logical_xor_", "equal_"])
def test_in_place_forms_that_give_booleans(name):
    x, y = paddle.to_tensor([1, 0, 2], dtype="int8"), paddle.to_tensor([1, 1, 0], dtype="int8")
    expected = getattr(paddle, name[:-1])(x, y).tolist()
    assert getattr(x, name)(y) is x and x.dtype == "bool" and x.tolist() == expected
    with pytest.raises(ValueError, match="must stay"):
        getattr(paddle.ones([3]), name)(paddle.ones([2, 3]))


def test_not_in_place():
    assert paddle.logical_not_(paddle.to_tensor([2, 0])).tolist() == [False, True]


def test_orders_of_arguments():
    x, weight, bias = paddle.rand([1, 4, 3, 3]), paddle.rand([4]), paddle.rand([4])
    for _ in range(2):
        expected = F.group_norm(x, 2, 1e-3, weight, bias).numpy()
        np.testing.assert_array_equal(F.group_norm(x, 2, weight, bias, 1e-3).numpy(), expected)
    line = paddle.to_tensor([[[1.0, 3.0]]])
    expected = F.interpolate(line, None, 2, "linear", False, recompute_scale_factor=True)
    np.testing.assert_array_equal(F.interpolate(line, None, 2, "linear", False, True, False).numpy(), expected.numpy())


def test_one_number_for_a_list():
    x = paddle.zeros([2, 3])
    assert paddle.slice_scatter(x, paddle.ones([2, 2]), 1, 0, 3, 2).tolist() == [[1, 0, 1]] * 2
    assert paddle.zeros([3]).permute(0).shape == [3]
    assert [t.shape for t in paddle.atleast_2d([paddle.ones([2]), paddle.to_tensor(1)])] == [[1, 2], [1, 1]]
    assert paddle.atleast_1d([1, 2]).shape == [2]


def test_numbers_as_text():
    assert paddle.full([1], "-inf").item() == -np.inf and paddle.full_like(paddle.ones([1]), "1.5").item() == 1.5
    with pytest.raises(ValueError, match="'abc'; expected a number"):  # 0 in the reference
        paddle.full([1], "abc")


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("hamming_window", {}, np.hamming(6)[:5]),
        ("hamming_window", {"periodic": False, "alpha": 0.5, "beta": 0.5}, np.hanning(5)),
        ("blackman_window", {}, np.blackman(6)[:5]),
        ("bartlett_window", {"periodic": False}, np.bartlett(5)),
        ("kaiser_window", {"beta": 5.0, "periodic": False}, np.kaiser(5, 5.0)),
    ],
)
def test_windows(name, settings, expected):
    found = getattr(paddle, name)(5, dtype="float64", requires_grad=True, **settings)
    assert not found.stop_gradient and found.dtype == "float64"
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)
    assert getattr(paddle, name)(0).shape == [0] and getattr(paddle, name)(1).item() == pytest.approx(1)


def test_windows_by_name():
    get = paddle.audio.functional.get_window
    np.testing.assert_allclose(get(("general_cosine", [1, 0.5]), 4).numpy(), [0.5, 1, 1.5, 1])
    np.testing.assert_allclose(get(("general_hamming", 0.6), 4, dtype=paddle.float32).numpy(), [0.2, 0.6, 1, 0.6], 1e-6)
    with pytest.raises(ValueError, match="at least 0"):
        get("hann", -1)


def test_settings_of_layers_under_their_other_names():
    glu = paddle.nn.GLU(dim=0)
    glu.dim = 1
    assert glu.axis == 1 and paddle.nn.Fold(4, 2).kernel_size == 2 and paddle.nn.PairwiseDistance(eps=1.0).eps == 1
    assert paddle.nn.ZeroPad1d(2).padding == [2, 2] and paddle.nn.ConstantPad2D([1, 2, 3, 4], 0.5).value == 0.5
    assert paddle.nn.Embedding(4, 2, padding_idx=-1).padding_idx == 3


def test_recurrent_layers_by_mode():
    from paddle_lite_py.nn.rnn import RNNBase

    x = paddle.rand([2, 3, 4])
    lstm = RNNBase("LSTM", 4, 5, num_layers=2, direction="bidirect")
    same = paddle.nn.LSTM(4, 5, 2, "bidirect")
    same.set_state_dict(lstm.state_dict())
    np.testing.assert_array_equal(lstm(x)[0].numpy(), same(x)[0].numpy())
    assert isinstance(same, RNNBase) and same.mode == "LSTM" and paddle.nn.SimpleRNN(1, 1).mode == "RNN_TANH"
    with pytest.raises(ValueError, match="mode is 'GRUU'"):
        RNNBase("GRUU", 1, 1)


def test_constraints():
    from paddle_lite_py.distribution import constraints

    x = paddle.to_tensor([0.25, 0.75, -1.0])
    assert constraints.positive.check(x).tolist() == [True, True, False]
    assert constraints.Range(0.5, 1.0)(x).tolist() == [False, True, False]
    assert constraints.simplex(x[:2]).item() and not constraints.simplex(x).item()
    assert constraints.real(paddle.to_tensor([np.nan, 1.0])).tolist() == [False, True]
    with pytest.raises(NotImplementedError):
        constraints.Constraint().check(x)


def test_functions_of_compat():
    C, x = paddle.compat.nn.functional, paddle.rand([2, 3])
    assert C.softmax(x, 1, 2, "float64").dtype == "float64"
    np.testing.assert_array_equal(C.softmax(x, dim=1, _stacklevel=2).numpy(), F.softmax(x, 1).numpy())
    q, k, v = (paddle.rand([2, 3, 4]) for _ in range(3))
    expected = F.softmax(q @ k.transpose([0, 2, 1]) / 2) @ v
    np.testing.assert_allclose(C.scaled_dot_product_attention(q, k, v).numpy(), expected.numpy(), rtol=1e-5)


def test_views_of_bits():
    flags = paddle.to_tensor([True, False])
    assert flags.view("uint8").tolist() == [1, 0] and flags.view("uint8").view("bool").tolist() == [True, False]
    numbers = np.arange(1, 4)
    np.testing.assert_array_equal(paddle.to_tensor(numbers).view("complex64").numpy(), numbers.view("complex64"))
    z = paddle.to_tensor([1 + 2j])
    part = z.view("float32")
    part[0] = 5.0
    assert z.tolist() == [5 + 2j]


def test_dlpack_knows_no_gradient():
    x = paddle.ones([2], requires_grad=True)
    with pytest.raises(BufferError, match=r"x\.detach\(\)"):
        np.from_dlpack(x)
    assert np.from_dlpack(x.detach()).tolist() == [1, 1]
