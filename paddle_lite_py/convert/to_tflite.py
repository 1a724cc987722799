"""TensorFlow Lite files, by TensorFlow's converter from StableHLO, compared in LiteRT's own interpreter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .source import ConvertError, SavedProgram, compare
from .to_stablehlo import fix_shapes


def to_tflite(source: SavedProgram, output: str, sizes: Mapping[str, int] | None = None) -> str:
    """Write a program as TensorFlow Lite, for one size of its unknown dimensions: 1 but for those that are named.

    Returns:
        A line that says what was written.

    Raises:
        ImportError: if tensorflow, or ai-edge-litert, is not installed.
        ConvertError: naming the operators without a form, or if the interpreter gives something else.
    """
    shapes = source.shapes(sizes or {})
    data = _converted(source, shapes)
    path = Path(output).with_suffix(".tflite")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    samples = source.samples(sizes or {})
    named = {str(i.name): a for i, a in zip(source.inputs, samples, strict=True)}
    worst = compare(interpreted(data, named), source.results(samples), f"LiteRT on {path}")
    return f"{path}: {len(data):,} bytes, off by {worst:.1e} in LiteRT"


def _converted(source: SavedProgram, shapes: Sequence[tuple[int, ...]]) -> bytes:
    import tensorflow as tf
    from tensorflow.compiler.tf2xla.python import xla

    found = fix_shapes(source, shapes)
    specs = [tf.TensorSpec(s, i.dtype.np, i.name) for s, i in zip(shapes, source.inputs, strict=True)]
    kinds, sizes = [a.dtype for a in found.out_avals], [a.shape for a in found.out_avals]

    @tf.function(input_signature=specs, autograph=False)
    def call(*arrays: Any) -> Any:
        return xla.call_module(
            list(arrays), version=found.calling_convention_version, Tout=kinds, Sout=sizes, platforms=["CPU"],
            module=found.mlir_module_serialized, function_list=[], has_token_input_output=False,
        )  # fmt: skip

    holder = tf.Module()
    holder.call = call
    converter = tf.lite.TFLiteConverter.from_concrete_functions([call.get_concrete_function()], holder)
    try:
        return converter.convert()
    except Exception as e:
        raise ConvertError(without_form(source, str(e))) from e


def without_form(source: SavedProgram, text: str) -> str:
    """The operators of the program that a message of the converter speaks of: locations in it hold their names."""
    named = {f"{op.name}@{op.where}": op for op in source.program.ops()}
    found = [op for key, op in named.items() if key in text]
    where = "; ".join(f"operator {op.name} at {op.where}" for op in found[:5])
    primitives = sorted(set(re.findall(r"'((?:stablehlo|chlo|mhlo)\.\w+)' op", text)))
    what = where or "an operator"
    return f"{source.name}: {what} has no form in TensorFlow Lite ({', '.join(primitives[:5]) or text[:300]})"


def interpreted(data: bytes, arrays: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Run inputs, given by name, through LiteRT's interpreter and return the outputs."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_content=data)
    try:
        interpreter.allocate_tensors()
        for detail in interpreter.get_input_details():
            name = detail["name"].removeprefix("serving_default_").partition(":")[0]
            interpreter.set_tensor(detail["index"], arrays[name])
        interpreter.invoke()
    except (RuntimeError, ValueError) as e:
        raise ConvertError(f"TensorFlow's converter has made a file that LiteRT cannot run: {e}") from e
    return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
