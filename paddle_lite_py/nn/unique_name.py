"""Names of layers and parameters: a counter for each prefix."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["generate", "guard", "switch"]

_counts: Counter[str] = Counter()
_checker: object = None  # which switch() was given
_prefix = ""


def generate(key: str) -> str:
    """Return the next name with a prefix: `linear_0`, `linear_1`, ..."""
    _counts[key] += 1
    return f"{_prefix}{key}_{_counts[key] - 1}"


def switch(
    new_generator: Counter[str] | None = None, new_para_name_checker: object = None
) -> tuple[Counter[str], object]:
    """Count from zero again, or with another counter; names of parameters are not checked.

    Returns:
        The counter and the checker that were in use, as the arguments that switch back.
    """
    global _counts, _checker
    before, _counts = _counts, Counter() if new_generator is None else new_generator
    checker, _checker = _checker, new_para_name_checker
    return before, checker


@contextmanager
def guard(new_generator: Counter[str] | str | bytes | None = None) -> Iterator[None]:
    """Count anew within the block, so that two models built in such blocks have the same names.

    Arguments:
        new_generator: a counter to go on with, or what names begin with in the block.
    """
    global _prefix
    given = new_generator.decode() if isinstance(new_generator, bytes) else new_generator
    before, prefix = switch(given if isinstance(given, Counter) else None), _prefix
    _prefix = given if isinstance(given, str) else ""
    try:
        yield
    finally:
        switch(*before)
        _prefix = prefix


@contextmanager
def undone_if_it_fails() -> Iterator[None]:
    """Count on from here after an error in the block, as if it had made no names."""
    counts, before = _counts, _counts.copy()
    try:
        yield
    except BaseException:
        counts.clear()
        counts.update(before)
        raise


def snake_case(name: str) -> str:
    """Return a class name as the prefix of a layer's name.

    Examples:
        >>> snake_case("BatchNorm2D"), snake_case("LSTMCell"), snake_case("MultiHeadAttention")
        ('batch_norm2d', 'lstm_cell', 'multi_head_attention')
    """
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)).lower()
