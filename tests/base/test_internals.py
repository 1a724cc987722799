"""Names of PaddlePaddle's inside that its tests and older programs take."""

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.base import internals


@pytest.fixture
def feeder():
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [None, 2], "float32")
        paddle.static.data("label", [None, 1], "int64")
    yield paddle.base.DataFeeder([x, "label"], paddle.CPUPlace(), main)
    paddle.disable_static()


def test_a_feeder_makes_arrays_of_samples(feeder):
    fed = feeder.feed([([1, 2], [0]), ([3, 4], [1])])
    assert fed["x"].tolist() == [[1.0, 2.0], [3.0, 4.0]] and fed["x"].dtype == np.float32
    assert fed["label"].tolist() == [[0], [1]] and fed["label"].dtype == np.int64


def test_flat_samples_take_the_shape_of_their_placeholder():
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        feeder = paddle.base.DataFeeder([paddle.static.data("x", [-1, 1, 2, 2], "float32")])
    paddle.disable_static()
    assert feeder.feed([(np.arange(4),), (np.arange(4),)])["x"].shape == (2, 1, 2, 2)


BAD_SAMPLES = [
    ([([1, 2],)], "1 fields; expected 2, one for each of x, label"),
    ([([1, 2], [0]), ([3], [1])], "'x' has"),
]


@pytest.mark.parametrize("samples, text", BAD_SAMPLES)
def test_a_feeder_says_which_samples_do_not_fit(feeder, samples, text):
    with pytest.raises(ValueError, match=text):
        feeder.feed(samples)


def test_a_feeder_refuses_what_is_no_placeholder():
    with pytest.raises(TypeError, match="feed_list has a int"):
        paddle.base.DataFeeder([3])


ALONG = [("_add_with_axis", np.add), ("_subtract_with_axis", np.subtract), ("_multiply_with_axis", np.multiply)]


@pytest.mark.parametrize("name, numpy", [*ALONG, ("_divide_with_axis", np.divide)])
def test_operators_along_an_axis(name, numpy):
    x, y = np.arange(24, dtype="float32").reshape(2, 3, 4) + 1, np.array([1, 2, 4], "float32")
    function = getattr(paddle.tensor.math, name)
    found = function(paddle.to_tensor(x), paddle.to_tensor(y), axis=1)
    np.testing.assert_allclose(found.numpy(), numpy(x, y[:, None]))
    found = function(paddle.to_tensor(y), paddle.to_tensor(x), axis=1)
    np.testing.assert_allclose(found.numpy(), numpy(y[:, None], x))


def test_flags_by_name():
    flags = paddle.base.core.globals()
    flags["FLAGS_check_nan_inf"] = False
    assert flags["FLAGS_check_nan_inf"] is False and "FLAGS_check_nan_inf" in list(flags) and len(flags) > 10
    with pytest.raises(KeyError, match="FLAGS_of_nothing"):
        flags["FLAGS_of_nothing"]


def test_default_programs_are_switched():
    main = paddle.static.Program()
    before = internals.switch_main_program(main)
    assert paddle.static.default_main_program() is main
    assert internals.switch_main_program(before) is main
    startup = internals.switch_startup_program(main)
    assert internals.switch_startup_program(startup) is main
