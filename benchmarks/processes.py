"""Exchanges and data-parallel steps of two processes on this machine, beside JAX's own exchange of the same arrays.

python benchmarks/processes.py [--torch PYTHON] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

SIZES = {"1 KB": 256, "64 MB": 16 << 20}


def timed(call: Callable[[], object], runs: int) -> float:
    """The median time of a call, in microseconds."""
    call()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def ours(file: str) -> None:
    """The rows of this package, and of bare JAX, written by the first process."""
    import paddle_lite_py as paddle
    import paddle_lite_py.nn.functional as F
    from paddle_lite_py import distributed as dist
    from paddle_lite_py import nn
    from paddle_lite_py.distributed import kernels
    from paddle_lite_py.distributed.exchange import ExchangeProgram, exchanges

    dist.init_parallel_env()
    rows: dict[str, dict[str, float]] = {}
    for name, count in SIZES.items():
        x = paddle.zeros([count])
        bare = ExchangeProgram(exchanges().mesh((0, 1)), lambda a: kernels.all_reduce(a, 0), [x._data])
        runs = 200 if count < 1000 else 8
        row = {"ours": timed(lambda x=x: (dist.all_reduce(x), x._data.block_until_ready()), runs)}
        row["jax"] = timed(lambda bare=bare, x=x: bare(x._data).block_until_ready(), runs)
        rows[f"all_reduce {name}"] = row
    net = paddle.DataParallel(nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)))
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    x, y = paddle.rand([64, 256]), paddle.randint(0, 10, [64])

    def step(x, y):  # type: ignore[no-untyped-def]
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    static = paddle.jit.to_static(step)
    steps = {"ours, eager": lambda: step(x, y).numpy(), "ours, static": lambda: static(x, y).numpy()}
    rows["DataParallel MLP step"] = {name: timed(run, 100) for name, run in steps.items()}
    if dist.get_rank() == 0:
        Path(file).write_text(json.dumps(rows))


def torchs(file: str) -> None:
    """The same with PyTorch's gloo and DDP."""
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    dist.init_process_group("gloo")
    rows: dict[str, dict[str, float]] = {}
    for name, count in SIZES.items():
        x = torch.zeros(count)
        rows[f"all_reduce {name}"] = {"torch": timed(lambda x=x: dist.all_reduce(x), 200 if count < 1000 else 8)}
    net = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    model = DistributedDataParallel(net)
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    x, y = torch.rand(64, 256), torch.randint(0, 10, (64,))

    def step() -> float:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        opt.zero_grad()
        return loss.item()

    rows["DataParallel MLP step"] = {"torch": timed(step, 100)}
    if dist.get_rank() == 0:
        Path(file).write_text(json.dumps(rows))
    dist.barrier()


def main() -> None:
    """Run all, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", help="a Python that has PyTorch")
    parser.add_argument("--out", help="a file for the figures, as JSON")
    parser.add_argument("--part", choices=("ours", "torch"), help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        (ours if given.part == "ours" else torchs)(given.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/rows.json"
        part = [__file__, "--file", file, "--part"]
        launch = ["-m", "paddle_lite_py.distributed.launch", "--nproc_per_node", "2", "--log_dir", folder]
        subprocess.run([sys.executable, *launch, *part, "ours"], check=True, stdout=subprocess.DEVNULL)
        rows = json.loads(Path(file).read_text())
        if given.torch:
            run = [given.torch, "-m", "torch.distributed.run", "--nproc_per_node", "2", *part, "torch"]
            subprocess.run(run, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for name, row in json.loads(Path(file).read_text()).items():
                rows[name] |= row
    for name, row in rows.items():
        print(f"{name:24}", "   ".join(f"{who} {t:9.0f} us" for who, t in row.items()))
    if given.out:
        Path(given.out).parent.mkdir(parents=True, exist_ok=True)
        Path(given.out).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
