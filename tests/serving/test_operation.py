"""A server at work: models that come, change and go; workers that die; too many requests; TLS and tokens."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import time
import urllib.request

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.serving import Limits, ServedModel, Server, ServerSettings, ServingError, TensorSpec, executors
from paddle_lite_py.serving import host as hosts
from paddle_lite_py.serving.command import main
from paddle_lite_py.serving.host import ModelHost
from served import Served, eventually

SPEC = [paddle.static.InputSpec(["batch", 3], "float32", "x")]
ROW = [[1.0, 2.0, 3.0]]


class Times(nn.Layer):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return x * self.factor


def save(factor, prefix):
    paddle.jit.save(Times(factor), str(prefix), input_spec=SPEC, platforms=["cpu"])


class Slow(ServedModel):
    """Takes a while, and says so."""

    platform, inputs, outputs = "python", [TensorSpec("x", "FP32", ("n",))], [TensorSpec("y", "FP32", ("n",))]

    def __init__(self, seconds):
        self.seconds, self.batches = seconds, []

    def run(self, arrays):
        time.sleep(self.seconds)
        self.batches.append(len(arrays["x"]))
        return {"y": arrays["x"] * 2}


def ask(server, model, x, path="/infer"):
    body = {"inputs": [{"name": "x", "shape": list(np.shape(x)), "datatype": "FP32", "data": x}]}
    request = urllib.request.Request(f"{server.url}/v2/models/{model}{path}", json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)["outputs"][0]["data"]
    except urllib.error.HTTPError as e:
        return e.code, json.load(e)["error"]


def test_a_repository_that_changes(tmp_path):
    save(2.0, tmp_path / "double")
    for version in (1, 2):
        save(10.0 * version, tmp_path / "numbered" / str(version) / "model")
    with Server(repository=str(tmp_path), settings=ServerSettings(port=0, grpc_port=None, watch=0.1)) as server:
        assert ask(server, "double", ROW) == (200, [2.0, 4.0, 6.0])
        assert ask(server, "numbered", ROW) == (200, [20.0, 40.0, 60.0])  # the newest
        assert ask(server, "numbered", ROW, "/versions/1/infer") == (200, [10.0, 20.0, 30.0])
        save(3.0, tmp_path / "double")  # written anew
        save(30.0, tmp_path / "numbered" / "3" / "model")  # a new version
        save(5.0, tmp_path / "later")  # a new model
        assert eventually(lambda: ask(server, "double", ROW) == (200, [3.0, 6.0, 9.0]))
        assert eventually(lambda: ask(server, "numbered", ROW) == (200, [30.0, 60.0, 90.0]))
        assert eventually(lambda: ask(server, "later", ROW) == (200, [5.0, 10.0, 15.0]))
        (tmp_path / "double.json").write_text("{")  # a file that is damaged: what was there goes on
        assert eventually(lambda: "double.json is damaged" in server.service.index()[0]["reason"])
        assert ask(server, "double", ROW) == (200, [3.0, 6.0, 9.0])
        (tmp_path / "later.json").unlink()
        assert eventually(lambda: ask(server, "later", ROW)[0] == 404)


def test_load_and_unload(tmp_path):
    save(2.0, tmp_path / "net")
    with Server([str(tmp_path / "net")], settings=ServerSettings(port=0, grpc_port=None, watch=0.1)) as server:

        def repository(name, action):
            url = f"{server.url}/v2/repository/models/{name}/{action}"
            try:
                return urllib.request.urlopen(urllib.request.Request(url, b"{}"), timeout=30).status
            except urllib.error.HTTPError as e:
                return e.code

        assert repository("net", "unload") == 200
        assert ask(server, "net", ROW) == (503, "model `net` is not ready: it was unloaded")
        assert server.service.index()[0]["state"] == "UNAVAILABLE"
        assert repository("net", "load") == 200 and ask(server, "net", ROW)[0] == 200
        assert repository("other", "load") == repository("..%2Fnet", "load") == 404


def test_requests_under_way_finish_on_the_old_model(tmp_path):
    """While a model is swapped again and again, every answer is that of one of its versions."""
    save(1.0, tmp_path / "net")
    with Server([str(tmp_path / "net")], settings=ServerSettings(port=0, grpc_port=None, watch=0.05)) as server:

        def client():
            found = set()
            while 4.0 not in found:
                status, data = ask(server, "net", ROW)
                assert status == 200, data
                found.add(data[0])
            return found

        with concurrent.futures.ThreadPoolExecutor(3) as threads:
            assert ask(server, "net", ROW) == (200, ROW[0])
            clients = [threads.submit(client) for _ in range(3)]
            for factor in (2.0, 3.0, 4.0):
                save(factor, tmp_path / "net")
                assert eventually(lambda factor=factor: ask(server, "net", ROW)[1][0] == factor)
            found = set.union(*[c.result() for c in clients])
        assert {4.0} <= found <= {1.0, 2.0, 3.0, 4.0}


def test_requests_are_joined(tmp_path):
    model = Slow(0.02)
    limits = Limits(batch=16, delay=0.05)
    with Server({"slow": model}, settings=ServerSettings(port=0, grpc_port=None, limits=limits)) as server:
        model.batches.clear()
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            found = list(threads.map(lambda i: ask(server, "slow", [float(i), 0.0]), range(8)))
        assert found == [(200, [2.0 * i, 0.0]) for i in range(8)]
        assert sum(model.batches) >= 16 and len(model.batches) < 8
        assert set(model.batches) <= {1, 2, 4, 6, 8, 12, 16}  # only sizes that were compiled before


def test_too_many_requests_and_too_late_ones():
    limits = Limits(queue=2, seconds=0.5)
    with Server({"slow": Slow(0.3)}, settings=ServerSettings(port=0, grpc_port=None, limits=limits)) as server:
        with concurrent.futures.ThreadPoolExecutor(12) as threads:
            found = list(threads.map(lambda i: ask(server, "slow", [1.0]), range(12)))
        statuses = [status for status, _ in found]
        assert statuses.count(200) >= 2 and statuses.count(429) >= 6
        assert set(statuses) <= {200, 429, 504}
        assert any("which is the limit" in str(text) for _, text in found)
    with Server(
        {"slow": Slow(1.0)}, settings=ServerSettings(port=0, grpc_port=None, limits=Limits(seconds=0.2))
    ) as server:
        assert ask(server, "slow", [1.0]) == (504, "model `slow` did not answer within 0.2 s")


def test_a_model_that_fails():
    class Failing(Slow):
        def run(self, arrays):
            if (arrays["x"] < 0).any():
                raise ZeroDivisionError("no")
            return super().run(arrays)

    with Server(
        {"f": Failing(0)}, settings=ServerSettings(port=0, grpc_port=None, limits=Limits(batch=4, delay=0.1))
    ) as server:
        with concurrent.futures.ThreadPoolExecutor(3) as threads:  # joined; the fault is of one alone
            found = list(threads.map(lambda v: ask(server, "f", [v]), [1.0, -1.0, 2.0]))
        assert found == [(200, [2.0]), (500, "model `f` failed: ZeroDivisionError: no"), (200, [4.0])]


@pytest.mark.parametrize(("files", "text"), [
    ({"m.pdmodel": b"x"}, "m.pdmodel is damaged"),
    ({"m.json": b'{"base_code": {"magic": "pir"}}'}, "m.json is damaged"),
    ({"m.json": b"{"}, "m.json is damaged"),
    ({}, "there is no model at"),
])  # fmt: skip
def test_files_that_cannot_be_served(tmp_path, files, text):
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ServingError, match=text):
        Server([str(tmp_path / "m")], settings=ServerSettings(port=0, grpc_port=None)).start()


def test_names_of_models():
    for models, text in ((["../x=net"], "is no folder|letters"), (["a=x", "a=y"], "two models are called a")):
        with pytest.raises(ServingError, match=text):
            Server(models, repository="/no/such/folder" if ".." in models[0] else None)


def test_workers_that_are_killed_lose_no_request(tmp_path):
    net = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 3))
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=SPEC, platforms=["cpu"])
    want = net(paddle.to_tensor(np.array(ROW, "float32"))).numpy().reshape(-1)
    limits = Limits(batch=4, delay=0.001)
    with Server(
        [str(tmp_path / "net")], settings=ServerSettings(port=0, grpc_port=None, workers=2, limits=limits)
    ) as server:
        first, done = server.worker_pids(), []
        end = time.monotonic() + 4

        def client():
            while time.monotonic() < end:
                status, data = ask(server, "net", ROW)
                done.append(status == 200 and np.allclose(data, want, rtol=1e-4, atol=1e-5))

        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            clients = [threads.submit(client) for _ in range(4)]
            for i in range(2):
                time.sleep(0.5)
                os.kill(first[i], signal.SIGKILL)
            for c in clients:
                c.result()
        assert all(done) and len(done) > 20
        assert eventually(lambda: not set(first) & set(server.worker_pids()))


HANGING = """
import time
from paddle_lite_py.serving import ServedModel, TensorSpec

