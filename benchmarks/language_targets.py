"""What large language models need on TPUs, by compiling them there: nothing runs, and no weights exist.

usage: language_targets.py MODEL TARGET CHIPS [--train ROWS]

    language_targets.py llama-7b v5p 1
    language_targets.py llama-70b v5p:2x2x2 8
    language_targets.py llama-7b v5p:2x2x2 8 --train 4

Without --train, the program reads 2,048 tokens; with it, it is a training step on rows of 2,048 tokens (AdamW with
float32 master weights). Weights are bfloat16, each divided over all chips: tensor parallelism.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

LENGTH, DIVIDED_INPUTS = 2048, ("o_proj", "down_proj", "embed_tokens")  # of other layers, outputs are divided
SIZES: dict[str, dict[str, Any]] = {
    "llama-7b": {"intermediate_size": 11008},
    "llama-70b": {
        "hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64, "intermediate_size": 28672,
        "num_key_value_heads": 8,
    },
    "mixtral-8x7b": {"intermediate_size": 14336, "num_key_value_heads": 8, "num_local_experts": 8},
}  # fmt: skip


def build(name: str, chips: int) -> Any:
    """A model without data, whose weights are divided over chips."""
    import paddle_lite_py as paddle
    from paddle_lite_py import distributed as dist
    from paddle_lite_py.text.models import CausalLM, ModelConfig

    sizes = {"vocab_size": 32000, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32}
    paddle.set_default_dtype("bfloat16")
    with paddle.targets.abstract():
        net = CausalLM(ModelConfig(name.split("-")[0], **{**sizes, **SIZES[name]}))
    paddle.set_default_dtype("float32")

    def divide(layer_name: str, layer: Any, mesh: Any) -> None:
        for key, weight in layer.named_parameters(include_sublayers=False):
            if len(weight.shape) == 2:
                axis = 0 if layer_name.endswith(DIVIDED_INPUTS) else 1
                layer._parameters[key] = dist.shard_tensor(weight, mesh, [dist.Shard(axis)])

    if chips > 1:
        dist.shard_layer(net, dist.ProcessMesh(list(range(chips)), ["mp"]), divide)
    return net


def main() -> None:
    """Compile one of them, and print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=SIZES)
    parser.add_argument("target")
    parser.add_argument("chips", type=int)
    parser.add_argument("--train", type=int, default=0, metavar="ROWS")
    given = parser.parse_args()
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={given.chips}"
    import paddle_lite_py as paddle

    net = build(given.model, given.chips)
    spec = paddle.static.InputSpec([given.train or 1, LENGTH + (given.train > 0)], "int64")
    if not given.train:
        net.eval()
        with paddle.no_grad():
            print(paddle.jit.to_static(net.forward).compile_for(given.target, spec))
        return
    optimizer = paddle.optimizer.AdamW(1e-4, parameters=net.parameters(), multi_precision=True)

    @paddle.jit.to_static
    def step(ids: Any) -> Any:
        loss = paddle.nn.functional.cross_entropy(net(ids[:, :-1]).astype("float32"), ids[:, 1:])
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    print(step.compile_for(given.target, spec))


if __name__ == "__main__":
    main()
