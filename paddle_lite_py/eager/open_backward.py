"""The backward of a function that was traced with open sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from ..core import symbolic
from ..core.jax_compat import sized
from ..core.jax_compat.sizes import SizeConditions, standing_for, stood_for
from ..registry.bound import ONES

Pattern = tuple[Any, ...]
Backward = Callable[[tuple[Any, ...], tuple[Any, ...]], list[Any]]


class OpenBackward:
    """A backward that takes saved arrays and cotangents of any sizes.

    It is traced once with open sizes, since what was saved is what a forward with open sizes saves: one that is traced
    for known sizes may save other arrays.

    Arguments:
        pulled: from saved arrays and cotangents with the symbols of the forward to gradients.
        saved: arrays like those. specs: of the results that gradients flow out of.

    Raises:
        KeyError, UnsizedError: it cannot be evaluated for other sizes.
    """

    def __init__(self, pulled: Backward, saved: Sequence[Any], specs: Sequence[Any]) -> None:
        self._pulled = pulled
        self._saved = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in saved]
        self._specs = [jax.ShapeDtypeStruct(s.shape, s.dtype) for s in specs]
        self._scope = next((n.scope for a in self._saved for n in a.shape if symbolic.is_symbolic(n)), None)
        self._known: dict[Pattern, list[tuple[SizeConditions, Any, Any]]] = {}
        # What is saved tells all sizes, or it raises here (the scale of a frozen normalization does not tell those of
        # its input): a cotangent may be absent, or ones without a shape, and whether sizes are asked for depends on
        # which are, and on what JAX's caches hold.
        shapes = [s.shape for s in self._saved]
        symbolic.substitute([s.shape for s in self._specs], symbolic.solve(shapes, shapes))
        jax.make_jaxpr(lambda data, cts: self(tuple(data), tuple(cts)))(self._saved, self._specs)

    def __call__(self, data: tuple[Any, ...], cotangents: tuple[Any, ...]) -> list[Any]:
        """Return gradients, while JAX traces."""
        dims = symbolic.solve([s.shape for s in self._saved], [a.shape for a in data])
        pattern = tuple([ct if ct is None or ct is ONES else True for ct in cotangents])
        jaxpr, tree = self._traced(pattern, dims)
        made = sized.evaluate(
            jaxpr, dims, [*data, *[ct for ct, p in zip(cotangents, pattern, strict=True) if p is True]]
        )
        return jax.tree.unflatten(tree, made)

    def _traced(self, pattern: Pattern, dims: symbolic.Dims) -> tuple[Any, Any]:
        known = self._known.setdefault(pattern, [])
        for conditions, jaxpr, tree in known:
            if conditions.hold(dims):
                return jaxpr, tree
        specs = [s for s, p in zip(self._specs, pattern, strict=False) if p is True]

        def backward(data: list[Any], given: list[Any]) -> list[Any]:
            it = iter(given)
            return self._pulled(tuple(data), tuple([next(it) if p is True else p for p in pattern]))

        with standing_for({name: stood_for(n) for name, n in dims.items()}, self._scope) as conditions:
            jaxpr, shapes = jax.make_jaxpr(backward, return_shape=True)(self._saved, specs)
        known.append((conditions, jaxpr, jax.tree.structure(shapes)))
        return jaxpr, known[-1][2]
