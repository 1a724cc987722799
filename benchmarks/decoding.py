"""A decoder that writes 64 tokens with a cache that grows by concat: eagerly, as a program, loaded.

The prompt has another length each time, so that most shapes are new.
"""

from __future__ import annotations

import itertools
import tempfile
from typing import Any

import numpy as np

from worker import Call

TOKENS, WORDS, WIDTH, HEADS = 64, 1000, 64, 4


def decoder(paddle: Any) -> Any:
    """One layer of attention over all tokens so far."""
    nn = paddle.nn

    class Decoder(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.embedding, self.head = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, WORDS)
            self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

        def split(self, x: Any) -> Any:
            return x.reshape([0, 0, HEADS, WIDTH // HEADS]).transpose([0, 2, 1, 3])

        def step(self, tokens: Any, keys: Any = None, values: Any = None) -> Any:
            x = self.embedding(tokens)
            query, key, value = (self.split(project(x)) for project in (self.query, self.key, self.value))
            keys = key if keys is None else paddle.concat([keys, key], axis=2)
            values = value if values is None else paddle.concat([values, value], axis=2)
            weights = nn.functional.softmax(paddle.matmul(query, keys, transpose_y=True))
            read = paddle.matmul(weights, values).transpose([0, 2, 1, 3]).reshape([0, 0, WIDTH])
            return self.head(x + read)[:, -1:], keys, values

        def forward(self, tokens: Any) -> Any:
            def more(n: Any, *_: Any) -> Any:
                return n < TOKENS

            def write(n: Any, tokens: Any, scores: Any, keys: Any, values: Any) -> Any:
                best = scores.argmax(-1)
                return [n + 1, paddle.concat([tokens, best], axis=1), *self.step(best, keys, values)]

            if paddle.in_dynamic_mode():
                found = [0, tokens, *self.step(tokens)]
                while more(*found):
                    found = write(*found)
                return found[1]
            start = [paddle.zeros([1], "int64"), tokens, *self.step(tokens)]
            return paddle.static.nn.while_loop(more, write, start)[1]

    paddle.seed(0)
    net = Decoder()
    net.eval()
    return net


def decode(paddle: Any, mode: str) -> Call:
    """The tokens for one prompt after the other."""
    prompts = itertools.cycle([np.arange(n, dtype="int64")[None] for n in (5, 6, 7, 8)])
    if mode == "program":
        return program(paddle, prompts)
    net = decoder(paddle)
    if mode == "loaded":
        with tempfile.TemporaryDirectory() as folder:
            paddle.jit.save(net, f"{folder}/net", input_spec=[paddle.static.InputSpec([1, None], "int64")])
            net = paddle.jit.load(f"{folder}/net")
    paddle.set_grad_enabled(False)
    return lambda: net(paddle.to_tensor(next(prompts))).numpy()


def program(paddle: Any, prompts: Any) -> Call:
    """The same in static mode."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        tokens = decoder(paddle)(paddle.static.data("tokens", [1, -1], "int64"))
    executor = paddle.static.Executor()
    executor.run(startup)
    return lambda: executor.run(main, feed={"tokens": next(prompts)}, fetch_list=[tokens])
