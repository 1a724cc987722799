"""MobileNets, versions 1 to 3."""

from __future__ import annotations

from typing import Any

from ...nn.base import Layer
from ...ops.manipulation import flatten
from .base import Classifier, ConvNorm, make_divisible, nn, no_weights

__all__ = [
    *("MobileNetV1", "MobileNetV2", "MobileNetV3Large", "MobileNetV3Small", "mobilenet_v1", "mobilenet_v2"),
    *("mobilenet_v3_large", "mobilenet_v3_small"),
]


class _Separable(Layer):
    """A convolution of each channel, then one of each pixel."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self._depthwise_conv = ConvNorm(inputs, inputs, 3, stride, groups=inputs)
        self._pointwise_conv = ConvNorm(inputs, outputs, 1)

    def forward(self, x: Any) -> Any:
        return self._pointwise_conv(self._depthwise_conv(x))


# Name, channels of the result, stride.
_V1 = (
    *(("conv2_1", 64, 1), ("conv2_2", 128, 2), ("conv3_1", 128, 1), ("conv3_2", 256, 2), ("conv4_1", 256, 1)),
    *(("conv4_2", 512, 2), *((f"conv5_{i}", 512, 1) for i in range(1, 6)), ("conv5_6", 1024, 2), ("conv6", 1024, 1)),
)


class MobileNetV1(Classifier):
    """MobileNet v1: depthwise separable convolutions.

    Shape:
        Input: images [N, 3, H, W].
        Output: logits [N, num_classes].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.vision.models.MobileNetV1, paddle.nn.Layer)
        True

    Source: Howard et al., MobileNets, 2017.
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.scale, self.num_classes, self.with_pool = scale, num_classes, with_pool
        channels = int(32 * scale)
        self.conv1 = ConvNorm(3, channels, 3, 2)
        for name, width, stride in _V1:
            setattr(self, name, _Separable(channels, int(width * scale), stride))
            channels = int(width * scale)
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.fc = nn.Linear(channels, num_classes)

    def forward(self, x: Any) -> Any:
        """Compute the logits of the classes.

        Returns:
            A tensor [N, num_classes].
        """
        x = self.conv1(x)
        for name, _, _ in _V1:
            x = getattr(self, name)(x)
        return self._finish(x, getattr(self, "pool2d_avg", None), getattr(self, "fc", None))


class _Inverted(Layer):
    """Widen, convolve each channel, narrow; with a shortcut where the shapes agree."""

    def __init__(self, inputs: int, outputs: int, stride: int, expand: int) -> None:
        super().__init__()
        self.shortcut, width = stride == 1 and inputs == outputs, inputs * expand
        parts: list[Any] = [ConvNorm(inputs, width, 1, activation=nn.ReLU6)] if expand != 1 else []
        parts.append(ConvNorm(width, width, 3, stride, groups=width, activation=nn.ReLU6))
        parts += [nn.Conv2D(width, outputs, 1, bias_attr=False), nn.BatchNorm2D(outputs)]
        self.conv = nn.Sequential(*parts)

    def forward(self, x: Any) -> Any:
        return x + self.conv(x) if self.shortcut else self.conv(x)


# Factor of widening, channels, how many, stride of the first.
_V2 = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


