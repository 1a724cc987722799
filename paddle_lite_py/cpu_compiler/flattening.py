"""A jaxpr without calls of functions, one list of equations for passes to look at; and what passes do to a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax

from ..core.jax_compat.equations import called_jaxpr
from ..core.jax_compat.jaxprs import DropVar, Literal, Var, body_of, is_jaxpr, with_body

# Primitives that return the same elements, and those that only reorder axes.
VIEWS = frozenset({"reshape", "squeeze", "expand_dims", "transpose"})
RESULT = -1  # who reads what a program gives


class Renaming(NamedTuple):
    """Which variables or constants stand for others."""

    of: dict[Any, Any]

    def all(self, atoms: Sequence[Any]) -> list[Any]:
        return [a if isinstance(a, Literal) else self.of.get(a, a) for a in atoms]


def flat(jaxpr: Any) -> Any:
    """Return a jaxpr with calls of functions in their place."""
    names = Renaming({})
    eqns = list(_inline(jaxpr.eqns, names, None))
    return jaxpr.replace(eqns=eqns, outvars=names.all(jaxpr.outvars))


def _inline(eqns: Sequence[Any], names: Renaming, within: Any) -> Iterator[Any]:
    """Equations with the variables that the names say; `within`: the scope of the call that they stand in."""
    for eqn in eqns:
        if all(isinstance(v, DropVar) for v in eqn.outvars) and not eqn.effects:
            continue
        invars, source = names.all(eqn.invars), eqn.source_info
        if eqn.primitive.name == "stop_gradient":  # there are none any more
            names.of.update(zip(eqn.outvars, invars, strict=True))
            continue
        if within is not None:
            source = source.replace(name_stack=within + source.name_stack)
        body, constants = called_jaxpr(eqn) or (None, ())
        if body is not None and not constants:
            inner = Renaming(dict(zip(body.invars, invars, strict=True)))
            yield from _inline(body.eqns, inner, source.name_stack)
            names.of.update(zip(eqn.outvars, inner.all(body.outvars), strict=True))
            continue
        outvars = eqn.outvars
        if within is not None:  # the same function may be called again
            outvars = [v if isinstance(v, DropVar) else Var(v.aval) for v in outvars]
            names.of.update(zip(eqn.outvars, outvars, strict=True))
        yield eqn.replace(invars=invars, outvars=outvars, source_info=source)


def variables(atoms: Sequence[Any]) -> Iterator[Any]:
    """Return those that are no constants."""
    return (a for a in atoms if not isinstance(a, Literal))


def readers(jaxpr: Any) -> dict[Any, list[int]]:
    """Return the places of the equations that read each variable, and RESULT for what the jaxpr gives."""
    found: dict[Any, list[int]] = {}
    for i, eqn in enumerate(jaxpr.eqns):
        for v in variables(eqn.invars):
            found.setdefault(v, []).append(i)
    for v in variables(jaxpr.outvars):
        found.setdefault(v, []).append(RESULT)
    return found


def spliced(small: Any, inputs: Sequence[Any], outputs: Sequence[Any], source: Any = None) -> Iterator[Any]:
    """The equations of a small jaxpr without constants, from and to other variables; `source`: where they come from."""
    names = Renaming(dict(zip([*small.jaxpr.invars, *small.jaxpr.outvars], [*inputs, *outputs], strict=True)))
    for eqn in small.jaxpr.eqns:
        for v in eqn.outvars:
            names.of.setdefault(v, Var(v.aval))
        made = eqn.replace(invars=names.all(eqn.invars), outvars=names.all(eqn.outvars))
        yield made if source is None else made.replace(source_info=source)


def specs_of(atoms: Sequence[Any]) -> tuple[jax.ShapeDtypeStruct, ...]:
    """Shapes and types of variables, which is what a small jaxpr is made for."""
    return tuple([jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in atoms])


def reformed(jaxpr: Any, form: Callable[[Any], Any]) -> Any:
    """A jaxpr, and its bodies, with small jaxprs in the place of equations; `form` gives None for those that stay."""
    eqns: list[Any] = []
    for eqn in jaxpr.eqns:
        small = form(eqn)
        if small is None:
            eqns.append(with_bodies(eqn, lambda body: reformed(body, form)))
        else:
            eqns += spliced(small, eqn.invars, eqn.outvars, eqn.source_info)
    return with_eqns(jaxpr, eqns)


def with_eqns(jaxpr: Any, eqns: Sequence[Any]) -> Any:
    """A jaxpr with other equations, itself where they are the same: JAX lowers what is one and the same only once."""
    return jaxpr if _same(eqns, jaxpr.eqns) else jaxpr.replace(eqns=list(eqns))


def with_bodies(eqn: Any, form: Callable[[Any], Any]) -> Any:
    """Return an equation with the bodies that it has, of loops and branches, in another form."""
    if not any(map(_has_body, eqn.params.values())):  # most: five parameters each, in eight passes
        return eqn
    values = tuple(eqn.params.values())
    new = _body(values, form)
    return eqn if new is values else eqn.replace(params=dict(zip(eqn.params, new, strict=True)))


def _has_body(value: Any) -> bool:
    return any(map(_has_body, value)) if type(value) is tuple else is_jaxpr(value)


def _body(value: Any, form: Callable[[Any], Any]) -> Any:
    if is_jaxpr(value):
        body = body_of(value)
        new = form(body)
        return value if new is body else with_body(value, new)
    if type(value) is tuple:
        found = tuple([_body(v, form) for v in value])
        return value if _same(found, value) else found
    return value


def _same(new: Sequence[Any], old: Sequence[Any]) -> bool:
    return len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True))
