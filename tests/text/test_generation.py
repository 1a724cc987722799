"""Generated tokens are those of the plain loop, by few programs."""

from __future__ import annotations

import copy
import gc
import weakref

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.text.generation import GenerationConfig, KeyValueCache, generate, stream
from paddle_lite_py.text.generation.prompts import padded, read_prompts
from paddle_lite_py.text.models import CausalLM, tiny_config

WORDS, PROMPTS = 32, [[1, 2, 3], [4], [7, 8, 9, 10, 11]]


@pytest.fixture(scope="module")
def model():
    paddle.seed(0)
    made = CausalLM(tiny_config(vocab_size=WORDS, num_hidden_layers=1, hidden_size=16))
    made.eval()
    return made


def plain(model, prompt, count):
    """The tokens of a loop that runs the model on the whole text for each token, and their log-probabilities."""
    ids, scores = list(prompt), []
    # One shape for all lengths: later tokens do not change the logits of earlier ones.
    for _ in range(count):
        padded = paddle.to_tensor([ids + [0] * (32 - len(ids))])
        with paddle.no_grad():
            scores.append(nn.functional.log_softmax(model(padded)[0, len(ids) - 1]).numpy())
        ids.append(int(scores[-1].argmax()))
    return ids[len(prompt) :], scores


def test_greedy_tokens_are_those_of_the_plain_loop_in_two_programs(model):
    wanted = [plain(model, p, 8) for p in PROMPTS]
    fresh = copy.deepcopy(model)
    tokens, scores = generate(fresh, PROMPTS, max_new_tokens=8)
    assert tokens.tolist() == [t for t, _ in wanted]
    np.testing.assert_allclose(scores.numpy(), [sum(s.max() for s in scored) for _, scored in wanted], rtol=1e-4)
    # Other lengths, in the same programs.
    assert generate(fresh, [[5], [1, 2], [4]], max_new_tokens=5)[0][2].tolist() == wanted[1][0][:5]
    list(stream(fresh, PROMPTS, max_new_tokens=9))
    (decoder,) = fresh.__dict__["_decoders"].values()
    assert len(decoder.read.cache) == len(decoder.extend.cache) == 1


def test_lengths_that_do_not_recur(model):
    for n in (3, 40, 70, 100):  # of these, small models run some eagerly
        prompt = [1 + i % 30 for i in range(n)]
        padded = paddle.to_tensor([prompt + [0] * (104 - n)])
        with paddle.no_grad():
            first = int(model(padded)[0, n - 1].argmax())
        assert generate(model, [prompt], max_new_tokens=3, eos_token_id=first)[0].tolist() == [[first]]


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_changes_nothing(model, side):
    rows = [([0] * (5 - len(p)) + p) if side == "left" else (p + [0] * (5 - len(p))) for p in PROMPTS]
    mask = [[(0, 1)[n >= 5 - len(p)] if side == "left" else (0, 1)[n < len(p)] for n in range(5)] for p in PROMPTS]
    given = generate(model, paddle.to_tensor(rows), paddle.to_tensor(mask), max_new_tokens=6)[0]
    assert given.tolist() == generate(model, PROMPTS, max_new_tokens=6)[0].tolist()


def test_a_stream_yields_the_same_tokens(model):
    for settings in ({}, {"decode_strategy": "sampling", "seed": 3, "top_k": 5}):
        steps = [t.tolist() for t in stream(model, PROMPTS, max_new_tokens=6, **settings)]
        assert np.transpose(steps).tolist() == generate(model, PROMPTS, max_new_tokens=6, **settings)[0].tolist()


