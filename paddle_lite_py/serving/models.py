"""Models that can be served: saved programs, ONNX files, and Python objects with inputs, outputs and run()."""

from __future__ import annotations

import runpy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..inference import Config, create_predictor
from .errors import ServingError
from .tensors import DATATYPES, Arrays, TensorSpec


class ServedModel(ABC):
    """The description of a served model.

    Examples:
        >>> class Double(ServedModel):
        ...     platform = "python"
        ...     inputs = [TensorSpec("x", "FP32", ("batch",))]
        ...     outputs = [TensorSpec("y", "FP32", ("batch",))]
        ...     def run(self, arrays):
        ...         return {"y": arrays["x"] * 2}
        >>> Double().run({"x": np.ones(2, "float32")})["y"].tolist()
        [2.0, 2.0]
    """

    platform: str
    inputs: Sequence[TensorSpec]
    outputs: Sequence[TensorSpec]
    example: Arrays | None = None  # of inputs, where made-up numbers would not do

    def forget(self) -> None:  # noqa: B027  (most models keep nothing)
        """Drop what is kept for shapes that were given."""

    @abstractmethod
    def run(self, arrays: Arrays) -> Arrays:
        """Outputs by name, of inputs by name that fit `inputs`.

        Raises:
            ServingError: if the request is at fault; anything else is the model's fault.
        """


class ArtifactModel(ServedModel):
    """A program that jit.save or static.save_inference_model has written, here or in PaddlePaddle."""

    platform = "paddle_lite_py"

    def __init__(self, prefix: str) -> None:
        self._predictor = create_predictor(Config(prefix))
        method = self._predictor._method
        n, block = len(method.inputs), method.program.block
        shapes = [v.shape for v in (*block.inputs[:n], *block.outputs[: len(method.outputs)])]
        specs = [_spec(s, shape) for s, shape in zip([*method.inputs, *method.outputs], shapes, strict=True)]
        self.inputs = [s._replace(limits=method.index_limits(i)) for i, s in enumerate(specs[:n])]
        computed = iter(specs[n:])
        # What each result is: the argument of that number as it is, or -1: what the program computes next.
        self._results = list(_results(method.data["result"]))
        given = [next(computed) if i < 0 else self.inputs[i] for i in self._results]
        self.outputs = [s._replace(name=str(r.name)) for s, r in zip(given, method.results, strict=True)]
        self._bare, self._method = method.bare(), method
        self._takes, self._gives = [s.name for s in self.inputs], [s.name for s in self.outputs]

    def forget(self) -> None:
        """See ServedModel."""
        self._method.forget()
        self._bare = self._method.bare()

    def run(self, arrays: Arrays) -> Arrays:
        """Run forward in eval mode."""
        given = [arrays[n] for n in self._takes]
        try:
            results = [t._payload for t in self._predictor.run(given)] if self._bare is None else self._computed(given)
        # A shape, an index, a constraint, or an assert of the program.
        except (ValueError, TypeError, IndexError, AssertionError) as e:
            raise ServingError("invalid", str(e)) from e
        return {n: np.asarray(a) for n, a in zip(self._gives, results, strict=True)}

    def _computed(self, given: list[np.ndarray]) -> list[Any]:
        found = iter(self._bare(*given))
        return [next(found) if i < 0 else given[i] for i in self._results]


def _spec(found: Any, shape: Sequence[Any]) -> TensorSpec:
    datatype = DATATYPES.get(np.dtype(found.dtype.np))
    if datatype is None:
        raise ServingError("unavailable", f"`{found.name}` is {found.dtype.name}, which the protocol has not")
    return TensorSpec(str(found.name), datatype, tuple(n if isinstance(n, int) else str(n) for n in shape))


def _results(result: Any) -> Iterator[int]:
    """The tensors of a result as the manifest describes it: -1 for what is computed, else the number of an argument."""
    if result == "*":
        yield -1
        return
    ((kind, value),) = result.items()
    if kind == "argument":
        yield int(value)
    elif kind in ("weight", "constant"):
        raise ServingError("unavailable", "it returns a weight or a constant as it is; return what is computed")
    elif kind != "py":
        for item in value[1] if kind == "dict" else value:
            yield from _results(item)


