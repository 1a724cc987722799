"""Models in stages, under the path of the reference."""

from .meta_parallel.parallel import PipelineParallel

__all__ = ["PipelineParallel"]
