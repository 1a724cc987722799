"""Shapes of what ops give where JAX cannot tell them for any size: what they are for several sizes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

import jax

from ..core import symbolic
from ..ir.block import Value
from ..registry.bound import BoundOp
from .dimensions import MAX_TRIES, flat, infer_with, symbols_in


def inferred_by_samples(
    bound: BoundOp, inputs: tuple[Any, ...], symbols: dict[str, Any], measured: Iterable[str]
) -> Any:
    """Shapes and dtypes of what an op gives, where they cannot be told for any size: what they are for several ones.

    Sizes that differ from sample to sample must be those of an input or an attribute.

    Returns:
        None where there are no such samples, or other sizes among their results.
    """
    sizes = [n for v in inputs if isinstance(v, Value) for n in v.shape]
    known = dict.fromkeys([n for n in (*sizes, *flat(bound.attrs)) if symbolic.is_symbolic(n)])
    names = [n for n in dict.fromkeys(w for n in known for w in symbols_in(n, symbols)) if n in set(measured)]
    samples = list(itertools.islice(_samples(bound, inputs, symbols, names, sizes), 2)) if names else []
    if len(samples) < 2:
        return None
    outs = [tuple(out) if isinstance(out, tuple | list) else (out,) for _, out in samples]
    known |= dict.fromkeys([v for n in known for v in _quotients(inputs, n)])
    made = tuple([_common(specs, [dims for dims, _ in samples], known) for specs in zip(*outs, strict=True)])
    if None in made:
        return None
    return made if isinstance(samples[0][1], tuple | list) else made[0]


def _samples(
    bound: BoundOp, inputs: tuple[Any, ...], symbols: dict[str, Any], names: list[str], sizes: list[Any]
) -> Iterator[tuple[dict[str, int], Any]]:
    """Sizes with which an op is possible, different ones first, and what it gives then."""
    pool = dict.fromkeys([3, 4, 2, 5, 6, *[n + 1 for n in sizes if isinstance(n, int)]])
    different = [c for c in itertools.product(pool, repeat=len(names)) if len(set(c)) == len(c)]
    for chosen in itertools.islice([*different, *zip(*[pool] * len(names), strict=True)], MAX_TRIES):
        dims = dict(zip(names, chosen, strict=True))
        try:
            yield dims, infer_with(bound, inputs, symbols | dims)
        except Exception:  # not with these
            continue


def _quotients(inputs: tuple[Any, ...], size: Any) -> list[Any]:
    """How often a size goes into the elements of an input: what -1 stands for in a reshape."""
    totals = [math.prod(v.shape) for v in inputs if isinstance(v, Value)]
    return [total // size for total in totals if symbolic.is_symbolic(total // size)]


def _common(specs: tuple[Any, ...], dims: list[dict[str, int]], known: Iterable[Any]) -> Any:
    """One spec for the results of samples; None where a size is neither constant nor known."""
    if len({(len(s.shape), s.dtype) for s in specs}) > 1:
        return None
    shape = []
    for found in zip(*[s.shape for s in specs], strict=True):
        same = all(n == found[0] for n in found)
        fits = (n for n in known if all(_is_size(n, d, f) for d, f in zip(dims, found, strict=True)))
        size = found[0] if same else next(fits, None)
        if size is None:
            return None
        shape.append(size)
    return jax.ShapeDtypeStruct(tuple(shape), specs[0].dtype)


def _is_size(dim: Any, dims: dict[str, int], size: Any) -> bool:
    try:
        return bool(symbolic.evaluate(dim, dims) == size)
    except KeyError:  # of another symbol
        return False
