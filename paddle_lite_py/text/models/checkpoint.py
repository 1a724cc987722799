"""Folders with config.json and weights: Hugging Face's safetensors files, read and written, and PaddleNLP's, read."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from ...ops.convert import to_tensor
from . import paddlenlp
from .config import ModelConfig, from_json, to_json
from .names import IGNORED, Layout, StoredWeight, layout_of, stored_weights
from .weight_files import INDEX, SINGLE, WeightFiles


def read_config(folder: str | os.PathLike[str], dtype: str | None = None) -> ModelConfig:
    """Read config.json.

    Raises:
        ValueError: It is not valid, or not implemented.
        OSError: It cannot be read.
    """
    data = _read_json(folder)
    config = ModelConfig(**paddlenlp.from_json(data)) if paddlenlp.is_paddlenlp(data) else from_json(data)
    return config if dtype is None else dataclasses.replace(config, dtype=dtype)


def _read_json(folder: str | os.PathLike[str]) -> dict[str, Any]:
    path = Path(folder) / "config.json"
    try:
        data = json.loads(path.read_text())
    except json.JSONDecodeError as e:
        raise ValueError(f"{path} is not valid JSON: {e}") from None
    if not isinstance(data, dict):
        raise ValueError(f"{path} is not a JSON object")
    return data


def _open_weights(config: ModelConfig, folder: str | os.PathLike[str]) -> tuple[Any, Layout]:
    """Return the weights in a folder of Hugging Face's or PaddleNLP's format, and their names and layout."""
    data = _read_json(folder)
    if not paddlenlp.is_paddlenlp(data):
        return WeightFiles(Path(folder)), layout_of(config.model_type)
    task = data.get("task_id", 0) if data.get("use_task_id") else None
    return paddlenlp.ParameterFile(Path(folder), task), paddlenlp.layout(data["model_type"])


def load_weights(model: Any, config: ModelConfig, folder: str | os.PathLike[str]) -> None:
    """Set the parameters of a model to the weights in a folder, reading one weight at a time.

    Raises:
        ValueError: A file is invalid, or names or shapes differ; all differences are listed, and the model is
            unchanged.
        OSError: A file is missing.
    """
    files, layout = _open_weights(config, folder)
    parameters = dict(model.named_parameters())
    wanted = stored_weights(layout, ((n, len(p.shape)) for n, p in parameters.items()))
    if layout.prefix and not any(name.startswith(layout.prefix) for name in files.names):
        wanted = [w._replace(name=w.name.removeprefix(layout.prefix)) for w in wanted]
    _check(files, wanted, parameters, config, folder)
    for weight in wanted:
        data = files.read(weight.name)
        data = data.T if weight.is_transposed else data
        for name, part in zip(weight.parts, np.split(data, len(weight.parts), -1), strict=True):
            parameters[name].set_value(to_tensor(np.ascontiguousarray(part)).astype(parameters[name].dtype))


def _check(
    files: Any, wanted: list[StoredWeight], parameters: dict[str, Any], config: ModelConfig, folder: Any
) -> None:
    names, there = {w.name for w in wanted}, set(files.names)
    extra = {n for n in there - names if not IGNORED.search(n)}
    if config.tie_word_embeddings:
        extra.discard("lm_head.weight")
    found = [f"missing: {n}" for n in sorted(names - there)] + [f"not in the model: {n}" for n in sorted(extra)]
    for weight in wanted:
        shape = [*parameters[weight.parts[0]].shape]
        shape[-1] *= len(weight.parts)
        expected = shape[::-1] if weight.is_transposed else shape
        if weight.name in there and files.shape(weight.name) != expected:
            found.append(f"{weight.name} has shape {files.shape(weight.name)}; expected {expected}")
    if found:
        raise ValueError(f"the weights in {folder} do not fit {config.model_type}:\n  " + "\n  ".join(found))


def save_weights(model: Any, config: ModelConfig, folder: str | os.PathLike[str], max_bytes: int) -> None:
    """Write config.json and the weights, in several files if they are larger than max_bytes.

    Raises:
        ValueError: The model has adapters or quantized weights.
        OSError: A file cannot be written.
    """
    own = ("lora_A", "lora_B", "weight_scale")
    if changed := [n for n in model.state_dict() if n.rpartition(".")[2] in own]:
        raise ValueError(
            f"save_pretrained: {changed[0]} is not part of the architecture; call merge_lora() first, or save the "
            "model before quantize_weights()"
        )
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    (target / "config.json").write_text(json.dumps(to_json(config), indent=2) + "\n")
    shards = list(_shards(model, config, max_bytes))
    if len(shards) == 1:
        save_file(shards[0], target / SINGLE, {"format": "pt"})
        return
    places: dict[str, str] = {}
    total = 0
    for i, shard in enumerate(shards):
        name = f"model-{i + 1:05d}-of-{len(shards):05d}.safetensors"
        save_file(shard, target / name, {"format": "pt"})
        places |= dict.fromkeys(shard, name)
        total += sum(a.nbytes for a in shard.values())
    data = {"metadata": {"total_size": total}, "weight_map": places}
    (target / INDEX).write_text(json.dumps(data, indent=2) + "\n")


def _shards(model: Any, config: ModelConfig, max_bytes: int) -> Iterator[dict[str, np.ndarray]]:
    parameters = dict(model.named_parameters())
    shard: dict[str, np.ndarray] = {}
    for weight in stored_weights(layout_of(config.model_type), ((n, len(p.shape)) for n, p in parameters.items())):
        data = np.concatenate([np.asarray(parameters[n]._payload) for n in weight.parts], -1)
        data = np.ascontiguousarray(data.T if weight.is_transposed else data)
        if shard and sum(a.nbytes for a in shard.values()) + data.nbytes > max_bytes:
            yield shard
            shard = {}
        shard[weight.name] = data
    yield shard
