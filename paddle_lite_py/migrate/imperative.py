"""Quantization of layers by their names: ImperativeQuantAware in training, ImperativePTQ after it."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, NamedTuple

from .. import nn
from ..core.interpreter import no_grad
from ..core.no_effect import Immaterial, no_effect
from ..eager.tensor import Tensor
from ..jit import save
from ..nn.base import Layer
from ..nn.common import Linear
from ..ops.creation import full, zeros
from ..quantization.base import BaseQuanter, QuanterFactory, fake_quantize
from ..quantization.layers import QuantedConv2D, QuantedConv2DTranspose, QuantedLinear
from ..quantization.quanters import FakeQuanterWithAbsMaxObserverLayer
from .calibration import (
    SUPPORT_ACT_QUANTIZERS,
    SUPPORT_WT_QUANTIZERS,
    BaseQuantizer,
    KLQuantizer,
    PerChannelAbsmaxQuantizer,
    channel_axis,
)

__all__ = ["ImperativePTQ", "ImperativeQuantAware", "PTQConfig"]

QUANTED: dict[str, tuple[type[Layer], Any]] = {
    "Conv2D": (nn.Conv2D, QuantedConv2D),
    "Linear": (Linear, QuantedLinear),
    "Conv2DTranspose": (nn.Conv2DTranspose, QuantedConv2DTranspose),
}
WEIGHTS, ACTIVATIONS = ("abs_max", "channel_wise_abs_max"), ("moving_average_abs_max",)


_OPERATORS = Immaterial("saved programs have quantization as operators of their own in any case")


class _Choice(NamedTuple):
    """The factories of the quanters of a layer."""

    activation: Any
    weight: Any


class _OwnScale(BaseQuanter):
    """The quanter of a weight: by its largest value now, of the tensor or of each position of a dimension."""

    def __init__(self, layer: Any, axis: int | None, bits: int) -> None:
        super().__init__()
        self._axis, self._bits = axis, bits
        self.register_buffer("_scale", zeros([1 if axis is None else layer.weight.shape[axis]]))

    def forward(self, input: Any) -> Any:
        """Return the fake-quantized weight."""
        axes = [i for i in range(input.ndim) if i != self._axis]
        with no_grad():
            scale = input.abs().max(axes).reshape([-1]).astype(self._scale.dtype)
            self._scale.set_value(scale)
        fn: Any = fake_quantize
        return fn(input, scale, most=float(2 ** (self._bits - 1) - 1), axis=self._axis)

    def scales(self) -> Tensor:
        """Return the scales."""
        return self._scale

    def quant_axis(self) -> int | None:
        """Return the dimension along which scales differ; None: one scale for the tensor."""
        return self._axis

    def bit_length(self) -> int:
        """Return the number of bits."""
        return self._bits


class _After:
    """The factory of a quanter behind a layer that prepares what it takes."""

    def __init__(self, before: type[Layer], factory: Any) -> None:
        self.before, self.factory = before, factory

    def _instance(self, layer: Any) -> Layer:
        return nn.Sequential(self.before(), self.factory._instance(layer))


class _Class:
    """The factory of a user's own quanter, whose class takes no arguments."""

    def __init__(self, kind: type[Layer]) -> None:
        self.kind = kind

    def _instance(self, _layer: Any) -> Layer:
        return self.kind()


def _with_parents(model: Layer) -> Iterable[tuple[Layer, str, Layer]]:
    """Yield each sublayer with its parent and its name there; a list, since users replace what they get."""
    parents = model.sublayers(include_self=True)
    return [(parent, name, child) for parent in parents for name, child in parent.named_children()]


def _need(who: str, what: str, found: Any, allowed: Iterable[Any]) -> None:
    if found not in allowed:
        raise ValueError(f"{who}: {what} is {found!r}; expected one of {', '.join(map(repr, allowed))}")


