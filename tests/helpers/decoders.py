"""A small net that writes token after token, with a cache that grows, and a count of what XLA compiles."""

from __future__ import annotations

from contextlib import contextmanager

from jax import monitoring

import paddle_lite_py as paddle
from paddle_lite_py import nn

_COMPILED = "/jax/core/compile/backend_compile_duration"
_counts: list[list[int]] = []


def _heard(name, _seconds, **_):
    if name == _COMPILED:
        for count in _counts:
            count[0] += 1


monitoring.register_event_duration_secs_listener(_heard)


@contextmanager
def compilations():
    """A list of one number: how often XLA compiles in the block."""
    count = [0]
    _counts.append(count)
    try:
        yield count
    finally:
        _counts.remove(count)


class Decoder(nn.Layer):
    """One layer of attention over all tokens so far."""

    def __init__(self, words=16, width=8, heads=2):
        super().__init__()
        self.heads = heads
        self.embedding, self.head = nn.Embedding(words, width), nn.Linear(width, words)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def split(self, x):
        return x.reshape([0, 0, self.heads, x.shape[-1] // self.heads]).transpose([0, 2, 1, 3])

    def step(self, tokens, keys=None, values=None):
        """Scores of the next word, and the caches."""
        x = self.embedding(tokens)
        query, key, value = (self.split(project(x)) for project in (self.query, self.key, self.value))
        keys = key if keys is None else paddle.concat([keys, key], axis=2)
        values = value if values is None else paddle.concat([values, value], axis=2)
        weights = nn.functional.softmax(paddle.matmul(query, keys, transpose_y=True))
        read = paddle.matmul(weights, values).transpose([0, 2, 1, 3]).reshape([0, 0, x.shape[-1]])
        return self.head(x + read)[:, -1:], keys, values

    def forward(self, tokens, count):
        """The tokens, and so many more."""
        scores, keys, values = self.step(tokens)
        n = paddle.zeros([1], "int64")
        while n < count:
            best = scores.argmax(-1)
            tokens = paddle.concat([tokens, best], axis=1)
            scores, keys, values = self.step(best, keys, values)
            n = n + 1
        return tokens

    def unrolled(self, tokens, count):
        """The same in a loop of Python's."""
        scores, keys, values = self.step(tokens)
        for _ in range(count):
            best = scores.argmax(-1)
            tokens = paddle.concat([tokens, best], axis=1)
            scores, keys, values = self.step(best, keys, values)
        return tokens


def decoder(**sizes):
    """A decoder whose weights are the same each time."""
    paddle.seed(0)
    net = Decoder(**sizes)
    net.eval()
    return net
