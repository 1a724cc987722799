"""The update of all parameters as one function of arrays: clip, decay, then the optimizer's rule for each parameter."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core.memo import Memo
from ..host.tier import tiered
from ..nn import clip

State = dict[str, Any]
# (parameter, gradient, state, learning rate, **hyperparameters) -> (parameter, state): pure, of arrays.
Rule = Callable[..., tuple[Any, State]]
# (scalar accumulators, learning rates, **hyperparameters) -> (what the rule needs of them, their next values): vectors
# with an entry a parameter, because hundreds of operations on single numbers cost more than the update itself.
Numbers = Callable[..., tuple[State, State]]


class Accumulator(NamedTuple):
    """One kind of accumulator: an array like the parameter, or one number for it."""

    name: str
    fill: Any = 0.0  # a number, or the name of the hyperparameter that it starts as
    scalar: bool = False
    lead: int | None = None  # a first dimension before those of the parameter

    def __repr__(self) -> str:
        return self.name


class Setting(NamedTuple):
    """The fixed settings of one parameter in an update."""

    row: int  # its index in the scalar accumulators
    rate: float  # factor on the learning rate
    decay: str  # "l1", "l2" or "": the regularization added to its gradient
    coeff: float
    clips: bool
    hyper: tuple[tuple[str, Any], ...]
    master: bool  # its float32 copy is trained


class Recipe(NamedTuple):
    """All that the compiled update depends on, apart from shapes: its key."""

    name: str
    rule: Rule
    slots: tuple[Accumulator, ...]
    settings: tuple[Setting, ...]
    clip: tuple[Any, ...] | None
    skips: bool  # a flag among its inputs may keep everything as it was
    numbers: Numbers | None = None
    alike: bool = False  # all parameters have the same numbers: kernels for them are then the same ones

    def split(self, mutable: list[Any]) -> tuple[list[Any], list[Any], dict[str, list[Any]], dict[str, Any]]:
        """Return the arrays that an update changes: parameters, masters, array accumulators and scalar ones by slot."""
        it = iter(mutable)
        params = [next(it) for _ in self.settings]
        masters = [next(it) if s.master else None for s in self.settings]
        arrays = {slot.name: [next(it) for _ in self.settings] for slot in self.slots if not slot.scalar}
        return params, masters, arrays, {slot.name: next(it) for slot in self.slots if slot.scalar}


def update(recipe: Recipe, lr: Any, grads: list[Any], mutable: list[Any], skip: Any = None) -> list[Any]:
    """New values of all that an update changes, in the same order; the old ones where `skip` (a bool) is true."""
    new = _update(recipe, lr, grads, mutable)
    return new if skip is None else [jnp.where(skip.reshape(()), a, b) for a, b in zip(mutable, new, strict=True)]


def _update(recipe: Recipe, lr: Any, grads: list[Any], mutable: list[Any]) -> list[Any]:
    params, masters, arrays, scalars = recipe.split(mutable)
    wide = [_wide(p) if m is None else m for p, m in zip(params, masters, strict=True)]
    grads = [g.astype(w.dtype) for g, w in zip(_clip(recipe, grads), wide, strict=True)]
    rows = [s.row for s in recipe.settings]
    own = slice(1) if recipe.alike else slice(None)  # of whom the numbers are
    numbers = {k: _select_rows(v, rows[own]) for k, v in scalars.items()}
    derived, following = _derive_numbers(recipe, recipe.settings[own], numbers, lr)
    single = {k: [v[0]] * len(rows) if recipe.alike else v for k, v in (numbers | derived).items()}
    states = [{k: v[i] for k, v in (arrays | single).items()} for i in range(len(rows))]
    settings = [s._replace(row=0) for s in recipe.settings]
    one = {s: _traced_once.get((recipe, s)) or _traced_once.put((recipe, s), _jitted(recipe, s)) for s in {*settings}}
    found = [one[s](*each, lr) for s, *each in zip(settings, wide, grads, states, strict=True)]
    out = [new.astype(p.dtype) for (new, _), p in zip(found, params, strict=True)]
    out += [new for (new, _), m in zip(found, masters, strict=True) if m is not None]
    out += [found[i][1][k].astype(a.dtype) for k, v in arrays.items() for i, a in enumerate(v)]
    for k, v in scalars.items():
        new = following[k] if k in following else jnp.stack([state[k] for _, state in found[own]])
        out.append(_put(v, rows, new.astype(v.dtype)))
    return out


# Key: all settings of the update, and those of one parameter; jax.jit tells shapes apart, and traces each once.
_traced_once: Memo[tuple[Recipe, Setting], Callable[..., Any]] = Memo("updates of one parameter", 128)


def _jitted(recipe: Recipe, setting: Setting) -> Callable[..., Any]:
    return jax.jit(functools.partial(_one, recipe, setting))


def _derive_numbers(recipe: Recipe, settings: tuple[Setting, ...], numbers: State, lr: Any) -> tuple[State, State]:
    if recipe.numbers is None:
        return {}, {}
    rates = np.array([s.rate for s in settings])
    kind = next(iter(numbers.values())).dtype
    return recipe.numbers(numbers, lr.astype(kind) * rates.astype(kind), **dict(settings[0].hyper))


def _select_rows(vector: Any, rows: list[int]) -> Any:
    return vector if rows == list(range(len(vector))) else vector[np.array(rows)]


def _put(vector: Any, rows: list[int], new: Any) -> Any:
    if len(rows) == len(vector):
        return jnp.broadcast_to(new, vector.shape)
    return vector.at[np.array(rows)].set(new, unique_indices=True)


def _wide(x: Any) -> Any:
    """Low-precision parameters are updated in float32."""
    return x.astype(jnp.float32) if x.dtype.itemsize < 4 else x


def _clip(recipe: Recipe, grads: list[Any]) -> list[Any]:
    if recipe.clip is None:
        return grads
    clipped = iter(clip.rule(recipe.clip)([g for g, s in zip(grads, recipe.settings, strict=True) if s.clips]))
    return [next(clipped) if s.clips else g for g, s in zip(grads, recipe.settings, strict=True)]


def _one(recipe: Recipe, setting: Setting, param: Any, grad: Any, state: State, lr: Any) -> tuple[Any, State]:
    if setting.decay == "l2":
        grad = grad + setting.coeff * param
    elif setting.decay == "l1":
        grad = grad + setting.coeff * jnp.sign(param)
    rate = lr.astype(param.dtype) * setting.rate
    return recipe.rule(param, grad, state, rate, **dict(setting.hyper))


# Key: all settings of the update, each of one kind; rules read nothing else.
_compiled: Memo[Any, Callable[..., list[Any]]] = Memo("compiled updates", 128)


def compiled(recipe: Recipe, text: Callable[[], str | None], n_mutable: int) -> Callable[..., list[Any]]:
    """The update as one function of the rate, the gradients, what it changes, whose memory it reuses, and the flag.

    Arguments:
        text: gives that of the update, the same in each process.
    """
    key = recipe, n_mutable
    return _compiled.get(key) or _compiled.put(key, _compile(recipe, text, n_mutable))


def _compile(recipe: Recipe, text: Callable[[], str | None], n_mutable: int) -> Callable[..., list[Any]]:
    first = 1 + len(recipe.settings)
    last = first + n_mutable

    def run(lr: Any, *arrays: Any) -> list[Any]:
        skip = arrays[last - 1] if recipe.skips else None
        return update(recipe, lr, list(arrays[: first - 1]), list(arrays[first - 1 : last - 1]), skip)

    run.__name__ = run.__qualname__ = recipe.name
    operators = len(recipe.settings)
    donated = tuple(range(first, last))
    return tiered(run, last + recipe.skips, deep=True, operators=operators, text=text, donate_argnums=donated)
