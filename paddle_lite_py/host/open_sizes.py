"""Functions whose arguments keep changing sizes: after a few of them they are traced with sizes left open.

To trace an op and write it down for NumPy takes a millisecond, and a loop over thousands of sizes would pay for each.
The function that is written for open sizes reads them off its arguments. It serves all sizes under which the program
asks the same of them: with `n % 2` in it there is one for even sizes, and one for odd ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax

from ..core import memory, symbolic
from ..core.errors import PACKAGE_DIR
from ..core.jax_compat.sizes import SizeConditions, standing_for
from ..core.memo import Memo

# So many kinds of arguments are traced as they are.
TRACED_FIRST = 3
# Sizes below stay what they are: axes of one element are broadcast.
LEAST = 2
# Of one rank and dtype: programs for open sizes, and failed attempts at them.
MAX_FORMS, MAX_FAILURES = 8, 2
MAX_GROUPS = 64
Shapes = tuple[tuple[int, ...], ...]
# By the names of open sizes, the text that reads them: a0.shape[1], or numbers[0].
Places = dict[str, str]
# From arguments and numbers with open sizes what serves such; None where that is nothing.
Make = Callable[[Sequence[Any], Sequence[Any], Places], Any]
Trace = Callable[..., Any]


class _Form(NamedTuple):
    is_for: Callable[[Shapes], bool]
    made: Any


class _Group:
    """The kinds of arguments with the same ranks and dtypes."""

    def __init__(self) -> None:
        self.seen: list[Shapes] = []
        self.forms: list[_Form] = []
        self.failures = 0


class OpenFunctions:
    """The functions for open sizes of one function.

    Arguments:
        name: of the function. first: so many kinds of arguments are traced as they are; None: TRACED_FIRST.
    """

    def __init__(self, name: str, first: int | None = None) -> None:
        self._first = first
        # Key: ranks and dtypes of arrays, classes of numbers, and what else it depends on; the function is pure.
        self._groups: Memo[Any, _Group] = Memo(f"open sizes of {name}", MAX_GROUPS, tiered=True)

    def forget(self, is_over: Callable[[Any], bool]) -> None:
        """Drop the functions that depend on what is over, as find() was told `of` it."""
        for key in [key for key in self._groups if is_over(key[0])]:
            self._groups.pop(key, None)

    def find(self, args: Sequence[Any], make: Make, trace: Trace, numbers: tuple[int, ...] = (), of: Any = None) -> Any:
        """Return what was made for arguments like these, if so many were seen that it is worth it; otherwise None.

        Arguments:
            make: makes it. trace: traces the function for these arguments, to see whether they are refused.
            numbers: sizes that are no arguments; functions take them as `numbers`. of: what else they depend on.
        """
        key = of, len(numbers), *[(a.ndim, a.dtype) if hasattr(a, "dtype") else a.__class__ for a in args]
        shapes = *[a.shape if hasattr(a, "shape") else () for a in args], numbers
        group = self._groups.get(key)
        if group is None:
            group = self._groups.put(key, _Group())
        if len(group.seen) < (TRACED_FIRST if self._first is None else self._first):
            if shapes not in group.seen:
                group.seen.append(shapes)
            return None
        for form in group.forms:
            if form.is_for(shapes):
                return form.made
        names = _name_sizes(shapes, group.seen)
        if not names or len(group.forms) >= MAX_FORMS or group.failures >= MAX_FAILURES:
            return None
        try:
            new = _new_form(args, shapes, group.seen, names, make)
            trace(*args)  # last, since JAX's caches would compare what they have of these sizes with symbols
        except Exception:  # who calls it without open sizes finds out what is wrong with the arguments, if it is them
            group.failures += 1
            return None
        group.forms.append(new)
        return new.made


def _new_form(args: Sequence[Any], shapes: Shapes, seen: list[Shapes], names: dict[str, int], make: Make) -> _Form:
    """Return the form with those sizes open that differ from earlier ones, under these names."""
    scope = symbolic.Symbols()
    for name in names:
        scope.new(name)
    of = {n: scope.symbols[name] for name, n in names.items()}
    opened = [
        tuple([of[n] if n in of and _varies(seen, i, axis, n) else n for axis, n in enumerate(shape)])
        for i, shape in enumerate(shapes)
    ]
    *arrays, others = opened
    places = {str(d): f"numbers[{i}]" for i, d in enumerate(others) if symbolic.is_symbolic(d)}
    for i, shape in enumerate(arrays):
        places |= {str(d): f"a{i}.shape[{axis}]" for axis, d in enumerate(shape) if symbolic.is_symbolic(d)}
    with memory.paused_collection(), standing_for(names, scope.scope) as conditions:
        given = [
            jax.ShapeDtypeStruct(shape, a.dtype) if hasattr(a, "dtype") else a
            for a, shape in zip(args, arrays, strict=True)
        ]
        made = make(given, others, places)
    return _Form(_condition(opened, conditions), made)


def _name_sizes(shapes: Shapes, seen: list[Shapes]) -> dict[str, int]:
    """Return a name for each size that differs from earlier ones; what is of one size now has one name."""
    found = dict[int, str]()
    for i, shape in enumerate(shapes):
        for axis, n in enumerate(shape):
            if n >= LEAST and _varies(seen, i, axis, n):
                found.setdefault(n, f"size{len(found)}")
    return {name: n for n, name in found.items()}


def _varies(seen: list[Shapes], i: int, axis: int, n: int) -> bool:
    return any(s[i][axis] != n for s in seen)


def read_sizes(n: int, sizes: Mapping[str, str], text: str) -> Callable[..., Any]:
    """Return the function of n arrays, and of `numbers`, that gives an expression of open sizes."""
    lines = [f"    {name} = {read}\n" for name, read in sizes.items()]
    given = ", ".join([*[f"a{i}" for i in range(n)], "numbers=()"])
    env = dict(symbolic.NAMES)
    exec(compile(f"def of({given}):\n{''.join(lines)}    return {text}\n", f"{PACKAGE_DIR}<open sizes>", "exec"), env)
    return env["of"]


def _condition(opened: Sequence[Any], conditions: SizeConditions) -> Callable[[Shapes], bool]:
    """Return what tells whether shapes are such as a form is for."""
    bound = dict[str, None]()
    lines, asked = [], []
    for i, shape in enumerate(opened):
        for axis, d in enumerate(shape):
            at = f"shapes[{i}][{axis}]"
            if symbolic.is_symbolic(d) and str(d) not in bound:
                bound[str(d)] = None
                lines.append(f"    {d} = {at}\n")
                asked.append(f"{d} >= {LEAST}")
            else:
                asked.append(f"{at} == {d}")
    text = f"def is_for(shapes):\n{''.join(lines)}    return {' and '.join([*asked, *conditions.texts])}\n"
    env = dict(symbolic.NAMES)
    exec(compile(text, f"{PACKAGE_DIR}<open sizes>", "exec"), env)
    return env["is_for"]
