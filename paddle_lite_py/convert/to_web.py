"""A folder with a page that runs a program in a browser, through onnxruntime-web."""

from __future__ import annotations

import html
import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from .source import ConvertError, SavedProgram
from .to_onnx import to_onnx

HERE = Path(__file__).parent
# onnxruntime-web of this major version; its API has not changed since.
PACKAGE = {"private": True, "dependencies": {"onnxruntime-web": "^1.20.0"}}
_DTYPES = ("float32", "float64", "int32", "int64", "uint8", "int8", "bool")


def to_web(
    source: SavedProgram,
    output: str,
    opset: int | None = None,
    sizes: Mapping[str, int] | None = None,
    install: bool = True,
) -> str:
    """Write the folder: a page, the program as ONNX, and onnxruntime-web, which npm installs.

    Arguments:
        install: run `npm install` in the folder, if there is npm.

    Returns:
        Lines that say what was written, and how to look at it.

    Raises:
        ConvertError: if an input has a dtype that browsers have no arrays of, or npm fails.
    """
    if strange := [i for i in source.inputs if i.dtype.name not in _DTYPES]:
        raise ConvertError(
            f"{source.name}: input {strange[0].name} is {strange[0].dtype.name}; browsers have no arrays of it"
        )
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    said = to_onnx(source, str(folder / "model.onnx"), opset or 21, sizes=sizes)
    shapes = source.shapes(sizes or {})
    inputs = [
        {"name": str(i.name), "dtype": i.dtype.name, "shape": s} for i, s in zip(source.inputs, shapes, strict=True)
    ]
    (folder / "model.json").write_text(json.dumps({"name": source.name, "inputs": inputs}))
    (folder / "index.html").write_text(
        (HERE / "web_page.html").read_text().replace("MODEL_NAME", html.escape(source.name))
    )
    shutil.copy(HERE / "web_main.mjs", folder / "main.mjs")
    (folder / "package.json").write_text(json.dumps(PACKAGE, indent=1))
    npm = shutil.which("npm") if install else None
    if npm:
        done = subprocess.run(
            [npm, "install", "--no-audit", "--no-fund", "--silent"], cwd=folder, capture_output=True, text=True
        )
        if done.returncode:
            raise ConvertError(f"npm install in {folder} failed: {done.stderr[-500:]}")
    first = "" if npm else f"cd {folder} && npm install\n"
    return f"{said}\n{first}python -m http.server --bind 127.0.0.1 --directory {folder}   # then open http://127.0.0.1:8000"
