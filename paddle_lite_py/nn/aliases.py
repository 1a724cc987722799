"""Other names of layers."""

from __future__ import annotations

from . import container, conv, loss, pooling, vision
from .base import Layer

__all__ = [
    *("AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "CircularPad1d", "CircularPad2d", "CircularPad3d"),
    *("ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "Conv1d", "Conv2d", "Conv3d", "LPPool1d", "LPPool2d"),
    *("Module", "ModuleDict", "ModuleList", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d"),
    *("ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"),
    "HuberLoss",
    *("AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"),
    *("UpsamplingBilinear2d", "UpsamplingNearest2d"),
]

Module, ModuleDict, ModuleList = Layer, container.LayerDict, container.LayerList
Conv1d, Conv2d, Conv3d = conv.Conv1D, conv.Conv2D, conv.Conv3D
AdaptiveMaxPool1d, AdaptiveMaxPool2d = pooling.AdaptiveMaxPool1D, pooling.AdaptiveMaxPool2D
AdaptiveMaxPool3d, LPPool1d, LPPool2d = pooling.AdaptiveMaxPool3D, pooling.LPPool1D, pooling.LPPool2D
CircularPad1d, CircularPad2d, CircularPad3d = vision.CircularPad1D, vision.CircularPad2D, vision.CircularPad3D
ConstantPad1d, ConstantPad2d, ConstantPad3d = vision.ConstantPad1D, vision.ConstantPad2D, vision.ConstantPad3D
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (
    vision.ReflectionPad1D,
    vision.ReflectionPad2D,
    vision.ReflectionPad3D,
)
ReplicationPad1d, ReplicationPad2d = vision.ReplicationPad1D, vision.ReplicationPad2D
ReplicationPad3d = vision.ReplicationPad3D
ZeroPad1d, ZeroPad2d, ZeroPad3d = vision.ZeroPad1D, vision.ZeroPad2D, vision.ZeroPad3D
HuberLoss = loss.SmoothL1Loss
AdaptiveAvgPool1d, AdaptiveAvgPool2d = pooling.AdaptiveAvgPool1D, pooling.AdaptiveAvgPool2D
AdaptiveAvgPool3d = pooling.AdaptiveAvgPool3D
MaxUnpool1d, MaxUnpool2d, MaxUnpool3d = pooling.MaxUnPool1D, pooling.MaxUnPool2D, pooling.MaxUnPool3D
UpsamplingBilinear2d, UpsamplingNearest2d = vision.UpsamplingBilinear2D, vision.UpsamplingNearest2D
