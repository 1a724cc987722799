"""Ops on unknown sizes: which ones must be the same for an op to be possible, and what it gives."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..core import symbolic
from ..core.errors import UNKNOWN
from ..ir.block import Value
from ..ir.sized import SAMPLES, infer_with
from ..registry.bound import BoundOp
from .size_facts import NAMES, Fact

# Where an op fails on unknown dimensions: how many of them are looked at, and how many ways to make some the same.
MAX_SYMBOLS, MAX_TRIES = 6, 500
# Choices of different sizes that are tried for one op, and of sizes that it is given with.
LARGEST = 1 << 20  # attribute beyond which sizes are tried: what selects from an axis is smaller
MAX_SAMPLES, MAX_NEAR = 30, 100
# Sizes below that are tried, where an op may do with small ones.
MAX_SMALL = 9


class ResultCountError(ValueError):
    """The number of results of an op is a size that is not known."""


def symbols_in(dim: Any, symbols: Iterable[str]) -> list[str]:
    """Return the symbols that a dimension is made of."""
    words = re.findall(r"[A-Za-z_]\w*", str(dim)) if symbolic.is_symbolic(dim) or isinstance(dim, str) else []
    return [w for w in dict.fromkeys(words) if w in symbols]


def fit_symbols(
    symbols: dict[str, Any],
    bound: BoundOp,
    inputs: tuple[Any, ...],
    at_hand: dict[str, int] | None = None,
    measured: dict[str, Any] | None = None,
) -> tuple[tuple[str, Any], ...] | None:
    """Symbols in the inputs of an op, and what they must be for it to be possible: other ones, a product, a number.

    Arguments:
        at_hand: sizes of a call, which must have those values.
        measured: symbols that stay what they are.
    """
    kept = (measured or {}) | symbols
    sizes = [n for v in inputs if isinstance(v, Value) for n in v.shape]
    words = list(dict.fromkeys([w for n in sizes for w in symbols_in(n, symbols)]))[:MAX_SYMBOLS]
    pairs: list[tuple[str, Any]] = [(b, symbols[a]) for a, b in itertools.combinations(words, 2)]
    # An argument's size is known before one that a run finds: it is never made the latter.
    here = [n for n in sizes if symbols.keys() >= {*symbols_in(n, kept)}]
    others = [*dict.fromkeys([n for n in here if symbolic.is_symbolic(n) or n > 1]), 1]
    every = pairs + [(a, n) for a in words for n in others if a not in symbols_in(n, symbols)]
    if at_hand is not None:
        pairs, every = (
            [(a, n) for a, n in some if at_hand[a] == symbolic.evaluate(n, at_hand)]
            for some in (pairs, [*every, *[(a, at_hand[a]) for a in words]])
        )
    found_later = list(dict.fromkeys([w for n in sizes for w in symbols_in(n, kept) if w not in symbols]))
    several = [itertools.combinations(some, n) for some in (pairs, every) for n in (2, 3)]
    tries = itertools.chain(((p,) for p in every), _along_axes(symbols, inputs, at_hand), *several)
    for chosen in itertools.islice(tries, MAX_TRIES):
        is_choice = len({name for name, _ in chosen}) == len(chosen)
        if is_choice and _fits(bound, inputs, kept | dict(chosen), found_later):
            return chosen
    return None


def inferred_with_equal(
    symbols: dict[str, Any], measured: dict[str, Any], bound: BoundOp, inputs: tuple[Any, ...]
) -> Any:
    """Infer an op's results where sizes that a run finds are those of arguments that they meet; None if they cannot be.

    The run finds out whether they are: each op of a part has the sizes of that run.
    """
    sizes = dict.fromkeys([n for v in inputs if isinstance(v, Value) for n in v.shape])
    later = list(dict.fromkeys([w for n in sizes for w in symbols_in(n, measured)]))
    here = [n for n in sizes if symbols_in(n, symbols) and not symbols_in(n, measured)]
    for chosen in itertools.islice(itertools.product(here, repeat=len(later)) if later else (), MAX_TRIES):
        # The symbol of a size that a run finds stands for one more.
        same = {name: n + 1 for name, n in zip(later, chosen, strict=True)}
        if (found := _inferred(bound, inputs, symbols | measured | same)) is not None:
            return found
    return None


def _along_axes(
    symbols: dict[str, Any], inputs: tuple[Any, ...], at_hand: dict[str, int] | None
) -> Iterator[tuple[tuple[str, Any], ...]]:
    """For each axis, and for all at once, the symbols there made the same: of many inputs, those of one batch.

    Axes are counted from the last one, as shapes are broadcast.
    """
    shapes = [v.shape[::-1] for v in inputs if isinstance(v, Value)]
    found: dict[str, Any] = {}
    for there in itertools.zip_longest(*shapes):
        words = list(dict.fromkeys([str(n) for n in there if str(n) in symbols]))
        if len(words) > 1 and (at_hand is None or len({at_hand[w] for w in words}) == 1):
            same = dict.fromkeys(words[1:], symbols[words[0]])
            found = same | found
            yield tuple(same.items())
    if found:
        yield tuple(found.items())


def _fits(bound: BoundOp, inputs: tuple[Any, ...], known: dict[str, Any], measured: list[str]) -> bool:
    """Whether an op is possible with these sizes, and some measured ones."""
    if _inferred(bound, inputs, known) is not None:
        return True
    return bool(measured) and is_possible(bound, inputs, known, measured)


def _inferred(bound: BoundOp, inputs: tuple[Any, ...], known: dict[str, Any]) -> Any:
    """Infer an op's results with these sizes; None if they are impossible."""
    try:
        return infer_with(bound, inputs, known)
    except Exception:
        return None