_ONNX = {"float": "FP32", "double": "FP64", "float16": "FP16", "string": "BYTES", "bool": "BOOL"}


class OnnxModel(ServedModel):
    """An ONNX file, run by onnxruntime."""

    platform = "onnxruntime_onnx"

    def __init__(self, path: str) -> None:
        try:
            import onnxruntime
        except ImportError:
            text = f"{path}: ONNX files need the package onnxruntime: pip install onnxruntime"
            raise ServingError("unavailable", text) from None
        try:
            options = onnxruntime.SessionOptions()
            # Its threads wait by spinning, on the cores that the server reads requests with.
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            providers = onnxruntime.get_available_providers()
            self._session = onnxruntime.InferenceSession(path, options, providers=providers)
        except Exception as e:
            raise ServingError("unavailable", f"{path}: onnxruntime cannot read it: {e}") from e
        self.inputs = [_onnx_spec(i, path) for i in self._session.get_inputs()]
        self.outputs = [_onnx_spec(o, path) for o in self._session.get_outputs()]
        self._names = [o.name for o in self.outputs]

    def run(self, arrays: Arrays) -> Arrays:
        """Run the graph."""
        return dict(zip(self._names, self._session.run(self._names, arrays), strict=True))


def _onnx_spec(found: Any, path: str) -> TensorSpec:
    kind = found.type.removeprefix("tensor(").removesuffix(")")
    datatype = _ONNX.get(kind, kind.upper())
    if datatype not in DATATYPES.values():
        raise ServingError("unavailable", f"{path}: `{found.name}` is of type {found.type}, which the protocol has not")
    dims = tuple(n if isinstance(n, int) else str(n or -1) for n in found.shape)
    return TensorSpec(found.name, datatype, tuple(-1 if n == "-1" else n for n in dims))


# -- from files ----------------------------------------------------------------------------------------------------
def main_file(path: str) -> Path:
    """Return the file that a model is read from: of a prefix, a file, or a folder with one model.

    Raises:
        ServingError: if there is none, or several.
    """
    given = Path(path)
    if given.is_file():
        return given
    if given.is_dir():
        found = sorted(f for f in given.iterdir() if f.suffix in (".json", ".onnx", ".pdmodel"))
        if len(found) != 1:
            names = ", ".join(f.name for f in found) or "none"
            wanted = "one model (.json, .pdmodel or .onnx)"
            raise ServingError("unavailable", f"folder {path} must hold {wanted}, it holds {names}")
        return found[0]
    for suffix in (".json", ".onnx", ".pdmodel"):
        if (file := Path(f"{path}{suffix}")).is_file():
            return file
    raise ServingError("unavailable", f"there is no model at '{path}': no {path}.json, .pdmodel or .onnx")


def load_model(path: str) -> ServedModel:
    """Read a model.

    Arguments:
        path: what jit.save was given, here or in PaddlePaddle, a file that it wrote, an ONNX file, a folder with one of
            these, or a Python file that sets `model`.

    Raises:
        ServingError: saying what is wrong with the files.

    Examples:
        >>> import tempfile, paddle_lite_py as paddle
        >>> prefix = tempfile.mkdtemp() + "/net"
        >>> paddle.jit.save(paddle.nn.Linear(3, 2), prefix, input_spec=[paddle.static.InputSpec([None, 3], name="x")])
        >>> load_model(prefix).inputs[0].metadata()
        {'name': 'x', 'datatype': 'FP32', 'shape': [-1, 3]}
    """
    file = main_file(path)
    if file.suffix == ".onnx":
        return OnnxModel(str(file))
    if file.suffix == ".py":
        return _python_model(file)
    try:
        return ArtifactModel(str(file.with_suffix("")))
    except (ValueError, KeyError, OSError) as e:
        raise ServingError("unavailable", str(e)) from e


def _python_model(file: Path) -> ServedModel:
    found = runpy.run_path(str(file)).get("model")
    if not isinstance(found, ServedModel):
        raise ServingError("unavailable", f"{file} must set `model` to a serving.ModelPipeline or another ServedModel")
    return found
