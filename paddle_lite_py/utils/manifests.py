"""Manifests for Kubernetes: the parts that servers and training jobs have in common, and their text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

Manifest = dict[str, Any]

# Names that Kubernetes accepts.
NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
# Containers run without rights, and write to their volumes alone.
SECURITY = {
    "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "runAsNonRoot": True, "runAsUser": 1000,
    "capabilities": {"drop": ["ALL"]},
}  # fmt: skip


def document(version: str, kind: str, name: str, **parts: Any) -> Manifest:
    """Return one document of a manifest.

    Examples:
        >>> document("v1", "Service", "digits", spec={})
        {'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': 'digits'}, 'spec': {}}
    """
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **parts}


def sizes(cpu: str, memory: str, gpus: int = 0) -> Manifest:
    """Return the resources of a container: as requests, and as limits.

    Examples:
        >>> sizes("1", "2Gi")["limits"]
        {'cpu': '1', 'memory': '2Gi'}
    """
    found = {"cpu": cpu, "memory": memory} | ({"nvidia.com/gpu": str(gpus)} if gpus else {})
    return {"requests": found, "limits": found}


def claimed(name: str, claim: str, **how: Any) -> Manifest:
    """Return a volume of a PersistentVolumeClaim.

    Examples:
        >>> claimed("models", "m", readOnly=True)
        {'name': 'models', 'persistentVolumeClaim': {'claimName': 'm', 'readOnly': True}}
    """
    return {"name": name, "persistentVolumeClaim": {"claimName": claim, **how}}


def to_text(documents: list[Manifest]) -> str:
    """Documents as one YAML file."""
    return "---\n".join(to_yaml(d) for d in documents)


def to_yaml(data: Any) -> str:
    """Plain data as YAML; strings are written as in JSON, which YAML takes.

    Examples:
        >>> print(to_yaml({"a": [1, {"b": "x"}], "c": {}}), end="")
        a:
          - 1
          - b: "x"
        c: {}
    """
    return "".join(f"{line}\n" for line in _lines(data))


def _lines(data: Any) -> Iterator[str]:
    if isinstance(data, dict) and data:
        for key, value in data.items():
            yield from _entry(f"{key}:", value)
    elif isinstance(data, list) and data:
        for value in data:
            first, *rest = _lines(value)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield json.dumps(data)


def _entry(head: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict | list) and value:
        yield head
        yield from (f"  {line}" for line in _lines(value))
    else:
        yield f"{head} {json.dumps(value)}"
