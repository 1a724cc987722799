"""Configuration: which layers are quantized, and how."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..nn.base import Layer
from ..nn.common import Linear
from ..nn.conv import Conv2D
from ..nn.quant import QuanterStub, Stub
from .base import QuanterFactory
from .layers import QuantedConv2D, QuantedLinear

__all__ = ["QuantConfig"]


class Choice(NamedTuple):
    """Quanters of one layer: of its input and of its weight."""

    activation: QuanterFactory | None
    weight: QuanterFactory | None

    def __str__(self) -> str:
        return f"activation: {self.activation}\nweight: {self.weight}"


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


class QuantConfig:
    """Configuration of quantization: which layers are quantized, and how.

    Settings by layer take precedence over settings by name, those over settings by type, and those over the global
    ones.

    Arguments:
        activation: factory of the quanters of activations in all layers; None: none. Layers without a weight, such as
            activations, quantize their input.
        weight: factory of the quanters of weights in all layers; None: none.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver()
        >>> config = QuantConfig(activation=None, weight=None)
        >>> config.add_type_config(paddle.nn.Linear, activation=quanter, weight=quanter)
    """

    def __init__(self, activation: QuanterFactory | None, weight: QuanterFactory | None) -> None:
        self._global = None if activation is None and weight is None else Choice(activation, weight)
        self._by_layer: dict[int, Choice] = {}
        self._by_name: dict[str, Choice] = {}
        self._by_type: dict[type, Choice] = {}
        self._mapping: dict[type, Any] = {Linear: QuantedLinear, Conv2D: QuantedConv2D, Stub: QuanterStub}
        self._leaves: list[type] = []

    def add_layer_config(
        self, layer: Any, activation: QuanterFactory | None = None, weight: QuanterFactory | None = None
    ) -> None:
        """Set the quanters of one or several layers, including their sublayers.

        Arguments:
            layer: a Layer or a list of Layers.
            activation: factory of the quanters of activations; None: none.
            weight: factory of the quanters of weights; None: none.
        """
        for one in _listed(layer):
            for inner in one.sublayers(include_self=True):
                self._by_layer[id(inner)] = Choice(activation, weight)

    def add_name_config(
        self, layer_name: Any, activation: QuanterFactory | None = None, weight: QuanterFactory | None = None
    ) -> None:
        """Set the quanters of layers with the given full names.

        Arguments:
            layer_name: a name or a list of names.
            activation: factory of the quanters of activations; None: none.
            weight: factory of the quanters of weights; None: none.
        """
        self._by_name.update({name: Choice(activation, weight) for name in _listed(layer_name)})

    def add_type_config(
        self, layer_type: Any, activation: QuanterFactory | None = None, weight: QuanterFactory | None = None
    ) -> None:
        """Set the quanters of all layers of the given types.

        Arguments:
            layer_type: a layer class or a list of classes.
            activation: factory of the quanters of activations; None: none.
            weight: factory of the quanters of weights; None: none.
        """
        for kind in _listed(layer_type):
            if not (isinstance(kind, type) and issubclass(kind, Layer)):
                raise TypeError(f"QuantConfig.add_type_config: {kind!r} is no type of Layer")
            self._by_type[kind] = Choice(activation, weight)

    def add_qat_layer_mapping(self, source: type, target: Any) -> None:
        """Set the quantized layer that replaces layers of a type; it is called with (layer, quanters).

        Arguments:
            source: the type of the layers to replace.
            target: the quantized layer.
        """
        self._mapping[source] = target

    def add_customized_leaf(self, layer_type: type) -> None:
        """Treat layers of a type as leaves: their input is quantized, their sublayers are not.

        Arguments:
            layer_type: the type.
        """
        self._leaves.append(layer_type)

    @property
    def customized_leaves(self) -> list[type]:
        """The layer types that are treated as leaves."""
        return self._leaves

    @property
    def qat_layer_mappings(self) -> dict[type, Any]:
        """The quantized layer for each layer type."""
        return self._mapping

    default_qat_layer_mapping = qat_layer_mappings

    @property
    def global_config(self) -> Choice | None:
        """The quanters of all other layers."""
        return self._global

    def choice(self, layer: Layer) -> Choice | None:
        """Return the quanters of a layer; None if it is not quantized."""
        for found in (self._by_layer.get(id(layer)), self._by_name.get(layer.full_name())):
            if found is not None:
                return found
        return self.choice_of(type(layer))

    def choice_of(self, kind: type) -> Choice | None:
        """Return the quanters of layers of a type; None if they are not quantized."""
        return self._by_type.get(kind, self._global)

    def details(self) -> str:
        """Return the settings as text."""
        lines = [f"Global config:\n{self._global}"]
        lines += ["Layer type config:", *(f"{k.__name__}: {c}" for k, c in self._by_type.items())] * bool(self._by_type)
        named = [f"{name}: {choice}" for name, choice in self._by_name.items()]
        return "\n".join([*lines, *["Layer prefix config:", *named] * bool(named)])

    __str__ = details
