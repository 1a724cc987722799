"""A user's description of a job, checked field by field."""

from __future__ import annotations

import dataclasses
import difflib
import re
from typing import Any, get_type_hints

from ...utils.manifests import NAME

KINDS = {"collective": ("job", "jobset"), "parameter-server": ("job", "jobset"), "ray": ("rayjob", "raycluster")}
# Names of pods are made of that of the job, and have at most 63 letters.
LONGEST_NAME = 40
_QUANTITY = re.compile(r"\d+(\.\d+)?(m|[kKMGTP]i?)?")


@dataclasses.dataclass
class Resources:
    """The resources of a pod.

    Arguments:
        cpu: cores, as "4" or "500m".
        memory: as "8Gi".
        gpus: NVIDIA GPUs.
    """

    cpu: str = "1"
    memory: str = "2Gi"
    gpus: int = 0


@dataclasses.dataclass
class Volume:
    """Where checkpoints lie, seen by all pods.

    Arguments:
        claim: the PersistentVolumeClaim; NAME-checkpoints by default.
        size: of a claim that is to be made; none is made without it.
        storage_class: of that claim; the cluster's own by default.
        path: where programs see it.
    """

    claim: str = ""
    size: str = ""
    storage_class: str = ""
    path: str = "/checkpoints"


