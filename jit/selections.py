"""filter() and the functions of itertools that keep or group elements: as tensors decide in the call under way."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from paddle_lite_py.eager.tensor import Tensor

from .errors import StagingError
from .iterables import elements
from .sequences import truth, value_in_this_call

Predicate = Callable[[Any], bool]


def by_predicate(original: Callable[..., Any]) -> Callable[..., Any]:
    """filter(), takewhile() and their like: a predicate, which may give tensors, and an iterable."""

    def selected(predicate: Any, items: Iterable[Any]) -> Any:
        def test(x: Any) -> bool:
            return _is_true(x if predicate is None else predicate(x), original.__name__)

        return original(test, elements(items))

    return selected


def compress(data: Iterable[Any], selectors: Iterable[Any]) -> Iterator[Any]:
    """itertools.compress()."""
    return builtins.iter(
        [x for x, s in zip(elements(data), elements(selectors), strict=False) if _is_true(s, "compress")]
    )


def groupby(iterable: Iterable[Any], key: Callable[[Any], Any] | None = None) -> Iterator[tuple[Any, Iterator[Any]]]:
    """itertools.groupby(), whose keys may be tensors or numbers made of them."""
    keys: list[Any] = []  # one for each group

    def number(x: Any) -> int:
        found = x if key is None else key(x)
        if not keys or not (found is keys[-1] or _is_true(found == keys[-1], "groupby")):
            keys.append(found)
        return len(keys)

    for at, group in itertools.groupby(elements(iterable), number):
        yield keys[at - 1], group


def _is_true(answer: Any, what: str) -> bool:
    if not isinstance(answer, Tensor):
        return bool(answer)
    error = StagingError(
        f"what {what}() keeps depends on a tensor, so that the number of elements would be known only when the "
        "program runs: choose values instead of leaving them out, e.g. `[v if v > 0 else 0.0 for v in xs]`"
    )
    return bool(value_in_this_call(truth(answer, f"{what}()"), error))
