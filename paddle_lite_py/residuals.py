"""Functions that give, beside their results, what their gradient needs: residuals, kept by a node of the tape.

Most ops do not: a backward that begins with the op itself is no slower, since XLA drops what it does not need. That
is not so for whole programs and for loops, whose gradient needs each iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from .bound import BoundOp, cotangent, turned, xla_jit
from .op import Op

Takes = tuple[bool, ...]


class Saved(tuple):
    """What a node on the tape keeps: residuals, and (function, its arguments) of which a gradient of the gradient is
    taken. Both go when the graph is freed."""

    again: Any


jax.tree_util.register_pytree_node(Saved, lambda s: (tuple(s), None), lambda _, arrays: Saved(arrays))


class Pull(BoundOp):
    """The backward of a function: its arrays are the residuals."""

    __slots__ = ("n_saved", "specs", "tree")

    def __init__(self, name: str, tree: Any, specs: list[Any]) -> None:
        super().__init__(Op(_no_forward, name), _no_forward)
        self.tree = tree
        self.n_saved = tree.num_leaves
        self.specs = specs

    def vjp(self, data: tuple[Any, ...], cotangents: tuple[Any, ...], mask: tuple[bool, ...]) -> list[Any]:
        """Gradients of the forward's differentiable inputs."""
        padded = [*cotangents, *[None] * (len(self.specs) - len(cotangents))]
        full = [cotangent(ct, spec) for ct, spec in zip(padded, self.specs, strict=True)]
        return [turned(g) for g in jax.tree.unflatten(self.tree, data)(full)[0]]


def _no_forward(*args: Any) -> Any:
    raise AssertionError("the backward of a compiled call has no forward of its own")


class Forward:
    """A function compiled with its residuals, once for each choice of inputs that take a gradient.

    Arguments:
        name: of the function.
        flowing: from its inputs in order to the results that gradients flow out of, and all its results.
    """

    def __init__(self, name: str, flowing: Callable[[list[Any]], tuple[list[Any], Any]]) -> None:
        self.name, self._flowing = name, flowing

        def call(takes: Takes, diff: list[Any], other: list[Any], shapes: Any) -> Any:
            primal, pull, outs = jax.vjp(lambda d: flowing(_merged(takes, d, other)), diff, has_aux=True)
            residuals, tree = jax.tree.flatten(pull)
            self._pulls[takes, shapes] = Pull(name, tree, [jax.ShapeDtypeStruct(p.shape, p.dtype) for p in primal])
            return outs, residuals

        call.__name__ = call.__qualname__ = name
        self.compiled = xla_jit(call, static_argnums=(0, 3))
        self._pulls: dict[Any, Pull] = {}
        self._forms: dict[Takes, Callable[..., Any]] = {}

    def __call__(self, takes: Takes, arrays: Sequence[Any], shapes: Any) -> tuple[Any, Pull, Saved]:
        """All results, the backward, and what it needs; `shapes` tells calls apart that need another backward."""
        diff, other = split(takes, arrays)
        outs, residuals = self.compiled(takes, diff, other, shapes)
        saved = Saved(residuals)
        saved.again = self._again(takes, len(diff)), (*diff, *other)
        return outs, self._pulls[takes, shapes], saved

    def _again(self, takes: Takes, n: int) -> Callable[..., Any]:
        """The results as an op of the inputs that take a gradient and then the others, to differentiate twice."""
        found = self._forms.get(takes)
        if found is None:
            flowing = self._flowing
            found = self._forms[takes] = lambda *a: tuple(flowing(_merged(takes, list(a[:n]), list(a[n:])))[0])
        return found


def split(takes: Takes, arrays: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The arrays that take a gradient, and the others."""
    pairs = list(zip(arrays, takes, strict=True))
    return [a for a, t in pairs if t], [a for a, t in pairs if not t]


def _merged(takes: Takes, diff: list[Any], other: list[Any]) -> list[Any]:
    d, o = iter(diff), iter(other)
    return [next(d) if t else next(o) for t in takes]