def flat(value: Any) -> list[Any]:
    """Return the leaves of nested tuples."""
    return [x for v in value for x in flat(v)] if isinstance(value, tuple) else [value]


@dataclass(frozen=True)
class OpenSpec:
    """Shape and dtype; a size known only at run time is None."""

    shape: tuple[Any, ...]
    dtype: Any


def inferred_by_samples(
    bound: BoundOp, inputs: tuple[Any, ...], symbols: dict[str, Any], free: Iterable[str], alike: bool = True
) -> Any:
    """Infer shapes and dtypes of an op's results that cannot be inferred for all sizes from several samples.

    A size that is not the same in several samples, nor that of an input or an attribute, is None.

    Arguments:
        free: the symbols that have several sizes.
        alike: sizes that are the same serve as well.

    Returns:
        None where there are no such samples, or the results differ in more than sizes.

    Raises:
        ResultCountError: if there are more results for some sizes than for others.
    """
    sizes = [n for v in inputs if isinstance(v, Value) for n in v.shape]
    known = dict.fromkeys([n for n in (*sizes, *flat(bound.attrs)) if symbolic.is_symbolic(n)])
    names = [n for n in dict.fromkeys(w for n in known for w in symbols_in(n, symbols)) if n in set(free)]
    samples: list[tuple[dict[str, int], Any]] = []
    for sample in _samples(bound, inputs, symbols, names, alike) if names else ():
        samples.append(sample)
        if len(samples) >= 3 and (alike or _are_varied([dims for dims, _ in samples])):
            break
    if not samples or not (alike or _are_varied([dims for dims, _ in samples])):
        return None
    outs = [tuple(out) if isinstance(out, tuple | list) else (out,) for _, out in samples]
    if len(set(map(len, outs))) > 1:
        raise ResultCountError(f"how many results {bound.op.name} has depends on {', '.join(names)}")
    known |= dict.fromkeys([v for n in known for v in _quotients(inputs, n)])
    made = tuple([_common(specs, [dims for dims, _ in samples], inputs, known) for specs in zip(*outs, strict=True)])
    if None in made:
        return None
    return made if isinstance(samples[0][1], tuple | list) else made[0]


def is_possible(bound: BoundOp, inputs: tuple[Any, ...], symbols: dict[str, Any], names: list[str]) -> bool:
    """Whether there are sizes with which an op gives something."""
    return next(_samples(bound, inputs, symbols, names, True), None) is not None


def serves_small(
    bound: BoundOp, inputs: tuple[Any, ...], symbols: dict[str, Any], left: str, sign: str, right: str
) -> bool:
    """Whether a size of a result is a number where `left sign right` is true, and another one for small sizes.

    A program that takes the comparison for granted would not serve these.
    """
    names = symbols_in(left, symbols)
    fact = Fact(left, NAMES[sign], right, UNKNOWN)
    if not right.isdigit() or sign not in (">=", ">") or not fact.names <= set(names):
        return False
    large = [_result_sizes(bound, inputs, symbols | dict.fromkeys(names, int(right) + n)) for n in SAMPLES[:2]]
    if None in large:
        return False
    fixed = [a if a == b else None for a, b in zip(*large, strict=True)]
    small = [dict.fromkeys(names, n) for n in range(1, MAX_SMALL)]
    found = [_result_sizes(bound, inputs, symbols | dims) or () for dims in small if not fact.holds(dims)]
    return any(0 not in made and any(a not in (b, None) for a, b in zip(fixed, made, strict=False)) for made in found)


