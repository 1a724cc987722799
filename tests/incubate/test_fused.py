"""Fused functions and layers against the layers of paddle.nn and attention, which have PaddlePaddle's figures.

PaddlePaddle has these functions on GPUs only, so that none are recorded.
"""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.incubate.nn import functional as fused
from paddle_lite_py.nn import functional as F

rs = np.random.RandomState(0)


def random(*shape: int) -> paddle.Tensor:
    return paddle.to_tensor(rs.randn(*shape).astype("float32"))


def close(a, b):
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=2e-4, atol=1e-5)


def twin(layer, before: bool, features: int = 4, heads: int = 2):
    """A paddle.nn.TransformerEncoderLayer with the parameters of a fused one."""
    attn, ffn = layer.fused_attn, layer.ffn
    plain = paddle.nn.TransformerEncoderLayer(features, heads, 8, 0.0, normalize_before=before)
    weight, bias = attn.qkv_weight.reshape([3, features, features]), attn.qkv_bias.reshape([3, features])
    norms = (attn.pre_ln_scale, attn.pre_ln_bias) if before else (attn.ln_scale, attn.ln_bias)
    ffn_norms = (ffn._ln1_scale, ffn._ln1_bias) if before else (ffn._ln2_scale, ffn._ln2_bias)
    pairs = {
        **{f"self_attn.{n}_proj.weight": weight[i].t() for i, n in enumerate("qkv")},
        **{f"self_attn.{n}_proj.bias": bias[i] for i, n in enumerate("qkv")},
        **{"self_attn.out_proj.weight": attn.linear_weight, "self_attn.out_proj.bias": attn.linear_bias},
        **{"linear1.weight": ffn._linear1_weight, "linear1.bias": ffn._linear1_bias},
        **{"linear2.weight": ffn._linear2_weight, "linear2.bias": ffn._linear2_bias},
        **{"norm1.weight": norms[0], "norm1.bias": norms[1]},
        **{"norm2.weight": ffn_norms[0], "norm2.bias": ffn_norms[1]},
    }
    plain.set_state_dict(pairs)
    return plain


def randomized(layer):
    for p in layer.parameters():
        p.set_value(random(*p.shape) * 0.5)
    return layer


@pytest.mark.parametrize("before", [False, True])
def test_a_fused_layer_is_the_layer(before):
    layer = randomized(paddle.incubate.nn.FusedTransformerEncoderLayer(4, 2, 8, 0.0, normalize_before=before))
    plain, x, mask = twin(layer, before), random(2, 3, 4), random(2, 1, 3, 3)
    close(layer(x, mask), plain(x, mask))
    close(paddle.jit.to_static(layer)(x, mask), plain(x, mask))
    (layer(x) ** 2).sum().backward()
    (plain(x) ** 2).sum().backward()
    close(layer.ffn._linear1_weight.grad, plain.linear1.weight.grad)
    close(layer.fused_attn.linear_weight.grad, plain.self_attn.out_proj.weight.grad)


def test_attention_with_a_cache_goes_on():
    layer = randomized(paddle.incubate.nn.FusedMultiHeadAttention(4, 2, 0.0, 0.0)).eval()
    x = random(1, 3, 4)
    _, cache = layer(x[:, :2], cache=paddle.zeros([2, 1, 2, 0, 2]))
    last, cache = layer(x[:, 2:], cache=cache)
    close(last[:, 0], layer(x)[:, 2])
    assert cache.shape == [2, 1, 2, 3, 2]


def test_transposed_projections_are_the_same():
    layer = randomized(paddle.incubate.nn.FusedMultiHeadAttention(4, 2, 0.0, 0.0))
    other = paddle.incubate.nn.FusedMultiHeadAttention(4, 2, 0.0, 0.0, transpose_qkv_wb=True)
    state = layer.state_dict()
    state["qkv_weight"] = state["qkv_weight"].reshape([12, 4]).t()
    state["qkv_bias"] = state["qkv_bias"].reshape([12])
    other.set_state_dict(state)
    x = random(2, 3, 4)
    close(layer(x), other(x))


def test_weights_that_are_dropped_count_as_dropout_says():
    x, qkv, out = random(1, 3, 4), random(3, 2, 2, 4), paddle.eye(4)
    settings = {"dropout_rate": 0.0, "attn_dropout_rate": 0.25, "training": False, "add_residual": False}
    up = fused.fused_multi_head_attention(x, qkv, out, True, **settings)
    down = fused.fused_multi_head_attention(x, qkv, out, True, mode="downscale_in_infer", **settings)
    close(down, up * 0.75)


