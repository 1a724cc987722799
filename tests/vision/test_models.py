"""Models for pictures against those of PaddlePaddle with the same weights; see model_cases.py."""

from __future__ import annotations

import doctest
import json
from pathlib import Path

import numpy as np
import pytest

import model_cases
import paddle_lite_py as paddle
from paddle_lite_py.vision import models

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "models.json").read_text())
M = paddle.vision.models


@pytest.mark.parametrize(("name", "size"), model_cases.RUN)
def test_the_same_scores(name: str, size: int):
    for got, want in zip(model_cases.outputs(paddle, name, size), GOLDEN[name], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6 * want[-1])


@pytest.mark.parametrize("name", model_cases.NAMES)
def test_the_same_parameters(name: str):
    assert model_cases.names(paddle, name) == GOLDEN[f"names of {name}"]


SMALL = "shufflenet_v2_x0_25 squeezenet1_1 mobilenet_v3_small resnet18 googlenet".split()


@pytest.mark.parametrize("name", SMALL)  # the others have the same example
def test_the_example_of_a_builder(name: str):
    example = doctest.DocTestParser().get_doctest(getattr(M, name).__doc__, {}, name, None, None)
    assert len(example.examples) == 3
    assert doctest.DocTestRunner().run(example).failed == 0


def test_features_alone():
    x = paddle.zeros([1, 3, 64, 64])
    assert M.SqueezeNet("1.1", num_classes=0, with_pool=False)(x).shape == [1, 512, 3, 3]
    assert M.ShuffleNetV2(0.25, num_classes=0)(x).shape == [1, 512, 1, 1]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: M.DenseNet(122), "layers is 122"),
        (lambda: M.SqueezeNet("2"), "version is '2'"),
        (lambda: M.ShuffleNetV2(0.7), "scale is 0.7"),
    ],
)
def test_settings_that_are_not_known(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    "make",
    [
        # Of the layers of mobilenet_v2.
        pytest.param(lambda: models.mobilenet_v1(scale=0.125, num_classes=3), marks=pytest.mark.repeat),
        lambda: models.mobilenet_v2(scale=0.125, num_classes=3),
        lambda: models.mobilenet_v3_small(scale=0.25, num_classes=3),
        lambda: models.ResNet(models.resnet.BasicBlock, 18, num_classes=3),
    ],
)
def test_models_compute_and_train(make):
    net = paddle.jit.to_static(make())
    out = net(paddle.rand([2, 3, 32, 32]))
    assert out.shape == [2, 3]
    out.sum().backward()
    assert all(p.grad is not None for p in net.parameters() if not p.stop_gradient)


def test_published_weights_are_refused_with_the_way_out():
    with pytest.raises(NotImplementedError, match="set_state_dict"):
        models.resnet18(pretrained=True)
