"""RayClusters and RayJobs, which KubeRay runs."""

from __future__ import annotations

import shlex

from ...utils.manifests import SECURITY, Manifest, document
from .description import JobDescription
from .pods import environment, pod, volume_claim


def ray(job: JobDescription) -> list[Manifest]:
    """Return a cluster with the program as its job, or a cluster alone."""
    if job.form == "raycluster":
        return [*volume_claim(job), document("ray.io/v1", "RayCluster", job.name, spec=_cluster(job))]
    spec = {
        "entrypoint": shlex.join(["python", "-m", "paddle_lite_py", "run", *job.program]),
        "backoffLimit": job.max_restart, "shutdownAfterJobFinishes": True, "rayClusterSpec": _cluster(job),
    }  # fmt: skip
    return [*volume_claim(job), document("ray.io/v1", "RayJob", job.name, spec=spec)]


def _cluster(job: JobDescription) -> Manifest:
    """Return a head that runs no tasks, and workers between the limits; KubeRay adds commands and probes."""
    least, most = job.limits
    workers = {
        "groupName": "workers", "replicas": least, "minReplicas": least, "maxReplicas": most, "rayStartParams": {},
        "template": _template(job),
    }  # fmt: skip
    head = {"rayStartParams": {"num-cpus": "0", "dashboard-host": "0.0.0.0"}, "template": _template(job)}
    found: Manifest = {"rayVersion": job.ray_version, "headGroupSpec": head, "workerGroupSpecs": [workers]}
    return found | ({"enableInTreeAutoscaling": True} if least < most else {})


def _template(job: JobDescription) -> Manifest:
    made = pod(job, [], environment(job), {})
    spec = made["spec"]
    del spec["containers"][0]["command"], spec["subdomain"], spec["restartPolicy"]  # KubeRay's
    spec["containers"][0]["name"] = "ray"
    spec["containers"][0]["securityContext"] = SECURITY | {"readOnlyRootFilesystem": False}  # Ray writes to its folders
    return made
