"""Packed batches and the losses of fine-tuning."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.text.models import CausalLM, tiny_config
from paddle_lite_py.text.training import answer_log_probs, dpo_loss, pack_sequences, sft_loss

SEQUENCES = [[5, 6, 7, 1], [2, 3], [1, 4, 2], [7], [3, 3, 6, 2, 1]]
PROMPTS = [2, 0, 1, 0, 4]
SIZES = {"vocab_size": 8, "num_hidden_layers": 2, "max_position_embeddings": 8}


def log_softmax(x):
    x = x.astype("float64")
    return x - x.max(-1, keepdims=True) - np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True))


def test_a_packed_batch():
    batch = pack_sequences(SEQUENCES, 8, PROMPTS, pad_token_id=9)
    assert batch.input_ids.tolist() == [[5, 6, 7, 1, 2, 3, 7, 9], [1, 4, 2, 3, 3, 6, 2, 1]]
    assert batch.segment_ids.tolist() == [[1, 1, 1, 1, 2, 2, 3, 0], [1, 1, 1, 2, 2, 2, 2, 2]]
    x = -100
    assert batch.labels.tolist() == [[x, 7, 1, x, 3, x, x, x], [4, 2, x, x, x, x, 1, x]]
    assert {t.dtype for t in batch} == {paddle.int64}


def test_a_sequence_goes_into_the_fullest_row_with_room():
    batch = pack_sequences([[1] * 5, [2] * 6, [3] * 2, [4] * 3], 8)
    assert batch.input_ids.tolist() == [[1] * 5 + [4] * 3, [2] * 6 + [3] * 2]


@pytest.mark.parametrize("kind", ["llama", "gpt2", "mixtral"])
def test_packed_training_is_that_of_single_sequences(kind):
    paddle.seed(0)
    model = CausalLM(tiny_config(kind, **SIZES))
    batch = pack_sequences(SEQUENCES, 8, PROMPTS)
    loss = paddle.jit.to_static(lambda b: sft_loss(model(b.input_ids, segment_ids=b.segment_ids), b.labels))(batch)
    loss.backward()
    packed = {n: p.grad.numpy() for n, p in model.named_parameters()}
    model.clear_gradients()

    total, count = paddle.zeros([]), 0
    for tokens, prompt in zip(SEQUENCES, PROMPTS, strict=True):
        learned = max(prompt, 1)
        if learned < len(tokens):
            logits = model(paddle.to_tensor([tokens]))[0, learned - 1 : -1]
            total += paddle.nn.functional.cross_entropy(logits, paddle.to_tensor(tokens[learned:]), reduction="sum")
            count += len(tokens) - learned
    (total / count).backward()
    assert abs(loss.item() - (total / count).item()) < 1e-6
    for name, p in model.named_parameters():
        np.testing.assert_allclose(packed[name], p.grad.numpy(), atol=2e-6, err_msg=name)


def test_log_probabilities_of_answers_and_their_losses():
    draw = np.random.RandomState(0)
    logits = draw.randn(2, 3, 8).astype("float32")
    labels = np.array([[-100, 2, 5], [1, -100, -100]])
    logs = log_softmax(logits)
    expected = np.array([logs[0, 1, 2] + logs[0, 2, 5], logs[1, 0, 1]])
    given = paddle.to_tensor(logits), paddle.to_tensor(labels)
    np.testing.assert_allclose(answer_log_probs(*given).numpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(sft_loss(*given).numpy(), -expected.sum() / 3, rtol=1e-6)
    one = [t[:, 1:2] for t in given]
    np.testing.assert_allclose(answer_log_probs(*one).numpy(), [logs[0, 1, 2], 0], rtol=1e-6)
    assert sft_loss(given[0], paddle.full([2, 3], -100)).item() == 0
    half = given[0].astype("bfloat16")
    expected = -log_softmax(half.astype("float32").numpy())[0, 1, 2]
    loss = sft_loss(half, paddle.to_tensor([[-100, 2, -100], [-100] * 3]))
    assert loss.dtype == paddle.float32
    np.testing.assert_allclose(loss.numpy(), expected, rtol=1e-5)


def test_direct_preference_optimization():
    draw = np.random.RandomState(1)
    values = draw.randn(4, 5).astype("float32") * 10
    chosen, rejected, *refs = (paddle.to_tensor(v, stop_gradient=False) for v in values)
    loss = dpo_loss(chosen, rejected, *refs, beta=0.3)
    loss.backward()
    gain = 0.3 * ((values[0] - values[1]) - (values[2] - values[3])).astype("float64")
    np.testing.assert_allclose(loss.numpy(), np.log1p(np.exp(-gain)).mean(), rtol=1e-5)
    slope = -0.3 / (1 + np.exp(gain)) / 5
    np.testing.assert_allclose(chosen.grad.numpy(), slope, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(rejected.grad.numpy(), -slope, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: pack_sequences([[1], [1, 2, 3]], 2), "sequence 1 has 3 tokens; expected 1 to 2"),
    (lambda: pack_sequences([[]], 2), "sequence 0 has 0 tokens"),
    (lambda: pack_sequences([[1]], 2, [0, 0]), "1 sequences, but 2 prompt lengths"),
])  # fmt: skip
def test_what_cannot_be_packed(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_masks_do_not_mix():
    model, ids = CausalLM(tiny_config(**SIZES)), paddle.to_tensor([[1, 2]])
    with pytest.raises(ValueError, match="segment_ids excludes attention_mask"):
        model(ids, ids, segment_ids=ids)
