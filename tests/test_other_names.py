"""Names of other versions and libraries: what they are here."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.nn.function_layer import FunctionLayer


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


def test_storage():
    x = paddle.to_tensor([1.0, 2.0, 3.0, 4.0])
    assert x.data_ptr() == x.detach().data_ptr() != (x + 1).data_ptr() and x.layout == "NCHW" and x.offset == 0
    y = paddle.zeros([1])
    assert y.set_(x, [2], offset=1) is y and y.tolist() == [2.0, 3.0]
    assert y.resize_([3]).tolist() == [2.0, 3.0, 0.0] and y.resize_([1]).tolist() == [2.0]
    assert y.set_().shape == [0]
    drawn = paddle.zeros([50]).random_(2, 5).numpy()
    assert set(drawn) == {2.0, 3.0, 4.0}
    with pytest.raises(ValueError, match="has no data before it runs"):
        paddle.jit.to_static(lambda t: t * t.data_ptr())(x)


def test_methods_that_are_functions():
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.reverse([0]).tolist() == [[3.0, 4.0], [1.0, 2.0]]
    np.testing.assert_array_equal(x.cdist(x).numpy(), paddle.cdist(x, x).numpy())
    assert x.shard_index is not None and not x.is_sparse_coo() and not x.is_coalesced()


def test_printing_can_be_set():
    paddle.set_printoptions(precision=2, sci_mode=True)
    try:
        assert "1.23e+00" in str(paddle.to_tensor([1.2345]))
    finally:
        paddle.set_printoptions(precision=8, sci_mode=False)
    assert "1.2345" in str(paddle.to_tensor([1.2345]))


def test_cuda_answers_without_a_gpu():
    assert paddle.cuda.current_device() == 0 and paddle.cuda.manual_seed_all is paddle.seed
    paddle.cuda.empty_cache()


def test_every_layer_of_a_function_has_it():
    for name, layer in vars(paddle.nn).items():
        if inspect.isclass(layer) and issubclass(layer, FunctionLayer) and layer is not FunctionLayer:
            assert hasattr(paddle.nn.functional, layer._function or "relu"), name


def test_a_fractional_pool_draws_its_windows():
    x = paddle.arange(49.0).reshape([1, 1, 7, 7])
    found = {tuple(paddle.nn.FractionalMaxPool2D(3)(x).flatten().tolist()) for _ in range(8)}
    assert len(found) > 1
    with pytest.raises(ValueError, match="random_u is 2"):
        paddle.nn.functional.fractional_max_pool2d(x, 3, random_u=2)


def test_averages_refuse_what_they_cannot_do():
    with pytest.raises(ValueError, match="alpha is 2"):
        paddle.incubate.LookAhead(None, alpha=2)
    with pytest.raises(ValueError, match="parameters is None"):
        paddle.incubate.ModelAverage(0.5)
