"""A decoder with rotary positions, grouped heads, RMS norm, routed experts, and a cache for generation."""

from typing import Optional

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

B, L, D, HEADS, GROUPS, V, EXPERTS = 2, 6, 16, 4, 2, 11, 4


def rotate(x, start=0):
    b, l, h, d = x.shape
    inv = 1.0 / (10000 ** (paddle.arange(0, d, 2).astype("float32") / d))
    angle = paddle.outer(paddle.arange(start, start + l).astype("float32"), inv)
    cos, sin = paddle.cos(angle)[None, :, None], paddle.sin(angle)[None, :, None]
    even, odd = x[..., ::2], x[..., 1::2]
    return paddle.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).flatten(-2)


class RMSNorm(nn.Layer):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = paddle.create_parameter(
            shape=[dim], dtype=paddle.get_default_dtype(), default_initializer=nn.initializer.Constant(1.0)
        )
        self.eps = eps

    def forward(self, x):
        return x * paddle.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class Attention(nn.Layer):
    def __init__(self):
        super().__init__()
        size = D // HEADS
        self.q, self.k, self.v = (nn.Linear(D, n * size, bias_attr=False) for n in (HEADS, GROUPS, GROUPS))
        self.o = nn.Linear(D, D, bias_attr=False)

    def forward(self, x, cache: Optional[tuple] = None):
        b, l, _ = x.shape
        start = 0 if cache is None else cache[0].shape[1]
        q = rotate(self.q(x).reshape([b, l, HEADS, -1]), start)
        k = rotate(self.k(x).reshape([b, l, GROUPS, -1]), start)
        v = self.v(x).reshape([b, l, GROUPS, -1])
        if cache is not None:
            k, v = paddle.concat([cache[0], k], axis=1), paddle.concat([cache[1], v], axis=1)
        kk, vv = (t.repeat_interleave(HEADS // GROUPS, axis=2) for t in (k, v))
        mask = paddle.tril(paddle.ones([l, kk.shape[1]], dtype="bool"), diagonal=start)
        out = F.scaled_dot_product_attention(
            q, kk, vv, attn_mask=paddle.where(mask, 0.0, -1e9).astype(q.dtype)[None, None]
        )
        return self.o(out.reshape([b, l, D])), (k, v)


class Experts(nn.Layer):
    def __init__(self, k=2):
        super().__init__()
        self.k = k
        self.gate = nn.Linear(D, EXPERTS, bias_attr=False)
        self.up = self.create_parameter([EXPERTS, D, 2 * D])
        self.down = self.create_parameter([EXPERTS, D, D])

    def forward(self, x):
        flat = x.reshape([-1, D])
        p = F.softmax(self.gate(flat), axis=-1)
        w, at = paddle.topk(p, self.k, axis=-1)
        w = w / w.sum(-1, keepdim=True)
        out = paddle.zeros_like(flat)
        for e in range(EXPERTS):
            row, slot = paddle.where(at == e)
            row, slot = row.flatten(), slot.flatten()
            if row.shape[0] == 0:
                continue
            h = paddle.incubate.nn.functional.swiglu(flat[row] @ self.up[e]) @ self.down[e]
            out = paddle.index_add(out, row, 0, h * w[row, slot].unsqueeze(-1))
        usage = F.one_hot(at, EXPERTS).sum([0, 1]) / at.size
        return out.reshape(x.shape), EXPERTS * (usage * p.mean(0)).sum()


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.n1, self.attention, self.n2, self.experts = RMSNorm(D), Attention(), RMSNorm(D), Experts()

    def forward(self, x, cache=None):
        a, cache = self.attention(self.n1(x), cache)
        h, balance = self.experts(self.n2(x + a))
        return x + a + h, cache, balance


class LM(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(V, D)
        self.blocks = nn.LayerList([Block() for _ in range(1)])
        self.norm = RMSNorm(D)

    def forward(self, ids, caches=None):
        x, new, balance = self.embed(ids), [], 0.0
        for i, block in enumerate(self.blocks):
            x, cache, b = block(x, None if caches is None else caches[i])
            new.append(cache)
            balance = balance + b
        return F.linear(self.norm(x), self.embed.weight.T), new, balance


model = LM()
for i, (n, p) in enumerate(model.named_parameters()):
    if not n.endswith("weight") or p.ndim > 1:
        p.set_value((np.sin(np.arange(p.size) * 0.77 + i) * 0.25).reshape(p.shape).astype("float32"))
decay = [p.name for n, p in model.named_parameters() if p.ndim > 1]
opt = paddle.optimizer.AdamW(
    paddle.optimizer.lr.CosineAnnealingWarmRestarts(5e-3, 10),
    beta1=0.9,
    beta2=0.95,
    parameters=model.parameters(),
    weight_decay=0.1,
    apply_decay_param_fun=lambda n: n in decay,
    grad_clip=nn.ClipGradByGlobalNorm(1.0),
)
ids = paddle.to_tensor(np.random.RandomState(0).randint(0, V, (B, L + 1)))
for step in range(3):
    logits, _, balance = model(ids[:, :-1])
    loss = F.cross_entropy(logits.reshape([-1, V]), ids[:, 1:].reshape([-1])) + 0.01 * balance
    loss.backward()
    opt.step()
    opt.clear_grad(set_to_zero=False)
    if step % 2 == 0:
        print(step, f"{loss.item():.4f}")
model.eval()
with paddle.no_grad():
    text, caches = ids[:, :2], None
    logits, caches, _ = model(text)
    for _ in range(2):
        after = paddle.argmax(logits[:, -1], axis=-1, keepdim=True)
        text = paddle.concat([text, after], axis=1)
        logits, caches, _ = model(after, caches)
    whole, _, _ = model(text)
print(text.tolist(), "%.6f" % float((whole[:, -1] - logits[:, -1]).abs().max()) < "0.0001")
probability = F.softmax(logits[:, -1] / 0.7)
ordered, index = paddle.sort(probability, descending=True), paddle.argsort(probability, descending=True)
nucleus = paddle.cumsum(ordered, axis=-1) - ordered < 0.8
cut = paddle.zeros_like(probability).put_along_axis(
    index, paddle.where(nucleus, ordered, paddle.zeros_like(ordered)), 1
)
print(np.round(cut.numpy(), 3).tolist())