class MobileNetV2(Classifier):
    """MobileNet v2: inverted residual blocks with linear bottlenecks.

    Shape:
        Input: images [N, 3, H, W].
        Output: logits [N, num_classes].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.vision.models.MobileNetV2, paddle.nn.Layer)
        True

    Source: Sandler et al., MobileNetV2, 2018.
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool
        channels, last = make_divisible(32 * scale), make_divisible(1280 * max(1.0, scale))
        parts: list[Any] = [ConvNorm(3, channels, 3, 2, activation=nn.ReLU6)]
        for expand, width, count, stride in _V2:
            out = make_divisible(width * scale)
            for i in range(count):
                parts.append(_Inverted(channels, out, stride if i == 0 else 1, expand))
                channels = out
        self.features = nn.Sequential(*parts, ConvNorm(channels, last, 1, activation=nn.ReLU6))
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(last, num_classes))

    def forward(self, x: Any) -> Any:
        """Compute the logits of the classes.

        Returns:
            A tensor [N, num_classes].
        """
        return self._finish(self.features(x), getattr(self, "pool2d_avg", None), getattr(self, "classifier", None))


class _SqueezeExcite(Layer):
    """Channels weighted by a function of their means (Hu et al., 2018)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        narrow = make_divisible(channels // 4)
        self.avgpool = nn.AdaptiveAvgPool2D(1)
        self.fc1, self.fc2 = nn.Conv2D(channels, narrow, 1), nn.Conv2D(narrow, channels, 1)
        self.relu, self.hardsigmoid = nn.ReLU(), nn.Hardsigmoid()

    def forward(self, x: Any) -> Any:
        return x * self.hardsigmoid(self.fc2(self.relu(self.fc1(self.avgpool(x)))))


_NORM = {"epsilon": 0.001, "momentum": 0.99}


class _InvertedV3(Layer):
    def __init__(self, inputs: int, kernel: int, width: int, outputs: int, excite: bool, act: Any, stride: int) -> None:
        super().__init__()
        self.shortcut, self.expand, self.excite = stride == 1 and inputs == outputs, width != inputs, excite
        if self.expand:
            self.expand_conv = ConvNorm(inputs, width, 1, activation=act, norm=_NORM)
        self.bottleneck_conv = ConvNorm(width, width, kernel, stride, width, act, _NORM)
        if excite:
            self.mid_se = _SqueezeExcite(width)
        self.linear_conv = ConvNorm(width, outputs, 1, activation=None, norm=_NORM)

    def forward(self, x: Any) -> Any:
        out = self.bottleneck_conv(self.expand_conv(x) if self.expand else x)
        out = self.linear_conv(self.mid_se(out) if self.excite else out)
        return x + out if self.shortcut else out


# Kernel, width, channels of the result, squeeze and excite, hard swish, stride.
_V3_SMALL = (
    *((3, 16, 16, True, False, 2), (3, 72, 24, False, False, 2), (3, 88, 24, False, False, 1)),
    *((5, 96, 40, True, True, 2), (5, 240, 40, True, True, 1), (5, 240, 40, True, True, 1)),
    *((5, 120, 48, True, True, 1), (5, 144, 48, True, True, 1), (5, 288, 96, True, True, 2)),
    *((5, 576, 96, True, True, 1), (5, 576, 96, True, True, 1)),
)
_V3_LARGE = (
    *((3, 16, 16, False, False, 1), (3, 64, 24, False, False, 2), (3, 72, 24, False, False, 1)),
    *((5, 72, 40, True, False, 2), (5, 120, 40, True, False, 1), (5, 120, 40, True, False, 1)),
    *((3, 240, 80, False, True, 2), (3, 200, 80, False, True, 1), (3, 184, 80, False, True, 1)),
    *((3, 184, 80, False, True, 1), (3, 480, 112, True, True, 1), (3, 672, 112, True, True, 1)),
    *((5, 672, 160, True, True, 2), (5, 960, 160, True, True, 1), (5, 960, 160, True, True, 1)),
)


class _MobileNetV3(Layer):
    """Inverted residuals with squeeze and excitation; `scale` is a factor on all channels.

    Source: Howard et al., Searching for MobileNetV3, 2019.
    """

    _blocks: Any = ()
    _last = 0

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.scale, self.num_classes, self.with_pool = scale, num_classes, with_pool
        channels = make_divisible(16 * scale)
        self.conv = ConvNorm(3, channels, 3, 2, activation=nn.Hardswish, norm=_NORM)
        parts = []
        for kernel, width, out, excite, hard, stride in self._blocks:
            wide, out = make_divisible(width * scale), make_divisible(out * scale)
            act = nn.Hardswish if hard else nn.ReLU
            parts.append(_InvertedV3(channels, kernel, wide, out, excite, act, stride))
            channels = out
        self.blocks = nn.Sequential(*parts)
        self.lastconv = ConvNorm(channels, channels * 6, 1, activation=nn.Hardswish, norm=_NORM)
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            hidden = [nn.Linear(channels * 6, self._last), nn.Hardswish(), nn.Dropout(0.2)]
            self.classifier = nn.Sequential(*hidden, nn.Linear(self._last, num_classes))

    def forward(self, x: Any) -> Any:
        """Compute the logits of the classes.

        Returns:
            A tensor [N, num_classes].
        """
        x = self.lastconv(self.blocks(self.conv(x)))
        x = self.avgpool(x) if self.with_pool else x
        return self.classifier(flatten(x, 1)) if self.num_classes > 0 else x


class MobileNetV3Small(_MobileNetV3):
    """MobileNet v3 small (Howard et al., 2019).

    Shape:
        Input: images [N, 3, H, W].
        Output: logits [N, num_classes].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.vision.models.MobileNetV3Small, paddle.nn.Layer)
        True
    """

    _blocks, _last = _V3_SMALL, 1024


class MobileNetV3Large(_MobileNetV3):
    """MobileNet v3 large (Howard et al., 2019).

    Shape:
        Input: images [N, 3, H, W].
        Output: logits [N, num_classes].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.vision.models.MobileNetV3Large, paddle.nn.Layer)
        True
    """

    _blocks, _last = _V3_LARGE, 1280


def mobilenet_v1(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV1:
    """Create MobileNetV1.

    Arguments:
        kwargs: further arguments of MobileNetV1, such as num_classes.

    Returns:
        The network, a MobileNetV1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.vision.models.mobilenet_v1(scale=0.125, num_classes=3)(paddle.zeros([1, 3, 32, 32])).shape
        paddle.Size([1, 3])
    """
    no_weights("mobilenet_v1", pretrained)
    return MobileNetV1(scale, **kwargs)


def mobilenet_v2(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV2:
    """Create MobileNetV2.

    Arguments:
        kwargs: further arguments of MobileNetV2, such as num_classes.

    Returns:
        The network, a MobileNetV2.
    """
    no_weights("mobilenet_v2", pretrained)
    return MobileNetV2(scale, **kwargs)


def mobilenet_v3_small(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Small:
    """Create MobileNetV3Small.

    Arguments:
        kwargs: further arguments of MobileNetV3Small, such as num_classes.

    Returns:
        The network, a MobileNetV3Small.
    """
    no_weights("mobilenet_v3_small", pretrained)
    return MobileNetV3Small(scale, **kwargs)


def mobilenet_v3_large(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Large:
    """Create MobileNetV3Large.

    Arguments:
        kwargs: further arguments of MobileNetV3Large, such as num_classes.

    Returns:
        The network, a MobileNetV3Large.
    """
    no_weights("mobilenet_v3_large", pretrained)
    return MobileNetV3Large(scale, **kwargs)
