"""Programs compiled for machines that are not here: whether they compile, what memory they take, what they exchange."""

from ..core.argument_docs import document as _document
from ..eager.abstract import abstract
from .compilation import compile_all
from .findings import Finding, findings
from .hlo import Buffer, Collective
from .machines import Target, TargetError, has_compiler, target_of
from .portable import Portable, portable
from .report import Memory, Report
from .traced import compile_traced, portable_of

__all__ = [
    "Buffer",
    "Collective",
    "Finding",
    "Memory",
    "Portable",
    "Report",
    "Target",
    "TargetError",
    "abstract",
    "compile_all",
    "compile_traced",
    "findings",
    "has_compiler",
    "portable",
    "portable_of",
    "target_of",
]

_document(globals())
