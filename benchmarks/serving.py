"""Measures the server: its own cost, LeNet at saturation beside others, batches, workers that are killed under load.

usage: serving.py [--torch PY] [--seconds N] [--only NAME]

`--torch` names a Python with torch, litserve and onnxruntime; rows of ONNX need jax2onnx and onnxruntime here as well.
All ask with the same client: connections that stay open, in a process of its own, JSON over HTTP.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
METRIC = "paddle_serving_batch_rows"
NOTHING = """
import numpy as np
from paddle_lite_py.serving import ServedModel, TensorSpec

class Nothing(ServedModel):
    platform = "python"
    inputs, outputs = [TensorSpec("x", "FP32", (-1, 64))], [TensorSpec("y", "FP32", (-1, 10))]
    answer = {"y": np.zeros((1, 10), np.float32)}

    def run(self, arrays):
        return self.answer

model = Nothing()
"""


def save(net: Any, prefix: str, shape: list[Any], dtype: str) -> None:
    """A net of one input, for any number of rows."""
    import paddle_lite_py as paddle

    net.eval()
    paddle.jit.save(net, prefix, input_spec=[paddle.static.InputSpec(shape, dtype, "x")], platforms=["cpu"])


def save_models(folder: str) -> None:
    """An MLP and LeNet; LeNet as ONNX too, where that can be; a function that does nothing."""
    import paddle_lite_py as paddle
    from paddle_lite_py import nn

    lenet, image = paddle.vision.models.LeNet(), ["n", 1, 28, 28]
    save(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)), f"{folder}/mlp", ["n", 64], "float32")
    save(lenet, f"{folder}/lenet", image, "float32")
    with contextlib.suppress(ImportError):
        paddle.onnx.export(lenet, f"{folder}/lenet_onnx", [paddle.static.InputSpec(image, "float32", "x")])
    Path(folder, "nothing.py").write_text(NOTHING)


def save_bert(prefix: str, size: int, layers: int) -> None:
    """A BERT for sequences of any length."""
    from paddle_lite_py import nn

    layer = nn.TransformerEncoderLayer(size, size // 64, 4 * size, dropout=0.0)
    net = nn.Sequential(nn.Embedding(1000, size), nn.TransformerEncoder(layer, layers), nn.Linear(size, 2))
    save(net, prefix, ["n", "length"], "int64")


# -- servers -------------------------------------------------------------------------------------------------------
@contextlib.contextmanager
def server(*arguments: str) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """Ours: its port and process."""
    command = [sys.executable, "-m", "paddle_lite_py", "serve", *arguments, "--port", "0", "--grpc-port", "-1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if found := re.search(r"HTTP at \S+:(\d+)", line):
                yield int(found[1]), process
                return
        raise RuntimeError("the server did not start")
    finally:
        process.send_signal(signal.SIGTERM)
        process.stderr.read()
        process.wait()


@contextlib.contextmanager
def litserve(python: str, *onnx: str) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """LitServe with LeNet in PyTorch, or with an ONNX file."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    command = [python, str(HERE / "serving_torch.py"), str(port), *onnx]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        for _ in range(240):
            time.sleep(0.5)
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
        time.sleep(3)
        yield port, process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


# -- asking --------------------------------------------------------------------------------------------------------
def ask(port: int, path: str, body: bytes, clients: int, seconds: float) -> dict[str, Any]:
    """Answers a second, percentiles in ms, and answers that were none."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(body)
        file.flush()
        command = [
            sys.executable,
            str(HERE / "serving_client.py"),
            str(port),
            path,
            file.name,
            str(clients),
            str(seconds),
        ]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def request(shape: list[int], datatype: str, value: float) -> bytes:
    """A request in JSON."""
    size = 1
    for n in shape:
        size *= n
    return json.dumps(
        {"inputs": [{"name": "x", "shape": shape, "datatype": datatype, "data": [value] * size}]}
    ).encode()


def processor_seconds(pid: int) -> float:
    """What a process and its children have used of the processors, which others on the machine do not change."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = "".join(t.read_text() for t in Path(f"/proc/{pid}/task").glob("*/children")).split()
    except OSError:
        return 0.0
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(processor_seconds(int(c)) for c in children)


