"""What programs ask of layers besides calling them: their bases, names and settings."""

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn

# padding, other arguments, and what is left to the convolution, as numbers and how they are meant.
PADDINGS = [
    (1, {}, [1, 1], "EXPLICIT"),
    ([1, 2], {}, [1, 2], "EXPLICIT"),
    ([1, 0, 2, 0], {}, [1, 0, 2, 0], "EXPLICIT"),
    ([[0, 0], [0, 0], [1, 2], [3, 4]], {}, [1, 2, 3, 4], "EXPLICIT"),
    ("same", {}, [0, 0], "SAME"),
    (1, {"padding_mode": "reflect"}, [0, 0], "EXPLICIT"),
    (1, {"data_format": "NHWC"}, [1, 1], "EXPLICIT"),
]


@pytest.mark.parametrize(("padding", "others", "numbers", "kind"), PADDINGS)
def test_convolutions_show_their_padding(padding, others, numbers, kind):
    layer = nn.Conv2D(2, 4, 3, padding=padding, **others)
    assert (layer._updated_padding, layer._padding_algorithm) == (numbers, kind)
    assert layer._channel_dim == (3 if others.get("data_format") == "NHWC" else 1)


OPERATORS = [
    (nn.Conv1D, (4, 4), "conv1d"),
    (nn.Conv2D, (4, 1), "conv2d"),
    (nn.Conv2D, (4, 4), "depthwise_conv2d"),
    (nn.Conv2D, (1, 1), "conv2d"),
    (nn.Conv2DTranspose, (4, 4), "depthwise_conv2d"),
    (nn.Conv3D, (4, 4), "conv3d"),
]


@pytest.mark.parametrize(("kind", "channels_and_groups", "operator"), OPERATORS)
def test_convolutions_name_their_operator(kind, channels_and_groups, operator):
    channels, groups = channels_and_groups
    layer = kind(channels, 4, 3, groups=groups)
    assert (layer._op_type, layer._use_cudnn) == (operator, False)


def test_a_convolution_of_other_weights_is_made_of_what_the_layer_shows():
    class Standardized(nn.Conv2D):
        def forward(self, x):
            weight = self.weight - self.weight.mean([1, 2, 3], keepdim=True)
            return nn.functional.conv._conv_nd(
                x, weight, self.bias, self._stride, self._updated_padding, self._padding_algorithm, self._dilation,
                self._groups, self._data_format, self._channel_dim, self._op_type, self._use_cudnn,
            )  # fmt: skip

    layer, x = Standardized(2, 4, 3, padding=1), paddle.rand([1, 2, 5, 5])
    weight = layer.weight - layer.weight.mean([1, 2, 3], keepdim=True)
    np.testing.assert_allclose(layer(x), nn.functional.conv2d(x, weight, layer.bias, padding=1), rtol=1e-5)


def test_layers_that_pad_in_one_way_are_those_that_pad():
    for n in "123":
        for kind in ("Zero", "Constant", "Reflection", "Replication", "Circular"):
            assert issubclass(getattr(nn, f"{kind}Pad{n}D"), getattr(nn, f"Pad{n}D"))
    x = paddle.ones([1, 1, 2])
    assert nn.ZeroPad1D(1)(x).shape == nn.ConstantPad1D(1, 2.0)(x).shape == nn.CircularPad1D(1)(x).shape == [1, 1, 4]


def test_layers_and_distributions_have_names():
    made = [nn.MaxPool2D(2), nn.Dropout(0.5), nn.Sigmoid(), nn.CrossEntropyLoss(), nn.Upsample([4, 4]), nn.L1Loss()]
    assert [layer.name for layer in made] == [None] * 6
    assert nn.MaxPool2D(2, name="pool").name == "pool"
    d = paddle.distribution
    found = [d.Normal(0.0, 1.0), d.Uniform(0.0, 1.0), d.Bernoulli(0.5), d.Categorical(paddle.ones([3]))]
    assert [each.name for each in found] == ["Normal", "Uniform", "Bernoulli", "Categorical"]
    assert d.Normal(0.0, 1.0, "mine").name == "mine"


