"""Parameter servers and training over a cluster of Ray: it places processes, and starts them again when they end.

Needs the extras `ps` and `ray`. Tables go by their own connections, and exchanges by JAX's; Ray carries neither.
"""

from __future__ import annotations

import os
import secrets
import signal
import threading
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from ..core.extras import install_hint

try:
    import ray
    from ray import cloudpickle
except ImportError:
    raise ModuleNotFoundError(f"this module needs the package ray: {install_hint('ps', 'ray')}", name="ray") from None

from . import ps, ray_loop

# It must come to a worker before this package does, which joins the others when it is imported.
cloudpickle.register_pickle_by_value(ray_loop)


class _ServerActor:
    """A parameter server in an actor. If it cannot go on the process ends, and Ray starts another one."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._server = ps.Server(f"{ray.util.get_node_ip_address()}:0", **settings)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        try:
            self._server.run()
        finally:
            os.kill(os.getpid(), signal.SIGKILL)

    def endpoint(self) -> str:
        """Where it listens."""
        return self._server.endpoint

    def pid(self) -> int:
        """Return its process."""
        return os.getpid()


class RayServers:
    """Parameter servers as named actors. One that dies is started again, here or on another machine, as it was.

    It may be sent to tasks and actors, which make clients of their own.

    Args:
        servers: how many.
        workers: how many workers a barrier waits for.
        folder: for what must outlive them, one that all machines share; each has a folder of its own in it. None:
            one that dies comes back empty.
        name: that of the actors begins with it.
        options: of the actors, such as `num_cpus` or `resources`; the default is one CPU each, spread over machines.

    Raises:
        ValueError: actors of this name are there.

    Example:
        servers = RayServers(2, workers=4, folder="/shared/tables")
        client = servers.client(worker=0)
    """

    def __init__(
        self,
        servers: int = 1,
        workers: int = 1,
        folder: str | None = None,
        name: str = "parameter-server",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.workers, self._token = workers, secrets.token_hex(16)
        self._names = [f"{name}-{i}" for i in range(servers)]
        chosen = {"num_cpus": 1, "scheduling_strategy": "SPREAD", **(options or {})}
        actor = ray.remote(_ServerActor)
        common = {"servers": servers, "workers": workers, "token": self._token}
        made = []
        for index, own in enumerate(self._names):
            place = os.path.join(folder, str(index)) if folder is not None else None
            settings = {**common, "index": index, "folder": place}
            made.append(actor.options(name=own, max_restarts=-1, max_task_retries=-1, **chosen).remote(settings))
        self._actors = made  # actors live as long as they are referenced
        self.endpoints: list[str] = ray.get([one.endpoint.remote() for one in made])

    def find(self, index: int) -> str | None:
        """Where a server is now; None while it is not known."""
        try:
            return ray.get(ray.get_actor(self._names[index]).endpoint.remote(), timeout=5)
        except (ValueError, ray.exceptions.RayError):
            return None

    def client(self, worker: int = 0, timeout: float = 120.0) -> ps.Client:
        """Return a client for a worker, which follows servers that come back elsewhere."""
        return ps.Client(self.endpoints, self._token, worker, self.workers, timeout, self.find)

    def pids(self) -> list[int]:
        """Return the servers' processes."""
        return ray.get([ray.get_actor(name).pid.remote() for name in self._names])

    def stop(self) -> None:
        """End them for good; what they have kept stays."""
        for name in self._names:
            ray.kill(ray.get_actor(name), no_restart=True)


def train(
    loop: Callable[..., Any],
    workers: int = 1,
    config: Any = None,
    *,
    storage: str,
    name: str | None = None,
    max_failures: int = 3,
    resources: Mapping[str, float] | None = None,
    join: bool = False,
) -> Any:
    """Run a training in workers over the cluster; when one ends, all begin again from the last checkpoint.

    In the loop `ray.train.get_checkpoint()` is where to go on from (None at first), `ray.train.report(metrics,
    checkpoint=...)` keeps one, and `ray.train.get_context().get_world_rank()` is the worker's number.

    Args:
        loop: what each worker runs: of the config, if there is one, else of nothing.
        workers: how many.
        config: handed to the loop.
        storage: folder for checkpoints, which all machines share.
        name: of the run; one of the same name goes on where it was. None: a new one.
        max_failures: how often workers may begin again.
        resources: of each worker, such as {"CPU": 2}.
        join: whether workers exchange tensors: then each is a rank of `paddle.distributed`. Workers that only use
            parameter servers need not.

    Returns:
        Ray's `Result`, with the last metrics and checkpoint.

    Raises:
        ray.train.TrainingFailedError: workers have ended too often.
    """
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer

    meeting = ray.remote(ray_loop.AddressBook).options(num_cpus=0).remote() if join else None
    told = {"loop": cloudpickle.dumps(loop), "config": config, "meeting": meeting}
    return DataParallelTrainer(
        ray_loop.run,
        train_loop_config=told,
        scaling_config=ScalingConfig(num_workers=workers, resources_per_worker=dict(resources or {"CPU": 1})),
        run_config=RunConfig(
            name=name or f"train-{uuid.uuid4().hex[:8]}",
            storage_path=os.path.abspath(storage),
            failure_config=FailureConfig(max_failures=max_failures),
        ),
    ).fit()
