"""The specs that a user has declared for the tensors of a function, held against those of a call."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from paddle_lite_py.eager.tensor import Tensor

from . import spec
from .spec import InputSpec


class DeclaredSpecs:
    """The part of a static function that knows its input_spec."""

    __name__: str
    _function: Callable[..., Any]
    _input_spec: Any
    _warned = False

    def _specs(self, args: Any, kwargs: Any, tensors: list[Tensor]) -> list[InputSpec] | None:
        """The declared spec of each tensor, checked; None where nothing is declared."""
        if self._input_spec is None:
            return None
        names, out = spec.argument_names(self._function, args, kwargs), []
        for i, (given, t) in enumerate(zip(spec.declared(self, self._input_spec, args, kwargs), tensors, strict=True)):
            given = InputSpec.from_tensor(t, names[i]) if given is None else given
            out.append(self._fitting(given, t, names[i] if i < len(names) else f"arg{i}"))
        return out

    def _fitting(self, given: InputSpec, tensor: Tensor, name: str) -> InputSpec:
        """The declared spec; with the sizes of this call where they differ, of which the user is told once."""
        sized = given.sized(tensor)
        if sized is not given:
            self._warn_once(
                f"`{self.__name__}`: argument `{name}` is {tensor.dtype.name}{[*tensor.shape]}, but its InputSpec asks "
                f"for {given.dtype.name}{list(given.shape)}: a program is compiled for this size as well; write None "
                "for a size that changes"
            )
        sized.check(tensor, name)
        return sized

    def _warn_once(self, text: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(text, stacklevel=7)
