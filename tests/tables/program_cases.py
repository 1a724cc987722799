"""Programs as users write them, trained in the same way here and in PaddlePaddle; see tests/golden/make.py.

They are written from the papers: residual blocks (He et al., 2015), separable convolutions (Howard et al., 2017), the
Transformer (Vaswani et al., 2017) and BERT (Devlin et al., 2018), each small enough for a test.
"""

from __future__ import annotations

from typing import Any

import numpy as np

STEPS = 50


def set_weights(model: Any) -> None:
    """Weights that are the same everywhere."""
    rng = np.random.default_rng(7)
    for name, p in model.named_parameters():
        if p.ndim > 1:
            fan = np.prod(p.shape[1:]) if p.ndim > 2 else p.shape[0]
            p.set_value((rng.normal(size=p.shape) / np.sqrt(fan)).astype("float32"))
        else:
            p.set_value(np.full(p.shape, 1.0 if "weight" in name or "scale" in name else 0.0, "float32"))


def resnet(paddle: Any) -> Any:
    """Residual blocks, momentum, weight decay, cosine schedule."""
    nn = paddle.nn

    class Block(nn.Layer):
        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2D(inputs, outputs, 3, stride, 1, bias_attr=False)
            self.bn1, self.bn2 = nn.BatchNorm2D(outputs), nn.BatchNorm2D(outputs)
            self.conv2 = nn.Conv2D(outputs, outputs, 3, 1, 1, bias_attr=False)
            self.short = None
            if stride != 1 or inputs != outputs:
                conv = nn.Conv2D(inputs, outputs, 1, stride, bias_attr=False)
                self.short = nn.Sequential(conv, nn.BatchNorm2D(outputs))

        def forward(self, x: Any) -> Any:
            y = self.bn2(self.conv2(nn.functional.relu(self.bn1(self.conv1(x)))))
            return nn.functional.relu(y + (x if self.short is None else self.short(x)))

    head = [nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(16, 4)]
    stem = [nn.Conv2D(3, 8, 3, 1, 1, bias_attr=False), nn.BatchNorm2D(8), nn.ReLU(), nn.MaxPool2D(2)]
    model = nn.Sequential(*stem, Block(8, 8, 1), Block(8, 16, 2), *head)
    rate = paddle.optimizer.lr.CosineAnnealingDecay(0.02, STEPS)
    decay = paddle.regularizer.L2Decay(1e-4)
    opt = paddle.optimizer.Momentum(rate, 0.9, parameters=model.parameters(), weight_decay=decay)
    return model, opt, rate, pictures, nn.CrossEntropyLoss()


def mobilenet(paddle: Any) -> Any:
    """Separable convolutions, RMSProp, label smoothing."""
    nn = paddle.nn

    def part(inputs: int, outputs: int, kernel: int, stride: int, groups: int = 1) -> Any:
        conv = nn.Conv2D(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias_attr=False)
        return nn.Sequential(conv, nn.BatchNorm2D(outputs), nn.Hardswish())

    blocks = [part(3, 8, 3, 2), part(8, 8, 3, 1, 8), part(8, 16, 1, 1), part(16, 16, 3, 2, 16), part(16, 24, 1, 1)]
    model = nn.Sequential(*blocks, nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(24, 4))
    opt = paddle.optimizer.RMSProp(0.002, parameters=model.parameters(), epsilon=1e-3)
    return model, opt, None, pictures, nn.CrossEntropyLoss(label_smoothing=0.1)


