"""How layers show themselves: as PaddlePaddle's do."""

from __future__ import annotations

import pytest

from paddle_lite_py import nn


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (nn.PReLU(1, 0.25, name="P"), "PReLU(num_parameters=1, data_format=NCHW, init=0.25, dtype=float32, name=P)"),
        (nn.RReLU(0.1, 0.2, name="r"), "RReLU(lower=0.1, upper=0.2, training=True, dtype=float32, name=r)"),
        (nn.BatchNorm1D(1), "BatchNorm1D(num_features=1, momentum=0.9, epsilon=1e-05, data_format=NCL)"),
        (nn.BatchNorm2D(1), "BatchNorm2D(num_features=1, momentum=0.9, epsilon=1e-05)"),
        (nn.BatchNorm3D(1), "BatchNorm3D(num_features=1, momentum=0.9, epsilon=1e-05, data_format=NCDHW)"),
        (nn.PairwiseDistance(), "PairwiseDistance(p=2.0)"),
        (nn.PairwiseDistance(1.0, 1e-3, True), "PairwiseDistance(p=1.0, epsilon=0.001, keepdim=True)"),
        (nn.UpsamplingNearest2D(size=12), "UpsamplingNearest2D(size=[12, 12], data_format=NCHW)"),
        (nn.UpsamplingBilinear2D(scale_factor=2), "UpsamplingBilinear2D(scale_factor=2, data_format=NCHW)"),
        (nn.Unfold([2, 3], strides=2), "Unfold(kernel_size=[2, 3], dilation=1, padding=0, stride=2)"),
        (nn.Fold([4, 5], 2, name="f"), "Fold(kernel_size=2, dilation=1, padding=0, stride=1, name=f)"),
        (nn.LPPool1D(1.5, 3), "LPPool1D(norm_type=1.5, kernel_size=3, stride=None, padding=0)"),
        (nn.FractionalMaxPool3D(2, 3, 0.5), "FractionalMaxPool3D(output_size=2, return_mask=False)"),
        (nn.Sequential(("a", nn.ReLU()), ("b", nn.ELU())), "Sequential(\n  (a): ReLU()\n  (b): ELU(alpha=1.0)\n)"),
    ],
    ids=lambda case: type(case).__name__ if isinstance(case, nn.Layer) else "",
)  # fmt: skip
def test_settings_are_shown(layer, text):
    assert repr(layer) == text
