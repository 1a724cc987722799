"""Mixtures of experts, of which each process has some."""

from . import gate, grad_clip, moe_layer, utils
from .gate import BaseGate, GShardGate, NaiveGate, SwitchGate
from .grad_clip import ClipGradForMOEByGlobalNorm
from .moe_layer import MoELayer

ClipGradByGlobalNorm = ClipGradForMOEByGlobalNorm  # as the reference has it here

__all__ = [
    *("BaseGate", "ClipGradByGlobalNorm", "ClipGradForMOEByGlobalNorm", "GShardGate", "MoELayer", "NaiveGate"),
    *("SwitchGate", "gate", "grad_clip", "moe_layer", "utils"),
]
