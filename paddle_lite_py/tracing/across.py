"""Gradients of programs that several processes run at once: backward is another such program, which all run too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from ..eager.tensor import Tensor, wrap


class AcrossBackward:
    """The tape's view of a PyLayer: the call of a program, whose backward is a program of the same processes.

    Arguments:
        name: of the static function.
        pulled: the program: of the arrays, then of the gradients of the results that gradients flow out of.
        arrays: what the call was given.
    """

    # The attributes of a PyLayer's context that the tape reads.
    _blocked: frozenset[int] = frozenset()
    _materialize = True

    def __init__(self, name: str, pulled: Callable[..., Any], arrays: Sequence[Any]) -> None:
        self.name = self.__name__ = name
        self._pulled, self._arrays = pulled, arrays

    def backward(self, _: Any, *grads: Tensor) -> list[Tensor]:
        """Return the gradients of what takes some."""
        return [wrap(g) for g in self._pulled(*self._arrays, *[g._payload for g in grads])]


def pullback(
    name: str, flowing: Callable[[list[Any]], tuple[list[Any], Any]], takes: tuple[bool, ...]
) -> Callable[..., tuple[Any, ...]]:
    """Return the gradient of a function, as a function of its arguments and of the gradients of its results.

    Arguments:
        name: of the function.
        flowing: the function; see residuals.Forward.
        takes: which of the arguments take a gradient.
    """

    def gradient(*values: Any) -> tuple[Any, ...]:
        given, cotangents = values[: len(takes)], list(values[len(takes) :])

        def results(taken: list[Any]) -> list[Any]:
            order = iter(taken)
            return flowing([next(order) if t else a for a, t in zip(given, takes, strict=True)])[0]

        _, pull = jax.vjp(results, [a for a, t in zip(given, takes, strict=True) if t])
        return tuple(pull(cotangents)[0])

    gradient.__name__ = gradient.__qualname__ = f"gradient of {name}"
    return gradient
