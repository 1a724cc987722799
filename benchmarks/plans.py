"""A GPT of four sizes for the auto_tuner, and the tables of docs/auto_tuner.md.

usage: plans.py [--only SIZE ...] [--out FOLDER] [--docs FILE]

SIZE=13B python -m paddle_lite_py.distributed.auto_tuner benchmarks/plans.py --for v5p:4x4x4 --depth 40 ranks for one;
`make plans` does so for all, and goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import memory_paddle  # noqa: E402
import paddle_lite_py as paddle  # noqa: E402
from paddle_lite_py import distributed as dist  # noqa: E402
from paddle_lite_py.distributed.auto_tuner import Candidate, MeshPlan, table  # noqa: E402

F = paddle.nn.functional
LENGTH, WORDS, HEAD = 2048, 50304, 128
# By name: layers, width, chips, sequences of a step, and what is tried of parts of layers and of stages of sharding.
SIZES = {
    "1.3B": (24, 2048, "v5p:2x2x2", 32, "1 2 4", "1 3"),
    "13B": (40, 5120, "v5p:4x4x4", 128, "1 4 8", "1 3"),
    "175B": (96, 12288, "v5p:8x8x8", 512, "4 8", "3"),
    "1000B": (128, 25600, "v5p:8x16x16", 512, "8", "3"),
}
LAYERS = {
    "mp_config": {
        "parallelize_plan": {
            r"blocks\.\d+\.(q|k|v|up)": dist.ColWiseParallel(),
            r"blocks\.\d+\.(out|down)": dist.RowWiseParallel(),
            "word": dist.RowWiseParallel(),
        }
    }
}


def make(plan: MeshPlan, depth: int) -> tuple[Any, list[Any]]:
    """A training step of a GPT of so many layers, laid as the plan says."""
    _, width, _, rows, _, _ = SIZES[os.environ.get("SIZE", "1.3B")]
    mesh = plan.mesh()
    with paddle.targets.abstract():
        net: Any = memory_paddle.GPT(width, depth, width // HEAD, WORDS, LENGTH)
        adam: Any = paddle.optimizer.AdamW(1e-4, parameters=net.parameters())
        net, adam = dist.parallelize(net, adam, mesh, LAYERS | {"dp_config": {"sharding_level": plan.sharding}})

    @paddle.jit.to_static
    def train(words: Any, following: Any) -> Any:
        words, following = (dist.reshard(t, mesh, [dist.Shard(0), dist.Replicate()]) for t in (words, following))
        with paddle.amp.auto_cast(dtype="bfloat16"):
            scores = net(words, plan.recompute)
        loss = F.cross_entropy(scores.reshape([-1, WORDS]), following.reshape([-1]))
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    ids = paddle.static.InputSpec([rows, LENGTH], "int64")
    return train, [ids, ids]


def main() -> None:
    """Rank for each size that has not been ranked yet; write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=list(SIZES), choices=SIZES)
    parser.add_argument("--out", type=Path, default=Path("out/plans"), help="where what is found is kept")
    parser.add_argument("--docs", type=Path, help="a page whose tables are written anew, behind its line of dashes")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for size in args.only:
        if not (args.out / f"{size}.json").exists():
            ranked(size, args.out / f"{size}.json")
    found = {size: args.out / f"{size}.json" for size in SIZES if (args.out / f"{size}.json").exists()}
    text = "\n\n".join(shown(size, json.loads(file.read_text())) for size, file in found.items())
    print(text)
    if args.docs:
        head, line, _ = args.docs.read_text().partition("\n---\n")
        args.docs.write_text(f"{head}{line}\n{text}\n")


def ranked(size: str, file: Path) -> None:
    """Rank for one size, in a process that has as many devices as there are chips."""
    layers, _, target, _, parts, stages = SIZES[size]
    command = [sys.executable, "-m", "paddle_lite_py.distributed.auto_tuner", __file__, "--for", target]
    command += ["--depth", str(layers), "--json", str(file), "--mp", *parts.split(), "--sharding", *stages.split()]
    subprocess.run(command, check=True, env=os.environ | {"SIZE": size})


def shown(size: str, found: list[dict[str, Any]]) -> str:
    """A size and its table."""
    layers, width, target, rows, _, _ = SIZES[size]
    candidates = [Candidate(**c | {"plan": MeshPlan(**c["plan"])}) for c in found]
    head = f"## {size} parameters on {target}: {layers} layers of {width}, {rows} sequences of {LENGTH}"
    return f"{head}\n\n{table(candidates)}"


if __name__ == "__main__":
    main()
