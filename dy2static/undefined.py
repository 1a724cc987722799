"""Undefined variables."""

from __future__ import annotations

from typing import Any, NoReturn

from .errors import UndefinedError
from .location import Location


class Undefined:
    """Stands for a variable that a branch or a loop left without a value.

    It may be carried about; any real use raises `UndefinedError`, which names the variable and the place.

    Arguments:
        name: the user's name of the variable.
        where: the statement that left it undefined.

    Example:
        >>> from dy2static import Undefined
        >>> Undefined("t")
        <undefined t>
    """

    __slots__ = ("name", "where")

    name: str
    where: Location | None

    def __init__(self, name: str, where: Location | None = None) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "where", where)

    def __repr__(self) -> str:
        return f"<undefined {self.name}>"

    def __reduce__(self) -> Any:
        return Undefined, (self.name, self.where)

    def error(self) -> UndefinedError:
        """Return the error that a use of this variable raises."""
        left = f": the statement at {self.where} may leave it without one" if self.where else " here"
        return UndefinedError(
            f"variable `{self.name}` is used, but it has no value{left}: give it one before it is used"
        )

    def __getattr__(self, attribute: str) -> NoReturn:
        if attribute.startswith("__") and attribute.endswith("__"):
            raise AttributeError(attribute)  # read by protocols such as copy and pickle: no use of the variable
        raise self.error()


def _use(self: Undefined, *args: Any, **kwargs: Any) -> NoReturn:
    raise self.error()


_BINARY = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or"
_OTHER = """lt le gt ge eq ne neg pos abs invert bool int float complex index round len iter next reversed contains
    getitem setitem delitem setattr delattr call enter exit str format bytes"""
for _name in [prefix + name for name in _BINARY.split() for prefix in ("", "r", "i")] + _OTHER.split():
    setattr(Undefined, f"__{_name}__", _use)
Undefined.__hash__ = object.__hash__  # type: ignore[method-assign]
