"""Helpers of `paddle.static.quantization.utils`: values in scopes."""

from __future__ import annotations

from typing import Any

import numpy as np
from tqdm import tqdm

__all__ = ["load_variable_data", "set_variable_data", "stable_sigmoid", "tqdm"]


def load_variable_data(scope: Any, var_name: str) -> np.ndarray:
    """The value of a variable of a scope, with one dimension at least.

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
    """The logistic function of an array, which does not overflow.

    Examples:
        >>> stable_sigmoid(np.array([0.0, -1000.0])).tolist()
        [0.5, 0.0]
    """
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1.0) / (1.0 + small)
