"""Gradients of programs that several processes run at once: backward is another such program, which all run too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from ..eager.tensor import Tensor, wrap
from .body import reached


class AcrossBackward:
    """The tape's view of a PyLayer: the call of a program, whose backward is a program of the same processes.

    Arguments:
        name: of the static function.
        pulled: gives, for which of the results have a gradient, the function that computes those of the arguments, and
            which of what takes a gradient gets one.
        arrays: what the call was given.
    """

    # The attributes of a PyLayer's context that the tape reads.
    _blocked: frozenset[int] = frozenset()
    _materialize = False

    def __init__(
        self,
        name: str,
        pulled: Callable[[tuple[bool, ...]], tuple[Callable[..., Any], list[bool]]],
        arrays: Sequence[Any],
    ) -> None:
        self.name = self.__name__ = name
        self._pulled, self._arrays = pulled, arrays

    def backward(self, _: Any, *grads: Tensor | None) -> list[Tensor | None]:
        """Return the gradients of what takes some; None for what depends on none of the given ones."""
        pulled, gets = self._pulled(tuple([g is not None for g in grads]))
        found = iter(pulled(*self._arrays, *[g._payload for g in grads if g is not None]))
        return [wrap(next(found)) if g else None for g in gets]


class Pullbacks:
    """The gradients of one program, each a program of all processes.

    Arguments:
        name: of the static function.
        flowing: the function of the program; see residuals.Forward.
        traced: the program.
        place: where its inputs stand among the arguments of the function.
        compile: for all processes that run it at once.
    """

    def __init__(self, name: str, flowing: Any, traced: Any, place: Sequence[int], compile: Any) -> None:
        self.name, self._flowing, self._compile = name, flowing, compile
        self._block, self._flows, self._place = traced.program.block, traced.flows, place
        self._kept: dict[Any, Callable[..., Any]] = {}

    def __call__(self, takes: tuple[bool, ...], has: tuple[bool, ...]) -> tuple[Callable[..., Any], list[bool]]:
        """Return the gradient, as a function of the arguments and of the gradients of results.

        Arguments:
            takes: which of the arguments take a gradient.
            has: which of the results that gradients flow out of have one.

        Returns:
            The function, and of what takes a gradient, whether it gets one.
        """
        found = reached(self._block, [f for f, h in zip(self._flows, has, strict=True) if h])
        gets = tuple([t and self._block.inputs[i] in found for t, i in zip(takes, self._place, strict=True)])
        if (gets, has) not in self._kept:
            self._kept[gets, has] = self._compile(self._pullback(gets, has))
        return self._kept[gets, has], [g for g, t in zip(gets, takes, strict=True) if t]

    def _pullback(self, gets: tuple[bool, ...], has: tuple[bool, ...]) -> Callable[..., tuple[Any, ...]]:
        def gradient(*values: Any) -> tuple[Any, ...]:
            given, cotangents = values[: len(gets)], list(values[len(gets) :])

            def results(taken: list[Any]) -> list[Any]:
                order = iter(taken)
                made = self._flowing([next(order) if g else a for a, g in zip(given, gets, strict=True)])[0]
                return [r for r, h in zip(made, has, strict=True) if h]

            _, pull = jax.vjp(results, [a for a, g in zip(given, gets, strict=True) if g])
            return tuple(pull(cotangents)[0])

        gradient.__name__ = gradient.__qualname__ = f"gradient of {self.name}"
        return gradient
