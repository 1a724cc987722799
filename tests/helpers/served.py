"""A server as users start it, on free ports of this machine."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request


class Served:
    """`python -m paddle_lite_py serve ...` in a process of its own; what it writes is in `lines`."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        command = [sys.executable, "-m", "paddle_lite_py", "serve", "--port", "0", "--grpc-port", "0", *arguments]
        env = os.environ | environment
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=env)
        self.lines: list[str] = []
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._ready.wait(90)
        text = next((line for line in self.lines if "ready: " in line), "")
        if not text:
            self.stop()
            raise RuntimeError("".join(self.lines) or "the server did not become ready")
        self.port = int(re.search(r"HTTP at \S+:(\d+)", text)[1])
        self.grpc_port = int(re.search(r"gRPC at \S+:(\d+)", text)[1])
        self.http, self.grpc = f"127.0.0.1:{self.port}", f"127.0.0.1:{self.grpc_port}"

    def _read(self) -> None:
        for line in self.process.stderr:
            self.lines.append(line)
            if "ready: " in line:
                self._ready.set()
        self._ready.set()

    def ask(self, path: str, data: object = None, method: str | None = None, **headers: str) -> tuple[int, object]:
        """Status and JSON of an answer."""
        body = data if isinstance(data, bytes) or data is None else json.dumps(data).encode()
        names = {k.replace("_", "-"): v for k, v in headers.items()}
        request = urllib.request.Request(f"http://{self.http}{path}", body, names, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, _parsed(answer.read())
        except urllib.error.HTTPError as e:
            return e.code, _parsed(e.read())

    def infer(self, model: str, x: object, name: str = "x", datatype: str = "FP32", shape: object = None) -> object:
        """Status, and the data of the first output or the error."""
        said = {"name": name, "shape": shape or [len(x), len(x[0])], "datatype": datatype, "data": x}
        status, found = self.ask(f"/v2/models/{model}/infer", {"inputs": [said]})
        return status, found["outputs"][0]["data"] if status == 200 else found["error"]

    def memory(self) -> int:
        """Resident bytes."""
        with open(f"/proc/{self.process.pid}/status") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1]) * 1024

    def stop(self) -> int:
        """End it as Ctrl-C does."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(20)
        finally:
            self.process.kill()
            self._reader.join(5)
            self.process.stderr.close()


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")


def eventually(condition, seconds: float = 20.0) -> bool:
    """Whether a condition comes true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
