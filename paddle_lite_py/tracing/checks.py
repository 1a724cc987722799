"""Checks after each run of a program: did an assertion fail, did a loop have room to record its gradient?"""

from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax

from ..core.switches import index_checks
from ..eager.tensor import Tensor, wrap
from ..ir import control
from ..ir.index_reads import IndexRead
from .frame import TracedValue

MAX_SHOWN = 1000  # elements of a tensor that a message shows


class Check(NamedTuple):
    """The error of a check, made of the values that its message shows (or of none), and their places in `shown`."""

    error: Callable[..., BaseException]
    where: Any
    shown: list[int]


def error_from_text(entry: dict[str, Any]) -> BaseException:
    """Return the error that Checks.texts() wrote of."""
    kind = getattr(builtins, entry["type"], RuntimeError)
    usable = inspect.isclass(kind) and issubclass(kind, Exception)
    found = (kind if usable else RuntimeError)(entry["text"])
    return of_argument(found) if entry.get("argument") else found


def of_argument(error: BaseException) -> BaseException:
    """Mark the error of an op's argument: what is computed from valid arguments does not depend on the check."""
    vars(error)["of_argument"] = True
    return error


def found_by_program(error: BaseException) -> bool:
    """Whether it is the error of a check that has failed in a program, which has changed nothing."""
    return "found_by_program" in vars(error)


def note_failure(error: BaseException) -> None:
    """Mark the error of a check: itself, since another error may have its id later."""
    vars(error)["found_by_program"] = True


def refused_by_op(error: BaseException) -> bool:
    """Whether it is the error of an op, in a trace, that eager code would have raised: after what comes before."""
    return "refused_by_op" in vars(error)


def note_refusal(error: BaseException) -> None:
    """Mark the error of an op."""
    vars(error)["refused_by_op"] = True


def look_at_indices(reads: Sequence[IndexRead], tensors: Sequence[Tensor]) -> None:
    """Look at the indices among the tensors that a program is given.

    Raises:
        IndexError, ValueError: one is out of range.
    """
    if reads and index_checks.on:
        for read in reads:
            try:
                read.look(tensors)
            except Exception as e:
                note_failure(e)
                raise


class Checks:
    """The asserts and raises of a program, by number; the code is 0 while none has failed.

    Attributes:
        shown: tensors that hold what messages show, as it was when their check failed.
    """

    def __init__(self) -> None:
        self.code = wrap(jax.numpy.zeros((), jax.numpy.int32))
        self.shown: list[Tensor] = []
        self._checks: list[Check] = []

    @classmethod
    def of(cls, texts: Sequence[dict[str, Any]], where: Any) -> Checks:
        """Return those that texts() wrote of, for a program called `where`."""
        out = cls()
        for entry in texts:
            out.add(functools.partial(error_from_text, entry), where)
        return out

    def add(self, error: Callable[..., BaseException], where: Any) -> Check:
        """Return a new check."""
        self._checks.append(Check(error, where, []))
        return self._checks[-1]

    def fail(self, check: Check, passed: Tensor | None, shown: Sequence[Tensor]) -> None:
        """Let the last check fail where `passed` is false, or, if that is None, whenever the program gets here."""
        first: Any = self.code.equal(0)
        hit = first if passed is None else first.logical_and(passed.logical_not())
        for value in shown:
            check.shown.append(self._place(value, check.shown))
            kept: Any = self.shown[check.shown[-1]]
            kept._set_payload(hit.where(value, kept)._payload)
        self.code._set_payload((self.code + hit.astype("int32") * len(self._checks))._payload)

    def _place(self, value: Tensor, taken: list[int]) -> int:
        """A place for a value in `shown`, which other checks may use too: one check alone can be the first to fail."""
        kind = value._payload.shape, value._payload.dtype
        for i, kept in enumerate(self.shown):
            if i not in taken and (kept._payload.shape, kept._payload.dtype) == kind:
                return i
        self.shown.append(wrap(jax.numpy.zeros(*kind)))
        return len(self.shown) - 1

    @property
    def are_of_arguments(self) -> bool:
        """Whether other runtimes, which check no arguments, can do without them."""
        return all("argument" in entry for entry in self.texts())

    def texts(self) -> list[dict[str, Any]]:
        """Type and text of each error, for a file."""
        found = [check.error() for check in self._checks]
        marks: list[dict[str, Any]] = [{"argument": True} if "of_argument" in vars(e) else {} for e in found]
        return [{"type": type(e).__name__, "text": _text(e)} | m for e, m in zip(found, marks, strict=True)]

    def failure(self, number: int, shown: Sequence[Any]) -> BaseException:
        """Return the error of the check that failed, with the values that a run gave of what is shown."""
        error, where, place = self._checks[number - 1]
        found = error(*[wrap(shown[i]) for i in place])
        found.add_note(f"raised by the static program for {where}: {getattr(where, 'source', '')}".rstrip(": "))
        return found


def _text(error: BaseException) -> str:
    """Return an error's message, or at least its type."""
    is_key = isinstance(error, KeyError) and len(error.args) == 1  # which shows its text in quotes
    return str(error.args[0] if is_key else error) or type(error).__name__


def showable(tensor: Any) -> bool:
    """Whether a message can show a tensor: of known and small size."""
    return all(isinstance(n, int) for n in tensor._payload.shape) and tensor.size <= MAX_SHOWN


class DefinedFlag(NamedTuple):
    """When a variable that only some path defines is there: a flag, and the error of reading it where it is not."""

    flag: TracedValue
    error: Callable[[], BaseException]
    where: Any


class LoopBuffer:
    """The capacity that the loops of a program share, and the largest number of iterations that a run needed."""

    def __init__(self) -> None:
        self.capacity = control.Capacity()
        self.needed = wrap(jax.numpy.zeros((), jax.numpy.int32))


class Cleared(NamedTuple):
    """A gradient that clear_grad() cleared while a program was traced; `held` is what was there before."""

    held: Any
