"""Record what transformers computes for tiny models whose weights a formula gives.

usage: python tests/golden/language_models.py     where transformers is installed: writes language_models.json anew

Each model is written to and read from its files, so that the names and shapes in them are recorded too.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

IDS = [[5, 9, 11, 3, 2], [1, 2, 3, 4, 5]]
PROMPTS, MASK = [[0, 0, 5, 9, 11], [1, 2, 3, 4, 5]], [[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]
SIZES = {
    "vocab_size": 13, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 64,
}  # fmt: skip
LLAMA3 = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16, "rope_theta": 1e4,
}  # fmt: skip
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "rope_theta": 1e4}
CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2": ("gpt2", {"vocab_size": 13, "n_embd": 8, "n_layer": 2, "n_head": 4, "n_positions": 64}),
    "llama": ("llama", SIZES),
    "llama3": ("llama", {**SIZES, "rope_parameters": LLAMA3, "tie_word_embeddings": True, "attention_bias": True}),
    "yarn": ("llama", {**SIZES, "rope_parameters": YARN, "mlp_bias": True}),
    "linear": ("llama", {**SIZES, "rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 1e4}}),
    "qwen2": ("qwen2", SIZES),
    "qwen3": ("qwen3", {**SIZES, "head_dim": 4, "tie_word_embeddings": True}),
    "mistral": ("mistral", {**SIZES, "sliding_window": None}),
    "mixtral": ("mixtral", {**SIZES, "num_local_experts": 4, "num_experts_per_tok": 2}),
    "bert": ("bert", {n: size for n, size in SIZES.items() if n != "num_key_value_heads"}),
}


def weight(name: str, shape: list[int]) -> np.ndarray:
    """The value of a weight in a file: numbers without a pattern, those of normalizations around 1."""
    seed = sum((i + 1) * ord(c) for i, c in enumerate(name)) % 997
    numbers = np.sin(np.arange(1, 1 + int(np.prod(shape))) * (0.7 + seed / 997) + seed).reshape(shape)
    is_scale = len(shape) == 1 and name.endswith("weight")
    return (1 + 0.3 * numbers if is_scale else 0.7 * numbers).astype("float32")


def record(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The files of a model, and what it computes."""
    import torch
    from safetensors.numpy import load_file, save_file
    from transformers import AutoConfig, AutoModel, AutoModelForCausalLM

    model_class: Any = AutoModel if kind == "bert" else AutoModelForCausalLM
    with tempfile.TemporaryDirectory() as folder:
        model_class.from_config(AutoConfig.for_model(kind, **fields)).save_pretrained(folder)
        shapes = {n: [*a.shape] for n, a in load_file(f"{folder}/model.safetensors").items()}
        save_file({n: weight(n, s) for n, s in shapes.items()}, f"{folder}/model.safetensors", {"format": "pt"})
        model = model_class.from_pretrained(folder).eval()
        found = {"config": json.loads(open(f"{folder}/config.json").read()), "weights": shapes}
    with torch.no_grad():
        if kind == "bert":
            out = model(torch.tensor(IDS), torch.tensor(MASK), torch.tensor(MASK))
            return found | {"hidden": out[0].numpy().round(5).tolist(), "pooled": out[1].numpy().round(5).tolist()}
        logits = model(torch.tensor(IDS)).logits.numpy().round(5).tolist()
        settings = {"max_new_tokens": 12, "do_sample": False, "pad_token_id": 0, "eos_token_id": 12}
        answer = model.generate(torch.tensor(PROMPTS), attention_mask=torch.tensor(MASK), **settings)[:, 5:]
    return found | {"logits": logits, "tokens": answer.tolist()}


if __name__ == "__main__":
    recorded = {name: record(*case) for name, case in CONFIGS.items()}
    Path(__file__).with_suffix(".json").write_text(json.dumps(recorded, separators=(",", ":")) + "\n")