def fuse_conv_bn(model: Layer, pairs: Iterable[Iterable[str]] | None = None) -> None:
    """Fold the batch normalizations of a network into the convolutions or linear layers before them.

    Arguments:
        model: the network in evaluation; a folded normalization becomes an Identity.
        pairs: names of a layer and its normalization; None: each Conv2D and the BatchNorm2D that follows it.

    Raises:
        ValueError: a name is not that of a layer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.nn.Sequential(paddle.nn.Conv2D(1, 2, 1), paddle.nn.BatchNorm2D(2))
        >>> fuse_conv_bn(net); type(net[1]).__name__
        'Identity'
    """
    layers = dict(model.named_sublayers())
    if pairs is None:
        order = [(n, layer) for n, layer in layers.items() if isinstance(layer, nn.Conv2D | nn.BatchNorm2D)]
        ends = zip(order, order[1:], strict=False)
        pairs = [(a, b) for (a, x), (b, y) in ends if isinstance(x, nn.Conv2D) and isinstance(y, nn.BatchNorm2D)]
    for first, second in pairs:
        for name in (first, second):
            if name not in layers:
                raise ValueError(f"fuse_list names {name!r}, which is no layer of the network")
        _fold(layers[first], layers[second])
        parent, _, last = second.rpartition(".")
        setattr(layers[parent] if parent else model, last, nn.Identity())


def _fold(layer: Any, norm: Any) -> None:
    with no_grad():
        factor = norm.weight / (norm._variance + norm._epsilon).sqrt()
        axis = channel_axis(layer)
        shape = [-1 if i == axis else 1 for i in range(layer.weight.ndim)]
        shift = norm.bias - norm._mean * factor
        if layer.bias is None:
            layer.bias = layer.create_parameter(factor.shape, is_bias=True)
            layer.bias.set_value(shift)
        else:
            layer.bias.set_value(layer.bias * factor + shift)
        layer.weight.set_value(layer.weight * factor.reshape(shape))


class ImperativeQuantAware:
    """Quantization-aware training in place: convolutions and linear layers round their inputs and weights.

    A layer with the attribute `skip_quant = True` is left alone.

    Arguments:
        quantizable_layer_type: names of layers, of "Conv2D", "Linear" and "Conv2DTranspose", or classes of them.
        weight_quantize_type: "abs_max" (one scale), or "channel_wise_abs_max" (one for each output channel).
        activation_quantize_type: "moving_average_abs_max".
        weight_bits: number of bits of weights, 1 to 16.
        activation_bits: number of bits of inputs, 1 to 16.
        moving_rate: decay rate of the moving average of inputs.
        fuse_conv_bn: fold batch normalizations into the convolutions before them.
        weight_preprocess_layer: class of a layer that weights pass before they are rounded.
        act_preprocess_layer: the same of inputs.
        weight_quantize_layer: class of a layer that rounds weights, in place of weight_quantize_type.
        act_quantize_layer: the same of inputs.
        onnx_format: no effect: saved programs have quantization as operators of their own in any case.

    Raises:
        ValueError: a name or a number is not one of these.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(2, 2), paddle.nn.ReLU())
        >>> _ = ImperativeQuantAware(weight_quantize_type="channel_wise_abs_max").quantize(net)
        >>> type(net[0]).__name__, net[0].weight_quanter.quant_axis()
        ('QuantedLinear', 1)
    """

    @no_effect(onnx_format=_OPERATORS)
    def __init__(
        self,
        quantizable_layer_type: Iterable[str | type[Layer]] = ("Conv2D", "Linear", "Conv2DTranspose"),
        weight_quantize_type: str = "abs_max",
        activation_quantize_type: str = "moving_average_abs_max",
        weight_bits: int = 8,
        activation_bits: int = 8,
        moving_rate: float = 0.9,
        fuse_conv_bn: bool = False,
        weight_preprocess_layer: type[Layer] | None = None,
        act_preprocess_layer: type[Layer] | None = None,
        weight_quantize_layer: type[Layer] | None = None,
        act_quantize_layer: type[Layer] | None = None,
        onnx_format: bool = False,
    ) -> None:
        who = type(self).__name__
        names = [kind if isinstance(kind, str) else kind.__name__ for kind in quantizable_layer_type]
        for name in names:
            _need(who, "quantizable_layer_type", name, QUANTED)
        _need(who, "weight_quantize_type", weight_quantize_type, WEIGHTS)
        _need(who, "activation_quantize_type", activation_quantize_type, ACTIVATIONS)
        _need(who, "weight_bits", weight_bits, range(1, 17))
        _need(who, "activation_bits", activation_bits, range(1, 17))
        self._names, self._fuse = names, fuse_conv_bn
        self._by_channel, self._bits = weight_quantize_type == "channel_wise_abs_max", weight_bits
        self._moving = QuanterFactory(
            FakeQuanterWithAbsMaxObserverLayer, moving_rate=moving_rate, bit_length=activation_bits
        )
        self._before = act_preprocess_layer, weight_preprocess_layer
        self._own = act_quantize_layer, weight_quantize_layer

    def _choice(self, layer: Layer) -> _Choice:
        by_weight = QuanterFactory(_OwnScale, channel_axis(layer) if self._by_channel else None, self._bits)
        found = []
        for own, before, usual in zip(self._own, self._before, (self._moving, by_weight), strict=True):
            factory = usual if own is None else _Class(own)
            found.append(factory if before is None else _After(before, factory))
        return _Choice(*found)

    def quantize(self, model: Layer) -> Layer:
        """Replace the layers of a network in place, and return it.

        Raises:
            TypeError: it is not a Layer.
        """
        if not isinstance(model, Layer):
            raise TypeError(f"quantize: model is a {type(model).__name__}; expected a Layer")
        if self._fuse:
            fuse_conv_bn(model)
        for parent, name, child in _with_parents(model):
            for kind, made in (QUANTED[n] for n in self._names):
                if isinstance(child, kind) and getattr(child, "skip_quant", False) is not True:
                    setattr(parent, name, made(child, self._choice(child)))
        return model

    def save_quantized_model(self, layer: Layer, path: str, input_spec: Any = None, **config: Any) -> None:
        """Save the quantized network, with its rounding, as jit.save does.

        Arguments:
            layer: what quantize() returned.
            path: path without suffix.
            input_spec: its inputs, a list of InputSpec or tensors.
            config: settings of jit.save.
        """
        layer.eval()
        save(layer, path, input_spec, **config)


