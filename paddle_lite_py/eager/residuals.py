"""Functions that return, besides their results, what their gradient needs: residuals, kept by a node of the tape.

Most ops do not: a backward that begins with the op itself is no slower, since XLA drops what it does not need. That is
not so for whole programs, for loops, whose gradient needs each iteration, nor where sums over many elements come first.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ..core import symbolic
from ..core.dtypes import numpy_name
from ..core.nan_checks import for_gradients, locating
from ..core.switches import nan_checks
from ..cpu_compiler import nested, prepare
from ..host.kept_steps import WrittenResults, plainly_described
from ..host.tier import program_jit, tiered
from ..registry.bound import BoundOp, pulled
from ..registry.op import Op
from ..registry.text import text_or_none
from .open_backward import OpenBackward

Takes = tuple[bool, ...]


class SavedResiduals(tuple):
    """The arrays that a tape node keeps, and (function, its arguments) of which a gradient of the gradient is
    taken. Both go when the graph is freed."""

    again: Any


jax.tree_util.register_pytree_node(SavedResiduals, lambda s: (tuple(s), None), lambda _, arrays: SavedResiduals(arrays))


class ResidualPullback(BoundOp):
    """The backward of a function, found while JAX traces it.

    Arguments:
        tree: of what jax.vjp() gave; None where an earlier process found it, and the forward is yet to be traced here.
        leaves: for each leaf of it which saved array it is, or (a constant,); None for that in the place of a tree.
        kept: which of the function's arguments, results and residuals, in this order, are the saved arrays.
        specs: of the results that gradients flow out of.
        of: the forward. traced: what it was traced for: which inputs take a gradient, and shapes and dtypes of all.
        saved: the arrays that it takes, where sizes of them are open; otherwise None.
    """

    __slots__ = (
        *("_of", "_open", "checked", "hosted", "is_open", "kept", "leaves", "n_saved", "operators", "reaches"),
        *("source", "specs", "traced_for", "tree"),
    )

    def __init__(
        self,
        of: Forward,
        traced: Any,
        tree: Any,
        leaves: list[Any],
        kept: list[int],
        specs: list[Any],
        saved: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(Op(_no_forward, of.name), _no_forward)
        self._of = of if tree is None else None
        self.hosted, self.plain, self.operators = of.hosted, of.plain, of.operators
        self.tree, self.leaves, self.kept, self.specs = tree, leaves, kept, specs
        self.n_saved = len(kept)
        self.source, self.traced_for, self.reaches = of.source, traced, of.reaches
        self.is_open = saved is not None
        self.checked: CheckedPullback | None = None
        self._open = None if saved is None else OpenBackward(self._pulled, saved, specs)

    def said(self) -> tuple[Any, ...] | None:
        """Return what its function follows from; None if the forward is no op."""
        op = None if self.source is None else self.source()
        leaves = [at if at.__class__ is int else None for at in self.leaves]
        return None if op is None else (op, self.traced_for, self.kept, leaves)

    def vjp(self, data: tuple[Any, ...], cotangents: tuple[Any, ...], _mask: tuple[bool, ...]) -> list[Any]:
        """Gradients of the forward's differentiable inputs."""
        if self._of is not None:
            found = self._of.traced_anew(self.traced_for)
            self.tree, self.leaves, self._of = found.tree, found.leaves, None
        return self._pulled(data, cotangents) if self._open is None else self._open(data, cotangents)

    def _pulled(self, data: tuple[Any, ...], cotangents: tuple[Any, ...]) -> list[Any]:
        leaves = [data[at] if at.__class__ is int else at[0] for at in self.leaves]
        grads = _gradients(jax.tree.unflatten(self.tree, leaves), cotangents, self.specs)
        return _arriving(grads, self.reaches, cotangents, self.traced_for[0])


class CheckedPullback(ResidualPullback):
    """The same where results are checked for NaN: from the inputs, so that the op can be found that has made one.

    Arguments:
        forward: the forward. pull: its backward from residuals.
    """

    __slots__ = ("_forward",)

    def __init__(self, forward: Forward, pull: ResidualPullback) -> None:
        super().__init__(forward, pull.traced_for, (), [], [*range(len(pull.traced_for[1]))], pull.specs)
        self._forward = forward

    def said(self) -> None:
        """Return None: no other process needs it."""

    def vjp(self, data: tuple[Any, ...], cotangents: tuple[Any, ...], _mask: tuple[bool, ...]) -> list[Any]:
        """Gradients of the forward's differentiable inputs."""
        return self._forward.traced(self.traced_for[0], data)[1](cotangents)


def _no_forward(*args: Any) -> Any:
    raise AssertionError("the backward of a compiled call has no forward of its own")


