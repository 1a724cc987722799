"""Training steps of eight models on a GPU, in float32 and in mixed precision, against PyTorch there in the same run.

usage: python benchmarks/gpu.py [--torch PYTHON] [--out out/gpu.json] [--limit SECONDS] [--only REGEX]
                                                                              needs an NVIDIA GPU
       python benchmarks/gpu.py --compile h200                              needs none: compiles all for one
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import gpu_models

SECONDS = 3.0  # that a model is measured for
WARM = 3


def inputs(kinds: list[tuple[str, tuple[int, ...]]]) -> list[np.ndarray]:
    """Synthetic data."""
    rng = np.random.default_rng(0)
    return [
        rng.integers(0, 30000, s) if k == "ids" else rng.standard_normal(s).astype("float32") for k, s in kinds
    ]  # fmt: skip


def squares(out: Any) -> Any:
    """What is trained on: the mean of the squares, in float32."""
    parts = out if isinstance(out, list) else [out]
    return sum((p.float() ** 2).mean() if hasattr(p, "float") else (p.astype("float32") ** 2).mean() for p in parts)


def paddle_step(paddle: Any, made: Any, low: bool) -> Any:
    """A whole training step of ours as one program."""
    net = made()
    optimizer = paddle.optimizer.Momentum(1e-4, 0.9, parameters=net.parameters())

    @paddle.jit.to_static
    def step(*given: Any) -> Any:
        with paddle.amp.auto_cast(enable=low, dtype="bfloat16"):
            out = net(*given)
        loss = squares(out)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return step


def torch_step(torch: Any, made: Any, low: bool) -> Any:
    """The same in PyTorch, compiled by torch.compile."""
    net = made().cuda()
    optimizer = torch.optim.SGD(net.parameters(), 1e-4, 0.9)
    forward = torch.compile(net)

    def step(*given: Any) -> Any:
        with torch.autocast("cuda", torch.bfloat16, enabled=low):
            out = forward(*given)
        loss = squares(out)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    return step


def timed(step: Any, given: list[Any], wait: Any) -> float:
    """Milliseconds of a step: the mean over some seconds, behind those that compile."""
    for _ in range(WARM):
        wait(step(*given))
    n, since = 0, time.perf_counter()
    while time.perf_counter() - since < SECONDS:
        for _ in range(5):
            out = step(*given)
        wait(out)
        n += 5
    return (time.perf_counter() - since) / n * 1e3


def chosen(framework: Any, only: str) -> list[tuple[str, Any]]:
    """The models whose names match, made of a framework's names."""
    made = gpu_models.models(gpu_models.names_of(framework))
    return [row for row in made.items() if re.search(only, row[0])]


def measure_paddle(left: float, only: str) -> dict[str, float]:
    """Ours, until the time that is left is over."""
    import paddle_lite_py as paddle

    began, found = time.time(), {}
    for name, (make, kinds) in chosen(paddle, only):
        given = [paddle.to_tensor(a) for a in inputs(kinds)]
        for low in (False, True):
            if time.time() - began < left:
                step = paddle_step(paddle, make, low)
                found[f"{name} {'AMP' if low else 'float32'}"] = timed(step, given, lambda t: t.numpy())
    return found


def measure_torch(left: float, only: str) -> dict[str, float]:
    """PyTorch's, until the time that is left is over."""
    import torch  # ty: ignore

    import torch_as_paddle

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True  # as XLA does
    began, found = time.time(), {}
    for name, (make, kinds) in chosen(torch_as_paddle, only):
        given = [torch.from_numpy(a).cuda() for a in inputs(kinds)]
        for low in (False, True):
            if time.time() - began < left:
                found[f"{name} {'AMP' if low else 'float32'}"] = timed(
                    torch_step(torch, make, low), given, lambda t: t.item()
                )
    return found


def has_gpu() -> bool:
    """Whether JAX sees a GPU."""
    import jax

    return any(d.platform == "gpu" for d in jax.local_devices())


def compile_all_for(target: str) -> int:
    """Compile every step for a GPU that is not here; how many fail."""
    os.environ |= {"JAX_PLATFORMS": "cpu", "FLAGS_compile_progress": "0"}
    import paddle_lite_py as paddle

    failed = 0
    for name, (make, kinds) in gpu_models.models(gpu_models.names_of(paddle)).items():
        specs = [paddle.static.InputSpec(list(s), "int64" if k == "ids" else "float32") for k, s in kinds]
        for low in (False, True):
            with paddle.targets.abstract():
                step = paddle_step(paddle, make, low)
            report = step.compile_for(target, *specs)
            failed += not report.compiles
            said = (
                f"{report.memory.peak / 2**30:6.2f} GiB, {report.flops / 1e12:6.2f} TFLOP"
                if report.memory
                else report.error[:300]
            )
            print(f"{name:20} {'AMP' if low else 'float32':8} {said} ({report.seconds:.0f} s)", flush=True)
    return failed


def picture(rows: dict[str, dict[str, float]], path: Path) -> None:
    """Bars of both, a group for each model."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5), layout="constrained")
    axes = figure.subplots()
    names = list(rows)
    for i, kind in enumerate(("ours", "torch")):
        axes.bar([k + 0.4 * i for k in range(len(names))], [rows[n].get(kind, 0) for n in names], 0.4, label=kind)
    axes.set_xticks([k + 0.2 for k in range(len(names))], names, rotation=40, ha="right")
    axes.set_ylabel("ms a training step")
    axes.legend()
    figure.savefig(path, dpi=120)


def main() -> None:
    """Measure, or compile."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", help="a Python with PyTorch")
    parser.add_argument("--out", default="out/gpu.json")
    parser.add_argument("--compile", metavar="TARGET")
    parser.add_argument("--check", action="store_true", help="say whether there is a GPU, and end")
    parser.add_argument("--only-torch", action="store_true")
    parser.add_argument("--only", metavar="REGEX", default="", help="measure only the models with such names")
    parser.add_argument("--limit", type=float, default=240, help="seconds after which no further step is measured")
    given = parser.parse_args()
    if given.compile:
        sys.exit(compile_all_for(given.compile))
    if given.only_torch:
        print(json.dumps(measure_torch(given.limit, given.only)))
        return
    if not has_gpu():
        sys.exit("there is no GPU here: `python benchmarks/gpu.py --compile h200` compiles all of it for one")
    if given.check:
        return
    rows = {name: {"ours": ms} for name, ms in measure_paddle(given.limit, given.only).items()}
    if given.torch:
        command = [given.torch, __file__, "--only-torch", "--limit", str(given.limit), "--only", given.only]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        for name, ms in json.loads(done.stdout.splitlines()[-1]).items():
            rows.setdefault(name, {})["torch"] = ms
    for name, row in rows.items():
        print(f"{name:30} " + ", ".join(f"{k} {v:8.2f} ms" for k, v in row.items()))
    Path(given.out).parent.mkdir(exist_ok=True)
    Path(given.out).write_text(json.dumps(rows, indent=1))
    picture(rows, Path(given.out).with_suffix(".png"))


if __name__ == "__main__":
    main()
