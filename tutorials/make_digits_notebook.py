"""Writes digits.ipynb, training with Model.fit: python tutorials/make_digits_notebook.py."""

from __future__ import annotations

from make_notebook import write

CELLS = [
    """# Digits with Model.fit in ten lines
Handwritten digits of 8x8 pixels, which scikit-learn brings along.""",
    """    import numpy as np
    import paddle_lite_py as paddle
    from paddle_lite_py import nn
    from sklearn.datasets import load_digits

    paddle.seed(0)
    np.random.seed(0)  # the order of the batches
    digits = load_digits()
    images = (digits.images[:, None] / 16).astype("float32")
    data = list(zip(images, digits.target[:, None]))
    train, test = paddle.io.random_split(data, [0.8, 0.2])
    print(len(train), "to train on,", len(test), "to judge by")""",
    """## The ten lines
Each batch is one compiled program. On a terminal a bar shows losses, metrics, samples a second and the time left.
Ctrl-C ends training after the batch under way and keeps the weights.""",
    """    net = nn.Sequential(
        nn.Conv2D(1, 16, 3, padding=1), nn.BatchNorm2D(16), nn.ReLU(), nn.MaxPool2D(2),
        nn.Conv2D(16, 32, 3, padding=1), nn.BatchNorm2D(32), nn.ReLU(), nn.MaxPool2D(2),
        nn.Flatten(), nn.Dropout(0.2), nn.Linear(128, 10),
    )
    model = paddle.Model(net)
    opt = paddle.optimizer.Adam(3e-3, parameters=net.parameters())
    model.prepare(opt, nn.CrossEntropyLoss(), paddle.metric.Accuracy())
    model.fit(train, test, batch_size=64, epochs=4, drop_last=True, verbose=1)
    print(model.evaluate(test, batch_size=64, verbose=0))""",
    """## Callbacks
They hear of each batch and epoch. This one keeps what an evaluation finds; others stop early, lower the learning rate,
or write files for TensorBoard.""",
    """    class History(paddle.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.losses, self.found = [], []

        def on_train_batch_end(self, step, logs=None):
            self.losses.append(logs["loss"][0])

        def on_eval_end(self, logs=None):
            self.found.append(logs["acc"])

    history = History()""",
    """## Broken off and gone on with
With `resume=` there is a checkpoint after each epoch: weights, optimizer, random numbers, the place in the data. The
same call after a crash goes on from the newest one, to the same weights, bit by bit.""",
    """    import tempfile

    folder = tempfile.mkdtemp()
    stop = paddle.callbacks.EarlyStopping("acc", patience=3, verbose=0, save_best_model=False)
    settings = dict(batch_size=64, drop_last=True, verbose=0, callbacks=[history, stop])
    model.fit(train, test, epochs=3, resume=folder, **settings)
    model.fit(train, test, epochs=6, resume=folder, **settings)  # epochs 4 to 6
    print(len(history.found), "evaluations, the best", max(history.found))""",
    """## What it sees
Images it is least sure of, with its answer and how sure it is.""",
    """    import matplotlib.pyplot as plt

    (scores,) = model.predict(test, batch_size=64, stack_outputs=True, verbose=0)
    chances = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    answers, truth = scores.argmax(1), np.array([int(label[0]) for _, label in test])
    assert (answers == truth).mean() > 0.95
    fig = plt.figure(figsize=(9, 3.8), constrained_layout=True)
    left, right = fig.subfigures(1, 2, width_ratios=[1, 1.3])
    ax = left.subplots()
    ax.plot(history.losses, linewidth=0.8)
    ax.set(title="loss of each batch", xlabel="batch", yscale="log")
    for ax, i in zip(right.subplots(2, 5).ravel(), chances.max(1).argsort()[:10]):
        ax.imshow(test[i][0][0], cmap="gray_r")
        color = "green" if answers[i] == truth[i] else "red"
        ax.set_title(f"{answers[i]} ({chances[i].max():.0%})", color=color, fontsize=9)
        ax.axis("off")
    fig""",
]

if __name__ == "__main__":
    write("digits.ipynb", CELLS)
