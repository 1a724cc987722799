"""Which layers are quantized, and how."""

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
    """The quanters of a layer: of what it takes, and of its weight."""

    activation: QuanterFactory | None
    weight: QuanterFactory | None

    def __str__(self) -> str:
        return f"activation: {self.activation}\nweight: {self.weight}"


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


class QuantConfig:
    """Which layers are quantized, and how: by layer, by name, by type, or all; the first of these that is set counts.

    Arguments:
        activation, weight: quanters of all layers; None: none. Layers without a product, such as activations, round
            what they take.

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
        """Quanters of one layer or several, and of what is inside them."""
        for one in _listed(layer):
            for inner in one.sublayers(include_self=True):
                self._by_layer[id(inner)] = Choice(activation, weight)

    def add_name_config(
        self, layer_name: Any, activation: QuanterFactory | None = None, weight: QuanterFactory | None = None
    ) -> None:
        """Quanters of layers by their full names."""
        self._by_name.update({name: Choice(activation, weight) for name in _listed(layer_name)})

    def add_type_config(
        self, layer_type: Any, activation: QuanterFactory | None = None, weight: QuanterFactory | None = None
    ) -> None:
        """Quanters of all layers of a type."""
        for kind in _listed(layer_type):
            if not (isinstance(kind, type) and issubclass(kind, Layer)):
                raise TypeError(f"QuantConfig.add_type_config: {kind!r} is no type of Layer")
            self._by_type[kind] = Choice(activation, weight)

    def add_qat_layer_mapping(self, source: type, target: Any) -> None:
        """What takes the place of layers of a type: called with (layer, choice of quanters)."""
        self._mapping[source] = target

    def add_customized_leaf(self, layer_type: type) -> None:
        """Take layers of this type as a whole: what they take is rounded, what is inside them stays as it is."""
        self._leaves.append(layer_type)

    @property
    def customized_leaves(self) -> list[type]:
        """The types that are taken as a whole."""
        return self._leaves

    @property
    def qat_layer_mappings(self) -> dict[type, Any]:
        """What takes the place of each type."""
        return self._mapping

    default_qat_layer_mapping = qat_layer_mappings

    @property
    def global_config(self) -> Choice | None:
        """The quanters of all other layers."""
        return self._global

    def choice(self, layer: Layer) -> Choice | None:
        """The quanters of a layer; None if it stays as it is."""
        for found in (self._by_layer.get(id(layer)), self._by_name.get(layer.full_name())):
            if found is not None:
                return found
        return self.choice_of(type(layer))

    def choice_of(self, kind: type) -> Choice | None:
        """The quanters of layers of a type that are not set apart; None if they stay as they are."""
        return self._by_type.get(kind, self._global)

    def details(self) -> str:
        """The settings as text."""
        lines = [f"Global config:\n{self._global}"]
        lines += ["Layer type config:", *(f"{k.__name__}: {c}" for k, c in self._by_type.items())] * bool(self._by_type)
        named = [f"{name}: {choice}" for name, choice in self._by_name.items()]
        return "\n".join([*lines, *["Layer prefix config:", *named] * bool(named)])

    __str__ = details
