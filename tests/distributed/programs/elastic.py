"""Trains a small net, with a checkpoint at each step, in worlds of any size; its steps and their losses go to a file.

python -m paddle_lite_py.distributed.launch --nnodes 2:4 ... elastic.py FOLDER STEPS

Each step takes so many seconds more as the file FOLDER/pause says at that moment.
"""

import os
import sys
from pathlib import Path

import numpy as np
from noted import Notes

import paddle_lite_py as paddle
from paddle_lite_py import distributed as dist
from paddle_lite_py.distributed import elastic

folder, steps = Path(sys.argv[1]), int(sys.argv[2])
GLOBAL_BATCH = 12
dist.init_parallel_env()
rank, size = dist.get_rank(), dist.get_world_size()
note = Notes(folder, rank, size)
rows = elastic.local_batch(GLOBAL_BATCH)

paddle.seed(7)
net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.Tanh(), paddle.nn.Linear(8, 1))
opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
kept = paddle.hapi.Checkpoints(folder / "checkpoints", net=net, opt=opt)
first = kept.restore().get("step", 0)
model = paddle.DataParallel(net)  # after that: what it sends to all is what all compute with, to the same bits


note("begun", step=first, restarts=elastic.restarts(), launcher=os.getppid())
for step in range(first, steps):
    x = np.random.default_rng(step).normal(size=(GLOBAL_BATCH, 4)).astype("float32")
    own = paddle.to_tensor(x[rank * rows : (rank + 1) * rows])
    loss = (model(own) - own.sum(1, keepdim=True)).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
    dist.all_reduce(loss)
    note("step", step=step, loss=loss.item() / size)
    note.pause()
    kept.save({"step": step + 1})
    if elastic.should_stop():
        note("left", step=step)
        elastic.leave()
weights = np.concatenate([p.numpy().ravel() for p in net.parameters()])
if rank == 0:
    np.save(folder / "weights.npy", weights)
print(f"rank {rank} of {size} is done after {steps} steps", flush=True)
