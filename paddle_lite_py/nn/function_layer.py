"""Layers without parameters: settings, and a function of paddle.nn.functional that takes them."""

from __future__ import annotations

import inspect
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar

from ..eager.tensor import Tensor
from . import functional as F
from .base import Layer


class FunctionLayer(Layer):
    """Base: a subclass names its function and its settings with their defaults; REQUIRED has none."""

    _function: ClassVar[str] = ""
    _settings: ClassVar[dict[str, Any]] = {}
    # Settings that repr() shows; all but the data format and the name by default.
    _shown: ClassVar[tuple[str, ...] | None] = None
    _takes_training: ClassVar[bool] = False
    _binding: ClassVar[inspect.Signature]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
        pairs = [*cls._settings.items(), ("name", None)]
        params = [inspect.Parameter(k, keyword, default=v) for k, v in pairs]
        cls._binding = inspect.Signature(params)
        shown = inspect.Signature([p.replace(default=p.empty) if p.default is REQUIRED else p for p in params])
        if not cls.__init__.__code__.co_flags & inspect.CO_VARARGS:  # its own
            shown = inspect.Signature(list(inspect.signature(cls.__init__).parameters.values())[1:])
        cls.__signature__ = shown  # type: ignore[attr-defined]
        for name in cls._settings:  # programs read and change `pool._output_size` as well
            setattr(cls, f"_{name}", property_of(name))
        if "name" not in cls._settings:
            setattr(cls, "name", property_of("_name"))  # noqa: B010  (mypy knows no such attribute)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        try:
            bound = self._binding.bind(*args, **kwargs)
        except TypeError as e:
            raise TypeError(
                f"{type(self).__name__}: {e}; it takes {', '.join(self._settings) or 'no settings'}"
            ) from None
        bound.apply_defaults()
        for name in self._settings:
            value = bound.arguments[name]
            if value is REQUIRED:
                raise TypeError(f"{type(self).__name__}: {name} is missing")
            setattr(self, name, value)
        self._name = bound.arguments["name"]

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return the function of the inputs."""
        settings = {k: getattr(self, k) for k in self._settings}
        if self._takes_training:
            settings["training"] = self.training
        return getattr(F, self._function)(*inputs, **kwargs, **settings)

    def extra_repr(self) -> str:
        """Return its settings."""
        shown = (
            self._shown
            if self._shown is not None
            else [k for k in self._settings if k not in ("data_format", "inplace")]
        )
        parts = [f"{k}={v}" for k in shown if not isinstance(v := getattr(self, k), Tensor)]
        return ", ".join([*parts, *([f"name={self._name}"] if self._name else [])])


def _assign(name: str, layer: FunctionLayer, value: Any) -> None:
    setattr(layer, name, value)


def property_of(name: str) -> property:
    """Return a setting under another name."""
    return property(attrgetter(name), partial(_assign, name))


class _Required:
    def __repr__(self) -> str:
        return "<required>"


REQUIRED: Any = _Required()
