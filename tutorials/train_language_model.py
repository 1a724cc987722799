"""Train a language model on streams of text, on one device or over a mesh that one option names.

    python tutorials/train_language_model.py 'corpus/*.txt' --folder run --steps 1000
    python tutorials/train_language_model.py 's3://bucket/*' --folder run --model llama-7b --mesh dp=4,mp=2,sharding=3

Each line of the files is a document; documents are packed into rows without padding, and the model keeps them apart.
Files are read again from the first one when all have been read. After a kill, the same command goes on from the last
checkpoint, on the same or another mesh of devices of this process. At the end, the folder has the model in Hugging
Face's format, too.

--mesh: dp: copies with other rows of a batch, sep: parts of each sequence, mp: parts of each layer, pp: stages of a
pipeline, which micro=N parts of a batch pass (default: two for each stage), sharding: 1 to 3, the stage from which
copies share the states of the optimizer, gradients and parameters, recompute: layers are computed again for the
gradient. With --stack, and with pp, the program has one layer in a loop: it compiles in the same time for any number of
layers, and checkpoints are those of stacked layers. The function make() is for the auto_tuner, which compiles the step
for machines that are not here and ranks meshes:

    MODEL=llama-7b python -m paddle_lite_py.distributed.auto_tuner tutorials/train_language_model.py --for v5p:2x2x2 \
        --depth 32 --pp 1 2 4 --json found.json

--mesh found.json trains with the best of these plans.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import importlib
import itertools
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import paddle_lite_py as paddle
from paddle_lite_py import distributed as dist
from paddle_lite_py.distributed.auto_parallel.stacked import StackedLayers
from paddle_lite_py.distributed.auto_tuner import Candidate, MeshPlan
from paddle_lite_py.distributed.fleet.utils import recompute
from paddle_lite_py.text.models import CausalLM, ModelConfig, tiny_config
from paddle_lite_py.text.models.layers import TransformerBlock
from paddle_lite_py.text.training import PackedBatch, pack_sequences, sft_loss

_LLAMA: dict[str, Any] = {"vocab_size": 32000, "max_position_embeddings": 4096}
MODELS = {
    "tiny": tiny_config(),
    "tiny-moe": tiny_config("mixtral", num_hidden_layers=1),
    "llama-7b": ModelConfig("llama", hidden_size=4096, num_hidden_layers=32, num_attention_heads=32,
                            intermediate_size=11008, **_LLAMA),
    "llama-70b": ModelConfig("llama", hidden_size=8192, num_hidden_layers=80, num_attention_heads=64,
                             num_key_value_heads=8, intermediate_size=28672, **_LLAMA),
    "mixtral-8x7b": ModelConfig("mixtral", hidden_size=4096, num_hidden_layers=32, num_attention_heads=32,
                                num_key_value_heads=8, intermediate_size=14336, num_local_experts=8, rope_theta=1e6,
                                **_LLAMA),
}  # fmt: skip
PARTS = {
    "mp_config": {
        "parallelize_plan": {
            r".*\.(q|k|v|gate|up)_proj": dist.ColWiseParallel(),
            r".*\.(o|down)_proj": dist.RowWiseParallel(),
            "model.embed_tokens": dist.RowWiseParallel(),
            "lm_head": dist.ColWiseParallel(),
        }
    }
}


# -- the data --------------------------------------------------------------------------------------------------------
def documents(paths: list[str], encode: Callable[[str], list[int]]) -> Iterator[list[int]]:
    """The tokens of each line of the files, again and again."""
    import fsspec

    while True:
        is_empty = True
        for file in fsspec.open_files(paths, "rt", encoding="utf-8"):
            with file as lines:
                for line in lines:
                    if tokens := encode(line):
                        yield tokens
                        is_empty = False
        if is_empty:
            raise SystemExit(f"there is no text in {', '.join(paths)}")


def batches(found: Iterator[list[int]], rows: int, length: int) -> Iterator[PackedBatch]:
    """Documents one after another in rows that are full; what does not fit into a row begins the next one."""
    pieces: list[list[int]] = []
    room = rows * length
    for document in found:
        while document:
            piece = document[: (room - 1) % length + 1]  # to the end of the row
            document = document[len(piece) :]
            pieces.append(piece)
            room -= len(piece)
            if not room:
                yield pack_sequences(pieces, length)
                pieces, room = [], rows * length


# -- the model -------------------------------------------------------------------------------------------------------
def build(
    config: ModelConfig, plan: MeshPlan, rate: Any, stack: bool = False, unrolled: bool = False
) -> tuple[CausalLM, Any]:
    """The model and its optimizer, over the devices of a mesh."""
    model: Any = CausalLM(config)
    if stack or plan.pp > 1:
        stacked = StackedLayers(model.model.layers, plan.mesh(), plan.micro_batches, unrolled)
        model.model.layers = paddle.nn.LayerList([stacked])
    if plan.recompute:
        for block in model.sublayers():
            if isinstance(block, TransformerBlock):
                block.forward = functools.partial(recompute, block.forward)
    clip = paddle.nn.ClipGradByGlobalNorm(1.0)
    adam: Any = paddle.optimizer.AdamW(rate, 0.9, 0.95, parameters=model.parameters(), weight_decay=0.1, grad_clip=clip)
    if plan.chips > 1:
        model, adam = dist.parallelize(
            model, adam, plan.mesh(), {**PARTS, "dp_config": {"sharding_level": plan.sharding}}
        )
    return model, adam


def training_step(model: Any, adam: Any, plan: MeshPlan, bf16: bool) -> Any:
    """One step as one program: from a batch to its loss."""
    mesh = plan.mesh() if plan.chips > 1 else None
    axis_of = {"dp": dist.Shard(0), "sep": dist.Shard(1)}

    @paddle.jit.to_static
    def train(ids: Any, labels: Any, segments: Any) -> Any:
        if mesh is not None:
            placements = [axis_of.get(name, dist.Replicate()) for name in mesh.dim_names]
            ids, labels, segments = (dist.reshard(t, mesh, placements) for t in (ids, labels, segments))
        with paddle.amp.auto_cast(bf16, dtype="bfloat16"):
            logits = model(ids, segment_ids=segments)
        loss = sft_loss(logits, labels)
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    return train


def make(plan: MeshPlan, depth: int) -> tuple[Any, list[Any]]:
    """A step of MODEL with so many layers, without data, for the auto_tuner."""
    config = dataclasses.replace(MODELS[os.environ.get("MODEL", "llama-7b")], num_hidden_layers=depth)
    with paddle.targets.abstract():
        model, adam = build(config, plan, 1e-4, unrolled=True)
    rows = int(os.environ.get("ROWS", plan.dp * plan.micro_batches))
    spec = paddle.static.InputSpec([rows, int(os.environ.get("LENGTH", 2048))], "int64")
    return training_step(model, adam, plan, True), [spec, spec, spec]


def operations(config: ModelConfig, model: Any, length: int) -> float:
    """Operations of a step for each token: 6 for each weight that it meets, and those of attention."""
    weights = sum(int(p.size) for name, p in model.named_parameters() if "embed_" not in name)
    experts = sum(int(p.size) for name, p in model.named_parameters() if ".experts." in name)
    if experts:
        weights -= experts - experts * config.num_experts_per_tok // config.num_local_experts
    width = config.num_attention_heads * config.head_size
    return 6.0 * (weights + config.num_hidden_layers * width * length)


# -- the run ---------------------------------------------------------------------------------------------------------
def train(given: argparse.Namespace) -> list[float]:
    """Train to the end, from the last checkpoint if there is one; the losses of the steps."""
    config, plan = MODELS[given.model], given.mesh
    print(f"mesh: {plan}", flush=True)
    encode, config = _tokens(given.tokenizer, config)
    paddle.seed(given.seed)
    rate = paddle.optimizer.lr.LinearWarmup(
        paddle.optimizer.lr.CosineAnnealingDecay(given.rate, given.steps), given.warmup, 0.0, given.rate
    )
    model, adam = build(config, plan, rate, given.stack)
    step = training_step(model, adam, plan, given.bf16)
    stream = batches(documents(given.files, encode), given.rows, given.length)
    first = next(stream)
    done = resume(given.folder, model, adam, step, first)
    if done:
        print(f"goes on after step {done}", flush=True)
    losses: list[float] = []
    cost, start, last = operations(config, model, given.length), time.perf_counter(), done
    # The batches of earlier steps are read again, and not used.
    for number, batch in enumerate(itertools.islice(itertools.chain([first], stream), done, given.steps), done + 1):
        rate.step(number)
        losses.append(float(step(*batch)))
        if number % given.log == 0 or number == given.steps:
            speed = (number - last) * given.rows * given.length / (time.perf_counter() - start)
            start, last = time.perf_counter(), number
            share = f", MFU {speed * cost / (given.peak * 1e12 * plan.chips):.1%}" if given.peak else ""
            print(f"step {number}: loss {losses[-1]:.4f}, {speed:,.0f} tokens/s{share}", flush=True)
        if number % given.save == 0 or number == given.steps:
            dist.save_state_dict(_state(model, adam, number), given.folder, unique_id=number)
            prune(Path(given.folder))
            print(f"saved step {number}", flush=True)
    if isinstance(model.model.layers[0], StackedLayers):
        model.model.layers = paddle.nn.LayerList(model.model.layers[0].layers())
    model.save_pretrained(given.folder)
    return losses


def _tokens(folder: str | None, config: ModelConfig) -> tuple[Callable[[str], list[int]], ModelConfig]:
    if folder is None:
        return lambda line: list(line.encode()), config
    tokenizer = importlib.import_module("transformers").AutoTokenizer.from_pretrained(folder)
    return tokenizer.encode, dataclasses.replace(config, vocab_size=len(tokenizer))


def _state(model: Any, adam: Any, number: int) -> dict[str, Any]:
    """What a checkpoint has; the schedule of the learning rate follows from the number of steps."""
    states = {name: t for name, t in adam.state_dict().items() if isinstance(t, paddle.Tensor)}
    return {"model": model.state_dict(), "optimizer": states, "step": paddle.to_tensor(number)}


def resume(folder: str, model: Any, adam: Any, step: Any, batch: PackedBatch) -> int:
    """Load the last checkpoint; the number of steps that it has behind it, 0 without one."""
    if not any(Path(folder).glob("*.metadata")):
        return 0
    step(*batch)  # makes the states of the optimizer, to be loaded into
    state = _state(model, adam, 0)
    dist.load_state_dict(state, folder)
    return int(state["step"])


def prune(folder: Path, keep: int = 2) -> None:
    """Delete all checkpoints but the last ones."""
    numbers = sorted(int(file.stem) for file in folder.glob("*.metadata"))
    for number in numbers[:-keep]:
        for file in (folder / f"{number}.metadata", *folder.glob(f"*_{number}.distcp")):
            file.unlink()


def chosen(file: str) -> MeshPlan:
    """The best plan that the auto_tuner wrote to a file."""
    try:
        first = json.loads(Path(file).read_text())[0]
        best = Candidate(**first | {"plan": MeshPlan(**first["plan"])})
    except (OSError, ValueError, LookupError, TypeError) as e:
        raise argparse.ArgumentTypeError(f"{file} is not what the auto_tuner writes with --json: {e}") from None
    if not best.fits:
        raise argparse.ArgumentTypeError(f"{file} has no plan that fits; the first one is limited by: {best.limit}")
    return best.plan


def _mesh(text: str) -> MeshPlan:
    if text.endswith(".json"):
        return chosen(text)
    words = text.split(",")
    found = {"dp": 1, "mp": 1, "recompute": "recompute" in words}
    for name, _, number in (word.partition("=") for word in words if word not in ("", "recompute")):
        if name not in MeshPlan._fields or not number.isdigit():
            raise argparse.ArgumentTypeError(
                f"{name!r} in {text!r}: expected dp=N, sep=N, mp=N, pp=N, micro=N, sharding=1..3, recompute"
            )
        found[name] = int(number)
    return MeshPlan(**found)


def main() -> None:
    """Train as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("files", nargs="+", help="text files, as paths or URLs that fsspec knows; * in names")
    add("--folder", required=True, help="for checkpoints, and the model at the end")
    add("--model", choices=MODELS, default="tiny")
    add("--tokenizer", help="a folder with a tokenizer for transformers; default: bytes")
    add(
        "--mesh",
        type=_mesh,
        default=MeshPlan(1, 1),
        help="such as dp=2,sep=2,mp=4,pp=2,sharding=3,recompute, or a file of the auto_tuner",
    )
    add("--stack", action="store_true", help="one layer in a loop; implied by pp")
    add("--bf16", action="store_true", help="mixed precision with bfloat16")
    add("--peak", type=float, help="TFLOP/s of a device, for the MFU")
    for name, default in (("rows", 8), ("length", 128), ("steps", 100), ("warmup", 10), ("seed", 0)):
        add(f"--{name}", type=int, default=default)
    add("--rate", type=float, default=3e-3, help="the highest learning rate")
    add("--log", type=int, default=10, help="steps between two lines")
    add("--save", type=int, default=50, help="steps between two checkpoints")
    train(parser.parse_args())


if __name__ == "__main__":
    main()
