"""Four processes in two rows and two columns: one static function exchanges in both, as eager code does."""

import numpy as np

import paddle_lite_py as paddle
from paddle_lite_py import distributed as dist

dist.init_parallel_env()
RANK = dist.get_rank()
made = {name: dist.new_group(ranks) for name, ranks in {"01": [0, 1], "23": [2, 3], "02": [0, 2], "13": [1, 3]}.items()}
row, column = made["01" if RANK < 2 else "23"], made["02" if RANK % 2 == 0 else "13"]
ODD = paddle.to_tensor([1.0 + RANK, -2.0 * RANK, 0.5])


def exchanges(x, group):
    """What each kind of exchange gives this process."""
    found = []
    for operation in (dist.ReduceOp.SUM, dist.ReduceOp.MAX, dist.ReduceOp.MIN, dist.ReduceOp.PROD, dist.ReduceOp.AVG):
        found.append(x * 1.0)
        dist.all_reduce(found[-1], operation, group)
    found.append(x * 1.0)
    dist.broadcast(found[-1], group.ranks[1], group)
    rows = []
    dist.all_gather(rows, x, group)
    found += rows
    parts = []
    dist.alltoall(parts, [x, x * 10.0], group)
    found += parts
    for f, given in ((dist.reduce_scatter, {}), (dist.scatter, {"src": group.ranks[0]})):
        found.append(paddle.zeros([3]))
        f(found[-1], [x, x + 100.0], group=group, **given)
    return found


def both(x):
    """Exchanges in the row, then in the column, of what came of the first."""
    total = x * 1.0
    dist.all_reduce(total, group=row)
    return [*exchanges(x, row), *exchanges(total + x, column)]


static = paddle.jit.to_static(both)
for _ in range(2):
    for a, b in zip(static(ODD), both(ODD), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)
assert len(static.cache) == 1


# A weight that processes of a column share, of a layer whose parts the processes of a row have.
def trained(convert):
    paddle.seed(RANK % 2)
    part = paddle.nn.Linear(2, 3)
    opt = paddle.optimizer.Momentum(0.1, parameters=part.parameters())

    def step(x):
        out = part(x)
        total = out.detach()
        dist.all_reduce(total, group=row)
        loss = ((total + out - out.detach()) ** 2).mean()
        loss.backward()
        for p in part.parameters():
            dist.all_reduce(p.grad, dist.ReduceOp.AVG, column)
        opt.step()
        opt.clear_grad()
        return loss

    run = convert(step)
    losses = [run(paddle.to_tensor([[1.0, RANK // 2 + 2.0]])).item() for _ in range(3)]
    return losses, part.weight.numpy()


(eager, weight), (staged, other) = trained(lambda f: f), trained(paddle.jit.to_static)
np.testing.assert_allclose(staged, eager, rtol=1e-5)
np.testing.assert_allclose(other, weight, rtol=1e-5)
everyone = []
dist.all_gather(everyone, paddle.to_tensor(other))
assert np.array_equal(everyone[RANK % 2], everyone[RANK % 2 + 2])
if RANK == 0:
    print("rows and columns are well")
