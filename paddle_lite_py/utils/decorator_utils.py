"""Decorators that give arguments a second name, as published packages take them from PaddlePaddle."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..dispatch.codegen import spelt


def _with_aliases(aliases: dict[str, str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **spelt(kwargs, aliases))

        return call

    return decorate


def param_one_alias(alias_list: list[str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give an argument a second name.

    Arguments:
        alias_list: the name of the argument, and its second name.

    Returns:
        A decorator.

    Examples:
        >>> @param_one_alias(["axis", "dim"])
        ... def ordered(x, axis=-1):
        ...     return axis
        >>> ordered(None, dim=0)
        0
    """
    name, second = alias_list
    return _with_aliases({second: name})


def param_two_alias(
    alias_list1: list[str], alias_list2: list[str]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give two arguments a second name each; see param_one_alias().

    Arguments:
        alias_list1: the name of the first argument, and its second name.
        alias_list2: the same for the other.

    Returns:
        A decorator.

    Examples:
        >>> @param_two_alias(["x", "input"], ["axis", "dim"])
        ... def ordered(x, axis=-1):
        ...     return x, axis
        >>> ordered(input=2, dim=0)
        (2, 0)
    """
    return _with_aliases({second: name for name, second in (alias_list1, alias_list2)})
