"""VGG (Simonyan and Zisserman, 2014) and AlexNet (Krizhevsky, 2014)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...nn.base import Layer
from ...ops.manipulation import flatten
from .base import Classifier, nn, no_weights

__all__ = ["VGG", "AlexNet", "alexnet", "vgg11", "vgg13", "vgg16", "vgg19"]


class VGG(Classifier):
    """VGG: convolutional features, adaptive pooling to 7 x 7, and three linear layers.

    Arguments:
        features: the convolutional part, a Layer; see make_layers().
        num_classes: number of classes; 0: no classifier. Default: 1000.
        with_pool: global average pooling before the classifier. Default: True.

    Shape:
        Input: images [N, 3, H, W].
        Output: logits [N, num_classes].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.vision.models.VGG, paddle.nn.Layer)
        True

    Source: Simonyan and Zisserman, Very Deep Convolutional Networks, 2014.
    """

    def __init__(self, features: Layer, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.features, self.num_classes, self.with_pool = features, num_classes, with_pool
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((7, 7))
        if num_classes > 0:
            wide = [nn.Linear(512 * 7 * 7, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU()]
            self.classifier = nn.Sequential(*wide, nn.Dropout(), nn.Linear(4096, num_classes))

    def forward(self, x: Any) -> Any:
        """Compute the logits of the classes.

        Returns:
            A tensor [N, num_classes].
        """
        return self._finish(self.features(x), getattr(self, "avgpool", None), getattr(self, "classifier", None))


def make_layers(cfg: Sequence[int | str], batch_norm: bool = False) -> Any:
    """Create the convolutions of a list of widths, with a pooling for each "M".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> make_layers([4, "M", 8])(paddle.ones([1, 3, 4, 4])).shape
        paddle.Size([1, 8, 2, 2])
    """
    parts: list[Any] = []
    channels = 3
    for width in cfg:
        if isinstance(width, str):
            parts.append(nn.MaxPool2D(2, 2))
            continue
        parts.append(nn.Conv2D(channels, width, 3, padding=1))
        parts += [nn.BatchNorm2D(width), nn.ReLU()] if batch_norm else [nn.ReLU()]
        channels = width
    return nn.Sequential(*parts)


# Convolutions in each of the five stages.
_DEPTHS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


def _features(depth: int, batch_norm: bool) -> Any:
    stages = zip(_DEPTHS[depth], (64, 128, 256, 512, 512), strict=True)
    widths: list[int | str] = []
    for count, width in stages:
        widths += [*[width] * count, "M"]
    return make_layers(widths, batch_norm)


def _vgg(depth: int) -> Any:
    def make(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
        no_weights(f"vgg{depth}", pretrained)
        return VGG(_features(depth, batch_norm), **kwargs)

    make.__name__ = make.__qualname__ = f"vgg{depth}"
    make.__doc__ = f"Create VGG with {depth} layers, normalized with `batch_norm`; see VGG for the other arguments."
    return make


vgg11, vgg13, vgg16, vgg19 = map(_vgg, (11, 13, 16, 19))


class _ConvPool(Layer):
    def __init__(self, *settings: int) -> None:
        super().__init__()
        self._conv = nn.Conv2D(*settings)
        self._pool = nn.MaxPool2D(3, 2)

    def forward(self, x: Any) -> Any:
        return self._pool(nn.functional.relu(self._conv(x)))


class AlexNet(Layer):
    """AlexNet, in its form for one device.

    Arguments:
        num_classes: number of classes; 0: no classifier. Default: 1000.

    Shape:
        Input: images [N, 3, H, W].
        Output: logits [N, num_classes].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.vision.models.AlexNet, paddle.nn.Layer)
        True

    Source: Krizhevsky, One Weird Trick for Parallelizing Convolutional Neural Networks, 2014.
    """

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.num_classes = num_classes
        self._conv1, self._conv2 = _ConvPool(3, 64, 11, 4, 2), _ConvPool(64, 192, 5, 1, 2)
        self._conv3, self._conv4 = nn.Conv2D(192, 384, 3, 1, 1), nn.Conv2D(384, 256, 3, 1, 1)
        self._conv5 = _ConvPool(256, 256, 3, 1, 1)
        if num_classes > 0:
            self._drop1, self._drop2 = nn.Dropout(0.5), nn.Dropout(0.5)
            self._fc6, self._fc7 = nn.Linear(256 * 6 * 6, 4096), nn.Linear(4096, 4096)
            self._fc8 = nn.Linear(4096, num_classes)

    def forward(self, inputs: Any) -> Any:
        """Compute the logits of the classes.

        Returns:
            A tensor [N, num_classes].
        """
        relu = nn.functional.relu
        x = self._conv5(relu(self._conv4(relu(self._conv3(self._conv2(self._conv1(inputs)))))))
        if self.num_classes <= 0:
            return x
        x = relu(self._fc6(self._drop1(flatten(x, 1))))
        return self._fc8(relu(self._fc7(self._drop2(x))))


def alexnet(pretrained: bool = False, **kwargs: Any) -> AlexNet:
    """Create AlexNet.

    Arguments:
        pretrained: must be False: published weights are not available; load a file with set_state_dict(). Default:
            False.
        kwargs: further arguments of AlexNet, such as num_classes.

    Returns:
        The network, a AlexNet.
    """
    no_weights("alexnet", pretrained)
    return AlexNet(**kwargs)
