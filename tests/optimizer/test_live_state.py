"""A state_dict is the state itself: loaders that set its tensors in place change the optimizer."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import distributed

OPTIMIZERS = ("Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Lamb", "Momentum", "Adagrad", "RMSProp")


def make(name: str):
    paddle.seed(0)
    net = paddle.nn.Linear(2, 1)
    net.weight.name, net.bias.name = "w", "b"
    return net, getattr(paddle.optimizer, name)(0.1, parameters=net.parameters())


def train(net, opt, steps: int) -> np.ndarray:
    for _ in range(steps):
        net(paddle.ones([4, 2])).square().mean().backward()
        opt.step()
        opt.clear_grad()
    return net.weight.numpy()


def states(net, opt) -> dict[str, paddle.Tensor]:
    return {f"net.{k}": v for k, v in net.state_dict().items()} | {f"opt.{k}": v for k, v in opt.state_dict().items()}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_on_from_what_was_set_in_place(name):
    first, second = make(name), make(name)
    train(*first, 3)
    before = {k: v.numpy() for k, v in states(*first).items()}
    expected = train(*first, 2)
    train(*second, 1)
    for key, tensor in states(*second).items():
        tensor.set_value(before[key])
    np.testing.assert_array_equal(train(*second, 2), expected)


def test_training_goes_on_from_a_distributed_checkpoint(tmp_path):
    first, second = make("AdamW"), make("AdamW")
    train(*first, 3)
    distributed.save_state_dict(states(*first), str(tmp_path))
    expected = train(*first, 2)
    train(*second, 1)
    distributed.load_state_dict(states(*second), str(tmp_path))
    np.testing.assert_array_equal(train(*second, 2), expected)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))])
def test_a_copy_of_a_number_is_on_its_own(copied):
    net, opt = make("Adam")
    train(net, opt, 1)
    number = copied(opt.state_dict()["w_beta1_pow_acc_0"])
    number.set_value(np.float32([0.5]))
    assert type(number) is paddle.Tensor and opt.state_dict()["w_beta1_pow_acc_0"].item() != 0.5
