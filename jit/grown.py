"""Lists that grow in a staged loop or branch of a program for any sizes: only a run knows how many items there are.

    found = []                            found: []
    for i in range(n):        --loop-->   found: [Several[0, 4]] -> [Several[m, 4], x] -> [Several[m + 1, 4]]
        found.append(x[i])

What stands for such items is an element of the list itself, so that the list keeps its identity, and whatever adds
items at its ends, joins or copies it needs to know nothing of this.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NoReturn

from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.core.unknown_size import UnknownSize
from paddle_lite_py.eager.tensor import Tensor
from paddle_lite_py.ir.parts import words
from paddle_lite_py.ops.joining import concat
from paddle_lite_py.ops.manipulation import flatten, moveaxis
from paddle_lite_py.ops.slicing import flip
from paddle_lite_py.tracing.builder import Builder
from paddle_lite_py.tracing.traced_scalars import as_number

from . import merge
from .errors import StagingError
from .staged import Staged


@dataclasses.dataclass(eq=False, repr=False)
class Several:
    """Items of a list, in one tensor for each leaf that an item has.

    Arguments:
        leaves: the tensors; their first dimension counts the items.
        structure: how an item is made of leaves, and which of these are numbers in eager code.
    """

    leaves: list[Tensor]
    structure: nested.Static
    in_words: ClassVar = "a list that has grown in a loop, so that only a run knows its length; return stack() of it"

    def item(self, i: Any) -> Any:
        """Return the item at a position, which may be a tensor."""
        structure, are_numbers = self.structure.value
        found = [leaf[i] for leaf in self.leaves]
        made = [as_number(x) if number else x for x, number in zip(found, are_numbers, strict=True)]
        return nested.unflatten(structure, iter(made))

    def map(self, change: Callable[[Tensor], Tensor]) -> Several:
        """Return others of this kind, each of the tensors changed."""
        return self._replace([change(leaf) for leaf in self.leaves])

    def _replace(self, leaves: list[Tensor]) -> Several:
        return Several(leaves, self.structure)

    def length(self) -> Any:
        """Number of items."""
        return self.leaves[0].shape[0]

    def one(self, item: Any, leaves: list[Any], shapes: list[Any]) -> list[Tensor]:
        """Return the tensors of a single item, which is made of these leaves.

        Raises:
            StagingError: its sizes are others.
        """
        if any(_differ(shape, v._payload.shape[1:]) for shape, v in zip(shapes, self.leaves, strict=True)):
            raise self._unlike(item)
        return [_tensor(x, v).unsqueeze(0) for x, v in zip(leaves, self.leaves, strict=True)]

    def with_more(self, others: list[Several]) -> Several:
        """Return these items and more."""
        columns = zip(*[v.leaves for v in (self, *others)], strict=True)
        return self._replace([concat(list(column), axis) for column, axis in zip(columns, self._axes, strict=True)])

    def alone(self, item: Any) -> Several:
        """Return one item as several.

        Raises:
            StagingError: it is made otherwise than these.
        """
        structure, leaves = merge.parts(item)
        wanted, are_numbers = self.structure.value
        if not merge.alike(structure, wanted) or tuple(map(merge.is_number_like, leaves)) != are_numbers:
            raise self._unlike(item)
        return self._replace(self.one(item, leaves, [*map(merge.shape_of, leaves)]))

    @property
    def _axes(self) -> list[int]:
        return [0] * len(self.leaves)

    def _unlike(self, item: Any) -> StagingError:
        others = nested.unflatten(self.structure.value[0], iter([f"{v.dtype.name}{[*v.shape]}" for v in self.leaves]))
        return StagingError(
            f"a list that grows in a staged loop gets {merge.describe(item)}, and its other items, one after the "
            f"other, are {others}: give all of them one structure, shape and dtype"
        )

    def __repr__(self) -> str:
        return "<items of a list that has grown in a loop: join it with stack()>"

    def _refuse(self, *args: Any) -> NoReturn:
        raise unknown_length("this")

    __bool__ = __iter__ = __len__ = __getitem__ = __add__ = __radd__ = __float__ = __int__ = _refuse


@dataclasses.dataclass(eq=False, repr=False)
class Pieces(Several):
    """Tensors that differ in the size of one axis, one after the other along that, and their sizes."""

    axis: nested.Static

    def item(self, i: Any) -> Any:
        """Return the item at a position, which may be a tensor."""
        flat, sizes = self.leaves
        end, size = sizes.cumsum(0)[i], sizes[i]
        axis = self.axis.value
        return flat[(*[slice(None)] * axis, slice(end - size, end))]

    def map(self, change: Callable[[Tensor], Tensor]) -> Several:
        """Refuse."""
        raise unknown_length("this")

    def length(self) -> Any:
        """Number of items."""
        return self.leaves[1].shape[0]

    def one(self, item: Any, leaves: list[Any], shapes: list[Any]) -> list[Tensor]:
        """Return the tensors of a single item, which is made of these leaves."""
        ((x,), axis, flat) = leaves, self.axis.value, self.leaves[0]
        mine, others = [*shapes[0]], [*flat._payload.shape]
        size = UnknownSize.of(mine.pop(axis))
        others.pop(axis)
        if _differ(mine, others):
            raise self._unlike(item)
        number = size.number() if isinstance(size, UnknownSize) else size
        return [_tensor(x, flat), _tensor(number, self.leaves[1]).reshape([1])]

    @property
    def _axes(self) -> list[int]:
        return [self.axis.value, 0]

    def _replace(self, leaves: list[Tensor]) -> Pieces:
        return Pieces(leaves, self.structure, self.axis)


def _differ(shape: Any, other: Any) -> bool:
    return [*map(str, shape)] != [*map(str, other)]


def _tensor(x: Any, like: Tensor) -> Tensor:
    builder: Any = mode.interpreter
    return builder.handle(merge.as_value(builder, x, like._payload.dtype))


def unknown_length(what: str) -> StagingError:
    """Return the error of what needs the items of such a list one by one."""
    return StagingError(
        f"{what} needs the items of a list that grows in a staged loop, whose number only a run knows: join them with "
        "paddle.stack or paddle.concat first, or go over them with a `for` statement"
    )


def holds(x: Any) -> bool:
    """Whether a value is a list or tuple of which only a run knows the length."""
    return type(x) in (list, tuple) and any(isinstance(v, Several) for v in x)


def length(x: Sequence[Any]) -> Any:
    """Return the number of items."""
    return sum([v.length() if isinstance(v, Several) else 1 for v in x])


def joined(x: Sequence[Any]) -> Several:
    """Return all items of such a list as one.

    Raises:
        StagingError: the items are of different kinds.
    """
    like = next(v for v in x if isinstance(v, Several))
    first, *others = [v if isinstance(v, Several) else like.alone(v) for v in x]
    return first.with_more(others) if others else first


def begun(builder: Builder, before: Any, after: Any) -> Any:
    """Return a list as what becomes another one, in the current frame; None for what is no such list.

    Raises:
        StagingError: its items differ.
    """
    if builder.unknown is None or type(before) not in (list, tuple) or type(after) is not type(before):
        return None
    items = [*before, *after]
    sample = next((v for v in items if isinstance(v, Several)), items[0] if items else None)
    empty = None if sample is None else _empty(builder, sample)
    return None if empty is None else type(before)([joined([empty, *before])])


def _empty(builder: Builder, sample: Any) -> Several | None:
    """Return no item, in the current frame; None where an item has no tensors or numbers."""
    if isinstance(sample, Several):
        kind, leaves, shapes = sample.structure, sample.leaves, [v._payload.shape[1:] for v in sample.leaves]
    else:
        structure, leaves = merge.parts(sample)
        kind = nested.Static((structure, tuple(map(merge.is_number_like, leaves))))
        shapes = [*map(merge.shape_of, leaves)]
    if isinstance(sample, Pieces):
        return _no_pieces(builder, leaves[0], kind, sample.axis.value)
    unknown = {(i, k) for i, shape in enumerate(shapes) for k, n in enumerate(shape) if not _is_known(builder, n)}
    if len(unknown) == 1 and kind.value == (nested.LEAF, (False,)) and not isinstance(sample, Several):
        return _no_pieces(builder, leaves[0], kind, unknown.pop()[1])
    if unknown:
        raise StagingError(
            "the items of a list that grows in a staged loop differ in several sizes, as data decide: pad them to one "
            "shape"
        )
    zeros = [_zeros(builder, (0, *s), merge.natural_dtype(x)) for s, x in zip(shapes, leaves, strict=True)]
    return Several(zeros, kind) if leaves else None


def _no_pieces(builder: Builder, like: Tensor, kind: nested.Static, axis: int) -> Pieces:
    shape = tuple([0 if k == axis else n for k, n in enumerate(like._payload.shape)])
    zeros = [_zeros(builder, shape, like._payload.dtype), _zeros(builder, (0,), "int64")]
    return Pieces(zeros, kind, nested.Static(axis))


def _zeros(builder: Builder, shape: Any, dtype: Any) -> Tensor:
    return builder.handle(merge.zeros(builder, shape, dtype))


def _is_known(builder: Builder, size: Any) -> bool:
    """Whether a size is known in the current frame."""
    found: list[Any] = [builder.measured[name].value for name in words((size,)) if name in builder.measured]
    return all(builder.frame.inside(value.frame) for value in found)


def settled(builder: Builder, x: Any, like: Any) -> Any:
    """Return such a list with one element for all of its items, as another one has them; anything else as it is."""
    if type(x) is not type(like) or len(x) == 1 and holds(x):
        return x
    return type(x)([joined([*([] if holds(x) else [_empty(builder, like[0])]), *x])])


def added_to(before: Any, after: Any) -> int | None:
    """Return how many items have been added at the end of such a list; None where that is not all that has changed."""
    if not before or len(before) != 1 or not after or after[0] is not before[0] or holds(after[1:]):
        return None
    return len(after) - 1


def of_length(x: Any, size: Any) -> Any:
    """Return such a list, of which sizes tell the length."""
    if isinstance(x[0], Pieces):
        return x
    return type(x)([joined(x).map(lambda v: v.reshape([size, *v.shape[1:]]))])


class GrownList(Staged):
    """Such a list as what a staged `for` goes over."""

    def __init__(self, items: Sequence[Any]) -> None:
        self.items = items

    def length(self) -> Any:
        """Number of items."""
        return length(self.items)

    def item(self, i: Any) -> Any:
        """Return the i-th item; i may be traced."""
        return joined(self.items).item(i)


def is_index(x: Any, key: Any) -> bool:
    """Whether only a run knows which item of a list `x[key]` is."""
    staged = isinstance(key, Tensor | UnknownSize) and type(x) in (list, tuple)
    return staged and isinstance(mode.interpreter, Builder) and mode.interpreter.unknown is not None


def item(x: Any, key: Any) -> Any:
    """`x[key]`."""
    builder: Any = mode.interpreter
    if not holds(x) and (x := begun(builder, x, x)) is None:
        raise IndexError("list index out of range: it has no items with tensors")
    if isinstance(key, UnknownSize):
        key = key.number()
    if isinstance(key, slice):
        return type(x)([joined(x).map(lambda v: v[key])]) if key != slice(None) else type(x)(x)
    if isinstance(key, int):
        outer = x if key >= 0 else x[::-1]
        at = key if key >= 0 else -1 - key
        ahead = outer[: at + 1]
        if len(ahead) > at and not holds(ahead):
            return ahead[at]
    return joined(x).item(key)


def put(x: list[Any], key: Any, value: Any) -> None:
    """`x[key] = value`."""
    held = joined(x).map(lambda v: v.clone())
    given = held.alone(value)
    for v, one in zip(held.leaves, given.leaves, strict=True):
        v[key] = one[0]
    x[:] = [held]


def changed(x: list[Any], method: str, args: Any) -> Any:
    """Call a method of list that looks at the length."""
    if method == "insert" and args[0] == 0 or method in ("append", "extend", "clear", "copy"):
        return getattr(x, method)(*args)
    if method == "reverse":
        x[:] = [joined(x).map(lambda v: flip(v, 0))]
        return None
    if method == "pop" and args in ((), (-1,), (0,)):
        first = args == (0,)
        found = item(x, 0 if first else -1)
        x[:] = item(x, slice(1, None) if first else slice(None, -1))
        return found
    raise unknown_length(f"`{method}`")


def stacked(x: Sequence[Any], axis: int = 0) -> Tensor:
    """paddle.stack of such a list."""
    return moveaxis(_tensors(x, "stack"), 0, axis)


def concatenated(x: Sequence[Any], axis: int = 0) -> Tensor:
    """paddle.concat of such a list."""
    held = joined(x)
    if isinstance(held, Pieces) and axis % held.leaves[0].ndim == held.axis.value:
        return held.leaves[0]
    rows = _tensors(x, "concat")
    axis = axis % (rows.ndim - 1)
    return flatten(moveaxis(rows, 0, axis), axis, axis + 1)


def added(inputs: Any) -> Tensor:
    """paddle.add_n of such a list."""
    return _tensors(inputs, "add_n").sum(axis=0)


def total(items: Any) -> Any:
    """Return the sum of the items, which may be numbers."""
    held = joined(items)
    if held.structure.value == (nested.LEAF, (True,)):
        return as_number(held.leaves[0].sum(axis=0))
    return _tensors(items, "sum").sum(axis=0)


def _tensors(x: Sequence[Any], name: str) -> Tensor:
    held = joined(x)
    if isinstance(held, Pieces):
        raise StagingError(
            f"{name}() takes a list that has grown in a staged loop, whose tensors differ in the size of dimension "
            f"{held.axis.value}, as data decide: they can be joined along that one only"
        )
    if held.structure.value != (nested.LEAF, (False,)):
        raise TypeError(f"{name}() takes a list of tensors; those of this one are made otherwise")
    return held.leaves[0]
