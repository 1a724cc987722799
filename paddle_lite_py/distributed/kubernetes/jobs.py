"""Jobs and JobSets: processes that exchange gradients, or that train with servers of parameters."""

from __future__ import annotations

from ...utils.manifests import Manifest, document
from ..elastic import SERVER_FOLDER, WORKER_FOLDER
from .description import JobDescription
from .pods import (
    ALIVE,
    LOGS,
    MEETING,
    SERVING,
    environment,
    field,
    indexed_job_spec,
    launcher_probes,
    pod,
    server_probes,
    service,
    variable,
    volume_claim,
)  # fmt: skip

INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
# A recreated Job starts over, also on a volume that it had before.
UID = "metadata.labels['batch.kubernetes.io/controller-uid']"
# The part of a JobSet whose end is the end of all.
TRAINERS, SERVERS = "trainer", "server"


def collective(job: JobDescription) -> list[Manifest]:
    """Launchers that meet at the first pod, as an Indexed Job with its service, or as a JobSet."""
    first = f"{job.name}-{TRAINERS}-0-0" if job.form == "jobset" else f"{job.name}-0"
    least, most = job.limits
    command = [
        "python", "-m", "paddle_lite_py.distributed.launch", "--master", f"{first}.{job.name}:{MEETING}",
        "--nnodes", f"{least}:{most}", "--nproc_per_node", str(job.processes), "--elastic_level", "1",
        "--elastic_timeout", str(job.elastic_timeout), "--max_restart", str(job.max_restart), "--job_id", job.name,
        "--log_dir", LOGS, *job.program,
    ]  # fmt: skip
    env = environment(job, field("POD_IP", "status.podIP"), variable("PADDLE_LAUNCH_ALIVE", ALIVE))
    spec = indexed_job_spec(job, most, pod(job, command, env, launcher_probes()), launched=True)
    if job.form == "jobset":
        return [*volume_claim(job), _jobset(job, {TRAINERS: spec})]
    return [*volume_claim(job), service(job), document("batch/v1", "Job", job.name, spec=spec)]


def parameter_server(job: JobDescription) -> list[Manifest]:
    """Servers and trainers, which find each other by the names of their pods.

    With a volume either comes back as it was. Without one a pod that ends ends its Job: a server would come back empty,
    and a trainer would train on what it has trained on before.
    """
    zero = "-0" if job.form == "jobset" else ""  # the number of the Job within its part of the set
    hosts = {role: f"{job.name}-{role}{zero}" for role in (SERVERS, TRAINERS)}
    count = {SERVERS: job.servers, TRAINERS: job.limits[1]}
    addresses = {r: ",".join(f"{hosts[r]}-{i}.{job.name}:{SERVING}" for i in range(count[r])) for r in count}
    command = ["python", "-m", "paddle_lite_py", "run", *job.program]
    specs = {}
    for role in (SERVERS, TRAINERS):
        own = f"{hosts[role]}-$(PADDLE_POD_INDEX).{job.name}"
        env = environment(
            job, field("PADDLE_POD_INDEX", INDEX),
            variable("TRAINING_ROLE", "PSERVER" if role == SERVERS else "TRAINER"),
            variable("PADDLE_PSERVERS_IP_PORT_LIST", addresses[SERVERS]),
            variable("PADDLE_TRAINER_ENDPOINTS", addresses[TRAINERS]),
            variable("PADDLE_TRAINERS_NUM", str(count[TRAINERS])), variable("POD_IP", own),
            variable("PADDLE_PORT", str(SERVING)), variable("PADDLE_CURRENT_ENDPOINT", f"{own}:{SERVING}"),
            *([variable("PADDLE_TRAINER_ID", "$(PADDLE_POD_INDEX)")] if role == TRAINERS else []),
            *_resume_variable(job, SERVER_FOLDER if role == SERVERS else WORKER_FOLDER),
        )  # fmt: skip
        probes = server_probes() if role == SERVERS else {}
        specs[role] = indexed_job_spec(
            job, count[role], pod(job, command, env, probes), launched=False, comes_back=bool(job.claim)
        )
    if job.form == "jobset":
        return [*volume_claim(job), _jobset(job, specs)]
    made = [document("batch/v1", "Job", f"{job.name}-{role}", spec=spec) for role, spec in specs.items()]
    return [*volume_claim(job), service(job), *made]


def _resume_variable(job: JobDescription, name: str) -> list[Manifest]:
    """Return the variable that names the folder from which a pod goes on, where there is a volume for it."""
    if not job.claim:
        return []
    return [field("PADDLE_JOB_UID", UID), variable(name, f"{job.checkpoints.path}/.{job.name}/$(PADDLE_JOB_UID)")]


def _jobset(job: JobDescription, specs: dict[str, Manifest]) -> Manifest:
    """Jobs that belong together: one service for all, and they end when all trainers are done."""
    spec = {
        "network": {"enableDNSHostnames": True, "subdomain": job.name, "publishNotReadyAddresses": True},
        "successPolicy": {"operator": "All", "targetReplicatedJobs": [TRAINERS]},
        "failurePolicy": {"maxRestarts": job.max_restart},
        "replicatedJobs": [{"name": n, "replicas": 1, "template": {"spec": s}} for n, s in specs.items()],
    }
    return document("jobset.x-k8s.io/v1alpha2", "JobSet", job.name, spec=spec)
