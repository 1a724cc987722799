"""jit.save and jit.load: a program with its weights, that runs without the code it was traced from."""

from __future__ import annotations

import builtins
import inspect
from typing import Any

from jax import export
from safetensors import SafetensorError
from safetensors import flax as safetensors

from paddle_lite_py import serialize
from paddle_lite_py import structure as nested
from paddle_lite_py.bound import BoundOp
from paddle_lite_py.executor import resolve
from paddle_lite_py.interpreter import state as mode
from paddle_lite_py.lower import lower
from paddle_lite_py.nn.layer import Layer
from paddle_lite_py.op import Op
from paddle_lite_py.program import Program
from paddle_lite_py.tensor import Parameter, Tensor, wrap
from paddle_lite_py.tracing import Argument, Traced

from . import artifact
from .artifact import ArtifactError
from .spec import InputSpec
from .static_function import StaticFunction

PLATFORMS = ("cpu", "cuda", "tpu")


def save(layer: Any, path: str, input_spec: Any = None, **configs: Any) -> None:
    """Save a layer or function as a program that runs without its code.

    Arguments:
        layer: a Layer, a static function or a plain function. A layer is saved in eval mode.
        path: prefix of the files: path.json, and next to it the weights (safetensors) and StableHLO that it names.
        input_spec: an InputSpec or example for each argument; taken from to_static, or the last call, if absent.

    Raises:
        ValueError: if no input_spec is known, or the function changes state that a file cannot keep.
        OSError: if the files cannot be written; those that were there stay whole.

    Examples:
        >>> import tempfile, paddle_lite_py as paddle
        >>> net = paddle.nn.Linear(3, 2)
        >>> prefix = tempfile.mkdtemp() + "/net"
        >>> paddle.jit.save(net, prefix, input_spec=[paddle.static.InputSpec([None, 3])])
        >>> paddle.jit.load(prefix)(paddle.ones([4, 3])).shape
        [4, 2]
    """
    if isinstance(layer, TranslatedLayer):
        return layer._save(path)
    static, owner = _static_function(layer)
    specs = _input_spec(static, input_spec)
    modules = owner.sublayers(include_self=True) if isinstance(owner, Layer) else []
    training = [(m, m.training) for m in modules]
    try:
        for m in modules:
            m.training = False
        traced = static.traced_for(specs)
    finally:
        for m, flag in training:
            m.training = flag
    names = _weight_names(traced, owner)
    manifest = {"name": static.__name__, "method": _describe(traced, names, static)}
    blobs = {
        "safetensors": safetensors.save({n: h._data for n, h in zip(names, traced.captures, strict=True)}),
        "stablehlo": serialize.export_program(traced.program, lower(traced.program), PLATFORMS),
    }
    artifact.write(path, manifest, blobs)


def _static_function(layer: Any) -> tuple[StaticFunction, Any]:
    if isinstance(layer, Layer):
        forward = layer.forward
        static = forward if isinstance(forward, StaticFunction) else StaticFunction(forward)
        return static, layer
    if isinstance(layer, StaticFunction):
        return layer, getattr(layer.dygraph_function, "__self__", None)
    if callable(layer):
        return StaticFunction(layer), getattr(layer, "__self__", None)
    raise TypeError(f"jit.save takes a Layer or a function, got {type(layer).__name__}")


def _input_spec(static: StaticFunction, given: Any) -> list[Any]:
    if given is not None:
        return list(given)
    if static._input_spec is not None:
        return list(static._input_spec)
    if static.last_call is not None:
        return list(static.last_call)
    raise ValueError(
        f"jit.save of `{static.__name__}`: its arguments are not known; pass "
        "input_spec=[InputSpec([None, ...], dtype), ...], or call it once"
    )


def _weight_names(traced: Traced, owner: Any) -> list[str]:
    known: dict[int, str] = {}
    if isinstance(owner, Layer):
        known = {id(t): n for n, t in [*owner.named_parameters(), *owner.named_buffers()]}
    names: list[str] = []
    for i, handle in enumerate(traced.captures):
        name = known.get(id(handle)) or handle._name or f"constant_{i}"
        names.append(name if name not in names else f"{name}_{i}")
    return names