def rows_of_batches(port: int) -> np.ndarray:
    """Rows that were computed until now, and batches."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    return np.array([sum(map(float, re.findall(rf"^{METRIC}_{k}{{.*}} (.*)$", text, re.M))) for k in ("sum", "count")])


def show(name: str, found: dict[str, Any], note: str = "") -> None:
    """A row of the table."""
    counted = [f", {found[k]} {k}" for k in ("refused", "lost") if found[k]]
    lost = "".join(counted) + f" ({', '.join(found['said'])})" * bool(counted)
    print(
        f"{name:44} {found['rate']:8.0f}/s  p50 {found['p50']:7.2f} ms  p99 {found['p99']:7.2f} ms{lost}  {note}",
        flush=True,
    )


def infer(name: str) -> str:
    """The address of a model."""
    return f"/v2/models/{name}/infer"


# -- rows ----------------------------------------------------------------------------------------------------------
def own_cost(folder: str, seconds: float, torch: str) -> None:
    """One row of an MLP against a function that does nothing; the target is 1.2."""
    best: dict[str, dict[str, Any]] = {}
    body = request([1, 64], "FP32", 0.5)
    with server(f"{folder}/mlp", f"{folder}/nothing.py") as (port, _):
        for _ in range(6):
            for name in ("mlp", "nothing"):
                found = ask(port, infer(name), body, 1, seconds / 4)
                best[name] = min(best.get(name, found), found, key=lambda f: f["p50"])
    for name, found in best.items():
        show(f"one client, {name}", found)
    print(f"{'own cost':44} {best['mlp']['p50'] / best['nothing']['p50']:8.2f}x  (target 1.20)")


def saturation(folder: str, seconds: float, torch: str) -> None:
    """LeNet asked by 16 connections."""
    body, options = request([1, 1, 28, 28], "FP32", 0.5), ["--max-batch", "16", "--queue", "10000"]
    path, onnx = f"{folder}/lenet", f"{folder}/lenet_onnx.onnx"
    nothing = server(f"{folder}/nothing.py")
    rows: list[tuple[str, Any, str, bytes]] = [
        ("LeNet, ours", server(path, *options), infer("lenet"), body),
        ("a function that does nothing", nothing, infer("nothing"), request([1, 64], "FP32", 0.5)),
        ("LeNet, ours, no batches", server(path), infer("lenet"), body),
        ("LeNet, ours, one worker", server(path, *options, "--workers", "1"), infer("lenet"), body),
    ]
    if Path(onnx).exists():
        rows.append(("LeNet, onnxruntime behind our server", server(onnx, *options), infer("lenet_onnx"), body))
    if torch:
        plain = json.dumps({"x": [[[0.5] * 28] * 28]}).encode()
        rows.append(("LeNet, PyTorch behind LitServe", litserve(torch), "/predict", plain))
        if Path(onnx).exists():
            rows.append(("LeNet, onnxruntime behind LitServe", litserve(torch, onnx), "/predict", plain))
    for name, made, path, sent in rows:
        with made as (port, process):
            ask(port, path, sent, 16, 1.0)
            before = processor_seconds(process.pid)
            found = ask(port, path, sent, 16, seconds)
            used = (processor_seconds(process.pid) - before) / max(1, found["answers"])
            show(
                name,
                found,
                f"p99 {found['p99'] / max(found['p50'], 1e-9):.1f} x p50, {used * 1000:.2f} ms of processor each",
            )


def gain_of_program(path: str, length: int) -> float:
    """How many times as fast the compiled program alone computes a row, eight at a time."""
    from paddle_lite_py.serving.models import load_model

    model = load_model(path)
    best = dict.fromkeys((1, 8), float("inf"))
    for _ in range(12):
        for rows in best:
            x = np.full((rows, length), 3, np.int64)
            start = time.perf_counter()
            model.run({"x": x})
            best[rows] = min(best[rows], time.perf_counter() - start)
    return 8 * best[1] / best[8]


def batches(folder: str, seconds: float, torch: str) -> None:
    """BERTs of two sizes, 16 connections, with batches and without; and what their programs gain by batches."""
    joined = ["--max-batch", "16", "--delay-ms", "2"]
    save_bert(f"{folder}/bert_small", 256, 4)
    save_bert(f"{folder}/bert_base", 768, 12)
    for name, length in (("bert_small", 32), ("bert_base", 8), ("bert_base", 16), ("bert_base", 64)):
        body, rates = request([1, length], "INT64", 3), []
        for said, options in (("without batches", []), ("batches up to 16, 2 ms", joined)):
            with server(f"{folder}/{name}", *options, "--size", f"length={length}") as (port, process):
                ask(port, infer(name), body, 16, 1.0)
                used, before = processor_seconds(process.pid), rows_of_batches(port)
                found = ask(port, infer(name), body, 16, seconds)
                rates.append(found["rate"])
                each = (processor_seconds(process.pid) - used) / max(1, found["answers"])
                rows, made = rows_of_batches(port) - before
                note = f"{rows / max(1, made):.1f} rows a batch, {each * 1000:.1f} ms of processor each"
                show(f"{name}, {length} tokens, {said}", found, note)
        alone = gain_of_program(f"{folder}/{name}", length)
        print(f"{'gain by batches':44} {rates[1] / rates[0]:8.2f}x, of the program alone {alone:.2f}x", flush=True)


def kills(folder: str, seconds: float, torch: str) -> None:
    """Two workers under load, of which one is killed every second."""
    body = request([1, 1, 28, 28], "FP32", 0.5)
    with server(f"{folder}/lenet", "--workers", "2", "--max-batch", "16", "--timeout", "120") as (port, process):
        killing = subprocess.Popen([sys.executable, str(HERE / "serving_client.py"), "kill", str(process.pid), "5"],
                                   stdout=subprocess.PIPE, text=True)  # fmt: skip
        found = ask(port, infer("lenet"), body, 8, max(seconds, 15))
        killed = killing.communicate()[0].strip()
    show(f"LeNet, two workers, {killed} killed", found, f"{found['answers']} answers")


ROWS = {"own_cost": own_cost, "saturation": saturation, "batches": batches, "kills": kills}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", default="", help="a Python with torch and litserve")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--only", choices=list(ROWS))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        save_models(folder)
        for name, row in ROWS.items():
            if given.only in (None, name):
                row(folder, given.seconds, given.torch)


if __name__ == "__main__":
    main()
