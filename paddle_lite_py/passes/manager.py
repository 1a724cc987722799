"""Pass manager: the known passes by name, running several in order, and what they changed as text."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ..ir.parts import keeping_sizes
from ..ir.printer import Names, to_text
from ..ir.program import Program
from ..ir.verify import ProgramError, verify
from .rewriting import PassError

Pass = Callable[[Program], Program]
REGISTRY: dict[str, Pass] = {}
# Names of passes that are run together, in this order.
PIPELINES: dict[str, list[str]] = {"clean": [], "inference": []}


def register(name: str, pipelines: Iterable[str] = (), before: str | None = None) -> Callable[[Pass], Pass]:
    """Give a pass a name, and a place in pipelines: at the end, or before another pass.

    Arguments:
        name: that PassManager and apply() know it by.
        pipelines: the pipelines that it joins, "clean", "inference" or new ones.
        before: the pass of these pipelines that it has to come before.

    Raises:
        ValueError: if the name is taken, or `before` is not in a pipeline.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> @paddle.passes.register("nothing")
        ... def nothing(program):
        ...     return program
        >>> "nothing" in paddle.passes.names()
        True
    """

    def decorate(function: Pass) -> Pass:
        if REGISTRY.get(name, function).__qualname__ != function.__qualname__:
            raise ValueError(f"register: a pass named {name!r} is there already; choose another name")
        for pipeline in pipelines:
            order = PIPELINES.setdefault(pipeline, [])
            if before is not None and before not in order:
                raise ValueError(f"register: pipeline {pipeline!r} has no pass {before!r}; it has {', '.join(order)}")
            if name not in order:
                order.insert(len(order) if before is None else order.index(before), name)
        REGISTRY[name] = function
        return function

    return decorate


def names() -> list[str]:
    """Return the names of all registered passes.

    Examples:
        >>> "fold_batch_norm" in names()
        True
    """
    return list(REGISTRY)


class Step(NamedTuple):
    """The effect of one pass.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f = paddle.jit.to_static(lambda x: x.exp() + x.exp(), input_spec=[paddle.static.InputSpec([2])])
        >>> manager = paddle.passes.PassManager(["common_subexpressions"])
        >>> _ = manager.apply(f.main_program)
        >>> [step.name for step in manager.steps]
        ['common_subexpressions']
    """

    name: str
    before: Program
    after: Program
    seconds: float

    @property
    def changed(self) -> bool:
        """Whether it did anything."""
        return self.after is not self.before

    def diff(self) -> str:
        """Return the text of the program before and after, as a unified diff."""
        return diff(self.before, self.after, self.name)


class PassManager:
    """Passes in order, with a check of the program after each.

    Arguments:
        passes: names of passes or pipelines, and passes themselves: functions from Program to Program.
        check: verify the program after each pass.

    Raises:
        ValueError: for a name that is not known.
        TypeError: for what is no pass.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f = paddle.jit.to_static(lambda x: x.exp() + x.exp(), input_spec=[paddle.static.InputSpec([2])])
        >>> manager = PassManager(["common_subexpressions"])
        >>> len(manager.apply(f.main_program).ops())
        2
        >>> print(manager.summary())
        common_subexpressions: 3 -> 2 operators
    """

    def __init__(self, passes: str | Pass | Sequence[str | Pass], check: bool = True) -> None:
        given: list[Any] = list(passes) if isinstance(passes, list | tuple) else [passes]
        self.passes = [found for p in given for found in _resolve_passes(p)]
        self.check = check
        self.steps: list[Step] = []

    def apply(self, program: Any) -> Any:
        """Return the program that the passes make of a program, which itself stays as it is.

        Raises:
            PassError: if a pass gives something that is no well-formed program.
            TypeError: if it is no Program.
        """
        if not isinstance(program, Program):
            if hasattr(program, "transformed"):
                return program.transformed(self.apply)
            raise TypeError(
                f"apply() takes a Program, got {type(program).__name__}; of a static function, that is its main_program"
            )
        self.steps = []
        for name, function in self.passes:
            start = time.perf_counter()
            made = keeping_sizes(function, program) if program.measured else function(program)
            self.steps.append(Step(name, program, made, time.perf_counter() - start))
            if made is not program and self.check:
                _check_result(name, made)
            program = made
        return program

    def summary(self) -> str:
        """Return a line for each pass that was run last: what it did to the number of operators."""
        counts = [(s.name, len(s.before.ops()), len(s.after.ops())) for s in self.steps]
        return "\n".join(f"{name}: {a} -> {b} operators" for name, a, b in counts)

    def diff(self) -> str:
        """Return the change made by each pass, as unified diffs of the program's text."""
        return "\n".join(s.diff() for s in self.steps if s.changed)


def apply(program: Any, passes: str | Pass | Sequence[str | Pass], check: bool = True) -> Any:
    """Return a program as passes make it; the program itself stays as it is.

    Arguments:
        program: a Program, of a static function, a loaded one, or one of the static mode.
        passes: names of passes or pipelines ("inference"), and passes themselves.
        check: verify the program after each pass.

    Raises:
        ValueError: for a name that is not known.
        PassError: if a pass cannot do its work, or gives something that is no well-formed program.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(4, 3), paddle.nn.BatchNorm1D(3))
        >>> _ = net.eval()
        >>> net = paddle.jit.to_static(net, input_spec=[paddle.static.InputSpec([None, 4])])
        >>> before = net.forward.main_program
        >>> [op.name for op in before.ops()], [op.name for op in apply(before, "inference").ops()]
        (['linear', 'batch_norm'], ['linear'])
    """
    return PassManager(passes, check).apply(program)


def diff(before: Program, after: Program, name: str = "") -> str:
    """Two programs' texts as a unified diff; values that both have bear one name.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> p = paddle.jit.to_static(lambda x: x.log().exp(), input_spec=[paddle.static.InputSpec([2])]).main_program
        >>> diff(p, p)
        ''
    """
    known = Names()
    old, new = (to_text(p, known).splitlines() for p in (before, after))
    return "\n".join(difflib.unified_diff(old, new, f"before {name}".strip(), f"after {name}".strip(), "", "", 1, ""))


def _resolve_passes(given: Any) -> list[tuple[str, Pass]]:
    if callable(given):
        return [(getattr(given, "__name__", type(given).__name__), given)]
    if not isinstance(given, str):
        raise TypeError(f"passes: {given!r} is no pass; expected a name, or a function from Program to Program")
    if given in PIPELINES:
        return [(n, REGISTRY[n]) for n in PIPELINES[given]]
    if given not in REGISTRY:
        close = difflib.get_close_matches(given, [*REGISTRY, *PIPELINES], 3, 0.4)
        hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else f"; known are {', '.join(REGISTRY)}"
        raise ValueError(f"no pass is named {given!r}{hint}")
    return [(given, REGISTRY[given])]


def _check_result(name: str, made: Any) -> None:
    if not isinstance(made, Program):
        raise PassError(f"pass `{name}` gave a {type(made).__name__}; it must return a Program")
    try:
        verify(made)
    except ProgramError as e:
        raise PassError(f"pass `{name}` gave a program that is not well formed: {e}") from None