def _result_sizes(bound: BoundOp, inputs: tuple[Any, ...], known: dict[str, Any]) -> list[Any] | None:
    """Return the sizes of all results, None where there are none."""
    found = _inferred(bound, inputs, known)
    results = found if isinstance(found, tuple | list) else [found]
    return None if found is None else [n for r in results for n in r.shape]


def _samples(
    bound: BoundOp, inputs: tuple[Any, ...], symbols: dict[str, Any], names: list[str], alike: bool
) -> Iterator[tuple[dict[str, int], Any]]:
    """Sizes with which an op is possible, different ones first, and what it gives then."""
    sizes = [n for v in inputs if isinstance(v, Value) for n in v.shape]
    large = [n + m for n in flat(bound.attrs) if type(n) is int and max(SAMPLES) <= n < LARGEST for m in (1, 33)]
    pool = [SAMPLES[0], *large, *SAMPLES[1:], *[n + 1 for n in sizes if isinstance(n, int) and n > 1]]
    pool = list(dict.fromkeys(pool))
    if not any(name in symbols_in(n, symbols) for n in sizes for name in names):
        pool += [2, 1]
    # Each size is another one; a small one comes second, since of two sizes the smaller may count.
    order = [0, pool.index(min(SAMPLES)), *range(1, len(pool))]
    turned = [tuple((pool[k:] + pool[:k])[: len(names)]) for k in order]
    same = [(n,) * len(names) for n in pool] if alike else []
    more = itertools.islice(itertools.permutations(pool, len(names)), MAX_SAMPLES)
    for chosen in dict.fromkeys(itertools.chain(turned, same, more)):
        dims = dict(zip(names, chosen, strict=True))
        try:
            known = symbols | dims
            if not any(symbolic.is_symbolic(n) and symbolic.substitute(n, known) == 1 for n in sizes):
                yield dims, infer_with(bound, inputs, known)
        except Exception:  # not with these
            continue
    yield from _near(bound, inputs, symbols, names)


def _near(
    bound: BoundOp, inputs: tuple[Any, ...], symbols: dict[str, Any], names: list[str]
) -> Iterator[tuple[dict[str, int], Any]]:
    """Yield the same with the sizes that an op is given, and with 1: those that are broadcast to each other.

    Unknown sizes that meet on an axis are taken to be equal instead.
    """
    if any(_along_axes(symbols, inputs, None)):
        return
    sizes = [n for v in inputs if isinstance(v, Value) for n in v.shape]
    given = dict.fromkeys([1, *[n for n in (*sizes, *flat(bound.attrs)) if type(n) is int and n > 1]])
    for chosen in itertools.islice(itertools.product(given, repeat=len(names)), MAX_NEAR):
        dims = dict(zip(names, chosen, strict=True))
        if (out := _inferred(bound, inputs, symbols | dims)) is not None:
            yield dims, out


def _quotients(inputs: tuple[Any, ...], size: Any) -> list[Any]:
    """How often a size goes into the elements of an input: what -1 stands for in a reshape."""
    totals = [math.prod(v.shape) for v in inputs if isinstance(v, Value)]
    return [total // size for total in totals if symbolic.is_symbolic(total // size)]


def _common(specs: tuple[Any, ...], dims: list[dict[str, int]], inputs: tuple[Any, ...], known: Iterable[Any]) -> Any:
    """One spec for the results of samples: each size is that of an input on the same axis, constant, or another one."""
    if len({(len(s.shape), s.dtype) for s in specs}) > 1:
        return None
    varied, ndim = _are_varied(dims), len(specs[0].shape)
    shape: list[Any] = []
    for axis, found in enumerate(zip(*[s.shape for s in specs], strict=True)):
        same = all(n == found[0] for n in found)
        for size in (*_on_axis(inputs, axis, ndim), *([] if same else known)):
            if all(_is_size(size, d, f) for d, f in zip(dims, found, strict=True)):
                break
        else:
            size = found[0] if same and varied else None
        shape.append(size)
    return OpenSpec(tuple(shape), specs[0].dtype)


def _are_varied(dims: list[dict[str, int]]) -> bool:
    """Whether each size is another one in some sample."""
    return all(len({d[name] for d in dims}) > 1 for name in dims[0])


def _on_axis(inputs: tuple[Any, ...], axis: int, ndim: int) -> Iterator[Any]:
    """Unknown sizes of inputs on an axis, counted from the last one."""
    for v in inputs:
        at = axis - ndim
        if isinstance(v, Value) and len(v.shape) >= -at and symbolic.is_symbolic(v.shape[at]):
            yield v.shape[at]


def _is_size(dim: Any, dims: dict[str, int], size: Any) -> bool:
    try:
        return bool(symbolic.evaluate(dim, dims) == size)
    except KeyError:  # of another symbol
        return False
