"""Quantization-aware training and post-training quantization."""

from __future__ import annotations

import copy
from typing import Any

from ..core.interpreter import no_grad
from ..nn.base import Layer
from ..nn.quant import QuanterStub, Stub
from .base import BaseObserver
from .config import QuantConfig
from .layers import ConvertibleQuantedLayer, ObserveWrapper
from .quanters import FakeQuanterWithAbsMaxObserver

__all__ = ["PTQ", "QAT"]


class _Quantization:
    """Base: a configuration, and the replacing of layers."""

    def __init__(self, config: QuantConfig) -> None:
        if not isinstance(config, QuantConfig):
            raise TypeError(f"{type(self).__name__}: config is a {type(config).__name__}; expected a QuantConfig")
        self._config = config

    def quantize(self, model: Layer, inplace: bool = False) -> Layer:
        """Insert quanters or observers as configured, and return the network; a copy unless inplace."""
        target = model if inplace else copy.deepcopy(model)
        self._replace(target, model)
        return target

    def _replace(self, target: Layer, source: Layer) -> None:
        """Walk a network and the one it was copied from, of whose layers the configuration speaks."""
        for name, child in list(source.named_children()):
            choice, made = self._config.choice(child), self._config.qat_layer_mappings.get(type(child))
            own = target._sub_layers[name]
            closed = isinstance(child, tuple(self._config.customized_leaves))
            if made is not None and not closed and (choice is not None or isinstance(child, Stub)):
                setattr(target, name, made(own, choice))
            elif closed or not child._sub_layers:
                if choice is not None and choice.activation is not None:
                    setattr(target, name, ObserveWrapper(choice.activation._instance(own), own))
            else:
                self._replace(own, child)

    def convert(self, model: Layer, inplace: bool = False, remain_weight: bool = False) -> Layer:
        """The network for inference: weights are rounded once, and what layers take by scales that no longer change.

        Arguments:
            remain_weight: leave the weights as they are.
        """
        target = model if inplace else copy.deepcopy(model)
        for layer in target.sublayers(include_self=True):
            if isinstance(layer, ObserveWrapper | QuanterStub):
                _fix(layer, "_observer")
            elif isinstance(layer, ConvertibleQuantedLayer):
                _settle(layer, remain_weight)
        target.eval()
        return target


def _fix(layer: Any, name: str, weight: Any = None) -> None:
    """An observer that has seen enough rounds from here on, a weight by its own largest value."""
    quanter = getattr(layer, name, None)
    if isinstance(quanter, BaseObserver):
        quanter.cal_thresholds()
        fixed = FakeQuanterWithAbsMaxObserver(bit_length=quanter.bit_length())._instance(layer)
        fixed._scale.set_value(quanter.scales() if weight is None else weight.abs().max().reshape([1]))
        setattr(layer, name, fixed)


def _settle(layer: ConvertibleQuantedLayer, remain_weight: bool) -> None:
    for name in layer.activation_quanters():
        _fix(layer, name)
    for name, quanter in layer.weights_to_quanters():
        weight = getattr(layer, name)
        _fix(layer, quanter, weight)
        layer.eval()
        if getattr(layer, quanter, None) is not None and not remain_weight:
            with no_grad():
                weight.set_value(getattr(layer, quanter)(weight))
            setattr(layer, quanter, None)
    layer.converted = True


class QAT(_Quantization):
    """Quantization-aware training: quantize() inserts quanters before training, convert() finishes after it.

    Arguments:
        config: a QuantConfig.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver()
        >>> qat = QAT(paddle.quantization.QuantConfig(activation=quanter, weight=quanter))
        >>> net = qat.quantize(paddle.nn.Sequential(paddle.nn.Linear(2, 2)))
        >>> type(net[0]).__name__, net(paddle.ones([1, 2])).shape
        ('QuantedLinear', paddle.Size([1, 2]))
    """


class PTQ(_Quantization):
    """Post-training quantization: quantize() inserts observers, calibration data is run through, convert() finishes.

    Arguments:
        config: a QuantConfig.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> Q, net = paddle.quantization, paddle.nn.Sequential(paddle.nn.Linear(2, 1))
        >>> look = Q.observers.AbsmaxObserver()
        >>> model = Q.PTQ(Q.QuantConfig(activation=look, weight=look)).quantize(net)
        >>> model(paddle.ones([1, 2])).shape
        paddle.Size([1, 1])
    """