def transformer(paddle: Any) -> Any:
    """An encoder and a decoder that learn to reverse sequences; Adam with the schedule of the paper."""
    nn = paddle.nn

    class Model(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.place = nn.Embedding(12, 16), nn.Embedding(8, 16)
            self.body = nn.Transformer(16, 2, 1, 1, 32, dropout=0.0)
            self.out = nn.Linear(16, 12)

        def forward(self, source: Any, target: Any) -> Any:
            place = self.place(paddle.arange(source.shape[1]))
            mask = nn.Transformer.generate_square_subsequent_mask(None, target.shape[1])
            hidden = self.body(self.embed(source) + place, self.embed(target) + place, tgt_mask=mask)
            return self.out(hidden).reshape([-1, 12])

    model = Model()
    rate = paddle.optimizer.lr.NoamDecay(16, 20, learning_rate=0.3)
    opt = paddle.optimizer.Adam(rate, 0.9, 0.98, 1e-9, parameters=model.parameters())
    return model, opt, rate, sequences, nn.CrossEntropyLoss()


def bert(paddle: Any) -> Any:
    """A masked language model; AdamW with warm-up, gradients clipped by their joint norm, no decay of norms."""
    nn = paddle.nn

    class Model(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.word, self.place, self.kind = nn.Embedding(20, 16), nn.Embedding(8, 16), nn.Embedding(2, 16)
            self.norm = nn.LayerNorm(16)
            layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, activation="gelu")
            self.encoder = nn.TransformerEncoder(layer, 2)
            self.pooler, self.bias = nn.Linear(16, 16), self.create_parameter([20], is_bias=True)
            self.next = nn.Linear(16, 2)

        def forward(self, ids: Any, kinds: Any) -> Any:
            keep = (ids != 0).astype("float32").unsqueeze([1, 2])
            place = paddle.arange(ids.shape[1]).unsqueeze(0)
            hidden = self.norm(self.word(ids) + self.place(place) + self.kind(kinds))
            hidden = self.encoder(hidden, (keep - 1.0) * 1e4)
            words = paddle.matmul(hidden, self.word.weight, transpose_y=True) + self.bias
            return words, self.next(paddle.tanh(self.pooler(hidden[:, 0])))

    model = Model()
    rate = paddle.optimizer.lr.LinearWarmup(paddle.optimizer.lr.PolynomialDecay(0.005, STEPS), 10, 0.0, 0.005)
    opt = paddle.optimizer.AdamW(
        rate,
        parameters=model.parameters(),
        weight_decay=0.01,
        apply_decay_param_fun=lambda n: True,
        grad_clip=nn.ClipGradByGlobalNorm(1.0),
    )

    def loss(outputs: Any, labels: Any) -> Any:
        words, following = outputs
        masked = nn.functional.cross_entropy(words.reshape([-1, 20]), labels[0].reshape([-1]), ignore_index=-1)
        return masked + nn.functional.cross_entropy(following, labels[1])

    return model, opt, rate, sentences, loss


def pictures(rng: np.random.Generator) -> tuple[list[np.ndarray], Any]:
    """Pictures of four kinds of stripes, and their kind."""
    kind = rng.integers(0, 4, 6)
    x = rng.normal(size=(6, 3, 12, 12)) * 0.5
    for i, k in enumerate(kind):
        x[i, :, :: k + 1] += 1.0
    return [x.astype("float32")], kind.astype("int64")


def sequences(rng: np.random.Generator) -> tuple[list[np.ndarray], Any]:
    """Sequences, their reverse moved by one, and their reverse."""
    source = rng.integers(1, 12, (4, 6))
    reverse = source[:, ::-1]
    target = np.concatenate([np.zeros((4, 1), int), reverse[:, :-1]], 1)
    return [source.astype("int64"), target.astype("int64")], reverse.reshape(-1).astype("int64")


def sentences(rng: np.random.Generator) -> tuple[list[np.ndarray], Any]:
    """Words with some of them masked, the parts they belong to; the masked words, and whether the parts follow."""
    ids = rng.integers(2, 20, (4, 8))
    ids[:, 6:] = np.where(rng.random((4, 2)) < 0.5, 0, ids[:, 6:])
    hidden = rng.random((4, 8)) < 0.3
    kinds = np.repeat([[0, 0, 0, 0, 1, 1, 1, 1]], 4, 0)
    labels = np.where(hidden & (ids != 0), ids, -1)
    labels[:, 0] = ids[:, 0]
    return [np.where(hidden, 1, ids), kinds], [labels, (ids[:, 1] > 10).astype("int64")]


CASES = {"resnet": resnet, "mobilenet": mobilenet, "transformer": transformer, "bert": bert}


def run(paddle: Any, case: str, static: bool = False) -> list[float]:
    """The losses of 50 steps."""
    paddle.seed(0)
    model, opt, rate, data, loss_of = CASES[case](paddle)
    set_weights(model)
    model.train()

    def step(inputs: Any, labels: Any) -> Any:
        loss = loss_of(model(*inputs), labels)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    step = paddle.jit.to_static(step) if static else step
    rng, losses = np.random.default_rng(1), []
    for _ in range(STEPS):
        inputs, labels = data(rng)
        given = [paddle.to_tensor(v) for v in labels] if isinstance(labels, list) else paddle.to_tensor(labels)
        losses.append(float(step([paddle.to_tensor(v) for v in inputs], given)))
        if rate is not None:
            rate.step()
    return losses
