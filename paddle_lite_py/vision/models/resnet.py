"""Residual networks: ResNet, ResNeXt, Wide ResNet."""

from __future__ import annotations

from typing import Any

from ...nn.base import Layer
from .base import Classifier, nn, no_weights

__all__ = [
    *("ResNet", "resnet101", "resnet152", "resnet18", "resnet34", "resnet50", "resnext101_32x4d", "resnext101_64x4d"),
    *("resnext152_32x4d", "resnext152_64x4d", "resnext50_32x4d", "resnext50_64x4d", "wide_resnet101_2"),
    "wide_resnet50_2",
]


class BasicBlock(Layer):
    """Residual block of two 3 x 3 convolutions: `relu(f(x) + shortcut(x))`."""

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Any = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Any = None,
    ) -> None:
        super().__init__()
        if groups != 1 or base_width != 64 or dilation != 1:
            raise NotImplementedError("BasicBlock has groups=1, base_width=64 and dilation=1; use BottleneckBlock")
        norm = norm_layer or nn.BatchNorm2D
        self.conv1 = nn.Conv2D(inplanes, planes, 3, padding=1, stride=stride, bias_attr=False)
        self.bn1, self.relu = norm(planes), nn.ReLU()
        self.conv2 = nn.Conv2D(planes, planes, 3, padding=1, bias_attr=False)
        self.bn2, self.downsample, self.stride = norm(planes), downsample, stride

    def forward(self, x: Any) -> Any:
        """Return `relu(f(x) + shortcut(x))`."""
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class BottleneckBlock(Layer):
    """Residual block of a 1 x 1, a 3 x 3 and a 1 x 1 convolution: `relu(f(x) + shortcut(x))`."""

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Any = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Any = None,
    ) -> None:
        super().__init__()
        norm, width = norm_layer or nn.BatchNorm2D, int(planes * (base_width / 64.0)) * groups
        wide: dict[str, Any] = {"padding": dilation, "stride": stride, "groups": groups, "dilation": dilation}
        self.conv1, self.bn1 = nn.Conv2D(inplanes, width, 1, bias_attr=False), norm(width)
        self.conv2, self.bn2 = nn.Conv2D(width, width, 3, **wide, bias_attr=False), norm(width)
        self.conv3 = nn.Conv2D(width, planes * self.expansion, 1, bias_attr=False)
        self.bn3, self.relu = norm(planes * self.expansion), nn.ReLU()
        self.downsample, self.stride = downsample, stride

    def forward(self, x: Any) -> Any:
        """Return `relu(f(x) + shortcut(x))`."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn3(self.conv3(self.relu(self.bn2(self.conv2(out)))))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


# Blocks in each of the four stages.
_DEPTHS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


class ResNet(Classifier):
    """ResNet: four stages of residual blocks.

    Arguments:
        block: BasicBlock or BottleneckBlock.
        depth: number of layers: 18, 34, 50, 101 or 152. Default: 50.
        width: width of each group of the convolutions in the first stage. Default: 64.
        num_classes: number of classes; 0: no classifier. Default: 1000.
        with_pool: global average pooling before the classifier. Default: True.
        groups: number of groups of the 3 x 3 convolutions in bottlenecks (ResNeXt). Default: 1.

    Shape:
        Input: images [N, 3, H, W].
        Output: logits [N, num_classes].

    Raises:
        ValueError: for another depth.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> from paddle_lite_py.vision.models.resnet import BasicBlock
        >>> paddle.vision.models.ResNet(BasicBlock, 18, num_classes=2)(paddle.zeros([1, 3, 32, 32])).shape
        paddle.Size([1, 2])

    Source: He et al., Deep Residual Learning for Image Recognition, 2015.
    """

    def __init__(
        self,
        block: Any,
        depth: int = 50,
        width: int = 64,
        num_classes: int = 1000,
        with_pool: bool = True,
        groups: int = 1,
    ) -> None:
        super().__init__()
        if depth not in _DEPTHS:
            raise ValueError(f"ResNet: depth is {depth}; expected one of {', '.join(map(str, _DEPTHS))}")
        self.groups, self.base_width = groups, width
        self.num_classes, self.with_pool = num_classes, with_pool
        self.inplanes, self.dilation = 64, 1
        self.conv1 = nn.Conv2D(3, 64, 7, stride=2, padding=3, bias_attr=False)
        self.bn1, self.relu = nn.BatchNorm2D(64), nn.ReLU()
        self.maxpool = nn.MaxPool2D(3, 2, 1)
        for i, (planes, count) in enumerate(zip((64, 128, 256, 512), _DEPTHS[depth], strict=True)):
            setattr(self, f"layer{i + 1}", self._make_layer(block, planes, count, 1 if i == 0 else 2))
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((1, 1))
        if num_classes > 0:
            self.fc = nn.Linear(512 * block.expansion, num_classes)

    def _make_layer(self, block: Any, planes: int, blocks: int, stride: int = 1) -> Any:
        shortcut, out = None, planes * block.expansion
        if stride != 1 or self.inplanes != out:
            conv = nn.Conv2D(self.inplanes, out, 1, stride=stride, bias_attr=False)
            shortcut = nn.Sequential(conv, nn.BatchNorm2D(out))
        first = block(self.inplanes, planes, stride, shortcut, self.groups, self.base_width)
        self.inplanes = out
        rest = [block(out, planes, 1, None, self.groups, self.base_width) for _ in range(blocks - 1)]
        return nn.Sequential(first, *rest)

    def forward(self, x: Any) -> Any:
        """Compute the logits of the classes.

        Returns:
            A tensor [N, num_classes].
        """
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self._finish(x, getattr(self, "avgpool", None), getattr(self, "fc", None))


def _resnet(name: str, block: type[Layer], depth: int, width: int = 64, groups: int = 1) -> Any:
    def make(pretrained: bool = False, **kwargs: Any) -> ResNet:
        no_weights(name, pretrained)
        return ResNet(block, depth, **{"width": width, "groups": groups, **kwargs})

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"Create ResNet with {depth} layers and {groups} groups of width {width}; see ResNet."
    return make


resnet18 = _resnet("resnet18", BasicBlock, 18)
resnet34 = _resnet("resnet34", BasicBlock, 34)
resnet50 = _resnet("resnet50", BottleneckBlock, 50)
resnet101 = _resnet("resnet101", BottleneckBlock, 101)
resnet152 = _resnet("resnet152", BottleneckBlock, 152)
resnext50_32x4d = _resnet("resnext50_32x4d", BottleneckBlock, 50, 4, 32)
resnext50_64x4d = _resnet("resnext50_64x4d", BottleneckBlock, 50, 4, 64)
resnext101_32x4d = _resnet("resnext101_32x4d", BottleneckBlock, 101, 4, 32)
resnext101_64x4d = _resnet("resnext101_64x4d", BottleneckBlock, 101, 4, 64)
resnext152_32x4d = _resnet("resnext152_32x4d", BottleneckBlock, 152, 4, 32)
resnext152_64x4d = _resnet("resnext152_64x4d", BottleneckBlock, 152, 4, 64)
wide_resnet50_2 = _resnet("wide_resnet50_2", BottleneckBlock, 50, 128)
wide_resnet101_2 = _resnet("wide_resnet101_2", BottleneckBlock, 101, 128)
