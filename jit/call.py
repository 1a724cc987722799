"""The arguments of one call of a static function, flattened once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle_lite_py.eager.pending import payload_of

from . import spec
from .spec import ArgumentNames, InputSpec


class FunctionCall:
    """A function and its arguments: NumPy arrays as tensors, keywords in the order of the parameters.

    Arguments:
        function: the function as the user wrote it.
        args: positional arguments.
        kwargs: keyword arguments.
    """

    __slots__ = ("args", "function", "kwargs", "specs", "structure", "tensors")

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function = function
        self.args = tuple(map(spec.as_tensor, args))
        self.kwargs = {k: spec.as_tensor(kwargs[k]) for k in spec.in_order(function, kwargs)}
        self.structure, self.tensors = spec.flatten(self.args, self.kwargs)
        self.specs: list[InputSpec] | None = None  # of the tensors, where an input_spec declares them

    @property
    def names(self) -> ArgumentNames:
        """Return the user's names of the arguments."""
        return spec.names_of(self.function, self.args, self.kwargs)

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of each tensor."""
        return [payload_of(t).shape for t in self.tensors]

    def run_eagerly(self) -> Any:
        """Call the function itself."""
        return self.function(*self.args, **self.kwargs)
