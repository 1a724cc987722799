"""A small net of einops' layers and functions: patches of pictures, attention in heads, pooling."""

import numpy as np
import paddle
import trial
from einops import einsum, rearrange, reduce, repeat
from einops.layers.paddle import Rearrange, Reduce

rng = np.random.RandomState(0)
pictures = paddle.to_tensor(rng.rand(8, 1, 8, 8).astype("float32"))
labels = paddle.to_tensor(rng.randint(0, 3, [8]))


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.patches = Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=4, q=4)
        self.embed = paddle.nn.Linear(16, 12)
        self.heads = paddle.nn.Linear(12, 36)
        self.pool = Reduce("b n c -> b c", "mean")
        self.out = paddle.nn.Linear(12, 3)

    def forward(self, x):
        x = self.embed(self.patches(x))
        q, k, v = rearrange(self.heads(x), "b n (three h c) -> three b h n c", three=3, h=2)
        weights = paddle.nn.functional.softmax(einsum(q, k, "b h i c, b h j c -> b h i j"))
        x = x + rearrange(einsum(weights, v, "b h i j, b h j c -> b h i c"), "b h n c -> b n (h c)")
        return self.out(self.pool(x))


net = Net()
trial.start_from(net)
optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())


def step():
    loss = paddle.nn.functional.cross_entropy(net(pictures), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss


scalar = reduce(pictures, "b c h w -> ", "max")
trial.report(step, more=lambda: [scalar, reduce(scalar, " -> ", "sum"), repeat(scalar, " -> r", r=3).sum()])
