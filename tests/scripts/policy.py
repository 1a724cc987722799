"""Real NVP (Dinh et al., 2016), a clipped policy gradient (Schulman et al., 2017), and MAML (Finn et al., 2017)."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.distribution import Categorical, Independent, Normal, kl_divergence

rng = np.random.RandomState(17)


def fill(layer, factor=0.3):
    for i, p in enumerate(layer.parameters()):
        p.set_value((np.sin(np.arange(p.size) * 1.21 + i) * factor).reshape(p.shape).astype("float32"))
    return layer


class Coupling(nn.Layer):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = fill(nn.Sequential(nn.Linear(1, 8), nn.ReLU(), nn.Linear(8, 2)))

    def forward(self, x):
        a, b = paddle.split(x, 2, axis=1)
        a, b = (b, a) if self.flip else (a, b)
        s, t = self.net(a).chunk(2, 1)
        s = paddle.tanh(s)
        b = (b - t) * paddle.exp(-s)
        return paddle.concat([b, a] if self.flip else [a, b], 1), -s.sum(1)


flow = nn.LayerList([Coupling(i % 2 == 0) for i in range(4)])
base = Independent(Normal(paddle.zeros([2]), paddle.ones([2])), 1)
angle = rng.rand(128) * np.pi
data = paddle.to_tensor((np.stack([np.cos(angle), np.sin(angle)], 1) + 0.1 * rng.randn(128, 2)).astype("float32"))
opt = paddle.optimizer.Lamb(0.02, lamb_weight_decay=0.001, parameters=flow.parameters())
for step in range(16):
    z, log_det = data, paddle.zeros([128])
    for layer in flow:
        z, d = layer(z)
        log_det += d
    loss = -(base.log_prob(z) + log_det).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
    if step % 5 == 0:
        print(step, f"{loss.item():.4f}")

policy, value = fill(nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))), fill(nn.Linear(4, 1))
states = paddle.to_tensor(rng.randn(32, 4).astype("float32"))
actions = paddle.to_tensor(rng.randint(0, 3, 32))
rewards = paddle.to_tensor(((actions.numpy() == states.numpy()[:, :3].argmax(1)) - 0.3).astype("float32"))
with paddle.no_grad():
    old = Categorical(logits=policy(states))
    before = old.log_prob(actions)
opt = paddle.optimizer.RAdam(0.01, parameters=[*policy.parameters(), *value.parameters()])
for step in range(12):
    d = Categorical(logits=policy(states))
    v = value(states).squeeze(-1)
    advantage = (rewards - v).detach()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    ratio = paddle.exp(d.log_prob(actions) - before)
    surrogate = paddle.minimum(ratio * advantage, paddle.clip(ratio, 0.8, 1.2) * advantage).mean()
    loss = -surrogate + 0.5 * F.mse_loss(v, rewards) - 0.01 * d.entropy().mean()
    opt.clear_grad()
    loss.backward()
    opt.step()
    if step % 4 == 0:
        print(step, f"{loss.item():.4f} {ratio.max().item():.4f}")
print(f"{kl_divergence(old, Categorical(logits=policy(states))).mean().item():.5f}")


def forward(x, w):
    return paddle.matmul(paddle.tanh(paddle.matmul(x, w[0]) + w[1]), w[2]) + w[3]


weights = [paddle.create_parameter(s, "float32") for s in ([1, 12], [12], [12, 1], [1])]
for i, w in enumerate(weights):
    w.set_value((np.cos(np.arange(w.size) * 0.9 + i) * 0.6).reshape(w.shape).astype("float32"))
meta = paddle.optimizer.SGD(0.02, parameters=weights)
for step in range(10):
    total = 0
    for task in range(3):
        phase, amplitude = rng.rand() * 3, 1 + rng.rand()
        xs = rng.rand(2, 10, 1).astype("float32") * 6 - 3
        ys = (amplitude * np.sin(xs + phase)).astype("float32")
        xs, ys = paddle.to_tensor(xs), paddle.to_tensor(ys)
        inner = F.mse_loss(forward(xs[0], weights), ys[0])
        grads = paddle.grad(inner, weights, create_graph=True)
        fast = [w - 0.05 * g for w, g in zip(weights, grads)]
        total = total + F.mse_loss(forward(xs[1], fast), ys[1])
    total.backward()
    meta.step()
    meta.clear_grad()
    if step % 3 == 0:
        print(step, f"{float(total):.4f}")
