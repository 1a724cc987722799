"""Exchanges and data-parallel steps of two processes here, beside JAX's own exchange, PyTorch and PaddlePaddle; and a
step over a mesh of four processes, beside the same by hand in JAX.

python benchmarks/processes.py [--torch PYTHON] [--paddle PYTHON] [--out FILE]
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SIZES = {"1 KB": 256, "64 MB": 16 << 20}
NETS = ("MLP", "LeNet", "BERT of 2 layers")
ROUNDS, STEPS = 5, 12


def timed(calls: dict[str, Callable[[], Any]], runs: int) -> dict[str, float]:
    """The best median time of each call, in microseconds, of rounds that alternate."""
    for call in calls.values():
        call()
        call()
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            times = []
            for _ in range(runs):
                start = time.perf_counter()
                call()
                times.append(time.perf_counter() - start)
            found[name].append(statistics.median(times) * 1e6)
    return {name: min(times) for name, times in found.items()}


def ours(file: str) -> None:
    """The rows of this package, and of bare JAX, written by the first process."""
    import paddle_lite_py as paddle
    from paddle_lite_py import distributed as dist
    from paddle_lite_py.distributed import kernels
    from paddle_lite_py.distributed.exchange import ExchangeProgram, exchanges

    dist.init_parallel_env()
    rows: dict[str, dict[str, float]] = {}
    for name, count in SIZES.items():
        x = paddle.zeros([count])
        dist.all_reduce(x)
        bare = ExchangeProgram(exchanges().mesh((0, 1)), lambda a: kernels.all_reduce(a, 0), [x._payload])
        calls = {
            "ours": lambda x=x: (dist.all_reduce(x), x._payload.block_until_ready()),
            "jax": lambda bare=bare, x=x: bare(x._payload).block_until_ready(),
        }
        rows[f"all_reduce {name}"] = timed(calls, 100 if count < 1000 else 3)
    rows["Python side of an exchange"] = {"ours": _python_side()}
    for name in NETS:
        step = paddle_step(paddle, name)
        static = paddle.jit.to_static(paddle_step(paddle, name, step=True))
        batch = paddle_batch(paddle, name)
        calls = {
            "ours, eager": lambda step=step: step().numpy(),
            "ours, static": functools.partial(_called, static, batch),
        }
        rows[f"DataParallel step, {name}"] = timed(calls, STEPS)
    if dist.get_rank() == 0:
        Path(file).write_text(json.dumps(rows))
    dist.barrier()


def _called(static: Any, batch: tuple[Any, Any]) -> Any:
    return static(*batch).numpy()


def _python_side() -> float:
    """What an exchange costs beside XLA's call, in CPU time of this process."""
    import paddle_lite_py as paddle
    from paddle_lite_py import distributed as dist
    from paddle_lite_py.distributed import kernels

    x = paddle.zeros([256])
    dist.all_reduce(x)
    data = x._payload
    key = ("all_reduce", kernels.KERNELS["all_reduce"], (0,), (data.shape, data.dtype))
    program: Any = dist.get_group().programs.get(key)
    real = program.jitted
    out = real(program._part_of_all(data))
    program.jitted = lambda *arrays: out
    start = time.process_time()
    for _ in range(2000):
        dist.all_reduce(x)
    program.jitted = real
    return (time.process_time() - start) / 2000 * 1e6


def paddle_batch(paddle: Any, name: str) -> tuple[Any, Any]:
    """Inputs and labels of a net."""
    labels = paddle.randint(0, 10, [32])
    if name == "MLP":
        return paddle.rand([32, 256]), labels
    if name == "LeNet":
        return paddle.rand([32, 1, 28, 28]), labels
    return paddle.randint(0, 1000, [32, 32]), labels


