"""python -m paddle_lite_py convert MODEL --to onnx|stablehlo|tflite|paddle|web: saved programs for other runtimes."""

from __future__ import annotations

import argparse
import sys

import numpy as np

from ..jit import ArtifactError
from ..onnx import OnnxError
from .source import ConvertError, SavedProgram
from .to_onnx import to_onnx
from .to_paddle import to_paddle
from .to_stablehlo import to_stablehlo
from .to_tflite import to_tflite
from .to_web import to_web

NEEDED = {
    "onnx": "jax2onnx onnx onnxruntime",
    "web": "jax2onnx onnx onnxruntime",
    "tflite": "tensorflow ai-edge-litert",
}


def main(arguments: list[str]) -> None:
    """Convert what the command line names."""
    given = _parser().parse_args(arguments)
    try:
        print(_converted(given))
    except (ArtifactError, ConvertError, OnnxError) as e:
        sys.exit(f"convert: {e}")
    except ImportError as e:
        sys.exit(f"convert: --to {given.to} needs other packages ({e}): pip install {NEEDED.get(given.to, '')}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m paddle_lite_py convert", description=__doc__)
    add = parser.add_argument
    add("model", help="what jit.save was given")
    add("--to", required=True, choices=["onnx", "stablehlo", "tflite", "paddle", "web"])
    add("-o", "--output", help="a file, or for web a folder; by default named after the model, in this folder")
    add("--opset", type=int, help="of ONNX; 21 at least")
    add(
        "--size",
        action="append",
        default=[],
        metavar="NAME=N",
        help="an unknown dimension that is not 1 in a comparison",
    )
    add("--fix", action="store_true", help="stablehlo: with the sizes of --size in place of unknown dimensions")
    add("--inputs", metavar="X.npz", help="onnx: compare on these inputs, under their names, not on made-up numbers")
    add("--int8", metavar="X.npz", help="onnx: quantize to 8-bit integers by examples of each input, under their names")
    return parser


def _converted(given: argparse.Namespace) -> str:
    source, sizes = SavedProgram(given.model), _sizes(given.size)
    # A model file ends in .json as a saved program does, and is not to take its place.
    output = given.output or source.name + (".paddle" if given.to == "paddle" else "")
    if given.to == "onnx":
        examples, inputs = _arrays("--int8", given.int8), _arrays("--inputs", given.inputs)
        return to_onnx(source, output, given.opset, examples, sizes, inputs)
    if given.to == "paddle":
        return to_paddle(source, output, sizes)
    if given.to == "stablehlo":
        return to_stablehlo(source, output, source.shapes(sizes) if given.fix else None)
    return to_tflite(source, output, sizes) if given.to == "tflite" else to_web(source, output, given.opset, sizes)


def _arrays(option: str, path: str | None) -> dict[str, np.ndarray] | None:
    if path is None:
        return None
    try:
        with np.load(path, allow_pickle=False) as found:
            return dict(found)
    except (OSError, ValueError) as e:
        raise ConvertError(f"{option} {path}: {e}; expected a file of numpy.savez") from e


def _sizes(texts: list[str]) -> dict[str, int]:
    pairs = [text.partition("=") for text in texts]
    if wrong := [t for t, (name, _, size) in zip(texts, pairs, strict=True) if not name or not size.isdecimal()]:
        raise ConvertError(f"--size {wrong[0]}: expected NAME=N, such as seq=128")
    return {name: int(size) for name, _, size in pairs}
