"""Writes fast.ipynb, finding out what is slow: python tutorials/make_fast_notebook.py."""

from __future__ import annotations

from make_notebook import write

CELLS = [
    """# Making it fast
Where does the time go? The profiler says it by line of your code. Then: one program for a step, few programs for many
shapes, numbers that do not come back to Python, and low precision.""",
    """    import time

    import numpy as np
    import paddle_lite_py as paddle
    from paddle_lite_py import nn, profiler

    paddle.seed(0)
    rng = np.random.default_rng(0)
    x = paddle.to_tensor(rng.normal(size=(1024, 64)).astype("float32"))
    y = paddle.to_tensor(rng.integers(0, 10, 1024))""",
    """## A step that is slower than it need be
The attention in the middle is written with loops; it is not clear at a glance what that costs.""",
    """    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(64, 128), nn.Linear(128, 10)
            self.mix = nn.Linear(128, 128)

        def forward(self, x):
            h = nn.functional.relu(self.first(x))
            parts = []
            for part in h.split(16):
                parts.append(nn.functional.softmax(part @ part.T) @ part)
            h = self.mix(paddle.concat(parts)) + h
            return self.last(h)

    def new():
        net = Net()
        return net, paddle.optimizer.Adam(1e-3, parameters=net.parameters())

    net, opt = new()

    def step(x, y):
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    for _ in range(3):
        step(x, y)""",
    """## By operation, by line
Each operation is waited for while the profiler records, so that its time is its own.""",
    """    with profiler.Profiler(profile_memory=True) as recorded:
        for _ in range(5):
            step(x, y)
            recorded.step()
    recorded.summary(time_unit="us", views=[profiler.SummaryView.OperatorView, profiler.SummaryView.ModelView])
    eager = recorded.profiler_result""",
    """## Files to look at
`export()` writes what https://ui.perfetto.dev opens, `export_protobuf` what TensorBoard does; each operation carries
its line. `RecordEvent` names stretches of your own.""",
    """    import os
    import tempfile

    folder = tempfile.mkdtemp()
    recorded.export(f"{folder}/trace.json")
    with profiler.Profiler(on_trace_ready=profiler.export_protobuf(f"{folder}/logs")):
        with profiler.RecordEvent("my step"):
            step(x, y)
    print(os.path.getsize(f"{folder}/trace.json"), [f for _, _, files in os.walk(f"{folder}/logs") for f in files])""",
    """## The remedy: all at once
The loop over parts is one batched product; and the step is one program, in which XLA joins what it can.""",
    """    def forward(self, x):
        h = nn.functional.relu(self.first(x))
        parts = h.reshape([16, -1, 128])
        mixed = nn.functional.softmax(parts @ parts.transpose([0, 2, 1])) @ parts
        return self.last(self.mix(mixed.reshape([-1, 128])) + h)

    def time_of(f, n=20):
        f(x, y), f(x, y)
        rounds = []
        for _ in range(3):
            since = time.perf_counter()
            for _ in range(n):
                last = f(x, y)
            last.item()  # waits; until here Python only asks for the work
            rounds.append((time.perf_counter() - since) / n * 1e3)
        return min(rounds)

    times = {"loops": time_of(step)}
    times["loops, compiled"] = time_of(paddle.jit.to_static(step))
    Net.forward = forward
    times["batched"] = time_of(step)
    compiled = paddle.jit.to_static(step)
    times["batched, compiled"] = time_of(compiled)
    print({name: f"{ms:.2f} ms" for name, ms in times.items()})""",
    """## The same tables of a program
The kernels of a compiled step are traced back to the operators and lines that they were made of.""",
    """    with profiler.Profiler() as recorded:
        for _ in range(5):
            compiled(x, y)
            recorded.step()
    recorded.summary(time_unit="us", views=[profiler.SummaryView.ModelView])
    static = recorded.profiler_result""",
    """## Retraces
A program serves one kind of call. A shape that changes makes another one, and `explain()` says why. Where shapes vary,
an `InputSpec` with sizes to pad to (`buckets=`) keeps the programs few.""",
    """    net.eval()
    plain = paddle.jit.to_static(lambda x: nn.functional.softmax(net.first(x)).sum(axis=1))
    big = [paddle.rand([rows, 64]) for rows in (2048, 2100, 3300, 4000)]
    with paddle.no_grad():
        for b in big:
            plain(b)
    print(plain.explain())
    spec = [paddle.static.InputSpec(["rows", 64], "float32")]
    padded = paddle.jit.to_static(plain.dygraph_function, input_spec=spec, buckets={"rows": [3072, 4096]})
    with paddle.no_grad():
        same = all(bool(paddle.allclose(padded(b), plain(b), atol=1e-5)) for b in big)
    print(padded.explain(), "the same:", same)""",
    """## Low precision
`auto_cast` computes products in bfloat16 and keeps the weights in float32. It halves memory; it is faster where the
hardware has it, which many CPUs do not: measure.""",
    """    def low(x, y):
        with paddle.amp.auto_cast(dtype="bfloat16"):
            return step(x, y)

    net.train()
    times["bfloat16, compiled"] = time_of(paddle.jit.to_static(low))
    print({name: f"{ms:.2f} ms" for name, ms in times.items()})
    assert times["batched, compiled"] < times["loops"]""",
    """## What the profiler sees
Time by line, before and after; memory while the eager step ran; and what each remedy brought.""",
    """    import linecache

    import matplotlib.pyplot as plt

    def bars(ax, result, title):
        rows = result.by_line()[:6]
        files, numbers = zip(*(r.name.rsplit(":", 1) for r in rows))
        texts = [linecache.getline(f, int(n)).strip()[:44] for f, n in zip(files, numbers)]
        ax.barh(range(len(rows)), [r.total / 5e3 for r in rows])
        ax.set_yticks(range(len(rows)), texts, family="monospace", fontsize=7)
        ax.invert_yaxis()
        ax.set(title=title, xlabel="ms a step")

    fig, axes = plt.subplots(2, 2, figsize=(11, 6), constrained_layout=True)
    bars(axes[0, 0], eager, "eager, with loops")
    bars(axes[0, 1], static, "batched, compiled")
    at, held = np.array(eager.memory()).T
    axes[1, 0].step((at - at[0]) / 1e3, held / 1e6, where="post")
    axes[1, 0].set(title="arrays, eager", xlabel="ms", ylabel="MB")
    axes[1, 1].barh(list(times), list(times.values()))
    axes[1, 1].invert_yaxis()
    axes[1, 1].set(title="ms a step")
    fig""",
]

if __name__ == "__main__":
    write("fast.ipynb", CELLS)
