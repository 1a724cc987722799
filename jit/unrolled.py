"""Control flow that is unrolled: Python runs, and takes the value that decides for granted.

A loop is first tried as a staged one; if its first iteration makes what the others have (a variable starts as None),
one iteration as Python is enough. The program serves the calls whose deciding values are the same (see assumptions).
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from dy2static import UndefinedError
from paddle_lite_py.core.errors import DataDependentError, TracedValueError
from paddle_lite_py.core.symbolic import is_symbolic
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.tracing.builder import Builder
from paddle_lite_py.tracing.size_conditions import SizeCondition
from paddle_lite_py.tracing.sizes import has_rows_of_sizes

from .errors import StagingError, one_of_several
from .iterables import Rest, StagedEnumerate, StagedMap, StagedRange, StagedReversed, StagedZip, length_of

_warned: dict[Any, Any] = {}
UNSTAGEABLE = (StagingError, DataDependentError)
# The first iteration may be recognized by its number, and give the variables that the others read.
UNSTAGEABLE_LOOP = (*UNSTAGEABLE, UndefinedError)
# A loop is tried again as a staged one after so many iterations as Python, and has at most so many.
TRIES = 2
MAX_ITERATIONS = 1000


class DataDependentWarning(UserWarning):
    """Warning: a statement depends on the value of a tensor, so that one program is compiled for each outcome.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.jit.DataDependentWarning, Warning)
        True
    """


def if_(builder: Builder, pred: Tensor, staged: Callable[[], None], body: Any, orelse: Any, where: Any) -> None:
    """A staged `if`, or the branch that this call takes."""
    error = _try_staged(builder, staged, UNSTAGEABLE, where)
    if error is not None:
        (body if value_in_this_call(builder, pred, error) else orelse)()
        _warn(builder, error, where)


def _try_staged(builder: Builder, staged: Callable[[], None], unstageable: Any, where: Any) -> Exception | None:
    """Run a statement as a staged one; why it could not be.

    What a branch or iteration raises, eager code raises where it gets there: this call may not.
    """
    stale, catching = dict(builder.aliases.stale), len(builder.catching)
    try:
        if where in builder.decided:
            raise one_of_several(where)
        staged()
        return None
    except unstageable as e:
        error: Exception = e
    except (TracedValueError, RecursionError):
        raise
    except Exception as e:
        if not builder.aliases.decides:
            raise
        error = e
    builder.aliases.stale = stale
    del builder.catching[catching:]
    return error.with_traceback(None)  # its frames would keep alive what the body made


def while_(
    builder: Builder, going: Any, test: Callable[[], Any], staged: Callable[[], None], body: Any, where: Any
) -> None:
    """A staged `while`, or the iterations that this call makes; `going` is its first test."""
    for i in range(MAX_ITERATIONS):
        if i < TRIES and isinstance(going, Tensor):
            tried = _try_staged(builder, staged, UNSTAGEABLE_LOOP, where)
            if tried is None:
                return None
            error = tried
        if not value_in_this_call(builder, going, error, where if i == TRIES else None):
            return None
        body()
        going = test()
    raise error


def for_(
    builder: Builder, iterable: Any, going: Callable[[], Any], staged: Callable[[Any], None], body: Any, where: Any
) -> None:
    """A staged `for`, or the iterations that this call makes; `going` tells whether a `break` has ended it."""
    length = length_of(iterable)
    for i in range(MAX_ITERATIONS):
        if i < TRIES:
            items = Rest(iterable, i) if i else iterable
            tried = _try_staged(builder, functools.partial(staged, items), UNSTAGEABLE_LOOP, where)
            if tried is None:
                return None
            error = tried
        elif i == TRIES:
            length = value_in_this_call(builder, length, error, where)
        if i and is_symbolic(length):  # it has one item at least
            raise error
        more = value_in_this_call(builder, length > i, error) and value_in_this_call(builder, going(), error)
        if not more:
            return None
        body(_item(iterable, i, functools.partial(_number, builder, error)))
    raise error


def takes_sizes(iterable: Any) -> bool:
    """Whether a loop goes over rows of known sizes: its iterations make other shapes each, and none is staged."""
    if isinstance(iterable, StagedEnumerate | StagedReversed):
        return takes_sizes(iterable.iterable)
    if isinstance(iterable, StagedZip):
        return isinstance(length_of(iterable), int) and any(map(takes_sizes, iterable.iterables))
    return isinstance(iterable, Tensor) and has_rows_of_sizes(iterable)


def value_in_this_call(builder: Builder, value: Any, error: Exception, where: Any = None) -> Any:
    """Return the value of this call; a place is one to warn of."""
    if not isinstance(value, Tensor):
        return value
    if isinstance(value, SizeCondition):
        return bool(value)
    found = builder.assume(value, error)
    if is_symbolic(found):  # a size known only at run time, which Python cannot count with
        raise error
    if where is not None:
        _warn(builder, error, where)
    return found


def items(builder: Builder, iterable: Any, error: Exception, where: Any) -> list[Any]:
    """Return the items that there are in this call."""
    length = length_of(iterable)
    if is_symbolic(length):
        raise error
    length = value_in_this_call(builder, length, error, where)
    if length > MAX_ITERATIONS:
        raise error
    known = functools.partial(_number, builder, error)
    return [_item(iterable, i, known) for i in range(length)]


def _number(builder: Builder, error: Exception, value: Any) -> int:
    return int(value_in_this_call(builder, value, error))


def _item(iterable: Any, i: int, known: Callable[[Any], int]) -> Any:
    """Return the i-th item as Python gives it in eager code."""
    if isinstance(iterable, StagedRange | range):
        return known(iterable.start) + i * known(iterable.step)
    if isinstance(iterable, StagedEnumerate):
        return i + known(iterable.start), _item(iterable.iterable, i, known)
    if isinstance(iterable, StagedZip):
        return tuple([_item(x, i, known) for x in iterable.iterables])
    if isinstance(iterable, StagedReversed):
        return _item(iterable.iterable, known(iterable.length()) - 1 - i, known)
    if isinstance(iterable, StagedMap):
        return iterable.f(*_item(iterable.zip, i, known))
    return iterable[i]


def _warn(builder: Builder, error: Exception, where: Any) -> None:
    if where not in builder.told:
        builder.told.add(where)
        warnings.warn_explicit(
            f"{where} has no single static program: {error}\nIt runs all the same: a program is compiled for each "
            "outcome of what decides there, and each call looks whether it has the right one",
            DataDependentWarning,
            where.filename,
            where.lineno,
            registry=_warned,
        )
