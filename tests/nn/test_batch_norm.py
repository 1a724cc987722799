"""Batch normalization: the cases that the table of ops does not have."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize(
    ("kind", "shape", "data_format"),
    [("1D", [1, 3], "NC"), ("1D", [1, 3, 1], "NCL"), ("2D", [1, 3, 1, 1], "NCHW"), ("2D", [1, 1, 1, 3], "NHWC")],
)
def test_a_channel_of_one_element_stays_as_it_is(kind, shape, data_format, static):
    layer = getattr(paddle.nn, f"BatchNorm{kind}")(3, data_format=data_format)
    layer.bias.set_value(paddle.ones([3]))
    before = {name: value.numpy() for name, value in layer.state_dict().items()}
    x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)

    def run():
        y = layer(x.reshape(shape))
        (y.flatten() * x.detach()).sum().backward()
        return y

    assert (paddle.jit.to_static(run) if static else run)().flatten().tolist() == [1, 2, 3]
    assert x.grad.tolist() == [1, 2, 3]
    assert layer.weight.grad.tolist() == layer.bias.grad.tolist() == [0, 0, 0]
    for name, value in layer.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[name])


# What PaddlePaddle 3.3.1 gives for [-2, 0.5, 7, -0.3]; its leaky_relu raises, and 0.02 is the slope of the operator.
ACTIVATIONS = {
    "hard_sigmoid": [0.1, 0.6, 1.0, 0.44],
    "hard_swish": [-0.333335, 0.291665, 7.0, -0.134999],
    "hardswish": [-0.333335, 0.291665, 7.0, -0.134999],
    "hard_shrink": [-2.0, 0.0, 7.0, 0.0],
    "tanh_shrink": [-1.035963, 0.037882, 5.999967, -0.008687],
    "logsigmoid": [-2.126919, -0.474078, -0.000912, -0.854354],
    "brelu": [0.0, 0.5, 7.0, 0.0],
    "stanh": [-1.4957, 0.554244, 1.715610, -0.340323],
    "swish": [-0.238407, 0.311228, 6.993587, -0.127667],
    "leaky_relu": [-0.04, 0.5, 7.0, -0.006],
    "sin": [-0.909302, 0.479423, 0.656960, -0.295519],
    "square": [4.0, 0.25, 49.0, 0.09],
    "abs": [2.0, 0.5, 7.0, 0.3],
}


@pytest.mark.parametrize("act", ACTIVATIONS)
def test_activations_go_by_the_names_of_operators(act):
    x = paddle.to_tensor([-2.0, 0.5, 7.0, -0.3]).reshape([2, 2, 1, 1])
    layer = paddle.nn.BatchNorm(2, act=act, use_global_stats=True)
    for run in (layer, paddle.jit.to_static(layer.forward)):
        np.testing.assert_allclose(run(x).flatten().numpy(), ACTIVATIONS[act], rtol=1e-4, atol=1e-5)


def test_an_activation_that_is_not_known_is_named():
    with pytest.raises(ValueError, match="act is 'rellu'; expected"):
        paddle.nn.BatchNorm(2, act="rellu")(paddle.ones([1, 2]))


@pytest.mark.parametrize("kind", ["BatchNorm", "BatchNorm1D", "SyncBatchNorm"])
@pytest.mark.parametrize("static", [False, True])
def test_statistics_that_a_loop_unfreezes_are_not_trained(kind, static):
    # As loops of GANs do, for a discriminator that is frozen by turns.
    paddle.seed(0)
    layer = getattr(paddle.nn, kind)(3)
    optimizer = paddle.optimizer.Momentum(0.1, parameters=layer.parameters(), weight_decay=0.5)
    x = paddle.randn([4, 3]) * 2 + 1
    run = paddle.jit.to_static(layer.forward) if static else layer
    expected = np.zeros(3)
    for step in range(4):
        for parameter in layer.parameters():
            parameter.stop_gradient = step == 2
        out = run(x).square().sum()
        if step != 2:
            out.backward()
            optimizer.step()
        assert layer._mean.grad is None and layer._variance.grad is None
        optimizer.clear_grad()
        expected = 0.9 * expected + 0.1 * x.numpy().mean(0)
        np.testing.assert_allclose(layer._mean.numpy(), expected, rtol=1e-4)
    layer.eval()
    run(x).square().sum().backward()
    assert layer.weight.grad is not None
    assert layer._mean.grad is None and layer._variance.grad is None