class PTQConfig:
    """The quantizers of inputs and weights for ImperativePTQ.

    Arguments:
        activation_quantizer: an AbsmaxQuantizer, HistQuantizer or KLQuantizer.
        weight_quantizer: an AbsmaxQuantizer or PerChannelAbsmaxQuantizer.

    Raises:
        TypeError: one is no quantizer, or the activations have one that is for weights.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> Q = paddle.quantization
        >>> type(PTQConfig(Q.AbsmaxQuantizer(), Q.AbsmaxQuantizer()).wt_quantizer).__name__
        'AbsmaxQuantizer'
    """

    def __init__(self, activation_quantizer: BaseQuantizer, weight_quantizer: BaseQuantizer) -> None:
        for name, found, fits in (
            ("activation_quantizer", activation_quantizer, SUPPORT_ACT_QUANTIZERS),
            ("weight_quantizer", weight_quantizer, SUPPORT_WT_QUANTIZERS),
        ):
            if not isinstance(found, tuple(fits)):
                names = ", ".join(kind.__name__ for kind in fits)
                raise TypeError(f"PTQConfig: {name} is a {type(found).__name__}; expected one of {names}")
        self.in_act_quantizer = copy.deepcopy(activation_quantizer)
        self.out_act_quantizer = copy.deepcopy(activation_quantizer)
        self.wt_quantizer = copy.deepcopy(weight_quantizer)
        self.enable_in_act_quantizer = False
        self.quant_hook_handle: Any = None


