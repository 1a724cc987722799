"""Graph convolution (Kipf & Welling, 2016) and attention (Velickovic et al., 2017) by messages, with pooling."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle import geometric as G

rng = np.random.RandomState(2)
N, E = 10, 30
edges = rng.randint(0, N, (2, E))
src, dst = (paddle.to_tensor(e.astype("int64")) for e in edges)
feature = paddle.to_tensor(rng.randn(N, 6).astype("float32"))
label = paddle.to_tensor(rng.randint(0, 3, N))
graph_id = paddle.to_tensor(np.sort(rng.randint(0, 2, N)))
train_mask = paddle.to_tensor(rng.rand(N) < 0.6)


class GCN(nn.Layer):
    def __init__(self, a, b):
        super().__init__()
        self.fc = nn.Linear(a, b, bias_attr=False)
        self.bias = self.create_parameter([b], is_bias=True)

    def forward(self, x):
        ones = paddle.ones([src.shape[0], 1])
        degree = G.segment_sum(ones[paddle.argsort(dst)], paddle.sort(dst))
        if degree.shape[0] < N:
            degree = paddle.concat([degree, paddle.zeros([N - degree.shape[0], 1])])
        norm = paddle.rsqrt(paddle.clip(degree, min=1.0))
        h = G.send_u_recv(self.fc(x) * norm, src, dst, reduce_op="sum", out_size=N)
        return h * norm + self.bias


class GAT(nn.Layer):
    def __init__(self, a, b, heads):
        super().__init__()
        self.heads, self.size = heads, b
        self.fc = nn.Linear(a, b * heads)
        self.left = self.create_parameter([1, heads, b], default_initializer=nn.initializer.XavierNormal())
        self.right = self.create_parameter([1, heads, b])

    def forward(self, x):
        h = self.fc(x).reshape([-1, self.heads, self.size])
        l, r = (h * self.left).sum(-1), (h * self.right).sum(-1)
        e = F.leaky_relu(G.send_uv(l, r, src, dst, "add"), 0.2)
        order = paddle.argsort(dst, stable=True)
        e, s, d = e[order], src[order], dst[order]
        top = paddle.gather(G.segment_max(e, d), d)
        w = paddle.exp(e - top)
        w = w / paddle.gather(G.segment_sum(w, d), d)
        out = G.send_ue_recv(h, w.unsqueeze(-1), s, d, "mul", "sum", out_size=N)
        return F.elu(out.flatten(1))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.convs = nn.LayerList([GCN(6, 8), GAT(8, 4, 2), GCN(8, 8)])
        self.norm = nn.LayerNorm(8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        for i, conv in enumerate(self.convs):
            x = conv(x)
            x = F.relu(x) if i == 0 else x
        x = self.norm(x)
        return self.head(x), G.segment_mean(x, graph_id)


net = Net()
for i, p in enumerate(net.parameters()):
    p.set_value((np.sin(np.arange(p.size) + i) * 0.5).reshape(p.shape).astype("float32"))
opt = paddle.optimizer.AdamW(
    0.05, parameters=net.parameters(), weight_decay=0.01, apply_decay_param_fun=lambda n: "b_0" not in n
)
for step in range(20):
    logits, pooled = net(feature)
    loss = F.cross_entropy(logits[train_mask], label[train_mask]) + 0.01 * pooled.pow(2).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
    if step % 5 == 0:
        right = (logits.argmax(-1) == label)[train_mask].astype("float32").mean()
        print(step, f"{loss.item():.4f} {right.item():.3f}")
print(np.round(net(feature)[1].numpy(), 2))
