"""Helpers that the models share."""

from __future__ import annotations

from typing import Any

from ... import nn as _nn
from ...nn.base import Layer
from ...ops.manipulation import flatten

nn: Any = _nn  # whose lists of names mypy cannot read


def no_weights(name: str, pretrained: bool) -> None:
    """Raise an error if published weights are requested.

    Raises:
        NotImplementedError: if so, saying how to load a file.
    """
    if pretrained:
        raise NotImplementedError(
            f"{name}(pretrained=True): published weights are not fetched here; load a file of them with "
            f"model.set_state_dict(paddle.load(path)): the names in it are those of this model"
        )


def make_divisible(value: float, divisor: int = 8) -> int:
    """Round a value to a multiple of divisor, by at most a tenth downwards."""
    near = max(divisor, int(value + divisor / 2) // divisor * divisor)
    return near + divisor if near < 0.9 * value else near


class ConvNorm(_nn.Sequential):
    """Convolution without bias, normalization, and an activation (None: none)."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int = 3,
        stride: int = 1,
        groups: int = 1,
        activation: Any = nn.ReLU,
        norm: dict[str, Any] | None = None,
    ) -> None:
        padding = (kernel - 1) // 2
        parts = [nn.Conv2D(inputs, outputs, kernel, stride, padding, groups=groups, bias_attr=False)]
        parts.append(nn.BatchNorm2D(outputs, **(norm or {})))
        super().__init__(*parts, *([] if activation is None else [activation()]))


class Classifier(Layer):
    """Base class of models that end in pooling, flattening and a head."""

    num_classes: int
    with_pool: bool

    def _finish(self, x: Any, pool: Any, head: Any) -> Any:
        if self.with_pool:
            x = pool(x)
        return head(flatten(x, 1)) if self.num_classes > 0 else x
