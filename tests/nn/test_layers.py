"""Layers against what PaddlePaddle computes with the same weights, and in training as in static functions."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import layer_cases
import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.nn.function_layer import FunctionLayer

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "layers.json").read_text())
CASES = [(f"{i} {expression}", expression, inputs) for i, (expression, inputs) in enumerate(layer_cases.CASES)]


@pytest.mark.parametrize(("key", "expression", "inputs"), CASES, ids=[key for key, *_ in CASES])
def test_outputs_and_gradients_are_those_of_paddle(key, expression, inputs):
    found = layer_cases.run(paddle, expression, inputs)
    expected = GOLDEN[key]
    assert sorted(found) == sorted(expected)
    for name, (shape, first, total) in expected.items():
        got_shape, got_first, got_total = layer_cases.summary(found[name])
        assert got_shape == shape, name
        np.testing.assert_allclose(got_first, first, rtol=2e-4, atol=2e-5, err_msg=name)
        scale = max(1.0, float(np.abs(found[name]).sum()))
        assert abs(got_total - total) <= 2e-5 * scale, f"{name}: weighted sum {got_total}, expected {total}"


STATIC = [
    ("Linear(3, 2)", [4, 3]),
    ("Conv2D(1, 2, 3)", [2, 1, 5, 5]),
    ("BatchNorm2D(2)", [3, 2, 2, 2]),
    ("LSTM(3, 4)", [2, 5, 3]),
    ("TransformerEncoderLayer(8, 2, 16, 0.0)", [1, 3, 8]),
]


@pytest.mark.parametrize(("expression", "shape"), STATIC, ids=[e for e, _ in STATIC])
def test_a_static_layer_equals_an_eager_one(expression, shape):
    x = paddle.to_tensor(layer_cases.f(*shape))
    results = []
    for wrap in (lambda layer: layer, paddle.jit.to_static):
        layer = wrap(layer_cases.make(paddle, expression))
        out = layer_cases.flat(layer(x))[0]
        out.square().sum().backward()
        results.append([out, *[p.grad for p in layer.parameters() if p.grad is not None], *layer.state_dict().values()])
    for eager, static in zip(*results, strict=True):
        np.testing.assert_allclose(eager.numpy(), static.numpy(), rtol=1e-5, atol=1e-6)


def test_running_statistics_move_in_a_static_function():
    layer = nn.BatchNorm1D(2)
    f = paddle.jit.to_static(lambda x: layer(x))
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 6.0]])
    for _ in range(2):
        f(x)
    np.testing.assert_allclose(layer._mean.numpy(), np.array([2.0, 4.0]) * (1 - 0.9**2), rtol=1e-6)
    layer.eval()
    before = layer._mean.numpy()
    f(x)
    np.testing.assert_array_equal(layer._mean.numpy(), before)


def test_dropout_drops_while_training_only():
    paddle.seed(1)
    layer, x = nn.Dropout(0.5), paddle.ones([1000])
    dropped = layer(x).numpy()
    assert set(np.unique(dropped)) == {0.0, 2.0} and 350 < (dropped == 0).sum() < 650
    assert (layer.eval()(x).numpy() == 1).all()


def test_attention_with_a_cache_goes_on_where_it_was():
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0)
    x = paddle.to_tensor(layer_cases.f(1, 3, 8))
    mask = paddle.to_tensor(np.tril(np.ones((3, 3), bool)))
    whole = layer(x, mask)
    cache = layer.gen_cache(x)
    for i in range(3):
        out, cache = layer(x[:, i : i + 1], None, cache)
        np.testing.assert_allclose(out.numpy(), whole[:, i : i + 1].numpy(), rtol=1e-4, atol=1e-5)


def test_decoder_caches_hold_keys_and_the_memory():
    layer = nn.TransformerDecoderLayer(8, 2, 16, 0.0)
    memory, x = paddle.to_tensor(layer_cases.f(1, 4, 8)), paddle.to_tensor(layer_cases.f(1, 1, 8))
    out, (own, crossed) = layer(x, memory, cache=layer.gen_cache(memory))
    assert own.k.shape == [1, 2, 1, 4] and crossed.k.shape == [1, 2, 4, 4]
    np.testing.assert_allclose(out.numpy(), layer(x, memory).numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: nn.Conv2D(3, 4, 3, groups=2), "groups"),
        (lambda: nn.Conv2D(3, 4, [3, 3, 3]), "kernel_size"),
        (lambda: nn.Conv2D(3, 4, 3, padding_mode="mirror"), "padding_mode"),
        (lambda: nn.Embedding(3, 2, padding_idx=5), "padding_idx"),
        (lambda: nn.GroupNorm(2, 3), "groups"),
        (lambda: nn.BatchNorm2D(2)(paddle.ones([2, 2])), "dimensions"),
        (lambda: nn.LSTM(3, 4)(paddle.ones([2, 5, 2])), r"\.\., 3\]"),
        (lambda: nn.LSTM(3, 4, direction="backward"), "direction"),
        (lambda: nn.MultiHeadAttention(7, 2), "heads"),
        (lambda: nn.CrossEntropyLoss(reduction="max"), "reduction"),
        (lambda: nn.TransformerEncoderLayer(4, 2, 8, activation="nope"), "activation"),
        (lambda: nn.ParameterList()[0], "out of range"),
    ],
)
def test_wrong_arguments_are_named(make, part):
    with pytest.raises((ValueError, IndexError), match=part):
        make()


PARTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def test_recurrent_layers_name_each_parameter_twice_as_files_of_paddle_do(recwarn):
    net = nn.LSTM(2, 3, 2, direction="bidirect")
    names = [f"{part}_l{i}{end}" for i in (0, 1) for end in ("", "_reverse") for part in PARTS]
    cells = [f"{i}.{cell}.{part}" for i in (0, 1) for cell in ("cell_fw", "cell_bw") for part in PARTS]
    state = net.state_dict()
    assert list(state) == names + cells and all(state[a] is state[b] for a, b in zip(names, cells, strict=True))
    assert [name for name, _ in net.named_parameters()] == names and len(net) == 2
    assert net.weight_hh_l1.name.startswith("lstm_cell_") and net.weight_hh_l1.name.endswith("w_1")
    for kept in (names, cells):  # either name will do
        other = nn.LSTM(2, 3, 2, direction="bidirect")
        assert other.set_state_dict({k: state[k] for k in kept}) == ([], [])
        np.testing.assert_array_equal(other(paddle.ones([1, 4, 2]))[0].numpy(), net(paddle.ones([1, 4, 2]))[0].numpy())
    assert not recwarn.list


def test_recurrent_layers_keep_biases_that_are_not_wanted_at_zero():
    net = nn.GRU(2, 3, bias_ih_attr=False)
    assert list(net.state_dict()) == ["weight_ih_l0", "weight_hh_l0", "bias_hh_l0", *(f"0.cell.{p}" for p in PARTS)]
    bias = net[0].cell.bias_ih
    assert bias.stop_gradient and bias.tolist() == [0.0] * 9
    net(paddle.ones([1, 4, 2]))[0].sum().backward()
    assert bias.grad is None and net.bias_hh_l0.grad is not None


def test_attention_uses_what_a_model_overrides():
    class Doubled(nn.MultiHeadAttention):
        def _prepare_qkv(self, query, key, value, cache=None):
            q, *rest = super()._prepare_qkv(query, key, value, cache)
            return q * 2, *rest

    class Shifted(nn.MultiHeadAttention):
        def compute_kv(self, key, value):
            k, v = super().compute_kv(key, value)
            return k, v + 1

    x, plain = paddle.randn([2, 3, 8]), nn.MultiHeadAttention(8, 2)
    doubled, shifted = Doubled(8, 2), Shifted(8, 2)
    for other in (doubled, shifted):
        other.set_state_dict(plain.state_dict())
    shift = paddle.ones([8]) @ plain.out_proj.weight
    np.testing.assert_allclose(shifted(x).numpy(), (plain(x) + shift).numpy(), atol=1e-5)
    plain.q_proj.weight.set_value(plain.q_proj.weight * 2)
    plain.q_proj.bias.set_value(plain.q_proj.bias * 2)
    np.testing.assert_allclose(doubled(x).numpy(), plain(x).numpy(), atol=1e-5)


def test_a_missing_setting_is_named():
    with pytest.raises(TypeError, match="MaxPool2D: kernel_size is missing"):
        nn.MaxPool2D()


def test_reprs_show_the_settings():
    net = nn.Sequential(nn.Conv2D(1, 2, 3, stride=2), nn.BatchNorm2D(2), nn.MaxPool2D(2), nn.Dropout(0.1), nn.ReLU())
    assert repr(net) == (
        "Sequential(\n"
        "  (0): Conv2D(1, 2, kernel_size=[3, 3], stride=[2, 2], data_format=NCHW)\n"
        "  (1): BatchNorm2D(num_features=2, momentum=0.9, epsilon=1e-05)\n"
        "  (2): MaxPool2D(kernel_size=2, stride=None, padding=0)\n"
        "  (3): Dropout(p=0.1, axis=None, mode=upscale_in_train, inplace=False)\n"
        "  (4): ReLU()\n"
        ")"
    )


def test_weight_norm_keeps_the_weight_and_comes_off():
    layer = nn.Linear(3, 2)
    before = layer.weight.numpy()
    nn.utils.weight_norm(layer, dim=1)
    assert list(layer.state_dict()) == ["bias", "weight_v", "weight_g"] and layer.weight_g.shape == [2]
    np.testing.assert_allclose(layer.weight.numpy(), before, rtol=1e-6)
    layer(paddle.ones([1, 3])).sum().backward()
    assert layer.weight_g.grad is not None and layer.weight_v.grad is not None
    nn.utils.remove_weight_norm(layer)
    assert list(layer.state_dict()) == ["bias", "weight"]
    np.testing.assert_allclose(layer.weight.numpy(), before, rtol=1e-6)


@pytest.mark.parametrize("normalize", [nn.utils.weight_norm, nn.utils.spectral_norm])
def test_a_normalized_weight_is_computed_anew_in_each_static_run(normalize):
    layer, x = normalize(nn.Linear(3, 2)).eval(), paddle.ones([1, 3])
    f = paddle.jit.to_static(lambda x: layer(x))
    np.testing.assert_allclose(f(x).numpy(), layer(x).numpy(), rtol=1e-5, atol=1e-6)
    source = dict(layer.named_parameters())["weight_v" if normalize is nn.utils.weight_norm else "weight_orig"]
    source.set_value(source * paddle.to_tensor([[2.0, 1.0], [1.0, 1.0], [1.0, 3.0]]))
    np.testing.assert_allclose(f(x).numpy(), layer(x).numpy(), rtol=1e-5, atol=1e-6)
    assert np.isfinite(layer.weight.numpy()).all()


def test_spectral_norm_approaches_the_largest_singular_value():
    layer = nn.utils.spectral_norm(nn.Linear(4, 3))
    for _ in range(50):
        layer(paddle.ones([1, 4]))
    assert np.linalg.svd(layer.weight.numpy(), compute_uv=False)[0] == pytest.approx(1.0, rel=1e-3)


def test_sync_batch_norm_takes_the_place_of_batch_norm():
    net = nn.Sequential(nn.Conv2D(1, 2, 1), nn.BatchNorm2D(2))
    weight = net[1].weight
    changed = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert isinstance(changed[1], nn.SyncBatchNorm) and changed[1].weight is weight


def test_every_layer_of_a_function_has_it():
    for name, layer in vars(paddle.nn).items():
        if inspect.isclass(layer) and issubclass(layer, FunctionLayer) and layer is not FunctionLayer:
            if layer._function:
                assert hasattr(paddle.nn.functional, layer._function), name
            else:
                assert layer.forward is not FunctionLayer.forward, name


def test_a_fractional_pool_draws_its_windows():
    x = paddle.arange(49.0).reshape([1, 1, 7, 7])
    found = {tuple(paddle.nn.FractionalMaxPool2D(3)(x).flatten().tolist()) for _ in range(8)}
    assert len(found) > 1
    with pytest.raises(ValueError, match="random_u is 2"):
        paddle.nn.functional.fractional_max_pool2d(x, 3, random_u=2)


def test_layers_show_the_data_format_they_default_to():
    for name, data_format in (("Conv1D", "NCL"), ("Conv2D", "NCHW"), ("BatchNorm3D", "NCDHW"), ("Pad2D", "NCHW")):
        assert inspect.signature(getattr(paddle.nn, name)).parameters["data_format"].default == data_format
