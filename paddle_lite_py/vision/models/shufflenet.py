"""ShuffleNets, version 2."""

from __future__ import annotations

from typing import Any

from ...nn import functional as F
from ...nn.base import Layer
from ...ops.joining import concat
from ...ops.splitting import split
from .base import Classifier, ConvNorm, nn, no_weights

__all__ = [
    *("ShuffleNetV2", "shufflenet_v2_swish", "shufflenet_v2_x0_25", "shufflenet_v2_x0_33", "shufflenet_v2_x0_5"),
    *("shufflenet_v2_x1_0", "shufflenet_v2_x1_5", "shufflenet_v2_x2_0"),
]

# Channels of the three stages, and of the last convolution, by scale.
_CHANNELS = {
    0.25: (24, 48, 96, 512),
    0.33: (32, 64, 128, 512),
    0.5: (48, 96, 192, 1024),
    1.0: (116, 232, 464, 1024),
    1.5: (176, 352, 704, 1024),
    2.0: (224, 488, 976, 2048),
}


class _Unit(Layer):
    """One half passes, the other is convolved; then the channels of both are shuffled."""

    def __init__(self, channels: int, activation: Any) -> None:
        super().__init__()
        half = channels // 2
        self._conv_pw = ConvNorm(half, half, 1, activation=activation)
        self._conv_dw = ConvNorm(half, half, 3, groups=half, activation=None)
        self._conv_linear = ConvNorm(half, half, 1, activation=activation)

    def forward(self, x: Any) -> Any:
        kept, x = split(x, 2, 1)
        return F.channel_shuffle(concat([kept, self._conv_linear(self._conv_dw(self._conv_pw(x)))], 1), 2)


class _Halving(Layer):
    """Half the size: both branches are convolved."""

    def __init__(self, inputs: int, channels: int, activation: Any) -> None:
        super().__init__()
        half = channels // 2
        self._conv_dw_1 = ConvNorm(inputs, inputs, 3, 2, groups=inputs, activation=None)
        self._conv_linear_1 = ConvNorm(inputs, half, 1, activation=activation)
        self._conv_pw_2 = ConvNorm(inputs, half, 1, activation=activation)
        self._conv_dw_2 = ConvNorm(half, half, 3, 2, groups=half, activation=None)
        self._conv_linear_2 = ConvNorm(half, half, 1, activation=activation)

    def forward(self, x: Any) -> Any:
        first = self._conv_linear_1(self._conv_dw_1(x))
        second = self._conv_linear_2(self._conv_dw_2(self._conv_pw_2(x)))
        return F.channel_shuffle(concat([first, second], 1), 2)


class ShuffleNetV2(Classifier):
    """ShuffleNet v2: units that convolve half of the channels and shuffle all of them.

    Arguments:
        scale: factor of the number of channels. Default: 1.0.
        act: name of the activation, "relu" or "swish". Default: 'relu'.
        num_classes: number of classes; 0: no classifier. Default: 1000.
        with_pool: global average pooling before the classifier. Default: True.

    Shape:
        Input: images [N, 3, H, W].
        Output: logits [N, num_classes].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.vision.models.ShuffleNetV2, paddle.nn.Layer)
        True

    Source: Ma et al., ShuffleNet V2, 2018.
    """

    def __init__(
        self, scale: float = 1.0, act: str | None = "relu", num_classes: int = 1000, with_pool: bool = True
    ) -> None:
        if scale not in _CHANNELS or act not in ("relu", "swish", None):
            known = f"one of {list(_CHANNELS)}, and 'relu' or 'swish'"
            raise ValueError(f"ShuffleNetV2: scale is {scale} and act {act!r}; expected {known}")
        super().__init__()
        self.scale, self.num_classes, self.with_pool = scale, num_classes, with_pool
        activation = {"relu": nn.ReLU, "swish": nn.Swish, None: None}[act]
        *stages, last = _CHANNELS[scale]
        self._conv1 = ConvNorm(3, 24, 3, 2, activation=activation)
        self._max_pool = nn.MaxPool2D(3, 2, 1)
        self._units: list[str] = []
        inputs = 24
        for at, (channels, repeats) in enumerate(zip(stages, (4, 8, 4), strict=True), 2):
            for i in range(repeats):
                unit = _Unit(channels, activation) if i else _Halving(inputs, channels, activation)
                self.add_sublayer(f"{at}_{i + 1}", unit)
                self._units.append(f"{at}_{i + 1}")
            inputs = channels
        self._last_conv = ConvNorm(inputs, last, 1, activation=activation)
        self._pool2d_avg = nn.AdaptiveAvgPool2D(1) if with_pool else None
        self._fc = nn.Linear(last, num_classes) if num_classes > 0 else None

    def forward(self, inputs: Any) -> Any:
        """Compute the logits of the classes.

        Returns:
            A tensor [N, num_classes].
        """
        x = self._max_pool(self._conv1(inputs))
        for name in self._units:
            x = getattr(self, name)(x)
        return self._finish(self._last_conv(x), self._pool2d_avg, self._fc)


def _build(name: str, pretrained: bool, scale: float, act: str, options: dict[str, Any]) -> ShuffleNetV2:
    no_weights(name, pretrained)
    return ShuffleNetV2(scale, act, **options)


def shufflenet_v2_x0_25(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """Create ShuffleNetV2 with a quarter of the channels.

    Arguments:
        kwargs: further arguments of ShuffleNetV2, such as num_classes.

    Returns:
        The network, a ShuffleNetV2.
    """
    return _build("shufflenet_v2_x0_25", pretrained, 0.25, "relu", kwargs)


def shufflenet_v2_x0_33(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """Create ShuffleNetV2 with a third of the channels.

    Arguments:
        kwargs: further arguments of ShuffleNetV2, such as num_classes.

    Returns:
        The network, a ShuffleNetV2.
    """
    return _build("shufflenet_v2_x0_33", pretrained, 0.33, "relu", kwargs)


def shufflenet_v2_x0_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """Create ShuffleNetV2 with half the channels.

    Arguments:
        kwargs: further arguments of ShuffleNetV2, such as num_classes.

    Returns:
        The network, a ShuffleNetV2.
    """
    return _build("shufflenet_v2_x0_5", pretrained, 0.5, "relu", kwargs)


def shufflenet_v2_x1_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """Create ShuffleNetV2.

    Arguments:
        kwargs: further arguments of ShuffleNetV2, such as num_classes.

    Returns:
        The network, a ShuffleNetV2.
    """
    return _build("shufflenet_v2_x1_0", pretrained, 1.0, "relu", kwargs)


def shufflenet_v2_x1_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """Create ShuffleNetV2 with 1.5 times the channels.

    Arguments:
        kwargs: further arguments of ShuffleNetV2, such as num_classes.

    Returns:
        The network, a ShuffleNetV2.
    """
    return _build("shufflenet_v2_x1_5", pretrained, 1.5, "relu", kwargs)


def shufflenet_v2_x2_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """Create ShuffleNetV2 with twice the channels.

    Arguments:
        kwargs: further arguments of ShuffleNetV2, such as num_classes.

    Returns:
        The network, a ShuffleNetV2.
    """
    return _build("shufflenet_v2_x2_0", pretrained, 2.0, "relu", kwargs)


def shufflenet_v2_swish(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """Create ShuffleNetV2 with swish in place of ReLU.

    Arguments:
        kwargs: further arguments of ShuffleNetV2, such as num_classes.

    Returns:
        The network, a ShuffleNetV2.
    """
    return _build("shufflenet_v2_swish", pretrained, 1.0, "swish", kwargs)
