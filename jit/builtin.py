"""Python's builtins on traced tensors."""

from __future__ import annotations

import builtins
import collections
import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.core.traced_number import TracedNumber, applied
from paddle_lite_py.core.unknown_size import UnknownSize
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.ops.binary import complex as complex_
from paddle_lite_py.ops.creation import full
from paddle_lite_py.ops.joining import concat, stack
from paddle_lite_py.ops.math import add_n
from paddle_lite_py.tracing import scalar_arithmetic as numbers
from paddle_lite_py.tracing.places import KINDS
from paddle_lite_py.tracing.scalar_arithmetic import as_kind, finite, kind_of, to_integer
from paddle_lite_py.tracing.traced_scalars import as_number, is_number, plain

from . import at_run, grown, iterables, selections, sequences, text
from .host_random import drawing
from .mutations import changing, method_of_container, of_class


def replacement(f: Any) -> Callable[..., Any] | None:
    """Return the form of a builtin that takes tensors, or that notes what it changes; None if it has none."""
    owner = getattr(f, "__self__", None)
    if isinstance(owner, (*KINDS, tuple)):
        return method_of_container(f)
    if type(owner) is str and f.__name__ == "format":
        return functools.partial(text.format_method, owner)
    try:
        return _TABLE.get(f) or drawing(f) or changing(f) or at_run.form_of(f)
    except TypeError:  # unhashable
        return None


def _wrap(original: Any, staged: Callable[..., Any], test: Callable[[Any], bool]) -> Callable[..., Any]:
    of_numbers = original in _OF_NUMBERS

    def call(*args: Any, **kwargs: Any) -> Any:
        if any(map(test, (*args, *kwargs.values()))) and mode.interpreter.is_tracing:
            return staged(*args, **kwargs)
        if of_numbers and not kwargs and any(type(a) is TracedNumber for a in args):
            return applied(original, args)
        return original(*args, **kwargs)

    return call


def _is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor)


def _is_number(x: Any) -> bool:
    return isinstance(x, Tensor | UnknownSize)


def _is_number_or_text(x: Any) -> bool:
    return isinstance(x, Tensor | UnknownSize | text.StagedText)


