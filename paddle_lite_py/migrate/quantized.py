"""Names of `paddle.static.quantization` that stand for themselves: values in scopes, operators to be quantized."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

__all__ = [
    "SUPPORT_ACT_QUANTIZATION_OP_DICT", "SUPPORT_QUANTIZATION_OP_DICT", "SUPPORT_WEIGHT_QUANTIZATION_OP_DICT",
    "load_variable_data", "set_variable_data", "stable_sigmoid", "tqdm",
]  # fmt: skip


def load_variable_data(scope: Any, var_name: str) -> np.ndarray:
    """Return the value of a variable of a scope, with one dimension at least.

    Raises:
        ValueError: if the scope has no such variable.
    """
    found = scope.find_var(var_name)
    if found is None:
        raise ValueError(f"load_variable_data: the scope has no variable '{var_name}'")
    return np.atleast_1d(np.array(found.get_tensor()))


def set_variable_data(scope: Any, place: Any, var_name: str, np_value: np.ndarray) -> None:
    """Give a variable of a scope a value, if the scope has it."""
    if (found := scope.find_var(var_name)) is not None:
        found.get_tensor().set(np_value, place)


def stable_sigmoid(x: np.ndarray) -> np.ndarray:
    """Return the logistic function of an array, which does not overflow.

    Examples:
        >>> stable_sigmoid(np.array([0.0, -1000.0])).tolist()
        [0.5, 0.0]
    """
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1.0) / (1.0 + small)


def _operators() -> dict[str, tuple[list[str], list[list[str]]]]:
    """Whether each operator is quantized by its "weight", its "activation" or both, and its inputs and outputs."""
    found = {}
    for line in Path(__file__).with_name("quantized_ops.txt").read_text(encoding="utf-8").splitlines():
        name, colon, rest = line.partition(": ")
        if colon and not line.startswith("#"):
            kinds, *slots = rest.split(";")
            found[name] = (kinds.split(), [slot.split() for slot in slots])
    return found


_OPERATORS = _operators()
SUPPORT_WEIGHT_QUANTIZATION_OP_DICT = {n: slots for n, (kinds, slots) in _OPERATORS.items() if "weight" in kinds}
SUPPORT_ACT_QUANTIZATION_OP_DICT = {n: slots for n, (kinds, slots) in _OPERATORS.items() if "activation" in kinds}
SUPPORT_QUANTIZATION_OP_DICT = {n: slots for n, (_, slots) in _OPERATORS.items()}