class ImperativePTQ:
    """Post-training quantization: quantize() observes, calibration data is run through, then the network is saved.

    Arguments:
        quant_config: a PTQConfig; default: KLQuantizer for inputs, PerChannelAbsmaxQuantizer for weights.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> Q, net = paddle.quantization, paddle.nn.Sequential(paddle.nn.Linear(2, 1))
        >>> ptq = ImperativePTQ(Q.PTQConfig(Q.AbsmaxQuantizer(), Q.AbsmaxQuantizer()))
        >>> model = ptq.quantize(net)
        >>> _ = model(paddle.to_tensor([[0.5, -2.0]]))
        >>> type(ptq.convert(model)[0]).__name__, model[0].activation_quanter.scales().item()
        ('QuantedLinear', 2.0)
    """

    def __init__(self, quant_config: PTQConfig | None = None) -> None:
        self._config = PTQConfig(KLQuantizer(), PerChannelAbsmaxQuantizer()) if quant_config is None else quant_config
        if not isinstance(self._config, PTQConfig):
            raise TypeError(f"ImperativePTQ: quant_config is a {type(quant_config).__name__}; expected a PTQConfig")

    def quantize(
        self, model: Layer, inplace: bool = False, fuse: bool = False, fuse_list: list[list[str]] | None = None
    ) -> Layer:
        """Return the network, of which each Conv2D and Linear observes its input; a copy unless inplace.

        Arguments:
            model: the trained network.
            inplace: change the network itself.
            fuse: fold the batch normalizations of fuse_list; the network is then in evaluation.
            fuse_list: pairs of the names of a convolution and its normalization; None: those that follow one another.

        Raises:
            TypeError: it is not a Layer.
        """
        if not isinstance(model, Layer):
            raise TypeError(f"quantize: model is a {type(model).__name__}; expected a Layer")
        model = model if inplace else copy.deepcopy(model)
        if fuse:
            model.eval()
            fuse_conv_bn(model, fuse_list)
        for _, _, layer in _with_parents(model):
            if isinstance(layer, nn.Conv2D | Linear) and getattr(layer, "skip_quant", False) is not True:
                own: Any = copy.deepcopy(self._config)
                own.enable_in_act_quantizer = True
                own.quant_hook_handle = layer.register_forward_post_hook(_observe)
                layer._quant_config = own
        return model

    def convert(self, model: Layer) -> Layer:
        """Replace the observed layers of a network in place by quantized ones with fixed scales, and return it."""
        for parent, name, layer in _with_parents(model):
            own = getattr(layer, "_quant_config", None)
            if isinstance(own, PTQConfig):
                own.quant_hook_handle.remove()
                setattr(parent, name, _quanted(layer, own))
        return model

    def save_quantized_model(self, model: Layer, path: str, input_spec: Any = None, **config: Any) -> None:
        """Convert the network and save it, as jit.save does.

        Arguments:
            model: what quantize() returned, after the calibration data.
            path: path without suffix.
            input_spec: its inputs, a list of InputSpec or tensors.
            config: settings of jit.save.
        """
        self.convert(model).eval()
        save(model, path, input_spec, **config)


def _observe(layer: Any, inputs: Any, outputs: Any) -> None:
    own = layer._quant_config
    own.in_act_quantizer.sample_data(layer, tuple(inputs))
    own.out_act_quantizer.sample_data(layer, (outputs,))


def _quanted(layer: Any, own: Any) -> Layer:
    """A layer with the scales that its quantizers found."""
    own.in_act_quantizer.cal_thresholds()
    own.wt_quantizer.sample_data(layer, (layer.weight,))
    own.wt_quantizer.cal_thresholds()
    axis = channel_axis(layer) if isinstance(own.wt_quantizer, PerChannelAbsmaxQuantizer) else None
    choice = _Choice(
        QuanterFactory(FakeQuanterWithAbsMaxObserverLayer, bit_length=own.in_act_quantizer.quant_bits),
        QuanterFactory(_OwnScale, axis, own.wt_quantizer.quant_bits),
    )
    _, made = next(pair for pair in QUANTED.values() if isinstance(layer, pair[0]))
    quanted: Any = made(layer, choice)
    if own.in_act_quantizer.thresholds:
        quanted.activation_quanter._scale.set_value(full([1], own.in_act_quantizer.thresholds[0]))
    quanted.eval()
    return quanted
