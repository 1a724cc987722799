import copy

import numpy as np
import paddle
from paddle import nn

rng = np.random.RandomState(5)
net = nn.Sequential(
    nn.Conv2D(1, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.Silu(), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(4, 2)
)
for p in net.parameters():
    p.set_value((rng.randn(*p.shape) * 0.3).astype("float32"))


class EMA:
    def __init__(self, model, decay):
        self.decay, self.shadow = decay, {n: p.clone().detach() for n, p in model.named_parameters()}

    @paddle.no_grad()
    def update(self, model):
        for n, p in model.named_parameters():
            self.shadow[n] = self.decay * self.shadow[n] + (1 - self.decay) * p

    def apply(self, model):
        self.backup = copy.deepcopy(model.state_dict())
        model.set_state_dict(self.shadow)

    def restore(self, model):
        model.set_state_dict(self.backup)


ema = EMA(net, 0.9)
opt = paddle.optimizer.Lamb(0.01, parameters=net.parameters(), lamb_weight_decay=0.01)
scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0, enable=False)
x = paddle.to_tensor(rng.randn(8, 1, 6, 6).astype("float32"))
y = paddle.to_tensor(rng.randint(0, 2, 8).astype("int64"))
for step in range(10):
    with paddle.amp.auto_cast(enable=False):
        loss = nn.functional.cross_entropy(net(x), y, label_smoothing=0.1)
    scaled = scaler.scale(loss)
    scaled.backward()
    scaler.step(opt)
    scaler.update()
    opt.clear_grad()
    ema.update(net)
    if step % 3 == 0:
        print("%.4f" % float(loss))
ema.apply(net)
print(np.round(net(x)[0].numpy(), 3).tolist())
ema.restore(net)
print(np.round(net(x)[0].numpy(), 3).tolist())
paddle.save({"net": net.state_dict(), "opt": opt.state_dict(), "step": 10}, "state/ck.pdparams")
ck = paddle.load("state/ck.pdparams")
print(sorted(ck), ck["step"], len(ck["net"]))
opt.set_state_dict(ck["opt"])
print(len(opt.state_dict()))