class Hanging(ServedModel):
    platform, inputs, outputs = "python", [TensorSpec("x", "FP32", (1,))], [TensorSpec("x", "FP32", (1,))]

    def run(self, arrays):
        time.sleep(60 if arrays["x"][0] > 10 else 0)
        return arrays

model = Hanging()
"""


def test_a_worker_that_hangs_is_ended(tmp_path):
    (tmp_path / "hanging.py").write_text(HANGING)
    settings = ServerSettings(port=0, grpc_port=None, workers=1, limits=Limits(seconds=0.5))
    with Server([str(tmp_path / "hanging.py")], settings=settings) as server:
        (first,) = server.worker_pids()
        assert ask(server, "hanging", [11.0])[0] == 504
        assert eventually(lambda: server.worker_pids() != [first])
        assert eventually(lambda: ask(server, "hanging", [1.0]) == (200, [1.0]))


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_tls_and_token(tmp_path):
    save(2.0, tmp_path / "net")
    certificate, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
               "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-out", certificate, "-keyout", key]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    arguments = [str(tmp_path / "net"), "--tls-cert", certificate, "--tls-key", key]
    server = Served(*arguments, PADDLE_SERVING_TOKEN="secret")
    try:
        context = ssl.create_default_context(cafile=certificate)

        def status(path, **headers):
            connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=10)
            with contextlib.closing(connection):
                connection.request("GET", path, headers=headers)
                return connection.getresponse().status

        assert status("/v2/health/ready") == 200
        assert status("/v2/models/net") == status("/v2/models/net", authorization="Bearer other") == 401
        assert status("/v2/models/net", authorization="Bearer secret") == 200
        with pytest.raises(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{server.port}/v2/health/live", timeout=5)
        grpc = pytest.importorskip("grpc")
        from paddle_lite_py.serving.messages import MESSAGES

        with open(certificate, "rb") as f:
            channel = grpc.secure_channel(f"localhost:{server.grpc_port}", grpc.ssl_channel_credentials(f.read()))
        call = channel.unary_unary(
            "/inference.GRPCInferenceService/ModelMetadata", MESSAGES["ModelMetadataRequest"].SerializeToString,
            MESSAGES["ModelMetadataResponse"].FromString,
        )  # fmt: skip
        request = MESSAGES["ModelMetadataRequest"](name="net")
        with pytest.raises(grpc.RpcError, match="requires a bearer token"):
            call(request)
        assert call(request, metadata=[("authorization", "Bearer secret")]).name == "net"
        channel.close()
    finally:
        assert server.stop() in (0, -signal.SIGTERM)


def test_it_listens_to_this_machine_only(served):
    addresses = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in addresses - {"127.0.0.1", "127.0.1.1"}:
        with pytest.raises(OSError):
            socket.create_connection((address, served.port), timeout=2).close()
    assert "HTTP at http://127.0.0.1:" in "".join(served.lines)


@pytest.mark.parametrize(("arguments", "text"), [
    ([], "name a model"),
    (["no/such"], "there is no model at 'no/such'"),
    (["x", "--tls-cert", "f"], "both a certificate and a key"),
    (["x", "--size", "seq"], "--size seq: expected NAME=N"),
])  # fmt: skip
def test_the_command_line_says_what_is_wrong(arguments, text, capsys):
    with pytest.raises(SystemExit) as end:
        main([*arguments, "--port", "0", "--grpc-port", "-1"])
    assert text in f"{end.value} {capsys.readouterr().err}"


GATED = """
import pathlib, time
from paddle_lite_py.serving import ServedModel, TensorSpec