def _describe(traced: Traced, names: list[str], static: StaticFunction) -> dict[str, Any]:
    """What the manifest says of a method: program, weights, inputs, results and state."""
    position = {id(h): i for i, h in enumerate(traced.captures)}
    state = []
    for effect in traced.effects:
        write = effect.write
        if write.key != "_data" or effect.structure is not nested.LEAF or id(write.owner) not in position:
            what = f"{type(write.owner).__name__}.{write.key}"
            raise ValueError(f"jit.save of `{static.__name__}`: it changes {what}, which a saved program cannot keep")
        state.append(position[id(write.owner)])
    if traced.providers or traced.deferred:
        raise ValueError(f"jit.save of `{static.__name__}`: it holds an optimizer step; save the layer instead")
    handles = traced.captures
    return {
        "program": serialize.to_json(traced.program),
        "weights": [
            {
                "name": n,
                "trainable": isinstance(h, Parameter) and not h.stop_gradient,
                "parameter": isinstance(h, Parameter),
            }
            for n, h in zip(names, handles, strict=True)
        ],
        "n_args": traced.n_args,
        "result": _structure_to_json(traced.structure, static.__name__, position),
        "n_results": traced.n_results,
        "state": state,
        "checks": [] if traced.checks is None else traced.checks.texts(),
        "room": None if traced.room is None else traced.room.capacity.size,
        "training": False,
    }


def _structure_to_json(structure: Any, name: str, position: dict[int, int]) -> Any:
    if structure is nested.LEAF:
        return "*"
    if isinstance(structure, nested.Static):
        if structure.value is None or isinstance(structure.value, bool | int | float | str):
            return {"py": structure.value}
        if isinstance(structure.value, Argument):
            return {"argument": structure.value.position}
        if id(structure.value) in position:
            return {"weight": position[id(structure.value)]}
        raise ValueError(
            f"jit.save of `{name}`: it returns a {type(structure.value).__name__}, which a file cannot hold"
        )
    children = [_structure_to_json(c, name, position) for c in structure.children]
    if issubclass(structure.kind, dict):
        return {"dict": [list(structure.keys), children]}
    if issubclass(structure.kind, tuple | list):
        return {"list" if issubclass(structure.kind, list) else "tuple": children}
    raise ValueError(
        f"jit.save of `{name}`: it returns a {structure.kind.__name__}; return a dict, tuple or list instead"
    )


def _structure_from_json(data: Any, handles: list[Tensor]) -> Any:
    if data == "*":
        return nested.LEAF
    ((kind, value),) = data.items()
    if kind in ("py", "argument", "weight"):
        return nested.Static(
            {"py": lambda: value, "argument": lambda: Argument(value), "weight": lambda: handles[value]}[kind]()
        )
    keys, items = (tuple(value[0]), value[1]) if kind == "dict" else (None, value)
    children = tuple([_structure_from_json(v, handles) for v in items])
    return nested.Nest({"list": list, "tuple": tuple, "dict": dict}[kind], keys, children)


def load(path: str, **configs: Any) -> TranslatedLayer:
    """Load what jit.save wrote; none of the code that it was traced from is needed, and none is executed.

    Raises:
        ArtifactError: if the files are missing, damaged, foreign or of a newer version.
    """
    manifest, blobs = artifact.read(path)
    try:
        weights = safetensors.load(blobs["safetensors"])
        exported = export.deserialize(bytearray(blobs["stablehlo"]))
        return TranslatedLayer(manifest, blobs, weights, exported)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, SafetensorError, AssertionError) as e:
        raise ArtifactError(f"the saved program at '{path}' is damaged: {type(e).__name__}: {e}") from None


