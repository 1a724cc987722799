"""DeepFM end to end, in samples a second: one process, servers with one and two workers, and PyTorch.

usage: recommenders.py [--torch PYTHON] [--batch N] [--steps N] [--rows N] [--rounds N] [--only NAME]

26 fields of a Zipf distribution hashed into one table of --rows rows of 9 numbers and one of 1, 13 numbers, a tower of
512-256-128-32, Adagrad, batches from memory. PyTorch has nn.Embedding(sparse=True) and its Adagrad. A figure is the
best of the rounds; with several workers it is the sum of what they do. The time of processors, in ms for a thousand
samples, is that of all rounds, of the workers and of the servers: cores / (their sum) bounds what a machine can do.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

FIELDS, NUMBERS, DIM = 26, 13, 9
TOWER = [512, 256, 128, 32]
ROOT = Path(__file__).resolve().parent.parent
SERVED = {"servers 1, workers 1": (1, 1), "servers 1, workers 2": (1, 2), "servers 2, workers 2": (2, 2)}


def batches(given: argparse.Namespace, seed: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Ids, numbers and labels."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(given.steps):
        ids = (rng.zipf(1.2, (given.batch, FIELDS)) * 2654435761 + np.arange(FIELDS) * 97) % (given.rows - 1) + 1
        numbers = rng.normal(size=(given.batch, NUMBERS)).astype("float32")
        made.append((ids, numbers, rng.integers(0, 2, (given.batch, 1)).astype("float32")))
    return made


def ours(given: argparse.Namespace) -> None:
    """Train as the environment says, and print the speed."""
    import paddle_lite_py as paddle
    from paddle_lite_py.distributed import fleet

    paddle.enable_static()
    fleet.init(fleet.PaddleCloudRoleMaker())
    static, F = paddle.static, paddle.nn.functional
    ids = static.data("ids", [None, FIELDS], "int64")
    numbers, label = static.data("numbers", [None, NUMBERS]), static.data("label", [None, 1])

    def attr(name: str) -> Any:
        return paddle.ParamAttr(name=name, initializer=paddle.nn.initializer.Uniform(-0.01, 0.01))

    first = static.nn.sparse_embedding(ids, [given.rows, 1], param_attr=attr("first")).sum(1)
    dense = paddle.nn.Linear(NUMBERS, DIM)(numbers).unsqueeze(1)
    found = paddle.concat([static.nn.sparse_embedding(ids, [given.rows, DIM], param_attr=attr("second")), dense], 1)
    second = 0.5 * (found.sum(1) ** 2 - (found**2).sum(1)).sum(1, keepdim=True)
    x = found.reshape([-1, (FIELDS + 1) * DIM])
    for inner, outer in zip([(FIELDS + 1) * DIM, *TOWER[:-1]], TOWER, strict=True):
        x = F.relu(paddle.nn.Linear(inner, outer)(x))
    loss = F.binary_cross_entropy_with_logits(first + second + paddle.nn.Linear(TOWER[-1], 1)(x), label)
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = True
    fleet.distributed_optimizer(paddle.optimizer.Adagrad(0.01), strategy).minimize(loss)
    if fleet.is_server():
        fleet.init_server()
        before = time.process_time()
        fleet.run_server()
        return print(f"server used {time.process_time() - before:.3f} s")
    exe = static.Executor()
    exe.run(static.default_startup_program())
    fleet.init_worker()
    data = batches(given, fleet.worker_index())
    feeds = [dict(zip(("ids", "numbers", "label"), b, strict=True)) for b in data]
    fleet.barrier_worker()

    best, used = 0.0, 0.0
    for n in range(given.rounds + 1):  # the first one compiles
        start, before = time.perf_counter(), time.process_time()
        exe.train_from_dataset(dataset=feeds)
        fleet.barrier_worker()
        best = max(best, len(feeds) * given.batch / (time.perf_counter() - start))
        used += time.process_time() - before if n else 0.0
    print(f"samples/s {best:.0f}\nworker used {used:.3f} s", flush=True)
    return fleet.stop_worker()


def torch_way(given: argparse.Namespace) -> None:
    """The same by PyTorch."""
    import torch
    from torch import nn

    class DeepFM(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = (
                nn.Embedding(given.rows, 1, sparse=True),
                nn.Embedding(given.rows, DIM, sparse=True),
            )
            for table in (self.first, self.second):
                nn.init.uniform_(table.weight, -0.01, 0.01)
            self.dense = nn.Linear(NUMBERS, DIM)
            layers: list[Any] = []
            for inner, outer in zip([(FIELDS + 1) * DIM, *TOWER[:-1]], TOWER, strict=True):
                layers += [nn.Linear(inner, outer), nn.ReLU()]
            self.tower = nn.Sequential(*layers, nn.Linear(TOWER[-1], 1))

        def forward(self, ids: Any, numbers: Any) -> Any:
            found = torch.cat([self.second(ids), self.dense(numbers).unsqueeze(1)], 1)
            second = 0.5 * (found.sum(1) ** 2 - (found**2).sum(1)).sum(1, keepdim=True)
            return self.first(ids).sum(1) + second + self.tower(found.flatten(1))

    net = DeepFM()
    optimizer = torch.optim.Adagrad(net.parameters(), 0.01)
    data = [tuple(map(torch.from_numpy, b)) for b in batches(given, 0)]

    best = 0.0
    for _ in range(given.rounds + 1):
        start = time.perf_counter()
        for ids, numbers, label in data:
            optimizer.zero_grad()
            nn.functional.binary_cross_entropy_with_logits(net(ids, numbers), label).backward()
            optimizer.step()
        best = max(best, len(data) * given.batch / (time.perf_counter() - start))
    print(f"samples/s {best:.0f}", flush=True)


def used(said: str, role: str, samples: int) -> float:
    """Processor time of the processes of a role, in ms for a thousand samples."""
    return sum(map(float, re.findall(rf"{role} used (\S+) s", said))) * 1e6 / samples


def measured(given: argparse.Namespace) -> Iterator[tuple[str, float, float, float]]:
    """Each way, its samples a second, and the processor time of workers and servers."""
    sizes = [f"--{name}={getattr(given, name)}" for name in ("batch", "steps", "rows", "rounds")]
    own = [str(Path(__file__).resolve()), "--child", *sizes]
    ways = {"one process": [sys.executable, *own]}
    launch = [sys.executable, "-m", "paddle_lite_py.distributed.launch"]
    folder = tempfile.mkdtemp()
    for name, (servers, workers) in SERVED.items():
        ways[name] = [*launch, "--server_num", str(servers), "--trainer_num", str(workers), "--log_dir", folder, *own]
    if given.torch:
        ways["PyTorch"] = [given.torch, *own, "--with-torch"]
    for name, command in ways.items():
        if given.only and given.only not in name:
            continue
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        logs = "".join(p.read_text() for p in Path(folder).glob("*log.*")) if name in SERVED else done.stdout
        if done.returncode:
            sys.exit(f"{name}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        for log in Path(folder).glob("*log.*"):
            log.unlink()
        samples = given.steps * given.batch * (SERVED[name][1] if name in SERVED else 1)
        yield (
            name, sum(map(float, re.findall(r"samples/s (\d+)", logs))),
            used(logs, "worker", samples * given.rounds), used(logs, "server", samples * (given.rounds + 1)),
        )  # fmt: skip


def main() -> None:
    """Print a row for each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", default="", help="a Python that has PyTorch")
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--steps", type=int, default=100, help="batches to a round (default 100)")
    parser.add_argument("--rows", type=int, default=1_000_001, help="of the tables (default 1000001)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="the way whose name holds this")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--with-torch", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return torch_way(given) if given.with_torch else ours(given)
    print("| DeepFM | samples/s | ms of processors of workers | of servers |\n| --- | ---: | ---: | ---: |")
    for name, speed, workers, servers in measured(given):
        print(f"| {name} | {speed:,.0f} | {workers:.0f} | {servers:.0f} |", flush=True)
    return None


if __name__ == "__main__":
    main()
