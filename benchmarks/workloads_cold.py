"""What a user runs first, in the Paddle API of BENCH_MODULE: each workload gives a step, which gives a loss.

usage: workloads_cold.py NAME [--static | --step]     one JSON line: seconds from the import to the first loss and last
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from cartpole import CartPole

begin = time.perf_counter()
paddle: Any = importlib.import_module(os.environ.get("BENCH_MODULE", "paddle_lite_py"))
imported = time.perf_counter() - begin
import nets_cold  # noqa: E402  (not before the import that is timed)

nn, F = paddle.nn, paddle.nn.functional
rs = np.random.RandomState(0)
Step = Callable[[int], Any]
STEPS = {"session": 1, "boxes": 1, "lstm": 20, "lengths": 30, "sizes": 30}  # others: 10


def floats(*shape: int) -> Any:
    """Random numbers as a tensor."""
    return paddle.to_tensor(rs.randn(*shape).astype("float32"))


def integers(high: int, *shape: int) -> Any:
    """Random integers below `high` as a tensor."""
    return paddle.to_tensor(rs.randint(0, high, shape).astype("int64"))


def layer(made: Any) -> Any:
    """The layer, compiled where the command line asks for it."""
    return paddle.jit.to_static(made, full_graph=True) if "--static" in sys.argv else made


def whole(step: Step) -> Step:
    """The training step, compiled where the command line asks for it."""
    return paddle.jit.to_static(step) if "--step" in sys.argv else step


def training(net: Any, loss_of: Callable[[Any, int], Any], rate: float = 1e-3) -> Step:
    """Steps of Adam on a loss."""
    opt = paddle.optimizer.Adam(rate, parameters=net.parameters())
    called = layer(net)

    def step(i: int) -> Any:
        loss = loss_of(called, i)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return whole(step)


def classifying(net: Any, x: Any, classes: int) -> Step:
    """Training on one batch of inputs and labels."""
    y = integers(classes, x.shape[0])
    return training(net, lambda f, i: F.cross_entropy(f(x), y))


# -- a session in a notebook: 60 different ops on small tensors ------------------------------------------------------
def session() -> Step:
    """Each line is what one types to look at some data."""

    def step(i: int) -> Any:
        x, y, n = floats(6, 8), floats(6, 8), integers(6, 10)
        w = floats(8, 4)
        w.stop_gradient = False
        found = [
            *(x + y, x - y, x * 2.0, x / (y.abs() + 1), x**2, -x, x.abs(), x.exp(), x.abs().log(), x.abs().sqrt()),
            *(x.tanh(), F.sigmoid(x), F.relu(x), F.gelu(x), F.softmax(x), F.log_softmax(x), F.silu(x)),
            *(x.sum(), x.mean(0), x.max(1), x.min(), x.std(), x.var(1), x.prod(), x.argmax(1), x.argmin(0)),
            *(x.cumsum(0), x.sort(1), x.argsort(1), x.topk(3)[0], x.flip(0), x.roll(1, 0), x.norm(), x.median()),
            *(x.reshape([8, 6]), paddle.transpose(x, [1, 0]), x.unsqueeze(0), x.flatten(), paddle.concat([x, y])),
            *(paddle.stack([x, y]), x.split(2)[0], x.chunk(2, 1)[1], paddle.tile(x, [2, 1]), x.expand([2, 6, 8])),
            *(
                x[0],
                x[:, 1],
                x[1:3, ::2],
                x[x > 0],
                paddle.gather(x, n),
                x > y,
                (x > 0).any(),
                paddle.where(x > y, x, y),
            ),
            *(x.clip(-1, 1), x.astype("float64"), x.round(), x.floor(), paddle.maximum(x, y), x.isnan()),
            *(x @ y.t(), paddle.einsum("ij,kj->ik", x, y), F.one_hot(n, 6), n.unique(), n.bincount(), x.tril()),
            *(paddle.zeros([3]), paddle.ones_like(x), paddle.arange(5), paddle.linspace(0, 1, 5), paddle.eye(3)),
            *(paddle.rand([2, 2]), paddle.randn([2]), paddle.outer(x[0], y[0]), x.isfinite().all(), x.nonzero()),
        ]
        for value in found:
            repr(value)
        loss = F.mse_loss(F.relu(x @ w), floats(6, 4))
        loss.backward()
        return loss + float(w.grad.sum()) * 0

    return step


# -- nets ------------------------------------------------------------------------------------------------------------
def boxes() -> Step:
    """Suppression of 2,000 boxes that overlap with better ones, in Python: each turn has fewer of them."""
    corners = floats(2000, 2)
    found, scores = paddle.concat([corners, corners + floats(2000, 2).abs() / 20], 1), floats(2000)

    def areas(some: Any) -> Any:
        return (some[:, 2] - some[:, 0]) * (some[:, 3] - some[:, 1])

    def overlaps(one: Any, others: Any) -> Any:
        sides = paddle.minimum(one[:, 2:], others[:, 2:]) - paddle.maximum(one[:, :2], others[:, :2])
        shared = sides[:, 0].clip(min=0) * sides[:, 1].clip(min=0)
        return shared / (areas(one) + areas(others) - shared)

    def step(i: int) -> Any:
        left, kept = paddle.argsort(scores, descending=True), 0
        while left.shape[0] > 1:
            best, left = left[:1], left[1:]
            left = left[overlaps(found[best], found[left]) <= 0.2]
            kept += 1
        return scores[:kept].sum()

    return step


def mlp() -> Step:
    """Three linear layers on 32 images of digits."""
    net = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    return classifying(net, floats(32, 784), 10)


def lenet() -> Step:
    """LeNet on 16 images of digits."""
    return classifying(paddle.vision.models.LeNet(), floats(16, 1, 28, 28), 10)


def resnet() -> Step:
    """ResNet-18 on 8 images of 32x32."""
    return classifying(paddle.vision.models.resnet18(num_classes=10), floats(8, 3, 32, 32), 10)


def transformer() -> Step:
    """An encoder of two layers over 8 sentences of 16 words."""

    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(100, 32)
            self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0), 2)
            self.head = nn.Linear(32, 100)

        def forward(self, words):
            return self.head(self.encoder(self.words(words)))

    words = integers(100, 8, 17)
    return training(Net(), lambda f, i: F.cross_entropy(f(words[:, :-1]), words[:, 1:]))


# -- graphs: 200 nodes, 1000 edges -----------------------------------------------------------------------------------
NODES, EDGES, FEATURES, HIDDEN, CLASSES = 200, 1000, 16, 16, 7


def summed(messages: Any, to: Any) -> Any:
    """The messages summed at the nodes where they arrive."""
    return paddle.scatter_nd_add(paddle.zeros([NODES, messages.shape[1]]), to.unsqueeze(1), messages)


class GCNLayer(nn.Layer):
    """Means over neighbours, by degree."""

    def __init__(self, i: int, o: int) -> None:
        super().__init__()
        self.linear = nn.Linear(i, o)

    def forward(self, x, start, end):
        degree = paddle.bincount(end, minlength=NODES).astype("float32").clip(min=1) ** -0.5
        degree = degree.unsqueeze(1)
        return summed(paddle.gather(self.linear(x) * degree, start), end) * degree


class GATLayer(nn.Layer):
    """Neighbours weighted by attention."""

    def __init__(self, i: int, o: int) -> None:
        super().__init__()
        self.linear, self.left, self.right = nn.Linear(i, o), nn.Linear(o, 1), nn.Linear(o, 1)

    def forward(self, x, start, end):
        x = self.linear(x)
        score = F.leaky_relu(paddle.gather(self.left(x), start) + paddle.gather(self.right(x), end), 0.2)
        weight = paddle.exp(score - score.max().detach())
        total = summed(weight, end) + 1e-9
        return summed(paddle.gather(x, start) * (weight / paddle.gather(total, end)), end)


class GraphNet(nn.Layer):
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


# -- reinforcement learning ------------------------------------------------------------------------------------------
def ppo() -> Step:
    """Rollouts of 32 moves and 4 updates on them."""

    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
            self.actor, self.critic = nn.Linear(64, 2), nn.Linear(64, 1)

        def forward(self, x):
            x = self.body(x)
            return self.actor(x), self.critic(x)

    net, env = Net(), CartPole(rs)
    net, opt = layer(net), paddle.optimizer.Adam(3e-4, parameters=net.parameters())
    seen = [env.reset()]

    def rollout() -> list[Any]:
        rows = []
        for _ in range(32):
            with paddle.no_grad():
                logits, value = net(paddle.to_tensor(seen[0]).unsqueeze(0))
                chosen = paddle.distribution.Categorical(logits).sample([1])
                move = int(chosen.item())
                log = F.log_softmax(logits)[0, move]
            before, (seen[0], reward, done) = seen[0], env.step(move)
            rows.append((before, move, log.item(), value.item(), reward, done))
        return [paddle.to_tensor(np.array(column)) for column in zip(*rows, strict=True)]

    def update(states: Any, chosen: Any, old: Any, goals: Any, gain: Any) -> Any:
        logits, value = net(states)
        logs = paddle.take_along_axis(F.log_softmax(logits), chosen.unsqueeze(1), 1).squeeze(1)
        ratio = paddle.exp(logs - old)
        clipped = paddle.minimum(ratio * gain, ratio.clip(0.8, 1.2) * gain).mean()
        entropy = -(F.softmax(logits) * F.log_softmax(logits)).sum(-1).mean()
        loss = 0.5 * F.mse_loss(value.squeeze(-1), goals) - clipped - 0.01 * entropy
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    update = whole(update)

    def step(i: int) -> Any:
        states, chosen, old, values, rewards, done = rollout()
        goal, total = np.zeros(32, "float32"), 0.0
        for t in reversed(range(32)):
            total = float(rewards[t]) + 0.99 * total * (1 - float(done[t]))
            goal[t] = total
        goals = paddle.to_tensor(goal)
        gain = goals - values.astype("float32")
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        for _ in range(4):
            loss = update(states, chosen, old.astype("float32"), goals, gain)
        return loss

    return step


def lstm() -> Step:
    """Batches of sentences of 20 lengths."""

    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.lstm, self.head = nn.Embedding(100, 16), nn.LSTM(16, 32), nn.Linear(32, 2)

        def forward(self, words):
            return self.head(self.lstm(self.words(words))[0][:, -1])

    batches = [(integers(100, 8, 5 + i), integers(2, 8)) for i in range(20)]
    return training(Net(), lambda f, i: F.cross_entropy(f(batches[i][0]), batches[i][1]))


def lengths() -> Step:
    """A transformer on batches of sentences of 30 lengths."""

    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            layer = nn.TransformerEncoderLayer(128, 4, 256, dropout=0.1)
            self.words, self.encoder, self.head = (
                nn.Embedding(100, 128),
                nn.TransformerEncoder(layer, 2),
                nn.Linear(128, 100),
            )

        def forward(self, words):
            return self.head(self.encoder(self.words(words))).reshape([-1, 100])

    batches = [integers(100, 16, 21 + i) for i in range(30)]
    return training(Net(), lambda f, i: F.cross_entropy(f(batches[i][:, :-1]), batches[i][:, 1:].reshape([-1])))


def sizes() -> Step:
    """Batches of pictures of 30 sizes."""
    convolutions = [nn.Conv2D(i, o, 3, 2, 1) for i, o in ((3, 16), (16, 32), (32, 64))]
    layers = [m for c in convolutions for m in (c, nn.BatchNorm2D(c.weight.shape[0]), nn.ReLU())]
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(64, 10))
    batches = [(floats(4, 3, 24 + i, 24 + i), integers(10, 4)) for i in range(30)]
    return training(net, lambda f, i: F.cross_entropy(f(batches[i][0]), batches[i][1]))


# -- nets of many layers ---------------------------------------------------------------------------------------------
def vision(name: str, *shape: int, **settings: Any) -> Callable[[], Step]:
    """Training a net of vision.models on pictures of this shape."""

    def make() -> Step:
        return classifying(getattr(paddle.vision.models, name)(num_classes=10, **settings), floats(*shape), 10)

    make.__name__ = name
    return make


def evaluated(name: str) -> Callable[[], Step]:
    """Evaluating a net of vision.models on one picture of 224 x 224."""

    def make() -> Step:
        net, x = getattr(paddle.vision.models, name)(num_classes=10), floats(1, 3, 224, 224)
        net.eval()
        called = layer(net)
        return paddle.no_grad()(lambda i: called(x).sum())

    make.__name__ = f"{name}_evaluated"
    return make


def pictures(name: str) -> Callable[[], Step]:
    """Training one of our nets on 4 pictures of 32 x 32."""

    def make() -> Step:
        return classifying(getattr(nets_cold, name)(), floats(4, 3, 32, 32), 10)

    make.__name__ = name.lower()
    return make


def unet() -> Step:
    """A class for each point of 4 pictures."""
    x, y = floats(4, 3, 32, 32), integers(10, 4, 32, 32)
    return training(nets_cold.UNet(), lambda f, i: F.cross_entropy(f(x), y, axis=1))


def conformer() -> Step:
    """4 sounds of 48 frames."""
    return classifying(nets_cold.Conformer(), floats(4, 48, 64), 10)


def gpt() -> Step:
    """A language model, in bfloat16 where that is safe."""
    words = integers(200, 4, 33)

    def loss_of(f: Any, i: int) -> Any:
        with paddle.amp.auto_cast(dtype="bfloat16"):
            return F.cross_entropy(f(words[:, :-1]).astype("float32"), words[:, 1:])

    return training(nets_cold.GPT(), loss_of)


def gan() -> Step:
    """A generator of pictures and its judge, each with a loss of its own."""
    up = [nn.Conv2DTranspose(i, o, 4, 2, 1) for i, o in ((64, 64), (64, 32), (32, 3))]
    norms = [nn.BatchNorm2D(64), nn.BatchNorm2D(32)]
    makes = nn.Sequential(up[0], norms[0], nn.ReLU(), up[1], norms[1], nn.ReLU(), up[2], nn.Tanh())
    down = [nn.Conv2D(i, o, 4, 2, 1) for i, o in ((3, 32), (32, 64), (64, 128))]
    last = [nn.Flatten(), nn.Linear(2048, 1)]
    judge = nn.Sequential(down[0], nn.LeakyReLU(0.2), down[1], nn.LeakyReLU(0.2), down[2], nn.LeakyReLU(0.2), *last)
    of_maker = paddle.optimizer.Adam(2e-4, beta1=0.5, parameters=makes.parameters())
    of_judge = paddle.optimizer.Adam(2e-4, beta1=0.5, parameters=judge.parameters())
    makes, judge = layer(makes), layer(judge)
    real, ones, zeros = floats(4, 3, 32, 32), paddle.ones([4, 1]), paddle.zeros([4, 1])

    def update(noise: Any) -> Any:
        made = makes(noise)
        loss = F.binary_cross_entropy_with_logits(judge(real), ones)
        loss = loss + F.binary_cross_entropy_with_logits(judge(made.detach()), zeros)
        loss.backward()
        of_judge.step()
        of_judge.clear_grad()
        loss = F.binary_cross_entropy_with_logits(judge(made), ones)
        loss.backward()
        of_maker.step()
        of_maker.clear_grad()
        of_judge.clear_grad()
        return loss

    update = whole(update)
    return lambda i: update(floats(4, 64, 4, 4))


def pinn() -> Step:
    """Poisson's equation: second derivatives of a net in the loss."""
    net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), *[m for _ in range(3) for m in (nn.Linear(64, 64), nn.Tanh())])
    last = nn.Linear(64, 1)
    opt = paddle.optimizer.Adam(1e-3, parameters=[*net.parameters(), *last.parameters()])
    points = floats(512, 2)
    points.stop_gradient = False
    called = layer(nn.Sequential(net, last))

    def step(i: int) -> Any:
        first = paddle.grad(called(points).sum(), points, create_graph=True)[0]
        second = [paddle.grad(first[:, k].sum(), points, create_graph=True)[0][:, k] for k in (0, 1)]
        loss = ((second[0] + second[1] - paddle.sin(points[:, 0])) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return whole(step)


NETS = (
    vision("mobilenet_v3_small", 4, 3, 64, 64),
    vision("densenet121", 4, 3, 64, 64),
    vision("resnet50", 4, 3, 64, 64),
    *map(evaluated, ("mobilenet_v3_small", "resnet50")),
    *map(pictures, ("EfficientNet", "ViT", "Swin")),
    *(unet, conformer, gpt, gan, pinn),
)
WORKLOADS = (session, boxes, mlp, lenet, resnet, transformer, gcn, gat, ppo, lstm, lengths, sizes, *NETS)


def main() -> None:
    """Run one workload and say how long it took."""
    paddle.seed(0)
    name = sys.argv[1]
    step, losses, seconds = {w.__name__: w for w in WORKLOADS}[name](), [], []
    for i in range(STEPS.get(name, 10)):
        losses.append(float(step(i)))
        seconds.append(time.perf_counter() - begin)
    used = sum(
        u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
    print(json.dumps({"import": imported, "first": seconds[0], "last": seconds[-1], "loss": losses[-1], "cpu": used}))


if __name__ == "__main__":
    main()
