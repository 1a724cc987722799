"""The Open Inference Protocol over HTTP, asked by what nobody here wrote: urllib, curl, tritonclient."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
import socket
import subprocess
import urllib.request

import numpy as np
import pytest

import paddle_lite_py as paddle
from served import eventually

X = np.arange(6, dtype="float32").reshape(2, 3) / 6


def expected(saved, x=X, name="mlp"):
    return saved[1][name](paddle.to_tensor(x)).numpy()


def test_health_and_metadata(served):
    assert served.ask("/v2/health/live") == (200, {"live": True})
    assert served.ask("/v2/health/ready") == (200, {"ready": True})
    assert "binary_tensor_data" in served.ask("/v2")[1]["extensions"]
    status, found = served.ask("/v2/models/mlp/versions/1")
    assert (status, found["versions"], found["platform"]) == (200, ["1"], "paddle_lite_py")
    assert found["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1, 3]}]
    assert found["outputs"] == [{"name": "out0", "datatype": "FP32", "shape": [-1, 2]}]
    assert served.ask("/v2/models/mlp/ready") == (200, {"name": "mlp", "ready": True})
    index = served.ask("/v2/repository/index", {})[1]
    assert {(m["name"], m["version"], m["state"]) for m in index} >= {("mlp", "1", "READY"), ("two", "1", "READY")}


@pytest.mark.parametrize("x", [X, X[:1], np.repeat(X, 10, axis=0)], ids=["two", "one", "more than a batch"])
def test_rows_get_their_own_results(saved, served, x):
    status, data = served.infer("mlp", x.tolist())
    assert status == 200
    np.testing.assert_allclose(np.reshape(data, (-1, 2)), expected(saved, x), rtol=1e-5, atol=1e-6)


def test_an_answer_is_one_write(served):
    body = json.dumps({"inputs": [{"name": "x", "shape": [2, 3], "datatype": "FP32", "data": X.tolist()}]}).encode()
    head = f"POST /v2/models/mlp/infer HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        for _ in range(3):
            connection.sendall(head + body)
            said = connection.recv(2**16)
            assert said.startswith(b"HTTP/1.1 200") and json.loads(said.partition(b"\r\n\r\n")[2])["outputs"]


def test_flat_data_an_id_and_chosen_outputs(served):
    tensor = {"shape": [2, 2], "datatype": "INT32", "data": [1, 2, 3, 4]}
    asked = {
        "id": "seven",
        "inputs": [{"name": n} | tensor for n in "ab"],
        "outputs": [{"name": "out1"}, {"name": "out2"}],
    }
    status, found = served.ask("/v2/models/two/infer", asked)
    assert (status, found["id"], found["model_version"]) == (200, "seven", "1")
    tensor = {"datatype": "INT32", "shape": [2, 2]}
    first, second = {"name": "out1"} | tensor | {"data": [1, 2, 3, 4]}, {"name": "out2"} | tensor | {"data": [0] * 4}
    assert found["outputs"] == [first, second]


def test_bytes_there_and_back(saved, served):
    said = {"name": "x", "shape": [2, 3], "datatype": "FP32", "parameters": {"binary_data_size": X.nbytes}}
    head = json.dumps({"inputs": [said], "parameters": {"binary_data_output": True}}).encode()
    url, header = f"http://{served.http}/v2/models/mlp/infer", {"inference-header-content-length": str(len(head))}
    with urllib.request.urlopen(urllib.request.Request(url, head + X.tobytes(), header)) as answer:
        length, body = int(answer.headers["inference-header-content-length"]), answer.read()
    assert json.loads(body[:length])["outputs"][0]["parameters"] == {"binary_data_size": 16}
    found = np.frombuffer(body[length:], "float32").reshape(2, 2)
    np.testing.assert_allclose(found, expected(saved), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "path", ["/v2/models/..%2f..%2fetc/infer", "/v2/models/none/infer", "/v2/models/mlp/versions/9/infer"]
)
def test_what_is_not_there(served, path):
    status, found = served.ask(path, {"inputs": []})
    assert status == 404 and ("there is no" in found["error"] or "has no version" in found["error"])


def tensor(**change):
    return {"inputs": [{"name": "x", "shape": [1, 3], "datatype": "FP32", "data": [1, 2, 3]} | change]}


BAD = {
    "no JSON": (b"{", "no JSON"),
    "no inputs": ({}, "list of `inputs`"),
    "another input": (tensor(name="y"), "takes the inputs x; the request has y"),
    "another dtype": (tensor(datatype="INT32"), "`x` is INT32; the model takes FP32"),
    "no dtype": (tensor(datatype="FLOAT"), "datatype is 'FLOAT'; expected one of BOOL"),
    "another shape": (tensor(shape=[3]), "`x` has shape [3]; the model takes ['batch', 3]"),
    "a negative size": (tensor(shape=[-1, 3]), "shape is [-1, 3]; expected a list of sizes"),
    "a huge size": (tensor(shape=[2**60, 3]), "expected a list of sizes"),
    "too large for its data": (tensor(shape=[10**9, 3]), "data has shape [3], but its declared shape is"),
    "ragged": (tensor(data=[[1, 2], [3]]), "ragged"),
    "texts": (tensor(data=["a", "b", "c"]), "which is no FP32"),
    "truth": (tensor(data=[True, False, True]), "which is no FP32"),
    "out of range": (tensor(data=[1e300, 0, 0]), "out of the range of FP32"),
    "twice": ({"inputs": tensor()["inputs"] * 2}, "there twice"),
    "an unknown output": (tensor() | {"outputs": [{"name": "z"}]}, "no output `z`; the model has out0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_requests_say_what_is_wrong(served, case):
    data, text = BAD[case]
    status, found = served.ask("/v2/models/mlp/infer", data)
    assert status == 400 and text in found["error"], found


def test_dimensions_of_one_name_are_equal(served):
    one = {"shape": [2, 2], "datatype": "INT32", "data": [1, 2, 3, 4]}
    other = {"shape": [2, 1], "datatype": "INT32", "data": [1, 2]}
    status, found = served.ask("/v2/models/two/infer", {"inputs": [{"name": "a"} | one, {"name": "b"} | other]})
    assert status == 400 and "dimension m is 1 in input `b` and 2 in input `a`" in found["error"]


def test_sizes_are_limited(served):
    status, found = served.ask("/v2/models/mlp/infer", b" " * (2**20 + 1))
    assert status == 413 and "this server takes 1048576" in found["error"]
    bomb = gzip.compress(b" " * 2**22)
    status, found = served.ask("/v2/models/mlp/infer", bomb, content_encoding="gzip")
    assert status == 413 and "once inflated" in found["error"]
    status, found = served.ask(
        "/v2/models/mlp/infer", gzip.compress(json.dumps(tensor()).encode()), content_encoding="gzip"
    )
    assert status == 200


def test_a_program_that_mixes_rows_is_not_joined(served):
    assert served.infer("mixing", [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]) == (200, [-1.0, 0.0, 1.0, 1.0, 0.0, -1.0])
    assert any("mixing: requests are not joined: its output `out0` for one row" in line for line in served.lines)


def test_looking_in(served):
    served.infer("mlp", X.tolist())
    text = served.ask("/metrics")[1]
    for name in ("requests_total", "latency_seconds_bucket", "batch_rows_bucket", "queue", "compilations"):
        assert f"paddle_serving_{name}" in text
    assert 'model="mlp",result="ok",version="1"' in text
    assert "mlp" in served.ask("/")[1] and "up to 8" in served.ask("/")[1]
    document = served.ask("/openapi.json")[1]
    example = document["paths"]["/v2/models/mlp/infer"]["post"]["requestBody"]["content"]["application/json"]["example"]
    assert served.ask("/v2/models/mlp/infer", example)[0] == 200
    assert "/v2/models/mlp/infer" in served.ask("/docs")[1]


def test_the_id_of_a_trace_is_in_the_log(served):
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    served.ask("/v2", traceparent=f"00-{trace}-00f067aa0ba902b7-01")
    assert eventually(lambda: any(trace in line for line in served.lines))  # it is written after the answer
    (line,) = [json.loads(line.partition("access ")[2]) for line in served.lines if trace in line]
    assert (line["path"], line["status"], line["method"]) == ("/v2", 200, "GET")


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl(saved, served):
    url = f"http://{served.http}/v2/models/mlp/infer"
    command = ["curl", "-s", "-i", url, "-d", json.dumps(tensor()), "-H", "x-request-id: from-curl"]
    done = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "200 OK" in done and "x-request-id: from-curl" in done
    data = json.loads(done.partition("\n\n")[2] or done.partition("\r\n\r\n")[2])["outputs"][0]["data"]
    np.testing.assert_allclose(data, expected(saved, np.array([[1, 2, 3]], "float32"))[0], rtol=1e-5)


# -- tritonclient --------------------------------------------------------------------------------------------------
def client(kind):
    return pytest.importorskip(f"tritonclient.{kind}", exc_type=ImportError)


def inputs(module, binary=True):
    made = module.InferInput("x", [2, 3], "FP32")
    made.set_data_from_numpy(X, **({"binary_data": binary} if module.__name__.startswith("tritonclient.http") else {}))
    return [made]


@pytest.mark.parametrize("binary", [True, False])
def test_triton_over_http(saved, served, binary):
    http = client("http")
    with http.InferenceServerClient(served.http) as c:
        assert c.is_server_live() and c.is_server_ready() and c.is_model_ready("mlp", "1")
        assert c.get_model_metadata("mlp")["inputs"][0]["name"] == "x" and len(c.get_model_repository_index()) == 3
        out = [http.InferRequestedOutput("out0", binary_data=binary)]
        found = c.infer("mlp", inputs(http, binary), outputs=out, request_compression_algorithm="gzip")
        np.testing.assert_allclose(found.as_numpy("out0"), expected(saved), rtol=1e-5, atol=1e-6)
        later = [c.async_infer("mlp", inputs(http)) for _ in range(5)]
        for one in later:
            np.testing.assert_allclose(one.get_result().as_numpy("out0"), expected(saved), rtol=1e-5, atol=1e-6)
        with pytest.raises(Exception, match="there is no model `none`"):
            c.infer("none", inputs(http))


def test_triton_over_http_with_asyncio(saved, served):
    http = client("http.aio")

    async def ask():
        async with http.InferenceServerClient(served.http) as c:
            return await asyncio.gather(*[c.infer("mlp", inputs(http)) for _ in range(4)])

    for found in asyncio.run(ask()):
        np.testing.assert_allclose(found.as_numpy("out0"), expected(saved), rtol=1e-5, atol=1e-6)
