"""Slots that begin and end independently generate what each prompt gives alone."""

from __future__ import annotations

import paddle_lite_py as paddle
from decoders import compilations
from paddle_lite_py.text.generation import generate
from paddle_lite_py.text.generation.slots import Sampling, SlotBatch
from paddle_lite_py.text.models import CausalLM, tiny_config

DRAWN = {"decode_strategy": "sampling", "temperature": 0.8, "seed": 5}


def test_slots_are_independent_and_compile_nothing_after_the_warm_up():
    paddle.seed(0)
    model = CausalLM(tiny_config(vocab_size=32, num_hidden_layers=1, hidden_size=16))
    batch = SlotBatch(model, slots=3, capacity=24)
    batch.warm_up()
    prompts = {0: [1, 2, 3], 1: [4], 2: list(range(1, 20)), 3: [5, 6], 4: [7, 8, 9]}
    sampling = {3: Sampling(0.8, seed=5), 4: Sampling(0.8, 3, 0.9, seed=5)}
    answers = {n: [] for n in prompts}
    waiting, places = list(prompts), {}
    with compilations() as count:
        while waiting or places:
            for slot in batch.free:
                if waiting:
                    places[slot] = n = waiting.pop(0)
                    batch.admit(slot, prompts[n], sampling.get(n, Sampling()))
            for slot, token in batch.step().items():
                answers[places[slot]].append(token)
                if len(answers[places[slot]]) == 3 + places[slot] % 2:
                    del places[slot]
                    batch.release(slot)
    assert count == [0] and not batch.lengths.any()
    for n, prompt in prompts.items():
        settings = {3: DRAWN, 4: DRAWN | {"top_k": 3, "top_p": 0.9}}.get(n, {})
        assert generate(model, [prompt], max_new_tokens=3 + n % 2, **settings)[0][0].tolist() == answers[n], n
