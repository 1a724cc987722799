"""Expressions of unknown sizes in their shortest form.

A chain of strides divides sizes again and again: ``floordiv(floordiv(n - 1, 2), 2) + 1``. JAX keeps each division, and
takes longer to compare such sizes the deeper they are. Merged, this is ``floordiv(n + 3, 4)``.
"""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from typing import Any, cast

from jax import export

from . import symbolic

_DIVISION = "floordiv("


def shortest(value: Any) -> Any:
    """Return a shape, attribute or dimension with the nested divisions in it merged."""
    if isinstance(value, tuple):
        return tuple(map(shortest, value))
    if not symbolic.is_symbolic(value) or _DIVISION not in (text := str(value)):
        return value
    merged = _text(_sum(symbolic.parsed(text)))
    return value if merged == text else export.symbolic_shape(merged, scope=value.scope)[0]


def are_same(shape: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether two shapes are the same, however the divisions in them are nested."""
    return shape == other or list(map(_merge, shape)) == list(map(_merge, other))


def _merge(size: Any) -> Any:
    return _text(_sum(symbolic.parsed(str(size)))) if symbolic.is_symbolic(size) else size


def _sum(node: ast.expr) -> Counter[str]:
    """Return an expression as coefficients of the terms it is the sum of; the constant is the coefficient of ''."""
    match node:
        case ast.Constant(value=int(n)):
            return Counter({"": n})
        case ast.UnaryOp(op=ast.USub()):
            return _times(_sum(node.operand), -1)
        case ast.BinOp(op=ast.Add()):
            return _plus(_sum(node.left), _sum(node.right))
        case ast.BinOp(op=ast.Sub()):
            return _plus(_sum(node.left), _times(_sum(node.right), -1))
        case ast.BinOp(op=ast.Mult()):
            return _product(_sum(node.left), _sum(node.right))
        case ast.Call(func=ast.Name(id="floordiv"), args=[of, ast.Constant(value=int() as n)]) if n > 0:
            return _quotient(_sum(of), n)
        case ast.Call():
            return Counter({f"{ast.unparse(node.func)}({', '.join([_text(_sum(a)) for a in node.args])})": 1})
    return Counter({ast.unparse(node): 1})


def _quotient(total: Counter[str], n: int) -> Counter[str]:
    """Return the sum, divided by n: what n divides is divided, and a division of the rest is merged with this one."""
    whole = Counter({term: count // n for term, count in total.items() if not term or count % n == 0})
    rest = _plus(total, _times(whole, -n))
    inner = next((t for t, count in rest.items() if count == 1 and t.startswith(_DIVISION)), None)
    if inner is not None:
        of, by = [_sum(a) for a in cast(ast.Call, symbolic.parsed(inner)).args]
        if by.keys() <= {""}:
            del rest[inner]
            return _plus(whole, _quotient(_plus(of, _times(rest, by[""])), n * by[""]))
    if rest.keys() <= {""}:  # less than n
        return whole
    return _plus(whole, Counter({f"{_DIVISION}{_text(rest)}, {n})": 1}))


def _plus(a: Counter[str], b: Counter[str]) -> Counter[str]:
    total = Counter(a)
    total.update(b)
    return Counter({term: count for term, count in total.items() if count})


def _times(total: Counter[str], n: int) -> Counter[str]:
    return Counter({term: count * n for term, count in total.items()})


def _product(a: Counter[str], b: Counter[str]) -> Counter[str]:
    found = Counter[str]()
    for (left, n), (right, m) in itertools.product(a.items(), b.items()):
        found["*".join(filter(None, (left, right)))] += n * m
    return found


def _text(total: Counter[str]) -> str:
    """Return the sum as an expression."""
    terms = [f"{n}*{term}" if term and n != 1 else term or str(n) for term, n in sorted(total.items(), reverse=True)]
    return " + ".join(terms) or "0"
