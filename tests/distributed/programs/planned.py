"""Plans ranked on eight devices of one process, and a deeper model beside what was foretold of it."""

from typing import Any

import paddle_lite_py as paddle
from paddle_lite_py import distributed as dist
from paddle_lite_py.distributed.auto_tuner import MeshPlan, rank, table

WIDTH, ROWS = 256, 1024


class Pair(paddle.nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = paddle.nn.Linear(WIDTH, WIDTH), paddle.nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Any) -> Any:
        return x + self.down(paddle.tanh(self.up(x)))


def make(plan: MeshPlan, depth: int) -> tuple[Any, list[Any]]:
    mesh = plan.mesh()
    layers = {r"\d+\.up": dist.ColWiseParallel(), r"\d+\.down": dist.RowWiseParallel()}
    config = {"mp_config": {"parallelize_plan": layers}, "dp_config": {"sharding_level": plan.sharding}}
    with paddle.targets.abstract():
        net: Any = paddle.nn.Sequential(*[Pair() for _ in range(depth)])
        adam: Any = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
        net, adam = dist.parallelize(net, adam, mesh, config)

    @paddle.jit.to_static
    def train(x: Any) -> Any:
        loss = net(dist.reshard(x, mesh, [dist.Shard(0), dist.Replicate()])).square().mean()
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    return train, [paddle.static.InputSpec([ROWS, WIDTH])]


if __name__ == "__main__":
    among = [MeshPlan(8, 1, 1), MeshPlan(8, 1, 3), MeshPlan(4, 2, 1)]
    found = rank(make, "cpu", 4, (1, 2), among, every=True)
    assert len(found) == 3 and all(c.fits for c in found), found
    first, third, parts = (next(c for c in found if c.plan == plan) for plan in among)
    assert third.memory < first.memory, "parts of parameters take less than all of them"
    assert parts.memory < first.memory, "and so do parts of layers"
    parameters = 4 * 2 * (WIDTH + 1) * WIDTH * 4
    assert 0.9 < first.sent / (3 * 7 / 8 * parameters) < 1.1, (first.sent, "gradients sum, parameters gather")
    step, specs = make(first.plan, 4)
    whole = step.compile_for("cpu", *specs)
    assert whole.compiles, whole.error
    assert abs(whole.memory.peak / first.memory - 1) < 0.05, (whole.memory.peak, first.memory)
    assert abs(whole.flops / first.flops - 1) < 0.05 and abs(whole.sent / first.sent - 1) < 0.05
    print(table(found))
