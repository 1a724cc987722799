"""SqueezeNets."""

from __future__ import annotations

from typing import Any

from ...nn import functional as F
from ...nn.base import Layer
from ...ops.joining import concat
from .base import nn, no_weights

__all__ = ["SqueezeNet", "squeezenet1_0", "squeezenet1_1"]


class _ConvReLU(Layer):
    def __init__(self, inputs: int, outputs: int, kernel: int) -> None:
        super().__init__()
        self._conv = nn.Conv2D(inputs, outputs, kernel, padding=kernel // 2)

    def forward(self, x: Any) -> Any:
        return F.relu(self._conv(x))


class _Fire(Layer):
    """Narrow, then widen with kernels of 1 and of 3 side by side."""

    def __init__(self, inputs: int, narrow: int, wide: int) -> None:
        super().__init__()
        self._conv = _ConvReLU(inputs, narrow, 1)
        self._conv_path1 = _ConvReLU(narrow, wide, 1)
        self._conv_path2 = _ConvReLU(narrow, wide, 3)

    def forward(self, x: Any) -> Any:
        x = self._conv(x)
        return concat([self._conv_path1(x), self._conv_path2(x)], 1)


# By version: the first convolution, and after which of the eight fires the size is halved.
_SETTINGS = {"1.0": ((96, 7, 0), (3, 7)), "1.1": ((64, 3, 1), (2, 4))}


class SqueezeNet(Layer):
    """SqueezeNet: few parameters by 1 x 1 convolutions.

    Arguments:
        version: "1.0" or "1.1".
        num_classes: number of classes; 0: no classifier. Default: 1000.
        with_pool: global average pooling before the classifier. Default: True.

    Shape:
        Input: images [N, 3, H, W].
        Output: logits [N, num_classes].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.vision.models.SqueezeNet("1.1", num_classes=3)(paddle.zeros([1, 3, 32, 32])).shape
        paddle.Size([1, 3])

    Source: Iandola et al., SqueezeNet, 2016.
    """

    def __init__(self, version: str, num_classes: int = 1000, with_pool: bool = True) -> None:
        if version not in _SETTINGS:
            raise ValueError(f"SqueezeNet: version is {version!r}; expected '1.0' or '1.1'")
        super().__init__()
        self.version, self.num_classes, self.with_pool = version, num_classes, with_pool
        (channels, kernel, padding), self._halves = _SETTINGS[version]
        self._conv = nn.Conv2D(3, channels, kernel, 2, padding)
        self._pool = nn.MaxPool2D(3, 2)
        for i in range(8):
            narrow = 16 * (i // 2 + 1)
            setattr(self, f"_conv{i + 1}", _Fire(channels, narrow, 4 * narrow))
            channels = 8 * narrow
        self._drop = nn.Dropout(0.5, mode="downscale_in_infer")
        self._conv9 = nn.Conv2D(channels, num_classes, 1)
        self._avg_pool = nn.AdaptiveAvgPool2D(1)

    def forward(self, inputs: Any) -> Any:
        """Compute the logits of the classes.

        Returns:
            A tensor [N, num_classes].
        """
        x = self._pool(F.relu(self._conv(inputs)))
        for i in range(1, 9):
            x = getattr(self, f"_conv{i}")(x)
            x = self._pool(x) if i in self._halves else x
        if self.num_classes > 0:
            x = F.relu(self._conv9(self._drop(x)))
        return self._avg_pool(x).squeeze([2, 3]) if self.with_pool else x


def squeezenet1_0(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """Create SqueezeNet, version 1.0.

    Arguments:
        pretrained: must be False: published weights are not available; load a file with set_state_dict(). Default:
            False.
        kwargs: further arguments of SqueezeNet, such as num_classes.

    Returns:
        The network, a SqueezeNet.
    """
    no_weights("squeezenet1_0", pretrained)
    return SqueezeNet("1.0", **kwargs)


def squeezenet1_1(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """Create SqueezeNet, version 1.1: the same accuracy with less computation.

    Arguments:
        pretrained: must be False: published weights are not available; load a file with set_state_dict(). Default:
            False.
        kwargs: further arguments of SqueezeNet, such as num_classes.

    Returns:
        The network, a SqueezeNet.
    """
    no_weights("squeezenet1_1", pretrained)
    return SqueezeNet("1.1", **kwargs)
