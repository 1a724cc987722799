"""The update rules of optimizers for rows: compiled, and by NumPy with the same operations in the same order.

A row is its weights, then the optimizer's numbers, then what a table counts. All is float32, rules' numbers too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .compiled import HAS_NUMBA, compiled
from .config import Rule

ONE, TWO, ZERO = np.float32(1), np.float32(2), np.float32(0)
Update = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], None]


def state_columns(rule: Rule, columns: int) -> int:
    """Return how many numbers the optimizer keeps in a row."""
    return {"sgd": 0, "adagrad": columns, "adam": 2 * columns + 2, "ftrl": 2 * columns}[rule.name]


def first_state(rule: Rule, columns: int) -> np.ndarray:
    """These numbers of a new row."""
    state = np.zeros(state_columns(rule, columns), np.float32)
    if rule.name == "adagrad":
        state[:] = rule.numbers["initial"]
    elif rule.name == "adam":
        state[-2:] = 1  # the powers of both betas
    return state


def numbers_of(rule: Rule, rate: float | None = None) -> np.ndarray:
    """Return the arguments of an update: the rate, then the rule's numbers in order."""
    rest = [rule.numbers[name] for name in rule.numbers if name != "initial"]
    return np.array([rule.rate if rate is None else rate, *rest], np.float32)


@compiled
def _sgd(values, rows, gradients, numbers):
    for i in range(len(rows)):
        if rows[i] >= 0:
            row = values[rows[i]]
            for c in range(gradients.shape[1]):
                row[c] -= numbers[0] * gradients[i, c]


@compiled
def _adagrad(values, rows, gradients, numbers):
    rate, epsilon = numbers[0], numbers[1]
    columns = gradients.shape[1]
    for i in range(len(rows)):
        if rows[i] >= 0:
            row = values[rows[i]]
            for c in range(columns):
                g = gradients[i, c]
                total = row[columns + c] + g * g
                row[columns + c] = total
                row[c] -= rate * g / (np.sqrt(total) + epsilon)


@compiled
def _adam(values, rows, gradients, numbers):
    rate, beta1, beta2, epsilon = numbers[0], numbers[1], numbers[2], numbers[3]
    columns = gradients.shape[1]
    for i in range(len(rows)):
        if rows[i] >= 0:
            row = values[rows[i]]
            power1, power2 = row[3 * columns] * beta1, row[3 * columns + 1] * beta2
            row[3 * columns], row[3 * columns + 1] = power1, power2
            root = np.sqrt(ONE - power2)
            step = rate * root / (ONE - power1)
            for c in range(columns):
                g = gradients[i, c]
                m = beta1 * row[columns + c] + (ONE - beta1) * g
                v = beta2 * row[2 * columns + c] + (ONE - beta2) * g * g
                row[columns + c], row[2 * columns + c] = m, v
                row[c] -= step * m / (np.sqrt(v) + epsilon * root)


@compiled
def _ftrl(values, rows, gradients, numbers):
    rate, l1, l2 = numbers[0], numbers[1], numbers[2]
    columns = gradients.shape[1]
    for i in range(len(rows)):
        if rows[i] >= 0:
            row = values[rows[i]]
            for c in range(columns):
                g, n = gradients[i, c], row[columns + c]
                total = n + g * g
                z = row[2 * columns + c] + g - (np.sqrt(total) - np.sqrt(n)) / rate * row[c]
                row[columns + c], row[2 * columns + c] = total, z
                if abs(z) <= l1:
                    row[c] = ZERO
                else:
                    row[c] = (np.copysign(l1, z) - z) / (np.sqrt(total) / rate + TWO * l2)


def _plain_sgd(w, s, g, numbers):
    w -= numbers[0] * g


def _plain_adagrad(w, s, g, numbers):
    s += g * g
    w -= numbers[0] * g / (np.sqrt(s) + numbers[1])


def _plain_adam(w, s, g, numbers):
    rate, beta1, beta2, epsilon = numbers
    columns = g.shape[1]
    m, v, powers = s[:, :columns], s[:, columns : 2 * columns], s[:, 2 * columns :]
    powers *= numbers[1:3]
    root = np.sqrt(ONE - powers[:, 1:])
    step = rate * root / (ONE - powers[:, :1])
    m[:] = beta1 * m + (ONE - beta1) * g
    v[:] = beta2 * v + (ONE - beta2) * g * g
    w -= step * m / (np.sqrt(v) + epsilon * root)


def _plain_ftrl(w, s, g, numbers):
    rate, l1, l2 = numbers
    columns = g.shape[1]
    n, z = s[:, :columns], s[:, columns:]
    total = n + g * g
    z[:] = z + g - (np.sqrt(total) - np.sqrt(n)) / rate * w
    n[:] = total
    with np.errstate(divide="ignore", invalid="ignore"):
        w[:] = np.where(np.abs(z) <= l1, ZERO, (np.copysign(l1, z) - z) / (np.sqrt(total) / rate + TWO * l2))


_COMPILED = {"sgd": _sgd, "adagrad": _adagrad, "adam": _adam, "ftrl": _ftrl}
_PLAIN = {"sgd": _plain_sgd, "adagrad": _plain_adagrad, "adam": _plain_adam, "ftrl": _plain_ftrl}


def update_of(rule: Rule) -> Update:
    """Return a rule's update: of (values, rows, gradients, numbers); rows that are -1 stay out."""
    return _COMPILED[rule.name] if HAS_NUMBA else plain_update_of(rule)


def plain_update_of(rule: Rule) -> Update:
    """Return the same by NumPy."""
    step = _PLAIN[rule.name]

    def update(values: np.ndarray, rows: np.ndarray, gradients: np.ndarray, numbers: np.ndarray) -> None:
        there = rows >= 0
        rows, gradients = rows[there], gradients[there]
        columns = gradients.shape[1]
        width = columns + state_columns(rule, columns)
        taken = values[rows, :width]
        step(taken[:, :columns], taken[:, columns:], gradients, numbers)
        values[rows, :width] = taken

    return update