def _with_numbers(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, given unknown sizes as traced numbers."""
    return lambda *args: f(*[a.number() if isinstance(a, UnknownSize) else a for a in args])


def _is_anything(x: Any) -> bool:
    return True


def _cast(kind: str, name: str) -> Callable[..., Any]:
    """int, float or bool, which give what item() gives, in the dtype of that name."""

    def cast(x: Any, *base: int) -> Any:
        if isinstance(x, text.StagedText):
            return getattr(builtins, kind)(x.known(f"{kind}()"), *base)
        if x.size != 1:
            raise ValueError(
                f"{kind}() needs a tensor of one element, got {x.dtype.name}{[*x.shape]}: index it, or use "
                f".astype('{name}') for all of its elements"
            )
        if kind == "int" and x.is_floating_point():
            return to_integer(as_kind(x, "f")).item()
        return plain(x).astype(name).item()

    return cast


def _round(x: Tensor, digits: int | None = None) -> Tensor:
    if not is_number(x):
        rounded = x.round(decimals=digits or 0)
        return rounded.astype("int64").item() if digits is None else rounded.item()
    if kind_of(x) in "bi" and (digits is None or digits >= 0):
        return as_kind(x, "i").item()
    return numbers.rounded(as_kind(x, "f"), digits).item()


def _of_math(method: str) -> Callable[..., Any]:
    """Return a function of `math`, which gives a number, and raises what it raises there."""

    def called(*args: Any) -> Any:
        if method == "log" and len(args) == 2:
            return called(args[0]) / called(args[1])
        given = [as_kind(x, "f") for x in args]
        first, *others = [x if isinstance(x, Tensor) else full([], x, "float64") for x in given]
        found = getattr(first, method)(*others)
        if method in _TO_INTEGERS:
            return to_integer(found).item()
        if found.dtype != "bool":
            finite(found, [first, *others], _RANGE if method in _EXPONENTIALS else _DOMAIN)
        return found.item()

    return called


def _is_close(a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> Any:
    """math.isclose(): infinities are close to themselves alone."""
    a, b = as_kind(a, "f"), as_kind(b, "f")
    difference, largest = abs(a - b), sequences.extreme(max, "max")(abs(a), abs(b))
    near = (difference <= rel_tol * largest).logical_or(difference <= abs_tol)
    return (a == b).logical_or(near.logical_and(largest != math.inf)).item()


def _complex(real: Any, imag: Any = 0.0) -> Any:
    a, b = [x if isinstance(x, Tensor) else full([], x, "float64") for x in (as_kind(real, "f"), as_kind(imag, "f"))]
    return complex_(plain(a), plain(b)).item()


def _format(value: Any, spec: str = "") -> Any:
    return text.text([(value, text.PLAIN, spec)])


def _len(x: Any) -> Any:
    length = iterables.length_of(x)
    return as_number(length) if isinstance(length, Tensor) else length


def _divmod(a: Any, b: Any) -> tuple[Any, Any]:
    return a // b, a % b


def _is_plain(x: Any) -> bool:
    return is_number(x) or isinstance(x, text.StagedText)


def _kind(x: Any) -> type:
    """Return the type of the Python number or text that a traced one stands for."""
    if isinstance(x, text.StagedText):
        return str
    kind = x._payload.dtype.kind
    return {"b": bool, "i": int, "c": complex}.get(kind, float)


_TO_INTEGERS = frozenset({"floor", "ceil", "trunc"})
_EXPONENTIALS = frozenset({"exp", "expm1", "sinh", "cosh", "pow"})
_RANGE = functools.partial(OverflowError, "math range error")
_DOMAIN = functools.partial(ValueError, "math domain error")
_MATH = (
    "sqrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh floor ceil trunc "
    "erf lgamma isnan isinf isfinite fabs:abs pow atan2 copysign hypot degrees:rad2deg radians:deg2rad"
)
_STAGED: dict[Any, tuple[Callable[..., Any], Callable[[Any], bool]]] = {
    builtins.range: (_with_numbers(iterables.StagedRange), _is_number),
    builtins.enumerate: (iterables.StagedEnumerate, iterables.is_staged),
    builtins.zip: (iterables.StagedZip, iterables.is_staged),
    builtins.reversed: (iterables.StagedReversed, iterables.is_staged),
    builtins.len: (_len, iterables.is_staged),
    builtins.int: (_with_numbers(_cast("int", "int64")), _is_number_or_text),
    builtins.float: (_with_numbers(_cast("float", "float64")), _is_number_or_text),
    builtins.bool: (_cast("bool", "bool"), _is_tensor),
    builtins.round: (_round, _is_tensor),
    builtins.divmod: (_divmod, is_number),
    builtins.min: (sequences.extreme(min, "min"), _is_anything),
    builtins.max: (sequences.extreme(max, "max"), _is_anything),
    builtins.sum: (sequences.sum_, _is_anything),
    builtins.any: (sequences.fold("any"), _is_anything),
    builtins.all: (sequences.fold("all"), _is_anything),
    builtins.sorted: (sequences.sorted_, _is_anything),
    builtins.filter: (selections.by_predicate(filter), _is_anything),
    itertools.takewhile: (selections.by_predicate(itertools.takewhile), _is_anything),
    itertools.dropwhile: (selections.by_predicate(itertools.dropwhile), _is_anything),
    itertools.filterfalse: (selections.by_predicate(itertools.filterfalse), _is_anything),
    itertools.compress: (selections.compress, _is_anything),
    itertools.groupby: (selections.groupby, _is_anything),
    builtins.map: (iterables.StagedMap, iterables.is_staged),
    builtins.str: (text.str_, _is_anything),
    builtins.format: (_format, _is_anything),
    builtins.repr: (lambda x: text.text([(x, ord("r"), "")]), _is_tensor),
    builtins.complex: (_with_numbers(_complex), _is_number),
    math.isclose: (_is_close, _is_number),
    # Text as well: it is printed by each run, where eager code would print it.
    builtins.print: (at_run.print_, _is_anything),
    builtins.isinstance: (
        lambda x, kinds: isinstance(x, kinds) if not _is_plain(x) else issubclass(_kind(x), kinds),
        _is_plain,
    ),
    builtins.type: (lambda x: _kind(x), _is_plain),
    concat: (grown.concatenated, grown.holds),
    stack: (grown.stacked, grown.holds),
    add_n: (grown.added, grown.holds),
} | {
    getattr(math, name.partition(":")[0]): (_with_numbers(_of_math(name.partition(":")[2] or name)), _is_number)
    for name in _MATH.split()
}


_OF_COUNTERS = {f: of_class(f) for f in (collections.Counter.update, collections.Counter.subtract)}
# Functions that apply to a number of each run as they do in Python.
_OF_NUMBERS = frozenset({int, float, round, *[f for f in _STAGED if getattr(f, "__module__", "") == "math"]})
_TABLE = {f: _wrap(f, staged, test) for f, (staged, test) in _STAGED.items()} | _OF_COUNTERS
