"""The values that a plan has for each dimension of a setting, and tables of whole settings."""

from __future__ import annotations

import csv
from typing import Any

from .plan import DIMENSIONS, SearchPlan

Setting = dict[str, Any]
GRANULARITIES = ("full", "full_attn", "core_attn")  # of recomputation, the least memory first
DEGREES = ("mp_degree", "sharding_degree", "pp_degree", "dp_degree")
# Of these dimensions larger values need less memory and come first, but for schedule_mode "performance".
_SAVING = ("mp_degree", "sharding_stage")


def candidates(plan: SearchPlan, processes: int) -> dict[str, list[Any]]:
    """Return the values of each dimension, by themselves."""
    possible = {
        **dict.fromkeys(DEGREES, _divisors(processes)),
        "sharding_stage": [1, 2, 3],
        "micro_batch_size": _divisors(plan.batch),
        "vpp_degree": _divisors(plan.model.get("num_layers", 1)),
    }
    found: dict[str, list[Any]] = {}
    for key in DIMENSIONS:
        if key in possible:
            values = [v for v in possible[key] if _has(plan, key, v)]
            first_large = key in ("pp_degree", "sharding_degree") or (key in _SAVING) != plan.performance
            found[key] = values[::-1] if first_large else values
    found["use_recompute"] = _switches(plan)
    found["recompute_granularity"] = _granularities(plan)
    return found | {key: values for key, (values, _) in plan.custom.items()}


def _divisors(number: int) -> list[int]:
    return [d for d in range(1, number + 1) if number % d == 0]


def _has(plan: SearchPlan, key: str, value: int) -> bool:
    """Whether a plan has a value of a dimension; without a word of it, 1 alone."""
    said = plan.given[key]
    if said == "auto":
        return True
    if isinstance(said, dict) and all(isinstance(said.get(k), int) for k in ("min", "max")):
        return bool(said["min"] <= value <= said["max"])
    values = [1] if said is None else said if isinstance(said, list) else [said]
    if any(isinstance(v, bool) or not isinstance(v, int) for v in values):
        raise _wrong(plan, key, '"auto", a number, a list of numbers, or {"min": 1, "max": 8}')
    return value in values


def _switches(plan: SearchPlan) -> list[bool | None]:
    said = plan.given["use_recompute"]
    if said == "auto":
        return [False, True] if plan.performance else [True, False]
    values = said if isinstance(said, list) else [said]
    if not all(isinstance(v, bool) or v is None for v in values):
        raise _wrong(plan, "use_recompute", '"auto", true, false, or a list of them')
    return values or [None]


def _granularities(plan: SearchPlan) -> list[str | None]:
    said = plan.given["recompute_granularity"]
    if said == "auto":
        return list(GRANULARITIES[::-1] if plan.performance else GRANULARITIES)
    values = said if isinstance(said, list) else [said]
    if not all(v is None or v in GRANULARITIES for v in values):
        raise _wrong(plan, "recompute_granularity", '"auto", ' + ", ".join(f'"{g}"' for g in GRANULARITIES))
    return values or [None]


def _wrong(plan: SearchPlan, key: str, expected: str) -> ValueError:
    return ValueError(f"{plan.file}: {key} is {plan.given[key]!r}; expected {expected}")


def read_candidates(plan: SearchPlan) -> list[Setting]:
    """Return the settings of the table that configs_csv names, as they stand there.

    Raises:
        ValueError: if there is none, or one lacks a dimension or has another value than a number where one is expected.
    """
    assert plan.configs is not None
    try:
        with plan.configs.open(newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as e:
        raise ValueError(f"{plan.file}: configs_csv cannot be read: {e}") from None
    found: list[Setting] = []
    for line, row in enumerate(rows, 2):
        try:
            setting: Setting = {key: int(row[key]) for key in DIMENSIONS[:7]}
        except (KeyError, TypeError, ValueError) as e:
            needed = ", ".join(DIMENSIONS[:7])
            raise ValueError(f"{plan.configs}:{line}: {e}; expected whole numbers for {needed}") from None
        setting["use_recompute"] = row.get("use_recompute", "").lower() == "true"
        setting["recompute_granularity"] = row.get("recompute_granularity") or None
        found.append(setting)
    if not found:
        raise ValueError(f"{plan.configs} has no settings; expected a line for each, below the names of dimensions")
    return found
