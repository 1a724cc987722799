"""Saves state that lies over a mesh, or loads it over another; run by one process with devices, or by two processes."""

import sys

import numpy as np

import paddle_lite_py as paddle
from paddle_lite_py import distributed as dist

todo, folder = sys.argv[1:]
NUMBERS = [[0, 1], [2, 3]] if dist.get_world_size() == 1 else [[0, 1]]
mesh = dist.ProcessMesh(NUMBERS, ["x", "y"])
W = np.arange(16, dtype="float32").reshape(4, 4)
part = paddle.zeros([2, 3])
if dist.get_world_size() == 2:  # each process has rows of "r", one process has all
    part = dist.shard_weight("r", part + dist.get_rank(), 0, dist.new_group())
else:
    rows = paddle.to_tensor([[i // 2] * 3 for i in range(4)], "float32")
    part = dist.ShardedWeight("r", rows, (4, 3), (4, 3), (0, 0))
if todo == "save":
    cut = dist.shard_tensor(W, mesh, [dist.Shard(0), dist.Shard(1)])
    state = {"w": cut, "opt": {"b": paddle.ones([3]) * 7}, "r": part}
    dist.save_state_dict(state, folder)
    dist.save_state_dict({"w": state["w"] * 2, "opt": state["opt"]}, folder, async_save=True)
else:
    w, b = dist.shard_tensor(W * 0, mesh, [dist.Replicate(), dist.Shard(0)]), paddle.zeros([3])
    for number, factor in ((0, 1), (None, 2)):
        dist.load_state_dict({"w": w, "opt": {"b": b}}, folder, unique_id=number)
        np.testing.assert_array_equal(dist.unshard_dtensor(w).numpy(), W * factor)
    part.local_tensor.zero_()
    dist.load_state_dict({"r": part}, folder, unique_id=0)
    first = part.global_offset[0]
    assert part.local_tensor[:, 0].tolist() == [0.0, 0.0, 1.0, 1.0][first : first + part.local_shape[0]]
    assert dist.load_merged_state_dict(folder, unique_id=0)["r"][:, 0].tolist() == [0.0, 0.0, 1.0, 1.0]
    assert b.tolist() == [7.0] * 3 and w.placements[1] == dist.Shard(0)
print("done", flush=True)
