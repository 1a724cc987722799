"""Metrics over all processes that train."""

from .counted import acc, auc, mae, max, min, mse, rmse, sum

__all__ = ["acc", "auc", "mae", "max", "min", "mse", "rmse", "sum"]
