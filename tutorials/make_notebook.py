"""Writes serving.ipynb, the walk from an eager model to a served artefact: python tutorials/make_notebook.py."""

from __future__ import annotations

import json
from pathlib import Path

CELLS = [
    """# From an eager model to a served artefact
Each cell runs as it stands; the whole takes about a minute on a laptop.""",
    """    import numpy as np
    import paddle_lite_py as paddle
    from paddle_lite_py import nn

    paddle.seed(0)
    rng = np.random.RandomState(0)
    points = rng.randn(512, 2).astype("float32")
    labels = (np.hypot(*points.T) < 1.0).astype("int64")  # inside the circle?

    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 2))

        def forward(self, x):
            return self.body(x)

    net = Net()
    opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
    x, y = paddle.to_tensor(points), paddle.to_tensor(labels)""",
    """## One call a step
A whole training step (forward, backward, update) becomes one compiled program. It is the same Python.""",
    """    @paddle.jit.to_static
    def step(x, y):
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    losses = [step(x, y).item() for _ in range(200)]
    print(losses[0], "->", losses[-1])
    print(step.explain())""",
    """## Look inside
The program is readable text; what XLA is given and what it makes of it can be printed as well.""",
    """    lowered = step.lower(x, y)
    print(str(lowered.program)[:600])
    print(lowered.compile().cost_analysis()["flops"], "flops a step")""",
    """## Save
Weights as safetensors, the program as StableHLO for CPU, CUDA and TPU, with any batch. Samples let the one who loads it
check that it still gives the same.""",
    """    import tempfile

    prefix = tempfile.mkdtemp() + "/circle"
    net.eval()
    spec = [paddle.static.InputSpec(["batch", 2], "float32", "points")]
    paddle.jit.save(net, prefix, input_spec=spec, samples=[(x[:4],)], constraints=["batch <= 4096"])""",
    """## Will it run there?
XLA's compilers for TPUs and GPUs work without the hardware. `compile_for` compiles the training step for a machine
that is not here, in a process of its own, and tells what it takes: memory, work, exchanges between chips, with the
lines of this notebook. `pip install "jax[tpu]"` (0.3 GB) brings the compiler for TPUs, `"jax[cuda12]"` that for GPUs;
this CPU's is there. From a shell: `python -m paddle_lite_py inspect MODEL --for v5e:2x2`.""",
    """    from paddle_lite_py.targets import has_compiler

    target = "v5e:2x2" if has_compiler("tpu") else "cpu"
    report = step.compile_for(target, x, y)
    print(report)
    assert report.compiles and report.fits""",
    """Layers that are made under `abstract()` hold no data: the way to ask about models that no memory here holds.""",
    """    with paddle.targets.abstract():
        large = nn.Sequential(nn.Linear(4096, 65536), nn.GELU(), nn.Linear(65536, 4096))
    rows = paddle.static.InputSpec([8, 4096])
    report = paddle.jit.to_static(large.forward).compile_for(target, rows)
    print(report)
    print(sum(p.size for p in large.parameters()) * 4 / 2**30, "GiB of weights, which nobody has made")""",
    """## Load, without the code
In another process none of the classes above is needed.""",
    """    loaded = paddle.jit.load(prefix, check=True)
    accuracy = (loaded(x).argmax(axis=1) == y).astype("float32").mean().item()
    print(loaded.inputs, accuracy)""",
    """## Fine-tune what was loaded
`train()` brings the dropout back, and its parameters train like any others.""",
    """    loaded.train()
    tuning = paddle.optimizer.SGD(0.05, parameters=loaded.parameters())
    for _ in range(20):
        loss = nn.functional.cross_entropy(loaded(x), y)
        loss.backward()
        tuning.step()
        tuning.clear_grad()
    loaded.eval()
    print(loss.item())""",
    """## Serve
A predictor has inputs and outputs by name, and a clone for each thread. The same from a shell:
`python -m paddle_lite_py.inference MODEL --input points.npy --benchmark`; and `tutorials/run_artifact.py` runs the
artefact with jax and safetensors alone.""",
    """    from concurrent.futures import ThreadPoolExecutor

    from paddle_lite_py.inference import Config, PredictorPool

    pool = PredictorPool(Config(prefix), 4)

    def serve(i):
        predictor = pool.retrieve(i)
        predictor.get_input_handle("points").copy_from_cpu(points[i::4])
        predictor.run()
        return predictor.get_output_handle("out0").copy_to_cpu().argmax(axis=1)

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(serve, range(4)))
    served = np.mean([np.mean(a == labels[i::4]) for i, a in enumerate(answers)])
    print(served)
    assert served > 0.9""",
]


def cell(number: int, text: str) -> dict:
    """A cell of the notebook; indented text is code."""
    code = text.startswith("    ")
    lines = [line.removeprefix("    ") if code else line for line in text.splitlines(keepends=True)]
    made = {"cell_type": "code" if code else "markdown", "id": f"cell-{number}", "metadata": {}, "source": lines}
    return made | ({"execution_count": None, "outputs": []} if code else {})


def write(name: str, texts: list[str]) -> None:
    """Write a notebook of these cells next to this file."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {
        "cells": [cell(i, text) for i, text in enumerate(texts)],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    Path(__file__).with_name(name).write_text(json.dumps(notebook, indent=1) + "\n")


if __name__ == "__main__":
    write("serving.ipynb", CELLS)
