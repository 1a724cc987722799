import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

rng = np.random.RandomState(6)


class Block(nn.Layer):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.d = h, d
        self.qkv = nn.Linear(d, 3 * d, bias_attr=False)
        self.proj = nn.Linear(d, d)
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.mlp = nn.Sequential(
            ("fc1", nn.Linear(d, 4 * d)), ("act", nn.GELU(approximate=True)), ("fc2", nn.Linear(4 * d, d))
        )
        self.register_buffer("mask", paddle.triu(paddle.full([16, 16], float("-inf")), 1), persistable=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.ln1(x)).reshape([B, T, 3, self.h, C // self.h]).transpose([2, 0, 3, 1, 4]).unbind(0)
        a = F.softmax(q @ k.transpose([0, 1, 3, 2]) / math.sqrt(C // self.h) + self.mask[:T, :T], -1)
        x = x + self.proj((a @ v).transpose([0, 2, 1, 3]).reshape([B, T, C]))
        return x + self.mlp(self.ln2(x))


class LM(nn.Layer):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = (
            nn.Embedding(10, 16),
            self.create_parameter([16, 16], default_initializer=nn.initializer.Normal(0, 0.02)),
        )
        self.blocks = nn.LayerList([Block(16, 2) for _ in range(2)])
        self.ln = nn.LayerNorm(16)

    def forward(self, ids):
        x = self.tok(ids) + self.pos[: ids.shape[1]]
        for b in self.blocks:
            x = b(x)
        return F.linear(self.ln(x), self.tok.weight.t())


net = LM()
for n, p in net.named_parameters():
    p.set_value((rng.randn(*p.shape) * 0.1 + ("ln" in n and n.endswith("weight"))).astype("float32"))
sched = paddle.optimizer.lr.LinearWarmup(
    paddle.optimizer.lr.CosineAnnealingDecay(3e-3, T_max=30), warmup_steps=5, start_lr=0.0, end_lr=3e-3
)
opt = paddle.optimizer.AdamW(sched, beta2=0.95, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
data = paddle.to_tensor(np.tile(np.arange(10), 4)[None, :].repeat(2, 0)[:, :17].astype("int64"))
for step in range(20):
    logits = net(data[:, :-1])
    loss = F.cross_entropy(logits.reshape([-1, 10]), data[:, 1:].flatten())
    loss.backward()
    opt.step()
    opt.clear_grad()
    sched.step()
    if step % 5 == 4:
        print("%.4f %.6f" % (float(loss), opt.get_lr()))
net.eval()
with paddle.no_grad():
    ids = data[:1, :3]
    for _ in range(5):
        nxt = net(ids)[:, -1].argmax(-1, keepdim=True)
        ids = paddle.concat([ids, nxt], axis=1)
print(ids.tolist(), sum(int(np.prod(p.shape)) for p in net.parameters()), [n for n, _ in net.named_sublayers()][:5])