def test_a_row_ends_with_an_end_token_or_a_stop_sequence(model):
    tokens = generate(model, PROMPTS, max_new_tokens=8)[0].numpy()
    end = int(tokens[0, 2])
    assert end not in tokens[0, :2]
    ended = generate(model, PROMPTS, max_new_tokens=8, eos_token_id=end, pad_token_id=31)[0].numpy()
    assert ended[0].tolist() == [*tokens[0, :3].tolist(), *[31] * (ended.shape[1] - 3)]
    alone = generate(model, PROMPTS[:1], max_new_tokens=8, eos_token_id=end)[0]
    assert alone.tolist() == [tokens[0, :3].tolist()]
    stops = [[30, 30, 30], tokens[0, 1:3].tolist()]
    assert generate(model, PROMPTS[:1], max_new_tokens=8, stop_sequences=stops)[0].tolist() == alone.tolist()
    assert [int(t) for t in stream(model, PROMPTS[:1], max_new_tokens=8, stop_sequences=stops)] == alone.tolist()[0]
    later = generate(model, PROMPTS[:1], max_new_tokens=8, eos_token_id=end, min_new_tokens=5)[0][0]
    assert end not in later[:4].tolist() and len(later) >= 5


def test_repetition_penalty(model):
    ids, answer = list(PROMPTS[0]), []
    for _ in range(6):
        with paddle.no_grad():
            logits = model(paddle.to_tensor([ids + [0] * (32 - len(ids))]))[0, len(ids) - 1].numpy()
        seen = np.isin(np.arange(WORDS), ids)
        logits = np.where(seen, np.where(logits > 0, logits / 1.5, logits * 1.5), logits)
        ids.append(int(logits.argmax()))
        answer.append(ids[-1])
    assert generate(model, PROMPTS[:1], max_new_tokens=6, repetition_penalty=1.5)[0][0].tolist() == answer


def test_sampling_draws_by_the_probabilities_of_what_is_left():
    """A model whose logits are the same always: the frequencies of its tokens are known."""
    probabilities = np.array([0.05, 0.4, 0.25, 0.3], "float32")

    class Constant(nn.Layer):
        def new_cache(self, batch, capacity):
            return KeyValueCache.empty(batch, capacity, layers=0, heads=1, head_dim=1)

        def forward(self, ids, cache):
            return paddle.to_tensor(np.log(probabilities)).expand([*ids.shape, 4])

    def drawn(**settings):
        settings = {"decode_strategy": "sampling", "seed": 1, "max_new_tokens": 64, **settings}
        tokens = generate(Constant(), [[0]] * 64, **settings)[0].numpy()
        return np.bincount(tokens.ravel(), minlength=4) / tokens.size

    def near(found, wanted):
        np.testing.assert_allclose(found, np.array(wanted) / sum(wanted), atol=0.04)

    near(drawn(), probabilities)
    near(drawn(top_k=2), [0, 0.4, 0, 0.3])
    near(drawn(top_p=0.6), [0, 0.4, 0, 0.3])
    near(drawn(top_k=3, top_p=0.7), [0, 0.4, 0, 0.3])
    near(drawn(temperature=0.5), probabilities**2)
    assert drawn(top_k=1)[1] == 1


def test_seeds(model):
    settings = {"decode_strategy": "sampling", "max_new_tokens": 6}
    first = generate(model, PROMPTS, seed=5, **settings)[0].tolist()
    assert (
        first
        == generate(model, PROMPTS, seed=5, **settings)[0].tolist()
        != generate(model, PROMPTS, seed=6, **settings)[0].tolist()
    )
    found = []
    for _ in range(2):
        paddle.seed(7)
        found.append([generate(model, PROMPTS, **settings)[0].tolist() for _ in range(2)])
    assert found[0] == found[1] and found[0][0] != found[0][1]


def beams(model, prompt, count, width, ends, power):
    """Beam search as a plain loop over texts; sequences of tokens end an answer."""
    running, done = [(0.0, [])], []
    for step in range(1, count + 1):
        found = []
        for total, ids in running:
            scores = plain(model, prompt + ids, 1)[1][0]
            found += [(total + s, [*ids, t]) for t, s in enumerate(scores)]
        found = sorted(found, key=lambda f: -f[0])[: 2 * width]
        is_end = [any(ids[-len(e) :] == e for e in ends) or step == count for _, ids in found]
        done += [(s / step**power, ids) for (s, ids), e in zip(found[:width], is_end, strict=False) if e]
        done = sorted(done, key=lambda f: -f[0])[:width]
        running = [f for f, e in zip(found, is_end, strict=True) if not e][:width]
        if len(done) == width and (not running or running[0][0] / step**power <= done[-1][0]):
            break
    return done[0]