class Net(ServedModel):
    platform, inputs, outputs = "python", [TensorSpec("x", "FP32", ("n",))], [TensorSpec("y", "FP32", ("n",))]

    def run(self, arrays):
        return {"y": arrays["x"] * 2}

while pathlib.Path("CLOSED").exists():
    time.sleep(0.01)
model = Net()
"""


def test_requests_while_no_worker_can_start(tmp_path):
    """All workers end, those that replace them take long: requests end in 504, and later ones in answers."""
    closed = tmp_path / "closed"
    (tmp_path / "net.py").write_text(GATED.replace("CLOSED", str(closed)))
    settings = ServerSettings(port=0, grpc_port=None, workers=2, limits=Limits(seconds=1.0))
    with (
        Server([str(tmp_path / "net.py")], settings=settings) as server,
        concurrent.futures.ThreadPoolExecutor(6) as threads,
    ):
        assert ask(server, "net", [1.0]) == (200, [2.0])
        closed.touch()
        first = server.worker_pids()
        for pid in first:
            os.kill(pid, signal.SIGKILL)
        found = list(threads.map(lambda i: ask(server, "net", [float(i)]), range(12)))
        assert {status for status, _ in found} == {504}
        assert all("2 of 2 workers had ended and are being started again; ask again" in text for _, text in found)
        closed.unlink()
        assert eventually(lambda: ask(server, "net", [1.0])[0] == 200)
        assert [ask(server, "net", [float(i)]) for i in range(6)] == [(200, [2.0 * i]) for i in range(6)]
        assert eventually(lambda: len(server.worker_pids()) == 2 and not set(first) & set(server.worker_pids()))


def test_workers_that_end_while_nobody_asks_cost_a_request_no_try(tmp_path, monkeypatch):
    """More of them than the workers that one batch may lose."""
    monkeypatch.setattr(executors.WorkerExecutor, "LOOK", 1000.0)  # a look under way would start new ones
    save(2.0, tmp_path / "net")
    with Server([str(tmp_path / "net")], settings=ServerSettings(port=0, grpc_port=None, workers=2)) as server:
        executor = server.service.executor
        executor.RETRIES = 1
        for pid in server.worker_pids():
            os.kill(pid, signal.SIGKILL)
        assert eventually(lambda: all(w.ended for w in executor._workers))
        assert ask(server, "net", ROW) == (200, [2.0, 4.0, 6.0])


def test_a_model_that_comes_while_all_workers_are_being_replaced_is_refused_in_words(tmp_path):
    save(2.0, tmp_path / "net")
    with Server([str(tmp_path / "net")], settings=ServerSettings(port=0, grpc_port=None, workers=1)) as server:
        executor = server.service.executor
        executor._restoring.update(executor._workers)
        with pytest.raises(ServingError, match="all workers are being replaced; load .*net again later"):
            asyncio.run(executor.load("again", str(tmp_path / "net"), 1, {}))
        executor._restoring.clear()


# -- models that cannot be loaded ------------------------------------------------------------------------------------
KILLER = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"


@pytest.mark.parametrize("workers", [0, 2])
def test_a_model_that_ends_the_process_that_loads_it_is_told_and_the_others_go_on(tmp_path, workers, caplog):
    save(2.0, tmp_path / "models" / "net")
    settings = ServerSettings(port=0, grpc_port=None, watch=0.2, workers=workers)
    with Server(repository=str(tmp_path / "models"), settings=settings) as server:
        assert ask(server, "net", ROW) == (200, [2.0, 4.0, 6.0])
        before = server.worker_pids()
        (tmp_path / "bad.py").write_text(KILLER)
        server.service._repository._named["bad"] = str(tmp_path / "bad.py")
        assert eventually(lambda: "ended over it" in server.service._failures.get("bad", ""))
        statuses = {ask(server, "net", ROW)[0] for _ in range(20)}
        assert statuses == {200} and ask(server, "bad", ROW)[0] == 503
        assert urllib.request.urlopen(f"{server.url}/v2/health/ready", timeout=10).status == 200
        page = urllib.request.urlopen(f"{server.url}/", timeout=10).read().decode()
        metrics = urllib.request.urlopen(f"{server.url}/metrics", timeout=10).read().decode()
        assert "not loaded: a" in page and 'paddle_serving_load_failures_total{model="bad"}' in metrics
        assert "bad" in caplog.text and server.service._retries["bad"].delay >= 0.2
        assert len(set(server.worker_pids()) & set(before)) >= workers - 1
        del server.service._repository._named["bad"]
        save(5.0, tmp_path / "models" / "bad")  # it is mended
        assert eventually(lambda: ask(server, "bad", ROW) == (200, [5.0, 10.0, 15.0]))


def test_a_model_that_cannot_be_loaded_is_tried_less_and_less(tmp_path):
    save(2.0, tmp_path / "net")
    (tmp_path / "bad.json").write_text("{")
    with Server(repository=str(tmp_path), settings=ServerSettings(port=0, grpc_port=None, watch=0.05)) as server:
        assert ask(server, "net", ROW)[0] == 200  # a server starts without what is damaged in its folder
        assert eventually(lambda: "bad" in server.service._retries and server.service._retries["bad"].delay >= 0.1)
        save(3.0, tmp_path / "bad")  # what is new is tried at once
        assert eventually(lambda: ask(server, "bad", ROW)[0] == 200)
        assert "bad" not in server.service._retries and not server.service.index()[0]["reason"]
    with pytest.raises(ServingError, match="damaged"):
        (tmp_path / "bad.json").write_text("{")
        Server([str(tmp_path / "bad")], settings=ServerSettings(port=0, grpc_port=None)).start()


@pytest.fixture
def host(tmp_path):
    """A host of a model whose products XLA computes, for at most three sizes beside the one that it is ready for."""
    spec = paddle.static.InputSpec([None, None, 200], name="x")
    paddle.jit.save(nn.Linear(200, 200), str(tmp_path / "net"), input_spec=[spec], platforms=["cpu"])
    host = ModelHost(3)
    host.load("a", str(tmp_path / "net"), 1, {})
    return host


def rows_of(host, n):
    return host.run("a", {"x": np.ones((1, n, 200), "float32")})["out0"].shape[1]


def test_ever_new_sizes_compile_so_many_programs_and_no_more(host, monkeypatch):
    assert [rows_of(host, n) for n in (1, 2, 3)] == [1, 2, 3]
    before = host.compilations
    with pytest.raises(ServingError, match=r"not compiled for x\[1, 4, 200\], and 3 other sizes.*--max-programs") as e:
        rows_of(host, 4)
    assert e.value.http == 429
    assert [rows_of(host, n) for n in (1, 2, 3, 8)] == [1, 2, 3, 8]  # 8: compiled before it was ready
    assert host.compilations == before
    monkeypatch.setattr(hosts, "PERIOD", 0.0)
    assert rows_of(host, 4) == 4 and host.compilations > before


def test_programs_for_ever_new_sizes_are_dropped(host, monkeypatch):
    monkeypatch.setattr(hosts, "PERIOD", 0.0)
    model, forgotten = host._models["a"].model, []
    forget = model.forget
    monkeypatch.setattr(model, "forget", lambda: forgotten.append(1) or forget())
    assert [rows_of(host, n) for n in range(1, 8)] == list(range(1, 8))
    assert len(forgotten) == 1 and len(host._models["a"].seen) <= 4


def test_sizes_that_numpy_computes_are_not_counted(saved):
    host = ModelHost(2)
    host.load("a", str(saved[0] / "mlp"), 1, {})
    for n in range(1, 6):
        assert len(host.run("a", {"x": np.ones((n, 3), "float32")})["out0"]) == n
    assert host._models["a"].compiled == 0
