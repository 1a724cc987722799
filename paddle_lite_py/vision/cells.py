"""Boxes around the cells of a feature map of any size."""

from __future__ import annotations

from ..eager.tensor import Tensor
from ..ops.joining import broadcast_tensors, stack


def corners(y: Tensor, x: Tensor, half: Tensor) -> Tensor:
    """The boxes [rows, columns, boxes, 4] around centers y [rows] and x [columns], of half heights and widths."""
    y, x, high, wide = y.reshape([-1, 1, 1]), x.reshape([-1, 1]), half[:, 0], half[:, 1]
    return stack(broadcast_tensors([x - wide, y - high, x + wide, y + high]), -1)
