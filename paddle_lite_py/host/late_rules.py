"""Rules of steps whose sizes are open: what asks for more than the text of a size is made once it is known."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..core import symbolic
from ..core.errors import PACKAGE_DIR
from ..core.jax_compat.sized import is_sized
from .rules import Rule
from .steps import HostStep, UnknownStepError

MAX_KEPT = 64  # sizes of one step
# Steps with functions among their parameters, which would have open sizes of their own.
_OF_FUNCTIONS = frozenset(("scan", "cond", "while"))
# Python code that does the same for all sizes.
_SIZELESS = (np.ufunc, type(len))


def is_open_step(step: HostStep) -> bool:
    """Whether a size of a step is open."""
    return bool(_dims_of(step))


def late_rule(step: HostStep, rule: Rule, sizes: tuple[str, ...], names: dict[str, Any]) -> Any:
    """Return what a rule gives for a step with open sizes: a text, a function for all sizes, or one that asks them.

    Arguments:
        sizes: their names. names: what texts of rules may have in them.

    Raises:
        UnknownStepError: it cannot be told before the sizes are there.
    """
    if step.name in _OF_FUNCTIONS and not (step.name == "scan" and is_sized(step.params["jaxpr"])):
        raise UnknownStepError(f"{step.name} of open sizes")
    try:
        found = rule(step)
    except UnknownStepError:
        raise
    except Exception:  # it computes with sizes what JAX's symbols cannot
        return LateRule(step, rule, sizes, names)
    if isinstance(found, (str, *_SIZELESS)) or getattr(found, "__closure__", 0) is None or step.name == "scan":
        return found
    return LateRule(step, rule, sizes, names)


class LateRule:
    """What a rule gives, by sizes.

    Arguments:
        step: with open sizes. sizes: their names. names: what texts of rules may have in them.
    """

    def __init__(self, step: HostStep, rule: Rule, sizes: tuple[str, ...], names: dict[str, Any]) -> None:
        self._step, self._rule, self._names = step, rule, names
        dims = dict.fromkeys(_dims_of(step))
        text = f"lambda {', '.join(sizes)}: ({', '.join(map(symbolic.python_text, dims))},)"
        self._dims, self._values = (
            tuple(dims),
            eval(compile(text, f"{PACKAGE_DIR}<sizes>", "eval"), dict(symbolic.NAMES)),
        )
        self._known: dict[tuple[int, ...], Any] = {}

    def __call__(self, sizes: tuple[int, ...], *values: Any) -> Any:
        """Run it."""
        run = self._known.get(sizes)
        if run is None:
            if len(self._known) >= MAX_KEPT:
                self._known.clear()
            run = self._known[sizes] = self._made(sizes)
        return run(*values)

    def _made(self, sizes: tuple[int, ...]) -> Any:
        known = dict(zip(self._dims, self._values(*sizes), strict=True))
        step = self._step
        given, made = [
            tuple([jax.ShapeDtypeStruct(_closed(a.shape, known), a.dtype) for a in avals])
            for avals in (step.given, step.made)
        ]
        found = self._rule(step._replace(params=_closed(step.params, known), given=given, made=made))
        if not isinstance(found, str):
            return found
        args = [f"x{i}" for i in range(len(given))]
        return eval(
            compile(f"lambda {', '.join(args)}: {found.format(*args)}", f"{PACKAGE_DIR}<rule>", "eval"), self._names
        )


def _dims_of(step: HostStep) -> list[Any]:
    return _dims_in([*step.params.values(), *[a.shape for a in (*step.given, *step.made)]])


def _dims_in(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [d for v in value for d in _dims_in(v)]
    return [value] if symbolic.is_symbolic(value) else []


def _closed(value: Any, known: dict[Any, int]) -> Any:
    """Return something with known sizes in the place of open ones."""
    if isinstance(value, dict):
        return {k: _closed(v, known) for k, v in value.items()}
    if value.__class__ in (tuple, list):
        return value.__class__([_closed(v, known) for v in value])
    return known[value] if symbolic.is_symbolic(value) else value
