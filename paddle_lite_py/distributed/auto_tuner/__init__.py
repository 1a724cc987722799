"""Which mesh a model trains on best, on chips that are not here: compiled for each mesh, ranked, nothing runs."""

from ...core.argument_docs import document as _document
from .plan import MeshPlan, plans
from .ranking import Candidate, rank, table

__all__ = ["Candidate", "MeshPlan", "plans", "rank", "table"]

_document(globals())
