"""What is measured, what each row is held against, and how far it may fall behind."""

from __future__ import annotations

from typing import NamedTuple

OURS = "ours"
PREDICTED = ("lenet", "mobilenet_v3", "resnet50", "lstm", "bert2")
NETS = ("mlp", "lenet", "resnet", "bert", "lm", "unet", "wavenet", "video")

# Rows of one group are measured in the same rounds, so that they can be held against each other.
GROUPS: dict[str, list[str]] = {
    "import": ["import_time"],
    "eager": ["eager_add", "eager_add_grad", "eager_matmul", "eager_index", "eager_set_row", "eager_fwd_bwd4"],
    "static_call4": ["static_call4"],
    "program_call4": ["program_call4"],
    "program_build5000": ["program_build5000"],
    "static_layers160": ["static_layers160"],
    "loaded_mlp": ["loaded_mlp"],
    "lower_bert12": ["lower_bert12"],
    "start": [f"start_{net}_{cache}" for net in ("bert12", "resnet50") for cache in ("cold", "warm")],
    "first_token": [f"process_first_token_{cache}" for cache in ("cold", "warm")],
    **{
        f"first_steps_{mode}": [f"start_first_steps_{mode}_{dtype}_cold" for dtype in ("float32", "bfloat16")]
        for mode in ("eager", "step")
    },
    "static_while100": ["static_while100"],
    "static_collatz": ["static_collatz"],
    "static_grad_while100": ["static_grad_while100"],
    **{f"train_{net}": [f"train_{net}_{mode}" for mode in ("eager", "net", "step")] for net in NETS},
    **{f"fit_{net}": [f"fit_{net}", f"loop_{net}"] for net in ("mlp", "lenet", "resnet")},
    **{f"train_{net}_program": [f"train_{net}_program"] for net in ("mlp", "lenet")},
    **{f"infer_{net}": [f"infer_{net}_{mode}" for mode in ("eager", "net")] for net in NETS if net != "lm"},
    "predict": [f"predict_{net}" for net in PREDICTED],
    "detect": [f"detect_{mode}" for mode in ("eager", "program", "loaded")],
    "decode_concat64": [f"decode_concat64_{mode}" for mode in ("eager", "program", "loaded")],
    **{f"train_gpt{d}": [f"train_gpt{d}_{mode}" for mode in ("eager", "step")] for d in (256, 768)},
    **{f"generate64_{n}": [f"generate64_{mode}_{n}" for mode in ("plain", "compiled")] for n in (1, 8)},
    "lengths": [f"train_lengths_{mode}" for mode in ("padded", "packed")],
    "memory": ["memory_lenet_step", "memory_bert_step"],
}
# Hand-written JAX has one form of each: the compiled one.
JAX_FORM = {
    "eager_add_grad": "eager_add",
    "program_call4": "static_call4",
    **{f"train_{net}_program": f"train_{net}_step" for net in ("mlp", "lenet")},
    **{f"train_{net}_{mode}": f"train_{net}_step" for net in NETS for mode in ("eager", "net")},
    **{f"infer_{net}_eager": f"infer_{net}_net" for net in NETS},
}


class Target(NamedTuple):
    """Our time on `workload` may be at most `limit` times that of `peer` on `of` (the same workload if empty)."""

    workload: str
    limit: float
    peer: str = "jax"
    of: str = ""


TARGETS = [
    Target("import_time", 1.3),
    Target("eager_add", 1.25),
    Target("eager_add_grad", 1.4),
    Target("eager_fwd_bwd4", 8.0, of="eager_add"),
    Target("static_call4", 1.5),
    # Two arrays in and one out, which NumPy holds, cost as much as the call.
    Target("program_call4", 5.0),
    Target("train_mlp_program", 1.05),
    Target("train_lenet_program", 1.05),
    Target("static_layers160", 1.5),
    Target("loaded_mlp", 1.2),
    Target("start_bert12_warm", 0.33, OURS, "start_bert12_cold"),
    *(Target(f"process_first_token_{cache}", 2.0, "torch") for cache in ("cold", "warm")),
    *(
        Target(f"start_first_steps_{mode}_bfloat16_cold", 3.0, OURS, f"start_first_steps_{mode}_float32_cold")
        for mode in ("eager", "step")
    ),
    Target("static_while100", 1.3),
    Target("train_mlp_eager", 1.35),
    Target("train_mlp_net", 1.25),
    Target("train_mlp_step", 1.05),
    Target("train_lenet_step", 1.03),
    Target("train_bert_step", 1.03),
    Target("train_resnet_step", 0.85),
    Target("train_lm_step", 0.85),
    Target("train_lengths_packed", 0.5, OURS, "train_lengths_padded"),
    Target("train_unet_step", 0.85),
    Target("train_wavenet_step", 1.03),
    Target("train_wavenet_step", 1.0, "torch"),
    Target("train_video_step", 0.3),
    *(Target(f"train_{net}_eager", 1.0, peer) for net in ("mlp", "lenet") for peer in ("torch", "paddle")),
    *(Target(f"train_{net}_eager", 1.25, OURS, f"train_{net}_step") for net in ("resnet", "bert", "lm")),
    *(
        Target(f"train_gpt{d}_{mode}", limit, "torch")
        for d in (256, 768)
        for mode, limit in (("eager", 1.0), ("step", 0.8))
    ),
    *(Target(f"generate64_plain_{n}", 1.5, "torch") for n in (1, 8)),
    *(Target(f"generate64_compiled_{n}", 0.8, "torch") for n in (1, 8)),
    # An epoch of Model.fit beside a loop by hand, the loop that users of PyTorch write, and Keras.
    *(Target(f"fit_{net}", 1.03, OURS, f"loop_{net}") for net in ("mlp", "lenet", "resnet")),
    *(Target(f"fit_{net}", 1.0, "torch", f"loop_{net}") for net in ("mlp", "lenet", "resnet")),
    *(Target(f"fit_{net}", 1.0, "keras") for net in ("mlp", "lenet", "resnet")),
    # Sizes that only the run knows: programs in parts, beside the same code as it is.
    *(Target(f"detect_{mode}", 1.2, OURS, "detect_eager") for mode in ("program", "loaded")),
    # Model files of PaddlePaddle, beside its own predictor.
    *(Target(f"predict_{net}", 0.7, "paddle") for net in PREDICTED),
    Target("memory_lenet_step", 1.1),
    Target("memory_bert_step", 1.1),
]
