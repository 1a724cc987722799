"""The baseline tier: NumPy runs a large program while XLA compiles it, so that the first steps of a net come at once.

What runs is the jaxpr that XLA compiles, written down as a NumPy function as in the host tier, but for arrays of any
size: with rules for convolutions and pooling (windows.py), and with arrays dropped when they were read last.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import jax
import numpy as np

from ..core.jax_compat.sizes import is_at_most
from . import loops, windows  # noqa: F401  (their rules)
from .blas import one_thread
from .generate import FunctionWriter, write_return
from .kept_steps import FoundSteps, KeptSteps
from .low_precision import ALL_DTYPES
from .rules import BASELINE_RULES, RULES, cost, turns
from .steps import Steps, UnknownStepError, reading

# Picoseconds of Python and NumPy for each step, whatever its size; sizes may be open, so it is a whole number.
_STEP = 2_000_000
_TABLE = RULES | BASELINE_RULES
Places: TypeAlias = Mapping[str, str]
_NAMES = re.compile(r"\b[vw]\d+\b")


def baseline(
    closed: Any, info: Any, seconds: float, numbers: frozenset[int] = frozenset(), sizes: Places = MappingProxyType({})
) -> Callable[..., Any] | None:
    """Return the NumPy function of a jaxpr; None where there is none, or where a call would take longer than that.

    Arguments:
        closed: the jaxpr, with its constants. info: shapes and dtypes of the results, nested as it gives them.
        numbers, sizes: see FunctionWriter.
    """
    steps = _steps_of(closed)
    return None if steps is None else of_steps(steps, info, seconds, numbers, sizes)


def _steps_of(closed: Any) -> Steps | None:
    try:
        with reading():
            return Steps(closed, ALL_DTYPES)
    except UnknownStepError:
        return None


class Baseline:
    """The NumPy functions of a program, by kinds of arguments.

    Arguments:
        text: gives what the program computes, the same in each process; None, or what gives None, where it has no text.
    """

    def __init__(self, text: Callable[[], str | None] | None) -> None:
        self._kept = KeptSteps(text, dtypes=ALL_DTYPES)

    def of(self, traced: Any, seconds: float) -> Callable[..., Any] | None:
        """Return that of a traced program; None where there is none, or where a call would take longer than that."""
        steps = _steps_of(traced.closed)
        found = None if steps is None else of_steps(steps, traced.shapes, seconds)
        if steps is not None and found is not None:
            self._kept.keep(FoundSteps(steps, False, traced.shapes, traced.size), traced.specs)
        return found

    def drop(self, args: Sequence[Any]) -> None:
        """Let later processes not know a program that they find compiled."""
        self._kept.drop(args)

    def known(self, args: Sequence[Any], seconds: Callable[[int], float]) -> Callable[..., Any] | None:
        """Return the same where an earlier process has traced the program for arguments like these.

        Arguments:
            seconds: gives them for a number of equations.
        """
        found = self._kept.find(args)
        if found is None or found.steps is None:
            return None
        return of_steps(found.steps, found.results, seconds(found.size))


def of_steps(
    steps: Steps,
    info: Any,
    seconds: float,
    numbers: frozenset[int] = frozenset(),
    sizes: Places = MappingProxyType({}),
) -> Callable[..., Any] | None:
    """Return the NumPy function of steps; see baseline()."""
    tree: Any = jax.tree.structure(info)
    try:
        with reading():
            each = [*map(cost, steps.list), *[_STEP * turns(s) for s in steps.list]]
            if seconds < math.inf and not is_at_most(each, int(seconds * 1e12)):
                return None
            text, names = write_return(jax.tree.structure([0] * tree.num_leaves))
            writer = FunctionWriter(steps, text, numbers, _TABLE, sizes)
            writer.env |= names
    except UnknownStepError:
        return None
    writer.lines = drop_unread(writer.lines)
    run = writer.function()

    def call(*args: Any, **sizes: Any) -> Any:
        with one_thread():
            found = run(*[np.asarray(a) for a in args], **sizes)
        return tree.unflatten(_owned(found))

    return call


def drop_unread(lines: Sequence[str]) -> list[str]:
    """Return the lines of a function, with those between that drop what is read no more."""
    seen, out = set(_NAMES.findall(lines[-1])), [lines[-1]]
    for line in reversed(lines[:-1]):
        last = [n for n in dict.fromkeys(_NAMES.findall(line)) if n not in seen]
        seen.update(last)
        out += [f"del {', '.join(last)}"] * bool(last)
        out.append(line)
    return out[::-1]


def _owned(arrays: Sequence[Any]) -> list[jax.Array]:
    """Return XLA arrays, no two of which share memory with each other, or with what the function keeps or was given."""
    given: set[int] = set()
    made = []
    for a in arrays:
        lone = a.__class__ is np.ndarray and a.base is None and a.flags.writeable and id(a) not in given
        given.add(id(a))
        made.append(jax.device_put(a if lone else np.array(a)))
    return made
