"""A small GPT, trained over a mesh that one setting names; its losses are those of one device.

    python -m paddle_lite_py.distributed.launch --nproc_per_node 4 tutorials/gpt.py --mesh dp=2,mp=2
    XLA_FLAGS=--xla_force_host_platform_device_count=8 python tutorials/gpt.py --mesh dp=2,mp=2,sep=2

The axes: dp: copies with other rows of the batch, mp: parts of each layer, pp: stages (vpp=2: two in each process),
sharding: copies that share the optimizer's states, sep: parts of each sequence. The first command has a process for
each place of the mesh; the second one has one process and a device for each place, without stages. Several --mesh are
trained one after the other; --picture FILE draws them and their losses.
"""

from __future__ import annotations

import argparse
import json
import math
from typing import Any

import numpy as np

import paddle_lite_py as paddle
import paddle_lite_py.nn.functional as F
from paddle_lite_py import distributed as dist
from paddle_lite_py import nn
from paddle_lite_py.distributed import fleet
from paddle_lite_py.distributed.fleet import meta_parallel as parallel

WORDS, LENGTH, WIDTH, HEADS, BLOCKS, ROWS = 16, 8, 16, 4, 2, 8
IDS = np.random.default_rng(0).integers(0, WORDS, (ROWS, LENGTH + 1))
INPUTS, LABELS = IDS[:, :-1], IDS[:, 1:]


class Part(nn.Layer):
    """A part of the model, whose weights are drawn from a seed: the same ones, whoever has them.

    Arguments:
        seed: of its weights.
        groups: who has parts of layers ("mp") and of sequences ("sep").
    """

    def __init__(self, seed: int, groups: dict[str, Any]) -> None:
        super().__init__()
        self.seed, self.groups = seed, groups

    def fill(self) -> None:
        """Give the weights their first values: this process's part of each."""
        for i, p in enumerate(self.parameters()):
            count, axis = (self.groups["mp"].nranks, p.split_axis) if p.is_distributed else (1, 0)
            shape = [n * count if a == axis else n for a, n in enumerate(p.shape)]
            whole = np.random.default_rng([self.seed, i]).normal(size=shape).astype("float32") / 4
            p.set_value(np.split(whole, count, axis)[self.groups["mp"].rank if count > 1 else 0])


class Embedded(Part):
    """Words and their places as vectors."""

    def __init__(self, seed: int, groups: dict[str, Any]) -> None:
        super().__init__(seed, groups)
        self.words = parallel.VocabParallelEmbedding(WORDS, WIDTH, mp_group=groups["mp"])
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.fill()

    def forward(self, ids: Any) -> Any:
        first = self.groups["sep"].rank * ids.shape[1]
        return self.words(ids) + self.places(paddle.arange(first, first + ids.shape[1]))


