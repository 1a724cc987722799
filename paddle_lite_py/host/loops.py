"""Steps that hold functions: a loop of known length, and a choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..core.jax_compat.sizes import is_at_most
from ..core.small import DTYPES
from .generate import FunctionWriter, returning_list
from .low_precision import ALL_DTYPES
from .rules import BASELINE_RULES, RULES, Rule, rule
from .steps import HostStep, Steps, UnknownStepError

Function = Callable[..., Any]
# Lines that a loop may run in all: a longer one is faster compiled.
MOST = 4000


def _function(closed: Any, length: int = 1, rules: Mapping[str, Rule] = RULES) -> Function:
    """Return the NumPy function of a jaxpr, or of its steps, which gives a list."""
    steps = closed if isinstance(closed, Steps) else Steps(closed, DTYPES if rules is RULES else ALL_DTYPES)
    writer = FunctionWriter(steps, returning_list(len(steps.outputs)), rules=rules)
    if rules is RULES and not is_at_most([len(writer.lines) * length], MOST):
        raise UnknownStepError("a long loop")
    return writer.plain_function()


@rule("scan")
def _scan(step: HostStep) -> Function:
    return _scanning(step, RULES)


@rule("scan", table=BASELINE_RULES)
def _long_scan(step: HostStep) -> Function:
    return _scanning(step, RULES | BASELINE_RULES)


def _scanning(step: HostStep, rules: Mapping[str, Rule]) -> Function:
    p = step.params
    length, n_consts, n_carry = p["length"], p["num_consts"], p["num_carry"]
    body = _function(p["jaxpr"], length, rules)
    made = step.made[n_carry:]
    if not isinstance(length, int) and len(step.given) == n_consts + n_carry:
        raise UnknownStepError("a loop of open length over nothing")

    def scan(*given: Any) -> Any:
        consts, carry, xs = given[:n_consts], given[n_consts : n_consts + n_carry], given[n_consts + n_carry :]
        n = length if isinstance(length, int) else len(xs[0])
        outs = [np.empty((n, *aval.shape[1:]), aval.dtype) for aval in made]
        for i in reversed(range(n)) if p["reverse"] else range(n):
            found = body(*consts, *carry, *[x[i] for x in xs])
            carry = found[:n_carry]
            for out, y in zip(outs, found[n_carry:], strict=True):
                out[i] = y
        return (*carry, *outs)

    return scan


@rule("while", table=BASELINE_RULES)
def _while(step: HostStep) -> Function:
    p = step.params
    goes_on, body = [_function(p[name], rules=RULES | BASELINE_RULES) for name in ("cond_jaxpr", "body_jaxpr")]
    n, m = p["cond_nconsts"], p["cond_nconsts"] + p["body_nconsts"]

    def loop(*given: Any) -> Any:
        state = given[m:]
        while goes_on(*given[:n], *state)[0]:
            state = body(*given[n:m], *state)
        return tuple(state)

    return loop


@rule("cond")
def _cond(step: HostStep) -> Function:
    return _choosing(step, RULES)


@rule("cond", table=BASELINE_RULES)
def _large_cond(step: HostStep) -> Function:
    return _choosing(step, RULES | BASELINE_RULES)


def _choosing(step: HostStep, rules: Mapping[str, Rule]) -> Function:
    branches = [_function(closed, rules=rules) for closed in step.params["branches"]]

    def cond(index: Any, *given: Any) -> Any:
        return tuple(branches[min(max(int(index), 0), len(branches) - 1)](*given))

    return cond
