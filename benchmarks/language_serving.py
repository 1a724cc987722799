"""Measures a server of a language model: memory over many requests, and many clients against one after another.

usage: language_serving.py [--requests N] [--layers N] [--width N] [--peer PY]

`--peer` names a Python with transformers, torch, fastapi and uvicorn: the same model behind a loop of `generate()`.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT, TOKENS, CLIENTS = Path(__file__).resolve().parents[1], 32, 16
PEER = """
import sys, torch, uvicorn
from fastapi import FastAPI
from transformers import AutoModelForCausalLM

torch.set_num_threads(2)
model, app = AutoModelForCausalLM.from_pretrained(sys.argv[1]).eval(), FastAPI()

@app.get("/v2/health/ready")
def ready():
    return {}

@app.post("/v1/completions")
def complete(data: dict):
    ids = torch.tensor([list(data["prompt"].encode())])
    with torch.no_grad():
        found = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, pad_token_id=0,
                               max_new_tokens=data["max_tokens"], min_new_tokens=data["max_tokens"])
    return {"usage": {"completion_tokens": found.shape[1] - ids.shape[1]}}

uvicorn.run(app, port=int(sys.argv[2]), log_level="error")
"""


def memory_mb(pid: int) -> float:
    """Memory of a process in MB."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("VmRSS"))) / 1024


def free_port() -> int:
    """A port that nothing listens at."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def served(command: list[str], port: int) -> Iterator[int]:
    """The process id of a server that is ready."""
    process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.DEVNULL)
    try:
        while not is_ready(port):
            if process.poll() is not None:
                raise SystemExit(f"the server ended: {' '.join(command)}")
            time.sleep(0.2)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def is_ready(port: int) -> bool:
    """Whether a server answers requests."""
    with contextlib.suppress(OSError):
        return ask(port, "GET", "/v2/health/ready")[0] == 200
    return False


def ask(port: int, method: str, path: str, data: Any = None) -> tuple[int, bytes]:
    """Status and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    body = None if data is None else json.dumps(data)
    connection.request(method, path, body, {"content-type": "application/json"} if body else {})
    answer = connection.getresponse()
    return answer.status, answer.read()


def rate(port: int, count: int, clients: int, tokens: int = TOKENS) -> float:
    """Tokens per second of requests by some clients."""
    done, lock = [0], threading.Lock()

    def one(n: int) -> None:
        data = {"model": "lm", "prompt": f"Tell me about number {n}", "max_tokens": tokens, "temperature": 0}
        status, body = ask(port, "POST", "/v1/completions", data)
        assert status == 200, body
        with lock:
            done[0] += json.loads(body)["usage"]["completion_tokens"]

    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        list(pool.map(one, range(count)))
    return done[0] / (time.perf_counter() - start)


def report(name: str, port: int, pid: int, requests: int) -> None:
    """Print a line of figures."""
    rate(port, 2 * CLIENTS, CLIENTS)
    alone, together = rate(port, 8, 1), rate(port, 6 * CLIENTS, CLIENTS)
    text = f"{name}: {alone:.0f} tokens/s one after another, {together:.0f} with {CLIENTS} clients"
    if requests:
        before = memory_mb(pid)
        rate(port, requests, CLIENTS, 4)
        text += f"; {before:.0f} MB, {memory_mb(pid):.0f} MB after {requests} requests"
    print(text, flush=True)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("requests", 5000), ("layers", 2), ("width", 64)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--peer")
    given = parser.parse_args()
    from paddle_lite_py.text.models import CausalLM, tiny_config

    with tempfile.TemporaryDirectory() as folder:
        sizes = {"num_hidden_layers": given.layers, "hidden_size": given.width, "intermediate_size": 4 * given.width}
        CausalLM(tiny_config("llama", **sizes)).save_pretrained(folder)
        port = free_port()
        command = [sys.executable, "-m", "paddle_lite_py", "serve", f"lm={folder}", "--task", "generate", "--slots"]
        command += [str(CLIENTS), "--context", "128", "--port", str(port), "--grpc-port", "-1"]
        with served(command, port) as pid:
            report("paddle_lite_py", port, pid, given.requests)
        if given.peer:
            port = free_port()
            with served([given.peer, "-c", PEER, folder, str(port)], port) as pid:
                report("transformers and FastAPI", port, pid, 0)


if __name__ == "__main__":
    main()
