"""Checks of indices in eager mode on the CPU before an op runs: the reference's errors instead of NaN.

In programs, on accelerators, and for indices still being computed, where a check would wait, an index out of range
reads as NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import DivisorError
from ..core.memo import IdentityMemo
from ..registry.op import REGISTRY
from . import singular
from .index_plans import AT, CUT, MASK, NEW, PICK

Check = Callable[..., None]  # of the arrays of a call


# Minimum and maximum of the indices read last, by identity: arrays are immutable.
# Key: the array, which is immutable: see host.tier.
_seen = IdentityMemo("ranges of indices")


def _range(index: Any) -> Any:
    """Return the minimum and maximum of an index; None if it is empty, or reading it would wait."""
    found = _seen.find(index)
    if found is not None:
        return found
    if not _at_hand(index):
        return None
    values = np.asarray(index)
    if not values.size:
        return None
    # argmin, since min takes several times as long to start, and this is on the path of every call.
    return _seen.put(index, (values.item(values.argmin()), values.item(values.argmax())))


def _within(
    index: Any, low: int, size: int, what: str, error: type[Exception], ignored: Any = None, shown: int | None = None
) -> None:
    held = _seen.get(id(index))  # find(), inlined: this is on the path of every call
    found = _range(index) if held is None else held[1]
    if found is not None and not (found[0] >= low and found[1] < size):
        _complain(np.asarray(index), low, size, what, error, ignored, low if shown is None else shown)


def expect_within(index: Any, low: int, size: int, what: str) -> None:
    """Check that the values of an index tensor lie in a range, if that needs no waiting.

    Raises:
        ValueError: if a value lies outside of [low, size).
    """
    _within(index._payload, low, size, what, ValueError)


def _at_hand(index: Any) -> bool:
    """Return False for an index that is still being computed: waiting for it would cost what eager mode gains."""
    ready = getattr(index, "is_ready", None)  # None: an array of NumPy, or what is deferred, or traced
    return index.__class__ is np.ndarray or (ready is not None and ready() and singular.on_cpu(index))


def _complain(
    values: np.ndarray, low: int, size: int, what: str, error: type[Exception], ignored: Any, shown: int
) -> None:
    wrong = (values < low) | (values >= size)
    if ignored is not None:
        wrong &= values != ignored
    if wrong.any() and values.dtype.kind in "iu":
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        place = f" at {list(at)}" if at else ""
        raise error(f"{what} holds {int(values[at])}{place}; expected {shown} to {size - 1}")


def _along(name: str, error: type[Exception]) -> Any:
    """Check an index into the axis of the first argument given by an attribute; the first axis by default."""

    def prepare(attrs: dict[str, Any]) -> Check:
        axis = attrs.get("axis") or 0

        def check(x: Any, index: Any, *_: Any) -> None:
            try:  # usually it was seen before and fits
                (_ref, (least, greatest)), size = _seen[id(index)], x.shape[axis]
                if -size <= least and greatest < size:
                    return
            except (KeyError, IndexError):
                pass
            shape = x.shape
            if -len(shape) <= axis < len(shape):
                _within(index, -shape[axis], shape[axis], name, error)

        return check

    return prepare


def _nd(error: type[Exception]) -> Any:
    return lambda attrs: lambda x, index, *_: _nd_within(index, x.shape, error)


def _nd_within(index: Any, shape: Any, error: type[Exception]) -> None:
    if not index.ndim:
        return
    sizes = shape[: index.shape[-1]]
    found = _range(index)
    size = min(sizes, default=0)
    if found is None or (found[0] >= -size and found[1] < size):  # usually, so the columns are not read
        return
    for axis, size in enumerate(sizes):
        column = np.asarray(index)[..., axis]
        if not (column.item(column.argmin()) >= -size and column.item(column.argmax()) < size):
            _complain(column, -size, size, f"column {axis} of index", error, None, -size)


def _flat(attrs: dict[str, Any]) -> Check | None:
    if attrs["mode"] != "raise":
        return None

    def check(x: Any, index: Any) -> None:
        n = math.prod(x.shape)
        _within(index, -n, n, "index", ValueError)

    return check


def _index_operands(attrs: dict[str, Any], first: int = 1) -> Check | None:
    """Return the index tensors among the operands of a plan (see index_plans.py): operand, and dimension."""
    places, dim, at = [], 0, first
    for kind, *rest in attrs["plan"]:
        if kind in (AT, PICK):
            places.append((at, dim))
        at += kind in (AT, CUT, PICK, MASK)
        dim += 0 if kind == NEW else rest[0] if kind == MASK else 1

    def check(x: Any, *operands: Any) -> None:
        for at, dim in places:
            index, size = operands[at - 1], x.shape[dim]
            if index.__class__ is not int:
                _within(index, -size, size, "the index", IndexError)
            elif not -size <= index < size:  # which was not known when the plan was made
                raise IndexError(f"index {index} is out of range for dimension {dim} of size {size}")

    def check_one(x: Any, index: Any) -> None:
        if index.__class__ is not int or not 0 <= index < x.shape[places[0][1]]:
            check(x, index)

    return None if not places else check_one if at == 2 and first == 1 else check


def _put(attrs: dict[str, Any]) -> Check:
    def check(x: Any, *others: Any) -> None:
        indices = others[:-1]
        try:  # as above
            for index, size in zip(indices, x.shape):  # noqa: B905  (its keyword would show)
                least, greatest = _seen[id(index)][1]
                if least < -size or greatest >= size:
                    break
            else:
                return
        except KeyError:
            pass
        for index, size, name in zip(indices, x.shape, _NAMES, strict=False):
            _within(index, -size, size, name, IndexError)

    return check


_NAMES = tuple([f"indices[{i}]" for i in range(64)])


def _rows(attrs: dict[str, Any]) -> Check:
    low = -1 if attrs["row"] is None else 0  # without a padding row, -1 is padding

    def check(x: Any, weight: Any) -> None:
        _within(x, low, weight.shape[0], "x", ValueError, shown=0)

    return check


def _columns(attrs: dict[str, Any]) -> Check:
    return lambda x, index: _within(index, 0, x.shape[-1], "index", ValueError)


def _classes(attrs: dict[str, Any]) -> Check:
    return lambda x: _within(x, 0, attrs["num_classes"], "x", ValueError)


def _labels(error: type[Exception], axis: int | None = None) -> Any:
    def prepare(attrs: dict[str, Any]) -> Check | None:
        if attrs.get("soft_label"):
            return None
        ignored, wanted = attrs["ignore_index"], attrs["axis"] if axis is None else axis

        def check(x: Any, label: Any, *_: Any) -> None:
            shape = x.shape
            try:  # as above
                least, greatest = _seen[id(label)][1]
                if least >= 0 and greatest < shape[wanted]:
                    return
            except (KeyError, IndexError):
                pass
            at = wanted if axis is None else min(wanted, len(shape) - 1)
            if -len(shape) <= at < len(shape):
                _within(label, 0, shape[at], "label", error, ignored)

        return check

    return prepare


def _divisor(attrs: dict[str, Any]) -> Check:
    """Check that no integer is divided by 0, which has no integer result."""

    def check(x: Any, y: Any = 1) -> None:  # a cached call has a number of Python in it, which its first call checked
        if _is_float(y) or _is_float(x):
            return
        found = (y, y) if y.__class__ in (int, bool) else _range(y)
        if found is not None and found[0] <= 0 <= found[1] and len(at := np.argwhere(np.equal(y, 0))):
            raise DivisorError(f"y is 0{f' at {at[0].tolist()}' if at.size else ''}; integers are not divided by it")

    return check


def _is_float(x: Any) -> bool:
    return x.__class__ is float or getattr(x, "dtype", np.dtype(int)).kind in "fcV"


def _choices(attrs: dict[str, Any]) -> Check:
    return lambda *args: _within(args[-1], 0, len(args) - 1, "index", ValueError)


def _enough(attrs: dict[str, Any]) -> Check:
    """Check that there is a value for each position of a mask."""

    def check(x: Any, mask: Any, value: Any) -> None:
        if _at_hand(mask) and (size := math.prod(np.broadcast_shapes(x.shape, mask.shape))):
            places = int(np.count_nonzero(mask)) * (size // mask.size)
            if places > value.size:
                raise ValueError(f"mask is True at {places} positions, but value has {value.size} elements")

    return check


def _between(at: int, size: Callable[..., int], name: str, error: type[Exception], low: int = 0) -> Any:
    """Check the operand at a place, whose values are below a size that the arrays and the attributes give."""
    return lambda attrs: lambda *args: _within(args[at], low, low + size(args, attrs), name, error)


def _edges(count: Callable[..., int] | None = None) -> Any:
    """Check the sources and targets of edges: rows of x, and rows of the result or, without a count, of y."""

    def prepare(attrs: dict[str, Any]) -> Check:
        def check(*args: Any) -> None:
            _within(args[-2], 0, args[0].shape[0], "src_index", IndexError)
            _within(args[-1], 0, count(attrs) if count else args[1].shape[0], "dst_index", IndexError)

        return check

    return prepare


def _chances(most: float, what: str) -> Any:
    """Check that what is drawn from is not negative, NaN, or above a limit."""

    def check(*args: Any) -> None:
        x = args[-1]
        if x.__class__ in (int, float) or (hasattr(x, "dtype") and _at_hand(x)):
            wrong = ~((values := np.asarray(x)) >= 0) | (values > most)
            if wrong.any():
                at = tuple(int(i) for i in np.argwhere(wrong)[0])
                place = f" at {[*at]}" if at else ""
                raise ValueError(f"x holds {values[at]}{place}; expected {what}")

    return lambda attrs: check


def _weights(attrs: dict[str, Any]) -> Check:
    """Check the weights of categories, not all of which may be 0."""
    allowed = _chances(math.inf, "weights of at least 0")(attrs)

    def check(*args: Any) -> None:
        allowed(*args)
        if hasattr(args[-1], "dtype") and _at_hand(args[-1]) and not np.asarray(args[-1]).any(-1).all():
            raise ValueError("x holds 0 in all categories; expected a weight above 0")

    return check


def _finite_range(low: str, high: str) -> Any:
    """Check that the bins of a histogram have a range, where the data give it."""

    def prepare(attrs: dict[str, Any]) -> Check | None:
        if attrs[low] or attrs[high]:
            return None

        def check(x: Any, *_: Any) -> None:
            if _at_hand(x) and (found := np.isinf(np.asarray(x))).any():
                at = [int(i) for i in np.argwhere(found)[0]]
                raise ValueError(f"x holds {np.asarray(x)[tuple(at)]} at {at}; expected finite numbers, or min and max")

        return check

    return prepare


def _aligned(_: dict[str, Any]) -> Check:
    """Check the labels of CTC, but those past the length of their row."""

    def check(logits: Any, labels: Any, _: Any, lengths: Any) -> None:
        n, found = logits.shape[-1], _range(labels)
        if found is None or (found[0] >= 0 and found[1] < n) or not _at_hand(lengths) or labels.ndim != 2:
            return
        used = np.arange(labels.shape[1]) < np.asarray(lengths).reshape(-1, 1)
        _complain(np.where(used, np.asarray(labels), 0), 0, n, "labels", ValueError, None, 0)

    return check


# From the attributes of an op to the check of its arrays; None if no check is needed.
CHECKS: dict[str, Callable[[dict[str, Any]], Check | None]] = {
    "gather": _along("index", IndexError),
    "index_select": _along("index", ValueError),
    "take_along_axis": _along("indices", IndexError),
    "gather_nd": _nd(ValueError),
    "getitem": _index_operands,
    "setitem": lambda attrs: _index_operands(attrs, 2),
    "index_put": _put,
    "masked_scatter": _enough,
    "multiplex": _choices,
    "take": _flat,
    "index_sample": _columns,
    "scatter": _along("index", IndexError),
    "scatter_nd_add": _nd(IndexError),
    "scatter_nd": lambda attrs: lambda index, _: _nd_within(index, attrs["shape"], IndexError),
    "_index_add": _along("index", ValueError),
    "_index_fill": _along("index", ValueError),
    "_put_along_axis": _along("indices", IndexError),
    "embedding": _rows,
    "one_hot": _classes,
    **dict.fromkeys(("floor_divide", "trunc_divide", "remainder"), _divisor),
    "cross_entropy": _labels(IndexError),
    "nll_loss": _labels(ValueError, 1),
    "margin_cross_entropy": _between(1, lambda args, _: args[0].shape[-1], "label", IndexError),
    "ctc_loss": _aligned,
    "max_unpool": _between(1, lambda _, attrs: math.prod(attrs["size"]), "indices", ValueError),
    "shard_index": _between(0, lambda _, attrs: attrs["index_num"], "input", ValueError),
    "gather_tree": _between(1, lambda args, _: args[0].shape[-1], "parents", ValueError),
    "lu_unpack": _between(1, lambda args, _: args[0].shape[-2], "y", ValueError, low=1),
    "_histogram": _finite_range("low", "high"),
    "histogram_bin_edges": _finite_range("min", "max"),
    "multinomial": _weights,
    "bernoulli": _chances(1, "probabilities from 0 to 1"),
    "poisson": _chances(math.inf, "rates of at least 0"),
}

# Of ops whose module is not loaded with the others.
GRAPH_CHECKS: dict[str, Callable[[dict[str, Any]], Check | None]] = {
    "segment_pool": _between(1, lambda _, attrs: attrs["count"], "segment_ids", ValueError),
    "send_u_recv": _edges(lambda attrs: attrs["count"]),
    "send_ue_recv": _edges(lambda attrs: attrs["count"]),
    "send_uv": _edges(),
}


def attach(checks: dict[str, Callable[[dict[str, Any]], Check | None]]) -> None:
    """Attach checks to ops, which are defined."""
    for name, check in checks.items():
        REGISTRY[name].input_check = check


def install() -> None:
    """Attach the checks to the ops, once all are defined."""
    attach(CHECKS)
    for name, look in singular.LOOKS.items():
        REGISTRY[name].output_check = look
