"""The workloads in PyTorch: eager as users write it; net and step with torch.compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import generation_torch
from generation import BATCHES
from worker import EPOCH, Call, Workloads, serve

rs = np.random.RandomState(0)


def sync(result: Any) -> None:
    """On the CPU a result is there when the call returns."""


class MLP(nn.Module):
    """Three linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = nn.Linear(784, 256), nn.Linear(256, 128), nn.Linear(128, 10)

    def forward(self, x):
        return self.c(F.relu(self.b(F.relu(self.a(x)))))


class LeNet(nn.Module):
    """LeNet-5 for 28x28 images."""

    def __init__(self) -> None:
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(1, 6, 3, padding=1), nn.Conv2d(6, 16, 5)
        self.f1, self.f2, self.f3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2, 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2, 2)
        return self.f3(F.relu(self.f2(F.relu(self.f1(torch.flatten(x, 1))))))


class Block(nn.Module):
    """Residual block of two 3x3 convolutions."""

    def __init__(self, i: int, o: int, s: int) -> None:
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o)
        self.c2, self.b2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.short = None
        if s != 1 or i != o:
            self.short = nn.Sequential(nn.Conv2d(i, o, 1, s, bias=False), nn.BatchNorm2d(o))

    def forward(self, x):
        y = self.b2(self.c2(F.relu(self.b1(self.c1(x)))))
        return F.relu(y + (x if self.short is None else self.short(x)))


