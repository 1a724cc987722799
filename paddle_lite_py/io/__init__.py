"""Data sets, samplers and the loader of batches."""

from ..core.argument_docs import document as _document
from .buckets import BucketBatchSampler, PadCollate, bucket_bounds
from .collate import default_collate_fn, default_convert_fn
from .dataloader import DataLoader
from .dataset import (
    ChainDataset,
    ComposeDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .sampler import (
    BatchSampler,
    DistributedBatchSampler,
    RandomSampler,
    Sampler,
    SequenceSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from .worker import get_worker_info

__all__ = [
    *("BucketBatchSampler", "PadCollate", "bucket_bounds"),
    *("BatchSampler", "ChainDataset", "ComposeDataset", "ConcatDataset", "DataLoader", "Dataset"),
    *("DistributedBatchSampler", "IterableDataset", "RandomSampler", "Sampler", "SequenceSampler", "Subset"),
    *("SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler"),
    *("default_collate_fn", "default_convert_fn", "get_worker_info", "random_split"),
]

_document(globals())
