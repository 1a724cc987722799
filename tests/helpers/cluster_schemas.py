"""What manifests may hold: validators of Kubernetes' own kinds, and the fields of JobSets and of KubeRay's kinds.

The latter are those that the projects publish in their Go types (jobset.x-k8s.io/v1alpha2, ray.io/v1); templates of
Jobs and pods in them are Kubernetes' own again.
"""

from __future__ import annotations

import jsonschema
from kubernetes_validate import validate

VERSIONS = ("1.31", "1.34", "1.37")


def closed(required: str = "", **fields: object) -> dict:
    """An object of these fields, and no others."""
    return {"type": "object", "properties": fields, "required": required.split(), "additionalProperties": False}


def listed(item: object) -> dict:
    return {"type": "array", "items": item, "minItems": 1}


TEXT, WHOLE, FLAG, ANY = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "boolean"}, {"type": "object"}
WORDS = {"type": "object", "additionalProperties": TEXT}
NAMES = {"type": "array", "items": TEXT}
METADATA = closed("name", name=TEXT, namespace=TEXT, labels=WORDS, annotations=WORDS)

REPLICATED_JOB = closed("name template", name=TEXT, groupName=TEXT, template=ANY, replicas=WHOLE, dependsOn=ANY)
RESTARTS = {"enum": ["Recreate", "BlockingRecreate", "InPlaceRestart"]}
JOBSET = closed(
    "replicatedJobs", replicatedJobs=listed(REPLICATED_JOB), suspend=FLAG, coordinator=ANY, managedBy=TEXT,
    network=closed(enableDNSHostnames=FLAG, subdomain=TEXT, publishNotReadyAddresses=FLAG),
    successPolicy=closed("operator", operator={"enum": ["All", "Any"]}, targetReplicatedJobs=NAMES),
    failurePolicy=closed(maxRestarts=WHOLE, restartStrategy=RESTARTS, rules={"type": "array"}),
    startupPolicy=ANY, ttlSecondsAfterFinished=WHOLE, volumeClaimPolicies={"type": "array"},
)  # fmt: skip
WORKER_GROUP = closed(
    "groupName minReplicas maxReplicas rayStartParams template", groupName=TEXT, replicas=WHOLE, minReplicas=WHOLE,
    maxReplicas=WHOLE, numOfHosts=WHOLE, rayStartParams=WORDS, template=ANY, scaleStrategy=ANY,
)  # fmt: skip
HEAD_GROUP = closed(
    "rayStartParams template", serviceType=TEXT, headService=ANY, enableIngress=FLAG, rayStartParams=WORDS, template=ANY
)
RAY_CLUSTER = closed(
    "headGroupSpec", headGroupSpec=HEAD_GROUP, workerGroupSpecs=listed(WORKER_GROUP), rayVersion=TEXT,
    enableInTreeAutoscaling=FLAG, autoscalerOptions=ANY, headServiceAnnotations=WORDS, suspend=FLAG,
)  # fmt: skip
RAY_JOB = closed(
    activeDeadlineSeconds=WHOLE, backoffLimit=WHOLE, rayClusterSpec=RAY_CLUSTER, submitterPodTemplate=ANY,
    metadata=WORDS, clusterSelector=WORDS, submitterConfig=ANY, managedBy=TEXT, deletionStrategy=ANY, entrypoint=TEXT,
    runtimeEnvYAML=TEXT, jobId=TEXT, submissionMode={"enum": ["K8sJobMode", "HTTPMode", "InteractiveMode"]},
    entrypointResources=TEXT, entrypointNumCpus=WHOLE, entrypointNumGpus=WHOLE, ttlSecondsAfterFinished=WHOLE,
    shutdownAfterJobFinishes=FLAG, suspend=FLAG, schedule=TEXT,
)  # fmt: skip
KINDS = {
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): JOBSET,
    ("ray.io/v1", "RayCluster"): RAY_CLUSTER,
    ("ray.io/v1", "RayJob"): RAY_JOB,
}


def check(document: dict) -> None:
    """Raise what is wrong with a document."""
    kind = document["apiVersion"], document["kind"]
    if kind not in KINDS:
        for version in VERSIONS:
            validate(document, version, strict=True)
        return
    jsonschema.validate(document, closed("spec", apiVersion=TEXT, kind=TEXT, metadata=METADATA, spec=KINDS[kind]))
    for job in document["spec"].get("replicatedJobs", ()):
        check({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": job["name"]}, **job["template"]})
    cluster = document["spec"].get("rayClusterSpec", document["spec"])
    for group in [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]] if "headGroupSpec" in cluster else ():
        pod = {"apiVersion": "v1", "kind": "Pod", **group["template"]}
        check(pod | {"metadata": {"name": "pod", **pod["metadata"]}})
