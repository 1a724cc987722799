"""The table of rules: for a step of a jaxpr, the NumPy function that does the same."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ..core.jax_compat.sizes import stood_for
from ..core.symbolic import has_symbolic
from .steps import HostStep

# A rule gives, for a step, a function of arrays or the text of an expression, in which {0}, {1}, ... are the arguments.
Rule = Callable[[HostStep], Any]
RULES: dict[str, Rule] = {}
# Those of the baseline tier alone (baseline.py): of small arrays XLA's code takes a fraction of the time.
BASELINE_RULES: dict[str, Rule] = {}
# Steps whose arguments may have fewer elements than their types say, as long as these can be broadcast.
ELEMENTWISE: set[str] = set()
# The steps that return their arguments: for XLA's optimizer alone, and for its partitioner alone.
AS_THEY_ARE = frozenset({"optimization_barrier", "shard_alike"})
# Steps that only move elements, so that NumPy has nothing to warn of.
MOVES: set[str] = set()


# Picoseconds for each element of what a step makes, where that is far from those of XLA.
COSTS = {
    **dict.fromkeys(("erf", "erfc", "erf_inv", "lgamma", "digamma", "fft"), 10_000),
    **dict.fromkeys(("scatter", "scatter-add", "scatter_add", "cumsum", "cumprod", "cumlogsumexp", "gather"), 3000),
    **dict.fromkeys(("cummax", "cummin", "pow", "logistic", "select_n", "reduce_max", "reduce_min"), 1000),
}
_USUAL = 400


def cost(step: HostStep) -> Any:
    """About how many picoseconds a step takes, but for its start: a whole number, for sizes may be open."""
    elements = largest([math.prod(aval.shape) for aval in (*step.given, *step.made)])
    whole = step.made[0].dtype.kind in "iu"
    if step.name == "dot_general":
        (of_x, _), _ = step.params["dimension_numbers"]
        products = math.prod(step.made[0].shape) * math.prod([step.given[0].shape[a] for a in of_x])
        return products * (1000 if whole else 30)  # those of integers have no library
    if step.name == "conv_general_dilated":
        kernel = step.given[1].shape
        made, (features, *_) = math.prod(step.made[0].shape), step.params["dimension_numbers"][1]
        return 30 * made * math.prod(kernel) // kernel[features]
    if step.name in ("reduce_window_max", "reduce_window_min", "reduce_window_sum", "select_and_scatter_add"):
        return 1000 * elements * math.prod(step.params["window_dimensions"])
    if whole and step.name in ("div", "rem"):
        return 10_000 * elements
    return COSTS.get(step.name, _USUAL) * elements


def largest(sizes: Sequence[Any]) -> Any:
    """Return the largest of some sizes, of open ones by what they stand for; 0 for none."""
    return max(sizes, key=stood_for, default=0)


def has_fewer(shape: Sequence[Any], n: Any) -> bool:
    """Whether an array has fewer elements than that; not where a size is open, which would make it a condition."""
    return not has_symbolic((*shape, n)) and math.prod(shape) < n


def turns(step: HostStep) -> int:
    """Return the number of steps that a step stands for: those of a loop, in each of its turns."""
    return step.params["length"] * len(step.params["jaxpr"].eqns) if step.name == "scan" else 1


def rule(*names: str, moves: bool = False, table: dict[str, Rule] = RULES) -> Callable[[Rule], Rule]:
    """Enter a rule into the table."""

    def enter(function: Rule) -> Rule:
        table.update(dict.fromkeys(names, function))
        if moves:
            MOVES.update(names)
        return function

    return enter


def elementwise(*names: str) -> Callable[[Rule], Rule]:
    """Return the same for a step that works element by element."""
    ELEMENTWISE.update(names)
    return rule(*names)


def plainly(functions: dict[str, Any], moves: bool = False) -> None:
    """Rules of steps that are one elementwise function of NumPy, whatever their parameters."""
    for name, function in functions.items():
        ELEMENTWISE.add(name)
        rule(name, moves=moves)(functools.partial(_always, function))


def _always(function: Any, _step: HostStep) -> Any:
    return function
