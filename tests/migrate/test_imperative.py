"""Quantization by names of layers, whose results PaddlePaddle 3.3.1 gave for the same weights and inputs."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.nn import functional as F

Q = paddle.quantization


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.c, self.bn = nn.Conv2D(1, 4, 3, padding=1), nn.BatchNorm2D(4)
        self.t, self.l = nn.Conv2DTranspose(4, 3, 2, stride=2), nn.Linear(192, 5)
        random = np.random.RandomState(3)
        for parameter in self.parameters():
            value = random.randn(*parameter.shape).astype("float32") * 0.3
            parameter.set_value(abs(value) + 0.5 if value.ndim == 1 else value)

    def forward(self, x):
        return self.l(self.t(F.relu(self.bn(self.c(x)))).flatten(1))


X = [np.random.RandomState(i).randn(6, 1, 4, 4).astype("float32") * (1 + i) for i in range(3)]
Y = np.array([0, 1, 2, 3, 4, 0])


@pytest.mark.parametrize(
    "kind, losses", [("abs_max", [7.64141, 3.59859, 3.01193]), ("channel_wise_abs_max", [7.59387, 3.59425])]
)
def test_a_network_trains_with_rounded_layers(kind, losses):
    net = Q.ImperativeQuantAware(weight_quantize_type=kind).quantize(Net())
    opt = paddle.optimizer.SGD(0.05, parameters=net.parameters())
    found = []
    for x in X[: len(losses)]:
        loss = F.cross_entropy(net(paddle.to_tensor(x)), paddle.to_tensor(Y))
        loss.backward()
        opt.step()
        opt.clear_grad()
        found.append(float(loss))
    np.testing.assert_allclose(found, losses, rtol=1e-5)


OBSERVED = [  # weights, inputs, whether the normalization is folded, the first row of X[1]
    ("AbsmaxQuantizer", "AbsmaxQuantizer", False, [-2.3683, -1.0863, -0.8741, 7.426, 6.3471]),
    ("PerChannelAbsmaxQuantizer", "AbsmaxQuantizer", False, [-2.3624, -1.0158, -0.8131, 7.38, 6.3998]),
    ("AbsmaxQuantizer", "KLQuantizer", True, [-2.3083, -1.0728, -0.7814, 7.4588, 6.3327]),
    ("PerChannelAbsmaxQuantizer", "KLQuantizer", True, [-2.2083, -1.0825, -0.7104, 7.45, 6.4044]),
]


@pytest.mark.parametrize("weights, inputs, fuse, row", OBSERVED)
def test_a_trained_network_is_observed(weights, inputs, fuse, row):
    net = Net()
    net.eval()
    ptq = Q.ImperativePTQ(Q.PTQConfig(getattr(Q, inputs)(), getattr(Q, weights)()))
    model = ptq.quantize(net, fuse=fuse, fuse_list=[["c", "bn"]])
    for x in X:
        model(paddle.to_tensor(x))
    np.testing.assert_allclose(ptq.convert(model)(paddle.to_tensor(X[1])).numpy()[0], row, atol=2e-4)
    assert isinstance(net.c, nn.Conv2D) and type(model.t) is nn.Conv2DTranspose


@pytest.mark.parametrize(
    "scales, largest, threshold", [([5, 1, 1], 235.06537, 132.5686), ([1, 1, 9], 428.0516, 262.307)]
)
def test_a_threshold_diverges_least(scales, largest, threshold):
    first = 10 * (1 + (scales[0] == 1))
    quantizer = Q.KLQuantizer()
    for i, scale in enumerate(scales):
        x = np.random.RandomState(first + i).randn(4000).astype("float32") ** 3 * scale
        quantizer.sample_data(nn.ReLU(), (paddle.to_tensor(x),))
    quantizer.cal_thresholds()
    np.testing.assert_allclose([*quantizer.abs_max_vals, *quantizer.thresholds], [largest, threshold], rtol=1e-6)


class Limit(nn.Layer):
    def forward(self, x):
        return x.clip(-1.0, 1.0)


def test_layers_are_skipped_prepared_and_saved(tmp_path):
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
    net[0].skip_quant = True
    aware = Q.ImperativeQuantAware(act_preprocess_layer=Limit)
    assert aware.quantize(net) is net and type(net[0]) is nn.Linear
    x = paddle.to_tensor([[9.0, -3.0]])
    net(x)
    assert float(net[2].activation_quanter[1].scales()) <= 1.0
    aware.save_quantized_model(net, str(tmp_path / "m"), [paddle.static.InputSpec([None, 2], "float32")])
    np.testing.assert_allclose(paddle.jit.load(str(tmp_path / "m"))(x).numpy(), net(x).numpy(), rtol=1e-6)


WRONG = [
    (lambda: Q.ImperativeQuantAware(["Conv3D"]), ValueError, "quantizable_layer_type is 'Conv3D'; expected one of"),
    (lambda: Q.ImperativeQuantAware(weight_quantize_type="lsq_weight"), ValueError, "'lsq_weight'; expected one of"),
    (lambda: Q.ImperativeQuantAware(weight_bits=0), ValueError, "weight_bits is 0"),
    (lambda: Q.ImperativeQuantAware().quantize(1), TypeError, "model is a int; expected a Layer"),
    (lambda: Q.PTQConfig(Q.PerChannelAbsmaxQuantizer(), Q.AbsmaxQuantizer()), TypeError, "activation_quantizer is a"),
    (lambda: Q.PTQConfig(Q.AbsmaxQuantizer(), Q.KLQuantizer()), TypeError, "weight_quantizer is a KLQuantizer"),
    (lambda: Q.ImperativePTQ(3), TypeError, "quant_config is a int; expected a PTQConfig"),
    (lambda: Q.ImperativePTQ().quantize(Net(), fuse=True, fuse_list=[["c", "b"]]), ValueError, "fuse_list names 'b'"),
    (lambda: Q.KLQuantizer(17), ValueError, "quant_bits is 17"),
]


@pytest.mark.parametrize("call, error, text", WRONG)
def test_what_cannot_be_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()