@dataclasses.dataclass
class JobDescription:
    """A training job.

    Arguments:
        name: of the job, and of all that belongs to it.
        image: one with Python, paddle_lite_py and the program in it.
        program: the program and its arguments.
        kind: collective, parameter-server or ray.
        form: job or jobset; of ray rayjob or raycluster. The first by default.
        nodes: pods that train, as 4; of a job that is elastic the least and the most, as "2:4".
        processes: in each pod, of a collective job.
        servers: pods that keep parameters, of a parameter-server job.
        max_restart: how often a job that fails is begun again.
        elastic_timeout: seconds that a job which begins waits for more nodes than it needs.
        grace: seconds that a pod has to save when it is evicted.
        resources: what each pod takes.
        checkpoints: where checkpoints lie.
        env: variables of the program.
        namespace: that of the job; the current one by default.
        ray_version: the Ray in the image.
    """

    name: str
    image: str
    program: list[str] = dataclasses.field(default_factory=list)
    kind: str = "collective"
    form: str = ""
    nodes: str = "1"
    processes: int = 1
    servers: int = 0
    max_restart: int = 3
    elastic_timeout: int = 30
    grace: int = 60
    resources: Resources = dataclasses.field(default_factory=Resources)
    checkpoints: Volume = dataclasses.field(default_factory=Volume)
    env: dict[str, str] = dataclasses.field(default_factory=dict)
    namespace: str = ""
    ray_version: str = "2.60.0"

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the largest number of nodes."""
        least, _, most = self.nodes.partition(":")
        return int(least), int(most or least)

    @property
    def claim(self) -> str:
        """The claim of the volume for checkpoints; empty without one."""
        given = self.checkpoints
        return given.claim or (f"{self.name}-checkpoints" if given.size else "")


def parse_description(found: Any) -> JobDescription:
    """Return a job description from plain data, as YAML gives it.

    Raises:
        ValueError: if it makes no sense: each field that is wrong is named.

    Examples:
        >>> parse_description({"name": "digits", "image": "x/y:1", "program": ["train.py"], "nodes": "2:4"}).limits
        (2, 4)
        >>> parse_description({"name": "digits", "image": "x/y:1", "program": ["train.py"], "node": 4})
        Traceback (most recent call last):
        ...
        ValueError: node: there is no such field; did you mean 'nodes'?
    """
    wrong: list[str] = []
    made = _parse_object(JobDescription, found, "", wrong)
    if not wrong and made is not None:
        made.form = made.form or KINDS.get(made.kind, ("",))[0]
        wrong += _senseless(made)
    if wrong or made is None:
        raise ValueError("; ".join(wrong))
    return made


def _parse_object(kind: Any, found: Any, at: str, wrong: list[str]) -> Any:
    """Return an object of a class from a dict; what does not fit is noted."""
    if not isinstance(found, dict):
        wrong.append(f"{at.rstrip('.') or 'the job'} is {found!r}; expected fields and their values")
        return None
    hints, fields = get_type_hints(kind), {f.name: f for f in dataclasses.fields(kind)}
    for name in [n for n in found if n not in fields]:
        near = difflib.get_close_matches(str(name), fields, 1, 0.5)
        meant = f"did you mean {near[0]!r}?" if near else f"the fields are {', '.join(fields)}"
        wrong.append(f"{at}{name}: there is no such field; {meant}")
    for name, field in fields.items():
        needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if needed and name not in found:
            wrong.append(f"{at}{name} is missing")
    given = {n: _value(hints[n], v, f"{at}{n}", wrong) for n, v in found.items() if n in fields}
    return None if wrong else kind(**given)


def _value(kind: Any, found: Any, at: str, wrong: list[str]) -> Any:
    """Return a value of a field, of the type that the field has; numbers stand for text where text is wanted."""
    if dataclasses.is_dataclass(kind):
        return _parse_object(kind, found, f"{at}.", wrong)
    plain = isinstance(found, str | int | float) and not isinstance(found, bool)
    if kind is str and plain:
        return str(found)
    if kind is int and isinstance(found, int) and plain and found >= 0:
        return found
    if kind == list[str] and isinstance(found, list) and all(isinstance(v, str | int | float) for v in found):
        return [str(v) for v in found]
    if (
        kind == dict[str, str]
        and isinstance(found, dict)
        and all(isinstance(v, str | int | float) for v in found.values())
    ):
        return {str(k): str(v) for k, v in found.items()}
    wanted = {str: "text", int: "a number, 0 or more", list[str]: "a list of words", dict[str, str]: "names and values"}
    wrong.append(f"{at} is {found!r}; expected {wanted[kind]}")
    return None


def _senseless(job: JobDescription) -> list[str]:
    """Describe what is wrong with values that have the right types."""
    wrong = []
    if not NAME.fullmatch(job.name) or len(job.name) > LONGEST_NAME:
        wrong.append(f"name is {job.name!r}; expected at most {LONGEST_NAME} small letters, digits and '-'")
    if job.kind not in KINDS:
        wrong.append(f"kind is {job.kind!r}; expected {', '.join(KINDS)}")
    elif job.form not in KINDS[job.kind]:
        wrong.append(f"form is {job.form!r}; expected {' or '.join(KINDS[job.kind])} for kind {job.kind}")
    if not job.program and job.form != "raycluster":
        wrong.append("program is empty; expected the program and its arguments, as [train.py, --epochs, 3]")
    match = re.fullmatch(r"([1-9]\d*)(?::([1-9]\d*))?", job.nodes)
    if not match or (match[2] and int(match[2]) < int(match[1])):
        wrong.append(f"nodes is {job.nodes!r}; expected a number, or the least and the most as in 2:4")
    elif match[2] and job.kind == "parameter-server":
        wrong.append(f"nodes is {job.nodes!r}; expected one number for kind parameter-server")
    if (job.servers > 0) != (job.kind == "parameter-server"):
        wanted = "at least 1" if job.kind == "parameter-server" else "0"
        wrong.append(f"servers is {job.servers}; expected {wanted} for kind {job.kind}")
    if job.processes < 1:
        wrong.append("processes is 0; expected at least 1")
    if job.grace < 10:
        wrong.append(f"grace is {job.grace}; expected at least 10 seconds")
    sizes = {"resources.cpu": job.resources.cpu, "resources.memory": job.resources.memory}
    sizes |= {"checkpoints.size": job.checkpoints.size} if job.checkpoints.size else {}
    wrong += [
        f"{n} is {v!r}; expected a quantity, as 500m or 2Gi" for n, v in sizes.items() if not _QUANTITY.fullmatch(v)
    ]
    wrong += [
        f"env.{n}: expected a name of letters, digits and '_'" for n in job.env if not re.fullmatch(r"[A-Za-z_]\w*", n)
    ]
    if not job.checkpoints.path.startswith("/"):
        wrong.append(f"checkpoints.path is {job.checkpoints.path!r}; expected one that begins with '/'")
    return wrong
