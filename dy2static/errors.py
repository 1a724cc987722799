"""The errors this package raises."""

from __future__ import annotations


class ConversionError(Exception):
    """A function could not be converted; the message says which one, why, and what to do.

    Example:
        >>> import dy2static
        >>> namespace = {}
        >>> exec("def f(x): return x", namespace)
        >>> try:
        ...     dy2static.convert(namespace["f"])
        ... except dy2static.ConversionError as error:
        ...     print(str(error)[:53])
        the source of function `f` (<string>:1) was not found
    """


class UndefinedError(UnboundLocalError):
    """A variable was used that some branch or loop had left without a value.

    It is an `UnboundLocalError`, the error that plain Python raises for the same program.

    Example:
        >>> from dy2static import Undefined
        >>> try:
        ...     Undefined("t") + 1
        ... except UnboundLocalError as error:
        ...     print(error)
        variable `t` is used, but it has no value here: give it one before it is used
    """
