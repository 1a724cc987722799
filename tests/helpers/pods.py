"""The pods of a manifest as processes of this machine: their commands, their variables, and what follows when one ends.

Each pod has an address of its own, 127.x.y.z, which its name stands for; volumes are folders.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from launching import ROOT


class Pod:
    """A pod of an Indexed Job."""

    def __init__(self, job: str, index: int, spec: dict) -> None:
        self.job, self.index, self.spec = job, index, spec
        self.container = spec["template"]["spec"]["containers"][0]
        self.host = f"{job}-{index}.{spec['template']['spec']['subdomain']}"
        self.process: subprocess.Popen | None = None
        self.codes: list[int] = []
        self.failures = 0


class Pods:
    """The pods of all Jobs in some documents."""

    def __init__(self, documents: list[dict], folder: Path) -> None:
        self.folder = folder
        jobs = {n: s for d in documents for n, s in jobs_of(d)}
        self.pods = [Pod(name, i, spec) for name, spec in jobs.items() for i in range(spec["completions"])]
        net = "127.{}.{}.".format(*random.SystemRandom().sample(range(2, 250), 2))
        self.addresses = {pod.host: f"{net}{i}" for i, pod in enumerate(self.pods, 2)}
        self.stopped = False

    def local(self, text: str, pod: Pod) -> str:
        """A text of the manifest as it reads on this machine."""
        for host, address in self.addresses.items():
            text = text.replace(host, address)
        for volume in pod.container["volumeMounts"]:
            shared = "persistentVolumeClaim" in next(
                v for v in pod.spec["template"]["spec"]["volumes"] if v["name"] == volume["name"]
            )
            place = self.folder / volume["name"] if shared else self.folder / f"{pod.job}-{pod.index}" / volume["name"]
            text = re.sub(rf"^{volume['mountPath']}(?=/|$)", str(place), text)
        return text

    def variables(self, pod: Pod) -> dict[str, str]:
        """Those of the container: in order, as later ones may name earlier ones."""
        known = {"status.podIP": self.addresses[pod.host]}
        known["metadata.annotations['batch.kubernetes.io/job-completion-index']"] = str(pod.index)
        known["metadata.labels['batch.kubernetes.io/controller-uid']"] = f"uid-of-{pod.job}"
        found: dict[str, str] = {}
        for v in pod.container["env"]:
            if "secretKeyRef" in v.get("valueFrom", {}):
                value = "a secret of " + v["valueFrom"]["secretKeyRef"]["name"]
            else:
                value = v["value"] if "value" in v else known[v["valueFrom"]["fieldRef"]["fieldPath"]]
            found[v["name"]] = self.local(re.sub(r"\$\((\w+)\)", lambda m: found[m[1]], value), pod)
        return {**found, "JOB_COMPLETION_INDEX": str(pod.index)}

    def start(self, pod: Pod) -> None:
        """Begin a pod, or begin it again."""
        env = self.variables(pod)
        del env["PADDLE_LITE_CACHE_DIR"]  # what was compiled before serves
        command = [self.local(re.sub(r"\$\((\w+)\)", lambda m: env[m[1]], w), pod) for w in pod.container["command"]]
        for volume in pod.container["volumeMounts"]:
            Path(self.local(volume["mountPath"], pod)).mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{pod.job}-{pod.index}.out").open("ab") as out:
            pod.process = subprocess.Popen(
                [sys.executable if command[0] == "python" else command[0], *command[1:]],
                env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **kept(), **env}, cwd=self.folder,
                stdout=out, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def run(self, seconds: float, each: object = lambda: None) -> None:
        """Run all pods until their Jobs are complete; those that end are treated as their Job says.

        Arguments:
            each: called again and again meanwhile.
        """
        end = time.monotonic() + seconds
        try:
            for pod in self.pods:
                self.start(pod)
            while not all(0 in p.codes or self.complete(p.job) for p in self.pods):
                assert time.monotonic() < end, self.said()
                each()
                for pod in self.pods:
                    if 0 not in pod.codes and pod.process.poll() is not None:
                        self.ended(pod, pod.process.poll())
                time.sleep(0.05)
        finally:
            for pod in self.pods:
                pod.process.kill()
                pod.process.wait()

    def complete(self, job: str) -> bool:
        """Whether a Job succeeds although not all of its pods have."""
        own = [p for p in self.pods if p.job == job]
        rules = own[0].spec.get("successPolicy", {}).get("rules", [])
        return any(0 in own[int(rule["succeededIndexes"])].codes for rule in rules)

    def ended(self, pod: Pod, code: int) -> None:
        """What follows from the exit code of a pod, by the policy of its Job."""
        code = code if code >= 0 else 128 - code
        pod.codes.append(code)
        if code == 0:
            return
        rules = pod.spec.get("podFailurePolicy", {"rules": []})["rules"]
        action = next((r["action"] for r in rules if matches(r, code)), "Count")
        pod.failures += action == "Count"
        failures = sum(p.failures for p in self.pods if p.job == pod.job)
        assert action != "FailJob" and failures <= pod.spec["backoffLimit"], self.said()
        self.start(pod)

    def evict(self, job: str, index: int, number: int = signal.SIGTERM) -> None:
        """Ask a pod to end, or end it by another signal."""
        next(p for p in self.pods if (p.job, p.index) == (job, index)).process.send_signal(number)

    def said(self) -> str:
        """The ends of all logs."""
        return "\n".join(f"--- {p.name}\n{p.read_text()[-2000:]}" for p in sorted(self.folder.glob("*.out")))


def jobs_of(document: dict) -> list[tuple[str, dict]]:
    """The names and specs of the Jobs that a document makes."""
    name = document["metadata"]["name"]
    if document["kind"] == "Job":
        return [(name, document["spec"])]
    if document["kind"] == "JobSet":
        return [(f"{name}-{j['name']}-0", j["template"]["spec"]) for j in document["spec"]["replicatedJobs"]]
    return []


def matches(rule: dict, code: int) -> bool:
    """Whether a rule of a podFailurePolicy speaks of an exit code."""
    codes = rule.get("onExitCodes")
    return bool(codes) and (code in codes["values"]) == (codes["operator"] == "In")


def kept() -> dict[str, str]:
    """What tests run under, such as flags of XLA and where compiled programs lie."""
    names = ("XLA_FLAGS", "HOME", "XDG_CACHE_HOME", "PADDLE_LITE_CACHE_DIR", "JAX_PLATFORMS")
    return {n: os.environ[n] for n in names if n in os.environ}
