"""Folders of PaddleNLP: config.json and model_state.pdparams, whose weights are laid out as ours are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .config import ModelConfig
from .names import Layout

FILE = "model_state.pdparams"
# Replacements that lead from our names to those of the files.
_BLOCKS = {
    "input_layernorm": "norm1", "post_attention_layernorm": "norm2", "self_attn.o_proj": "self_attn.out_proj",
    "mlp.up_proj": "linear1", "mlp.down_proj": "linear2",
}  # fmt: skip
_GPT = {
    "model.embed_tokens": "gpt.embeddings.word_embeddings",
    "model.embed_positions": "gpt.embeddings.position_embeddings", "model.layers": "gpt.decoder.layers",
    "model.norm": "gpt.decoder.norm", **_BLOCKS,
}  # fmt: skip


def _encoder(name: str) -> dict[str, str]:
    part = f"{name}.embeddings"
    return {
        "model.embed_tokens": f"{part}.word_embeddings", "model.embed_positions": f"{part}.position_embeddings",
        "model.embed_types": f"{part}.token_type_embeddings", "model.norm": f"{part}.layer_norm",
        "model.layers": f"{name}.encoder.layers", "pooler.": f"{name}.pooler.dense.", **_BLOCKS,
    }  # fmt: skip


TABLES = {
    "gpt": _GPT, "bert": _encoder("bert"), "ernie": _encoder("ernie"), "llama": {"model.": "llama."},
    "qwen2": {"model.": "qwen2."},
}  # fmt: skip
# Settings that PaddleNLP does not read from config.json, with their fixed values.
_FIXED: dict[str, dict[str, Any]] = {
    "gpt": {"model_type": "gpt2", "hidden_act": "gelu_new", "norm_eps": 1e-5, "tie_word_embeddings": True},
    "ernie": {"model_type": "bert", "norm_eps": 1e-12},
    "llama": {"hidden_act": "silu"},
}
# Settings that change results or layouts and are not implemented: the supported values.
_IMPLEMENTED: dict[str, tuple[Any, ...]] = {
    "alibi": (False,), "use_long_sequence_strategies": (False,), "rope_scaling_type": (None, "linear"),
    "fuse_attention_qkv": (False,), "fuse_attention_ffn": (False,), "normalize_before": (True,),
    "scale_qk_coeff": (1, 1.0), "hidden_activation": ("gelu",), "pool_act": ("tanh",), "use_sliding_window": (False,),
}  # fmt: skip
_TASKS = "embeddings.task_type_embeddings.weight"


def is_paddlenlp(data: Mapping[str, Any]) -> bool:
    """Return whether a config.json, as a dict, was written by PaddleNLP."""
    return "paddlenlp_version" in data


def from_json(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a ModelConfig that a config.json of PaddleNLP gives.

    Raises:
        ValueError: The architecture, or a setting that changes results, is not implemented.
    """
    kind = data.get("model_type", "")
    if kind not in TABLES:
        raise ValueError(f"config.json: model_type is {kind!r}; of PaddleNLP's, expected one of {', '.join(TABLES)}")
    for name, known in _IMPLEMENTED.items():
        if name in data and data[name] not in known:
            raise ValueError(f"config.json: {name} is {data[name]!r}, which is not implemented; expected {known[0]!r}")
    found = {name: value for name, value in data.items() if name in ModelConfig.__dataclass_fields__}
    if data.get("rope_scaling_type"):
        found["rope_scaling"] = {"rope_type": "linear", "factor": data["rope_scaling_factor"]}
    for name in ("rms_norm_eps", "layer_norm_eps"):
        if name in data:
            found["norm_eps"] = data[name]
    return {**found, "dtype": data.get("dtype") or "float32", **_FIXED.get(kind, {})}


def layout(kind: str) -> Layout:
    """Return names and layout of the weights of an architecture."""
    prefix = "" if kind in ("llama", "qwen2") else f"{kind}."
    return Layout(TABLES[kind], prefix, lambda _name: False)


class ParameterFile:
    """The weights in a model_state.pdparams, by name.

    Raises:
        ValueError: The file is invalid.
        OSError: It is missing.
    """

    def __init__(self, folder: Path, task: int | None) -> None:
        from ...framework import load

        self._arrays = {name: np.asarray(value) for name, value in load(str(folder / FILE), return_numpy=True).items()}
        if task is not None:
            self._fold_task(task)
        self.names = list(self._arrays)

    def _fold_task(self, task: int) -> None:
        """Add ERNIE's embedding of a task, the same for all tokens, to those of token types."""
        for name in [n for n in self._arrays if n.endswith(_TASKS)]:
            added = self._arrays.pop(name)[task]
            types = name.replace("task_type", "token_type")
            self._arrays[types] = self._arrays[types] + added

    def shape(self, name: str) -> list[int]:
        """Return the shape of a weight."""
        return list(self._arrays[name].shape)

    def read(self, name: str) -> np.ndarray:
        """Return a weight."""
        return self._arrays[name]
