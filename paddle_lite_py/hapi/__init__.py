"""Training without a loop of one's own: Model, its callbacks, and summaries of networks."""

from ..core.argument_docs import document as _document
from . import callbacks
from .checkpoints import Checkpoints
from .flops import flops
from .model import Model
from .summary import summary

__all__ = ["Checkpoints", "Model", "callbacks", "flops", "summary"]

_document(globals())
