"""Losses over many classes and of transducers: both modes, layers, errors; the figures are in kernel_cases.py."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.nn import functional as F

X = paddle.to_tensor(np.random.RandomState(0).randn(4, 8).astype("float32"))
LABEL = paddle.to_tensor([0, 5, 3, 2])


def test_clusters_are_one_distribution():
    layer = paddle.nn.AdaptiveLogSoftmaxWithLoss(8, 6, [2, 4], div_value=2.0)
    out, loss = layer(X, LABEL)
    every = layer.log_prob(X).numpy()
    np.testing.assert_allclose(out.numpy(), every[np.arange(4), LABEL.numpy()], rtol=1e-5)
    np.testing.assert_allclose(loss.item(), -out.numpy().mean(), rtol=1e-5)
    assert layer.predict(X).tolist() == every.argmax(1).tolist()
    assert len(layer.state_dict()) == 5
    alone, _ = layer(X[1], LABEL[1])
    np.testing.assert_allclose(alone.item(), out[1].item(), rtol=1e-5)


@pytest.mark.parametrize(
    "make",
    [lambda: paddle.nn.AdaptiveLogSoftmaxWithLoss(8, 6, [2], head_bias=True), lambda: paddle.nn.HSigmoidLoss(8, 6)],
)
def test_a_static_step_trains_as_an_eager_one(make):
    paddle.seed(3)
    layer = make()
    opt = paddle.optimizer.SGD(0.5, parameters=layer.parameters())
    first = {k: v.clone() for k, v in layer.state_dict().items()}

    def step():
        out = layer(X, LABEL)
        loss = out[1] if isinstance(out, tuple) else out.mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    eager = [step().item() for _ in range(3)]
    layer.set_state_dict(first)
    static = paddle.jit.to_static(step)
    np.testing.assert_allclose([static().item() for _ in range(3)], eager, rtol=1e-5)
    assert eager[2] < eager[0]


def test_a_transducer_sums_over_alignments():
    x = F.log_softmax(paddle.to_tensor(np.random.RandomState(1).randn(1, 2, 2, 3).astype("float32")))
    label, times, lengths = paddle.to_tensor([[2]]), paddle.to_tensor([2]), paddle.to_tensor([1])
    p = np.exp(x.numpy()[0])
    by_hand = p[0, 0, 2] * p[0, 1, 0] * p[1, 1, 0] + p[0, 0, 0] * p[1, 0, 2] * p[1, 1, 0]
    np.testing.assert_allclose(F.rnnt_loss(x, label, times, lengths).item(), -np.log(by_hand), rtol=1e-5)
    static = paddle.jit.to_static(F.rnnt_loss)
    np.testing.assert_allclose(static(x, label, times, lengths).item(), -np.log(by_hand), rtol=1e-5)


def test_sampled_centers_hold_the_labels():
    place, sampled = F.class_center_sample(paddle.to_tensor([7, 2, 7]), 10, 5)
    assert [sampled.tolist()[i] for i in place.tolist()] == [7, 2, 7]
    assert len(set(sampled.tolist())) == 5 and max(sampled.tolist()) < 10


def test_errors():
    with pytest.raises(ValueError, match=r"label holds 6 at \[1\]; expected 0 to 5"):
        F.hsigmoid_loss(X[:2], paddle.to_tensor([1, 6]), 6, paddle.zeros([5, 8]))
    with pytest.raises(ValueError, match="both of path_table and path_code"):
        F.hsigmoid_loss(X, LABEL, 6, paddle.zeros([5, 8]), path_table=LABEL)
    with pytest.raises(ValueError, match="path_table and path_code must be given"):
        paddle.nn.HSigmoidLoss(8, 6, is_custom=True)(X, LABEL)
    with pytest.raises(ValueError, match="num_classes is 1; expected at least 2"):
        paddle.nn.HSigmoidLoss(8, 1)
    with pytest.raises(ValueError, match="expected growing integers from 1 to 5"):
        paddle.nn.AdaptiveLogSoftmaxWithLoss(8, 6, [4, 2])
    with pytest.raises(ValueError, match=r"expected \[n, features\] and \[n\]"):
        F.adaptive_log_softmax_with_loss(X, LABEL.unsqueeze(1), X, [], [6])
    with pytest.raises(ValueError, match=r"expected \[batch, time, longest \+ 1, classes\]"):
        F.rnnt_loss(paddle.zeros([1, 2, 2, 3]), paddle.zeros([1, 2]), LABEL, LABEL)
    with pytest.raises(ValueError, match="num_samples is 5, and there are 4 classes"):
        F.class_center_sample(LABEL, 4, 5)