def paddle_step(paddle: Any, name: str, step: bool = False) -> Callable[..., Any]:
    """A step of training with DataParallel: of a batch at hand, or, with `step`, of the one that is given."""
    nn = paddle.nn

    class Bert(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(1000, 128), nn.Embedding(32, 128)
            layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, activation="gelu")
            self.encoder, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(128, 10)

        def forward(self, ids: Any) -> Any:
            return self.head(self.encoder(self.words(ids) + self.places(paddle.arange(32))).mean(1))

    made = {
        "MLP": lambda: nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)),
        "LeNet": lambda: paddle.vision.models.LeNet(),
        "BERT of 2 layers": Bert,
    }
    net = paddle.DataParallel(made[name]())
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())

    def run(x: Any, y: Any) -> Any:
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    batch = paddle_batch(paddle, name)
    return run if step else lambda: run(*batch)


def paddles(file: str) -> None:
    """The same with PaddlePaddle."""
    import paddle
    import paddle.distributed as dist

    dist.init_parallel_env()
    rows: dict[str, dict[str, float]] = {}
    for name, count in SIZES.items():
        x = paddle.zeros([count])
        rows[f"all_reduce {name}"] = timed({"paddle": lambda x=x: dist.all_reduce(x)}, 100 if count < 1000 else 3)
    for name in NETS:
        step = paddle_step(paddle, name)
        rows[f"DataParallel step, {name}"] = timed({"paddle": lambda step=step: step().numpy()}, STEPS)
    if dist.get_rank() == 0:
        Path(file).write_text(json.dumps(rows))


def torchs(file: str) -> None:
    """The same with PyTorch's gloo and DDP."""
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel

    class Bert(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(1000, 128), nn.Embedding(32, 128)
            layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, activation="gelu", batch_first=True)
            self.encoder, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(128, 10)

        def forward(self, ids: Any) -> Any:
            return self.head(self.encoder(self.words(ids) + self.places(torch.arange(32))).mean(1))

    lenet = [nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2)]
    lenet += [nn.Flatten(), nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)]
    nets = [nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)), nn.Sequential(*lenet), Bert()]
    inputs = [torch.rand(32, 256), torch.rand(32, 1, 28, 28), torch.randint(0, 1000, (32, 32))]
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    rows: dict[str, dict[str, float]] = {}
    for name, count in SIZES.items():
        x = torch.zeros(count)
        rows[f"all_reduce {name}"] = timed({"torch": lambda x=x: dist.all_reduce(x)}, 100 if count < 1000 else 3)
    for name, net, x in zip(NETS, nets, inputs, strict=True):
        model, y = DistributedDataParallel(net), torch.randint(0, 10, (32,))
        opt = torch.optim.Adam(model.parameters(), 1e-3)

        def step(model: Any = model, x: Any = x, y: Any = y, opt: Any = opt) -> float:
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            opt.zero_grad()
            return loss.item()

        rows[f"DataParallel step, {name}"] = timed({"torch": step}, STEPS)
    if dist.get_rank() == 0:
        Path(file).write_text(json.dumps(rows))
    dist.barrier()


WIDTH, INNER, ROWS = 512, 2048, 64  # of two layers, the first split by columns and the second by rows


def meshes(file: str) -> None:
    """A static step over a mesh of four processes, data by tensor parallel, beside the same by hand in JAX."""
    import paddle_lite_py as paddle
    from paddle_lite_py import distributed as dist

    mesh = dist.ProcessMesh([[0, 1], [2, 3]], ["dp", "mp"])
    nn = paddle.nn
    net = nn.Sequential(nn.Linear(WIDTH, INNER), nn.GELU(), nn.Linear(INNER, WIDTH))
    plan = {"0": dist.ColWiseParallel(), "2": dist.RowWiseParallel()}
    adam = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    weights = [p.numpy() for p in net.parameters()]
    net, adam = dist.parallelize(net, adam, mesh, {"mp_config": {"parallelize_plan": plan}})
    step = dist.to_static(net, None, nn.MSELoss(), adam)
    x = paddle.rand([ROWS, WIDTH]).numpy()
    batch = [dist.shard_tensor(a, mesh, [dist.Shard(0), dist.Replicate()]) for a in (x, x * 2)]
    by_hand = jax_over_mesh(batch[0]._payload.sharding.mesh, weights, [t._payload for t in batch])
    first = float(step(*batch)), by_hand()
    assert abs(first[0] - first[1]) < 1e-5, first
    rows = {"static step over a mesh of 4": timed({"ours": lambda: float(step(*batch)), "jax": by_hand}, STEPS)}
    if dist.get_rank() == 0:
        Path(file).write_text(json.dumps(rows))
    dist.barrier()


