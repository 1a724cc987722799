import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

rng = np.random.RandomState(1)


def init(net):
    for p in net.parameters():
        p.set_value((rng.randn(*p.shape) * 0.2).astype("float32"))
    return net


G = init(nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 2)))
D = init(nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Dropout(0.0), nn.Linear(8, 1)))
og = paddle.optimizer.Adam(0.01, beta1=0.5, parameters=G.parameters())
od = paddle.optimizer.RMSProp(0.01, parameters=D.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
for step in range(20):
    real = paddle.to_tensor((rng.randn(16, 2) * 0.5 + 2).astype("float32"))
    z = paddle.to_tensor(rng.randn(16, 2).astype("float32"))
    fake = G(z)
    d = F.binary_cross_entropy_with_logits(D(real), paddle.ones([16, 1])) + F.binary_cross_entropy_with_logits(
        D(fake.detach()), paddle.zeros([16, 1])
    )
    # gradient penalty
    a = paddle.to_tensor(rng.rand(16, 1).astype("float32"))
    mix = a * real + (1 - a) * fake.detach()
    mix.stop_gradient = False
    g = paddle.grad(D(mix).sum(), mix, create_graph=True)[0]
    gp = ((g.norm(2, axis=1) - 1) ** 2).mean()
    (d + 10 * gp).backward()
    od.step()
    od.clear_grad()
    loss = F.binary_cross_entropy_with_logits(D(G(z)), paddle.ones([16, 1]))
    loss.backward()
    og.step()
    og.clear_grad()
    od.clear_grad()
    if step % 5 == 4:
        print(step, "%.4f %.4f %.4f" % (float(d), float(gp), float(loss)))
