"""Slots that begin and end independently generate what each prompt gives alone; equal beginnings share memory."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle
from decoders import compilations
from paddle_lite_py.text.generation import generate
from paddle_lite_py.text.generation.blocks import Blocks
from paddle_lite_py.text.generation.slots import Sampling, SlotBatch
from paddle_lite_py.text.models import CausalLM, tiny_config

DRAWN = {"decode_strategy": "sampling", "temperature": 0.8, "seed": 5}


@pytest.fixture(scope="module")
def model():
    paddle.seed(0)
    made = CausalLM(tiny_config(vocab_size=32, num_hidden_layers=1, hidden_size=16))
    made.eval()
    return made


@pytest.fixture(scope="module")
def batch(model):
    made = SlotBatch(model, slots=3, capacity=72, cache_tokens=160)
    made.warm_up()
    return made


def answers_of(batch, requests):
    """Tokens by number of the request, and tokens of prompts that were in the cache; all run as soon as they can."""
    answers, shared = {n: [] for n in requests}, {}
    waiting, places = list(requests), {}
    while waiting or places:
        for slot in batch.free:
            if waiting:
                n = waiting[0]
                prompt, sampling, most = requests[n]
                if (found := batch.admit(slot, prompt, sampling, most)) is None:
                    break
                shared[n], places[slot] = found, waiting.pop(0)
        for slot, token in batch.step().items():
            answers[places[slot]].append(token)
            if len(answers[places[slot]]) == requests[places[slot]][2]:
                del places[slot]
                batch.release(slot)
    assert not batch.lengths.any() and not batch.blocks.used
    return answers, shared


def wanted(model, prompt, sampling, most):
    settings = {} if not sampling.temperature else DRAWN | {"top_k": sampling.top_k, "top_p": sampling.top_p}
    return generate(model, [prompt], max_new_tokens=most, **settings)[0][0].tolist()


def test_slots_are_independent_and_compile_nothing_after_the_warm_up(model, batch):
    prompts = [[1, 2, 3], [4], list(range(1, 20)), [5, 6], [7, 8, 9], list(range(30, 0, -1)) * 2]
    sampling = {3: Sampling(0.8, seed=5), 4: Sampling(0.8, 3, 0.9, seed=5)}
    requests = {n: (p, sampling.get(n, Sampling()), 3 + n % 2) for n, p in enumerate(prompts)}
    with compilations() as count:
        answers, _ = answers_of(batch, requests)
    assert count == [0]
    assert answers == {n: wanted(model, *request) for n, request in requests.items()}


def test_equal_beginnings_are_read_once(model, batch):
    batch.clear()
    start = [3, 1, 4, 1, 5, 9, 2, 6] * 4  # two blocks
    requests = {n: (prompt, Sampling(), 20) for n, prompt in enumerate([[*start, 7], [*start, 8], start, start[:17]])}
    with compilations() as count:
        answers, shared = answers_of(batch, requests)
        assert shared == {0: 0, 1: 32, 2: 16, 3: 16}
        # A conversation goes on: the answer is in the cache, too, but for its last token.
        talk = [*start, 7, *answers[0], 2]
        more, shared = answers_of(batch, {0: (talk, Sampling(), 3), 1: ([1, *start], Sampling(), 3)})
    assert count == [0] and shared == {0: 48, 1: 0}
    assert answers == {n: wanted(model, *request) for n, request in requests.items()}
    assert more[0] == wanted(model, talk, Sampling(), 3)


def test_memory_is_what_the_formula_says(model, batch):
    config = model.config
    per_token = 2 * config.num_hidden_layers * config.key_heads * config.head_size * 4
    cache = [*batch.programs.keys, *batch.programs.values]
    assert sum(int(t.size) * t.element_size() for t in cache) == (160 + 16) * per_token


def test_a_request_waits_while_the_cache_is_full(batch):
    batch.clear()
    assert batch.admit(0, [1] * 60, Sampling(), 12) == batch.admit(1, [2] * 60, Sampling(), 12) == 0
    assert batch.admit(2, [3], Sampling(), 1) is None and batch.free == [2]
    assert batch.admit(2, [1] * 60, Sampling(), 4) is None  # it needs one more block
    batch.release(1)
    assert batch.admit(2, [1] * 60, Sampling(), 12) == 48


def test_the_memory_of_what_was_unused_for_longest_is_taken_first():
    blocks = Blocks(6)  # five to give away
    prompts = [[n] * 32 for n in range(3)]
    for prompt in prompts[:2]:
        found, _ = blocks.acquire(prompt, 32)
        blocks.publish(found, prompt)
        blocks.release(found)
    assert blocks.acquire(prompts[2], 48)[1] == 0  # the empty one, and both of the first prompt
    assert blocks.acquire(prompts[0], 48) is None
    assert blocks.acquire(prompts[1], 32)[1] == 32 and blocks.used == 5
    assert blocks.acquire([], 1) is None
