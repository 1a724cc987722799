"""Eight models of pictures and text, written once for this package and for PyTorch under Paddle's names.

Layer sizes are those of the papers. A model gives a tensor or a list; a step trains on the means of their squares.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


def names_of(paddle: Any) -> SimpleNamespace:
    """What the models take of a package with Paddle's names: this one, or `torch_as_paddle`."""
    nn, F = paddle.nn, paddle.nn.functional

    def conv(i: int, o: int, k: int, s: int = 1, groups: int = 1, wide: int = 1) -> Any:
        return nn.Conv2D(i, o, k, s, (k // 2) * wide, groups=groups, dilation=wide, bias_attr=False)

    return SimpleNamespace(
        Layer=nn.Layer, many=nn.LayerList, chain=nn.Sequential, conv=conv, bn=nn.BatchNorm2D, linear=nn.Linear,
        up_conv=lambda i, o: nn.Conv2DTranspose(i, o, 3, 2, 1, 1), instance=nn.InstanceNorm2D, relu=F.relu,
        leaky=lambda x: F.leaky_relu(x, 0.1), sigmoid=F.sigmoid, tanh=paddle.tanh, embedding=nn.Embedding,
        layer_norm=nn.LayerNorm, gelu=F.gelu, cat=lambda xs: paddle.concat(xs, 1), pool=nn.MaxPool2D(3, 2, 1),
        larger=lambda x, n: F.interpolate(x, scale_factor=n, mode="nearest"),
        attend=lambda q, k, v, causal: F.scaled_dot_product_attention(q, k, v, is_causal=causal),
    )  # fmt: skip


def models(names: SimpleNamespace) -> dict[str, tuple[Any, list[tuple[str, tuple[int, ...]]]]]:
    """What makes each model, and the kind and shape of its inputs."""
    N = names

    class Unit(N.Layer):
        """A convolution, its normalization, and what follows."""

        def __init__(self, i: int, o: int, k: int, s: int = 1, act: Any = N.relu, **more: int) -> None:
            super().__init__()
            self.conv, self.bn, self.act = N.conv(i, o, k, s, **more), N.bn(o), act

        def forward(self, x: Any) -> Any:
            """The unit."""
            x = self.bn(self.conv(x))
            return x if self.act is None else self.act(x)

    class Bottleneck(N.Layer):
        """A block of a ResNet, perhaps with groups and with weights for channels (SE)."""

        def __init__(self, i: int, d: int, s: int = 1, groups: int = 1, se: bool = False, wide: int = 1) -> None:
            super().__init__()
            o, middle = 4 * d, d * (2 if groups > 1 else 1)
            self.a, self.b = Unit(i, middle, 1), Unit(middle, middle, 3, s, groups=groups, wide=wide)
            self.c, self.skip = Unit(middle, o, 1, act=None), Unit(i, o, 1, s, None) if i != o or s > 1 else None
            self.squeeze = N.many([N.linear(o, o // 16), N.linear(o // 16, o)]) if se else None

        def forward(self, x: Any) -> Any:
            """The block."""
            y = self.c(self.b(self.a(x)))
            if self.squeeze is not None:
                w = N.sigmoid(self.squeeze[1](N.relu(self.squeeze[0](y.mean([2, 3])))))
                y = y * w.reshape([w.shape[0], w.shape[1], 1, 1])
            return N.relu(y + (x if self.skip is None else self.skip(x)))

    class ResNet(N.Layer):
        """A ResNet of 50 layers; it gives the scores, or what its stages give."""

        def __init__(self, groups: int = 1, se: bool = False, stages: bool = False, wide: bool = False) -> None:
            super().__init__()
            self.stem, self.stages, made, i = Unit(3, 64, 7, 2), stages, [], 64
            for k, n in enumerate((3, 4, 6, 3)):
                for j in range(n):
                    apart, s = (2 if wide and k == 3 else 1), 2 if k and not j and not (wide and k == 3) else 1
                    made.append(Bottleneck(i, 64 << k, s, groups, se, apart))
                    i = 256 << k
            self.blocks, self.head = N.many(made), None if stages else N.linear(2048, 1000)

        def forward(self, x: Any) -> Any:
            """Scores, or four maps."""
            x, found = N.pool(self.stem(x)), []
            for i, block in enumerate(self.blocks):
                x = block(x)
                found += [x] if i in (2, 6, 12, 15) else []
            return found if self.stages else self.head(x.mean([2, 3]))

    class MaskHead(N.Layer):
        """The heads of a Mask R-CNN for 256 regions: boxes and classes, and masks."""

        def __init__(self) -> None:
            super().__init__()
            self.f1, self.f2 = N.linear(256 * 49, 1024), N.linear(1024, 1024)
            self.scores, self.boxes = N.linear(1024, 81), N.linear(1024, 324)
            self.masks, self.up = N.chain(*[Unit(256, 256, 3) for _ in range(4)]), N.up_conv(256, 256)
            self.last = N.conv(256, 81, 1)

        def forward(self, regions: Any, larger: Any) -> Any:
            """Scores, boxes and masks."""
            x = N.relu(self.f2(N.relu(self.f1(regions.reshape([regions.shape[0], -1])))))
            return [self.scores(x), self.boxes(x), self.last(N.relu(self.up(self.masks(larger))))]

    class Darknet(N.Layer):
        """The body of YOLOv3: Darknet-53 with three heads."""

        def __init__(self) -> None:
            super().__init__()
            self.first, self.downs, self.pairs = Unit(3, 32, 3, act=N.leaky), N.many([]), N.many([])
            for k, n in enumerate((1, 2, 8, 8, 4)):
                d = 64 << k
                self.downs.append(Unit(d // 2, d, 3, 2, N.leaky))
                pair = [[Unit(d, d // 2, 1, act=N.leaky), Unit(d // 2, d, 3, act=N.leaky)] for _ in range(n)]
                self.pairs.append(N.many([N.chain(*p) for p in pair]))
            self.heads = N.many(
                [N.chain(Unit(d, d // 2, 1, act=N.leaky), N.conv(d // 2, 255, 1)) for d in (1024, 768, 384)]
            )
            self.turns = N.many([Unit(1024, 256, 1, act=N.leaky), Unit(768, 128, 1, act=N.leaky)])

        def forward(self, x: Any) -> Any:
            """Three maps of predictions."""
            x, found = self.first(x), []
            for down, pairs in zip(self.downs, self.pairs, strict=True):
                x = down(x)
                for pair in pairs:
                    x = x + pair(x)
                found.append(x)
            out = [self.heads[0](x)]
            for i, turn in enumerate(self.turns):
                x = N.cat([N.larger(turn(x), 2), found[3 - i]])
                out.append(self.heads[i + 1](x))
            return out

    class DeepLab(N.Layer):
        """DeepLabV3+ on a ResNet50 with output stride 16."""

        def __init__(self) -> None:
            super().__init__()
            self.body = ResNet(stages=True, wide=True)
            self.parts = N.many([Unit(2048, 256, 1), *[Unit(2048, 256, 3, wide=w) for w in (6, 12, 18)]])
            self.join, self.low = Unit(1024, 256, 1), Unit(256, 48, 1)
            self.end = N.chain(Unit(304, 256, 3), Unit(256, 256, 3), N.conv(256, 21, 1))

        def forward(self, x: Any) -> Any:
            """Scores of each fourth pixel."""
            low, _, _, high = self.body(x)
            joined = N.larger(self.join(N.cat([p(high) for p in self.parts])), 4)
            return self.end(N.cat([joined, self.low(low)]))

    class CycleGAN(N.Layer):
        """The generator of a CycleGAN, with nine blocks."""

        def __init__(self) -> None:
            super().__init__()
            plan = [(3, 64, 7, 1), (64, 128, 3, 2), (128, 256, 3, 2), *[(256, 256, 3, 1)] * 18]
            self.convs = N.many([N.conv(*p) for p in plan])
            self.norms = N.many([N.instance(p[1]) for p in plan])
            self.ups, self.last = N.many([N.up_conv(256, 128), N.up_conv(128, 64)]), N.conv(64, 3, 7)

        def forward(self, x: Any) -> Any:
            """A picture of the other kind."""
            for i in range(3):
                x = N.relu(self.norms[i](self.convs[i](x)))
            for i in range(3, 21, 2):
                y = N.relu(self.norms[i](self.convs[i](x)))
                x = x + self.norms[i + 1](self.convs[i + 1](y))
            return N.tanh(self.last(N.relu(self.ups[1](N.relu(self.ups[0](x))))))

    class Attention(N.Layer):
        """Attention with several heads, of one sequence or of another one."""

        def __init__(self, d: int, heads: int) -> None:
            super().__init__()
            self.heads, self.q, self.k, self.v, self.out = heads, *[N.linear(d, d) for _ in range(4)]

        def forward(self, x: Any, y: Any, causal: bool) -> Any:
            """What x takes of y."""
            parts = [f(z) for f, z in ((self.q, x), (self.k, y), (self.v, y))]
            q, k, v = (p.reshape([p.shape[0], p.shape[1], self.heads, -1]) for p in parts)
            return self.out(N.attend(q, k, v, causal).reshape(x.shape))

    class Part(N.Layer):
        """A layer of a Transformer; of its decoder if it looks at another sequence."""

        def __init__(self, d: int, heads: int, other: bool = False) -> None:
            super().__init__()
            self.a, self.b = Attention(d, heads), Attention(d, heads) if other else None
            self.n = N.many([N.layer_norm(d) for _ in range(3 if other else 2)])
            self.up, self.down = N.linear(d, 4 * d), N.linear(4 * d, d)

        def forward(self, x: Any, other: Any = None) -> Any:
            """The layer."""
            x = self.n[0](x + self.a(x, x, self.b is not None))
            x = x if self.b is None else self.n[2](x + self.b(x, other, False))
            return self.n[1](x + self.down(N.gelu(self.up(x))))

    class Bert(N.Layer):
        """BERT-base with scores of words."""

        def __init__(self) -> None:
            super().__init__()
            self.word, self.norm, self.head = N.embedding(30522, 768), N.layer_norm(768), N.linear(768, 30522)
            self.parts = N.many([Part(768, 12) for _ in range(12)])

        def forward(self, ids: Any) -> Any:
            """Scores."""
            x = self.norm(self.word(ids))
            for part in self.parts:
                x = part(x)
            return self.head(x)

    class Transformer(N.Layer):
        """The base model of Attention Is All You Need."""

        def __init__(self) -> None:
            super().__init__()
            self.word, self.head = N.embedding(37000, 512), N.linear(512, 37000)
            self.inner, self.outer = (N.many([Part(512, 8, o) for _ in range(6)]) for o in (False, True))

        def forward(self, source: Any, target: Any) -> Any:
            """Scores."""
            x, y = self.word(source), self.word(target)
            for part in self.inner:
                x = part(x)
            for part in self.outer:
                y = part(y, x)
            return self.head(y)

    picture, ids = "picture", "ids"
    return {
        "ResNet50": (ResNet, [(picture, (64, 3, 224, 224))]),
        "SE-ResNeXt50": (lambda: ResNet(32, True), [(picture, (64, 3, 224, 224))]),
        "Mask R-CNN head": (MaskHead, [(picture, (256, 256, 7, 7)), (picture, (64, 256, 14, 14))]),
        "YOLOv3 body": (Darknet, [(picture, (16, 3, 416, 416))]),
        "DeepLabV3+": (DeepLab, [(picture, (8, 3, 512, 512))]),
        "CycleGAN generator": (CycleGAN, [(picture, (4, 3, 256, 256))]),
        "BERT-base": (Bert, [(ids, (32, 128))]),
        "Transformer": (Transformer, [(ids, (32, 64)), (ids, (32, 64))]),
    }
