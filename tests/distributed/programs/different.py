"""Two processes that call collectives with different arguments: each is told what the other does."""

import re

import paddle_lite_py as paddle
from paddle_lite_py import distributed as dist

RANK = dist.get_rank()
ones = paddle.ones
# What both call, and the argument that differs.
CALLS = {
    "shape in all_reduce": lambda: dist.all_reduce(ones([2 + RANK])),
    "dtype in all_reduce": lambda: dist.all_reduce(ones([2], ["float32", "int32"][RANK])),
    "op in all_reduce": lambda: dist.all_reduce(ones([2]), [dist.ReduceOp.SUM, dist.ReduceOp.MAX][RANK]),
    "shape in reduce": lambda: dist.reduce(ones([2 + RANK]), 0),
    "dst in reduce": lambda: dist.reduce(ones([2]), RANK),
    "shape in broadcast": lambda: dist.broadcast(ones([2 + RANK]), 0),
    "src in broadcast": lambda: dist.broadcast(ones([2]), RANK),
    "shape in all_gather": lambda: dist.all_gather([], ones([2 + RANK])),
    "shape in gather": lambda: dist.gather(ones([2 + RANK]), [], 0),
    "shape in scatter": lambda: dist.scatter(ones([2 + RANK]), [ones([2])] * 2 if RANK == 0 else None, 0),
    "dtype in scatter": lambda: dist.scatter(ones([2], ["float32", "int32"][RANK]), [ones([2])] * 2, 0),
    "shape in reduce_scatter": lambda: dist.reduce_scatter(ones([2 + RANK]), [ones([2 + RANK])] * 2),
    "shape in alltoall": lambda: dist.alltoall([], [ones([2 + RANK])] * 2),
    "sizes in alltoall": lambda: dist.alltoall([], [ones([1 + RANK, 2]), ones([2, 2])]),
    "shape in alltoall_single": lambda: dist.alltoall_single(ones([4]), ones([4 + 2 * RANK])),
    "splits in alltoall_single": lambda: dist.alltoall_single(ones([4]), ones([4]), [1, 3] if RANK else None),
    "src in broadcast_object_list": lambda: dist.broadcast_object_list([1], RANK),
    "src in scatter_object_list": lambda: dist.scatter_object_list([], [1, 2], RANK),
    "all_gather_object or all_reduce": lambda: dist.all_gather_object([], {}) if RANK else dist.all_reduce(ones([7])),
    "all_gather_object or other objects": lambda: (
        dist.all_gather_object([], {}) if RANK else dist.broadcast_object_list([1], 0)
    ),
    "broadcast or all_reduce": lambda: dist.all_reduce(ones([5])) if RANK else dist.broadcast(ones([5]), 0),
    "barrier or all_reduce": lambda: dist.barrier() if RANK else dist.all_reduce(ones([6])),
    "model in DataParallel": lambda: paddle.DataParallel(paddle.nn.Linear(2, 2 + RANK)),
}

for name, call in CALLS.items():
    try:
        call()
    except RuntimeError as e:
        assert re.search(rf"rank {RANK}\): rank {1 - RANK} does \S.* at this point", str(e)), e
    else:
        raise AssertionError(name)
dist.all_reduce(total := ones([2]))  # they are together again
assert total.tolist() == [2.0, 2.0]
print(f"{len(CALLS)} differences are told", flush=True)
