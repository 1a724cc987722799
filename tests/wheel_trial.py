"""Tries a wheel as its user would: in an environment and a folder of its own, away from the repository.

    python tests/wheel_trial.py dist/paddle_lite_py-*.whl [--extras]

Without extras: the first example of the README, every command, `import paddle` as an alias, and what is said where an
optional package is missing. With --extras each extra is installed by the very command that was said, and used.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"
PROGRAM = """
import importlib.metadata, sys
import paddle
net = paddle.nn.Linear(2, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())

@paddle.jit.to_static
def step(x):
    loss = net(x).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
    return loss

print(step(paddle.ones([4, 2])).shape, importlib.metadata.version("paddlepaddle"), sys.argv[1:])
"""
# Of each extra that a user of the wheel may want: code that is the first use of it, and what it prints.
FIRST_USES = {
    "vision": (
        "from PIL import Image; from paddle_lite_py.vision import transforms as t; "
        "print(t.ToTensor()(Image.new('L', (2, 2))).shape)",
        "[1, 2, 2]",
    ),
    "kubernetes": (
        "from paddle_lite_py.distributed.kubernetes.__main__ import main; from pathlib import Path; "
        "Path('job.yaml').write_text('{name: j, image: i, program: [t.py], nodes: 2, resources: {cpu: 1, memory: 1Gi}, "
        "checkpoints: {size: 1Gi, path: /c}}'); main(['job.yaml'])",
        "kind: ",
    ),
    "streaming": (
        "from paddle_lite_py.distributed.records import *\n"
        "with RecordWriter('memory://part-0') as writer: writer.write(b'one')\n"
        "print(list(RecordStream(['memory://part-0'], batch_size=1)))",
        "[b'one']",
    ),
    "ps": ("from paddle_lite_py.distributed import ps; print(ps.Server.__name__)", "Server"),
    "onednn": (
        "import paddle_lite_py as p; net = p.jit.to_static(p.nn.Conv2D(16, 16, 3)); "
        "print(net(p.ones([4, 16, 32, 32])).shape)",
        "[4, 16, 30, 30]",
    ),
    "onnx": (
        "import paddle_lite_py as p; "
        "print(p.onnx.export(p.nn.Linear(2, 1), 'linear', [p.static.InputSpec([None, 2])]))",
        "linear.onnx",
    ),
}
# What is said where a package is missing: a command line of the package, and the extra whose packages it names.
HINTS = {
    "serving": ("-m", "paddle_lite_py", "serve", "product"),
    "migrate": ("-m", "paddle_lite_py", "migrate", "program.py"),
    "onnx": ("-m", "paddle_lite_py", "convert", "product", "--to", "onnx"),
    "ps": ("-c", "import paddle_lite_py.distributed.ps"),
}


class Trial:
    """An environment with the wheel in it, and a folder to work in."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        self.folder, self.wheel = folder, wheel
        venv.create(folder / "env", with_pip=True)
        self.python = folder / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
        self.pip("install", str(wheel))

    def pip(self, *words: str) -> None:
        quiet = ("--quiet", "--quiet", "--disable-pip-version-check", "--no-input")
        subprocess.run([self.python, "-m", "pip", *words, *quiet], check=True, cwd=self.folder)

    def start(self, *words: str) -> subprocess.Popen[str]:
        env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "XLA_FLAGS")}
        return subprocess.Popen(
            [self.python, *words], cwd=self.folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def run(self, *words: str, fails: bool = False) -> str:
        """Everything that a command prints."""
        process = self.start(*words)
        text = "".join(process.communicate(timeout=300))
        if (process.returncode != 0) != fails:
            raise AssertionError(f"{' '.join(words)} ended with {process.returncode}:\n{text}")
        return text

    def expect(self, found: str, pattern: str) -> None:
        if not re.search(pattern, found):
            raise AssertionError(f"expected {pattern!r} in:\n{found}")


def try_core(trial: Trial) -> None:
    """The first example and the commands, with nothing but the wheel."""
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
    (trial.folder / "example.py").write_text(code)
    (trial.folder / "program.py").write_text(PROGRAM)
    trial.expect(trial.run("example.py"), r"shape=\[1, 1\]")
    trial.expect(trial.run("-m", "paddle_lite_py", "--version"), r"paddle_lite_py \d.*Paddle API 3.*JAX.*Python")
    trial.expect(trial.run("-c", "import paddle_lite_py as p; p.utils.run_check()"), "works on cpu")
    shown = r"\[\]\)? 3\.3\.1 \['--epochs', '2'\]"
    trial.expect(trial.run("-m", "paddle_lite_py", "run", "program.py", "--epochs", "2"), shown)
    trial.expect(trial.run("-m", "paddle_lite_py", "convert", "product", "--to", "stablehlo"), r"product\.mlir")
    trial.expect(trial.run("-m", "paddle_lite_py", "inspect", "product", "--for", "cpu"), "cpu")
    trial.run("-c", "import importlib.util as u, dy2static; assert not u.find_spec('jit')")


def try_alias(trial: Trial) -> None:
    """`import paddle` for everything in the environment."""
    alias = ("-m", "paddle_lite_py", "alias")
    trial.expect(trial.run("program.py", fails=True), "No module named 'paddle'")
    trial.expect(trial.run(*alias, "install"), "gives paddle_lite_py")
    trial.expect(trial.run("program.py", "--epochs", "2"), r"\[\]\)? 3\.3\.1 \['--epochs', '2'\]")
    launched = trial.run("-m", "paddle.distributed.launch", "--nproc_per_node", "1", "program.py")
    trial.expect(launched + "".join(p.read_text() for p in trial.folder.glob("log/workerlog.0")), r"3\.3\.1")
    trial.pip("install", "paddlepaddle>=3.0")  # as another package would require it
    trial.expect(trial.run("-m", "pip", "uninstall", "-y", "paddlepaddle"), "Successfully uninstalled paddlepaddle")
    trial.expect(trial.run(*alias, "status"), "no alias")


def said_commands(trial: Trial) -> dict[str, list[str]]:
    """What to install by what is said where packages are missing, for each extra, as words of pip."""
    said = {}
    for extra, words in HINTS.items():
        text = trial.run(*words, fails=True)
        trial.expect(text, "pip install")
        assert "paddle_lite_py[" not in text, text
        said[extra] = re.findall(r"[^\s']+", text.rpartition("pip install")[2].splitlines()[0])
    return said


def try_extras(trial: Trial, said: dict[str, list[str]]) -> None:
    """Each extra, installed as the messages say, or as pip takes it of a wheel."""
    for extra in sorted({*FIRST_USES, *said}):
        trial.pip("install", *said.get(extra, [f"{trial.wheel}[{extra}]"]))
        if extra in FIRST_USES:
            code, pattern = FIRST_USES[extra]
            trial.expect(trial.run("-c", code), re.escape(pattern))
            print(f"extra {extra}: works", flush=True)
    trial.expect(trial.run("-m", "paddle_lite_py", "migrate", "program.py"), "program")
    print("extra migrate: works", flush=True)
    trial.expect(trial.run("-m", "paddle_lite_py", "convert", "product", "--to", "onnx"), "onnx")
    print("extra serving:", serve(trial), flush=True)


def serve(trial: Trial) -> str:
    """The answer of a server in the environment to one request."""
    server = trial.start("-m", "paddle_lite_py", "serve", "product", "--port", "18321", "--grpc-port", "-1")
    request = {"inputs": [{"name": "input0", "shape": [1, 2], "datatype": "FP32", "data": [0.5, 0.5]}]}
    base = "http://127.0.0.1:18321/v2/models/product"
    try:
        for _ in range(120):
            time.sleep(0.5)
            try:
                about = json.loads(urllib.request.urlopen(base, timeout=5).read())
                break
            except OSError:
                if server.poll() is not None:
                    raise AssertionError("the server ended:\n" + "".join(server.communicate())) from None
        request["inputs"][0]["name"] = about["inputs"][0]["name"]
        answer = urllib.request.urlopen(f"{base}/infer", data=json.dumps(request).encode(), timeout=30).read()
        return str(json.loads(answer)["outputs"][0]["data"])
    finally:
        server.terminate()
        server.wait(30)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--extras", action="store_true", help="install and use each extra, too (1 GB)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(given.wheel.resolve(), Path(folder))
        print(trial.run("-m", "paddle_lite_py", "--version").strip(), flush=True)
        try_core(trial)
        try_alias(trial)
        said = said_commands(trial)
        if given.extras:
            try_extras(trial, said)
    print(f"{given.wheel.name}: works with Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
