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
    assert [type(part).__name__ for part in net] == [
        "QuantedConv2D",
        "ObserveWrapper",
        "ObserveWrapper",
        "QuantedLinear",
    ]
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


class Fixed(nn.Layer):
    """A net with given weights, in which one activation stands twice."""

    def __init__(self):
        super().__init__()
        rng = np.random.default_rng(0)

        def attr(*shape):
            value = (rng.normal(size=shape) * 0.3).astype("float32")
            return paddle.ParamAttr(initializer=nn.initializer.Assign(value))

        self.conv = nn.Conv2D(1, 3, 3, weight_attr=attr(3, 1, 3, 3))
        self.bn, self.relu, self.pool = nn.BatchNorm2D(3), nn.ReLU(), nn.MaxPool2D(2)
        self.fc, self.out = nn.Linear(12, 4, weight_attr=attr(12, 4)), nn.Linear(4, 2, weight_attr=attr(4, 2))
        self.x = rng.normal(size=(4, 1, 6, 6)).astype("float32")

    def forward(self, x):
        return self.out(self.relu(self.fc(self.pool(self.relu(self.bn(self.conv(x)))).flatten(1))))


def test_a_global_configuration_rounds_what_every_layer_takes():
    """Losses, and what the trained net gives, are those of PaddlePaddle 3.3.1."""
    net = QAT(QuantConfig(activation=QUANTER, weight=QUANTER)).quantize(Fixed())
    opt, losses = paddle.optimizer.SGD(0.1, parameters=net.parameters()), []
    for _ in range(4):
        out = net(paddle.to_tensor(net.x))
        loss = (out * out).mean() + out.sum() * 0.1
        loss.backward()
        opt.step()
        opt.clear_grad()
        losses.append(float(loss))
    np.testing.assert_allclose(losses, [-0.145735040, -0.149737000, -0.154480919, -0.155415550], atol=2e-6)
    net.eval()
    want = [-0.14086486, -0.24683574, -0.26604196, -0.31731364, -0.3627424, -0.30356368, -0.3749145, -0.37772322]
    np.testing.assert_allclose(net(paddle.to_tensor(net.x)).numpy().ravel(), want, atol=1e-5)
    assert {"bn._observed.weight", "bn._observer._scale"} <= net.state_dict().keys()


def test_layers_are_taken_as_a_whole_and_ids_are_not_rounded():
    class Whole(nn.Layer):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3)

        def forward(self, x):
            return self.inner(x)

    config = QuantConfig(activation=QUANTER, weight=QUANTER)
    config.add_customized_leaf(Whole)
    net = QAT(config).quantize(nn.Sequential(nn.Embedding(4, 3), Whole()))
    assert type(net[1]).__name__ == "ObserveWrapper" and type(net[1]._observed.inner) is nn.Linear
    assert net(paddle.to_tensor([0, 3])).shape == [2, 3]


class Scaled(paddle.nn.quant.format.ConvertibleQuantedLayer):
    """A quantized layer of a user: two weights, one of them rounded, and a rounded input."""

    def __init__(self, config):
        super().__init__()
        self.scale, self.shift = self.create_parameter([2]), self.create_parameter([2])
        self.scale.set_value(paddle.to_tensor([1.0, 0.3]))
        self.of_scale, self.of_input = config.weight._instance(self), config.activation._instance(self)

    def forward(self, x):
        scale = self.scale if self.of_scale is None else self.of_scale(self.scale)
        return self.of_input(x) * scale + self.shift

    def weights_to_quanters(self):
        return [("scale", "of_scale")]

    def activation_quanters(self):
        return ["of_input"]


def test_a_quantized_layer_of_a_user_is_converted():
    quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver(bit_length=3)
    config = paddle.quantization.QuantConfig(activation=quanter, weight=quanter)
    layer = Scaled(paddle.quantization.config.SingleLayerConfig(quanter, quanter))
    x = paddle.to_tensor([0.5, 1.0])
    for _ in range(60):
        layer(x)
    layer.eval()
    expected = layer(x)
    converted = paddle.quantization.QAT(config).convert(layer)
    assert converted.converted and converted.of_scale is None and not layer.converted
    np.testing.assert_allclose(converted.scale.numpy(), [1.0, 1 / 3], atol=5e-3)
    np.testing.assert_allclose(converted(x).numpy(), expected.numpy(), rtol=1e-6)
    with pytest.raises(TypeError, match="abstract"):
        paddle.nn.quant.format.ConvertibleQuantedLayer()


def test_a_class_that_inherits_what_is_not_available_says_what_that_is():
    class Mine(paddle.nn.quant.format.LinearQuanter):
        """My own."""

    with pytest.raises(NotImplementedError, match="paddle.nn.quant.format.LinearQuanter is not available here"):
        Mine()
