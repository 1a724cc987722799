"""A program of PyTorch, converted by PaConvert; the result is imported, trained, evaluated and exported."""

import importlib.util
from pathlib import Path

import numpy as np
import paddle
import trial
from paconvert.converter import Converter

PROGRAM = """
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.attention = nn.MultiheadAttention(size, 4, batch_first=True)
        self.wide = nn.Linear(size, 2 * size)
        self.narrow = nn.Linear(2 * size, size)

    def forward(self, x):
        y = self.norm(x)
        x = x + self.attention(y, y, y)[0]
        return x + self.narrow(F.gelu(self.wide(x)))


class Net(nn.Module):
    def __init__(self, words=50, size=16, kinds=3):
        super().__init__()
        self.embedding = nn.Embedding(words, size)
        self.blocks = nn.Sequential(Block(size), Block(size))
        self.last = nn.Linear(size, kinds)

    def forward(self, ids):
        x = self.blocks(self.embedding(ids))
        x = torch.cat([x.mean(dim=1, keepdim=True), x.amax(dim=1, keepdim=True)], dim=1).sum(dim=1)
        return self.last(torch.flatten(x, 1))


def batches(x, y, size=8):
    return [(torch.tensor(x[i : i + size]), torch.tensor(y[i : i + size])) for i in range(0, len(x), size)]


def optimizer_of(net):
    return torch.optim.AdamW(net.parameters(), lr=0.002, weight_decay=0.01, betas=(0.9, 0.98))


def train(net, optimizer, loader):
    net.train()
    total = 0.0
    for ids, labels in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(ids), labels, label_smoothing=0.1)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    return total


@torch.no_grad()
def evaluate(net, loader):
    net.eval()
    hits = 0
    for ids, labels in loader:
        hits += (net(ids).argmax(dim=-1) == labels).sum().item()
    return hits


def several(x):
    a = torch.from_numpy(x)
    values, index = torch.topk(a, 3, dim=1)
    mask = a > 0
    picked = a.masked_fill(~mask, 0.0).clamp(max=1.5).pow(2).flatten(1)
    table = torch.zeros(4, 4).scatter_(1, index[:4, :1] % 4, 1.0)
    return [values, torch.gather(a, 1, index), picked.mean(dim=1), table, torch.einsum("ij,kj->ik", a, a).tril()]
"""
Path("program.py").write_text(PROGRAM)
Converter(log_dir="convert.log", log_level="WARNING", no_format=True).run("program.py", "converted.py")
spec = importlib.util.spec_from_file_location("converted", "converted.py")
code = importlib.util.module_from_spec(spec)
spec.loader.exec_module(code)
rng = np.random.RandomState(0)
net = code.Net()
trial.start_from(net)
x, y = rng.randint(0, 50, [16, 10]), rng.randint(0, 3, [16])
loader, optimizer = code.batches(x, y), code.optimizer_of(net)


def more():
    values = [code.evaluate(net, loader), *trial.numbers(code.several(rng.randn(6, 8).astype("float32")))]
    return values + trial.exported(net, paddle.to_tensor(x))


trial.report(lambda: code.train(net, optimizer, loader), 10, more)
