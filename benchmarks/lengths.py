"""A training step on sequences of unequal length: one in a row, padded to the longest, or several packed into a row.

Both learn the same tokens, with the same loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from worker import Call

SEQUENCES, LONGEST, WORDS = 48, 128, 1000


def sequences() -> list[list[int]]:
    """Lengths as texts have them: most are short, a few are long."""
    rng = np.random.default_rng(0)
    sizes = np.clip(rng.gamma(2.0, 16.0, SEQUENCES).astype(int), 4, LONGEST)
    sizes[0] = LONGEST
    return [rng.integers(1, WORDS, n).tolist() for n in sizes]


def train(paddle: Any, mode: str) -> Call:
    """One step on all sequences, as one program."""
    training, models = paddle.text.training, paddle.text.models
    groups = [[s] for s in sequences()] if mode == "padded" else [sequences()]
    batches = [training.pack_sequences(group, LONGEST) for group in groups]
    ids, labels, segments = (paddle.concat([getattr(b, f) for b in batches]) for f in batches[0]._fields)
    paddle.seed(0)
    config = models.ModelConfig("llama", WORDS, 128, 4, 4, max_position_embeddings=LONGEST)
    net = models.CausalLM(config)
    opt = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())

    @paddle.jit.to_static
    def step(ids: Any, labels: Any, segments: Any) -> Any:
        loss = training.sft_loss(net(ids, segment_ids=segments), labels)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return lambda: step(ids, labels, segments).numpy()
