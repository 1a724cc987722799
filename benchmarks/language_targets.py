"""What large language models need on TPUs and GPUs, by compiling them there: nothing runs, and no weights exist.

usage: language_targets.py MODEL TARGET [--mesh MESH] [--train ROWS]

    language_targets.py llama-7b v5p
    language_targets.py llama-70b v5p:2x2x2 --mesh mp=8
    language_targets.py llama-7b h200:8 --mesh dp=8,sharding=3,recompute --train 16
    language_targets.py table > table.md

Without --train, the program reads 2,048 tokens with bfloat16 weights. With it, it is the training step of
tutorials/train_language_model.py on rows of 2,048 tokens: AdamW with float32 weights and states, bfloat16 products, and
one layer in a loop (--stack). The last line is a row of the table in docs/targets.md; `table` compiles all of its rows.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

TUTORIALS = Path(__file__).parents[1] / "tutorials"
LENGTH, GIB = 2048, 1 << 30
CASES = """
llama-7b v5p
llama-7b v5p:2x2x2 --mesh dp=8,sharding=3,recompute --train 16
llama-7b h200:8 --mesh dp=8,sharding=3,recompute --train 16
llama-70b v5p:2x2x2 --mesh mp=8
llama-70b v5p:4x4x4 --mesh dp=16,mp=4,sharding=3,recompute --train 64
llama-70b v5p:4x4x4 --mesh dp=4,mp=4,pp=4,micro=16,sharding=1,recompute --train 64
llama-70b h200:8x8 --mesh dp=8,mp=8,sharding=3,recompute --train 64
llama-70b h200:8x8 --mesh dp=4,mp=4,pp=4,micro=16,sharding=1,recompute --train 64
mixtral-8x7b h200:8 --mesh mp=8,recompute --train 4
mixtral-8x7b v5p:2x2x4 --mesh dp=2,mp=8,sharding=3,recompute --train 4
"""
HEAD = """
| Model | Target | Mesh | Rows | Parameters | States | Temporaries | Peak, of | Sent | Compiled in |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
""".strip()


def compiled(trainer: Any, given: argparse.Namespace) -> tuple[Any, Any]:
    """The model without data, and the report on a step of it."""
    import paddle_lite_py as paddle
    from paddle_lite_py import distributed as dist

    config, plan = trainer.MODELS[given.model], trainer._mesh(given.mesh)
    spec = paddle.static.InputSpec([given.train or 1, LENGTH], "int64")
    if given.train:
        with paddle.targets.abstract():
            model, adam = trainer.build(config, plan, 1e-4, stack=True)
        step = trainer.training_step(model, adam, plan, bf16=True)
        return model, step.compile_for(given.target, spec, spec, spec)
    paddle.set_default_dtype("bfloat16")
    with paddle.targets.abstract():
        model = trainer.CausalLM(config)
    paddle.set_default_dtype("float32")
    if plan.chips > 1:
        dist.parallelize(model, None, plan.mesh(), trainer.PARTS)
    model.eval()
    with paddle.no_grad():
        return model, paddle.jit.to_static(model.forward).compile_for(given.target, spec)


def row(model: Any, report: Any, given: argparse.Namespace) -> str:
    """A line of the table; sizes in GiB for each chip."""
    if not report.compiles:
        return f"| {given.model} | `{given.target}` | `{given.mesh}` | does not compile |"
    memory, parameters = report.memory, sum(map(_bytes, model.parameters()))
    # What a step changes and is given besides: states of the optimizer, and a few token ids.
    states = memory.arguments - parameters if given.train else 0
    peak = f"{memory.peak / GIB:.1f}, {memory.device / GIB:.0f}"
    sizes = " | ".join(f"{n / GIB:.1f}" for n in (parameters, states, memory.temporaries))
    rows = f"{given.train} trained" if given.train else "1 read"
    names = f"{given.model} | `{given.target}` | `{given.mesh or 'one chip'}`"
    return f"| {names} | {rows} | {sizes} | {peak} | {report.sent / GIB:.1f} | {report.seconds:.0f} s |"


def _bytes(parameter: Any) -> int:
    """The bytes of a parameter on one chip."""
    data = parameter._payload
    shape = data.shape if data.sharding is None else data.sharding.shard_shape(data.shape)
    size: int = data.dtype.itemsize
    for n in shape:
        size *= n
    return size


def table() -> None:
    """Compile all cases, and print the table."""
    print(HEAD, flush=True)
    for case in CASES.strip().splitlines():
        done = subprocess.run([sys.executable, __file__, *case.split()], capture_output=True, text=True)
        print(done.stdout.rstrip().rpartition("\n")[2] or f"{case}: {done.stderr[-500:]}", flush=True)


def main() -> None:
    """Compile one of them, and print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="llama-7b, llama-70b, mixtral-8x7b; or table")
    parser.add_argument("target", nargs="?")
    parser.add_argument("--mesh", default="", help="as for tutorials/train_language_model.py")
    parser.add_argument("--train", type=int, default=0, metavar="ROWS")
    given = parser.parse_args()
    if given.model == "table":
        return table()
    os.environ |= {"XLA_FLAGS": f"--xla_force_host_platform_device_count={_chips(given.mesh)}", "JAX_PLATFORMS": "cpu"}
    sys.path.insert(0, str(TUTORIALS))
    import train_language_model

    model, report = compiled(train_language_model, given)
    print(report)
    print(row(model, report, given))


def _chips(mesh: str) -> int:
    """The devices of a mesh; JAX must know them before it starts."""
    count = 1
    for name, _, number in (word.partition("=") for word in mesh.split(",")):
        count *= int(number) if name in ("dp", "sep", "mp", "pp") else 1
    return count


if __name__ == "__main__":
    main()
