"""Automatic design: architectures that a policy searches for, and regularization by local Rademacher complexity."""

from ...core.argument_docs import document as _document
from .local_rademacher import local_rademacher_loss
from .policy import RandomPolicy, ReinforcePolicy
from .search import ArchitectureSearch, ScoredArchitecture

__all__ = ["RandomPolicy", "ReinforcePolicy", "ArchitectureSearch", "ScoredArchitecture", "local_rademacher_loss"]

_document(globals())
