"""Writes shipping.ipynb, fine-tuning a model and shipping it: python tutorials/make_shipping_notebook.py."""

from __future__ import annotations

from make_notebook import write

CELLS = [
    """# Fine-tuning and shipping
A net that tells digits apart learns from a handful of examples which of them are prime, is saved as an artefact,
checked, and served.""",
    """    import os
    import tempfile

    import numpy as np
    import paddle_lite_py as paddle
    from paddle_lite_py import nn
    from sklearn.datasets import load_digits

    paddle.seed(0)
    np.random.seed(0)  # the order of the batches
    digits = load_digits()
    images, labels = (digits.images[:, None] / 16).astype("float32"), digits.target
    prime = np.isin(labels, [2, 3, 5, 7]).astype("int64")
    order = np.random.default_rng(0).permutation(len(labels))
    known, pool, test = order[:1000], order[1000:1200], order[1200:]
    print(len(known), "images to learn digits from,", len(pool), "for primes,", len(test), "to judge by")""",
    """## What it knows
A body that turns an image into features, and a head. They are trained to tell ten digits apart, in compiled steps.""",
    """    def body():
        return nn.Sequential(
            nn.Conv2D(1, 16, 3, padding=1), nn.BatchNorm2D(16), nn.ReLU(), nn.MaxPool2D(2),
            nn.Conv2D(16, 32, 3, padding=1), nn.BatchNorm2D(32), nn.ReLU(), nn.AdaptiveAvgPool2D(2), nn.Flatten(),
        )

    class Digits(nn.Layer):
        def __init__(self, classes=10):
            super().__init__()
            self.body, self.head = body(), nn.Linear(128, classes)

        def forward(self, x):
            return self.head(self.body(x))

    def train(net, x, y, epochs, parameters, rate=3e-3):
        model = paddle.Model(net)
        model.prepare(paddle.optimizer.Adam(rate, parameters=parameters), nn.CrossEntropyLoss())
        model.fit(list(zip(x, y[:, None])), batch_size=min(25, len(x)), epochs=epochs, verbose=0, drop_last=True)

    def accuracy(net, x, y):
        net.eval()
        with paddle.no_grad():
            return float((net(paddle.to_tensor(x)).argmax(axis=1) == paddle.to_tensor(y)).astype("float32").mean())

    base = Digits()
    train(base, images[known], labels[known], 6, base.parameters())
    print(f"{accuracy(base, images[test], labels[test]):.1%} of the digits")
    folder = tempfile.mkdtemp()
    paddle.save(base.state_dict(), f"{folder}/base.pdparams")""",
    """## Weights that do not fit are named
A state that lacks something, or has another shape, loads what fits and warns of each name. Nothing is lost
silently.""",
    """    import warnings

    state = paddle.load(f"{folder}/base.pdparams")
    state.pop("head.bias")
    state["head.weight"] = state["head.weight"][:, :2]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        missing, _ = Digits().set_state_dict(state)
    print(missing, [str(w.message) for w in said])""",
    """## Fine-tuning
The body keeps its weights (`stop_gradient`), a new head with two answers learns. For comparison: a whole net that
starts from nothing. Both see the same few images.""",
    """    def tuned(count):
        net = Digits(2)
        net.body.set_state_dict(base.body.state_dict())
        for p in net.body.parameters():
            p.stop_gradient = True
        train(net, images[pool[:count]], prime[pool[:count]], 400 // count + 20, net.head.parameters(), 1e-2)
        return net

    def from_nothing(count):
        net = Digits(2)
        train(net, images[pool[:count]], prime[pool[:count]], 400 // count + 20, net.parameters())
        return net

    counts = [10, 25, 50, 200]
    nets = {"tuned": [tuned(n) for n in counts], "from nothing": [from_nothing(n) for n in counts]}
    found = {name: [accuracy(n, images[test], prime[test]) for n in each] for name, each in nets.items()}
    for name, each in found.items():
        print(f"{name:13}", [f"{a:.1%}" for a in each])""",
    """## Ship it
`jit.save` writes the program and the weights, readable and without any Python in them. The samples let whoever loads it
check, on another machine, that it gives what it gave here.""",
    """    prefix = os.path.join(folder, "digits")
    net = nets["tuned"][-1]
    net.eval()
    sample = paddle.to_tensor(images[test[:4]])
    spec = [paddle.static.InputSpec(["batch", 1, 8, 8], "float32", "image")]
    paddle.jit.save(net, prefix, input_spec=spec, samples=[(sample,)])
    print(sorted(name for name in os.listdir(folder) if name.startswith("digits")))""",
    """## Load it where the code is not
`check=True` runs the samples. The predictor has inputs and outputs by name; each thread takes a clone.""",
    """    from paddle_lite_py.inference import Config, create_predictor

    loaded = paddle.jit.load(prefix, check=True)
    predictor = create_predictor(Config(prefix))
    predictor.get_input_handle(predictor.get_input_names()[0]).copy_from_cpu(images[test])
    predictor.run()
    scores = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    with paddle.no_grad():
        print("off by", float(np.abs(scores - net(paddle.to_tensor(images[test])).numpy()).max()))""",
    """## ONNX
Other runtimes read ONNX. The exporter needs more packages: `pip install '.[onnx]'` in a clone of the repository.""",
    """    import importlib.util

    if importlib.util.find_spec("jax2onnx") and importlib.util.find_spec("onnxruntime"):
        import onnxruntime

        paddle.onnx.export(net, prefix, input_spec=spec)
        session = onnxruntime.InferenceSession(prefix + ".onnx")
        (other,) = session.run(None, {session.get_inputs()[0].name: images[test]})
        print("ONNX is off by", float(np.abs(other - scores).max()))
    else:
        print("not installed")""",
    """## How few are enough
The right answers by the number of images that it was shown, and what the shipped model answers.""",
    """    import matplotlib.pyplot as plt

    answers = scores.argmax(axis=1)
    fig = plt.figure(figsize=(9, 3.6), constrained_layout=True)
    left, right = fig.subfigures(1, 2, width_ratios=[1.2, 1])
    ax = left.subplots()
    for name, each in found.items():
        ax.plot(counts, each, marker="o", label=name)
    ax.set(title="prime or not: right answers", xlabel="images shown", xscale="log", ylim=(0.5, 1.02))
    ax.set_xticks(counts, counts)
    ax.legend(loc="lower right")
    for ax, i in zip(right.subplots(3, 5).ravel(), range(15)):
        ax.imshow(images[test[i], 0], cmap="gray_r")
        color = "green" if answers[i] == prime[test[i]] else "red"
        ax.set_title(("no", "prime")[answers[i]], color=color, fontsize=9)
        ax.axis("off")
    assert found["tuned"][-1] > 0.8
    fig""",
]

if __name__ == "__main__":
    write("shipping.ipynb", CELLS)
