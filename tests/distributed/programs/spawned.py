"""Starts processes of its own: the first time they add their ranks, the second time one of them fails."""

import paddle
import paddle.distributed as dist


def add(start):
    x = paddle.ones([1]) * dist.get_rank() + start
    dist.all_reduce(x)
    if start and dist.get_rank() == 1:
        raise ValueError(f"the sum is {x.item():g}")


if __name__ == "__main__":
    dist.spawn(add, (0,), nprocs=2)
    dist.spawn(add, (2,), nprocs=2)
