"""Containers of tensors by identity, as programs take them from inner modules of PaddlePaddle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, MutableSet
from typing import Any


class ValueDict(MutableMapping[Any, Any]):
    """A dictionary whose keys are tensors, compared by identity, or None.

    Args:
        iter: a mapping to begin with.
        default_factory: makes the value of a key that is not there.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.ones([2]), paddle.ones([2])
        >>> found = ValueDict({x: 1})
        >>> found[x], y in found
        (1, False)
    """

    def __init__(
        self, iter: Mapping[Any, Any] | None = None, *, default_factory: Callable[[], Any] | None = None
    ) -> None:
        self._items: dict[int, tuple[Any, Any]] = {}
        self._default_factory = default_factory
        self.update(iter or {})

    def __getitem__(self, key: Any) -> Any:
        if id(key) not in self._items:
            if self._default_factory is None:
                raise KeyError(f"{key} is not in ValueDict")
            self[key] = self._default_factory()
        return self._items[id(key)][1]

    def __contains__(self, key: Any) -> bool:
        return id(key) in self._items

    def __setitem__(self, key: Any, value: Any) -> None:
        self._items[id(key)] = key, value

    def __delitem__(self, key: Any) -> None:
        del self._items[id(key)]

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self._items.values())

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value of a key, or another one; default_factory is not asked."""
        return self[key] if key in self else default

    def copy(self) -> ValueDict:
        """Return another dictionary of the same keys and values."""
        return ValueDict(self, default_factory=self._default_factory)


class ValueSet(MutableSet[Any]):
    """A set of tensors, compared by identity.

    Args:
        iter: tensors to begin with.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.ones([2]), paddle.ones([2])
        >>> x in ValueSet([x]), len(ValueSet([x]) | ValueSet([x, y]))
        (True, 2)
    """

    def __init__(self, iter: Iterable[Any] | None = None) -> None:
        self._items = {id(value): value for value in iter or ()}

    def __contains__(self, value: Any) -> bool:
        return id(value) in self._items

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items.values())

    def __len__(self) -> int:
        return len(self._items)

    def add(self, value: Any) -> None:
        """Add a tensor."""
        self._items[id(value)] = value

    def discard(self, value: Any) -> None:
        """Remove a tensor if it is there."""
        self._items.pop(id(value), None)

    def update(self, other: Iterable[Any]) -> None:
        """Add tensors."""
        for value in other:
            self.add(value)

    def copy(self) -> ValueSet:
        """Return another set of the same tensors."""
        return ValueSet(self)