class Block(Part):
    """Attention and two layers, each added to what came in."""

    def __init__(self, seed: int, groups: dict[str, Any]) -> None:
        super().__init__(seed, groups)
        mp = {"mp_group": groups["mp"]}
        self.norms = nn.LayerList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.qkv = parallel.ColumnParallelLinear(WIDTH, 3 * WIDTH, has_bias=True, gather_output=False, **mp)
        self.out = parallel.RowParallelLinear(WIDTH, WIDTH, input_is_parallel=True, **mp)
        self.up = parallel.ColumnParallelLinear(WIDTH, 4 * WIDTH, has_bias=True, gather_output=False, **mp)
        self.down = parallel.RowParallelLinear(4 * WIDTH, WIDTH, input_is_parallel=True, **mp)
        self.fill()

    def forward(self, x: Any) -> Any:
        heads = HEADS // self.groups["mp"].nranks
        mixed = self.qkv(self.norms[0](x)).reshape([*x.shape[:2], heads, 3 * WIDTH // HEADS])
        q, k, v = mixed.split(3, -1)
        seen = parallel.ring_attention(q, k, v, is_causal=True, group=self.groups["sep"])
        x = x + self.out(seen.reshape([*x.shape[:2], -1]))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


class Head(Part):
    """Scores of the next word."""

    def __init__(self, seed: int, groups: dict[str, Any]) -> None:
        super().__init__(seed, groups)
        self.norm = nn.LayerNorm(WIDTH)
        self.scores = parallel.ColumnParallelLinear(
            WIDTH, WORDS, has_bias=False, gather_output=False, mp_group=groups["mp"]
        )
        self.fill()

    def forward(self, x: Any) -> Any:
        return self.scores(self.norm(x))


PARTS = [Embedded, *[Block] * BLOCKS, Head]


def made(groups: dict[str, Any]) -> Any:
    """The model as one layer."""
    return nn.Sequential(*[part(i, groups) for i, part in enumerate(PARTS)])


def adamw(model: Any) -> Any:
    """What trains it."""
    return paddle.optimizer.AdamW(
        0.01, parameters=model.parameters(), weight_decay=0.1, grad_clip=nn.ClipGradByGlobalNorm(1.0)
    )


def alone() -> dict[str, Any]:
    """The groups of a process that shares nothing."""
    return dict.fromkeys(("mp", "sep"), dist.collective.Group.of([dist.get_rank()]))


# -- three ways to train ---------------------------------------------------------------------------------------------
def on_one_device(steps: int) -> list[float]:
    """The losses of the model as a whole."""
    groups = alone()
    model, entropy = made(groups), parallel.ParallelCrossEntropy(groups["mp"])
    losses = _stepped(model, adamw(model), entropy, paddle.to_tensor(INPUTS), paddle.to_tensor(LABELS), steps)
    return [loss.item() for loss in losses]


def _stepped(
    model: Any, opt: Any, entropy: Any, x: Any, y: Any, steps: int, static: bool = False, parts: int = 1
) -> list[Any]:
    def step(x: Any, y: Any) -> Any:
        loss = entropy(model(x), y).mean()
        (loss / parts).backward()  # gradients of the parts of a sequence are added up, and else averaged
        opt.step()
        opt.clear_grad()
        return loss.detach()

    run = paddle.jit.to_static(step) if static else step
    return [run(x, y) for _ in range(steps)]


def _of_all(loss: Any) -> float:
    """The mean over all who have other data."""
    loss = loss.clone()
    group = fleet.get_hybrid_communicate_group().gradient_group
    if dist.get_world_size() > 1:
        dist.all_reduce(loss, dist.ReduceOp.AVG, group=group)
    return loss.item()


def on_processes(mesh: dict[str, int], steps: int) -> list[float]:
    """The losses with a process for each place of a mesh."""
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {f"{axis}_degree": n for axis, n in mesh.items() if axis not in ("vpp", "static")}
    strategy.pipeline_configs = {"accumulate_steps": 2}
    fleet.init(is_collective=True, strategy=strategy)
    hcg = fleet.get_hybrid_communicate_group()
    groups = {"mp": hcg.get_model_parallel_group(), "sep": hcg.get_sep_parallel_group()}
    entropy = parallel.ParallelCrossEntropy(groups["mp"])
    x, y = (paddle.to_tensor(_share(a, hcg)) for a in (INPUTS, LABELS))
    if mesh.get("pp", 1) == 1:
        model = made(groups)
        trained, opt = fleet.distributed_model(model), fleet.distributed_optimizer(adamw(model))
        return [
            _of_all(loss) for loss in _stepped(trained, opt, entropy, x, y, steps, "static" in mesh, mesh.get("sep", 1))
        ]
    share = 1.0 / mesh.get("sep", 1)
    layers = [parallel.LayerDesc(part, i, groups) for i, part in enumerate(PARTS)]
    model = parallel.PipelineLayer(
        layers, loss_fn=lambda out, y: entropy(out, y).mean() * share, num_virtual_pipeline_stages=mesh.get("vpp")
    )
    trained, opt = fleet.distributed_model(model), fleet.distributed_optimizer(adamw(model))
    return [_of_all(trained.train_batch([x, y], opt)) / share for _ in range(steps)]


def _share(data: np.ndarray, hcg: Any) -> np.ndarray:
    """The rows and the part of the sequences that this process has."""
    row = hcg.get_data_parallel_rank() * hcg.get_sharding_parallel_world_size() + hcg.get_sharding_parallel_rank()
    rows = np.split(data, hcg.get_data_parallel_world_size() * hcg.get_sharding_parallel_world_size())[row]
    return np.split(rows, hcg.get_sep_parallel_world_size(), axis=1)[hcg.get_sep_parallel_rank()]


def on_devices(mesh: dict[str, int], steps: int) -> list[float]:
    """The losses with a device of this process for each place of a mesh: one program, which XLA divides."""
    if mesh.get("pp", 1) > 1:
        raise SystemExit("pp: stages are processes; start as many by python -m paddle_lite_py.distributed.launch")
    places = dist.ProcessMesh(np.arange(math.prod(mesh.values())).reshape([*mesh.values()]), [*mesh])

    def lay(tensor: Any, **axes: int) -> Any:
        cut = [dist.Shard(axes[a]) if a in axes else dist.Replicate() for a in mesh]
        return dist.shard_tensor(tensor, places, cut)

    model = made(alone())
    for layer in model.sublayers():
        for name, p in list(layer.named_parameters(include_sublayers=False)):
            setattr(layer, name, lay(p, mp=p.split_axis) if hasattr(p, "split_axis") else lay(p))
    entropy = parallel.ParallelCrossEntropy(alone()["mp"])
    states = dist.ShardingStage1("sharding") if "sharding" in mesh else None
    trained = dist.to_static(
        model, None, lambda out, y: entropy(out, y).mean(), dist.shard_optimizer(adamw(model), states)
    )
    x, y = (_laid_rows(a, mesh, places) for a in (INPUTS, LABELS))
    return [trained(x, y).item() for _ in range(steps)]


def _laid_rows(data: np.ndarray, mesh: dict[str, int], places: Any) -> Any:
    cuts = {"dp": dist.Shard(0), "sharding": dist.Shard(0), "sep": dist.Shard(1)}
    return dist.shard_tensor(data, places, [cuts.get(axis, dist.Replicate()) for axis in mesh])


# -- the command line ------------------------------------------------------------------------------------------------
def draw(file: str, meshes: dict[str, dict[str, int]], losses: dict[str, list[float]]) -> None:
    """Places of each mesh, colored along its axes, beside the losses."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(meshes) + 1, figsize=(3.2 * (len(meshes) + 1), 3.2))
    for panel, (name, mesh) in zip(axes, meshes.items(), strict=False):
        sizes = [n for axis, n in mesh.items() if axis not in ("vpp", "static")]
        columns = sizes[-1]
        for number, place in enumerate(np.ndindex(*sizes)):
            color = [0.35 + 0.6 * p / max(n - 1, 1) for p, n in zip(place, sizes, strict=True)]
            at = number % columns, -(number // columns)
            panel.add_patch(plt.Rectangle(at, 0.9, 0.9, color=(color + [0.6] * 3)[:3]))
            panel.text(at[0] + 0.45, at[1] + 0.45, f"{number}\n{place}", ha="center", va="center", fontsize=8)
        panel.set(title=name, xlim=(0, columns), ylim=(1 - math.prod(sizes) / columns, 1))
        panel.axis("off")
    for name, found in losses.items():
        axes[-1].plot(found, "o-", label=name, alpha=0.6)
    axes[-1].set(title="losses", xlabel="step")
    axes[-1].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(file)


def main() -> None:
    """Train as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mesh", action="append", required=True, help="axes and their lengths, as dp=2,mp=2")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--picture", help="a file for the meshes and their losses")
    given = parser.parse_args()
    dist.init_parallel_env()
    meshes = {m: {a: int(n) for a, n in (pair.split("=") for pair in m.split(","))} for m in given.mesh}
    losses = {} if dist.get_rank() > 0 else {"one device": on_one_device(given.steps)}
    for name, mesh in meshes.items():
        losses[name] = (on_processes if dist.get_world_size() > 1 else on_devices)(mesh, given.steps)
    if dist.get_rank() == 0:
        print(json.dumps(losses), flush=True)
        for name, found in losses.items():
            apart = max(abs(a - b) / b for a, b in zip(found, losses["one device"], strict=True))
            print(f"{name}: the losses differ by {apart:.1e} from those of one device", flush=True)
        if given.picture:
            draw(given.picture, meshes, losses)
    dist.barrier()


if __name__ == "__main__":
    main()
