"""Models for pictures with weights that follow from their names, run here and in PaddlePaddle; see golden/make.py."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

# Name and size of the pictures.
RUN = [("shufflenet_v2_x0_25", 64), ("squeezenet1_0", 64), ("squeezenet1_1", 48), ("googlenet", 224)]
NAMES = ["densenet121", "densenet161", "densenet264", "inception_v3", "shufflenet_v2_x2_0"]  # their parameters only


def _values(name: str, shape: Any) -> np.ndarray:
    rng = np.random.RandomState(sum(map(ord, name)))
    if "variance" in name:
        return rng.uniform(0.5, 1.5, shape).astype("float32")
    return (rng.randn(*shape) / max(1, np.prod(shape[1:])) ** 0.5).astype("float32")


def outputs(paddle: Any, name: str, size: int) -> list[list[float]]:
    """The first scores of each result, and the sum of their magnitudes."""
    model = getattr(paddle.vision.models, name)(num_classes=10)
    for key, value in model.state_dict().items():
        value.set_value(paddle.to_tensor(_values(key, value.shape)))
    model.eval()
    x = paddle.to_tensor(np.random.RandomState(0).randn(1, 3, size, size).astype("float32"))
    made = model(x)
    outs = [o.numpy().astype("float64").ravel() for o in (made if isinstance(made, list | tuple) else [made])]
    return [[float(f"{v:.7g}") for v in [*o[:4], np.abs(o).sum()]] for o in outs]


def names(paddle: Any, name: str) -> list[Any]:
    """How many entries the state has, and a digest of their names and shapes."""
    state = getattr(paddle.vision.models, name)().state_dict()
    text = "\n".join(f"{k} {list(map(int, v.shape))}" for k, v in sorted(state.items()))
    return [len(state), hashlib.sha256(text.encode()).hexdigest()]


def record(paddle: Any) -> dict[str, Any]:
    """All figures."""
    return {n: outputs(paddle, n, s) for n, s in RUN} | {f"names of {n}": names(paddle, n) for n in NAMES}
