"""Optimizers."""

from ..core.argument_docs import document as _document
from . import lr
from .adam import Adam, Adamax, AdamW, Lamb
from .adaptive import Adadelta, Adagrad, RMSProp, Rprop
from .averaged import ASGD, NAdam, RAdam
from .lbfgs import LBFGS
from .operators import register
from .optimizer import Optimizer
from .sgd import SGD, Momentum

__all__ = [
    *("ASGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Lamb", "Momentum", "NAdam", "Optimizer"),
    *("RAdam", "RMSProp", "Rprop", "SGD", "lr"),
]

register(ASGD, Adadelta, Adagrad, Adam, AdamW, Adamax, Lamb, Momentum, NAdam, RAdam, RMSProp, Rprop, SGD)

_document(globals())
