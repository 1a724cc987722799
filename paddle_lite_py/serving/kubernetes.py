"""python -m paddle_lite_py kubernetes NAME --image IMAGE: manifests that run the server in a cluster.

By itself a Deployment with a Service and an autoscaler; with --kserve an InferenceService, whose custom predictor is
this server.
"""

from __future__ import annotations

import argparse
from typing import Any

from ..utils.manifests import NAME, SECURITY, claimed, document, sizes, to_text

HTTP, GRPC, METRICS = 8000, 8001, "/metrics"


def main(arguments: list[str]) -> None:
    """Print the manifests that the command line asks for."""
    parser = _parser()
    given, passed_on = parser.parse_known_args(arguments)
    if not NAME.fullmatch(given.name):
        parser.error(f"NAME is {given.name!r}; Kubernetes takes small letters, digits and '-'")
    if not given.models:
        parser.error("name the models as the container sees them: --model PATH")
    documents = [inference_service(given, passed_on)] if given.kserve else plain(given, passed_on)
    print(to_text(documents), end="")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m paddle_lite_py kubernetes", description=__doc__, epilog="Other options go to `serve`."
    )
    add = parser.add_argument
    add("name", metavar="NAME")
    add("--image", required=True, help="one with Python, paddle_lite_py and what its extra `serving` installs")
    add("--model", dest="models", action="append", default=[], help="[NAME=]PATH as the container sees it")
    add("--claim", help="a PersistentVolumeClaim with the models, mounted at /models")
    add("--token-secret", metavar="SECRET", help="a Secret whose key `token` clients must bring")
    add("--replicas", type=int, default=1, help="the least number of pods")
    add("--max-replicas", type=int, default=0, help="the most, for an autoscaler by CPU")
    add("--cpu", default="1")
    add("--memory", default="2Gi")
    add("--gpus", type=int, default=0)
    add("--kserve", action="store_true", help="an InferenceService in place of Deployment and Service")
    return parser


def plain(given: argparse.Namespace, options: list[str]) -> list[dict[str, Any]]:
    """Deployment and Service, and an autoscaler if there is to be one."""
    labels = {"app": given.name}
    told = {"prometheus.io/scrape": "true", "prometheus.io/port": str(HTTP), "prometheus.io/path": METRICS}
    pod = {"metadata": {"labels": labels, "annotations": told}, "spec": _pod(given, options)}
    spec = {"replicas": given.replicas, "selector": {"matchLabels": labels}, "template": pod}
    ports = [{"name": "http", "port": HTTP, "targetPort": "http"}, {"name": "grpc", "port": GRPC, "targetPort": "grpc"}]
    found = [
        document("apps/v1", "Deployment", given.name, spec=spec),
        document("v1", "Service", given.name, spec={"selector": labels, "ports": ports}),
    ]
    return [*found, _autoscaler(given)] if given.max_replicas > given.replicas else found


def _autoscaler(given: argparse.Namespace) -> dict[str, Any]:
    target = {"type": "Utilization", "averageUtilization": 70}
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": given.name},
        "minReplicas": given.replicas, "maxReplicas": given.max_replicas,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
    }  # fmt: skip
    return document("autoscaling/v2", "HorizontalPodAutoscaler", given.name, spec=spec)


def inference_service(given: argparse.Namespace, options: list[str]) -> dict[str, Any]:
    """KServe's InferenceService, which routes, scales and rolls out."""
    predictor = {"minReplicas": given.replicas, "maxReplicas": max(given.max_replicas, given.replicas)}
    predictor |= _pod(given, options, ports=[{"name": "h1", "containerPort": HTTP, "protocol": "TCP"}])
    predictor["containers"][0]["name"] = "kserve-container"
    return document("serving.kserve.io/v1beta1", "InferenceService", given.name, spec={"predictor": predictor})


def _pod(given: argparse.Namespace, options: list[str], ports: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """Return the container with its probes; it runs without rights, and writes to its cache alone."""
    command = ["python", "-m", "paddle_lite_py", "serve", *given.models, "--host", "0.0.0.0", *options]
    mounts: list[dict[str, Any]] = [{"name": "cache", "mountPath": "/cache"}]
    volumes: list[dict[str, Any]] = [{"name": "cache", "emptyDir": {}}]
    if given.claim:
        mounts.append({"name": "models", "mountPath": "/models", "readOnly": True})
        volumes.append(claimed("models", given.claim, readOnly=True))
    container = {
        "name": "server", "image": given.image, "command": command, "env": _environment(given),
        "ports": ports or [{"name": "http", "containerPort": HTTP}, {"name": "grpc", "containerPort": GRPC}],
        "resources": sizes(given.cpu, given.memory, given.gpus), "volumeMounts": mounts,
        "startupProbe": _probe("ready", 60, 5), "readinessProbe": _probe("ready", 3, 5),
        "livenessProbe": _probe("live", 3, 10),
        "securityContext": SECURITY,
    }  # fmt: skip
    return {"containers": [container], "volumes": volumes, "terminationGracePeriodSeconds": 60}


def _environment(given: argparse.Namespace) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"name": "PADDLE_LITE_CACHE_DIR", "value": "/cache"}]
    if given.token_secret:
        key = {"secretKeyRef": {"name": given.token_secret, "key": "token"}}
        found.append({"name": "PADDLE_SERVING_TOKEN", "valueFrom": key})
    return found


def _probe(what: str, failures: int, seconds: int) -> dict[str, Any]:
    action = {"path": f"/v2/health/{what}", "port": HTTP}
    return {"httpGet": action, "failureThreshold": failures, "periodSeconds": seconds}
