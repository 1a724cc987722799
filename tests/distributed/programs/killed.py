"""Trains with a checkpoint at every step, and is killed at random moments; the launcher begins it again each time.

python -m paddle_lite_py.distributed.launch --max_restart KILLS ... killed.py FOLDER KILLS
"""

import os
import random
import signal
import sys
import threading
from pathlib import Path

folder, kills, rank = Path(sys.argv[1]), int(sys.argv[2]), int(os.environ["PADDLE_TRAINER_ID"])
attempt = len(list(folder.glob(f"begun.{rank}.*")))
(folder / f"begun.{rank}.{attempt}").touch()
if attempt < kills and attempt % 2 == rank:
    moment = random.Random(f"{attempt}").uniform(0.0, 5.0)
    threading.Timer(moment, os.kill, (os.getpid(), signal.SIGKILL)).start()

import numpy as np  # noqa: E402

import paddle_lite_py as paddle  # noqa: E402
from paddle_lite_py import distributed as dist  # noqa: E402

X = np.linspace(-1, 1, 24, dtype="float32").reshape(8, 3)


def trained(net, x, steps):
    for _ in range(steps):
        (net(x) - x.sum(1, keepdim=True)).square().mean().backward()
        with paddle.no_grad():
            for p in net.parameters():
                p.set_value(p - p.grad * 0.01)
                p.clear_grad()


def made():
    paddle.seed(7)
    return paddle.nn.Linear(3, 1)


dist.init_parallel_env()
net, step, saved = made(), paddle.zeros([1], "int64"), folder / "saved"
state = {"net": net.state_dict(), "step": step}
whole = [int(text) for text in saved.read_text().split()] if saved.exists() else [0]
if (folder / "checkpoint").is_dir() and list((folder / "checkpoint").glob("*.metadata")):
    dist.load_state_dict(state, str(folder / "checkpoint"))
assert step.item() >= whole[-1], f"step {whole[-1]} was saved, and {step.item()} is there"
alone = made()
trained(alone, paddle.to_tensor(X), step.item())
np.testing.assert_allclose(net.weight.numpy(), alone.weight.numpy(), rtol=1e-3, atol=1e-5)
model, last = paddle.DataParallel(net), step.item() + 5
while attempt < kills or step.item() < last:
    trained(model, paddle.to_tensor(X[rank::2]), 1)
    step.add_(paddle.ones([1], "int64"))
    in_background = step.item() % 2 == 1
    dist.save_state_dict(state, str(folder / "checkpoint"), async_save=in_background)
    if rank == 0 and not in_background:
        with saved.open("a") as file:
            file.write(f"{step.item()}\n")
print(f"rank {rank} has seen {attempt} kills", flush=True)
