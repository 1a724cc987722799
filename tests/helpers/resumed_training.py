"""A training that goes on from its checkpoints; at its end a line with a digest of weights and optimizer state.

usage: resumed_training.py FOLDER [fit | loop]
"""

from __future__ import annotations

import hashlib
import sys
import time

import numpy as np

import paddle_lite_py as paddle
from paddle_lite_py import nn

KIND = sys.argv[2] if len(sys.argv) > 2 else "fit"


class Noisy(paddle.io.Dataset):
    def __getitem__(self, i):
        time.sleep(0.001)
        x = np.random.default_rng(i).normal(size=8) + 0.1 * np.random.rand(8)
        return x.astype("float32"), np.array([int(x[0] > 0)])

    def __len__(self):
        return 60


class Said(paddle.callbacks.Callback):
    def on_train_begin(self, logs=None):
        print("begun", flush=True)


def digest(*states):
    found = hashlib.sha256()
    for state in states:
        for name in sorted(state):
            value = state[name]
            found.update(name.encode() + np.asarray(value.numpy() if hasattr(value, "numpy") else str(value)).tobytes())
    return found.hexdigest()


paddle.seed(3)
np.random.seed(3)
net = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1D(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2))
rate = paddle.optimizer.lr.CosineAnnealingDecay(0.02, 40)
opt = paddle.optimizer.AdamW(rate, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
loss_of = nn.CrossEntropyLoss()
loader = paddle.io.DataLoader(Noisy(), batch_size=4, shuffle=True, num_workers=2 if KIND == "fit" else 0)
if KIND == "fit":
    model = paddle.Model(net)
    amp = {"level": "O1", "dtype": "bfloat16", "init_loss_scaling": 64.0, "incr_every_n_steps": 7}
    model.prepare(opt, loss_of, paddle.metric.Accuracy(), amp_configs=amp)
    kept = paddle.hapi.Checkpoints(sys.argv[1], every=1, best="loss", asynchronous=True)
    stop = paddle.callbacks.EarlyStopping("loss", patience=50, verbose=0, save_best_model=False)
    model.fit(loader, loader, epochs=3, verbose=0, resume=kept, callbacks=[Said(), stop], accumulate_grad_batches=2)
else:
    kept = paddle.hapi.Checkpoints(sys.argv[1], net=net, opt=opt, data=loader)
    first = kept.restore().get("epoch", 0)
    print("begun", flush=True)
    for epoch in range(first, 3):
        for x, y in loader:
            loss = loss_of(net(x), y)
            loss.backward()
            opt.step()
            opt.clear_grad()
            rate.step()
            kept.save({"epoch": epoch})
        kept.save({"epoch": epoch + 1})
print("done", digest(net.state_dict(), opt.state_dict()), flush=True)
