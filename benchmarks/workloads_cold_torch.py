"""The workloads of workloads_cold.py in PyTorch: eager, or the layer under torch.compile.

usage: workloads_cold_torch.py NAME [--static]     one JSON line: seconds from the import to the first loss and the last
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

begin = time.perf_counter()
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

imported = time.perf_counter() - begin
from cartpole import CartPole  # noqa: E402

rs = np.random.RandomState(0)
Step = Callable[[int], Any]
STEPS = {"session": 1, "lstm": 20}  # others: 10


def floats(*shape: int) -> Any:
    """Random numbers as a tensor."""
    return torch.tensor(rs.randn(*shape).astype("float32"))


def integers(high: int, *shape: int) -> Any:
    """Random integers below `high` as a tensor."""
    return torch.tensor(rs.randint(0, high, shape).astype("int64"))


def layer(made: Any) -> Any:
    """The layer, compiled where the command line asks for it."""
    return torch.compile(made) if "--static" in sys.argv else made


def training(net: Any, loss_of: Callable[[Any, int], Any], rate: float = 1e-3) -> Step:
    """Steps of Adam on a loss."""
    opt = torch.optim.Adam(net.parameters(), rate)
    called = layer(net)

    def step(i: int) -> Any:
        loss = loss_of(called, i)
        loss.backward()
        opt.step()
        opt.zero_grad()
        return loss

    return step


def classifying(net: Any, x: Any, classes: int) -> Step:
    """Training on one batch of inputs and labels."""
    y = integers(classes, x.shape[0])
    return training(net, lambda f, i: F.cross_entropy(f(x), y))


def session() -> Step:
    """Each line is what one types to look at some data."""

    def step(i: int) -> Any:
        x, y, n = floats(6, 8), floats(6, 8), integers(6, 10)
        w = floats(8, 4).requires_grad_()
        found = [
            *(x + y, x - y, x * 2.0, x / (y.abs() + 1), x**2, -x, x.abs(), x.exp(), x.abs().log(), x.abs().sqrt()),
            *(x.tanh(), F.sigmoid(x), F.relu(x), F.gelu(x), F.softmax(x, -1), F.log_softmax(x, -1), F.silu(x)),
            *(x.sum(), x.mean(0), x.max(1), x.min(), x.std(), x.var(1), x.prod(), x.argmax(1), x.argmin(0)),
            *(x.cumsum(0), x.sort(1), x.argsort(1), x.topk(3)[0], x.flip(0), x.roll(1, 0), x.norm(), x.median()),
            *(x.reshape([8, 6]), x.permute([1, 0]), x.unsqueeze(0), x.flatten(), torch.concat([x, y])),
            *(torch.stack([x, y]), x.split(2)[0], x.chunk(2, 1)[1], torch.tile(x, [2, 1]), x.expand([2, 6, 8])),
            *(x[0], x[:, 1], x[1:3, ::2], x[x > 0], x[n], x > y, (x > 0).any(), torch.where(x > y, x, y)),
            *(x.clip(-1, 1), x.double(), x.round(), x.floor(), torch.maximum(x, y), x.isnan()),
            *(x @ y.t(), torch.einsum("ij,kj->ik", x, y), F.one_hot(n, 6), n.unique(), n.bincount(), x.tril()),
            *(torch.zeros([3]), torch.ones_like(x), torch.arange(5), torch.linspace(0, 1, 5), torch.eye(3)),
            *(torch.rand([2, 2]), torch.randn([2]), torch.outer(x[0], y[0]), x.isfinite().all(), x.nonzero()),
        ]
        for value in found:
            repr(value)
        loss = F.mse_loss(F.relu(x @ w), floats(6, 4))
        loss.backward()
        return loss.detach() + float(w.grad.sum()) * 0

    return step


def mlp() -> Step:
    """Three linear layers on 32 images of digits."""
    net = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    return classifying(net, floats(32, 784), 10)


def lenet() -> Step:
    """LeNet on 16 images of digits."""
    net = nn.Sequential(
        *(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)),
    )
    return classifying(net, floats(16, 1, 28, 28), 10)


class Block(nn.Module):
    """Two convolutions beside a way around them."""

    def __init__(self, i: int, o: int, stride: int) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.Conv2d(o, o, 3, 1, 1, bias=False)
        self.p, self.q = nn.BatchNorm2d(o), nn.BatchNorm2d(o)
        short = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))
        self.short = nn.Identity() if i == o else short

    def forward(self, x):
        return F.relu(self.q(self.b(F.relu(self.p(self.a(x))))) + self.short(x))


def resnet() -> Step:
    """ResNet-18 on 8 images of 32x32."""
    sizes = (64, 64, 128, 256, 512)
    blocks = [
        block
        for i, o in zip(sizes, sizes[1:], strict=False)
        for block in (Block(i, o, 1 if i == o else 2), Block(o, o, 1))
    ]
    net = nn.Sequential(
        *(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)),
        *(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)),
    )
    return classifying(net, floats(8, 3, 32, 32), 10)


def transformer() -> Step:
    """An encoder of two layers over 8 sentences of 16 words."""
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True), 2)
    net, words = nn.Sequential(nn.Embedding(100, 32), encoder, nn.Linear(32, 100)), integers(100, 8, 17)
    return training(net, lambda f, i: F.cross_entropy(f(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten()))


# -- graphs: 200 nodes, 1000 edges -----------------------------------------------------------------------------------
NODES, EDGES, FEATURES, HIDDEN, CLASSES = 200, 1000, 16, 16, 7


def summed(messages: Any, to: Any) -> Any:
    """The messages summed at the nodes where they arrive."""
    return torch.zeros([NODES, messages.shape[1]]).index_add(0, to, messages)


class GCNLayer(nn.Module):
    """Means over neighbours, by degree."""

    def __init__(self, i: int, o: int) -> None:
        super().__init__()
        self.linear = nn.Linear(i, o)

    def forward(self, x, start, end):
        degree = (torch.bincount(end, minlength=NODES).float().clip(min=1) ** -0.5).unsqueeze(1)
        return summed((self.linear(x) * degree)[start], end) * degree


class GATLayer(nn.Module):
    """Neighbours weighted by attention."""

    def __init__(self, i: int, o: int) -> None:
        super().__init__()
        self.linear, self.left, self.right = nn.Linear(i, o), nn.Linear(o, 1), nn.Linear(o, 1)

    def forward(self, x, start, end):
        x = self.linear(x)
        score = F.leaky_relu(self.left(x)[start] + self.right(x)[end], 0.2)
        weight = torch.exp(score - score.max().detach())
        total = summed(weight, end) + 1e-9
        return summed(x[start] * (weight / total[end]), end)


class GraphNet(nn.Module):
    """Two graph layers."""

    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.first, self.second = kind(FEATURES, HIDDEN), kind(HIDDEN, CLASSES)

    def forward(self, x, start, end):
        return self.second(F.relu(self.first(x, start, end)), start, end)


def graph(kind: Any) -> Step:
    """Training on the labels of the nodes."""
    x, y, start, end = floats(NODES, FEATURES), integers(CLASSES, NODES), integers(NODES, EDGES), integers(NODES, EDGES)
    return training(GraphNet(kind), lambda f, i: F.cross_entropy(f(x, start, end), y))


def gcn() -> Step:
    """A graph convolutional network."""
    return graph(GCNLayer)


def gat() -> Step:
    """A graph attention network."""
    return graph(GATLayer)


def ppo() -> Step:
    """Rollouts of 32 moves and 4 updates on them."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
            self.actor, self.critic = nn.Linear(64, 2), nn.Linear(64, 1)

        def forward(self, x):
            x = self.body(x)
            return self.actor(x), self.critic(x)

    made, env = Net(), CartPole(rs)
    net, opt = layer(made), torch.optim.Adam(made.parameters(), 3e-4)
    seen = [env.reset()]

    def rollout() -> list[Any]:
        rows = []
        for _ in range(32):
            with torch.no_grad():
                logits, value = net(torch.tensor(seen[0]).unsqueeze(0))
                move = int(torch.distributions.Categorical(logits=logits).sample([1]).item())
                log = F.log_softmax(logits, -1)[0, move]
            before, (seen[0], reward, done) = seen[0], env.step(move)
            rows.append((before, move, log.item(), value.item(), reward, done))
        return [torch.tensor(np.array(column)) for column in zip(*rows, strict=True)]

    def step(i: int) -> Any:
        states, chosen, old, values, rewards, done = rollout()
        goal, total = np.zeros(32, "float32"), 0.0
        for t in reversed(range(32)):
            total = float(rewards[t]) + 0.99 * total * (1 - float(done[t]))
            goal[t] = total
        goals = torch.tensor(goal)
        gain = goals - values.float()
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        for _ in range(4):
            logits, value = net(states)
            logs = F.log_softmax(logits, -1).gather(1, chosen.unsqueeze(1)).squeeze(1)
            ratio = torch.exp(logs - old.float())
            clipped = torch.minimum(ratio * gain, ratio.clip(0.8, 1.2) * gain).mean()
            entropy = -(F.softmax(logits, -1) * F.log_softmax(logits, -1)).sum(-1).mean()
            loss = 0.5 * F.mse_loss(value.squeeze(-1), goals) - clipped - 0.01 * entropy
            loss.backward()
            opt.step()
            opt.zero_grad()
        return loss

    return step


def lstm() -> Step:
    """Batches of sentences of 20 lengths."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.lstm, self.head = (
                nn.Embedding(100, 16),
                nn.LSTM(16, 32, batch_first=True),
                nn.Linear(32, 2),
            )

        def forward(self, words):
            return self.head(self.lstm(self.words(words))[0][:, -1])

    batches = [(integers(100, 8, 5 + i), integers(2, 8)) for i in range(20)]
    return training(Net(), lambda f, i: F.cross_entropy(f(batches[i][0]), batches[i][1]))


WORKLOADS = (session, mlp, lenet, resnet, transformer, gcn, gat, ppo, lstm)


def main() -> None:
    """Run one workload and say how long it took."""
    torch.manual_seed(0)
    name = sys.argv[1]
    step, losses, seconds = {w.__name__: w for w in WORKLOADS}[name](), [], []
    for i in range(STEPS.get(name, 10)):
        losses.append(float(step(i)))
        seconds.append(time.perf_counter() - begin)
    print(json.dumps({"import": imported, "first": seconds[0], "last": seconds[-1], "loss": losses[-1]}))


if __name__ == "__main__":
    main()
