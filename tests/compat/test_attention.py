"""compat.nn.MultiheadAttention: the parameters, masks and results of torch's."""

import numpy as np
import pytest

import paddle_lite_py as paddle

RNG = np.random.RandomState(0)


def _rows(*shape):
    return RNG.rand(*shape).astype("float32")


def _expected(layer, q, k, v, mask):
    """Attention of [batch, length, size] by hand; True in a mask does not count."""
    whole, size = layer.in_proj_weight.numpy(), layer.embed_dim
    parts = [
        x @ whole[i * size : (i + 1) * size].T + layer.in_proj_bias.numpy()[i * size : (i + 1) * size]
        for i, x in enumerate((q, k, v))
    ]
    q, k, v = (x.reshape(*x.shape[:2], layer.num_heads, -1).swapaxes(1, 2) for x in parts)
    scores = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1])
    weights = np.exp(np.where(mask, -np.inf, scores))
    weights /= weights.sum(-1, keepdims=True)
    out = (weights @ v).swapaxes(1, 2).reshape(*parts[0].shape)
    return out @ layer.out_proj.weight.numpy().T + layer.out_proj.bias.numpy(), weights


def test_masks_and_results():
    layer = paddle.compat.nn.MultiheadAttention(8, 2)
    layer.in_proj_bias.set_value(_rows(24))
    q, k, v = (_rows(3, 2, 8) for _ in range(3))
    causal, padded = np.triu(np.ones((3, 3), bool), 1), np.array([[False, False, True], [False, True, False]])
    out, weights = layer(*map(paddle.to_tensor, (q, k, v)), paddle.to_tensor(padded), True, paddle.to_tensor(causal))
    first = [x.swapaxes(0, 1) for x in (q, k, v)]
    expected, each = _expected(layer, *first, causal | padded[:, None, None])
    np.testing.assert_allclose(out.numpy().swapaxes(0, 1), expected, rtol=1e-4)
    np.testing.assert_allclose(weights.numpy(), each.mean(1), rtol=1e-4)
    same, none = layer(*map(paddle.to_tensor, (q, k, v)), need_weights=False, is_causal=True)
    assert none is None
    np.testing.assert_allclose(same.numpy().swapaxes(0, 1), _expected(layer, *first, causal)[0], rtol=1e-4)
    alone, shown = layer(*(paddle.to_tensor(x[:, 0]) for x in (q, k, v)), average_attn_weights=False)
    np.testing.assert_allclose(alone.numpy(), _expected(layer, *first, False)[0][0], rtol=1e-4)
    assert shown.shape == [2, 3, 3]


def test_parameters_are_those_of_torch():
    names = [n for n, _ in paddle.compat.nn.MultiheadAttention(8, 2).named_parameters()]
    assert names == ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
    layer = paddle.compat.nn.MultiheadAttention(
        8, 2, bias=False, add_bias_kv=True, add_zero_attn=True, kdim=4, vdim=6, batch_first=True
    )
    assert {n: p.shape for n, p in layer.named_parameters()}["v_proj_weight"] == [8, 6]
    out, weights = layer(*(paddle.to_tensor(_rows(2, 3, n)) for n in (8, 4, 6)))
    assert out.shape == [2, 3, 8] and weights.shape == [2, 3, 5]
    with pytest.raises(ValueError, match="does not divide into 3 heads"):
        paddle.compat.nn.MultiheadAttention(8, 3)


def test_an_lstm_that_projects_its_states():
    lstm = paddle.nn.LSTM(3, 4, 2, "bidirect", proj_size=2)
    x = paddle.to_tensor(_rows(2, 5, 3))
    out, (h, c) = lstm(x)
    assert out.shape == [2, 5, 4] and h.shape == [4, 2, 2] and c.shape == [4, 2, 4]
    inner, states = lstm[0](x)
    outer, more = lstm[1](inner)
    np.testing.assert_array_equal(out.numpy(), outer.numpy())
    np.testing.assert_array_equal(h.numpy(), np.stack([s[0].numpy() for s in (*states, *more)]))
    again, _ = lstm(x, (h * 0, c * 0))
    np.testing.assert_allclose(again.numpy(), out.numpy(), rtol=1e-6)
    out.sum().backward()
    assert all(p.grad is not None for p in lstm.parameters())
    one, (h, _) = paddle.nn.LSTM(3, 4, proj_size=2)(x, None, paddle.to_tensor([5, 2]))
    assert one.shape == [2, 5, 2] and h.shape == [1, 2, 2]
