import numpy as np
import paddle
from paddle import nn
from paddle.distribution import Bernoulli, Categorical, Normal, kl_divergence

rng = np.random.RandomState(4)
enc, dec = nn.Linear(6, 4), nn.Linear(2, 6)
params = [*enc.parameters(), *dec.parameters()]
for p in params:
    p.set_value((rng.randn(*p.shape) * 0.3).astype("float32"))
opt = paddle.optimizer.Adamax(0.02, parameters=params)
x = paddle.to_tensor((rng.rand(16, 6) > 0.5).astype("float32"))
for step in range(20):
    mu, logvar = enc(x).chunk(2, axis=-1)
    q = Normal(mu, paddle.exp(0.5 * logvar))
    eps = paddle.to_tensor(rng.randn(16, 2).astype("float32"))
    z = q.loc + q.scale * eps
    kl = (0.5 * (mu**2 + q.scale**2 - 1) - paddle.log(q.scale)).sum(-1).mean()
    p = paddle.nn.functional.sigmoid(dec(z))
    rec = paddle.nn.functional.binary_cross_entropy(p, x, reduction="sum") / 16
    loss = rec + kl
    loss.backward()
    opt.step()
    opt.clear_grad()
    if step % 5 == 4:
        print("%.4f %.4f" % (float(rec), float(kl)))
c = Categorical(paddle.to_tensor([[1.0, 2.0, 3.0]]))
print(
    "%.4f" % q.entropy().mean().item(), list(q.sample([3]).shape), list(q.rsample().shape), "%.4f" % c.entropy().item()
)
with paddle.no_grad():
    print("%.4f" % kl_divergence(q, Normal(0.0, 1.0)).sum().item(), "%.4f" % Bernoulli(p).log_prob(x).mean().item())
