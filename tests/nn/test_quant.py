"""paddle.nn.quant: weights in eight bits."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle


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


def test_a_stub_shows_what_passes():
    observer = paddle.quantization.observers.AbsmaxObserver()
    stubs = paddle.nn.Sequential(paddle.nn.quant.Stub(observer), paddle.nn.quant.Stub())
    given = paddle.to_tensor([-3.0, 2.0])
    assert stubs(given).tolist() == [-3.0, 2.0]
    q = paddle.quantization
    for config in (q.QuantConfig(None, None), q.QuantConfig(observer, None)):
        net = q.PTQ(config).quantize(stubs)
        assert [type(s).__name__ for s in net] == ["QuanterStub"] * 2 and net(given).tolist() == [-3.0, 2.0]
        assert net[0]._observer.scales().item() == 3.0
        assert (net[1]._observer is None) is (config.global_config is None)
    assert type(q.PTQ(config).convert(net)[0]._observer).__name__ == "FakeQuanterWithAbsMaxObserverLayer"


def test_weights_in_eight_bits():
    rng = np.random.default_rng(0)
    x, w = (paddle.to_tensor(rng.normal(size=s).astype("float32")) for s in ((2, 16), (16, 3)))
    q = paddle.nn.quant
    packed, scale = q.weight_quantize(w)
    np.testing.assert_allclose(q.weight_dequantize(packed, scale, out_dtype="float32").numpy(), w.numpy(), atol=0.02)
    found = q.weight_only_linear(x, packed, paddle.ones([3]), scale).numpy()
    np.testing.assert_allclose(found, x.numpy() @ w.numpy() + 1, atol=0.1)
    with pytest.raises(NotImplementedError, match="weight_only_int2"):
        q.weight_quantize(w, "weight_only_int2")
    with pytest.raises(NotImplementedError, match="group_size is 32"):
        q.weight_quantize(w, group_size=32)
    with pytest.raises(ValueError, match="x has 3 outputs"):
        q.weight_quantize(w, "weight_only_int4")


@pytest.mark.parametrize(("dtype", "group", "error"), [("int4", -1, 0.4), ("int4", 64, 0.3), ("int8", 64, 0.02)])
def test_weights_in_groups_and_in_four_bits(dtype, group, error):
    rng = np.random.default_rng(0)
    x, w = (paddle.to_tensor(rng.normal(size=s).astype("float32")) for s in ((2, 130), (130, 6)))
    w[:64] *= 0.01  # small weights are rounded by the scale of their group
    q, algo = paddle.nn.quant, f"weight_only_{dtype}"
    packed, scale = q.weight_quantize(w, algo, group_size=group)
    assert packed.shape == [3 if dtype == "int4" else 6, 130] and scale.shape == ([6] if group == -1 else [3, 6])
    wide = q.weight_dequantize(packed, scale, algo, "float32", group).numpy()
    steps = np.broadcast_to(scale.numpy(), (3, 6)).repeat(64, 0)[:130]
    assert (abs(wide - w.numpy()) <= steps * 0.501).all() and abs(wide - w.numpy()).max() < error
    x.stop_gradient = False
    found = q.weight_only_linear(x, packed, paddle.ones([6]), scale, dtype, group_size=group)
    np.testing.assert_allclose(found.numpy(), x.numpy() @ wide + 1, rtol=1e-4, atol=1e-4)
    (grad,) = paddle.grad((found * found).sum(), [x])
    np.testing.assert_allclose(grad.numpy(), 2 * found.numpy() @ wide.T, rtol=1e-4, atol=1e-3)
