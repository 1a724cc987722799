"""Trains weights that lie over all processes, with a checkpoint at each step that is read into worlds of other sizes.

python -m paddle_lite_py.distributed.launch --nnodes 2:4 ... elastic_shared.py FOLDER STEPS
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
dist.init_parallel_env()
note = Notes(folder, dist.get_rank(), dist.get_world_size())
mesh = dist.ProcessMesh(list(range(note.size)), ["x"])
x = paddle.to_tensor(np.random.default_rng(3).normal(size=(16, 12)).astype("float32"))
weight = dist.shard_tensor(paddle.zeros([12, 1]), mesh, [dist.Shard(0)])
done = paddle.zeros([1], "int64")
if list((folder / "checkpoints").glob("*.metadata")):
    dist.load_state_dict({"weight": weight, "done": done}, str(folder / "checkpoints"))

first = done.item()
note("begun", step=first, restarts=elastic.restarts(), launcher=os.getppid())
for step in range(first, steps):
    error = x @ weight - x.sum(1, keepdim=True)
    weight = dist.reshard(weight - (x.T @ error) * 0.01, mesh, [dist.Shard(0)])
    note("step", step=step, loss=float(np.asarray(dist.unshard_dtensor(error.square().mean()).numpy())))
    note.pause()
    done = paddle.full([1], step + 1, "int64")
    dist.save_state_dict({"weight": weight, "done": done}, str(folder / "checkpoints"))
    if elastic.should_stop():
        note("left", step=step)
        elastic.leave()
whole = dist.unshard_dtensor(weight).numpy()
if note.rank == 0:
    np.save(folder / "weights.npy", whole)
