"""ONNX files, compared with the program in onnxruntime; with 8-bit integers by examples for calibration."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..onnx import export
from .source import ConvertError, SavedProgram, compare


def to_onnx(
    source: SavedProgram, output: str, opset: int | None = None, calibration: Mapping[str, np.ndarray] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> str:  # fmt: skip
    """Write a program as ONNX, and see that onnxruntime gives what the program gives.

    Arguments:
        output: the file.
        opset: of ONNX.
        calibration: rows of examples of each input; weights and activations are quantized to 8 bits by them.
        sizes: of unknown dimensions, for the comparison.

    Returns:
        A line that says what was written.

    Raises:
        ImportError: if jax2onnx, onnx or onnxruntime is not installed.
        OnnxError: naming the operator and its line, if ONNX has no form of one.
        ConvertError: if onnxruntime gives something else.
    """
    path = export(source.layer, output, opset_version=opset)
    samples = source.samples(sizes or {})
    worst = compare(_run(path, samples), source.results(samples), f"onnxruntime on {path}")
    text = f"{path}: {Path(path).stat().st_size:,} bytes, off by {worst:.1e} in onnxruntime"
    if calibration is None:
        return text
    small = quantized(path, calibration)
    agreement = _agreement(path, small, calibration)
    return f"{text}\n{small}: {Path(small).stat().st_size:,} bytes with 8-bit integers, {agreement}"


def _session(path: str) -> Any:
    import onnxruntime

    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def _run(path: str, arrays: list[np.ndarray]) -> list[np.ndarray]:
    session = _session(path)
    return session.run(None, {i.name: a for i, a in zip(session.get_inputs(), arrays, strict=True)})


def quantized(path: str, calibration: Mapping[str, np.ndarray]) -> str:
    """Return an ONNX file with 8-bit weights and activations, their ranges found on examples.

    Returns:
        The name of the file, which ends in .int8.onnx.

    Raises:
        ConvertError: if the examples are not those of its inputs.
    """
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    names = {i.name: i.shape for i in _session(path).get_inputs()}
    if set(names) != set(calibration):
        raise ConvertError(
            f"examples for calibration are of {', '.join(calibration)}; the program takes {', '.join(names)}"
        )
    small = path.removesuffix(".onnx") + ".int8.onnx"
    with tempfile.TemporaryDirectory() as folder:
        prepared = f"{folder}/prepared.onnx"
        quant_pre_process(path, prepared, skip_symbolic_shape=True)
        reader = _Batches({n: _batches(a, names[n]) for n, a in calibration.items()})
        quantize_static(
            prepared, small, reader, quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8, per_channel=True, extra_options={"QDQDisableWeightAdjustForInt32Bias": True},
        )  # fmt: skip
    return small


def _batches(array: np.ndarray, shape: list[Any]) -> list[np.ndarray]:
    """Examples in batches of the size that the program takes; any size is taken in batches of 16."""
    size = shape[0] if isinstance(shape[0], int) else min(16, len(array))
    return [array[i : i + size] for i in range(0, len(array) - size + 1, size)]


class _Batches:
    """Examples as onnxruntime's calibration reads them."""

    def __init__(self, batches: dict[str, list[np.ndarray]]) -> None:
        self._rows = iter([dict(zip(batches, row, strict=True)) for row in zip(*batches.values(), strict=True)])

    def get_next(self) -> dict[str, np.ndarray] | None:
        """Return the next batch by input, None at the end."""
        return next(self._rows, None)


def _agreement(path: str, small: str, calibration: Mapping[str, np.ndarray]) -> str:
    """How often the largest score is that of the same class."""
    batch = {n: _batches(a, [None])[0] for n, a in calibration.items()}
    a, b = (_session(p).run(None, batch)[0] for p in (path, small))
    if a.ndim == 2 and a.shape[1] > 1:
        return f"the same class for {np.mean(a.argmax(1) == b.argmax(1)):.0%} of {len(a)} examples"
    return f"off by {np.abs(a - b).max() / (np.abs(a).max() + 1e-9):.1e} on the examples"
