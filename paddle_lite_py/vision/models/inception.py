"""GoogLeNet and Inception V3: convolutions of several sizes side by side."""

from __future__ import annotations

from typing import Any

from ...nn import functional as F
from ...nn.base import Layer
from ...ops.joining import concat
from ...ops.manipulation import flatten
from .base import Classifier, nn, no_weights

__all__ = ["GoogLeNet", "InceptionV3", "googlenet", "inception_v3"]


class _Bare(Layer):
    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1) -> None:
        super().__init__()
        self._conv = nn.Conv2D(inputs, outputs, kernel, stride, kernel // 2, bias_attr=False)

    def forward(self, x: Any) -> Any:
        return self._conv(x)


class _Module(Layer):
    """Kernels of 1, 3 and 5, and a pooling, side by side."""

    def __init__(self, inputs: int, one: int, three: tuple[int, int], five: tuple[int, int], pool: int) -> None:
        super().__init__()
        self._conv1 = _Bare(inputs, one, 1)
        self._conv3r, self._conv3 = _Bare(inputs, three[0], 1), _Bare(*three, 3)
        self._conv5r, self._conv5 = _Bare(inputs, five[0], 1), _Bare(*five, 5)
        self._pool = nn.MaxPool2D(3, 1, 1)
        self._convprj = _Bare(inputs, pool, 1)

    def forward(self, x: Any) -> Any:
        wide = self._conv3(self._conv3r(x)), self._conv5(self._conv5r(x))
        return F.relu(concat([self._conv1(x), *wide, self._convprj(self._pool(x))], 1))


_MODULES = {
    "3a": (192, 64, (96, 128), (16, 32), 32),
    "3b": (256, 128, (128, 192), (32, 96), 64),
    "4a": (480, 192, (96, 208), (16, 48), 64),
    "4b": (512, 160, (112, 224), (24, 64), 64),
    "4c": (512, 128, (128, 256), (24, 64), 64),
    "4d": (512, 112, (144, 288), (32, 64), 64),
    "4e": (528, 256, (160, 320), (32, 128), 128),
    "5a": (832, 256, (160, 320), (32, 128), 128),
    "5b": (832, 384, (192, 384), (48, 128), 128),
}


class GoogLeNet(Layer):
    """GoogLeNet, the first Inception network, with two auxiliary classifiers for training.

    Arguments:
        num_classes: number of classes; 0: no classifier. Default: 1000.
        with_pool: global average pooling before the classifier. Default: True.

    Shape:
        Input: images [N, 3, H, W].
        Output: the logits, and those of the two auxiliary classifiers, each [N, num_classes].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.vision.models.GoogLeNet, paddle.nn.Layer)
        True

    Source: Szegedy et al., Going Deeper with Convolutions, 2015.
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool
        self._conv, self._conv_1, self._conv_2 = _Bare(3, 64, 7, 2), _Bare(64, 64, 1), _Bare(64, 192, 3)
        self._pool = nn.MaxPool2D(3, 2)
        for name, settings in _MODULES.items():
            setattr(self, f"_ince{name}", _Module(*settings))
        if with_pool:
            self._pool_5 = nn.AdaptiveAvgPool2D(1)
            self._pool_o1, self._pool_o2 = nn.AvgPool2D(5, 3), nn.AvgPool2D(5, 3)
        if num_classes > 0:
            self._drop = nn.Dropout(0.4, mode="downscale_in_infer")
            self._fc_out = nn.Linear(1024, num_classes)
            for i, channels in ((1, 512), (2, 528)):
                setattr(self, f"_conv_o{i}", _Bare(channels, 128, 1))
                setattr(self, f"_fc_o{i}", nn.Linear(1152, 1024))
                setattr(self, f"_drop_o{i}", nn.Dropout(0.7, mode="downscale_in_infer"))
                setattr(self, f"_out{i}", nn.Linear(1024, num_classes))

    def forward(self, inputs: Any) -> tuple[Any, Any, Any]:
        """Compute the logits of the classes.

        Returns:
            The logits, and those of the two auxiliary classifiers, each [N, num_classes].
        """
        x = self._pool(self._conv_2(self._conv_1(self._pool(self._conv(inputs)))))
        taken: dict[str, Any] = {}
        for name in _MODULES:
            x = taken[name] = getattr(self, f"_ince{name}")(x)
            x = self._pool(x) if name in ("3b", "4e") else x
        if self.with_pool:
            x = self._pool_5(x)
        if self.num_classes > 0:
            x = self._fc_out(self._drop(x).squeeze([2, 3]))
        return x, self._side(taken["4a"], 1), self._side(taken["4d"], 2)

    def _side(self, x: Any, i: int) -> Any:
        if self.with_pool:
            x = getattr(self, f"_pool_o{i}")(x)
        if self.num_classes <= 0:
            return x
        x = getattr(self, f"_fc_o{i}")(flatten(getattr(self, f"_conv_o{i}")(x), 1))
        x = F.relu(x) if i == 1 else x  # as in Paddle
        return getattr(self, f"_out{i}")(getattr(self, f"_drop_o{i}")(x))


def _conv(inputs: int, outputs: int, kernel: Any, stride: int = 1, padding: Any = 0) -> Any:
    """Convolution, normalization, ReLU."""
    convolution = nn.Conv2D(inputs, outputs, kernel, stride, padding, bias_attr=False)
    return nn.Sequential(convolution, nn.BatchNorm2D(outputs), nn.ReLU())


class _Branches(Layer):
    """Branches side by side; each is a chain of parts by name. A part that is a tuple of names forks the chain."""

    def __init__(self, parts: dict[str, Layer], *chains: tuple[Any, ...]) -> None:
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)
        self._chains = chains

    def forward(self, x: Any) -> Any:
        outs: list[Any] = []
        for chain in self._chains:
            y = [x]
            for name in chain:
                y = [getattr(self, n)(each) for each in y for n in ((name,) if isinstance(name, str) else name)]
            outs += y
        return concat(outs, 1)


_WIDE: dict[str, Any] = {"kernel": (1, 7), "padding": (0, 3)}
_TALL: dict[str, Any] = {"kernel": (7, 1), "padding": (3, 0)}
_POOLED = ("branch_pool", "branch_pool_conv")


def _block_a(inputs: int, pool: int) -> _Branches:
    parts = {
        "branch1x1": _conv(inputs, 64, 1),
        "branch5x5_1": _conv(inputs, 48, 1),
        "branch5x5_2": _conv(48, 64, 5, padding=2),
        "branch3x3dbl_1": _conv(inputs, 64, 1),
        "branch3x3dbl_2": _conv(64, 96, 3, padding=1),
        "branch3x3dbl_3": _conv(96, 96, 3, padding=1),
        "branch_pool": nn.AvgPool2D(3, 1, 1, exclusive=False),
        "branch_pool_conv": _conv(inputs, pool, 1),
    }
    double = tuple([f"branch3x3dbl_{i}" for i in (1, 2, 3)])
    return _Branches(parts, ("branch1x1",), ("branch5x5_1", "branch5x5_2"), double, _POOLED)


def _block_b(inputs: int) -> _Branches:
    parts = {
        "branch3x3": _conv(inputs, 384, 3, 2),
        "branch3x3dbl_1": _conv(inputs, 64, 1),
        "branch3x3dbl_2": _conv(64, 96, 3, padding=1),
        "branch3x3dbl_3": _conv(96, 96, 3, 2),
        "branch_pool": nn.MaxPool2D(3, 2),
    }
    return _Branches(parts, ("branch3x3",), tuple([f"branch3x3dbl_{i}" for i in (1, 2, 3)]), ("branch_pool",))


def _block_c(inputs: int, width: int) -> _Branches:
    parts = {
        "branch1x1": _conv(inputs, 192, 1),
        "branch7x7_1": _conv(inputs, width, 1),
        "branch7x7_2": _conv(width, width, **_WIDE),
        "branch7x7_3": _conv(width, 192, **_TALL),
        "branch7x7dbl_1": _conv(inputs, width, 1),
        "branch7x7dbl_2": _conv(width, width, **_TALL),
        "branch7x7dbl_3": _conv(width, width, **_WIDE),
        "branch7x7dbl_4": _conv(width, width, **_TALL),
        "branch7x7dbl_5": _conv(width, 192, **_WIDE),
        "branch_pool": nn.AvgPool2D(3, 1, 1, exclusive=False),
        "branch_pool_conv": _conv(inputs, 192, 1),
    }
    single, double = ([f"branch7x7{kind}_{i + 1}" for i in range(n)] for kind, n in (("", 3), ("dbl", 5)))
    return _Branches(parts, ("branch1x1",), tuple(single), tuple(double), _POOLED)


def _block_d(inputs: int) -> _Branches:
    parts = {
        "branch3x3_1": _conv(inputs, 192, 1),
        "branch3x3_2": _conv(192, 320, 3, 2),
        "branch7x7x3_1": _conv(inputs, 192, 1),
        "branch7x7x3_2": _conv(192, 192, **_WIDE),
        "branch7x7x3_3": _conv(192, 192, **_TALL),
        "branch7x7x3_4": _conv(192, 192, 3, 2),
        "branch_pool": nn.MaxPool2D(3, 2),
    }
    chain = tuple([f"branch7x7x3_{i}" for i in (1, 2, 3, 4)])
    return _Branches(parts, ("branch3x3_1", "branch3x3_2"), chain, ("branch_pool",))


def _block_e(inputs: int) -> _Branches:
    parts = {
        "branch1x1": _conv(inputs, 320, 1),
        "branch3x3_1": _conv(inputs, 384, 1),
        "branch3x3_2a": _conv(384, 384, (1, 3), padding=(0, 1)),
        "branch3x3_2b": _conv(384, 384, (3, 1), padding=(1, 0)),
        "branch3x3dbl_1": _conv(inputs, 448, 1),
        "branch3x3dbl_2": _conv(448, 384, 3, padding=1),
        "branch3x3dbl_3a": _conv(384, 384, (1, 3), padding=(0, 1)),
        "branch3x3dbl_3b": _conv(384, 384, (3, 1), padding=(1, 0)),
        "branch_pool": nn.AvgPool2D(3, 1, 1, exclusive=False),
        "branch_pool_conv": _conv(inputs, 192, 1),
    }
    forked = ("branch3x3_1", ("branch3x3_2a", "branch3x3_2b"))
    double = ("branch3x3dbl_1", "branch3x3dbl_2", ("branch3x3dbl_3a", "branch3x3dbl_3b"))
    return _Branches(parts, ("branch1x1",), forked, double, _POOLED)


class _Stem(Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv_1a_3x3 = _conv(3, 32, 3, 2)
        self.conv_2a_3x3 = _conv(32, 32, 3)
        self.conv_2b_3x3 = _conv(32, 64, 3, padding=1)
        self.max_pool = nn.MaxPool2D(3, 2)
        self.conv_3b_1x1 = _conv(64, 80, 1)
        self.conv_4a_3x3 = _conv(80, 192, 3)

    def forward(self, x: Any) -> Any:
        x = self.max_pool(self.conv_2b_3x3(self.conv_2a_3x3(self.conv_1a_3x3(x))))
        return self.max_pool(self.conv_4a_3x3(self.conv_3b_1x1(x)))


class InceptionV3(Classifier):
    """Inception v3: parallel branches of factorized convolutions.

    Arguments:
        num_classes: number of classes; 0: no classifier. Default: 1000.
        with_pool: global average pooling before the classifier. Default: True.

    Shape:
        Input: images [N, 3, H, W].
        Output: logits [N, num_classes].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.vision.models.InceptionV3, paddle.nn.Layer)
        True

    Source: Szegedy et al., Rethinking the Inception Architecture for Computer Vision, 2016.
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool
        self.inception_stem = _Stem()
        early = [*(_block_a(n, pool) for n, pool in ((192, 32), (256, 64), (288, 64))), _block_b(288)]
        late = [
            *(_block_c(768, width) for width in (128, 160, 160, 192)),
            _block_d(768),
            _block_e(1280),
            _block_e(2048),
        ]
        self.inception_block_list = nn.LayerList([*early, *late])
        if with_pool:
            self.avg_pool = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.dropout = nn.Dropout(0.2, mode="downscale_in_infer")
            self.fc = nn.Linear(2048, num_classes)

    def forward(self, x: Any) -> Any:
        """Compute the logits of the classes.

        Returns:
            A tensor [N, num_classes].
        """
        x = self.inception_stem(x)
        for block in self.inception_block_list:
            x = block(x)
        return self._finish(x, getattr(self, "avg_pool", None), self._scores)

    def _scores(self, x: Any) -> Any:
        return self.fc(self.dropout(x))


def googlenet(pretrained: bool = False, **kwargs: Any) -> GoogLeNet:
    """Create GoogLeNet.

    Arguments:
        pretrained: must be False: published weights are not available; load a file with set_state_dict(). Default:
            False.
        kwargs: further arguments of GoogLeNet, such as num_classes.

    Returns:
        The network, a GoogLeNet.
    """
    no_weights("googlenet", pretrained)
    return GoogLeNet(**kwargs)


def inception_v3(pretrained: bool = False, **kwargs: Any) -> InceptionV3:
    """Create Inception, version 3.

    Arguments:
        pretrained: must be False: published weights are not available; load a file with set_state_dict(). Default:
            False.
        kwargs: further arguments of InceptionV3, such as num_classes.

    Returns:
        The network, a InceptionV3.
    """
    no_weights("inception_v3", pretrained)
    return InceptionV3(**kwargs)
