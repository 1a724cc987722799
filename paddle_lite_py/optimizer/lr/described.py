"""Learning rates as JSON-ready data, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import cyclic, decay, linear, plateau
from .base import LRScheduler

_MODULES = (cyclic, decay, linear, plateau)
SCHEDULES: dict[str, type[LRScheduler]] = {
    n: c for m in _MODULES for n, c in vars(m).items() if isinstance(c, type) and issubclass(c, LRScheduler)
}


def describe(rate: Any) -> Any:
    """Return a number, a schedule, or an argument of one, as data that say how to make it again.

    Raises:
        TypeError: if it is made of what no file can hold: a function, or a class of the user's own.
    """
    if isinstance(rate, LRScheduler):
        name, (args, kwargs) = type(rate).__name__, rate._arguments
        if SCHEDULES.get(name) is not type(rate):
            raise TypeError(f"learning rate: no file can hold {name}, a schedule of your own; {_REMEDY}")
        given = [describe(a) for a in args], {k: describe(v) for k, v in kwargs.items()}
        return {"schedule": name, "args": given[0], "kwargs": given[1], "state": rate.state_dict()}
    if isinstance(rate, list | tuple | np.ndarray):
        return [describe(r) for r in rate]
    if rate is None or isinstance(rate, bool | int | float | str):
        return rate
    if isinstance(rate, np.generic):
        return rate.item()
    raise TypeError(f"learning rate: no file can hold the {type(rate).__name__} that its schedule takes; {_REMEDY}")


_REMEDY = "train with a schedule of paddle.optimizer.lr, or with a number that set_lr() changes"


def from_description(data: Any) -> Any:
    """Recreate a schedule from the output of describe().

    Raises:
        ValueError: if the data are damaged.
    """
    if isinstance(data, list):
        return [from_description(d) for d in data]
    if not isinstance(data, dict):
        return data
    try:
        made = SCHEDULES[data["schedule"]](
            *from_description(data["args"]), **{k: from_description(v) for k, v in data["kwargs"].items()}
        )
        made.set_state_dict(_numbers(data["state"]))
        float(made())
    except (LookupError, TypeError, AttributeError, ArithmeticError) as e:
        raise ValueError(f"{data!r:.80} describes no schedule: {type(e).__name__}: {e}") from None
    return made


def _numbers(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a schedule: numbers, and the state of the one inside."""
    for key, value in state.items():
        if isinstance(value, dict):
            _numbers(value)
        elif not isinstance(value, int if key == "last_epoch" else int | float | None):
            raise TypeError(f"{key} is {value!r:.60}; expected a number")
    return state
