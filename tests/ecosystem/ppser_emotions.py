"""ppser: emotions told from features of speech by its bidirectional LSTM, with its optimizers and schedule."""

from types import SimpleNamespace

import numpy as np
import paddle
import trial
from paddle.nn import functional as F
from ppser.models import BiLSTM
from ppser.optimizer import WarmupCosineSchedulerLR, build_optimizer

rng = np.random.RandomState(0)
features = paddle.to_tensor(rng.standard_normal([16, 62]).astype("float32"))
labels = paddle.to_tensor(rng.randint(0, 6, [16]))
net = BiLSTM(62, 6)
trial.start_from(net, 1, gain=1.0)
trial.without_dropout(net)
rate = WarmupCosineSchedulerLR(1e-3, 5, fix_epoch=4, warmup_epoch=1)
settings = SimpleNamespace(optimizer_conf={"optimizer": "AdamW", "optimizer_args": {"weight_decay": 1e-5}})
optimizer = build_optimizer(net.parameters(), rate, settings)


def step():
    loss = F.cross_entropy(net(features), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    rate.step()
    return loss


def evaluated():
    net.eval()
    right = paddle.metric.accuracy(net(features), labels.unsqueeze(1))
    return [right, *trial.exported(net, features)]


trial.report(step, more=evaluated)
