"""Lists and dictionaries of parameters that may hold other tensors, and anything else, as torch's may."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ... import nn
from ...eager.tensor import Parameter, Tensor


def _kept(value: Any) -> Any:
    """Return what a container holds of a value: of a tensor, a parameter that begins with it."""
    is_plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
    return Parameter(value.detach(), requires_grad=value.dtype.is_floating or value.is_complex()) if is_plain else value


class ParameterList(nn.ParameterList):
    """paddle.nn.ParameterList that makes parameters of other tensors, and may hold layers or anything else.

    Arguments:
        values: what it holds; None: nothing.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> P = paddle.compat.nn.ParameterList
        >>> pair = P([paddle.ones([2]), P([paddle.ones([1])])])
        >>> sorted(pair.state_dict()), len(pair[1:])
        (['0', '1.0'], 1)
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        self._size = 0
        super().__init__(values)

    def _place(self, index: int) -> str:
        if not -self._size <= index < self._size:
            raise IndexError(f"ParameterList: the index is {index}; there are {self._size} elements")
        return str(index % self._size)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)([self[i] for i in range(*index.indices(self._size))])
        return getattr(self, self._place(int(index)))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._place(int(index)), _kept(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(self._size)])

    def __iadd__(self, values: Iterable[Any]) -> Any:
        return self.extend(values)

    def append(self, value: Any) -> Any:
        """Append a value and return the container."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Any:
        """Append values and return the container."""
        for value in [*values]:
            self.append(value)
        return self


class ParameterDict(nn.ParameterDict):
    """paddle.nn.ParameterDict that makes parameters of other tensors, and may hold layers or anything else.

    Arguments:
        parameters: a dict or (name, value) pairs; None: nothing.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> held = paddle.compat.nn.ParameterDict({"w": paddle.ones([2])})
        >>> "w" in held, held.get("b", 0), [(k, v.shape) for k, v in held.items()]
        (True, 0, [('w', paddle.Size([2]))])
    """

    def __init__(self, parameters: Any = None) -> None:
        self._held: list[str] = []
        super().__init__(parameters)

    def __getitem__(self, key: str) -> Any:
        if key not in self._held:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if key not in self._held:
            self._held = [*self._held, key]
        setattr(self, key, _kept(value))

    def __delitem__(self, key: str) -> None:
        self._held = [k for k in self._held if k != key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[str]:
        return iter([*self._held])

    def __contains__(self, key: object) -> bool:
        return key in self._held

    def keys(self) -> list[str]:
        """Return the names."""
        return [*self._held]

    def values(self) -> list[Any]:
        """Return what it holds."""
        return [self[k] for k in self._held]

    def items(self) -> list[tuple[str, Any]]:
        """Return names and what they stand for."""
        return [(k, self[k]) for k in self._held]

    def get(self, key: str, default: Any = None) -> Any:
        """Return what a name stands for, or the default."""
        return self[key] if key in self._held else default

    def pop(self, key: str) -> Any:
        """Remove a name, and return what it stood for."""
        value = self[key]
        del self[key]
        return value
