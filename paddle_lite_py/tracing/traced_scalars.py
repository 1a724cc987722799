"""Traced Python numbers: what int(), float(), bool() and item() of a traced tensor give.

They have no gradient, do not decide the dtype of what they are combined with, and print as numbers: as the Python
numbers do that eager code has in their place. Where Python itself needs to know one (as a key, or to repeat a list), it
is the value of the call under way.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import operator
from collections import deque
from collections.abc import Callable
from typing import Any

from ..core import structure as nested
from ..core.dtypes import default_dtype, rank
from ..core.errors import TracedValueError
from ..core.interpreter import state
from ..core.traced_number import TracedNumber
from ..core.unknown_size import UnknownSize
from ..eager.tensor import Tensor, wrap
from .scalar_arithmetic import TYPES, computed, kind_of

# Conversions besides those of f-strings: of a tensor that stands for a number, and of one with `!s` or `!r`.
NUMBER, NUMBER_TEXT = -2, -3
_SEQUENCES = (str, bytes, bytearray, list, tuple, deque)
_PYTHON = (bool, int, float, complex, TracedNumber)
_FLOAT = rank("float32")
_AS_THEY_ARE = frozenset({"cast", "identity", "reshape"})  # ops that leave the dtype of a number alone


class OfThisCall:
    """A stand-in for a Python value, not a number, that the data of the current call decide."""

    def known(self) -> Any:
        """Return the value, on which the program depends from here on."""
        raise NotImplementedError


# One kind of data-dependent decision of a trace: comparisons that Python makes by itself, as in `[int(t)] == [1]`.
TRUTHS = "the truth of numbers"


class NumberTruthError(TracedValueError):
    """Python has taken the truth value of a traced number."""


class TracedScalar(Tensor):
    """A tensor that stands for a Python number."""

    _value: Any = None  # in the call under way, once the program depends on it

    def known(self) -> Any:
        """Return its value in the call under way, on which the program depends from here on.

        Raises:
            DataDependentError: there is no such call.
        """
        if self._value is None:
            self._value = self._static_number("a number that Python counts with, or a key,")
        return self._value

    def __hash__(self) -> int:
        return hash(self.known())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(TYPES[kind_of(self)], name):
            raise AttributeError(name)
        return getattr(self.known(), name)

    def is_integer(self) -> Any:
        """Whether it is a whole number."""
        return self % 1 == 0

    def __bool__(self) -> bool:
        if self._value is None and TRUTHS in getattr(state.interpreter, "decided", ()):
            self.known()
        if self._value is not None:
            return bool(self._value)
        try:
            return super().__bool__()
        except TracedValueError as e:
            raise NumberTruthError(*e.args) from None


def is_number(x: Any) -> bool:
    """True for a tensor that stands for a Python number."""
    return type(x) is TracedScalar


def as_number(tensor: Tensor) -> Any:
    """Return the tensor itself, which stands for a Python number from here on."""
    if type(tensor) is Tensor:
        tensor._payload.is_number = True
        tensor.__class__ = TracedScalar
    return tensor


def plain(x: Any) -> Any:
    """Return a number as an ordinary tensor of no dimensions."""
    return wrap(x._payload) if is_number(x) else x


def number_text(value: Any, conversion: int, spec: str) -> str:
    """Return a number, or that in an array or tensor, as a text shows it."""
    number = value if isinstance(value, _PYTHON) else value.item()
    return format(str(number) if conversion == NUMBER_TEXT else number, spec)


def element_at(tensor: Any, index: tuple[int, ...]) -> Tensor:
    """Return the element that item(*index) means, as a tensor of no dimensions.

    Raises:
        ValueError: there are several, and no index.
    """
    if index:
        tensor = tensor.flatten()[index[0]] if len(index) == 1 else tensor[index]
    if tensor.size != 1:
        raise ValueError(f"item() needs a tensor of one element, got shape {[*tensor.shape]}; give it an index")
    return plain(tensor).reshape([])


def cast_numbers(args: tuple[Any, ...], op: Any) -> tuple[Any, ...]:
    """Return the arguments of an op, with the numbers among them in the dtype that a Python number would get there."""
    if op.effect or op.name in _AS_THEY_ARE:
        return args
    args = tuple([a if not is_number(a) or a._value is None else a._value for a in args])
    kinds = [a.dtype.np for a in args if isinstance(a, Tensor) and not is_number(a)]
    if op.is_operator:
        return tuple([_as(a, kinds) if is_number(a) else a for a in args])
    kinds = [k for k in kinds if rank(k) >= _FLOAT]  # an index or a mask is no value
    return tuple([_as(a, kinds) if is_number(a) and rank(a.dtype.np) == _FLOAT else a for a in args])


def _as(number: Tensor, kinds: list[Any]) -> Tensor:
    own = rank(number.dtype.np)
    if kinds and own <= rank(kinds[0]):
        return number.astype(kinds[0])
    if own == _FLOAT:
        return number.astype("float32" if kinds else default_dtype().name)
    return number


# -- operators -----------------------------------------------------------------------------------------------------
def applied(f: Callable[..., Any], *operands: Any) -> Any:
    """Return an operator of Python on numbers."""
    if all(isinstance(x, Tensor) and x._value is not None if is_number(x) else True for x in operands):
        return f(*map(known, operands))
    out = computed(f, *operands)
    return f(*map(known, operands)) if out is None else as_number(out)


def known(x: Any) -> Any:
    """Return a key: of a number, and of those in a tuple, the value in the call under way."""
    if is_number(x) or isinstance(x, OfThisCall):
        return x.known()
    return tuple(map(known, x)) if type(x) is tuple else x


def _binary(f: Callable[..., Any], name: str, is_reversed: bool = False) -> Callable[[Any, Any], Any]:
    of_tensors = getattr(Tensor, name, lambda x, y: NotImplemented)

    def method(self: Any, other: Any) -> Any:
        other = other.number() if isinstance(other, UnknownSize) else other
        if is_number(other) or isinstance(other, _PYTHON):
            return applied(f, other, self) if is_reversed else applied(f, self, other)
        return NotImplemented if isinstance(other, _SEQUENCES) else of_tensors(self, other)

    return method


def _unary(self: TracedScalar, f: Callable[..., Any]) -> Any:
    return applied(f, self)


def _install() -> None:
    for word in "add sub mul truediv floordiv mod pow lshift rshift and or xor".split():
        f = getattr(operator, f"__{word}__")
        setattr(TracedScalar, f"__{word}__", _binary(f, f"__{word}__"))
        setattr(TracedScalar, f"__r{word}__", _binary(f, f"__r{word}__", is_reversed=True))
    for word in "lt le gt ge eq ne".split():
        setattr(TracedScalar, f"__{word}__", _binary(getattr(operator, word), f"__{word}__"))
    for word in "neg pos abs invert".split():
        setattr(TracedScalar, f"__{word}__", functools.partialmethod(_unary, getattr(operator, word)))


_install()


# -- what leaves a program -----------------------------------------------------------------------------------------
@dataclasses.dataclass(eq=False, repr=False)
class PythonNumber:
    """Stands in a result for a Python number; see structure.unflatten."""

    tensor: Tensor

    def settled(self) -> Any:
        """Return the number."""
        return self.tensor.item()


NUMBER_LEAF = nested.Nest(PythonNumber, ("tensor",), (nested.LEAF,))


def with_known_keys(value: Any) -> Any:
    """Return a result whose sets and dicts have numbers of Python as keys."""
    if isinstance(value, set | frozenset):
        return type(value)(map(known, value)) if any(map(_holds_number, value)) else value
    if isinstance(value, dict):
        items = {known(k): with_known_keys(v) for k, v in value.items()}
        if all(a is b for a, b in zip([*value, *value.values()], [*items, *items.values()], strict=True)):
            return value
        out = copy.copy(value)
        out.clear()
        out.update(items)
        return out
    if isinstance(value, list | tuple):
        found = list(map(with_known_keys, value))
        if all(a is b for a, b in zip(value, found, strict=True)):
            return value
        return type(value)(*found) if hasattr(value, "_fields") else type(value)(found)
    return value


def _holds_number(key: Any) -> bool:
    return is_number(key) or isinstance(key, OfThisCall) or type(key) is tuple and any(map(_holds_number, key))
