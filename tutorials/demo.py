"""From an eager model to a served artefact, on scikit-learn's handwritten digits.

Trains a small convolutional net three times (eagerly, with a static layer, with the whole step static), compares them,
converts an early-exit inference loop, saves the model, and runs it in a process that knows nothing of this file.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.io import DataLoader, TensorDataset

OUT = Path("out")
EPOCHS, BATCH, SEED = 12, 64, 2026
MODES = {"eager": "eager", "layer": "static layer", "step": "whole step static"}


class Net(nn.Layer):
    """Two convolutions and two linear layers for 8x8 images."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 16, 3, padding=1),
            nn.BatchNorm2D(16),
            nn.ReLU(),
            nn.Conv2D(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
            nn.Dropout(0.1),
            nn.Flatten(),
        )
        self.hidden = nn.Linear(512, 64)
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(nn.functional.relu(self.hidden(self.features(x))))


def digits():
    """Train and test images [n, 1, 8, 8] in [0, 1], and their labels."""
    images, labels = load_digits(return_X_y=True)
    images = (images / 16.0).astype("float32").reshape(-1, 1, 8, 8)
    return train_test_split(images, labels.astype("int64"), test_size=0.2, random_state=0, stratify=labels)


def train(mode, images, labels):
    """Train one net; returns it, the loss of each step, and steps per second once warm."""
    paddle.seed(SEED)
    np.random.seed(SEED)
    net = Net()
    optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    data = TensorDataset([paddle.to_tensor(images), paddle.to_tensor(labels)])
    loader = DataLoader(data, batch_size=BATCH, shuffle=True, drop_last=True)

    def step(x, y):
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    if mode == "layer":
        paddle.jit.to_static(net)
    run = paddle.jit.to_static(step) if mode == "step" else step
    losses, seconds, counted = [], 0.0, 0
    bar = tqdm(range(EPOCHS), desc=f"{MODES[mode]:>17}", unit="epoch")
    for epoch in bar:
        batches = list(loader)
        start = time.perf_counter()
        found = [run(x, y) for x, y in batches]
        losses += [float(loss) for loss in found]
        if epoch >= 2:  # the first ones compile
            seconds += time.perf_counter() - start
            counted += len(batches)
        bar.set_postfix(loss=f"{losses[-1]:.4f}")
    return net, losses, counted / seconds


def accuracy(net, images, labels):
    """Share of images that the net names right."""
    net.eval()
    with paddle.no_grad():
        return float((net(paddle.to_tensor(images)).argmax(-1) == paddle.to_tensor(labels)).astype("float32").mean())


class EarlyExit(nn.Layer):
    """Refines an image's features with one residual layer after another, until every image is told with certainty."""

    def __init__(self, net, layers=6, sure=0.9):
        super().__init__()
        self.net, self.layers, self.sure = net, layers, sure
        self.refine = nn.Linear(64, 64)

    def forward(self, x):
        hidden = nn.functional.relu(self.net.hidden(self.net.features(x)))
        probability = nn.functional.softmax(self.net.head(hidden))
        used = paddle.zeros([], "int64")
        while probability.max(-1).min() < self.sure and used < self.layers:
            hidden = hidden + 0.5 * paddle.tanh(self.refine(hidden)) + 0.5 * hidden
            probability = nn.functional.softmax(self.net.head(hidden))
            used += 1
        if used == 0:
            note = paddle.zeros([])
        else:
            note = used.astype("float32") / self.layers
        return probability.argmax(-1), used, note


def early_exit(net, images):
    """Compare the converted early-exit inference with its eager run, an image at a time."""
    paddle.seed(SEED)
    model = EarlyExit(net)
    model.eval()
    static = paddle.jit.to_static(model.forward)
    depths = []
    with paddle.no_grad():
        for image in images[:60]:
            x = paddle.to_tensor(image[None])
            want, got = model(x), static(x)
            for a, b in zip(want, got, strict=True):
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)
            depths.append(int(got[1]))
    assert len(static.program_cache) == 1, "one program serves all images"
    return depths


