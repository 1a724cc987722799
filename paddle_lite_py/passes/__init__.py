"""Passes: functions from Program to Program, small ones written as a pattern and what takes its place."""

from ..core.argument_docs import document as _document
from .cleaning import common_subexpressions, dead_code, drop_dropout, drop_identities, fold_constants
from .folding import fold_batch_norm, freeze_weights
from .manager import PIPELINES, PassManager, Step, apply, diff, names, register
from .pattern import Call, Called, arguments, attributes
from .pattern import Call as call
from .precision import AutoCast, auto_cast
from .quantizing import InsertQuanters, freeze_int8
from .rewriting import Match, PassError, rewrite
from .running import function, transformed

__all__ = [
    *("AutoCast", "Call", "Called", "InsertQuanters", "Match", "PIPELINES", "PassError", "PassManager", "Step"),
    *("apply", "arguments", "attributes", "auto_cast", "call", "common_subexpressions", "dead_code", "diff"),
    *("drop_dropout", "drop_identities", "fold_batch_norm", "fold_constants", "freeze_int8", "freeze_weights"),
    *("function", "names", "register", "rewrite", "transformed"),
]

_document(globals())
