"""Reparametrizations of weights that torch.nn.utils has and paddle.nn.utils has not."""

from . import parametrizations, parametrize

__all__ = ["parametrizations", "parametrize"]
