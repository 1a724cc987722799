"""Unknown dimensions: JAX's symbolic dimensions, and their value once shapes are known."""

from __future__ import annotations

import ast
import operator
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
from jax import export

Dims = dict[str, Any]

_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}


def _extreme(name: str, plain: Callable[..., Any], symbolic: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """Return the larger or smaller of two sizes: of numbers, of dimensions, or of what has a method for it."""

    def choose(a: Any, b: Any) -> Any:
        if is_symbolic(a) or is_symbolic(b):
            return symbolic(a, b)
        for one, other in ((a, b), (b, a)):
            if not isinstance(one, int) and hasattr(one, name):
                return getattr(one, name)(other)
        return plain(a, b)

    return choose


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "max": _extreme("maximum", max, jax.core.max_dim),
    "min": _extreme("minimum", min, jax.core.min_dim),
}


class Symbols:
    """Names for sizes that are not known, in one scope."""

    def __init__(self, scope: Any = None) -> None:
        self.scope = scope or export.SymbolicScope()
        self.symbols: dict[str, Any] = {}

    def new(self, name: str) -> str:
        """Return a new symbol, under this name or one like it; returns its name."""
        while name in self.symbols:
            name += "_"
        self.symbols[name] = export.symbolic_shape(name, scope=self.scope)[0]
        return name


def is_symbolic(dim: Any) -> bool:
    """True for a dimension that is not a number."""
    return not isinstance(dim, int) and export.is_symbolic_dim(dim)


# What there is in a dimension expression beside symbols, numbers and operators; max and min are Python's.
NAMES: dict[str, Any] = {"floordiv": operator.floordiv, "mod": operator.mod}


def python_text(value: Any) -> str:
    """Return a dimension, or a tuple of them, as Python text, with NAMES in it."""
    return str(value).replace("^", "**")


def evaluate(dim: Any, dims: Dims) -> Any:
    """Return the value of a dimension expression such as ``2*b + 1``, given its symbols."""
    return _eval(parsed(str(dim)), dims) if is_symbolic(dim) else dim


def evaluate_text(text: str, dims: Dims) -> Any:
    """Return the value of a dimension expression given as text.

    Raises:
        ValueError: for what is no such expression, or a symbol that is not known.
    """
    try:
        return _eval(parsed(text.strip()), dims)
    except (SyntaxError, KeyError) as e:
        raise ValueError(f"{text!r} is no expression of the dimensions {sorted(dims)}: {e}") from None


def parsed(text: str) -> ast.expr:
    """Return the syntax tree of a dimension expression, in which ^ is a power."""
    return ast.parse(text.replace("^", "**"), mode="eval").body


def _eval(node: ast.expr, dims: Dims) -> Any:
    match node:
        case ast.Constant(value=int()):
            return node.value
        case ast.Name():
            return dims[node.id]
        case ast.BinOp():
            return _OPERATORS[type(node.op)](_eval(node.left, dims), _eval(node.right, dims))
        case ast.UnaryOp():
            return _OPERATORS[type(node.op)](_eval(node.operand, dims))
        case ast.Call(func=ast.Name()):
            return _FUNCTIONS[ast.unparse(node.func)](*[_eval(a, dims) for a in node.args])
    raise ValueError(f"not a dimension expression: {ast.dump(node)}")


def substitute(value: Any, dims: Dims) -> Any:
    """Return an attribute, or a parameter of a primitive, with the symbolic dimensions in it replaced by their values.

    Example:
        >>> substitute(([1, (2,)], "a"), {})
        ([1, (2,)], 'a')
    """
    if isinstance(value, tuple):
        parts = [substitute(v, dims) for v in value]
        return value._make(parts) if hasattr(value, "_make") else tuple(parts)
    if value.__class__ is list:
        return [substitute(v, dims) for v in value]
    return evaluate(value, dims)


def has_symbolic(value: Any) -> bool:
    """True if an attribute holds a symbolic dimension."""
    return any(map(has_symbolic, value)) if isinstance(value, tuple) else is_symbolic(value)


def solve(declared: Any, found: Any) -> Dims:
    """Values of the symbols in declared shapes, from the shapes found; a size of 1 may stand for another, to broadcast.

    Raises:
        ValueError: if one symbol would have two values, or a known dimension differs.
    """
    dims: Dims = {}
    for want, got in zip(declared, found, strict=True):
        for w, g in zip(want, got, strict=True):
            name = str(w)
            if is_symbolic(w) and name.isidentifier() and dims.setdefault(name, g) is not g and dims[name] != g:
                if is_symbolic(g) or is_symbolic(dims[name]) or 1 not in (g, dims[name]):
                    raise ValueError(f"dimension {name} is {dims[name]} in one argument and {g} in another")
                dims[name] = max(g, dims[name])
    return dims


class _Current(threading.local):
    dims: Dims = {}


_current = _Current()


@contextmanager
def known(dims: Dims) -> Iterator[Dims]:
    """Lower with these symbols known."""
    before, _current.dims = _current.dims, dims
    try:
        yield dims
    finally:
        _current.dims = before


def resolved(value: Any) -> Any:
    """Return an attribute or shape with the sizes of the current lowering; unchanged if only types are needed."""
    return substitute(value, _current.dims) if _current.dims else value
