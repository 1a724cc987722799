"""Data sets of text files with slots."""

from .dataset import DatasetBase, InMemoryDataset, QueueDataset

__all__ = ["DatasetBase", "InMemoryDataset", "QueueDataset"]
