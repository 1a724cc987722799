"""Adapters and weights of few bits in place of linear layers."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.text.models import (
    CausalLM,
    QuantizedLinear,
    add_lora,
    lora_state_dict,
    merge_lora,
    quantize_weights,
    tiny_config,
)  # fmt: skip

IDS = paddle.to_tensor([[1, 2, 3, 4, 5, 6, 7]])


def made():
    paddle.seed(0)
    return CausalLM(tiny_config(vocab_size=8, num_hidden_layers=1, initializer_range=0.1))


def test_only_adapters_are_trained_and_merging_changes_no_result(tmp_path):
    model = made()
    before = {n: t.numpy() for n, t in model.state_dict().items()}
    first = model(IDS).numpy()
    names = add_lora(model, r=2, target_modules=["q_proj", "down_proj", "lm_head"])
    assert names == ["lm_head", "model.layers.0.self_attn.q_proj", "model.layers.0.mlp.down_proj"]
    np.testing.assert_array_equal(model(IDS).numpy(), first)
    opt = paddle.optimizer.AdamW(0.05, parameters=[p for p in model.parameters() if p.trainable])
    losses = []
    for _ in range(15):
        loss = nn.functional.cross_entropy(model(IDS[:, :-1]), IDS[:, 1:])
        loss.backward()
        opt.step()
        opt.clear_grad()
        losses.append(float(loss))
    assert losses[-1] < 0.7 * losses[0]
    assert all((model.state_dict()[n].numpy() == a).all() for n, a in before.items())
    with pytest.raises(ValueError, match="lora_A is not part of the architecture; call merge_lora"):
        model.save_pretrained(tmp_path)

    again = made()
    add_lora(again, r=2, target_modules=["q_proj", "down_proj", "lm_head"])
    again.set_state_dict({**again.state_dict(), **lora_state_dict(model)})
    trained = model(IDS).numpy()
    np.testing.assert_allclose(again(IDS).numpy(), trained, rtol=1e-5, atol=1e-5)
    merge_lora(model)
    np.testing.assert_allclose(model(IDS).numpy(), trained, rtol=1e-4, atol=1e-4)
    assert sorted(model.state_dict()) == sorted(before) and all(p.trainable for p in model.parameters())
    model.save_pretrained(tmp_path)
    np.testing.assert_array_equal(CausalLM.from_pretrained(tmp_path)(IDS).numpy(), model(IDS).numpy())


def test_what_has_no_such_layer():
    with pytest.raises(ValueError, match="no linear layer is called c_attn; there are down_proj, gate_proj"):
        add_lora(made(), target_modules=["c_attn"])
    with pytest.raises(ValueError, match="r is 0"):
        add_lora(made(), r=0)


def test_weights_of_8_bits_generate_the_tokens_of_their_rounded_values(tmp_path):
    model, rounded = made(), made()
    tokens = model.generate(IDS, max_new_tokens=4)[0]  # in programs, which must not be used afterwards
    for layer in rounded.sublayers():
        if isinstance(layer, nn.Linear):
            weight, scale = nn.quant.weight_quantize(layer.weight)
            layer.weight.set_value(nn.quant.weight_dequantize(weight, scale, out_dtype="float32"))
    assert len(quantize_weights(model)) == 8 and isinstance(model.lm_head, QuantizedLinear)
    np.testing.assert_allclose(model(IDS).numpy(), rounded(IDS).numpy(), atol=1e-5)
    assert model.generate(IDS, max_new_tokens=4)[0].tolist() == rounded.generate(IDS, max_new_tokens=4)[0].tolist()
    assert tokens.shape == [1, 4]
    with pytest.raises(ValueError, match="before quantize_weights"):
        model.save_pretrained(tmp_path)


@pytest.mark.parametrize("group", [-1, 64])
def test_adapters_over_weights_of_4_bits(group):
    model = made()
    quantize_weights(model, bits=4, group_size=group)
    first = model(IDS).numpy()
    names = ["q_proj", "down_proj"]
    assert len(add_lora(model, r=2, target_modules=names)) == 2
    np.testing.assert_array_equal(model(IDS).numpy(), first)
    opt = paddle.optimizer.AdamW(0.05, parameters=[p for p in model.parameters() if p.trainable])

    @paddle.jit.to_static
    def step():
        loss = nn.functional.cross_entropy(model(IDS[:, :-1]), IDS[:, 1:])
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    losses = [float(step()) for _ in range(15)]
    assert losses[-1] < 0.8 * losses[0]
    trained = model(IDS).numpy()
    again = made()
    quantize_weights(again, bits=4, group_size=group)
    add_lora(again, r=2, target_modules=names)
    again.set_state_dict({**again.state_dict(), **lora_state_dict(model)})
    np.testing.assert_allclose(again(IDS).numpy(), trained, rtol=1e-5, atol=1e-5)
    merge_lora(model)
    np.testing.assert_allclose(model(IDS).numpy(), trained, rtol=1e-4, atol=1e-4)
    assert type(model.model.layers[0].self_attn.q_proj) is nn.Linear and not lora_state_dict(model)


def test_bits_that_are_not_available():
    with pytest.raises(ValueError, match="bits is 2"):
        quantize_weights(made(), bits=2)


def test_experts_of_each_token_compute_what_all_experts_give():
    """With adapters that add nothing, all experts compute all tokens; else, only those of a token do."""
    paddle.seed(0)
    model = CausalLM(tiny_config("mixtral", vocab_size=8, num_hidden_layers=1))

    def results():
        loss = nn.functional.cross_entropy(model(IDS[:, :-1]), IDS[:, 1:])
        loss.backward()
        grads = {n: p.grad.numpy() for n, p in model.named_parameters() if p.grad is not None and "lora" not in n}
        model.clear_gradients()
        return float(loss), grads

    loss, grads = results()
    add_lora(model, r=2, target_modules=["up_proj"])
    for parameter in model.parameters():
        parameter.stop_gradient = False
    wanted, others = results()
    assert abs(loss - wanted) < 1e-5 and grads.keys() == others.keys()
    for name, grad in grads.items():
        np.testing.assert_allclose(grad, others[name], atol=1e-5, err_msg=name)