class _PullbackRef(weakref.ref[ResidualPullback]):
    """A weak reference whose text says which arrays the backward takes: it is the same in each process that traces the
    function for such arguments."""

    def __repr__(self) -> str:
        pull = self()
        return "gone" if pull is None else f"{pull.kept} {[at if at.__class__ is int else '*' for at in pull.leaves]}"


class Residuals:
    """Arrays on their way out of a compiled function, with the backward that takes them: jax.jit keeps that for the
    shapes and dtypes for which it was traced, and longer: so it holds the backward weakly."""

    def __init__(self, pull: _PullbackRef, arrays: Sequence[Any]) -> None:
        self.pull, self.arrays = pull, arrays


for_gradients.add(Residuals)
jax.tree_util.register_pytree_node(Residuals, lambda r: (r.arrays, r.pull), Residuals)


def _residuals(of: Forward, traced: Any, found_by_vjp: Any, specs: list[Any], given: Sequence[Any]) -> Residuals:
    """Split the result of jax.vjp() in two; arguments and results are left out, since XLA would copy them."""
    found, tree = jax.tree.flatten(found_by_vjp)
    saved = {id(a): a for a in found if isinstance(a, jax.core.Tracer)}
    place = {id(a): i for i, a in enumerate(given)}
    arrays = [a for key, a in saved.items() if key not in place]
    place |= {id(a): i for i, a in enumerate(arrays, len(given))}
    order = {key: i for i, key in enumerate(saved)}
    leaves = [order.get(id(a), (a,)) for a in found]
    is_open = any(symbolic.has_symbolic(shape) for shape, _, _ in traced[1])
    kept, open_ = [place[key] for key in saved], [*saved.values()] if is_open else None
    of.pulls.append(pull := ResidualPullback(of, traced, tree, leaves, kept, specs, open_))
    return Residuals(_PullbackRef(pull), arrays)


def _described(results: tuple[Any, Residuals]) -> Any:
    """Return the structure of results and what the backward is, as a file has it."""
    outs, residuals = results
    pull = residuals.pull()
    assert pull is not None
    takes, given = pull.traced_for
    leaves = [at if at.__class__ is int else None for at in pull.leaves]
    of = takes, [(shape, numpy_name(dtype), weak) for shape, dtype, weak in given]
    specs = [(s.shape, numpy_name(s.dtype)) for s in pull.specs]
    return plainly_described(outs), len(residuals.arrays), of, pull.kept, leaves, specs