def jax_over_mesh(mesh: Any, weights: list[Any], batch: list[Any]) -> Callable[[], float]:
    """The step as GSPMD has it: parameters and states with shardings, one jitted function that donates them."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec

    specs = [PartitionSpec(None, "mp"), PartitionSpec("mp"), PartitionSpec("mp", None), PartitionSpec()]

    def laid(values: Any, spec: Any) -> Any:
        return jax.make_array_from_callback(values.shape, NamedSharding(mesh, spec), lambda i: values[i].copy())

    def loss_of(p: Any, x: Any, y: Any) -> Any:
        out = jax.nn.gelu(x @ p[0] + p[1], approximate=False) @ p[2] + p[3]
        return ((out - y) ** 2).mean()

    def step(state: Any, x: Any, y: Any) -> Any:
        params, first, second, count = state
        loss, grads = jax.value_and_grad(loss_of)(params, x, y)
        count = count + 1
        first = [0.9 * m + 0.1 * g for m, g in zip(first, grads, strict=True)]
        second = [0.999 * v + 0.001 * g * g for v, g in zip(second, grads, strict=True)]
        rate = 1e-3 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        moved = [p - rate * m / (jnp.sqrt(v) + 1e-8) for p, m, v in zip(params, first, second, strict=True)]
        return (moved, first, second, count), loss

    kinds = [[NamedSharding(mesh, s) for s in specs] for _ in range(3)]
    whole = NamedSharding(mesh, PartitionSpec())
    compiled = jax.jit(step, donate_argnums=0, out_shardings=((*kinds, whole), whole))
    params = [laid(w, s) for w, s in zip(weights, specs, strict=True)]
    zeros = [[laid(np.zeros_like(w), s) for w, s in zip(weights, specs, strict=True)] for _ in range(2)]
    state = [(params, *zeros, laid(np.zeros((), np.float32), PartitionSpec()))]

    def run() -> float:
        state[0], loss = compiled(state[0], *batch)
        return float(loss.addressable_data(0))

    return run


PARTS: dict[str, Callable[[str], None]] = {"ours": ours, "meshes": meshes, "torch": torchs, "paddle": paddles}


def main() -> None:
    """Run all, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", help="a Python that has PyTorch")
    parser.add_argument("--paddle", help="a Python that has PaddlePaddle")
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--out", help="a file for the figures, as JSON")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        PARTS[given.part](given.file)
        return
    rows: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/rows.json"
        part = [str(Path(__file__).resolve()), "--file", file, "--part"]
        count = ["--nproc_per_node", "2"]
        launch = [sys.executable, "-m", "paddle_lite_py.distributed.launch", "--log_dir", folder, "--nproc_per_node"]
        commands = {
            "ours": [*launch, "2"],
            "meshes": [*launch, "4"],
            "torch": [given.torch, "-m", "torch.distributed.run", *count],
            "paddle": [given.paddle, "-m", "paddle.distributed.launch", *count, "--log_dir", folder],
        }
        for name, command in commands.items():
            if command[0] is None or given.only not in (None, name):
                continue
            subprocess.run([*command, *part, name], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for row, figures in json.loads(Path(file).read_text()).items():
                rows.setdefault(row, {}).update(figures)
    for name, row in rows.items():
        print(f"{name:36}", "   ".join(f"{who} {t:9.0f} us" for who, t in row.items()))
    if given.out:
        Path(given.out).parent.mkdir(parents=True, exist_ok=True)
        Path(given.out).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
