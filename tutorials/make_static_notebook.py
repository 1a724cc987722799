"""Writes eager_to_static.ipynb, what becomes of Python in a program: python tutorials/make_static_notebook.py."""

from __future__ import annotations

from make_notebook import write

CELLS = [
    """# From eager to static
`paddle.jit.to_static` makes one program of a function. This is what becomes of its Python: of conditions, loops, state
and errors, and how to find out.""",
    """    import numpy as np
    import paddle_lite_py as paddle
    from paddle_lite_py import nn

    paddle.seed(0)""",
    """## Conditions and loops on tensors
Number of steps that 3n + 1 takes to come to 1. The condition is a tensor, so the loop becomes a loop of the program,
and one program serves every number.""",
    """    @paddle.jit.to_static
    def collatz(n):
        steps = paddle.zeros([], dtype="int64")
        while n > 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps = steps + 1
        return steps

    found = [int(collatz(paddle.to_tensor(k))) for k in range(1, 200)]
    print(found[:12], len(collatz.cache), "program")""",
    """## Look at the program""",
    """    print(collatz.explain())
    print(str(collatz.lower(paddle.to_tensor(7)).program)[:700])""",
    """## Python values are decided while it is traced
A plain number or text among the arguments chooses the program. Another one makes another program, and `explain()` says
why.""",
    """    @paddle.jit.to_static
    def shaped(x, kind):
        return paddle.tanh(x) if kind == "tanh" else nn.functional.relu(x)

    x = paddle.to_tensor([-1.0, 2.0])
    print(shaped(x, "tanh").tolist(), shaped(x, "relu").tolist())
    print(shaped.explain())""",
    """## State goes along
Weights, running statistics and attributes are read before a run and written after it. So a whole training step can be
one program.""",
    """    class Counted(nn.Layer):
        def __init__(self):
            super().__init__()
            self.fc, self.seen = nn.Linear(3, 1), paddle.zeros([], dtype="int64")

        def forward(self, x):
            self.seen = self.seen + x.shape[0]
            return self.fc(x)

    net = paddle.jit.to_static(Counted())
    for _ in range(3):
        net(paddle.ones([5, 3]))
    print(int(net.seen), "rows were seen")""",
    """## Gradients through loops
Newton's method for a square root, until it is exact enough. The gradient goes through all its iterations, however many
there were.""",
    """    @paddle.jit.to_static
    def root(a):
        x = a
        while (x * x - a).abs() > 1e-5:
            x = 0.5 * (x + a / x)
        return x

    a = paddle.to_tensor(9.0, stop_gradient=False)
    root(a).backward()
    print(root(a).item(), a.grad.item(), "and 1 / (2 * 3) is", 1 / 6)""",
    """## Errors speak of your lines
A value that Python itself needs is not there while a program is made. The message names the line, what was asked for
and what to do. (Without `full_graph=True` the statement would run as Python, between two compiled parts.)""",
    """    @paddle.jit.to_static(full_graph=True)
    def unclear(x):
        scale = np.linalg.norm(x.numpy())
        return x / scale

    try:
        unclear(paddle.ones([2]))
    except TypeError as e:
        print(type(e).__name__, e)""",
    """## Is it the same?
`check=True` runs the function as it is beside each run of the program, and names the first line whose values
differ.""",
    """    @paddle.jit.to_static(check=True)
    def safe(x):
        y = x
        for i in range(4):
            if y.mean() > 1:
                break
            y = y * 1.5
        return y

    print(safe(paddle.to_tensor([0.5, 0.6])).tolist())""",
    """## What it brings
The steps of 3n + 1, and the time of a small loop: as Python, and as a program.""",
    """    import time

    import matplotlib.pyplot as plt

    def time_of(f, n):
        since = time.perf_counter()
        int(f(paddle.to_tensor(n)))
        return (time.perf_counter() - since) * 1e3

    plain = collatz.rollback()
    numbers = [27, 97, 171, 871]
    for f in (plain, collatz):
        f(paddle.to_tensor(27))
    times = np.array([[min(time_of(f, n) for _ in range(3)) for n in numbers] for f in (plain, collatz)])
    print(times.round(2), "ms")
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    left.scatter(range(1, 200), found, s=8)
    left.set(title="steps of 3n + 1", xlabel="n")
    at = np.arange(len(numbers))
    right.bar(at - 0.2, times[0], 0.4, label="eager")
    right.bar(at + 0.2, times[1], 0.4, label="static")
    right.set(title="milliseconds", yscale="log")
    right.set_xticks(at, [f"n = {n}" for n in numbers])
    right.legend(loc="center")
    fig""",
]

if __name__ == "__main__":
    write("eager_to_static.ipynb", CELLS)
