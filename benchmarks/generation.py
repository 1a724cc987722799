"""64 tokens of a GPT of 12 layers and width 256: a loop with a cache that grows by concat, and the compiled loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from worker import Call

PROMPT, TOKENS, WORDS, WIDTH, HEADS, LAYERS = 16, 64, 1000, 256, 4, 12
BATCHES = (1, 8)


def gpt(paddle: Any) -> Any:
    """The model as users of the Paddle API write it."""
    nn, F = paddle.nn, paddle.nn.functional

    class Block(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x: Any, cache: Any) -> Any:
            q, k, v = self.qkv(self.norm1(x)).reshape([x.shape[0], x.shape[1], 3, HEADS, WIDTH // HEADS]).unbind(2)
            if cache is not None:
                k, v = paddle.concat([cache[0], k], axis=1), paddle.concat([cache[1], v], axis=1)
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=cache is None)
            x = x + self.out(mixed.reshape(x.shape))
            return x + self.down(F.gelu(self.up(self.norm2(x)))), (k, v)

    class GPT(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(128, WIDTH)
            self.blocks = nn.LayerList([Block() for _ in range(LAYERS)])
            self.norm = nn.LayerNorm(WIDTH)

        def forward(self, ids: Any, caches: Any, start: int) -> Any:
            x = self.words(ids) + self.places(paddle.arange(start, start + ids.shape[1]))
            kept = []
            for block, cache in zip(self.blocks, caches, strict=True):
                x, cache = block(x, cache)
                kept.append(cache)
            return self.norm(x)[:, -1] @ self.words.weight.t(), kept

    net = GPT()
    net.eval()
    return net


def plain(paddle: Any, batch: int) -> Call:
    """The loop as users write it."""
    net, prompt = gpt(paddle), paddle.to_tensor(np.ones((batch, PROMPT), "int64"))
    paddle.set_grad_enabled(False)

    def generate() -> Any:
        logits, caches = net(prompt, [None] * LAYERS, 0)
        tokens = [logits.argmax(-1, keepdim=True)]
        for n in range(PROMPT, PROMPT + TOKENS - 1):
            logits, caches = net(tokens[-1], caches, n)
            tokens.append(logits.argmax(-1, keepdim=True))
        return paddle.concat(tokens, axis=1).numpy()

    return generate


def first_token(paddle: Any) -> Call:
    """What a user waits for at first: the prompt, and a token."""
    net, prompt = gpt(paddle), paddle.to_tensor(np.ones((1, PROMPT), "int64"))
    paddle.set_grad_enabled(False)
    return lambda: net(prompt, [None] * LAYERS, 0)[0].argmax(-1, keepdim=True).numpy()


def compiled(paddle: Any, batch: int) -> Call:
    """`paddle.text.generation`, which PaddlePaddle does not have."""
    models = paddle.text.models
    config = models.ModelConfig("gpt2", WORDS, WIDTH, LAYERS, HEADS, hidden_act="gelu", tie_word_embeddings=True)
    model = models.CausalLM(config)
    prompt = np.ones((batch, PROMPT), "int64")
    return lambda: model.generate(prompt, max_new_tokens=TOKENS)[0].numpy()
