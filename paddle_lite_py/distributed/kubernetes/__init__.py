"""Manifests of training jobs for Kubernetes, from a short description: Jobs, JobSets, RayJobs.

python -m paddle_lite_py.distributed.kubernetes JOB.yaml [--out FOLDER]
"""

from __future__ import annotations

from ...utils.manifests import Manifest
from .description import JobDescription, parse_description
from .jobs import collective, parameter_server
from .ray import ray

__all__ = ["JobDescription", "described", "manifests"]


def manifests(job: JobDescription) -> list[Manifest]:
    """Return the documents that make up a job.

    Examples:
        >>> job = parse_description({"name": "digits", "image": "x/y:1", "program": ["train.py"], "nodes": "2:4"})
        >>> [d["kind"] for d in manifests(job)]
        ['Service', 'Job']
    """
    made = {"collective": collective, "parameter-server": parameter_server, "ray": ray}[job.kind](job)
    for document in made if job.namespace else ():
        document["metadata"]["namespace"] = job.namespace
    return made
