"""Decorators, blocks and variables of the environment that published programs take from inner modules."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.migrate import environments as env


def test_a_decorated_function_keeps_its_signature():
    @paddle.base.wrapped_decorator.signature_safe_contextmanager
    def block(x, *, y=2):
        yield x + y

    assert str(inspect.signature(block)) == "(x, *, y=2)"
    with block(1, y=3) as made:
        assert made == 4


@pytest.mark.parametrize("tracer, eager", [(None, False), (object(), True)])
def test_a_tracer_means_eager_mode(tracer, eager):
    for before in (paddle.disable_static, paddle.enable_static):
        before()
        outside = paddle.in_dynamic_mode()
        with getattr(paddle.base.framework, "_dygraph_guard")(tracer):  # noqa: B009
            assert paddle.in_dynamic_mode() is eager
        assert paddle.in_dynamic_mode() is outside


def test_code_with_a_branch_on_a_tensor_is_translated():
    def choose(x):
        return x + 1 if x.sum() > 0 else x - 1

    executor_cache = paddle.jit.sot.opcode_translator.executor.executor_cache
    executor_cache.OpcodeExecutorCache().clear()
    with paddle.jit.sot.utils.min_graph_size_guard(3), paddle.jit.api.sot_mode_guard(True):
        translated = paddle.jit.sot.symbolic_translate(choose, training=True)
    for x in (paddle.ones([2]), -paddle.ones([2])):
        assert translated(x).tolist() == choose(x).tolist()


VARIABLES = [
    (env.BooleanEnvironmentVariable, False, True, "true"),
    (env.IntegerEnvironmentVariable, 3, 7, "7"),
    (env.StringEnvironmentVariable, "a", "b", "b"),
    (env.StringListEnvironmentVariable, ["a"], ["b", "c"], "b,c"),
]


@pytest.mark.parametrize("kind, default, value, text", VARIABLES)
def test_a_variable_has_its_type_and_its_default(kind, default, value, text, monkeypatch):
    monkeypatch.delenv("PLP_X", raising=False)
    variable = kind("PLP_X", default)
    with env.EnvironmentVariableGuard(variable, value):
        assert variable.get() == value and env.os.environ["PLP_X"] == text
    assert variable.get() == default and "PLP_X" not in env.os.environ
    with pytest.raises(TypeError, match="the default of PLP_X is None"):
        kind("PLP_X", None)


def test_texts_that_are_no_value(monkeypatch):
    monkeypatch.setenv("PLP_X", "maybe")
    assert env.IntegerEnvironmentVariable("PLP_X", 5).get() == 5
    with pytest.raises(ValueError, match="PLP_X is 'maybe'; set it to true or false"):
        env.BooleanEnvironmentVariable("PLP_X", True).get()
    with pytest.raises(ValueError, match=r"write PLP_X.get\(\)"):
        bool(env.BooleanEnvironmentVariable("PLP_X", True))


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_rows_that_are_used_get_a_largest_norm(p):
    table = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")
    weight = paddle.to_tensor(table)
    found = paddle.nn.functional.input.embedding_renorm_(paddle.to_tensor([[3, 1], [1, 1]]), weight, 0.5, p)
    norms = np.linalg.norm(table, p, 1, keepdims=True)
    scaled = table * np.where((norms > 0.5) & np.isin(np.arange(4), [1, 3])[:, None], 0.5 / norms, 1)
    assert found is weight
    np.testing.assert_allclose(weight.numpy(), scaled, rtol=1e-5)


class Twice(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = paddle.nn.Linear(2, 2)
        self.seen = []

    def forward(self, x, more=False):
        return self.part(x) * 2 if more else self.part(x)

    def part(self, x):
        return self.linear(x)


@pytest.mark.parametrize("of", ["layer", "method", "decorated", "called decorator"])
def test_inference_gives_what_the_layer_gives_without_gradients(of):
    inference, is_inference_mode = paddle.incubate.jit.inference, paddle.incubate.jit.is_inference_mode
    layer, xs = Twice(), [paddle.ones([n, 2]) for n in (3, 4, 3)]
    want = [(layer(x).tolist(), layer(x, more=True).tolist()) for x in xs]
    assert not is_inference_mode(layer) and not layer(xs[0]).stop_gradient
    if of == "method":
        layer.part = inference(inference(layer.part))
        assert is_inference_mode(layer.part) and not is_inference_mode(layer)
    else:
        made = inference(cache_static_model=True)(layer) if of == "called decorator" else inference(layer)
        assert made is layer and inference(layer) is layer and is_inference_mode(layer)
    for x, (one, two) in zip(xs, want, strict=True):
        np.testing.assert_allclose(layer(x), one, rtol=1e-6)
        np.testing.assert_allclose(layer(x, more=True), two, rtol=1e-6)
        assert layer(x).stop_gradient
    if of == "decorated":
        double = inference(lambda x: x * 2)
        assert double(xs[0]).tolist() == [[2.0, 2.0]] * 3 and is_inference_mode(double)
