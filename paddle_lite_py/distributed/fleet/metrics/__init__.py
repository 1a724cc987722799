"""Metrics over all processes that train."""

from . import metric
from .metric import acc, auc, mae, max, min, mse, rmse, sum

__all__ = ["acc", "auc", "mae", "max", "metric", "min", "mse", "rmse", "sum"]
