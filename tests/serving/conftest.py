"""Servers that several tests ask."""

from __future__ import annotations

import pytest

for name in ("starlette", "uvicorn", "httptools", "orjson", "prometheus_client", "grpc", "google.protobuf"):
    pytest.importorskip(name, reason="the extra `serving` is not installed")


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """Some saved models: by name, the prefix; and the nets that they were saved from."""
    import paddle_lite_py as paddle
    from paddle_lite_py import nn

    folder = tmp_path_factory.mktemp("models")
    spec = paddle.static.InputSpec

    class Mixing(nn.Layer):
        def forward(self, x):
            return x - x.mean(axis=0)

    class Two(nn.Layer):
        def forward(self, a, b):
            return {"sum": a + b, "as it is": a, "less": (a - b, 1)}

    nets = {
        "mlp": (nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), [spec(["batch", 3], "float32", "x")]),
        "mixing": (Mixing(), [spec(["batch", 3], "float32", "x")]),
        "two": (Two(), [spec(["n", "m"], "int32", "a"), spec(["n", "m"], "int32", "b")]),
    }
    for name, (net, specs) in nets.items():
        paddle.jit.save(net.eval(), str(folder / name), input_spec=specs, platforms=["cpu"])
    return folder, {name: net for name, (net, _) in nets.items()}


@pytest.fixture(scope="session")
def served(saved):
    """A server of them that joins requests."""
    from served import Served

    folder, _ = saved
    arguments = ["--max-batch", "8", "--delay-ms", "1", "--max-mb", "1", "--timeout", "5", "--access-log"]
    server = Served(*[str(folder / n) for n in ("mlp", "mixing", "two")], *arguments)
    yield server
    server.stop()
