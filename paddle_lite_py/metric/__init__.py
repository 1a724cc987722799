"""Metrics that are collected over batches."""

from ..core.argument_docs import document as _document
from .metrics import Accuracy, Auc, Metric, Precision, Recall, accuracy

__all__ = ["Accuracy", "Auc", "Metric", "Precision", "Recall", "accuracy"]

_document(globals())