class TranslatedLayer(Layer):
    """A loaded program: call it, fine-tune its parameters, look inside, save it again."""

    def __init__(
        self, manifest: dict[str, Any], blobs: dict[str, bytes], weights: dict[str, Any], exported: Any
    ) -> None:
        super().__init__(name_scope=str(manifest["name"]))
        method = manifest["method"]
        self._manifest, self._blobs, self._method = manifest, blobs, method
        self._program = serialize.from_json(method["program"])
        self._handles = [self._weight(w, weights[w["name"]]) for w in method["weights"]]
        self._result = _structure_from_json(method["result"], self._handles)
        self._bound = _bind(exported, manifest["name"], self._program)
        self._specs = [
            InputSpec([n if isinstance(n, int) else None for n in v.shape], v.dtype, name)
            for v, name in zip(self._program.block.inputs, self._program.input_names, strict=True)
        ][: method["n_args"]]
        self.training = bool(method["training"])

    def _weight(self, entry: dict[str, Any], array: Any) -> Tensor:
        key = entry["name"].replace(".", "__")
        if entry["parameter"]:
            handle: Tensor = Parameter(wrap(array), name=entry["name"], trainable=entry["trainable"])
            self.add_parameter(key, handle)  # type: ignore[arg-type]
        else:
            handle = wrap(array)
            handle.name = entry["name"]
            self.register_buffer(key, handle)
        return handle

    def forward(self, *inputs: Any) -> Any:
        """Run the program."""
        tensors = self._check(inputs)
        out = mode.interpreter.run(self._bound, (*tensors, *self._handles))
        outs = list(out) if isinstance(out, tuple) else [out]
        room = self._method["room"]
        if self._method["checks"] and (failed := int(outs[-2 if room else -1])):
            raise _error(self._method["checks"][failed - 1])
        if room and not outs[0].stop_gradient and int(outs[-1]) > room:
            # The values are right, but the gradient would lack iterations.
            outs = [t.detach() for t in outs]
        n = self._method["n_results"]
        for position, value in zip(self._method["state"], outs[n:], strict=False):
            self._handles[position]._set_payload(value._data)
        return resolve(nested.unflatten(self._result, iter(outs[:n])), self._result, tensors)

    def _check(self, inputs: tuple[Any, ...]) -> list[Tensor]:
        if len(inputs) != len(self._specs):
            names = ", ".join(str(s.name) for s in self._specs)
            raise TypeError(f"the loaded program takes {len(self._specs)} arguments ({names}), got {len(inputs)}")
        tensors = [x if isinstance(x, Tensor) else Tensor(x) for x in inputs]
        for tensor, spec in zip(tensors, self._specs, strict=True):
            spec.check(tensor, str(spec.name))
        return tensors

    def program(self, method_name: str = "forward") -> Program:
        """The program."""
        return self._program

    @property
    def inputs(self) -> list[InputSpec]:
        """What it takes."""
        return list(self._specs)

    def _save(self, path: str) -> None:
        manifest = {k: v for k, v in self._manifest.items() if k not in ("files", "format", "version")}
        names = [w["name"] for w in self._method["weights"]]
        weights = safetensors.save({n: h._data for n, h in zip(names, self._handles, strict=True)})
        artifact.write(path, manifest, self._blobs | {"safetensors": weights})

    def __deepcopy__(self, memo: dict[int, Any]) -> TranslatedLayer:
        weights = {w["name"]: h._data for w, h in zip(self._method["weights"], self._handles, strict=True)}
        exported = export.deserialize(bytearray(self._blobs["stablehlo"]))
        return TranslatedLayer(self._manifest, self._blobs, weights, exported)

    def __reduce__(self) -> Any:
        raise TypeError("a loaded program is not pickled; save it with paddle.jit.save")


def _bind(exported: Any, name: str, program: Program) -> BoundOp:
    """The loaded StableHLO as an op: eager, on the tape, and inside other static functions."""
    single = len(program.block.outputs) == 1

    def fn(*arrays: Any) -> Any:
        outs = exported.call(*arrays)
        return outs[0] if single else tuple(outs)

    if len(exported.in_avals) != len(program.block.inputs):
        raise ArtifactError("the StableHLO and the manifest are of different programs")
    return BoundOp(Op(fn, name), fn)


def _error(entry: dict[str, str]) -> BaseException:
    kind = getattr(builtins, entry["type"], RuntimeError)
    usable = inspect.isclass(kind) and issubclass(kind, Exception)
    return (kind if usable else RuntimeError)(entry["text"])
