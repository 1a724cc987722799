"""Saves state that lies over a mesh, or loads it over another; run by one process with devices, or by two processes."""

import sys

import numpy as np

import paddle_lite_py as paddle
from paddle_lite_py import distributed as dist

todo, folder = sys.argv[1:]
NUMBERS = [[0, 1], [2, 3]] if dist.get_world_size() == 1 else [[0, 1]]
mesh = dist.ProcessMesh(NUMBERS, ["x", "y"])
W = np.arange(16, dtype="float32").reshape(4, 4)
if todo == "save":
    state = {"w": dist.shard_tensor(W, mesh, [dist.Shard(0), dist.Shard(1)]), "opt": {"b": paddle.ones([3]) * 7}}
    dist.save_state_dict(state, folder)
    dist.save_state_dict({"w": state["w"] * 2, "opt": state["opt"]}, folder, async_save=True)
else:
    w, b = dist.shard_tensor(W * 0, mesh, [dist.Replicate(), dist.Shard(0)]), paddle.zeros([3])
    for number, factor in ((0, 1), (None, 2)):
        dist.load_state_dict({"w": w, "opt": {"b": b}}, folder, unique_id=number)
        np.testing.assert_array_equal(dist.unshard_dtensor(w).numpy(), W * factor)
    assert b.tolist() == [7.0] * 3 and w.placements[1] == dist.Shard(0)
print("done", flush=True)
