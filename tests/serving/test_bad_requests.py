"""Bad requests of every kind: each ends in a clear error of the client, and the server goes on as it was.

`make fuzz-serving` sends 10,000 of them.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import socket
import struct
import time

import numpy as np
import pytest

from served import Served

COUNT = int(os.environ.get("BAD_REQUESTS", "400"))
PATH = "/v2/models/mlp/infer"
NUMBERS = [-1, 0, 1, 3, 2**31, 2**62, 2**64, -(2**63), 1.5, 1e308, True, None, "3", [], {}]
TEXTS = ["", "x", "FP32", "../../etc/passwd", "\u0000", "a" * 5000, "INT64", "BYTES", "x\n"]


def good():
    return {"inputs": [{"name": "x", "shape": [1, 3], "datatype": "FP32", "data": [1.0, 2.0, 3.0]}]}


def changed(rng):
    """A request with one part replaced by something else; it may turn out to be a good one."""
    asked = good()
    tensor = asked["inputs"][0]
    kind = rng.randrange(8)
    if kind == 0:
        tensor["shape"] = [rng.choice(NUMBERS) for _ in range(rng.randrange(4))]
    elif kind == 1:
        tensor[rng.choice(list(tensor))] = rng.choice(NUMBERS + TEXTS)
    elif kind == 2:
        del tensor[rng.choice(list(tensor))]
    elif kind == 3:
        tensor["data"] = [rng.choice(NUMBERS + TEXTS) for _ in range(rng.randrange(5))]
    elif kind == 4:
        tensor["datatype"] = rng.choice(["INT8", "INT64", "BOOL", "FP16", "FP64", "BF16", "BYTES", "UINT64", "fp32"])
    elif kind == 5:
        asked[rng.choice(["inputs", "outputs", "parameters", "id"])] = rng.choice([*NUMBERS, *TEXTS, [1], [{}], [None]])
    elif kind == 6:
        tensor["parameters"] = {"binary_data_size": rng.choice(NUMBERS)}
    else:
        deep = []
        for _ in range(rng.choice([5, 40, 3000])):
            deep = [deep]
        tensor["data"] = deep
    return asked


def _text(value):
    """JSON without Python's own limit of depth."""
    try:
        return json.dumps(value).encode()
    except RecursionError:
        return b'{"inputs":' + b"[" * 5000


def body(rng):
    """Bytes of a request, and headers."""
    text = _text(changed(rng))
    kind = rng.randrange(5)
    if kind == 0:  # broken
        at = rng.randrange(len(text))
        text = text[:at] + bytes([rng.randrange(256)]) * rng.randrange(3) + text[at + rng.randrange(3) :]
    elif kind == 1:  # cut off
        text = text[: rng.randrange(len(text))]
    elif kind == 2:  # bytes that are too few or too many
        tensor = {"name": "x", "shape": [1, 3], "datatype": rng.choice(["FP32", "BYTES", "BOOL"])}
        tensor["parameters"] = {"binary_data_size": rng.choice([11, 12, 13, 2**40])}
        head = json.dumps({"inputs": [tensor]}).encode()
        said = rng.choice([len(head), len(head) - 1, 10**9, "x", -1, 10**30, "0" * 5000])
        tail = rng.choice([np.ones(3, "float32").tobytes(), b"", bytes(11), struct.pack("<I", 2**32 - 1) + bytes(8)])
        return head + tail, {"Inference-Header-Content-Length": str(said)}
    elif kind == 3:
        return text, {"Content-Encoding": rng.choice(["gzip", "deflate", "br", "identity"])}
    return text, {}


