"""ppacls: sounds classified by ECAPA-TDNN, TDNN and CAM++ with its optimizers and schedule."""

from types import SimpleNamespace

import numpy as np
import paddle
import trial
from paddle.nn import functional as F
from ppacls.models import TDNN, CAMPPlus, EcapaTdnn
from ppacls.optimizer import WarmupCosineSchedulerLR, build_optimizer

paddle.set_default_dtype("float64")
rng = np.random.RandomState(0)
sounds = paddle.to_tensor(rng.standard_normal([6, 60, 40]))  # 60 frames of 40 mel bands
labels = paddle.to_tensor(rng.randint(0, 4, [6]))

nets = [
    EcapaTdnn(4, 40, 16, channels=[32, 32, 32, 32, 96], attention_channels=8, se_channels=8),
    TDNN(4, 40, channels=32, embd_dim=16),
    CAMPPlus(4, 40, embd_dim=16, growth_rate=8, init_channels=16),
]
for seed, net in enumerate(nets):
    trial.start_from(net, seed, gain=1.0)
    trial.without_dropout(net)
rates = [WarmupCosineSchedulerLR(1e-3, 5, fix_epoch=4, warmup_epoch=1) for _ in nets]
settings = SimpleNamespace(optimizer_conf={"optimizer": "Adam", "optimizer_args": {"weight_decay": 1e-6}})
optimizers = [build_optimizer(net.parameters(), rate, settings) for net, rate in zip(nets, rates, strict=True)]


def step():
    total = 0.0
    for net, rate, optimizer in zip(nets, rates, optimizers, strict=True):
        loss = F.cross_entropy(net(sounds), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        rate.step()
        total += float(loss)
    return total


def evaluated():
    return [x for net in nets for x in trial.exported(net, sounds)]


trial.report(step, steps=4, more=evaluated)