@pytest.mark.parametrize("settings", [{}, {"normalize_before": False, "activation": "relu"}, {"norm_type": "rmsnorm"}])
def test_a_stack_with_caches_generates_what_it_computes_at_once(settings):
    model = randomized(paddle.incubate.nn.FusedMultiTransformer(4, 2, 8, num_layers=2, **settings)).eval()
    x = random(2, 4, 4)
    causal = paddle.to_tensor(np.tril(np.ones((1, 1, 4, 4), bool)))
    whole = model(x, causal)
    caches = [paddle.zeros([2, 2, 2, 6, 2]) for _ in range(2)]
    first, caches = model(x[:, :3], causal[:, :, :3, :3], caches=caches)
    close(first, whole[:, :3])
    step, _ = model(x[:, 3:], caches=caches, time_step=paddle.to_tensor([3]))
    close(step[:, 0], whole[:, 3])
    if not settings:
        layers = [model.qkv_weights_0, model.qkv_weights_1]
        turned = [w.reshape([12, 4]).t().reshape([4, 3, 2, 2]) for w in layers]
        lists = [model._listed(n) if n != "qkv_weights" else turned for n in model._lists]
        close(fused.fused_multi_transformer(x, *lists, attn_mask=causal, trans_qkvw=False), whole)


@pytest.mark.parametrize("causal", [False, True])
def test_lengths_cut_sequences(causal):
    q, k, v = random(2, 4, 3, 2), random(2, 2, 5, 2), random(2, 2, 5, 2)
    n, m = paddle.to_tensor([[3], [2]]), paddle.to_tensor([[5], [3]])
    found = fused.variable_length_memory_efficient_attention(q, k, v, n, m, causal=causal, pre_cache_length=0)
    for b in range(2):
        rows, keys = n[b].item(), m[b].item()
        heads = [t[b : b + 1, :, :keys].transpose([0, 2, 1, 3]) for t in (k, v)]
        mine = q[b : b + 1, :, :rows].transpose([0, 2, 1, 3])
        one = F.scaled_dot_product_attention(mine, *heads, is_causal=causal).transpose([0, 2, 1, 3])
        close(found[b : b + 1, :, :rows], one)
    assert found[1, :, 2].abs().sum().item() == 0


def test_a_step_of_attention_writes_the_cache():
    tokens, cache = random(2, 3, 12), paddle.zeros([2, 2, 2, 5, 2])
    bias = random(3, 2, 2)
    for i in range(3):
        if i < 2:
            out, cache = fused.masked_multihead_attention(
                tokens[:, i], cache, bias, sequence_lengths=paddle.full([2, 1], i, "int32")
            )
        else:
            out, cache = fused.masked_multihead_attention(tokens[:, i], cache, bias, paddle.zeros([2, 1, 1, 3]))
    q, k, v = (tokens.reshape([2, 3, 3, 2, 2]) + bias).unbind(2)
    close(out.reshape([2, 1, 2, 2]), F.scaled_dot_product_attention(q[:, 2:], k, v))
    close(cache[0, :, :, :3].transpose([0, 2, 1, 3]), k)


def test_errors():
    x, w, one = paddle.ones([1, 2, 4]), paddle.ones([4, 12]), paddle.ones([4])
    with pytest.raises(ValueError, match="num_heads is -1; transpose_qkv_wb needs it"):
        fused.fused_multi_head_attention(x, w, w, transpose_qkv_wb=True)
    with pytest.raises(NotImplementedError, match="rotary_embs is not available here"):
        fused.fused_multi_transformer(x, [one], *[None] * 11, rotary_embs=one)
    with pytest.raises(ValueError, match="give cache_kv, and sequence_lengths or src_mask"):
        fused.masked_multihead_attention(paddle.ones([1, 12]))
    with pytest.raises(NotImplementedError, match="out_shift is not available"):
        fused.masked_multihead_attention(paddle.ones([1, 12]), out_shift=one)
    with pytest.raises(ValueError, match="embed_dim 4, num_heads 3"):
        paddle.incubate.nn.FusedMultiHeadAttention(4, 3)
    with pytest.raises(ValueError, match="num_layers is -1"):
        paddle.incubate.nn.FusedMultiTransformer(4, 2, 8)
