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
    assert x.data_ptr() == x.detach().data_ptr() != (x + 1).data_ptr() and (x.layout, x.offset, x.type) == (
        "NCHW",
        0,
        "DENSE_TENSOR",
    )
    y = paddle.zeros([1])
    assert y.set_(x, [2], offset=4) is y and y.tolist() == [2.0, 3.0]
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


def test_swapaxes_takes_an_order():
    x = paddle.zeros([2, 3, 4])
    assert paddle.swapaxes(x, 0, 2).shape == x.swapdims(dim0=0, dim1=2).shape == [4, 3, 2]
    assert paddle.swapaxes(x, perm=[1, 2, 0]).shape == paddle.swapdims(x, [1, 2, 0]).shape == [3, 4, 2]
    assert x.swapaxes(perm=(2, 1, 0)).shape == [4, 3, 2]


def test_comparisons_in_place_as_functions():
    for name, wanted in (("equal_", [False, True]), ("less_", [True, False]), ("greater_equal_", [False, True])):
        x = paddle.to_tensor([1.0, 2.0])
        assert getattr(paddle, name)(x, paddle.to_tensor([2.0, 2.0])) is x and x.tolist() == wanted


def test_dtypes_by_constants():
    assert paddle.dtype.FLOAT32 is paddle.float32 and paddle.dtype.BFLOAT16 is paddle.bfloat16
    assert paddle.zeros([1], dtype=paddle.int).dtype == "int32"


def test_questions_to_places():
    cpu = paddle.CPUPlace()
    assert not (cpu.is_xpu_place() or cpu.is_custom_place() or cpu.is_ipu_place() or cpu.is_cuda_pinned_place())
    assert paddle.CUDAPlace(2).gpu_device_id() == 2 and paddle.CUDAPinnedPlace().is_cuda_pinned_place()
    assert paddle.TPUPlace(0).custom_device_type() == "tpu" and cpu.custom_device_type() == ""
    assert paddle.XPUPinnedPlace().is_xpu_pinned_place() and paddle.XPUPlace(1).xpu_device_id() == 1


def test_tensors_on_one_device():
    x, y = paddle.ones([2, 3]), paddle.zeros([1])
    assert (x.sparse_dim(), x.dense_dim(), x.placements, x.process_mesh) == (0, 2, None, None)
    y.reconstruct_from_(x)
    assert y.shape == [2, 3] and x.sum().item() == 6


def test_gradients_of_an_optimizer():
    w = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
    opt = paddle.optimizer.Momentum(0.5, parameters=[w])
    loss = (w * 3.0).sum()
    loss.backward()
    ((p, g),) = opt.backward(loss)
    assert p is w and g.tolist() == [3.0, 3.0]
    opt.apply_gradients([(p, g)])
    assert w.tolist() == [-0.5, -0.5] and [n.partition("velocity")[1] for n in opt.get_opti_var_name_list()] == [
        "velocity"
    ]


def test_devices_under_the_names_of_cuda():
    state = paddle.cuda.get_rng_state()
    first = paddle.rand([2]).tolist()
    paddle.cuda.set_rng_state(new_state=state)
    assert paddle.rand([2]).tolist() == first
    assert paddle.cuda.FloatTensor(2, 3).shape == [2, 3] and paddle.cuda.is_initialized()
    with pytest.raises(ValueError, match="backends is 3; expected a SDPBackend"), paddle.nn.attention.sdpa_kernel(3):
        pass


def test_eight_bits_but_for_what_is_large():
    rs = np.random.RandomState(0)
    x, w = rs.randn(4, 6).astype("float32"), rs.randn(6, 3).astype("float32")
    x[1, 2] = 50.0
    weight, scale = paddle.nn.quant.weight_quantize(paddle.to_tensor(w), "llm.int8")
    bias = paddle.ones([3])
    found = paddle.nn.quant.llm_int8_linear(paddle.to_tensor(x), weight, bias, scale)
    kept = weight.numpy().T * scale.numpy()
    np.testing.assert_allclose(found.numpy(), x @ kept + 1, atol=0.05)
    with pytest.raises(ValueError, match="weight_scale is None"):
        paddle.nn.quant.llm_int8_linear(paddle.to_tensor(x), weight)


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


def test_what_a_variable_of_a_program_is_asked():
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [2, 3])
            paddle.nn.Linear(3, 1)(x)
        w = main.all_parameters()[0]
        scope = paddle.static.Scope()
        with pytest.raises(ValueError, match="run the startup program"):
            w.get_value(scope)
        paddle.static.Executor().run(startup, scope=scope)
        assert np.asarray(w.get_value(scope)).shape == (3, 1)
        assert (w.is_parameter, x.is_parameter, x.lod_level, x.grad_name) == (True, False, 0, "x@GRAD")
        assert x.to_string(True) == "var x : shape=[2, 3], dtype=float32"
        assert x.to_string(True, True).endswith("persistable=False, stop_gradient=True")
    finally:
        paddle.disable_static()


def test_a_stub_shows_what_passes():
    observer = paddle.quantization.observers.AbsmaxObserver()
    stub = paddle.nn.quant.Stub(observer)
    assert stub(paddle.to_tensor([-3.0, 2.0])).tolist() == [-3.0, 2.0]
    assert stub._observer.scales().item() == 3.0
