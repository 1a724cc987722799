"""Adam on tables of nn.Embedding(sparse=True), with figures of PaddlePaddle 3.3.1."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn, static
from paddle_lite_py.optimizer import Adam

IDS = [[0, 1, 1], [1, 2, 3], [3, 0, 4], [1, 1, 1]]
GRADIENTS = [
    [[1.0, 2.0], [3.0, -1.0], [0.5, 1e-3]],
    [[0.3, -2.0], [1.0, 1.0], [-0.5, 2.0]],
    [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]],
    [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]],
]
# What is given to Adam, whether the table is sparse, and its rows 0 to 4 after four steps; row 5 is never met.
DENSE = [[0.070933, 0.071779], [0.069683, 0.123796], [0.082095, 0.082095], [0.115422, 0.08099], [0.088379, 0.088379]]
CASES = [
    ({}, False, DENSE),
    ({"lazy_mode": True}, False, DENSE),
    ({}, True, [[0.075395, 0.076176], [0.074237, 0.119401], [0.083956, 0.083956], [0.113752, 0.082937],
                [0.089277, 0.089277]]),
    ({"lazy_mode": True}, True, [[0.085876, 0.086287], [0.079136, 0.112837], [0.093612, 0.093612],
                                 [0.110379, 0.087827], [0.094189, 0.094189]]),
    ({"amsgrad": True}, True, [[0.075401, 0.076182], [0.07424, 0.119398], [0.083963, 0.083963], [0.11375, 0.082939],
                               [0.089279, 0.089279]]),
    ({"grad_clip": nn.ClipGradByGlobalNorm(1.0)}, True, [[0.073004, 0.073229], [0.073911, 0.121816],
                                                         [0.083956, 0.083956], [0.108706, 0.081136],
                                                         [0.089277, 0.089277]]),
    ({"grad_clip": nn.ClipGradByGlobalNorm(1.0), "lazy_mode": True}, True, [
        [0.084758, 0.084805], [0.078811, 0.115681], [0.093612, 0.093612], [0.107644, 0.086851], [0.094189, 0.094189]]),
]  # fmt: skip


def table(sparse):
    return nn.Embedding(6, 2, sparse=sparse, weight_attr=paddle.ParamAttr(initializer=nn.initializer.Constant(0.1)))


def eager(given, sparse):
    layer = table(sparse)
    optimizer = Adam(0.01, parameters=layer.parameters(), **given)
    for ids, gradient in zip(IDS, GRADIENTS, strict=True):
        optimizer.clear_grad()
        (layer(paddle.to_tensor(ids)) * paddle.to_tensor(gradient)).sum().backward()
        optimizer.step()
    return layer.weight.numpy(), optimizer


@pytest.mark.parametrize(("given", "sparse", "wanted"), CASES)
def test_rows_are_updated_as_in_the_reference(given, sparse, wanted):
    found, optimizer = eager(given, sparse)
    np.testing.assert_allclose(found, [*wanted, [0.1, 0.1]], atol=1.1e-6)
    powers = [float(v) for k, v in optimizer.state_dict().items() if "beta1_pow_acc" in k]
    np.testing.assert_allclose(powers, [0.9**5], rtol=1e-5)  # that of the step to come, sparse or not


@pytest.mark.parametrize("given", [{}, {"lazy_mode": True}], ids=["", "lazy"])
def test_programs_update_all_rows_as_in_the_reference(static_mode, given):
    ids, gradient = static.data("ids", [3], "int64"), static.data("gradient", [3, 2])
    layer = table(True)
    Adam(0.01, **given).minimize((layer(ids) * gradient).sum())
    exe = static.Executor()
    exe.run(static.default_startup_program())
    for i, g in zip(IDS, GRADIENTS, strict=True):
        exe.run(feed={"ids": np.array(i), "gradient": np.array(g, "float32")})
    found = np.array(static.global_scope().find_var(layer.weight.name).get_tensor())
    np.testing.assert_allclose(found, [*DENSE, [0.1, 0.1]], atol=1.1e-6)


def test_a_compiled_step_is_the_eager_one():
    wanted, _ = eager({"lazy_mode": True}, True)
    layer = table(True)
    optimizer = Adam(0.01, parameters=layer.parameters(), lazy_mode=True)

    @paddle.jit.to_static
    def step(ids, gradient):
        (layer(ids) * gradient).sum().backward()
        optimizer.step()
        optimizer.clear_grad()

    for ids, gradient in zip(IDS, GRADIENTS, strict=True):
        step(paddle.to_tensor(ids), paddle.to_tensor(gradient))
    np.testing.assert_allclose(layer.weight.numpy(), wanted, atol=1e-6)


def test_only_adam_takes_gradients_of_rows():
    dense, sparse = [eager_of(kind) for kind in (False, True)]
    np.testing.assert_array_equal(dense, sparse)


def eager_of(sparse):
    layer = table(sparse)
    optimizer = paddle.optimizer.AdamW(0.01, parameters=layer.parameters())
    layer(paddle.to_tensor([0, 1])).sum().backward()
    optimizer.step()
    return layer.weight.numpy()
