"""Rotary position embedding, with the scalings for sequences longer than those of training."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...eager.tensor import Tensor
from ...ops.joining import concat
from .config import ModelConfig

Frequencies = tuple[np.ndarray, float]  # of each pair of dimensions, and a factor of sine and cosine


def frequencies(config: ModelConfig) -> Frequencies:
    """Return the rotary frequencies [head_dim / 2], and the factor of sine and cosine.

    Raises:
        ValueError: The scaling is unknown.

    Source: Su et al., RoFormer, 2021; Peng et al., YaRN, 2023; the LLaMA 3 herd of models, 2024.
    """
    scaling = dict(config.rope_scaling or {"rope_type": "default"})
    kind = scaling["rope_type"]
    if kind not in SCALINGS:
        raise ValueError(f"rope_scaling: rope_type is {kind!r}; expected one of {', '.join(SCALINGS)}")
    size = config.head_size
    plain = config.rope_theta ** -(np.arange(0, size, 2, dtype=np.float32) / size)
    scaling.setdefault("original_max_position_embeddings", config.max_position_embeddings)
    found, factor = SCALINGS[kind](plain.astype(np.float32), scaling, config)
    return found.astype(np.float32), factor


def _default(plain: np.ndarray, scaling: Mapping[str, Any], config: ModelConfig) -> Frequencies:
    return plain, 1.0


def _linear(plain: np.ndarray, scaling: Mapping[str, Any], config: ModelConfig) -> Frequencies:
    return plain / scaling["factor"], 1.0


def _llama3(plain: np.ndarray, scaling: Mapping[str, Any], config: ModelConfig) -> Frequencies:
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    turns = scaling["original_max_position_embeddings"] * plain / (2 * math.pi)
    share = np.clip((turns - low) / (high - low), 0, 1)  # 1: frequencies that stay
    return (1 - share) * plain / scaling["factor"] + share * plain, 1.0


def _yarn(plain: np.ndarray, scaling: Mapping[str, Any], config: ModelConfig) -> Frequencies:
    factor, length, size = scaling["factor"], scaling["original_max_position_embeddings"], config.head_size

    def dimension(turns: float) -> float:
        return size * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(config.rope_theta))

    low, high = dimension(scaling.get("beta_fast", 32)), dimension(scaling.get("beta_slow", 1))
    if scaling.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, size - 1)
    ramp = np.clip((np.arange(size // 2) - low) / (high - low if high != low else 0.001), 0, 1)
    attention = scaling.get("attention_factor")
    if attention is None:
        attention = 0.1 * math.log(factor) + 1 if factor > 1 else 1.0
    return plain / factor * ramp + plain * (1 - ramp), float(attention)


SCALINGS: dict[str, Callable[[np.ndarray, Mapping[str, Any], ModelConfig], Frequencies]] = {
    "default": _default,
    "linear": _linear,
    "llama3": _llama3,
    "yarn": _yarn,
}


def angles(positions: Tensor, inverse: Tensor, factor: float, dtype: Any) -> tuple[Tensor, Tensor]:
    """Return cosine and sine [batch, n, 1, head_dim] of positions [batch, n]."""
    half = positions.astype("float32").unsqueeze(-1) * inverse
    both = concat([half, half], -1).unsqueeze(2)
    return (both.cos() * factor).astype(dtype), (both.sin() * factor).astype(dtype)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate each pair (i, i + head_dim / 2) of x [batch, n, heads, head_dim]."""
    first, second = x.chunk(2, -1)
    return x * cos + concat([-second, first], -1) * sin
