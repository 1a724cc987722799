"""Parameter servers and training on Ray: what is killed comes back as it was."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def cluster():
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def test_servers_that_are_killed_come_back(cluster, tmp_path):
    from paddle_lite_py.distributed import ps
    from paddle_lite_py.distributed.ray import RayServers

    servers = RayServers(2, folder=str(tmp_path), name="killed")
    client = servers.client()
    client.create(ps.SparseConfig("t", 2, ps.Rule("sgd", -1.0)))
    ids, ones = np.arange(100), np.ones((100, 2))
    before = servers.pids()
    for n in range(60):
        client.push_sparse("t", ids, ones)
        if n in (20, 40):
            os.kill(before[n // 20 - 1], signal.SIGKILL)
    assert np.array_equal(client.pull_sparse("t", ids), np.full((100, 2), 60))
    assert not set(before) & set(servers.pids())
    client.close()
    servers.stop()


def test_clients_in_workers(cluster, tmp_path):
    from paddle_lite_py.distributed import ps
    from paddle_lite_py.distributed.ray import RayServers

    servers = RayServers(1, workers=2, name="shared")

    @ray.remote
    def work(worker: int) -> np.ndarray:
        client = servers.client(worker)
        client.create(ps.SparseConfig("t", 1, ps.Rule("sgd", -1.0)))
        client.push_sparse("t", np.array([1, 2]), np.ones((2, 1)))
        client.barrier()
        return client.pull_sparse("t", np.array([1, 2]))

    assert [rows.tolist() for rows in ray.get([work.remote(i) for i in range(2)])] == [[[2], [2]]] * 2
    servers.stop()


def training(config):
    """Count to five, with an exchange in each step; one worker is killed after the second checkpoint."""
    import tempfile
    from pathlib import Path

    from ray.train import Checkpoint, get_checkpoint, get_context, report

    import paddle_lite_py as paddle

    rank, total = get_context().get_world_rank(), paddle.zeros([1])
    start = 0
    if get_checkpoint() is not None:
        with get_checkpoint().as_directory() as folder:
            kept = paddle.load(f"{folder}/state.pdparams")
            start, total = int(kept["step"]), kept["total"]
    for step in range(start, 5):
        add = paddle.to_tensor([float(rank + 1)])
        paddle.distributed.all_reduce(add)
        total = total + add
        with tempfile.TemporaryDirectory() as folder:
            paddle.save({"step": paddle.to_tensor(step + 1), "total": total}, f"{folder}/state.pdparams")
            report({"step": step + 1, "total": float(total)}, checkpoint=Checkpoint.from_directory(folder))
        marker = Path(config["marker"])
        if step == 1 and rank == 1 and not marker.exists():
            marker.write_text("killed")
            os.kill(os.getpid(), signal.SIGKILL)


def test_training_goes_on_from_its_checkpoint(cluster, tmp_path):
    from paddle_lite_py.distributed.ray import train

    config = {"marker": str(tmp_path / "marker")}
    result = train(training, 2, config, storage=str(tmp_path / "storage"), join=True)
    assert (tmp_path / "marker").exists()
    assert result.metrics["step"] == 5
    assert result.metrics["total"] == 15
