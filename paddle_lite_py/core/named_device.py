"""paddle.device.Device: a device by name, which tensors have too."""

from __future__ import annotations

from typing import Any

from .place import Place, get_device, set_device

_TYPES = ("cpu", "gpu", "cuda", "tpu", "xpu")


class Device(str):
    """Device by name; accepted wherever a device is, and equal to its name.

    Arguments:
        type: "cpu", "gpu", "cuda", "tpu" or "xpu", with or without an index ("cuda:0"); a place; or the index of a GPU.
        index: index of the device, if type has none.

    Raises:
        ValueError: if there is no such kind of device.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> device = paddle.device("cuda", 1)
        >>> device, device.type, device.index
        ('cuda:1', 'cuda', 1)
        >>> with paddle.device("cpu"):
        ...     paddle.zeros([1], device=paddle.device("cpu")).place
        Place(cpu)
    """

    type: str
    index: int | None  # type: ignore[assignment]  # not the method of texts

    def __new__(cls, type: Any = None, index: int | None = None) -> Device:
        """Of a name, a place or an index."""
        kind, number = _parse_device(type)
        if kind not in _TYPES or not (number.isdigit() or not number):
            raise ValueError(f"device is {type!r}; expected one of {', '.join(_TYPES)}, with an index or without")
        at = None if kind == "cpu" else int(number or 0) if index is None else index
        made = super().__new__(cls, kind if at is None else f"{kind}:{at}")
        made.type, made.index = kind, at
        made._before = []
        return made

    def __enter__(self) -> Device:
        self._before.append(get_device())
        set_device(self)
        return self

    def __exit__(self, *error: object) -> None:
        set_device(self._before.pop())

    _before: list[str]

    def __reduce__(self) -> Any:
        return Device, (str(self),)


def _parse_device(given: Any) -> tuple[str, str]:
    """Return the kind and the index of a device, as text."""
    if isinstance(given, bool) or not isinstance(given, str | int | Place):
        raise TypeError(f"device is {given!r}; expected a name, a place or the index of a GPU")
    name = f"cuda:{given}" if isinstance(given, int) else given.name if isinstance(given, Place) else given.lower()
    kind, _, number = name.partition(":")
    return kind, number
