"""Writes ten_minutes.ipynb, the first look at the package: python tutorials/make_first_notebook.py."""

from __future__ import annotations

from make_notebook import write

CELLS = [
    """# Ten minutes of paddle_lite_py
Tensors, gradients, a network, a training step, and what compiling it brings. Each cell runs as it stands.""",
    """    import numpy as np
    import paddle_lite_py as paddle
    from paddle_lite_py import nn

    paddle.seed(0);""",
    """## Tensors
A tensor holds numbers of one kind; operations run at once. NumPy goes in and comes out.""",
    """    a = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    b = paddle.ones([2, 2])
    print(a @ b)
    print((a + 1).sum(axis=0).numpy(), a.shape, a.dtype)
    a[0, 1] = 9.0  # in place, as in NumPy
    print(a[:, 1].tolist())""",
    """## Gradients
What is computed from a tensor that wants a gradient is noted; `backward()` goes back through it.""",
    """    x = paddle.to_tensor(3.0, stop_gradient=False)
    y = x**2 + 2 * x
    y.backward()
    print(x.grad.item())  # 2 * 3 + 2""",
    """## Data
Two half moons, one turned into the other: no straight line parts them.""",
    """    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, 400)
    upper = np.stack([np.cos(angle[:200]), np.sin(angle[:200])], 1)
    lower = np.stack([1 - np.cos(angle[200:]), 0.5 - np.sin(angle[200:])], 1)
    points = (np.concatenate([upper, lower]) + rng.normal(0, 0.12, (400, 2))).astype("float32")
    labels = np.repeat([0, 1], 200)
    x, y = paddle.to_tensor(points), paddle.to_tensor(labels)""",
    """## A network
A layer has parameters and a `forward`. The optimizer is told which parameters are its own.""",
    """    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(2, 32), nn.Linear(32, 2)

        def forward(self, x):
            return self.second(nn.functional.relu(self.first(x)))

    net = Net()
    opt = paddle.optimizer.Adam(0.02, parameters=net.parameters())
    print(net, sum(p.size for p in net.parameters()), "numbers to learn")""",
    """## A training step
Forward, backward, update. It runs eagerly: a breakpoint or a `print` anywhere shows values.""",
    """    def step(x, y):
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    losses = [step(x, y).item() for _ in range(20)]
    print(losses[0], "->", losses[-1])""",
    """## Compiled
One decorator makes the whole step one program. It is the same Python, the same weights, the same numbers; conditions
and loops on tensors would become part of the program.""",
    """    import time

    def time_of(f, n=50):
        since = time.perf_counter()
        found = [f(x, y) for _ in range(n)]
        losses.extend(v.item() for v in found)
        return (time.perf_counter() - since) / n

    eager = time_of(step)
    compiled = paddle.jit.to_static(step)
    compiled(x, y)  # is compiled when it is called first
    print(f"eager {eager * 1e6:.0f} us, compiled {time_of(compiled) * 1e6:.0f} us a step")""",
    """## Save it, load it""",
    """    import tempfile

    folder = tempfile.mkdtemp()
    paddle.save(net.state_dict(), f"{folder}/net.pdparams")
    other = Net()
    other.set_state_dict(paddle.load(f"{folder}/net.pdparams"))
    right = (other(x).argmax(axis=1) == y).astype("float32").mean().item()
    print(f"{right:.1%} of the points are on the right side")
    assert right > 0.95""",
    """## What it has learned
The net's answer for each place of the plane, and how the loss fell.""",
    """    import matplotlib.pyplot as plt

    u, v = np.meshgrid(np.linspace(-1.5, 2.5, 120), np.linspace(-1.1, 1.6, 100))
    with paddle.no_grad():
        plane = paddle.to_tensor(np.stack([u.ravel(), v.ravel()], 1).astype("float32"))
        belief = nn.functional.softmax(other(plane))[:, 1].numpy().reshape(u.shape)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    left.contourf(u, v, belief, levels=20, cmap="RdBu", alpha=0.7)
    left.scatter(*points.T, c=labels, cmap="RdBu", s=16, edgecolors="white", linewidths=0.6)
    left.set_title("which moon?")
    right.semilogy(losses)
    right.axvline(20, color="gray", linestyle=":")
    right.set(title="loss", xlabel="step")
    fig""",
]

if __name__ == "__main__":
    write("ten_minutes.ipynb", CELLS)
