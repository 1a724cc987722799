"""A small language model, trained as the degrees of the command line say; prints its losses over all processes."""

import json
import sys

import numpy as np

import paddle_lite_py as paddle
import paddle_lite_py.nn.functional as F
from paddle_lite_py import distributed as dist
from paddle_lite_py import nn
from paddle_lite_py.distributed import fleet
from paddle_lite_py.distributed.fleet import meta_parallel as parallel

DEGREES = json.loads(sys.argv[1])
STATIC = len(sys.argv) > 2
strategy = fleet.DistributedStrategy()
strategy.hybrid_configs = DEGREES
strategy.pipeline_configs = {"accumulate_steps": 2}
fleet.init(is_collective=True, strategy=strategy)
hcg = fleet.get_hybrid_communicate_group()
WORDS, WIDTH = 8, 4
rng = np.random.default_rng(0)
SHAPES = {"e": (WORDS, WIDTH), "w": (WIDTH, 8), "b": (8,), "v": (8, WIDTH), "c": (WIDTH,), "h": (WIDTH, WORDS)}
WHOLE = {name: rng.normal(size=shape).astype("float32") / 2 for name, shape in SHAPES.items()}
ids, labels = rng.integers(0, WORDS, (8, 3)), rng.integers(0, WORDS, (8, 3))


def fill(parameter, name):
    value = WHOLE[name]
    if parameter.is_distributed:
        value = np.split(value, hcg.get_model_parallel_world_size(), parameter.split_axis)[
            hcg.get_model_parallel_rank()
        ]
    parameter.set_value(value)


class Embedded(nn.Layer):
    def __init__(self):
        super().__init__()
        self.table = parallel.VocabParallelEmbedding(WORDS, WIDTH)
        fill(self.table.weight, "e")

    def forward(self, x):
        return self.table(x)


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.up = parallel.ColumnParallelLinear(WIDTH, 8, has_bias=True, gather_output=False)
        self.down = parallel.RowParallelLinear(8, WIDTH, input_is_parallel=True)
        for parameter, name in zip(self.parameters(), "wbvc", strict=True):
            fill(parameter, name)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(x)))


class Head(nn.Layer):
    def __init__(self):
        super().__init__()
        self.out = parallel.ColumnParallelLinear(WIDTH, WORDS, has_bias=False, gather_output=False)
        fill(self.out.weight, "h")

    def forward(self, x):
        return self.out(x)


entropy = parallel.ParallelCrossEntropy()


def loss_of(out, y):
    return entropy(out, y).mean()


piped = DEGREES.get("pp_degree", 1) > 1
if piped:
    model = parallel.PipelineLayer([parallel.LayerDesc(made) for made in (Embedded, Block, Head)], loss_fn=loss_of)
else:
    model = nn.Sequential(Embedded(), Block(), Head())
trained = fleet.distributed_model(model)
clip = nn.ClipGradByGlobalNorm(0.3)
opt = fleet.distributed_optimizer(paddle.optimizer.AdamW(0.05, parameters=model.parameters(), grad_clip=clip))
group = hcg.gradient_group
share = slice(group.rank * 8 // group.nranks, (group.rank + 1) * 8 // group.nranks)
x, y = paddle.to_tensor(ids[share]), paddle.to_tensor(labels[share])


def step(x, y):
    loss = loss_of(trained(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    return loss


run = paddle.jit.to_static(step) if STATIC else step
losses = []
for _ in range(3):
    loss = (trained.train_batch([x, y], opt) if piped else run(x, y)).detach().clone()
    dist.all_reduce(loss, dist.ReduceOp.AVG, group=group)
    losses.append(loss.item())
print("losses", json.dumps(losses), flush=True)
dist.barrier()
