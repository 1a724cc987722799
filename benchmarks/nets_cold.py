"""The larger nets of workloads_cold.py: small pictures and short texts, but all of their layers."""

from __future__ import annotations

import importlib
import os
from typing import Any

paddle: Any = importlib.import_module(os.environ.get("BENCH_MODULE", "paddle_lite_py"))
nn, F = paddle.nn, paddle.nn.functional


def conv(i: int, o: int, k: int = 3, s: int = 1, groups: int = 1) -> Any:
    """A convolution with its normalization."""
    return nn.Sequential(nn.Conv2D(i, o, k, s, k // 2, groups=groups, bias_attr=False), nn.BatchNorm2D(o))


class Inverted(nn.Layer):
    """A block of EfficientNet: wide, by channel, squeezed, narrow."""

    def __init__(self, i: int, o: int, wide: int, stride: int) -> None:
        super().__init__()
        m = i * wide
        self.wide, self.each, self.narrow = conv(i, m, 1), conv(m, m, 3, stride, m), conv(m, o, 1)
        self.down, self.up = nn.Conv2D(m, max(i // 4, 1), 1), nn.Conv2D(max(i // 4, 1), m, 1)
        self.adds = stride == 1 and i == o

    def forward(self, x):
        y = F.silu(self.each(F.silu(self.wide(x))))
        y = y * F.sigmoid(self.up(F.silu(self.down(F.adaptive_avg_pool2d(y, 1)))))
        y = self.narrow(y)
        return x + y if self.adds else y


class EfficientNet(nn.Layer):
    """Twelve inverted blocks."""

    def __init__(self) -> None:
        super().__init__()
        plan = [(16, 1, 1), (24, 4, 2), (24, 4, 1), (40, 4, 2), (40, 4, 1), (80, 4, 2), (80, 4, 1), (80, 4, 1)]
        plan += [(112, 4, 1), (112, 4, 1), (192, 4, 2), (192, 4, 1)]
        blocks, i = [conv(3, 16, 3, 2), nn.Silu()], 16
        for o, wide, stride in plan:
            blocks, i = [*blocks, Inverted(i, o, wide, stride)], o
        self.body, self.head = nn.Sequential(*blocks), nn.Linear(192, 10)

    def forward(self, x):
        return self.head(self.body(x).mean([2, 3]))


class Attention(nn.Layer):
    """Attention and a perceptron, each after a normalization."""

    def __init__(self, d: int, heads: int, causal: bool = False) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.a, self.b, self.qkv, self.out = nn.LayerNorm(d), nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.a(x)).reshape([b, n, 3, self.heads, d // self.heads]).unbind(2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(y.reshape([b, n, d]))
        return x + self.mlp(self.b(x))


class ViT(nn.Layer):
    """Six blocks over 16 patches."""

    def __init__(self) -> None:
        super().__init__()
        self.patch, self.head = nn.Conv2D(3, 96, 8, 8), nn.Linear(96, 10)
        self.place = self.create_parameter([1, 16, 96])
        self.body = nn.Sequential(*[Attention(96, 4) for _ in range(6)])

    def forward(self, x):
        patches = paddle.transpose(self.patch(x).flatten(2), [0, 2, 1])
        return self.head(self.body(patches + self.place).mean(1))


class Swin(nn.Layer):
    """Windows of 4 x 4, every second time shifted, in two stages."""

    def __init__(self) -> None:
        super().__init__()
        self.patch, self.merge, self.head = nn.Conv2D(3, 32, 4, 4), nn.Linear(128, 64), nn.Linear(64, 10)
        self.one = nn.LayerList([Attention(32, 2) for _ in range(2)])
        self.two = nn.LayerList([Attention(64, 4) for _ in range(4)])

    @staticmethod
    def stage(x, blocks):
        b, h, w, c = x.shape
        for i, block in enumerate(blocks):
            y = paddle.roll(x, [-2, -2], [1, 2]) if i % 2 else x
            y = paddle.transpose(y.reshape([b, h // 4, 4, w // 4, 4, c]), [0, 1, 3, 2, 4, 5])
            y = block(y.reshape([-1, 16, c])).reshape([b, h // 4, w // 4, 4, 4, c])
            y = paddle.transpose(y, [0, 1, 3, 2, 4, 5]).reshape([b, h, w, c])
            x = paddle.roll(y, [2, 2], [1, 2]) if i % 2 else y
        return x

    def forward(self, x):
        x = self.stage(paddle.transpose(self.patch(x), [0, 2, 3, 1]), self.one)
        x = paddle.concat([x[:, i::2, j::2] for i in (0, 1) for j in (0, 1)], -1)
        return self.head(self.stage(self.merge(x), self.two).mean([1, 2]))


class UNet(nn.Layer):
    """Three scales down and up."""

    def __init__(self) -> None:
        super().__init__()

        def double(i: int, o: int) -> Any:
            return nn.Sequential(conv(i, o), nn.ReLU(), conv(o, o), nn.ReLU())

        sizes = [16, 32, 64]
        self.down = nn.LayerList([double(i, o) for i, o in zip([3, *sizes], sizes, strict=False)])
        self.middle = double(64, 128)
        self.up = nn.LayerList([nn.Conv2DTranspose(2 * o, o, 2, 2) for o in sizes])
        self.joined = nn.LayerList([double(2 * o, o) for o in sizes])
        self.head = nn.Conv2D(16, 10, 1)

    def forward(self, x):
        kept = []
        for block in self.down:
            kept.append(block(x))
            x = F.max_pool2d(kept[-1], 2)
        x = self.middle(x)
        for i in (2, 1, 0):
            x = self.joined[i](paddle.concat([self.up[i](x), kept[i]], 1))
        return self.head(x)


class GPT(nn.Layer):
    """Six causal blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(200, 96), nn.Embedding(32, 96)
        self.body = nn.Sequential(*[Attention(96, 4, causal=True) for _ in range(6)])
        self.head = nn.Linear(96, 200)

    def forward(self, words):
        return self.head(self.body(self.words(words) + self.places(paddle.arange(words.shape[1]))))


class Conformer(nn.Layer):
    """Three blocks of half a perceptron, attention, a gated convolution along the time, and half a perceptron."""

    def __init__(self) -> None:
        super().__init__()
        d = 64

        def half() -> Any:
            return nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Silu(), nn.Linear(4 * d, d))

        def block() -> Any:
            point = nn.Conv1D(d, 2 * d, 1)
            each, last = nn.Conv1D(d, d, 7, padding=3, groups=d), nn.Conv1D(d, d, 1)
            parts = [half(), Attention(d, 4), nn.LayerNorm(d), point, each, nn.BatchNorm1D(d), last, half()]
            return nn.LayerList(parts)

        self.blocks, self.head = nn.LayerList([block() for _ in range(3)]), nn.Linear(d, 10)

    def forward(self, x):
        for first, attend, norm, point, each, batch_norm, last, second in self.blocks:
            x = attend(x + 0.5 * first(x))
            y = F.glu(point(paddle.transpose(norm(x), [0, 2, 1])), 1)
            x = x + paddle.transpose(last(F.silu(batch_norm(each(y)))), [0, 2, 1])
            x = x + 0.5 * second(x)
        return self.head(x.mean(1))
