"""Metrics of what all processes have counted.

What a function is given is an array, or a variable of a program or its name, whose value is then that in the scope. All
processes call it; `util` reduces, `fleet.util` by default.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from ....eager.tensor import Tensor
from ..roles import UtilBase

__all__ = ["acc", "auc", "mae", "max", "min", "mse", "rmse", "sum"]

# Where the scope in force is: a module above this one.
_SCOPE = f"{__name__.partition('.')[0]}.static.scope"


def sum(input: Any, scope: Any = None, util: Any = None) -> np.ndarray:
    """Return the sum over all processes, of the shape of the input.

    Raises:
        LookupError: if the scope has no such variable.

    Examples:
        >>> sum(np.array([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    return _reduced(input, "sum", scope, util)


def max(input: Any, scope: Any = None, util: Any = None) -> np.ndarray:
    """Return the largest over all processes, of the shape of the input.

    Examples:
        >>> max(np.array([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    return _reduced(input, "max", scope, util)


def min(input: Any, scope: Any = None, util: Any = None) -> np.ndarray:
    """Return the smallest over all processes, of the shape of the input.

    Examples:
        >>> min(np.array([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    return _reduced(input, "min", scope, util)


def auc(stat_pos: Any, stat_neg: Any, scope: Any = None, util: Any = None) -> float:
    """Return the area under the ROC curve of all processes; 0.5 where only one kind was seen.

    Arguments:
        stat_pos, stat_neg: how many positive and negative instances are in each interval of the prediction, [1, n]:
            the last two states of static.auc().

    Examples:
        >>> auc(np.array([[1.0, 3.0]]), np.array([[3.0, 1.0]]))
        0.75
    """
    # From the highest prediction to the lowest.
    positive = _reduced(stat_pos, "sum", scope, util)[0][::-1].astype(np.float64)
    negative = _reduced(stat_neg, "sum", scope, util)[0][::-1].astype(np.float64)
    above = np.cumsum(positive) - positive / 2
    pairs = positive.sum() * negative.sum()
    return float((negative * above).sum() / pairs) if pairs else 0.5


def mae(abserr: Any, total_ins_num: Any, scope: Any = None, util: Any = None) -> float:
    """Return the mean absolute error.

    Arguments:
        abserr: the sum of absolute errors of this process, [1].
        total_ins_num: of how many instances, [1].

    Examples:
        >>> mae(np.array([4.0]), np.array([8.0]))
        0.5
    """
    return _ratio(abserr, total_ins_num, scope, util)


def mse(sqrerr: Any, total_ins_num: Any, scope: Any = None, util: Any = None) -> float:
    """Return the mean squared error; arguments as in mae(), of squares.

    Examples:
        >>> mse(np.array([4.0]), np.array([8.0]))
        0.5
    """
    return _ratio(sqrerr, total_ins_num, scope, util)


def rmse(sqrerr: Any, total_ins_num: Any, scope: Any = None, util: Any = None) -> float:
    """Return the root of the mean squared error; arguments as in mse().

    Examples:
        >>> rmse(np.array([2.0]), np.array([8.0]))
        0.5
    """
    return math.sqrt(_ratio(sqrerr, total_ins_num, scope, util))


def acc(correct: Any, total: Any, scope: Any = None, util: Any = None) -> float:
    """Return the part of instances that were right.

    Arguments:
        correct, total: how many were right in this process, and how many there were, [1].

    Examples:
        >>> acc(np.array([3.0]), np.array([4.0]))
        0.75
    """
    return _ratio(correct, total, scope, util)


def _ratio(part: Any, whole: Any, scope: Any, util: Any) -> float:
    found = [float(_reduced(given, "sum", scope, util)[0]) for given in (part, whole)]
    return found[0] / found[1]


def _reduced(given: Any, mode: str, scope: Any, util: Any) -> np.ndarray:
    array = _value(given, scope)
    out: np.ndarray = np.asarray((util or UtilBase()).all_reduce(array, mode)).reshape(array.shape)
    return out


def _value(given: Any, scope: Any) -> np.ndarray:
    if not isinstance(given, str | Tensor):
        return np.asarray(given)
    name = given if isinstance(given, str) else given.name
    where = scope or importlib.import_module(_SCOPE).global_scope()
    if (entry := where.find_var(name)) is not None:
        return np.array(entry.get_tensor())
    if isinstance(given, str):
        raise LookupError(
            f"fleet.metrics: the scope has no variable '{name}'; run the startup program, or give an array"
        )
    return given.numpy()