class Again:
    """The results of a forward that gradients flow out of, as a function of its inputs, to differentiate twice.

    Arguments:
        flowing, source: see Forward.
    """

    def __init__(
        self, flowing: Callable[[list[Any]], tuple[list[Any], Any]], source: weakref.ref[BoundOp] | None
    ) -> None:
        self._flowing, self._source = flowing, source

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Return the results."""
        return tuple(self._flowing(list(arrays))[0])

    def source(self) -> BoundOp | None:
        """Return the op that the forward is; None if it is none, or gone."""
        return None if self._source is None else self._source()


class AgainAsOp(BoundOp):
    """That as an op."""

    __slots__ = ("_again",)

    def __init__(self, again: Again, name: str) -> None:
        super().__init__(Op(again, name), again)
        self._again = again

    def said(self) -> tuple[Any, ...] | None:
        """Return what its function follows from; None if the forward is no op."""
        op = self._again.source()
        return None if op is None else ("again", op)


class Forward:
    """A function compiled with its residuals, once for each choice of inputs that take a gradient.

    Arguments:
        name: of the function.
        flowing: from its inputs in order to the results that gradients flow out of, and all its results.
        windows, plain: see config.compiler_options.
        hosted: small arrays of it are computed by NumPy.
        deep: it is a whole program: see cpu_compiler.prepare.
        operators: of how many it is made.
        source: the op that it is, if it is one, or a program that is called as one.
        reaches: see BoundOp.
    """

    def __init__(
        self,
        name: str,
        flowing: Callable[[list[Any]], tuple[list[Any], Any]],
        windows: bool = False,
        hosted: bool = True,
        plain: bool = False,
        deep: bool = False,
        operators: int = 0,
        source: weakref.ref[BoundOp] | None = None,
        reaches: Callable[[frozenset[int]], Sequence[bool]] | None = None,
    ) -> None:
        self.source, self.reaches = source, reaches
        self.name, self._flowing, self._windows, self.hosted, self.plain = name, flowing, windows, hosted, plain
        self._deep, self.operators = deep, max(operators, 1)
        self._tiers: dict[Takes, Any] = {}
        self.pulls: list[ResidualPullback] = []  # as long as it may be called
        self.again = Again(flowing, source)

    def __call__(self, takes: Takes, arrays: Sequence[Any]) -> tuple[Any, ResidualPullback, SavedResiduals]:
        """Return all results, the backward, and what it needs."""
        run = self._tiers.get(takes)
        if run is None:
            n = len(arrays) if self.hosted else None
            run = self._tiers[takes] = tiered(
                self.function(takes),
                n,
                self._windows,
                self.plain,
                like=arrays,
                deep=self._deep,
                operators=self.operators,
                text=functools.partial(self._text, takes),
                written=WrittenResults(_described, self._restored),
            )
        outs, residuals = run(*arrays)
        return outs, *self.kept(arrays, outs, residuals)

    def kept(
        self, arrays: Sequence[Any], outs: Sequence[Any], residuals: Residuals
    ) -> tuple[ResidualPullback, SavedResiduals]:
        """Return the backward of a call, and what it needs of arguments, results and residuals."""
        pull, pool = residuals.pull(), (*arrays, *outs, *residuals.arrays)
        assert pull is not None  # self.pulls has it
        if nan_checks.on:
            pull.checked = pull = pull.checked or CheckedPullback(self, pull)
        saved = SavedResiduals([pool[i] for i in pull.kept])
        saved.again = self.again, arrays
        return pull, saved

    def _text(self, takes: Takes) -> str | None:
        op = None if self.source is None or not self.hosted else self.source()
        return None if op is None else text_or_none("forward", op, takes)

    def _restored(self, content: Any) -> tuple[Any, Residuals]:
        """Return something nested as the results that _described() has told."""
        outs, n, (takes, given), kept, leaves, specs = content
        traced = tuple(takes), [(tuple(shape), np.dtype(dtype), weak) for shape, dtype, weak in given]
        of = [jax.ShapeDtypeStruct(shape, np.dtype(dtype)) for shape, dtype in specs]
        self.pulls.append(pull := ResidualPullback(self, traced, None, leaves, kept, of))
        return nested(outs), Residuals(_PullbackRef(pull), [np.float32(0)] * n)

    def traced_anew(self, traced_for: Any) -> ResidualPullback:
        """Return the backward for what an earlier one was traced for."""
        takes, given = traced_for
        specs = [jax.ShapeDtypeStruct(shape, dtype, weak_type=weak) for shape, dtype, weak in given]
        residuals: Residuals = jax.eval_shape(self.function(takes), *specs)[1]
        found = residuals.pull()
        assert found is not None
        return found

    def compiled(self, takes: Takes) -> Any:
        """Return the function for a choice of inputs, under jax.jit."""
        fn = self.function(takes)
        return program_jit(prepare(fn) if self._deep else fn, self.operators, self._windows, self.plain)

    def function(self, takes: Takes) -> Callable[..., Any]:
        """Return all results and residuals, as a function of the inputs that is not compiled yet."""
        call = functools.update_wrapper(functools.partial(self._call, takes), self._call)
        call.__name__ = call.__qualname__ = self.name
        return call

    def traced(self, takes: Takes, arrays: Sequence[Any]) -> tuple[Any, Callable[..., list[Any]]]:
        """All results, and from cotangents of those that gradients flow out of to gradients; while JAX traces."""
        primal, pull, outs = self._vjp(takes, arrays)
        return outs, lambda cts: _arriving(_gradients(pull, cts, primal), self.reaches, cts, takes)

    def _call(self, takes: Takes, *arrays: Any) -> tuple[Any, Residuals]:
        primal, pull, outs = self._vjp(takes, arrays)
        specs = [jax.ShapeDtypeStruct(p.shape, p.dtype) for p in primal]
        traced = takes, [(a.shape, a.dtype, getattr(a, "weak_type", False)) for a in arrays]
        return outs, _residuals(self, traced, pull, specs, (*arrays, *outs))

    def _vjp(self, takes: Takes, arrays: Sequence[Any]) -> tuple[Any, Any, Any]:
        diff = [a for a, t in zip(arrays, takes, strict=True) if t]
        if locating.on:
            self._flowing([*arrays])
        return jax.vjp(lambda d: self._flowing(_merged(takes, d, arrays)), diff, has_aux=True)


def _gradients(pull: Any, cotangents: tuple[Any, ...], outs: Sequence[Any]) -> list[Any]:
    return pulled(lambda cts: pull([*cts])[0], cotangents, outs)


def _arriving(
    found: list[Any], reaches: Callable[..., Any] | None, cotangents: tuple[Any, ...], takes: Takes
) -> list[Any]:
    """Gradients, with None in the place of zeros where no result with a gradient depends on the input."""
    if reaches is None:
        return found
    arrives = reaches(frozenset([i for i, ct in enumerate(cotangents) if ct is not None]))
    taken = [a for a, t in zip(arrives, takes, strict=False) if t]
    return [g if a else None for g, a in zip(found, taken, strict=True)]


def _merged(takes: Takes, diff: list[Any], arrays: Sequence[Any]) -> list[Any]:
    d = iter(diff)
    return [next(d) if t else a for a, t in zip(arrays, takes, strict=True)]
