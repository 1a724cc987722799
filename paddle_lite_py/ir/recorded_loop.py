"""A loop of unknown length with a gradient: the forward loop records what backward, which runs from the end, needs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core.dtypes import is_inexact
from ..core.jax_compat.jaxprs import Literal, as_function, closed
from ..core.lazy_vjp import defvjp, is_differentiated_twice

Arrays = tuple[Any, ...]
Step = Callable[[Arrays, Arrays], Arrays]  # from carries, and what the loop only reads, to the next carries

# How much an iteration may record besides its carries: this multiple of their bytes, or this many bytes.
MOST_TIMES, MOST_BYTES = 4, 1 << 14
# What backward computes from what is recorded, rather than reading it.
_CHEAP = frozenset(
    "abs add broadcast_in_dim convert_element_type eq expand_dims ge gt integer_pow le lt max min mul ne neg not "
    "reshape select_n sign square squeeze sub".split()
)


def record_loop(going: Callable[..., Any], step: Step, again: Step, size: int, keeps: bool) -> Callable[..., Any]:
    """Return a function from carries and what is only read to the last carries and the number of iterations.

    Arguments:
        going: whether there is another iteration. again: an iteration that may be run twice.
        size: of how many iterations there is room. keeps: what the gradient needs of an iteration may be recorded; else
            its carries are, and backward computes it once more.
    """
    zero = np.zeros((), np.int32)  # not a traced value: the loop may be inside another one
    if is_differentiated_twice():
        return functools.partial(_scan, going, again, size)
    iterations: list[_KeptResiduals | _ComputedAgain] = []  # that of the forward loop, for backward

    @jax.custom_vjp
    def loop(carry: Arrays, fixed: Arrays) -> Any:
        return jax.lax.while_loop(lambda s: going(s[0], fixed), lambda s: (step(s[0], fixed), s[1] + 1), (carry, zero))

    def forward(carry: Arrays, fixed: Arrays) -> Any:
        known = all(isinstance(n, int) for a in (*carry, *fixed) for n in a.shape)
        kept = _KeptResiduals(step, carry, fixed) if keeps and known else None
        one = kept if kept is not None and kept.is_small() else _ComputedAgain(step, again, carry, fixed)
        iterations[:] = [one]
        buffers = tuple([jnp.zeros((size, *a.shape), a.dtype) for a in one.specs])

        put = jax.lax.dynamic_update_index_in_dim  # the last place again, where there is no more room

        def record(s: Any) -> Any:
            c, i, held = s
            c, found = one.forward(c, fixed)
            return c, i + 1, tuple([put(b, x, i, 0) for b, x in zip(held, found, strict=True)])

        out, count, held = jax.lax.while_loop(lambda s: going(s[0], fixed), record, (carry, zero, buffers))
        return (out, count), (held, jnp.minimum(count, size), fixed)

    def backward(saved: Any, cotangents: Any) -> Any:
        held, count, fixed = saved
        (one,) = iterations

        def back(s: Any) -> Any:
            i, ct, total = s
            found = [jax.lax.dynamic_index_in_dim(b, i - 1, keepdims=False) for b in held]
            ct, more = one.backward(found, fixed, ct)
            return i - 1, ct, [t + m for t, m in zip(total, more, strict=True)]

        start = (count, _pick(cotangents[0], one.carries), [jnp.zeros_like(f) for f in _pick(fixed, one.fixed)])
        _, ct, total = jax.lax.while_loop(lambda s: s[0] > 0, back, start)
        nothing = (None,) * len(one.carries), (None,) * len(one.fixed)
        return _merge(ct, nothing[0], one.carries), _merge(total, nothing[1], one.fixed)

    defvjp(loop, 2, forward, backward)
    return loop


def _scan(going: Callable[..., Any], step: Step, size: int, carry: Arrays, fixed: Arrays) -> Any:
    """Return the loop with `size` turns, of which the last ones do nothing: that has gradients of every order."""

    def turn(state: Any, _: None) -> Any:
        carry, count = state
        more = going(carry, fixed)
        return jax.lax.cond(more, lambda c: (step(c, fixed), count + 1), lambda c: (c, count), carry), None

    carry, count = jax.lax.scan(turn, (carry, np.zeros((), np.int32)), None, length=size)[0]
    return carry, count + going(carry, fixed)  # more than `size`, where that was too small


class _Iteration:
    """One turn of the loop, and its gradient.

    Attributes:
        specs: of the arrays that are recorded. carries, fixed: which of them gradients flow to.
    """

    specs: Sequence[Any]

    def __init__(self, carry: Arrays, fixed: Arrays) -> None:
        self.carries, self.fixed = [is_inexact(c.dtype) for c in carry], [is_inexact(f.dtype) for f in fixed]

    def vjp(self, step: Step, carry: Arrays, fixed: Arrays) -> tuple[Any, Arrays]:
        """From cotangents to gradients, and the next carries."""

        def smooth(c: list[Any], f: list[Any]) -> tuple[list[Any], Arrays]:
            out = step(_merge(c, carry, self.carries), _merge(f, fixed, self.fixed))
            return _pick(out, self.carries), out

        _, pull, out = jax.vjp(smooth, _pick(carry, self.carries), _pick(fixed, self.fixed), has_aux=True)
        return pull, out


class _ComputedAgain(_Iteration):
    """An iteration that records its carries, and is computed again."""

    def __init__(self, step: Step, again: Step, carry: Arrays, fixed: Arrays) -> None:
        super().__init__(carry, fixed)
        self._step, self._again, self.specs = step, again, carry

    def forward(self, carry: Arrays, fixed: Arrays) -> tuple[Arrays, Arrays]:
        """Return the next carries, and what is recorded."""
        return self._step(carry, fixed), carry

    def backward(self, found: Sequence[Any], fixed: Arrays, cotangents: list[Any]) -> Any:
        """Gradients of carries, and of what is only read."""
        return self.vjp(self._again, tuple(found), fixed)[0](cotangents)


class _Constant(NamedTuple):
    value: Any


class _KeptResiduals(_Iteration):
    """An iteration that records what its gradient needs: of what it is given, only what changes."""

    def __init__(self, step: Step, carry: Arrays, fixed: Arrays) -> None:
        super().__init__(carry, fixed)
        self._n_carry = n = len(carry)
        constants: dict[int, Any] = {}

        def both(carry: Arrays, fixed: Arrays) -> tuple[Arrays, list[Any]]:
            pull, out = self.vjp(step, carry, fixed)
            found, self._tree = jax.tree.flatten(pull)
            constants.update({i: a for i, a in enumerate(found) if not isinstance(a, jax.core.Tracer)})
            return out, [a for a in found if isinstance(a, jax.core.Tracer)]

        made = jax.make_jaxpr(both)(carry, fixed)
        given, needed = made.jaxpr.invars, made.jaxpr.outvars[n:]
        only_read = {v: i for i, v in enumerate(given[n:])}
        variables = [v for v in needed if not isinstance(v, Literal)]
        changing = list(dict.fromkeys(v for v in variables if v not in only_read))
        self._derive, recorded = _split(made, changing, given[n:])
        self.specs = [v.aval for v in recorded]
        # The source of each array that the gradient needs: a constant, a value only read, or ~ a recorded one.
        self._from: list[Any] = [
            _Constant(v.val) if isinstance(v, Literal) else (only_read[v] if v in only_read else ~changing.index(v))
            for v in needed
        ]
        for i, value in sorted(constants.items()):
            self._from.insert(i, _Constant(value))
        self._more = [v for v in recorded if v not in given[:n]]
        outs = [*made.jaxpr.outvars[:n], *recorded]
        self._run = as_function(closed(made.jaxpr.replace(outvars=outs), made.consts))
        self._given = given[:n]

    def is_small(self) -> bool:
        """Whether the values recorded besides carries take little memory."""
        more = sum(v.aval.size * v.aval.dtype.itemsize for v in self._more)
        carried = sum(v.aval.size * v.aval.dtype.itemsize for v in self._given)
        return more <= max(MOST_TIMES * carried, MOST_BYTES)

    def forward(self, carry: Arrays, fixed: Arrays) -> tuple[Arrays, Arrays]:
        """Return the next carries, and what is recorded."""
        out = tuple(self._run(*carry, *fixed))
        return out[: self._n_carry], out[self._n_carry :]

    def backward(self, found: Sequence[Any], fixed: Arrays, cotangents: list[Any]) -> Any:
        """Gradients of carries, and of what is only read."""
        found = self._derive(*found, *fixed)
        leaves = [at.value if isinstance(at, _Constant) else fixed[at] if at >= 0 else found[~at] for at in self._from]
        return jax.tree.unflatten(self._tree, leaves)(cotangents)


def _split(made: Any, changing: list[Any], fixed: list[Any]) -> tuple[Callable[..., list[Any]], list[Any]]:
    """Return which values of an iteration are to be recorded, and the function that gives all from these and what is
    only read: one step from them costs less than to write and read an array.
    """
    recorded, derived = list(changing), list[Any]()
    for eqn in made.jaxpr.eqns[::-1]:
        if eqn.primitive.name in _CHEAP and eqn.outvars[0] in recorded:
            known = {*recorded, *fixed, *made.jaxpr.constvars}
            if known.issuperset(v for v in eqn.invars if not isinstance(v, Literal)):
                recorded.remove(eqn.outvars[0])
                derived.insert(0, eqn)
    rest = made.jaxpr.replace(invars=[*recorded, *fixed], eqns=derived, outvars=changing)
    return as_function(closed(rest, made.consts)), recorded


def _pick(xs: Any, flags: list[bool]) -> list[Any]:
    return [x for x, f in zip(xs, flags, strict=True) if f]


def _merge(picked: list[Any], others: Any, flags: list[bool]) -> Arrays:
    it = iter(picked)
    return tuple([next(it) if f else o for o, f in zip(others, flags, strict=True)])
