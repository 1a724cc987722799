"""Record what PaddleNLP computes for tiny models whose weights a formula gives.

usage: python tests/golden/paddlenlp_models.py     where paddlenlp is installed: writes paddlenlp_models.json anew

Each model is written to and read from its files, so that the names and shapes in them are recorded too.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from language_models import IDS, SIZES, weight

ENCODER = {n: size for n, size in SIZES.items() if n != "num_key_value_heads"}
CONFIGS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gpt": ("gpt", "GPTLMHeadModel", {**ENCODER, "layer_norm_eps": 0.001}),
    "llama": ("llama", "LlamaForCausalLM", SIZES),
    "linear": ("llama", "LlamaForCausalLM", {**SIZES, "rope_scaling_type": "linear", "rope_scaling_factor": 4.0}),
    "qwen2": ("qwen2", "Qwen2ForCausalLM", {**SIZES, "use_sliding_window": False}),
    "bert": ("bert", "BertModel", ENCODER),
    "bert_classifier": ("bert", "BertForSequenceClassification", {**ENCODER, "layer_norm_eps": 0.001}),
    "ernie": ("ernie", "ErnieModel", {**ENCODER, "layer_norm_eps": 0.001, "use_task_id": True, "task_id": 1}),
}


def record(kind: str, name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The files of a model, and what it computes."""
    import importlib

    import paddle

    module = importlib.import_module(f"paddlenlp.transformers.{kind}.modeling")
    model_class = getattr(module, name)
    model = model_class(model_class.config_class(**fields))
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        state = paddle.load(f"{folder}/model_state.pdparams")
        shapes = {n: [*a.shape] for n, a in state.items()}
        found = {"config": json.loads(open(f"{folder}/config.json").read()), "weights": shapes}
    tied = "lm_head.weight" if kind == "gpt" else ""
    values = {n: weight("gpt.embeddings.word_embeddings.weight" if n == tied else n, s) for n, s in shapes.items()}
    model.set_state_dict({n: paddle.to_tensor(a) for n, a in values.items()})
    model.eval()
    ids = paddle.to_tensor(IDS)
    with paddle.no_grad():
        if kind in ("bert", "ernie"):
            base = getattr(model, kind, model)
            hidden, pooled = base(ids, token_type_ids=(ids > 3).astype("int64"))
            return found | {"hidden": hidden.numpy().round(5).tolist(), "pooled": pooled.numpy().round(5).tolist()}
        logits = model(ids)
    return found | {"logits": (logits[0] if isinstance(logits, tuple) else logits).numpy().round(5).tolist()}


if __name__ == "__main__":
    recorded = {name: record(*case) for name, case in CONFIGS.items()}
    Path(__file__).with_suffix(".json").write_text(json.dumps(recorded, separators=(",", ":")) + "\n")
