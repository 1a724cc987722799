"""The rates of an optimizer's groups: of its own groups, or one rate times factors as in paddle.optimizer."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["first_rates", "rates", "set_rates"]


def rates(optimizer: Any) -> list[float]:
    """Return the rate of each group."""
    if hasattr(optimizer, "param_groups"):
        return [float(group["lr"]) for group in optimizer.param_groups]
    rate = optimizer.get_lr()
    return [rate * factor for factor in _factors(optimizer)]


def set_rates(optimizer: Any, values: list[float]) -> None:
    """Set the rate of each group; other proportions than before are new factors, with which a step is compiled."""
    if hasattr(optimizer, "param_groups"):
        for group, value in zip(optimizer.param_groups, values, strict=True):
            group["lr"] = value
        return
    factors = _factors(optimizer)
    rate = next((v / f for v, f in zip(values, factors, strict=True) if f), 0.0)
    if not all(math.isclose(v, rate * f, rel_tol=1e-9) for v, f in zip(values, factors, strict=True)):
        rate = max(values)
        for group, value in zip(optimizer._groups, values, strict=True):
            group.options["learning_rate"] = value / rate
            for p in group.params:
                p.optimize_attr["learning_rate"] = value / rate
    optimizer.set_lr(rate)


def first_rates(optimizer: Any, last_epoch: int) -> list[float]:
    """Return the rates with which the first schedule of an optimizer began.

    Raises:
        KeyError: a schedule resumes at a step, and no schedule began.
    """
    found = optimizer.__dict__.get("_first_rates")
    if found is None:
        if last_epoch != -1:
            raise KeyError(
                f"last_epoch is {last_epoch}, and this optimizer had no schedule; expected -1, and load_state_dict() "
                "of the schedule to resume it"
            )
        found = optimizer.__dict__["_first_rates"] = rates(optimizer)
    return list(found)


def _factors(optimizer: Any) -> list[float]:
    return [float(group.options.get("learning_rate", 1.0)) for group in optimizer._groups]
