"""Runs whole programs: in the reference, here, as static code, and saved and loaded.

An `outcome` is all that can be seen of a call: the result or the exception, gradients, and the state of parameters,
buffers, optimizers and Python objects after it.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import itertools
import json
import linecache
import math
import re
import types
from collections import deque
from typing import Any

import numpy as np

from whole_programs import program

RECORDED = 200
_number = itertools.count()


class Compiled:
    """A program that can be called.

    Arguments:
        text: its text.
        paddle: the package that it runs in.
        static: what makes its `step` static; None to run it as it is.
    """

    def __init__(self, text: str, paddle: Any, static: Any = None) -> None:
        filename = f"<whole program {next(_number)}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        self.paddle, self.names = paddle, {"__name__": "whole_program", "paddle": paddle, "given_to": _given_to}
        # What a backward() in a static function has consumed comes out of it without a graph.
        self.consumes = ".backward()" in text or "paddle.grad" in text
        with paddle.utils.unique_name.guard():
            exec(compile(text, filename, "exec", dont_inherit=True), self.names)  # noqa: S102
        self.step = self.names["step"] if static is None else static(self.names["step"])

    def outcomes(self) -> list[Any]:
        """What can be seen of each call."""
        before = self.paddle.get_default_dtype()
        try:
            return [self.outcome(*call) for call in zip(self.names["BEFORE"], self.names["CALLS"], strict=True)]
        finally:
            self.paddle.set_default_dtype(before)

    def outcome(self, before: Any, call: str) -> Any:
        """What can be seen of one call."""
        before()
        tensors, args, kwargs = eval(f"given_to({call})", self.names)  # noqa: S307
        tensors[0].stop_gradient = self.consumes
        try:
            result = self.step(*tensors, *args, **kwargs)
        except Exception as e:
            return {
                "error": type(e).__name__,
                "message": re.sub(r"generated_tensor_\d+", "tensor", str(e)),
                "own": is_own(e),
                "state": self.state(),
            }
        return {"result": self.described(result), "state": self.state(), "gradients": self.gradients(result, tensors)}

    def gradients(self, result: Any, tensors: Any) -> Any:
        """Gradients of what the result gives, with respect to the first argument."""
        parts = [t for t in leaves(result, self.paddle) if not t.stop_gradient and t.dtype == self.paddle.float32]
        if not parts or tensors[0].stop_gradient:
            return None
        try:
            sum(((i + 1.0) * t * t).sum() for i, t in enumerate(parts)).backward()
        except Exception as e:
            return {"error": type(e).__name__}
        return self.described(tensors[0].grad)

    def state(self) -> Any:
        """The objects of the program."""
        return self.described(self.names["watched"]())

    def described(self, value: Any) -> Any:
        """A value as lists, dicts and numbers, with types."""
        paddle, many = self.paddle, self.described
        if isinstance(value, paddle.Tensor):
            stopped = value.stop_gradient or (self.consumes and not value.is_leaf)
            dtype, values = str(value.dtype).rpartition(".")[2], value.astype("float64").numpy()
            return Seen(dtype, list(value.shape), bool(stopped), values)
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, enum.Enum | type | types.FunctionType):
            return getattr(value, "__name__", str(value))
        if isinstance(value, np.ndarray | np.generic):
            return {"numpy": value.tolist()}
        if isinstance(value, list | tuple | deque):
            return {type(value).__name__: [many(v) for v in value]}
        if isinstance(value, dict):
            return {type(value).__name__: [[str(k), many(v)] for k, v in value.items()]}
        if isinstance(value, paddle.nn.Layer):
            return self._layer(value)
        if isinstance(value, paddle.optimizer.lr.LRScheduler | paddle.optimizer.Optimizer):
            return self._library(value)
        if isinstance(value, paddle.amp.GradScaler):
            return {k: many(v) for k, v in value.state_dict().items()}
        return {type(value).__name__: [[k, many(v)] for k, v in getattr(value, "__dict__", {}).items()
                                       if k != "layer"]}  # fmt: skip

    def _layer(self, layer: Any) -> Any:
        many = self.described
        found = {name: [many(p), many(p.grad)] for name, p in layer.named_parameters()}
        found |= {name: many(b) for name, b in layer.named_buffers()}
        for name, part in [("", layer), *layer.named_sublayers()]:
            own = {k: v for k, v in vars(part).items() if k in OWN_ATTRIBUTES}
            found[f"{name}."] = {"training": part.training, **{k: many(v) for k, v in own.items()}}
        return found

    def _library(self, value: Any) -> Any:
        state = value.state_dict()
        state.pop("LR_Scheduler", None)
        if not isinstance(value, self.paddle.optimizer.Optimizer):
            return {k: self.described(state[k]) for k in sorted(state)}
        # PaddlePaddle numbers accumulators through the process; a program has them, as they begin, before a first step.
        found = {re.sub(r"_\d+$", "", k): self.described(state[k]) for k in sorted(state)}
        begun = {k: v for k, v in found.items() if not set(np.ravel(v.values).tolist()) <= FIRST_VALUES}
        return {"lr": value.get_lr(), **begun}


# Of accumulators: zero, and the powers of Adam's betas.
FIRST_VALUES = frozenset([0.0, 1.0, *[float(np.float32(b)) for b in (0.9, 0.999)]])
# What layers of programs set of their own.
OWN_ATTRIBUTES = frozenset(
    ["calls", "notes", "items", "level", "shape", "seen", "positive", "use", "limit", "momentum"]
)


def _given_to(tensors: Any, *args: Any, **kwargs: Any) -> Any:
    return tensors, args, kwargs


def leaves(value: Any, paddle: Any) -> list[Any]:
    """The tensors in a result."""
    if isinstance(value, paddle.Tensor):
        return [value]
    if dataclasses.is_dataclass(value):
        value = vars(value)
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else []
    return [t for part in parts for t in leaves(part, paddle)]


def is_own(error: Exception) -> bool:
    """Whether the framework has a class of its own for an error."""
    return type(error).__module__.split(".")[0] in ("paddle_lite_py", "dy2static", "jit")


class Seen:
    """What can be seen of a tensor."""

    def __init__(self, dtype: str, shape: list[int], stopped: bool, values: Any) -> None:
        self.kind, self.values = (dtype, tuple(shape), stopped), values

    def __repr__(self) -> str:
        return f"{self.kind} {[float(f'{v:.5g}') for v in self.values.ravel().tolist()]}"


def differences(a: Any, b: Any, path: str = "") -> list[str]:
    """Where two outcomes differ."""
    if isinstance(a, Seen) and isinstance(b, Seen):
        same = a.kind == b.kind and np.allclose(a.values, b.values, 2e-4, _absolute(b.values), equal_nan=True)
        return [] if same else [f"{path}: {a} != {b}"]
    if type(a) is not type(b):
        return [f"{path}: {a!r} != {b!r}"]
    if isinstance(a, dict):
        keys = [f"{path}: {list(a)} != {list(b)}"] if list(a) != list(b) else []
        return keys + [d for k in a if k in b for d in differences(a[k], b[k], f"{path}.{k}")]
    if isinstance(a, list):
        sizes = [f"{path}: {a} != {b}"] if len(a) != len(b) else []
        return sizes + [
            d for i, (v, w) in enumerate(zip(a, b, strict=False)) for d in differences(v, w, f"{path}[{i}]")
        ]
    if isinstance(a, float):
        return [] if near(a, b) else [f"{path}: {a} != {b}"]
    if isinstance(a, str):  # what is rounded to 0 may come from either side
        a, b = (re.sub(r"-(?=0\.0+(?!\d))", "", text) for text in (a, b))
    return [] if a == b else [f"{path}: {a!r} != {b!r}"]


def _absolute(values: Any) -> float:
    """How far apart elements may be that are small beside the others of a tensor."""
    finite = np.abs(values[np.isfinite(values)])
    return 2e-5 + 2e-6 * float(finite.max(initial=0.0))


def near(a: float, b: float) -> bool:
    """Whether two numbers are the same but for rounding."""
    return a == b or abs(a - b) <= 2e-5 + 2e-4 * abs(b) or (math.isnan(a) and math.isnan(b))


# -- what is recorded of the reference ---------------------------------------------------------------------------------
def is_recorded(text: str) -> bool:
    """Whether the reference runs a program: its GradScaler does nothing on a CPU, and it joins no dtypes."""
    return "scaler" not in text and "set_default_dtype" not in text


def record(paddle: Any) -> dict[str, Any]:
    """The outcomes of programs in short, by seed."""
    texts = {str(seed): program(seed) for seed in range(RECORDED)}
    return {
        seed: [summary(o) for o in Compiled(text, paddle).outcomes()]
        for seed, text in texts.items()
        if is_recorded(text)
    }


def summary(outcome: Any) -> list[Any]:
    """An outcome in short: a hash of all that is exact, and two sums over the floats in it."""
    floats: list[float] = []
    exact = hashlib.md5(json.dumps(_exact(outcome, floats)).encode()).hexdigest()[:10]
    values = np.asarray(floats) if floats else np.zeros(1)
    sums = float((values * np.cos(np.arange(values.size))).sum()), float(np.abs(values).sum())
    return [exact, *[float(f"{s:.5g}") for s in sums]]


def _exact(value: Any, floats: list[float]) -> Any:
    if isinstance(value, Seen):
        floats += value.values.ravel().tolist() if value.kind[0][:5] == "float" else []
        return [*value.kind, [] if value.kind[0][:5] == "float" else value.values.tolist()]
    if isinstance(value, float):
        floats.append(value)
        return "float"
    if isinstance(value, dict):
        if "message" in value and ("\n" in value["message"] or value["own"]):  # of the package, in its own words
            value = {"error": "", "state": value["state"]}
        return {k: _exact(v, floats) for k, v in value.items() if k != "own"}
    return [_exact(v, floats) for v in value] if isinstance(value, list) else value


def agree(a: list[Any], b: list[Any]) -> bool:
    """Whether two outcomes in short are the same but for rounding."""
    return a[0] == b[0] and all(
        abs(x - y) <= 1e-3 * (1.0 + abs(b[2])) or x != x for x, y in zip(a[1:], b[1:], strict=True)
    )


# -- saved and loaded --------------------------------------------------------------------------------------------------
# What a saved layer has no program for: state of Python, and what only the data of a call decide.
_OF_A_CALL = re.compile(
    r"CountMixin|getattr|self\.(level|shape|calls)|until\(|checked\(|chosen|label|raise|assert|sorted\(|range\(count"
)


def is_saveable(text: str) -> bool:
    """Whether the layer of a program is one that can be saved."""
    layers = text.partition("\nclass Net")[2] or text.partition("\nclass Middle")[2]
    ends = [m.start() for m in re.finditer(r"\n\n\n(?!class Net)", layers)]
    return bool(layers) and not _OF_A_CALL.search(layers[: ends[0]] if ends else layers)


def layer_outcomes(compiled: Compiled, layer: Any) -> list[Any]:
    """What can be seen of the layer of a program, or of what was loaded in its place, called with a few batches."""
    found = []
    for k in (1, 3, 5):
        x, _ = compiled.names["batch"](k)
        x.stop_gradient = False
        out = layer(x)
        (out * out).sum().backward()
        found.append([compiled.described(out), compiled.described(x.grad)])
    return found
