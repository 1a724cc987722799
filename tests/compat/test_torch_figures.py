"""Layers, functions and distributions of paddle.compat against numbers of PyTorch 2.13 (golden/torch_figures)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import compat
from paddle_lite_py.compat.optim.lr_scheduler.rates import rates

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))

import torch_figures as figures

RECORDED = json.loads(figures.FILE.read_text())


def same(found: Any, recorded: Any) -> bool:
    if isinstance(recorded, list):
        return len(found) == len(recorded) and all(same(a, b) for a, b in zip(found, recorded, strict=True))
    return found == recorded or (not isinstance(recorded, str) and bool(np.isclose(found, recorded, 2e-4, 4e-4)))


@pytest.mark.parametrize("layer", figures.LAYERS)
def test_a_layer_gives_the_numbers_of_pytorch(layer):
    found = figures.of_layer(layer, figures.LAYERS[layer], compat.nn, paddle.to_tensor)
    assert {k: v for k, v in found.items() if not same(v, RECORDED[layer][k])} == {}, RECORDED[layer]


@pytest.mark.parametrize("text", figures.FUNCTIONS)
def test_a_function_gives_the_numbers_of_pytorch(text):
    modules = compat, compat.nn, compat.nn.functional, compat.distributions, compat.nn, paddle.to_tensor
    found = figures.of_function(text, *modules)
    assert same(found, RECORDED[text]), (found, RECORDED[text])


@pytest.mark.parametrize("text", figures.SCHEDULES)
def test_a_schedule_gives_the_rates_of_pytorch(text):
    a, b = paddle.nn.Linear(1, 1), paddle.nn.Linear(1, 1)
    groups = compat.optim.groups([{"params": a.parameters()}, {"params": b.parameters(), "lr": 0.05}], 0.1)
    opt = paddle.optimizer.SGD(0.1, parameters=groups)
    found = figures.of_schedule(text, compat.optim.lr_scheduler, opt, rates)
    np.testing.assert_allclose(found, RECORDED[text], rtol=1e-6, atol=1e-9)