@pytest.mark.parametrize(("power", "stops"), [(1.0, []), (0.0, []), (0.0, [[13, 16, 16], [11, 31], [17]])])
def test_beam_search_finds_what_a_plain_loop_finds(model, power, stops):
    settings = {"decode_strategy": "beam_search", "num_beams": 3, "length_penalty": power, "pad_token_id": 31}
    settings["stop_sequences"] = stops
    tokens, scores = generate(model, PROMPTS, max_new_tokens=5, eos_token_id=[9, 12], **settings)
    for prompt, row, score in zip(PROMPTS, tokens.tolist(), scores.tolist(), strict=True):
        wanted_score, wanted = beams(model, prompt, 5, 3, [[9], [12], *stops], power)
        assert row[: len(wanted)] == wanted and set(row[len(wanted) :]) <= {31}
        assert abs(score - wanted_score) < 1e-3


def agreeing(model):
    """A model that often chooses the tokens of another one."""
    draft = copy.deepcopy(model)
    paddle.seed(1)
    draft.lm_head.weight.set_value(draft.lm_head.weight + 0.05 * paddle.randn(draft.lm_head.weight.shape))
    return draft


SPECULATIVE = [
    {}, {"decode_strategy": "sampling", "seed": 4, "temperature": 1.5, "top_k": 9, "draft_tokens": 1},
    {"repetition_penalty": 1.5, "eos_token_id": [9, 12], "min_new_tokens": 3, "stop_sequences": [[30, 30], [14]]},
]  # fmt: skip


@pytest.mark.parametrize("settings", SPECULATIVE)
def test_a_draft_changes_nothing(model, settings):
    """One that often agrees, and one that seldom does."""
    paddle.seed(2)
    other = CausalLM(tiny_config("gpt2", vocab_size=WORDS, num_hidden_layers=1, hidden_size=16))
    settings = {"max_new_tokens": 12, "draft_tokens": 2, "pad_token_id": 31, **settings}
    tokens, scores = generate(model, PROMPTS, **settings)
    for draft in (agreeing(model), other):
        found = generate(model, PROMPTS, draft=draft, **settings)
        assert found[0].tolist() == tokens.tolist()
        np.testing.assert_allclose(found[1].numpy(), scores.numpy(), rtol=1e-4)
    steps = [t.tolist() for t in stream(model, PROMPTS, draft=other, **settings)]
    assert np.transpose(steps).tolist() == tokens.tolist()


def test_a_draft_saves_runs_of_the_model(model):
    """The loop of the compiled program makes as many rounds as proposals that are accepted allow."""
    from paddle_lite_py.text.generation.speculative import SpeculativeDecoder

    class Counting(SpeculativeDecoder):
        def start(self, prompts, config):
            return super().start(prompts, config) | {"rounds": paddle.zeros([], "int64")}

        def _next(self, rows):
            rows["rounds"].add_(paddle.ones([], "int64"))
            super()._next(rows)

    fresh, rounds, read = copy.deepcopy(model), {}, read_prompts(PROMPTS)
    for name, draft in (("same", fresh), ("often", agreeing(model))):
        decoder = Counting(fresh, draft, 3)
        for _ in range(2):
            rows = decoder.start(read, GenerationConfig(max_new_tokens=17))
            with paddle.no_grad():
                decoder.read(rows, *padded(read, rows["ids"].shape[1]))
                decoder.extend(rows, paddle.to_tensor(17))
        rounds[name] = int(rows["rounds"])
        assert len(decoder.read.cache) == len(decoder.extend.cache) == 1
    assert rounds["same"] == 4 < rounds["often"] < 16


def test_a_draft_at_the_end_of_the_positions_of_a_model():
    """Proposals behind the last position are rejected, and do no harm."""
    paddle.seed(0)
    small = CausalLM(tiny_config("gpt2", vocab_size=WORDS, num_hidden_layers=1, max_position_embeddings=16))
    tokens = generate(small, [[1, 2, 3], [4, 5]], max_new_tokens=13)[0].tolist()
    assert generate(small, [[1, 2, 3], [4, 5]], max_new_tokens=13, draft=small)[0].tolist() == tokens
    with pytest.raises(ValueError, match="the model takes 16"):
        generate(small, [[1, 2, 3]], max_new_tokens=14, draft=small)


