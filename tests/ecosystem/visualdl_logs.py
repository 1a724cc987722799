"""VisualDL's callback in a training by `Model.fit`, its writer of seven kinds of records, and what its reader finds."""

import math
import os

import numpy as np
import paddle
import trial
from paddle import nn
from visualdl import LogReader, LogWriter

np.float = float  # VisualDL's curves call it so, and NumPy no longer does
rng = np.random.RandomState(0)
x = rng.randn(64, 4).astype("float32")
y = (x.sum(1, keepdims=True) > 0).astype("int64")
data = paddle.io.TensorDataset([paddle.to_tensor(x), paddle.to_tensor(y)])
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
trial.start_from(net)
model = paddle.Model(net)
optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
accuracy = paddle.metric.Accuracy()
model.prepare(optimizer, nn.CrossEntropyLoss(), accuracy)
writer = LogWriter("steps")
steps = []


def step():
    loss, _ = model.train_batch([paddle.to_tensor(x)], [paddle.to_tensor(y)])
    writer.add_scalar("loss", paddle.to_tensor(loss[0]), len(steps))
    writer.add_histogram("weight", net[0].weight.numpy(), len(steps), buckets=5)
    steps.append(float(loss[0]))
    return steps[-1]


def found(folder):
    """All scalars of a folder, in the order of their tags."""
    values = []
    for file in sorted(os.listdir(folder)):
        reader = LogReader(file_path=os.path.join(folder, file))
        for tag in sorted(reader.get_tags().get("scalar", [])):
            values += [record.value for record in reader.get_data("scalar", tag)]
    return values


def more():
    accuracy.reset()
    callback = paddle.callbacks.VisualDL("fit")
    model.fit(data, data, batch_size=16, epochs=3, verbose=0, shuffle=False, callbacks=[callback])
    picture = (np.arange(192).reshape(8, 8, 3) % 255).astype("uint8")
    writer.add_image("picture", picture, 0)
    writer.add_text("text", "a text", 0)
    writer.add_audio("sound", np.sin(np.arange(800) / 20), 0, sample_rate=8000)
    scores = paddle.nn.functional.softmax(net(paddle.to_tensor(x)))[:, 1].numpy()
    writer.add_pr_curve("precision", y[:, 0], scores, 0, num_thresholds=5)
    writer.add_roc_curve("rates", y[:, 0], scores, 0, num_thresholds=5)
    writer.add_hparams({"rate": 0.01}, ["loss"])
    writer.close()
    reader = LogReader(file_path=os.path.join("steps", os.listdir("steps")[0]))
    kinds = reader.get_tags()
    curve = reader.get_data("pr_curve", "precision")[0]
    bins = reader.get_data("histogram", "weight")
    values = [*found("steps"), *found("fit"), len(kinds), sum(len(tags) for tags in kinds.values())]
    values += [
        *curve.pr_curve.precision,
        *curve.pr_curve.recall,
        *[x for record in bins for x in record.histogram.hist],
    ]
    return [v for v in values if not math.isnan(v)]


trial.report(step, 10, more)
