"""The models of the memory table as users write them, with layers that hold no data."""

from __future__ import annotations

from typing import Any

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.distributed.fleet.utils import recompute

F = nn.functional


class Block(nn.Layer):
    """A layer of a GPT."""

    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.q, self.k, self.v, self.out = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x: Any) -> Any:
        """Attention, then two linear layers."""
        b, t, d = x.shape
        h = self.n1(x)
        q, k, v = (part(h).reshape([b, t, self.heads, d // self.heads]) for part in (self.q, self.k, self.v))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).reshape([b, t, d]))
        return x + self.down(F.gelu(self.up(self.n2(x))))


class GPT(nn.Layer):
    """A GPT whose last layer has the weight of its first."""

    def __init__(self, d: int, layers: int, heads: int, vocab: int, length: int) -> None:
        super().__init__()
        self.word, self.norm = nn.Embedding(vocab, d), nn.LayerNorm(d)
        self.at = self.create_parameter([length, d])
        self.blocks = nn.LayerList([Block(d, heads) for _ in range(layers)])

    def forward(self, ids: Any, again: bool) -> Any:
        """Scores of the next words."""
        x = self.word(ids) + self.at
        for block in self.blocks:
            x = recompute(block, x) if again else block(x)
        return paddle.matmul(self.norm(x), self.word.weight, transpose_y=True)


class Bert(nn.Layer):
    """A BERT with a head for masked words."""

    def __init__(self, d: int, layers: int, heads: int, vocab: int, length: int) -> None:
        super().__init__()
        self.word, self.norm, self.head = nn.Embedding(vocab, d), nn.LayerNorm(d), nn.Linear(d, vocab)
        self.at = self.create_parameter([length, d])
        self.blocks = nn.LayerList(
            [nn.TransformerEncoderLayer(d, heads, 4 * d, dropout=0.0, activation="gelu") for _ in range(layers)]
        )

    def forward(self, ids: Any, again: bool) -> Any:
        """Scores of the words."""
        x = self.norm(self.word(ids) + self.at)
        for block in self.blocks:
            x = recompute(block, x) if again else block(x)
        return self.head(x)


class ResNet(nn.Layer):
    """The library's ResNet50, whose blocks may be computed again."""

    def __init__(self) -> None:
        super().__init__()
        self.net = paddle.vision.models.resnet50()

    def forward(self, x: Any, again: bool) -> Any:
        """Scores of the classes."""
        net = self.net
        x = net.maxpool(net.relu(net.bn1(net.conv1(x))))
        for stage in (net.layer1, net.layer2, net.layer3, net.layer4):
            for block in stage:
                x = recompute(block, x) if again else block(x)
        return net.fc(paddle.flatten(net.avgpool(x), 1))


def model(name: str) -> tuple[Any, Any, list[Any]]:
    """A model of the table without data, its optimizer, and what a step is given."""
    Spec, optimizer = paddle.static.InputSpec, paddle.optimizer
    with paddle.targets.abstract():
        if name == "ResNet50":
            net = ResNet()
            rule = optimizer.Momentum(0.1, 0.9, parameters=net.parameters())
            return net, rule, [Spec([64, 3, 224, 224]), Spec([64], "int64")]
        net = Bert(768, 12, 12, 30522, 512) if name == "BERT-base" else GPT(2048, 24, 16, 50304, 1024)
        ids = Spec([16, 512] if name == "BERT-base" else [2, 1024], "int64")
        return net, optimizer.AdamW(1e-3, parameters=net.parameters(), weight_decay=0.01), [ids, ids]


def step(name: str, low: bool, again: bool) -> tuple[Any, list[Any]]:
    """The training step of a model of the table, and its arguments."""
    net, rule, given = model(name)

    @paddle.jit.to_static
    def train(x: Any, y: Any) -> Any:
        with paddle.amp.auto_cast(enable=low, dtype="bfloat16"):
            scores = net(x, again)
        loss = F.cross_entropy(scores.reshape([-1, scores.shape[-1]]), y.reshape([-1]))
        loss.backward()
        rule.step()
        rule.clear_grad()
        return loss

    return train, given