def test_drafts_that_cannot_be_used(model):
    other = CausalLM(tiny_config(vocab_size=WORDS + 1, num_hidden_layers=1, hidden_size=16))
    with pytest.raises(ValueError, match="draft has 33 tokens, and the model 32"):
        generate(model, PROMPTS, draft=other)
    with pytest.raises(ValueError, match="draft cannot be combined"):
        generate(model, PROMPTS, draft=model, decode_strategy="beam_search")
    with pytest.raises(TypeError, match="Linear has no method new_cache"):
        generate(model, PROMPTS, draft=nn.Linear(2, 2))
    with pytest.raises(ValueError, match="draft_tokens is 0"):
        generate(model, PROMPTS, draft=model, draft_tokens=0)


def test_a_model_in_training_mode_generates_without_dropout(model):
    class Dropping(CausalLM):
        def forward(self, ids, attention_mask=None, cache=None):
            return nn.functional.dropout(super().forward(ids, attention_mask, cache), 0.9, training=self.training)

    dropping = Dropping(model.config)
    dropping.set_state_dict(model.state_dict())
    dropping.model.eval()
    assert generate(dropping, PROMPTS, max_new_tokens=4)[0].tolist() == [plain(model, p, 4)[0] for p in PROMPTS]
    assert dropping.training and not dropping.model.training


BAD = [
    ({"input_ids": [[]]}, ValueError, "row 0 has no tokens"),
    ({"input_ids": [[1.5]]}, TypeError, "expected integers"),
    ({"input_ids": [1, 2]}, ValueError, "batch of sequences"),
    ({"input_ids": np.ones((2, 3), int), "attention_mask": np.ones((2, 2))}, ValueError, "attention_mask has shape"),
    ({"input_ids": [[WORDS]]}, ValueError, "embedding"),
    ({"max_new_tokens": 0}, ValueError, "max_new_tokens is 0"),
    ({"max_new_tokens": 1.5}, TypeError, "max_new_tokens is 1.5"),
    ({"max_new_tokens": 300}, ValueError, "302 tokens, and the model takes 256"),
    ({"cache_capacity": 8}, ValueError, "cache_capacity is 8"),
    ({"decode_strategy": "best"}, ValueError, "greedy_search, sampling, beam_search"),
    ({"top_p": 0}, ValueError, "top_p is 0"),
    ({"temperature": 0.0}, ValueError, "temperature is 0.0"),
    ({"stop_sequences": [[]]}, ValueError, "at least one token"),
    ({"tempreature": 1.0}, TypeError, "unknown setting tempreature"),
]


@pytest.mark.parametrize(("settings", "error", "text"), BAD)
def test_bad_input(model, settings, error, text):
    with pytest.raises(error, match=text):
        generate(model, settings.pop("input_ids", [[1, 2]]), **settings)


def test_what_cannot_generate(model):
    with pytest.raises(TypeError, match="no method new_cache"):
        generate(nn.Linear(2, 2), [[1]])
    with pytest.raises(ValueError, match="cannot be streamed"):
        stream(model, [[1]], decode_strategy="beam_search")


def test_a_copy_generates_with_its_own_weights_and_a_model_can_be_freed(model):
    first = copy.deepcopy(model)
    tokens = generate(first, PROMPTS, max_new_tokens=3)[0].tolist()
    second = copy.deepcopy(first)
    second.lm_head.weight.set_value(-second.lm_head.weight)
    assert generate(second, PROMPTS, max_new_tokens=3)[0].tolist() != tokens
    assert generate(first, PROMPTS, max_new_tokens=3)[0].tolist() == tokens
    freed = weakref.ref(first)
    del first
    gc.collect()
    assert freed() is None


def test_settings_in_one_object(model):
    config = GenerationConfig(max_new_tokens=3)
    assert generate(model, PROMPTS, config=config)[0].shape == [3, 3]
    assert generate(model, PROMPTS, config=config, max_new_tokens=2)[0].shape == [3, 2]
