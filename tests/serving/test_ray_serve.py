"""Models on Ray Serve, and replicas that are killed under load."""

from __future__ import annotations

import concurrent.futures
import json
import os
import signal
import socket
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import paddle_lite_py as paddle

ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")


def replicas():
    """Process ids of the replicas."""
    from ray.util.state import list_actors

    actors = list_actors(filters=[("state", "=", "ALIVE")], detail=True)
    return [a.pid for a in actors if "models" in (a.name or "")]


@pytest.fixture
def application(tmp_path):
    net = paddle.nn.Linear(3, 2)
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[paddle.static.InputSpec(["n", 3], "float32", "x")])
    from ray import serve

    from paddle_lite_py.serving.ray_serve import deployment

    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    ray.init(num_cpus=2, include_dashboard=True, log_to_driver=False, logging_level="error")
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    serve.run(deployment({"net": str(tmp_path / "net")}, replicas=2, cpus=0.5))
    yield net, f"http://127.0.0.1:{port}"
    serve.shutdown()
    ray.shutdown()


def ask(url, x):
    said = {"name": "x", "shape": list(x.shape), "datatype": "FP32", "data": x.ravel().tolist()}
    body = json.dumps({"inputs": [said]})
    try:
        with urllib.request.urlopen(f"{url}/v2/models/net/infer", body.encode(), timeout=60) as answer:
            return answer.status, json.load(answer)["outputs"][0]["data"]
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


def test_replicas_that_are_killed_lose_no_request(application):
    net, url = application
    x = np.ones((1, 3), "float32")
    want = net(paddle.to_tensor(x)).numpy().ravel()
    with urllib.request.urlopen(f"{url}/v2/models/net") as answer:
        assert json.load(answer)["name"] == "net"
    assert ask(url, x[:, :2])[0] == 400
    done, end = [], time.monotonic() + 15

    def client():
        while time.monotonic() < end:
            status, data = ask(url, x)
            done.append((status, data) if status != 200 else np.allclose(data, want, rtol=1e-4))

    killed = []
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        clients = [threads.submit(client) for _ in range(4)]
        for _ in range(2):
            time.sleep(3)
            pid = next(p for p in replicas() if p not in killed)
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
        for c in clients:
            c.result()
    assert len(killed) == 2 and len(done) > 50 and all(d is True for d in done), [d for d in done if d is not True][:3]