SERVE = """
import sys, numpy as np
import paddle_lite_py as paddle
net = paddle.jit.load(sys.argv[1])
logits = net(paddle.to_tensor(np.load(sys.argv[2])))
np.save(sys.argv[3], logits.argmax(-1).numpy())
"""


def serve(net, images):
    """Save the net with a dynamic batch and run it in a fresh process; returns that process's predictions."""
    prefix = str(OUT / "digits")
    net.eval()
    paddle.jit.save(net, prefix, input_spec=[paddle.static.InputSpec([None, 1, 8, 8], "float32", "image")])
    np.save(OUT / "images.npy", images)
    command = [sys.executable, "-c", SERVE, prefix, OUT / "images.npy", OUT / "labels.npy"]
    subprocess.run([str(c) for c in command], check=True)
    return np.load(OUT / "labels.npy")


def picture(losses, speeds, images, labels, predicted, path):
    """Loss curves, speeds and some digits."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4.4), width_ratios=(1.1, 0.8, 1.3))
    for (mode, curve), style in zip(losses.items(), ("-", "--", ":"), strict=True):
        left.plot(curve, style, linewidth=2, label=MODES[mode])
    left.set(title="Training loss: three ways, one curve", xlabel="step", ylabel="cross entropy", yscale="log")
    left.legend()
    bars = middle.barh([MODES[m] for m in speeds], list(speeds.values()), color=["#9aa5b1", "#5b8def", "#2b59c3"])
    middle.bar_label(bars, fmt="%.0f", padding=3)
    middle.set(title="Training steps a second", xlim=(0, max(speeds.values()) * 1.18))
    middle.invert_yaxis()
    tiles = [[np.pad(images[r * 8 + c, 0], ((4, 1), (3, 3))) for c in range(8)] for r in range(4)]
    right.imshow(np.block(tiles), cmap="gray_r")
    height, width = tiles[0][0].shape
    for i in range(32):
        color = "#1a7f37" if predicted[i] == labels[i] else "#d1242f"
        x, y = i % 8 * width + width / 2, i // 8 * height + 1.6
        right.text(x, y, str(predicted[i]), color=color, fontsize=11, weight="bold", ha="center", va="center")
    right.set(title="Test digits and what the loaded model says", xticks=[], yticks=[])
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main():
    """The whole path."""
    paddle.set_flags({"FLAGS_baseline_tier": False})  # what is timed is compiled: NumPy runs no first steps
    OUT.mkdir(exist_ok=True)
    train_x, test_x, train_y, test_y = digits()
    losses, speeds, scores, nets = {}, {}, {}, {}
    for mode in MODES:
        nets[mode], losses[mode], speeds[mode] = train(mode, train_x, train_y)
        scores[mode] = accuracy(nets[mode], test_x, test_y)
    print(f"\n{'mode':<18} {'steps/s':>8} {'speedup':>8} {'accuracy':>9} {'last loss':>10}")
    for mode, name in MODES.items():
        ratio = speeds[mode] / speeds["eager"]
        print(f"{name:<18} {speeds[mode]:8.0f} {ratio:7.2f}x {scores[mode]:9.2%} {losses[mode][-1]:10.5f}")
    apart = max(np.abs(np.subtract(losses[m], losses["eager"])).max() for m in MODES)
    print(f"largest difference between the loss curves: {apart:.1e}")
    assert apart < 1e-2, "the three must reach the same curve"
    assert min(scores.values()) >= 0.97, scores

    depths = early_exit(nets["eager"], test_x)
    counts = ", ".join(f"{n} images used {d} more" for d, n in sorted({d: depths.count(d) for d in depths}.items()))
    print(f"early exit: converted and eager agree on 60 images; {counts} layers")

    net = nets["step"]
    served = serve(net, test_x)
    with paddle.no_grad():
        here = net(paddle.to_tensor(test_x)).argmax(-1).numpy()
    assert (served == here).all(), "the served model must agree"
    print(f"a fresh process loaded {OUT}/digits.json and agrees on all {len(test_x)} test images")
    picture(losses, speeds, test_x, test_y, served, OUT / "demo.png")
    print(f"see {OUT}/demo.png")


if __name__ == "__main__":
    main()
