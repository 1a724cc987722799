"""What optimizers on the servers do: as the optimizers of the framework do, and the same compiled and by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.distributed.ps import updates
from paddle_lite_py.distributed.ps.config import DenseConfig, Rule
from paddle_lite_py.distributed.ps.dense import DenseTable

RULES = [
    Rule("sgd", 0.1),
    Rule("adagrad", 0.1),
    Rule("adagrad", 0.05, {"epsilon": 1e-3, "initial": 0.5}),
    Rule("adam", 0.1),
    Rule("adam", 0.01, {"beta1": 0.5, "beta2": 0.9, "epsilon": 1e-3}),
    Rule("ftrl", 0.1, {"l1": 0.02, "l2": 0.1}),
    Rule("ftrl", 0.5),
]
IDS = [f"{rule.name}{i}" for i, rule in enumerate(RULES)]


def optimizer(rule: Rule, parameter):
    """The framework's own of the same name."""
    numbers, common = dict(rule.numbers), {"learning_rate": rule.rate, "parameters": [parameter]}
    if rule.name == "sgd":
        return paddle.optimizer.SGD(**common)
    if rule.name == "adam":
        return paddle.optimizer.Adam(**common, **numbers)
    return paddle.optimizer.Adagrad(**common, epsilon=numbers["epsilon"], initial_accumulator_value=numbers["initial"])


@pytest.mark.parametrize("rule", [r for r in RULES if r.name != "ftrl"], ids=[i for i in IDS if "ftrl" not in i])
def test_as_the_frameworks_optimizers(rule):
    rng = np.random.default_rng(0)
    start = rng.normal(size=(3, 4)).astype("float32")
    table, parameter = DenseTable(DenseConfig("d", (3, 4), rule)), paddle.to_tensor(start, stop_gradient=False)
    table.set(start)
    own = optimizer(rule, parameter)
    for _ in range(5):
        gradient = rng.normal(size=(3, 4)).astype("float32")
        table.push(gradient)
        (parameter * paddle.to_tensor(gradient)).sum().backward()
        own.step()
        own.clear_grad()
    np.testing.assert_allclose(table.value, parameter.numpy(), rtol=2e-5, atol=1e-6)


def test_ftrl_without_penalties_is_adagrad():
    rng = np.random.default_rng(0)
    rules = Rule("ftrl", 0.1), Rule("adagrad", 0.1, {"epsilon": 0})
    tables = [DenseTable(DenseConfig("d", (6,), rule)) for rule in rules]
    for _ in range(10):
        gradient = rng.normal(size=6).astype("float32")
        for table in tables:
            table.push(gradient)
    np.testing.assert_allclose(tables[0].value, tables[1].value, rtol=1e-4)


def test_ftrl_keeps_weights_of_small_gradients_at_zero():
    table = DenseTable(DenseConfig("d", (2,), Rule("ftrl", 0.1, {"l1": 1.0})))
    for _ in range(3):
        table.push(np.array([0.3, -0.5], "float32"))
    assert table.value[0] == 0
    assert table.value[1] > 0


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_compiled_and_plain_give_the_same_bits(rule):
    rng = np.random.default_rng(1)
    columns = 5
    width = columns + updates.state_columns(rule, columns)
    compiled = np.zeros((20, width + 2), np.float32)  # a table may keep more behind
    compiled[:, :columns] = rng.normal(size=(20, columns))
    compiled[:, columns:width] = updates.first_state(rule, columns)
    plain = compiled.copy()
    for _ in range(6):
        rows = rng.permutation(20)[:12].astype(np.int32)
        rows[3] = -1
        gradients = rng.normal(size=(12, columns)).astype(np.float32)
        numbers = updates.numbers_of(rule)
        updates.update_of(rule)(compiled, rows, gradients, numbers)
        updates.plain_update_of(rule)(plain, rows, gradients, numbers)
    assert compiled.tobytes() == plain.tobytes()
    assert np.isfinite(compiled).all()


def test_a_push_brings_a_rate_of_its_own():
    table = DenseTable(DenseConfig("d", (1,), Rule("sgd", 0.1)))
    table.push(np.ones(1, "float32"), rate=2.0)
    table.push(np.ones(1, "float32"))
    assert table.value[0] == pytest.approx(-2.1)
