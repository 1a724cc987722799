"""Training with the rounding of 8-bit arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.quantization import PTQ, QAT, QuantConfig, observers, quanters

QUANTER = quanters.FakeQuanterWithAbsMaxObserver(moving_rate=0.9)


def rounded(x, scale, most=127):
    return np.round(np.clip(x, -scale, scale) / scale * most) * scale / most


def test_a_quanter_follows_the_largest_value():
    layer = QUANTER._instance(nn.Linear(1, 1))
    x = np.array([0.3, -1.7, 2.0], "float32")
    state, total = 1.0, 1.0
    for factor in (1.0, 2.0):
        out = layer(paddle.to_tensor(x * factor))
        state, total = state * 0.9 + 1, total * 0.9 + 2.0 * factor
        np.testing.assert_allclose(out.numpy(), rounded(x * factor, total / state), rtol=1e-5)
    layer.eval()
    np.testing.assert_allclose(layer(paddle.to_tensor(x)).numpy(), rounded(x, total / state), rtol=1e-5)


def network():
    paddle.seed(0)
    return nn.Sequential(nn.Conv2D(1, 2, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(32, 3))


@pytest.mark.parametrize("static", [False, True])
def test_a_network_trains_with_quanters(static):
    source = network()
    qat = QAT(QuantConfig(activation=QUANTER, weight=QUANTER))
    net = qat.quantize(source)
    assert [type(part).__name__ for part in net] == ["QuantedConv2D", "ReLU", "Flatten", "QuantedLinear"]
    assert isinstance(source[0], nn.Conv2D) and len(net.parameters()) == 4
    opt = paddle.optimizer.Adam(0.05, parameters=net.parameters())
    x, label = paddle.rand([6, 1, 4, 4]), paddle.to_tensor([0, 1, 2, 0, 1, 2])

    def step(x, label):
        loss = nn.functional.cross_entropy(net(x), label)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    run = paddle.jit.to_static(step) if static else step
    losses = [float(run(x, label)) for _ in range(12)]
    assert losses[-1] < 0.7 * losses[0]
    net.eval()
    done = qat.convert(net)
    np.testing.assert_allclose(done(x).numpy(), net(x).numpy(), atol=1e-5)
    assert len(np.unique(np.round(done[3].weight.numpy() / np.abs(done[3].weight.numpy()).max() * 127, 3))) <= 255


def test_a_trained_network_is_observed_and_rounded():
    source, x = network(), paddle.rand([6, 1, 4, 4])
    ptq = PTQ(QuantConfig(activation=observers.AbsmaxObserver(), weight=observers.AbsmaxObserver()))
    net = ptq.quantize(source)
    np.testing.assert_allclose(net(x).numpy(), source(x).numpy(), rtol=1e-6)
    done = ptq.convert(net)
    assert done[0].activation_quanter.scales().item() == pytest.approx(x.abs().max().item())
    difference = np.abs(done(x).numpy() - source(x).numpy()).max()
    assert 0 < difference < 0.05


def test_layers_are_chosen():
    config = QuantConfig(activation=None, weight=None)
    config.add_type_config(nn.Linear, weight=QUANTER)
    net = QAT(config).quantize(network())
    assert isinstance(net[0], nn.Conv2D) and net[3].activation_quanter is None and net[3].weight_quanter is not None
    source = network()
    config = QuantConfig(activation=None, weight=None)
    config.add_layer_config(source[0], activation=QUANTER)
    config.add_name_config(source[3].full_name(), weight=QUANTER)
    net = QAT(config).quantize(source)
    assert net[0].weight_quanter is None and net[3].weight_quanter is not None
    with pytest.raises(TypeError, match="is no type of Layer"):
        config.add_type_config(3)
