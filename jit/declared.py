"""The specs that a user has declared for the tensors of a function, held against those of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle_lite_py.core.errors import warn_user
from paddle_lite_py.eager.tensor import Tensor

from . import spec
from .call import FunctionCall
from .spec import InputSpec


class DeclaredSpecs:
    """The part of a static function that knows its input_spec."""

    __name__: str
    _function: Callable[..., Any]
    _input_spec: Any
    _warned = False

    def _arguments(self, args: Any, kwargs: Any) -> FunctionCall:
        """Return the arguments of a call, with the declared spec of each tensor, checked."""
        call = FunctionCall(self._function, args, kwargs)
        if self._input_spec is not None:
            call.specs = self._specs(call)
        return call

    def _specs(self, call: FunctionCall) -> list[InputSpec]:
        names, out = call.names.tensors, []
        declared = spec.find_declared_specs(self, self._input_spec, call.args, call.kwargs)
        for i, (given, t) in enumerate(zip(declared, call.tensors, strict=True)):
            given = InputSpec.from_tensor(t, names[i]) if given is None else given
            out.append(self._fit_spec(given, t, names[i] if i < len(names) else f"arg{i}"))
        return out

    def _fit_spec(self, given: InputSpec, tensor: Tensor, name: str) -> InputSpec:
        """Return the declared spec; with the sizes of this call where they differ, with one warning."""
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
            warn_user(text)