class ResNet(nn.Module):
    """ResNet-18 for 32x32 images at half width."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 32, 3, 1, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU())
        blocks, i = [], 32
        for o, s in ((32, 1), (64, 2), (128, 2), (256, 2)):
            blocks += [Block(i, o, s), Block(o, o, 1)]
            i = o
        self.blocks, self.fc = nn.Sequential(*blocks), nn.Linear(256, 10)

    def forward(self, x):
        return self.fc(self.blocks(self.stem(x)).mean([2, 3]))


class Bert(nn.Module):
    """Four encoder layers with a language-model head."""

    def __init__(self, d: int = 256, layers: int = 4, heads: int = 4, vocab: int = 8000) -> None:
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(128, d)
        layer = nn.TransformerEncoderLayer(d, heads, 4 * d, dropout=0.0, activation="gelu", batch_first=True)
        self.enc = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(d, vocab)

    def forward(self, ids):
        return self.head(self.enc(self.tok(ids) + self.pos(torch.arange(ids.shape[1]))))


class LM(nn.Module):
    """Two-layer LSTM language model."""

    def __init__(self, vocab: int = 2000, d: int = 200) -> None:
        super().__init__()
        self.emb, self.head = nn.Embedding(vocab, d), nn.Linear(d, vocab)
        self.rnn = nn.LSTM(d, d, num_layers=2, batch_first=True)

    def forward(self, ids):
        return self.head(self.rnn(self.emb(ids))[0])


class GPT(nn.Module):
    """GPT-2 with layers of a width: pre-norm blocks with attention to earlier tokens, and the embeddings as head."""

    def __init__(self, d: int, layers: int = 12, vocab: int = 1000) -> None:
        super().__init__()
        self.tok, self.pos, self.norm = nn.Embedding(vocab, d), nn.Embedding(128, d), nn.LayerNorm(d)
        self.blocks = nn.ModuleList([GPTBlock(d, d // 64) for _ in range(layers)])

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.tok.weight.T


class GPTBlock(nn.Module):
    """Attention and two layers, each added to what came in."""

    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).reshape(*x.shape[:2], 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class UNet(nn.Module):
    """Labels for each point of a picture: down and up by two, with a way across."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = twice(3, 16), twice(16, 32), twice(32, 16)
        self.up, self.out = nn.ConvTranspose2d(32, 16, 2, 2), nn.Conv2d(16, 10, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.up(self.b(F.max_pool2d(a, 2, 2)))
        return self.out(self.c(torch.cat([b, a], 1))).permute(0, 2, 3, 1)


def twice(i: int, o: int) -> Any:
    """Two 3x3 convolutions with what follows each."""
    first = nn.Conv2d(i, o, 3, 1, 1), nn.BatchNorm2d(o), nn.ReLU()
    return nn.Sequential(*first, nn.Conv2d(o, o, 3, 1, 1), nn.BatchNorm2d(o), nn.ReLU())


class WaveNet(nn.Module):
    """Gated convolutions of a signal, ever further apart."""

    def __init__(self, c: int = 32) -> None:
        super().__init__()
        self.apart = [2**i for i in range(8)]
        self.first, self.last = nn.Conv1d(1, c, 1), nn.Conv1d(c, 10, 1)
        self.values = nn.ModuleList([nn.Conv1d(c, c, 2, padding=d, dilation=d) for d in self.apart])
        self.gates = nn.ModuleList([nn.Conv1d(c, c, 2, padding=d, dilation=d) for d in self.apart])

    def forward(self, x):
        x = self.first(x)
        for value, gate, d in zip(self.values, self.gates, self.apart, strict=True):
            x = x + F.tanh(value(x)[:, :, :-d]) * F.sigmoid(gate(x)[:, :, :-d])
        return self.last(x).permute(0, 2, 1)


class Video(nn.Module):
    """Two convolutions of clips of eight 32x32 pictures."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Conv3d(3, 16, 3, 1, 1), nn.Conv3d(16, 32, 3, 1, 1)
        self.out = nn.Linear(32 * 2 * 8 * 8, 10)

    def forward(self, x):
        x = F.max_pool3d(F.relu(self.a(x)), 2, 2)
        return self.out(F.max_pool3d(F.relu(self.b(x)), 2, 2).flatten(1))


def images(*shape: int) -> tuple[Any, Any]:
    """Random images with labels of ten classes."""
    return torch.from_numpy(rs.randn(*shape).astype("float32")), torch.from_numpy(rs.randint(0, 10, shape[:1]))


def points(*shape: int) -> tuple[Any, Any]:
    """Random arrays with one of ten labels at each place."""
    return torch.from_numpy(rs.randn(*shape).astype("float32")), torch.from_numpy(
        rs.randint(0, 10, (shape[0], *shape[2:]))
    )


def tokens(vocab: int, *shape: int) -> tuple[Any, Any]:
    """Random token ids and what should follow them."""
    return torch.from_numpy(rs.randint(0, vocab, shape)), torch.from_numpy(rs.randint(0, vocab, shape))


NETS: dict[str, tuple[Callable, Callable]] = {
    "mlp": (MLP, lambda: images(64, 784)),
    "lenet": (LeNet, lambda: images(64, 1, 28, 28)),
    "resnet": (ResNet, lambda: images(16, 3, 32, 32)),
    "bert": (Bert, lambda: tokens(8000, 4, 128)),
    "lm": (LM, lambda: tokens(2000, 20, 35)),
    **{f"gpt{d}": (lambda d=d: GPT(d), lambda: tokens(1000, 4, 128)) for d in (256, 768)},
    "unet": (UNet, lambda: points(4, 3, 64, 64)),
    "wavenet": (WaveNet, lambda: points(4, 1, 1000)),
    "video": (Video, lambda: images(4, 3, 8, 32, 32)),
}


def train(kind: str, mode: str) -> Call:
    """A training step: eager, with the module alone compiled (net), or compiled as a whole (step)."""
    make, data = NETS[kind]
    net = make()
    opt = torch.optim.Adam(net.parameters(), 1e-4)
    x, y = data()
    if mode == "net":
        net = torch.compile(net)

    def step(x, y):
        logits = net(x)
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))
        loss.backward()
        opt.step()
        opt.zero_grad()
        return loss

    function = torch.compile(step) if mode == "step" else step
    return lambda: function(x, y)


def loop(kind: str) -> Call:
    """An epoch of a plain loop."""
    call = train(kind, "eager")
    return lambda: [call() for _ in range(EPOCH[kind])]


def infer(kind: str, mode: str) -> Call:
    """The forward pass for one example."""
    make, data = NETS[kind]
    net = make().eval()
    x = data()[0][:1]
    function = torch.compile(net) if mode == "net" else net

    def call():
        with torch.no_grad():
            return function(x)

    return call


def eager_add(grad: bool) -> Call:
    """The smallest call there is."""
    a, b = torch.ones(4, 4, requires_grad=grad), torch.ones(4, 4)
    return lambda: a + b


def eager_matmul() -> Call:
    """A small matrix product."""
    a, b = torch.ones(4, 4), torch.ones(4, 4)
    return lambda: a @ b


def eager_fwd_bwd4() -> Call:
    """Four ops forward, and backward."""
    a, b, w = torch.ones(4, 4), torch.ones(4, 4), torch.ones(4, 4, requires_grad=True)

    def call():
        torch.tanh(w @ b + a).sum().backward()
        grad, w.grad = w.grad, None
        return grad

    return call


def four(a, b):
    """Matrix product, addition, tanh, sum."""
    return torch.tanh(a @ b + a).sum()


def count(x):
    """A hundred steps on a tensor condition."""
    i = torch.zeros([], dtype=torch.int32)
    while i < 100:
        x = torch.tanh(x)
        i = i + 1
    return x


def collatz(n):
    """A data-dependent loop with a branch in it."""
    steps = torch.zeros([], dtype=torch.int32)
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps = steps + 1
    return steps


def compiled(function: Callable, *args: Any) -> Call:
    """A function under torch.compile."""
    f = torch.compile(function)
    return lambda: f(*args)


def static_grad_while100() -> Call:
    """A data-dependent loop and its gradient."""
    w = torch.from_numpy(rs.randn(64, 64).astype("float32") * np.float32(0.1)).requires_grad_()
    x, n = torch.ones(64, 64), torch.tensor(100)

    def loop(x, n):
        i = torch.zeros([], dtype=torch.int64)
        while i < n:
            x = torch.tanh(x @ w) + 0.01
            i = i + 1
        return x.sum()

    f = torch.compile(loop)

    def call():
        f(x, n).backward()
        grad, w.grad = w.grad, None
        return grad

    return call


WORKLOADS: Workloads = {
    "eager_add": lambda: eager_add(grad=False),
    "eager_add_grad": lambda: eager_add(grad=True),
    "eager_matmul": eager_matmul,
    "eager_fwd_bwd4": eager_fwd_bwd4,
    "static_call4": lambda: compiled(four, torch.ones(4, 4), torch.ones(4, 4)),
    "static_while100": lambda: compiled(count, torch.ones(4, 4)),
    "static_collatz": lambda: compiled(collatz, torch.tensor(97)),
    "static_grad_while100": static_grad_while100,
    **{f"loop_{k}": lambda k=k: loop(k) for k in EPOCH},
    **{f"train_{k}_{m}": lambda k=k, m=m: train(k, m) for k in NETS for m in ("eager", "net", "step")},
    **{f"infer_{k}_{m}": lambda k=k, m=m: infer(k, m) for k in NETS for m in ("eager", "net")},
    **{f"generate64_plain_{n}": lambda n=n: generation_torch.plain(n) for n in BATCHES},
    **{f"generate64_compiled_{n}": lambda n=n: generation_torch.compiled(n) for n in BATCHES},
}

if __name__ == "__main__":
    serve(WORKLOADS, sync)
