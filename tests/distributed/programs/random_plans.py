"""A small GPT with its weights in placements drawn at random: the losses are those of one device."""

import sys

import numpy as np

import paddle_lite_py as paddle
import paddle_lite_py.nn.functional as F
from paddle_lite_py import distributed as dist
from paddle_lite_py import nn

VOCABULARY, WIDTH, LENGTH, BATCH, STEPS = 16, 8, 8, 8, 3
NAMES = "abc"


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.qkv(self.first(x)).reshape([BATCH, LENGTH, 3, 2, WIDTH // 2]).unbind(2)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).reshape([BATCH, LENGTH, WIDTH])
        x = x + self.out(mixed)
        return x + self.down(F.gelu(self.up(self.second(x))))


class GPT(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.block, self.last = Block(), nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, words):
        x = self.words(words) + self.places(paddle.arange(LENGTH))
        return self.head(self.last(self.block(x)))


def loss_of(logits, labels):
    return F.cross_entropy(logits.reshape([-1, VOCABULARY]), labels.reshape([-1]))


def drawn_mesh(draw, devices):
    """A mesh of all devices, with one to three axes, in an order of its own."""
    shape = []
    while devices > 1 and len(shape) < 2 and draw.random() < 0.7:
        size = int(draw.choice([n for n in range(2, devices + 1) if devices % n == 0]))
        shape, devices = [*shape, size], devices // size
    shape = [*shape, devices] if devices > 1 or not shape else shape
    numbers = draw.permutation(int(np.prod(shape))).reshape(shape)
    return dist.ProcessMesh(numbers, list(NAMES[: len(shape)]))


def drawn_placements(draw, mesh, shape):
    """One for each axis of the mesh; what does not divide stays whole."""
    found, left = [], list(shape)
    for size in mesh.shape:
        dims = [d for d, n in enumerate(left) if n % size == 0]
        dim = int(draw.choice(dims)) if dims and draw.random() < 0.7 else None
        found.append(dist.Replicate() if dim is None else dist.Shard(dim))
        if dim is not None:
            left[dim] //= size
    return found


def trained(plan=None, devices=1):
    """The losses of a few steps, and what was drawn."""
    paddle.seed(7)
    net, data = GPT(), np.random.default_rng(3)
    batches = [[paddle.to_tensor(data.integers(0, VOCABULARY, (BATCH, LENGTH))) for _ in "xy"] for _ in range(STEPS)]
    said = "one device"
    stage, is_static = None, True
    if plan is not None:
        draw = np.random.default_rng(plan)
        mesh = drawn_mesh(draw, devices)
        for p in net.parameters():
            p._set_payload(dist.shard_tensor(p.detach(), mesh, drawn_placements(draw, mesh, p.shape))._payload)
        rows = drawn_placements(draw, mesh, [BATCH])
        batches = [[dist.shard_tensor(t, mesh, rows) for t in batch] for batch in batches]
        number, is_static = int(draw.integers(0, 4)), draw.random() < 0.5
        if number:
            stage = getattr(dist, f"ShardingStage{number}")(str(draw.choice(mesh.dim_names)))
        said = f"{mesh.mesh.tolist()}, batches {rows}, stage {number}, {'static' if is_static else 'eager'}"
    adam = paddle.optimizer.AdamW(0.01, parameters=net.parameters())
    adam = adam if plan is None else dist.shard_optimizer(adam, stage)
    step = dist.to_static(net, None, loss_of, adam)
    losses = []
    for words, labels in batches:
        if is_static:
            loss = step(words, labels)
        else:
            loss = loss_of(net(words), labels)
            loss.backward()
            adam.step()
            adam.clear_grad()
        losses.append(float(loss))
    return losses, said


if __name__ == "__main__":
    first, count, devices = map(int, sys.argv[1:])
    expected, _ = trained()
    refused = 0
    for plan in range(first, first + count):
        try:
            losses, said = trained(plan, devices)
        except (ValueError, NotImplementedError) as e:  # in words of the library, not of XLA
            assert "mesh" in str(e).lower(), e
            refused += 1
            print(f"plan {plan} is refused: {e}", flush=True)
            continue
        difference = float(np.abs(np.array(losses) - expected).max())
        print(f"plan {plan}: {difference:.1e} on {said}", flush=True)
        assert difference < 1e-5, (losses, expected)
    print(f"{count - refused} plans are well, {refused} are refused", flush=True)
