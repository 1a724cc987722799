"""DenseNets: each layer reads the results of all before it."""

from __future__ import annotations

from typing import Any

from ...nn import functional as F
from ...nn.base import Layer
from ...ops.joining import concat
from .base import Classifier, nn, no_weights

__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201", "densenet264"]

# By the number of layers: channels of the first, channels that each adds, layers in the four blocks.
_SETTINGS = {
    121: (64, 32, (6, 12, 24, 16)),
    161: (96, 48, (6, 12, 36, 24)),
    169: (64, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
    264: (64, 32, (6, 12, 64, 48)),
}


class _NormConv(Layer):
    """Normalization, ReLU, convolution."""

    def __init__(self, inputs: int, outputs: int, kernel: int) -> None:
        super().__init__()
        self._batch_norm = nn.BatchNorm2D(inputs)
        self._conv = nn.Conv2D(inputs, outputs, kernel, padding=kernel // 2, bias_attr=False)

    def forward(self, x: Any) -> Any:
        return self._conv(F.relu(self._batch_norm(x)))


class _ConvNorm(Layer):
    def __init__(self, outputs: int) -> None:
        super().__init__()
        self._conv = nn.Conv2D(3, outputs, 7, 2, 3, bias_attr=False)
        self._batch_norm = nn.BatchNorm2D(outputs)

    def forward(self, x: Any) -> Any:
        return F.relu(self._batch_norm(self._conv(x)))


class _Dense(Layer):
    """Adds `growth` channels to those that it is given."""

    def __init__(self, inputs: int, growth: int, width: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.bn_ac_func1 = _NormConv(inputs, growth * width, 1)
        self.bn_ac_func2 = _NormConv(growth * width, growth, 3)

    def forward(self, x: Any) -> Any:
        more = self.bn_ac_func2(self.bn_ac_func1(x))
        return concat([x, F.dropout(more, self.dropout, training=self.training) if self.dropout else more], 1)


class _Transition(Layer):
    """Half the channels, half the size."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.conv_ac_func = _NormConv(inputs, inputs // 2, 1)
        self.pool2d_avg = nn.AvgPool2D(2, 2)

    def forward(self, x: Any) -> Any:
        return self.pool2d_avg(self.conv_ac_func(x))


class DenseNet(Classifier):
    """DenseNet: blocks in which each layer reads the outputs of all earlier layers, joined by transitions.

    Arguments:
        layers: number of layers: 121, 161, 169, 201 or 264. Default: 121.
        bn_size: factor of the width of the bottlenecks. Default: 4.
        dropout: dropout probability after each layer. Default: 0.0.
        num_classes: number of classes; 0: no classifier. Default: 1000.
        with_pool: global average pooling before the classifier. Default: True.

    Shape:
        Input: images [N, 3, H, W].
        Output: logits [N, num_classes].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.vision.models.DenseNet, paddle.nn.Layer)
        True

    Source: Huang et al., Densely Connected Convolutional Networks, 2017.
    """

    def __init__(
        self, layers: int = 121, bn_size: int = 4, dropout: float = 0.0, num_classes: int = 1000, with_pool: bool = True
    ) -> None:
        if layers not in _SETTINGS:
            raise ValueError(f"DenseNet: layers is {layers}; expected one of {', '.join(map(str, _SETTINGS))}")
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool
        channels, growth, blocks = _SETTINGS[layers]
        self.conv1_func = _ConvNorm(channels)
        self.pool2d_max = nn.MaxPool2D(3, 2, 1)
        self._parts: list[str] = []
        for at, size in enumerate(blocks, 2):
            block = nn.Sequential()
            for i in range(size):
                block.add_sublayer(f"conv{at}_{i + 1}", _Dense(channels + i * growth, growth, bn_size, dropout))
            channels += size * growth
            self._add(f"db_conv_{at}", block)
            if at < len(blocks) + 1:
                self._add(f"tr_conv{at}_blk", _Transition(channels))
                channels //= 2
        self.batch_norm = nn.BatchNorm2D(channels)
        self.pool2d_avg = nn.AdaptiveAvgPool2D(1) if with_pool else None
        self.out = nn.Linear(channels, num_classes) if num_classes > 0 else None

    def _add(self, name: str, layer: Layer) -> None:
        self.add_sublayer(name, layer)
        self._parts.append(name)

    def forward(self, input: Any) -> Any:
        """Compute the logits of the classes.

        Returns:
            A tensor [N, num_classes].
        """
        x = self.pool2d_max(self.conv1_func(input))
        for name in self._parts:
            x = getattr(self, name)(x)
        return self._finish(F.relu(self.batch_norm(x)), self.pool2d_avg, self.out)


def _build(layers: int, pretrained: bool, options: dict[str, Any]) -> DenseNet:
    no_weights(f"densenet{layers}", pretrained)
    return DenseNet(layers, **options)


def densenet121(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """Create DenseNet with 121 layers.

    Arguments:
        kwargs: further arguments of DenseNet, such as num_classes.

    Returns:
        The network, a DenseNet.
    """
    return _build(121, pretrained, kwargs)


def densenet161(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """Create DenseNet with 161 layers.

    Arguments:
        kwargs: further arguments of DenseNet, such as num_classes.

    Returns:
        The network, a DenseNet.
    """
    return _build(161, pretrained, kwargs)


def densenet169(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """Create DenseNet with 169 layers.

    Arguments:
        kwargs: further arguments of DenseNet, such as num_classes.

    Returns:
        The network, a DenseNet.
    """
    return _build(169, pretrained, kwargs)


def densenet201(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """Create DenseNet with 201 layers.

    Arguments:
        kwargs: further arguments of DenseNet, such as num_classes.

    Returns:
        The network, a DenseNet.
    """
    return _build(201, pretrained, kwargs)


def densenet264(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """Create DenseNet with 264 layers.

    Arguments:
        kwargs: further arguments of DenseNet, such as num_classes.

    Returns:
        The network, a DenseNet.
    """
    return _build(264, pretrained, kwargs)
