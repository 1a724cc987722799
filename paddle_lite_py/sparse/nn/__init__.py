"""Layers of sparse tensors."""

from . import functional
from .layers import LeakyReLU, ReLU, ReLU6, Softmax

__all__ = ["LeakyReLU", "ReLU", "ReLU6", "Softmax", "functional"]
