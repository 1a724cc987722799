"""LeNet (LeCun et al., 1998)."""

from __future__ import annotations

from typing import Any

from ...nn.base import Layer
from ...ops.manipulation import flatten
from .base import nn

__all__ = ["LeNet"]


class LeNet(Layer):
    """LeNet-5 for images [N, 1, 28, 28].

    Arguments:
        num_classes: number of classes; 0: no classifier. Default: 10.

    Shape:
        Input: images [N, 1, 28, 28].
        Output: logits [N, num_classes].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.vision.models.LeNet()(paddle.zeros([1, 1, 28, 28])).shape
        paddle.Size([1, 10])

    Source: LeCun et al., Gradient-Based Learning Applied to Document Recognition, 1998.
    """

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.features = nn.Sequential(
            *(nn.Conv2D(1, 6, 3, stride=1, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2)),
            *(nn.Conv2D(6, 16, 5, stride=1, padding=0), nn.ReLU(), nn.MaxPool2D(2, 2)),
        )
        if num_classes > 0:
            self.fc = nn.Sequential(nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, num_classes))

    def forward(self, inputs: Any) -> Any:
        """Compute the logits of the classes.

        Returns:
            A tensor [N, num_classes].
        """
        x = self.features(inputs)
        return self.fc(flatten(x, 1)) if self.num_classes > 0 else x
