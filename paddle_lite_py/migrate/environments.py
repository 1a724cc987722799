"""Variables of the environment that have a type, as published programs read and set them."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, ClassVar

_TRUE, _FALSE = frozenset(("y", "yes", "t", "true", "on", "1")), frozenset(("n", "no", "f", "false", "off", "0"))


def _truth(name: str, text: str) -> bool:
    if text.lower() not in _TRUE | _FALSE:
        raise ValueError(f"the environment variable {name} is {text!r}; set it to true or false")
    return text.lower() in _TRUE


class EnvironmentVariable:
    """A variable of the environment with a type and a default.

    Args:
        name: its name.
        default: its value where it is not set, of the variable's type.

    Raises:
        TypeError: default has another type.

    Examples:
        >>> verbose = BooleanEnvironmentVariable("MY_VERBOSE", False)
        >>> with EnvironmentVariableGuard(verbose, True):
        ...     verbose.get()
        True
        >>> verbose.get()
        False
    """

    _type: ClassVar[type] = object

    def __init__(self, name: str, default: Any) -> None:
        if self._type is not object and type(default) is not self._type:
            raise TypeError(f"the default of {name} is {default!r}; expected a value of {self._type.__name__}")
        self.name, self.default = name, default

    def get(self) -> Any:
        """Return the value that the environment has now, or the default."""
        text = os.environ.get(self.name)
        return self.default if text is None else self.parse_from_string(text)

    def set(self, value: Any) -> None:
        """Set the variable for this process and those that it starts."""
        os.environ[self.name] = self.convert_to_string(value)

    def delete(self) -> None:
        """Remove the variable, so that the default is its value."""
        os.environ.pop(self.name, None)

    def parse_from_string(self, text: str) -> Any:
        """Return the value of a text."""
        return text

    def convert_to_string(self, value: Any) -> str:
        """Return the text of a value."""
        return str(value)


class StringEnvironmentVariable(EnvironmentVariable):
    """A variable that is a text."""

    _type = str


class BooleanEnvironmentVariable(EnvironmentVariable):
    """A variable that is true or false; "1", "on" and "yes" are true as well."""

    _type = bool

    def parse_from_string(self, text: str) -> bool:
        """Return the truth that a text stands for."""
        return _truth(self.name, text)

    def convert_to_string(self, value: Any) -> str:
        """Return "true" or "false"."""
        return str(bool(value)).lower()

    def __bool__(self) -> bool:
        raise ValueError(f"the truth of the variable {self.name} is that of its value: write {self.name}.get()")


class IntegerEnvironmentVariable(EnvironmentVariable):
    """A variable that is a whole number; the default stands for a text that is none."""

    _type = int

    def parse_from_string(self, text: str) -> int:
        """Return the number of a text."""
        try:
            return int(text)
        except ValueError:
            return int(self.default)


class StringListEnvironmentVariable(EnvironmentVariable):
    """A variable that is a list of texts with commas between."""

    _type = list

    def parse_from_string(self, text: str) -> list[str]:
        """Return the texts between the commas."""
        return text.split(",")

    def convert_to_string(self, value: Any) -> str:
        """Return the texts with commas between."""
        return ",".join(value)


class EnvironmentVariableGuard:
    """Set a variable now, and what it was when the block ends.

    Args:
        variable: an EnvironmentVariable.
        value: its value in the block.
    """

    def __init__(self, variable: EnvironmentVariable, value: Any) -> None:
        self.variable, self._before = variable, os.environ.get(variable.name)
        self.original_value = variable.get()
        variable.set(value)

    def __enter__(self) -> EnvironmentVariableGuard:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        if self._before is None:
            self.variable.delete()
        else:
            os.environ[self.variable.name] = self._before
