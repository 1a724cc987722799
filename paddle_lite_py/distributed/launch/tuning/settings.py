"""Parallel settings: which ones fit a number of processes, in which order, and what one that ran says of others."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .candidates import DEGREES, GRANULARITIES, Setting, candidates, read_candidates
from .plan import SearchPlan

_SHORT = {
    "dp": "dp_degree", "mp": "mp_degree", "pp": "pp_degree", "vpp": "vpp_degree", "mbs": "micro_batch_size",
    "sharding": "sharding_degree", "stage": "sharding_stage", "recompute": "use_recompute",
    "granularity": "recompute_granularity",
}  # fmt: skip


def settings(plan: SearchPlan, processes: int) -> list[Setting]:
    """Return all settings that a plan has for so many processes, in the order in which they are tried.

    Raises:
        ValueError: if none fits, or the plan names what is no value of a dimension.
    """
    if plan.configs is not None:
        return read_candidates(plan)
    values = candidates(plan, processes)
    degrees, others = ([values[k] for k in values if (k in DEGREES) == wanted] for wanted in (True, False))
    chosen = [d for d in itertools.product(*degrees) if math.prod(d) == processes]
    all_ = (dict(zip(values, (*d, *o), strict=True)) for d in chosen for o in itertools.product(*others))
    distinct: dict[str, Setting] = {}
    for setting in all_:
        if fits(setting, plan, processes):
            distinct.setdefault(str(_once(setting)), setting)
    found = list(distinct.values())
    if not found:
        tried = ", ".join(f"{k} {v}" for k, v in values.items() if k in DEGREES)
        raise ValueError(
            f"{plan.file}: no setting fits {processes} processes, of {tried}; expected degrees whose product is "
            f"{processes}, and sizes in model_cfg that they divide"
        )
    return sorted(found, key=_memory) if plan.baseline else prior_first(found, plan)


def prior_first(found: list[Setting], plan: SearchPlan) -> list[Setting]:
    """Return those settings first that schedule_prior names, whose words count by the alphabet, as in the reference."""
    for word in sorted(plan.prior, reverse=True):
        found = sorted(found, key=lambda s, word=word: not matches(s, word))  # type: ignore[misc]
    return found


def fits(setting: Setting, plan: SearchPlan, processes: int) -> bool:
    """Whether so many processes can train a model of these sizes so."""
    mp, sharding, pp, dp = (setting[k] for k in DEGREES)
    vpp, rows, sizes = setting["vpp_degree"], setting["micro_batch_size"], plan.model
    split = [sizes.get(k, 0) for k in ("hidden_size", "vocab_size", "num_attention_heads")]
    split += [sizes.get("seq_length", 0)] * plan.sequence_parallel
    parts, left = divmod(plan.batch, rows * sharding * dp)
    return (
        mp * sharding * pp * dp == processes
        and not any(size % mp for size in split)
        and left == 0
        and parts >= pp
        and sizes.get("num_layers", 0) % (pp * vpp) == 0
        and (vpp == 1 or (pp > 2 and parts % pp == 0))
        and (pp == 1 or sharding == 1 or setting["sharding_stage"] == 1)
        and not any(matches(setting, strategy) for strategy in plan.invalid)
    )


def matches(setting: Setting, strategy: str) -> bool:
    """Whether a setting is one of those that a word such as "mp4_pp*" means; * is any that does something.

    Raises:
        ValueError: if it is no such word.

    Examples:
        >>> matches({"mp_degree": 4, "pp_degree": 1}, "mp4"), matches({"mp_degree": 4, "pp_degree": 1}, "mp4_pp*")
        (True, False)
    """
    for part in strategy.split("_"):
        if not (found := re.fullmatch(rf"({'|'.join(_SHORT)})(\*|\d+)", part)):
            raise ValueError(
                f"{strategy!r} is no strategy; expected {', '.join(_SHORT)} with a number or *, as mp4_pp*"
            )
        short, wanted = found.groups()
        if not _is(setting, short, wanted):
            return False
    return True


def _is(setting: Setting, short: str, wanted: str) -> bool:
    value = setting[_SHORT[short]]
    if wanted != "*":
        number = int(wanted)
        if short == "granularity":
            return value in GRANULARITIES[number : number + 1]
        return bool(value) == bool(number) if short == "recompute" else value == number
    if short in ("recompute", "granularity"):
        return bool(setting["use_recompute"])
    return short == "mbs" or setting[_SHORT["sharding" if short == "stage" else short]] > 1


class Tried(NamedTuple):
    """A setting that was tried, or left out because of one that was: whether it `ran` or was `out` of memory."""

    setting: Setting
    ran: bool
    out: bool


def because_of(setting: Setting, tried: list[Tried], plan: SearchPlan) -> Tried | None:
    """Return one that was tried and differs in one dimension, by which this one is known to be slower, or too large."""
    for keys, saves, slower, larger in _axes(plan):
        for other in tried:
            if any(other.setting.get(k) != v for k, v in setting.items() if k not in keys):
                continue
            difference = saves(setting) - saves(other.setting)
            if (slower and other.ran and difference > 0) or (larger and other.out and difference < 0):
                return other
    return None


_Axis = tuple[tuple[str, ...], Callable[[Setting], float], bool, bool]


def _axes(plan: SearchPlan) -> Iterator[_Axis]:
    """Each dimension that saves memory for time: how much, and whether one that runs, or does not fit, tells more."""
    yield ("micro_batch_size",), lambda s: -s["micro_batch_size"], True, True
    yield ("sharding_stage",), lambda s: s["sharding_stage"], True, True
    yield ("use_recompute", "recompute_granularity"), _recompute_amount, True, True
    yield ("vpp_degree",), lambda s: s["vpp_degree"], False, True
    for key, (values, prune) in plan.custom.items():
        if prune:
            yield (key,), lambda s, key=key, values=values: values.index(s[key]), True, False  # type: ignore[misc]


def _recompute_amount(setting: Setting) -> int:
    """How much is computed again."""
    if not setting["use_recompute"]:
        return 0
    granularity = setting["recompute_granularity"]
    return len(GRANULARITIES) - GRANULARITIES.index(granularity) if granularity else len(GRANULARITIES)


def _memory(setting: Setting) -> tuple[float, ...]:
    """Return a sort key: the memory that a setting needs."""
    most = ("mp_degree", "pp_degree", "vpp_degree", "sharding_degree", "sharding_stage")
    return *(-setting[k] for k in most), setting["micro_batch_size"], -bool(setting["use_recompute"])


def _once(setting: Setting) -> Setting:
    """Return the setting without what does nothing in it."""
    if setting["sharding_degree"] == 1:
        setting = setting | {"sharding_stage": None}
    if setting["use_recompute"] is False:
        setting = setting | {"recompute_granularity": None}
    return setting
