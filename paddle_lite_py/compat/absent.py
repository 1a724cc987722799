"""Names of torch without a counterpart here, which a program may import and not use."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["missing"]


class _Absent:
    """Raises where it is used."""

    def __init__(self, name: str, advice: str) -> None:
        self.__dict__.update(_name=name, _advice=advice)

    def _refuse(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{self._name} is not available: {self._advice}")

    __call__ = __getitem__ = __iter__ = __len__ = __bool__ = __enter__ = _refuse

    def __exit__(self, *_args: object) -> None:
        self._refuse()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Absent(f"{self._name}.{name}", self._advice)

    def __setattr__(self, name: str, value: Any) -> None:
        self._refuse()

    def __mro_entries__(self, _bases: tuple[Any, ...]) -> tuple[type]:
        return (type("_AbsentBase", (), {"__new__": self._refuse}),)

    def __instancecheck__(self, _instance: Any) -> bool:
        return False

    def __subclasscheck__(self, _subclass: Any) -> bool:
        return False

    def __repr__(self) -> str:
        return f"<{self._name}, which is not available>"


def missing(name: str, advice: str) -> Any:
    """Return what stands for a name that is not available: it raises where it is called, entered or made.

    Nothing is an instance of it.

    Arguments:
        name: the name.
        advice: what to do instead.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> download = paddle.compat.missing("torch.hub.load", "load the weights with paddle.load()")
        >>> download("net")
        Traceback (most recent call last):
        NotImplementedError: torch.hub.load is not available: load the weights with paddle.load()
    """
    return _Absent(name, advice)