def plain(server, data):
    """What the server says to raw bytes; nothing if it hangs up."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as s:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        found = b""
        while piece := s.recv(65536):
            found += piece
        return found


def send(connection, rng):
    """Status and text of the answer to a bad request."""
    data, headers = body(rng)
    names = ["mlp", "none", "..%2F..%2Fetc%2Fpasswd", "mlp/versions/x", "%00", "mlp/versions/../1"]
    path = PATH if rng.random() < 0.8 else f"/v2/models/{rng.choice(names)}/{rng.choice(['infer', 'ready', 'load'])}"
    connection.request(rng.choice(["POST"] * 9 + ["PUT"]), path, data, headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_bad_requests_are_the_clients_fault(served):
    rng = random.Random(7)
    connection = http.client.HTTPConnection(served.http, timeout=20)
    statuses, memory = {}, 0
    for i in range(COUNT):
        status, text = send(connection, rng)
        statuses[status] = statuses.get(status, 0) + 1
        assert status == 200 or (400 <= status < 500 and "error" in json.loads(text)), (i, status, text)
        if i == COUNT // 4:
            memory = served.memory()
    connection.close()
    assert statuses[400] > COUNT / 2 and statuses.get(404) and served.infer("mlp", [[1.0, 2.0, 3.0]])[0] == 200
    assert served.memory() < memory + 30 * 2**20, "the server grows"


def test_what_is_no_http(served):
    rng = random.Random(1)
    for i in range(max(20, COUNT // 50)):
        junk = bytes(rng.randrange(256) for _ in range(rng.randrange(200)))
        heads = [
            b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999999\r\n\r\n" % PATH.encode(),
            b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: -5\r\n\r\n{}" % PATH.encode(),
            b"GET / HTTP/9.9\r\n\r\n",
            b"POST %s HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n" % PATH.encode(),
            b"GET /" + b"a" * 100_000,
        ]
        found = plain(served, heads[i % len(heads)] if i % 2 else junk)
        assert not found or found.startswith((b"HTTP/1.1 4", b"HTTP/1.1 200"))
    assert served.ask("/v2/health/ready")[0] == 200


def test_bytes_that_are_no_messages_of_grpc(served):
    grpc = pytest.importorskip("grpc")
    rng = random.Random(3)
    with grpc.insecure_channel(served.grpc) as channel:
        call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
        for _ in range(max(20, COUNT // 50)):
            with pytest.raises(grpc.RpcError):
                call(bytes(rng.randrange(256) for _ in range(1 + rng.randrange(100))), timeout=10)
    assert served.ask("/v2/health/ready")[0] == 200


def test_what_has_no_token_is_not_decoded(saved):
    grpc = pytest.importorskip("grpc")
    folder, _ = saved
    server = Served(str(folder / "mlp"), PADDLE_SERVING_TOKEN="secret")
    try:
        with grpc.insecure_channel(server.grpc) as channel:
            for name in ("ModelInfer", "ServerMetadata", "RepositoryModelLoad"):
                for token, code in (("", "UNAUTHENTICATED"), ("Bearer secret", "INVALID_ARGUMENT")):
                    call = channel.unary_unary(f"/inference.GRPCInferenceService/{name}")
                    with pytest.raises(grpc.RpcError) as e:
                        call(b"\xff" * 20, timeout=10, metadata=[("authorization", token)])
                    assert e.value.code().name == code, name
    finally:
        server.stop()


def test_what_is_allowed_is_said(served):
    for method, path, allowed in (("GET", PATH, "POST"), ("POST", "/v2/health/live", "GET"), ("PUT", "/v2", "GET")):
        connection = http.client.HTTPConnection(served.http, timeout=20)
        connection.request(method, path)
        answer = connection.getresponse()
        assert answer.status == 405 and allowed in answer.headers["allow"].split(", ")
        connection.close()


def test_slow_clients_are_let_go(saved):
    folder, _ = saved
    server = Served(str(folder / "mlp"), "--timeout", "1")
    try:
        silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
        for s in silent[:10]:
            s.sendall(b"POST %s HTTP/1.1\r\nhost: x\r\n" % PATH.encode())  # a head that does not end
        slow = socket.create_connection(("127.0.0.1", server.port))
        slow.sendall(b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{" % PATH.encode())
        start = time.monotonic()
        assert server.infer("mlp", [[1.0, 2.0, 3.0]])[0] == 200  # others are served meanwhile
        slow.settimeout(10)
        assert b"408" in slow.recv(1000)
        for s in silent:
            s.settimeout(10)
            assert s.recv(100) in (b"",)
            s.close()
        slow.close()
        assert time.monotonic() - start < 9
    finally:
        server.stop()
