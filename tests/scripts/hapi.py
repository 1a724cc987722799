import numpy as np
import paddle
from paddle import nn
from paddle.io import Dataset


class Blobs(Dataset):
    def __init__(self, n, seed):
        rng = np.random.RandomState(seed)
        self.y = rng.randint(0, 3, n)
        self.x = (rng.randn(n, 4) + self.y[:, None] * 2).astype("float32")

    def __getitem__(self, i):
        return self.x[i], np.array([self.y[i]], dtype="int64")

    def __len__(self):
        return len(self.y)


class Log(paddle.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.epochs = []

    def on_epoch_end(self, epoch, logs=None):
        self.epochs.append((epoch, sorted(k for k in logs)))

    def on_train_batch_end(self, step, logs=None):
        self.last = logs["loss"]


net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
rng = np.random.RandomState(0)
for p in net.parameters():
    p.set_value(rng.randn(*p.shape).astype("float32") * 0.3)
model = paddle.Model(net)
sched = paddle.optimizer.lr.StepDecay(0.05, step_size=20, gamma=0.5)
opt = paddle.optimizer.Adam(sched, parameters=net.parameters(), weight_decay=1e-4)
model.prepare(opt, nn.CrossEntropyLoss(), paddle.metric.Accuracy(topk=(1, 2)))
log = Log()
model.fit(
    Blobs(96, 0),
    Blobs(32, 1),
    batch_size=16,
    epochs=3,
    shuffle=False,
    verbose=0,
    callbacks=[
        log,
        paddle.callbacks.LRScheduler(by_step=True),
        paddle.callbacks.EarlyStopping("loss", patience=5, verbose=0, save_best_model=False),
    ],
)
r = model.evaluate(Blobs(32, 1), batch_size=16, verbose=0)
print(log.epochs, {k: np.round(np.asarray(v, "float64"), 4).tolist() for k, v in r.items()})
out = model.predict(Blobs(4, 2), batch_size=2, stack_outputs=True, verbose=0)
print(np.round(out[0], 3).tolist())
print(round(opt.get_lr(), 6))
