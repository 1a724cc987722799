"""Layers for models that are split over processes."""

from . import mpu

__all__ = ["mpu"]
