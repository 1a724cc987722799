"""The pods of a training job: what they run, how they are watched, and when they are begun again."""

from __future__ import annotations

from typing import Any

from ...utils.manifests import SECURITY, Manifest, claimed, document, sizes
from ..elastic import RESTART_CODE
from .description import JobDescription

# Where launchers meet, and where servers of parameters listen.
MEETING, SERVING = 6070, 8500
LOGS, SCRATCH = "/logs", "/scratch"
ALIVE = f"{LOGS}/alive"
# Seconds between the end of the launcher's patience and that of Kubernetes.
SPARE = 5
CONTAINER = "trainer"


def pod(job: JobDescription, command: list[str], env: list[Manifest], probes: Manifest) -> Manifest:
    """Return the template of a pod with one container; it writes to its volumes alone."""
    places = {"logs": LOGS, "cache": "/cache", "scratch": SCRATCH}
    mounts = [{"name": name, "mountPath": path} for name, path in places.items()]
    volumes: list[Manifest] = [{"name": name, "emptyDir": {}} for name in places]
    mounts.append({"name": "shm", "mountPath": "/dev/shm"})  # batches of a DataLoader's workers
    volumes.append({"name": "shm", "emptyDir": {"medium": "Memory"}})
    if job.claim:
        mounts.append({"name": "checkpoints", "mountPath": job.checkpoints.path})
        volumes.append(claimed("checkpoints", job.claim))
    container = {
        "name": CONTAINER, "image": job.image, "command": command, "env": env,
        "resources": sizes(job.resources.cpu, job.resources.memory, job.resources.gpus),
        "volumeMounts": mounts, "securityContext": SECURITY, **probes,
    }  # fmt: skip
    spec = {
        "subdomain": job.name, "restartPolicy": "Never", "terminationGracePeriodSeconds": job.grace,
        "securityContext": {"fsGroup": 1000}, "containers": [container], "volumes": volumes,
    }  # fmt: skip
    return {"metadata": {"labels": {"app": job.name}}, "spec": spec}


def variable(name: str, value: str) -> Manifest:
    """Return a variable of a container."""
    return {"name": name, "value": value}


def field(name: str, path: str) -> Manifest:
    """Return a variable that says something of the pod."""
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def environment(job: JobDescription, *more: Manifest) -> list[Manifest]:
    """Return the variables of a container; later ones may name those before."""
    own = {"PADDLE_LITE_CACHE_DIR": "/cache", "HOME": SCRATCH, "TMPDIR": SCRATCH, "PADDLE_JOB_ID": job.name}
    own["PADDLE_ELASTIC_GRACE"] = str(job.grace - SPARE)
    given = [[variable(name, value) for name, value in found.items()] for found in (own, job.env)]
    key = {"secretKeyRef": {"name": f"{job.name}-key", "key": "key"}}  # which pods know each other by
    return [*given[0], {"name": "PADDLE_JOB_KEY", "valueFrom": key}, *more, *given[1]]


def launcher_probes() -> Manifest:
    """Return a launcher touches a file as long as it works."""
    begun = {"exec": {"command": ["test", "-e", ALIVE]}, "periodSeconds": 5, "failureThreshold": 60}
    lately = ["sh", "-c", f"find {ALIVE} -mmin -2 | grep -q ."]
    return {"startupProbe": begun, "livenessProbe": {"exec": {"command": lately}, "periodSeconds": 30}}


def server_probes() -> Manifest:
    """Return a server of parameters listens."""
    listens: Manifest = {"tcpSocket": {"port": SERVING}}
    return {
        "startupProbe": {**listens, "periodSeconds": 5, "failureThreshold": 60},
        "livenessProbe": {**listens, "periodSeconds": 30},
    }


def indexed_job_spec(
    job: JobDescription, count: int, template: Manifest, launched: bool, comes_back: bool = True
) -> Manifest:
    """Return the spec of a Job with pods that have a number.

    A pod that is evicted, or that says "begin me again", is replaced and counts as no failure.

    Arguments:
        comes_back: whether a pod that is replaced goes on; else the Job fails with the first that ends.
        launched: whether a launcher runs in each pod. Where it gives up, after restarts of its own, the job fails at
            once. The job succeeds with its first pod: others that have not come yet need not come any more.
    """
    leave = {"containerName": CONTAINER, "operator": "In", "values": [RESTART_CODE]}
    give_up = {"containerName": CONTAINER, "operator": "In", "values": [1, 2] if launched else [2]}
    rules: list[Manifest] = [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "Ignore", "onExitCodes": leave},
        {"action": "FailJob", "onExitCodes": give_up},
    ]
    spec: Manifest = {
        "completionMode": "Indexed", "completions": count, "parallelism": count,
        "backoffLimit": job.max_restart if comes_back else 0, "podReplacementPolicy": "Failed",
    }  # fmt: skip
    if comes_back:
        spec["podFailurePolicy"] = {"rules": rules}
    if launched:
        spec["successPolicy"] = {"rules": [{"succeededIndexes": "0"}]}
    return {**spec, "template": template}


def service(job: JobDescription) -> Manifest:
    """Gives each pod a name, also before it is ready: that of the first is where launchers meet."""
    ports = (
        [{"name": "meeting", "port": MEETING}] if job.kind == "collective" else [{"name": "tables", "port": SERVING}]
    )
    spec = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {"app": job.name}, "ports": ports}
    return document("v1", "Service", job.name, spec=spec)


def volume_claim(job: JobDescription) -> list[Manifest]:
    """Return the claim of the volume for checkpoints, if one is to be made."""
    if not job.checkpoints.size:
        return []
    spec: dict[str, Any] = {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": job.checkpoints.size}},
    }
    if job.checkpoints.storage_class:
        spec["storageClassName"] = job.checkpoints.storage_class
    return [document("v1", "PersistentVolumeClaim", job.claim, spec=spec)]
