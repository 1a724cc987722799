"""Elastic jobs, by the names that fleet has for them; `paddle.distributed.elastic` is what programs ask."""

from . import manager
from .manager import ELASTIC_EXIT_CODE, ElasticLevel, ElasticManager, ElasticStatus, enable_elastic, launch_elastic

__all__ = [
    "ELASTIC_EXIT_CODE",
    "ElasticLevel",
    "ElasticManager",
    "ElasticStatus",
    "enable_elastic",
    "launch_elastic",
    "manager",
]
