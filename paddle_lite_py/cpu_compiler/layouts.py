"""Transposes are deferred until something needs them; most are never made.

XLA's compiler for CPUs does each transpose that a program says, one memory access for each element. A net of
convolutions says two for each of them: its arrays have the channels second, and the kernels want them last. Here a
transpose only notes in which order the axes stand; what goes element by element, reduces, pads or multiplies does it in
that order; and where two transposes meet they cancel. So the arrays of a net have their channels last throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jax

from ..core.jax_compat.jaxprs import Literal, Var
from ..core.memo import memo
from .flattening import variables
from .fusion import ELEMENTWISE

Order = tuple[int, ...]
Rule = Callable[[Any, Any], None]

_free: ContextVar[bool] = ContextVar("transposes_are_free", default=False)
transposes_are_free = _free.get


@contextmanager
def sink_transposes() -> Iterator[None]:
    """Trace a function whose transposes will be deferred: an op may use as many as it likes."""
    token = _free.set(True)
    try:
        yield
    finally:
        _free.reset(token)


def propagate_layouts(jaxpr: Any) -> Any:
    """A flat jaxpr with as few transposes as may be, if it has convolutions; inputs and results stay as they are."""
    if not any(e.primitive.name == "conv_general_dilated" for e in jaxpr.eqns):
        return jaxpr
    layouts = Layouts(jaxpr)
    for eqn in jaxpr.eqns:
        layouts.add(eqn)
    outvars = [layouts.given(v) for v in jaxpr.outvars]
    return jaxpr.replace(eqns=layouts.eqns, outvars=outvars)


class Layouts:
    """The equations of a jaxpr, rewritten one by one.

    An order says of a variable that its axis i is axis order[i] of what is meant.
    """

    def __init__(self, jaxpr: Any) -> None:
        self.eqns: list[Any] = []
        self.forms: dict[Any, dict[Order, Any]] = {v: {_meant(v): v} for v in (*jaxpr.invars, *jaxpr.constvars)}
        self.wanted = _wanted(jaxpr)
        self.broadcasts: dict[Any, Any] = {}  # made of smaller arrays, once the axis order is known

    def given(self, atom: Any, order: Order | None = None) -> Any:
        """Return the variable that has an array in a given axis order; by default, in its logical order."""
        if isinstance(atom, Literal):
            return atom
        order, forms = order or _meant(atom), self.forms.setdefault(atom, {})
        if order not in forms:
            forms[order] = out = Var(_permute(atom.aval, order))
            if atom in self.broadcasts:
                self._broadcast(self.broadcasts[atom], out, order)
            else:
                held, var = next(iter(forms.items()))
                self.eqns.append(_transpose(var, out, tuple(held.index(a) for a in order)))
        return forms[order]

    def _broadcast(self, eqn: Any, out: Any, order: Order) -> None:
        places = [order.index(d) for d in eqn.params["broadcast_dimensions"]]
        own = tuple(sorted(range(len(places)), key=places.__getitem__))
        params = {**eqn.params, "shape": out.aval.shape, "broadcast_dimensions": tuple(sorted(places))}
        small, *sizes = eqn.invars
        invars = [self.given(small, own), *map(self.given, sizes)]
        self.eqns.append(eqn.replace(invars=invars, outvars=[out], params=params))

    def order_of(self, atoms: Sequence[Any], out: Any) -> Order:
        """Return the order in which the fewest bytes have to be moved."""
        bytes_of = {_meant(out): 0}
        if (wanted := self.wanted.get(out)) is not None:
            bytes_of[wanted] = _bytes(out)
        for a in atoms:
            if not isinstance(a, Literal) and a not in self.broadcasts and a.aval.ndim == out.aval.ndim:
                for order in self.forms[a]:
                    bytes_of[order] = bytes_of.get(order, 0) + _bytes(a)
        return max(bytes_of, key=bytes_of.__getitem__)  # the first of equals: as it is meant

    def own_order(self, atom: Any) -> Order:
        """Return the order in which an array came to be."""
        if isinstance(atom, Literal) or atom in self.broadcasts:
            return _meant(atom)
        return next(iter(self.forms[atom]))

    def add(self, eqn: Any) -> None:
        """Rewrite an equation."""
        name = eqn.primitive.name
        rule = _RULES.get(name)
        if name == "broadcast_in_dim":
            self.broadcasts[eqn.outvars[0]] = eqn
        elif name == "transpose":
            self._transpose(eqn)
        elif rule is None:
            self.as_meant(eqn)
        else:
            rule(self, eqn)

    def _transpose(self, eqn: Any) -> None:
        (x,), (out,), permutation = eqn.invars, eqn.outvars, eqn.params["permutation"]
        if x in self.broadcasts:
            made = self.broadcasts[x]
            dims = tuple(permutation.index(d) for d in made.params["broadcast_dimensions"])
            params = {**made.params, "shape": out.aval.shape, "broadcast_dimensions": dims}
            self.broadcasts[out] = made.replace(outvars=[out], params=params)
        else:
            order = self.own_order(x)
            self.forms[out] = {tuple(permutation.index(a) for a in order): self.given(x, order)}

    def as_meant(self, eqn: Any) -> None:
        """An equation that knows nothing of orders."""
        self.eqns.append(eqn.replace(invars=[self.given(v) for v in eqn.invars]))
        self.forms.update({v: {_meant(v): v} for v in eqn.outvars})

    def put(self, eqn: Any, invars: Sequence[Any], order: Order, **params: Any) -> None:
        """An equation whose results stand in an order."""
        outvars = [Var(_permute(v.aval, order)) for v in eqn.outvars]
        self.eqns.append(eqn.replace(invars=list(invars), outvars=outvars, params={**eqn.params, **params}))
        self.forms.update({v: {order: out} for v, out in zip(eqn.outvars, outvars, strict=True)})


def _wanted(jaxpr: Any) -> dict[Any, Order]:
    """Return the order in which each variable is wanted by what reads it; the last of several readers says it."""
    found = {v: _meant(v) for v in variables(jaxpr.outvars)}
    for eqn in reversed(jaxpr.eqns):
        name, wanted = eqn.primitive.name, found.get(eqn.outvars[0]) if eqn.outvars else None
        for v in variables(eqn.invars):
            if name not in _RULES and name not in ("transpose", "broadcast_in_dim"):
                found.setdefault(v, _meant(v))
            elif name == "transpose" and wanted is not None:
                found.setdefault(v, tuple(eqn.params["permutation"][a] for a in wanted))
            elif name in _KEEPING and wanted is not None and v.aval.ndim == len(wanted):
                found.setdefault(v, wanted)
    return found


def _bytes(atom: Any) -> int:
    return atom.aval.size * atom.aval.dtype.itemsize


def _meant(atom: Any) -> Order:
    return tuple(range(getattr(atom.aval, "ndim", 0)))


def _permute(aval: Any, order: Order) -> Any:
    return aval.update(shape=tuple(aval.shape[a] for a in order)) if order != (*range(len(order)),) else aval


# Key: shape, dtype and permutation; pure.
@memo(2048, context=False)
def _transposed(shape: Order, dtype: Any, permutation: Order) -> Any:
    closed = jax.make_jaxpr(lambda x: jax.lax.transpose(x, permutation))(jax.ShapeDtypeStruct(shape, dtype))
    return closed.jaxpr.eqns[0]


def _transpose(var: Any, out: Any, permutation: Order) -> Any:
    return _transposed(var.aval.shape, var.aval.dtype, permutation).replace(invars=[var], outvars=[out])


def _ranks(axes: Sequence[int]) -> Order:
    return tuple(sorted(axes).index(a) for a in axes)


def _places(order: Order, axes: Sequence[int]) -> Order:
    return tuple(sorted(order.index(a) for a in axes))


def _in_one_order(layouts: Layouts, eqn: Any) -> tuple[list[Any], Order]:
    """Return the arguments of an equation in the best order; numbers may stand among the arrays."""
    out = eqn.outvars[0]
    order = layouts.order_of(eqn.invars, out)
    return [layouts.given(v, order if v.aval.ndim == out.aval.ndim else None) for v in eqn.invars], order


def _along(*names: str) -> Rule:
    """Return the rule for what leaves the axes where they are, and has these settings for each of them."""

    def rule(layouts: Layouts, eqn: Any) -> None:
        invars, order = _in_one_order(layouts, eqn)
        params = {n: tuple(eqn.params[n][a] for a in order) for n in names if eqn.params[n] is not None}
        layouts.put(eqn, invars, order, **params)

    return rule


def _along_one(name: str) -> Rule:
    """Return the rule for what leaves the axes where they are, and has a setting that names one of them, or some."""

    def rule(layouts: Layouts, eqn: Any) -> None:
        invars, order = _in_one_order(layouts, eqn)
        axes = eqn.params[name]
        now = _places(order, axes) if isinstance(axes, tuple) else order.index(axes)
        layouts.put(eqn, invars, order, **{name: now})

    return rule


def _without(name: str) -> Rule:
    """Return the rule for what takes those axes away that a setting names."""

    def rule(layouts: Layouts, eqn: Any) -> None:
        (x,), gone = eqn.invars, eqn.params[name]
        order = layouts.own_order(x)
        left = _ranks([a for a in order if a not in gone])
        layouts.put(eqn, [layouts.given(x, order)], left, **{name: _places(order, gone)})

    return rule


def _dot(layouts: Layouts, eqn: Any) -> None:
    numbers = eqn.params["dimension_numbers"]
    orders = [layouts.own_order(v) for v in eqn.invars]
    placed = tuple(tuple(tuple(map(o.index, axes)) for o, axes in zip(orders, pair, strict=True)) for pair in numbers)
    order = list(range(len(numbers[1][0])))  # of the batch, then of the remaining axes of each side
    for o, contracted, batch in zip(orders, *numbers, strict=True):
        order += [len(order) + a for a in _ranks([a for a in o if a not in (*contracted, *batch)])]
    invars = [layouts.given(v, o) for v, o in zip(eqn.invars, orders, strict=True)]
    layouts.put(eqn, invars, tuple(order), dimension_numbers=placed)


_WINDOW = ("window_dimensions", "window_strides", "padding")
_OVER_WINDOWS = _along(*_WINDOW, "base_dilation", "window_dilation")
_KEEPING: dict[str, Rule] = {  # what leaves the axes where they are
    **dict.fromkeys(ELEMENTWISE, _along()),
    "pad": _along("padding_config"),
    "slice": _along("start_indices", "limit_indices", "strides"),
    "reduce_window_max": _OVER_WINDOWS,
    "reduce_window_min": _OVER_WINDOWS,
    "reduce_window_sum": _OVER_WINDOWS,
    "select_and_scatter_add": _along(*_WINDOW),
    "concatenate": _along_one("dimension"),
    "split": _along_one("axis"),
    "rev": _along_one("dimensions"),
}
_RULES: dict[str, Rule] = {
    **_KEEPING,
    **dict.fromkeys("reduce_sum reduce_max reduce_min reduce_prod reduce_and reduce_or".split(), _without("axes")),
    "squeeze": _without("dimensions"),
    "dot_general": _dot,
}