@pytest.mark.parametrize(("mode", "better", "op"), [("max", 2.0, np.greater), ("min", 0.0, np.less)])
def test_callbacks_show_how_they_compare(mode, better, op):
    stop = paddle.callbacks.EarlyStopping("loss", mode=mode, min_delta=0.5)
    assert stop.monitor_op is op
    assert stop.monitor_op(better - stop.min_delta, 1.0) and not stop.monitor_op(1.0 - stop.min_delta, 1.0)


def test_constructors_by_the_names_of_dtypes_share_tensors_of_theirs():
    x = paddle.ones([2])
    shared, other = paddle.FloatTensor(x), paddle.LongTensor(x)
    shared[0] = 3.0
    assert x.tolist() == [3.0, 1.0] and other.dtype == paddle.int64 and other.tolist() == [1, 1]


def test_a_scaler_and_distributions_are_what_they_are_in_paddle():
    assert isinstance(paddle.amp.GradScaler(), paddle.amp.AmpScaler)
    assert paddle.amp.AmpScaler().get_init_loss_scaling() == 32768.0
    d = paddle.distribution
    for kind in (d.LogNormal, d.Gumbel):
        assert issubclass(kind, d.TransformedDistribution) and not issubclass(kind, d.Normal)
    with pytest.raises(NotImplementedError, match="kl_divergence of LogNormal from Normal"):
        d.kl_divergence(d.LogNormal(0.0, 1.0), d.Normal(0.0, 1.0))
    assert not hasattr(d.LogNormal(0.0, 1.0), "cdf")


def test_distributions_tell_their_dtype():
    d = paddle.distribution
    wide = paddle.ones([2], "float64")
    assert d.Normal(0.0, 1.0).dtype == d.Categorical(paddle.ones([3])).dtype == paddle.float32
    assert d.Uniform(wide * 0, wide).dtype == d.Exponential(wide).dtype == "float64"

    class Own(d.Distribution):
        def __init__(self):
            self.dtype, self.loc = "float16", wide
            super().__init__()

    assert Own().dtype == "float16"


def test_a_recurrent_layer_lists_its_weights_before_its_biases():
    net = nn.GRU(2, 3, num_layers=2, direction="bidirect")
    assert [w.ndim for w in net._all_weights] == [2] * 8 + [1] * 8
    assert net._all_weights[2] is net.weight_ih_l0_reverse and net._all_weights[-1] is net.bias_hh_l1_reverse
    assert len(nn.LSTM(2, 3, bias_ih_attr=False)._all_weights) == 3


def test_optimizers_tell_what_is_added_to_gradients():
    w = [paddle.create_parameter([1], "float32")]
    o = paddle.optimizer
    assert o.AdamW(parameters=w).regularization is o.Lamb(parameters=w).regularization is None
    assert o.SGD(0.1, w).regularization is None
    decay = paddle.regularizer.L1Decay(0.5)
    assert o.SGD(0.1, w, weight_decay=decay).regularization is decay
    found = o.Adam(0.1, parameters=w, weight_decay=0.5).regularization
    assert isinstance(found, paddle.regularizer.L2Decay) and found.coeff == 0.5


def test_a_cyclic_schedule_shows_its_settings():
    rate = paddle.optimizer.lr.CyclicLR(0.5, 1.0, 10, 5, mode="triangular2")
    assert (rate.amplitude, rate.cycle_size, rate.step_up_pct, rate.gamma) == (0.5, 15.0, 10 / 15.0, 1.0)
    assert (rate.scale_mode, rate.scale_fn(2)) == ("cycle", 0.5)
    rate.amplitude = 1.0
    rate.step(10)
    assert rate() == pytest.approx(1.5)
