"""jit.save: programs with their weights, that run without the code they were traced from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from safetensors import flax as safetensors

from paddle_lite_py.autograd import enable_grad
from paddle_lite_py.core import structure as nested
from paddle_lite_py.core.dtypes import is_inexact
from paddle_lite_py.core.errors import warn_user
from paddle_lite_py.core.interpreter import no_grad
from paddle_lite_py.core.jax_compat.xla import traced_by
from paddle_lite_py.core.memo import Memo, current_context
from paddle_lite_py.core.no_effect import Immaterial, Refused, no_effect, only_known
from paddle_lite_py.core.symbolic import has_symbolic
from paddle_lite_py.custom.kernel import kernels
from paddle_lite_py.eager.random import default_generator
from paddle_lite_py.eager.tensor import Parameter, Tensor
from paddle_lite_py.ir import serialize
from paddle_lite_py.ir.lower import lower
from paddle_lite_py.ir.parts import runs_in_parts
from paddle_lite_py.ir.program import Program
from paddle_lite_py.ir.simplify import without_acts
from paddle_lite_py.nn.base import Layer
from paddle_lite_py.tracing.dimensions import Dimensions
from paddle_lite_py.tracing.trace import Traced

from . import artifact
from .agreement import digest_of
from .at_run import calls_at_run
from .constraints import parse
from .described import describe
from .inspection import warn_of_sizes
from .kept import for_file, warn_of_lost
from .pruned import WHOLE, Selection
from .saved_calls import OpenCall, call_of, other_methods, saved_call, static_of
from .spec import SpecifiedCall, is_tensor
from .static_function import StaticFunction
from .tracer import run_passes
from .translated import TranslatedLayer

PLATFORMS = ("cpu", "cuda", "tpu")
MODES = {"eval": False, "train": True}
_ONE_FORM = Immaterial("an artefact has one form")


@no_effect(
    with_hook=Refused("hooks are part of what is traced: they are in the program"),
    combine_params=_ONE_FORM,
    clip_extra=_ONE_FORM,
    skip_prune_program=_ONE_FORM,
    separate_parameters=_ONE_FORM,
)
def save(
    layer: Any,
    path: str,
    input_spec: Any = None,
    samples: Sequence[Any] | None = None,
    constraints: Sequence[str] = (),
    platforms: Sequence[str] = PLATFORMS,
    passes: Any = (),
    *,
    format: str = "artifact",
    output_spec: Sequence[Any] | None = None,
    input_names_after_prune: Sequence[str] | None = None,
    skip_forward: bool = False,
    with_hook: bool = False,
    combine_params: bool = False,
    clip_extra: bool = True,
    skip_prune_program: bool = False,
    separate_parameters: bool = False,
    **configs: Any,
) -> None:
    """Save a layer or function as a program that runs without its code.

    A layer is saved with all its static methods, in evaluation mode and, where that differs, also in training mode.
    Training mode is left out, with a warning, if the layer is in evaluation mode and training needs other arguments.

    Arguments:
        layer: a Layer, a static function, a function, a loaded program, or a Program.
        path: path without extension: path.json describes the weights (safetensors) and StableHLO files next to it.
        input_spec: an InputSpec or example for each argument, or a dict from method names to such lists; None: from
            to_static(), or the last call with any number of rows, where the function allows that.
        samples: tuples of example arguments; their results are stored, and load(path, check=True) compares.
        constraints: constraints on dimensions of unknown size, such as ["batch <= 64"], checked at each call of the
            loaded program. Default: ().
        platforms: platforms to lower the program for.
        passes: passes to apply to the programs first, names or objects; see paddle.passes. Only evaluation mode is
            saved then. Default: ().
        format: "artifact"; or "paddle": path.json and path.pdiparams in evaluation mode, which PaddlePaddle runs too.
            Default: 'artifact'.
        output_spec: results of forward() to save, from `forward.outputs`; None: all.
        input_names_after_prune: names of the arguments that these results need; an input_spec shorter than that of
            to_static() has the same effect.
        skip_forward: save only the other static methods. Default: False.

    Raises:
        ValueError: if no input_spec is known or it differs from that of to_static(), the function changes state that
            cannot be saved, or operators cannot be represented in the format; the message names them and their lines.
        OSError: if the files cannot be written; existing files are left intact.

    Examples:
        >>> import tempfile, paddle_lite_py as paddle
        >>> net = paddle.nn.Linear(3, 2)
        >>> prefix = tempfile.mkdtemp() + "/net"
        >>> paddle.jit.save(net, prefix, input_spec=[paddle.static.InputSpec([None, 3])])
        >>> paddle.jit.load(prefix)(paddle.ones([4, 3])).shape
        paddle.Size([4, 2])
        >>> paddle.jit.save(net, prefix, [paddle.static.InputSpec([None, 3])], format="paddle")  # for PaddlePaddle
        >>> paddle.jit.load(prefix)(paddle.ones([4, 3])).shape
        paddle.Size([4, 2])
    """
    only_known(save, configs)
    artifact.check_format(format, samples)
    if isinstance(layer, TranslatedLayer) and not passes and format == "artifact":
        return layer._save(path)
    for text in constraints:
        parse(text)
    if isinstance(layer, Program | TranslatedLayer):
        return _save_program(layer, path, ArtifactWriter(None, tuple(constraints), tuple(platforms), passes), format)
    static, owner = static_of(layer)
    specs = input_spec if isinstance(input_spec, Mapping) else {"forward": input_spec}
    writer = ArtifactWriter(owner, tuple(constraints), tuple(platforms), passes, only_eval=format != "artifact")
    if not skip_forward:
        call, left = saved_call(static, specs.get("forward"))
        part = Selection(output_spec, left if input_names_after_prune is None else input_names_after_prune)
        if samples and part != WHOLE:
            raise ValueError("jit.save: samples are of whole functions, which output_spec or input_spec are not here")
        writer.method("forward", static, call, part)
    for name, method in other_methods(owner, static):
        if specs.get(name) is None and method._input_spec is None and method.last_call is None:
            warn_user(
                f"jit.save leaves method `{name}` out: its arguments are not known; pass "
                f"input_spec={{'forward': [...], {name!r}: [InputSpec(...), ...]}}, or call it once"
            )
            continue
        writer.method(name, method, saved_call(method, specs.get(name))[0])
    if not writer.methods:
        return warn_user("jit.save: without forward there is nothing to save; no file is written")
    head = {"name": static.__name__, "saved_in": "train" if getattr(owner, "training", False) else "eval"}
    blobs = writer.blobs() if format == "artifact" else {}
    warn_of_sizes(static.__name__, writer.fixed())
    warn_of_lost(static.__name__, "changes", writer.lost)
    warn_of_lost(static.__name__, "calls", writer.unmade)
    if format != "artifact":
        return artifact.write_as(format, path, {n: v["eval"].traced for n, v in writer.methods.items()})
    if samples:
        blobs["samples"] = _samples(static, owner, samples)
    artifact.write(path, head | writer.manifest(), blobs)


def _save_program(source: Program | TranslatedLayer, path: str, writer: ArtifactWriter, format: str) -> None:
    """Save a program, or a loaded one as passes make it, as it is in eval mode."""
    if isinstance(source, Program):
        from paddle_lite_py.passes.running import as_traced

        name = "program"
        writer.methods = {"forward": {"eval": writer.variant(as_traced(source), name)}}
    else:
        name = str(source._manifest["name"])
        writer.loaded(source)
    if format != "artifact":
        return artifact.write_as(format, path, {n: v["eval"].traced for n, v in writer.methods.items()})
    blobs = writer.blobs()
    artifact.write(path, {"name": name, "saved_in": "eval"} | writer.manifest(), blobs)


def with_passes(layer: TranslatedLayer, change: Callable[[Program], Program]) -> TranslatedLayer:
    """Return a loaded layer as a pass makes it, in evaluation mode; it itself stays as it is."""
    from paddle_lite_py.passes.running import transformed

    writer = ArtifactWriter(None, (), PLATFORMS)
    writer.loaded(layer, lambda traced: transformed(traced, change))
    weights = {n: h._payload for n, h in writer.weights.values() if h is not default_generator.state}
    head = {"name": layer._manifest["name"], "saved_in": "eval"}
    return TranslatedLayer(head | writer.manifest(), {}, weights)


def trace_in_eval_mode(layer: Any, input_spec: Any) -> tuple[StaticFunction, Traced]:
    """Return a layer's or function's static form, and its trace in eval mode."""
    static, owner = static_of(layer)
    with _mode(owner, False), enable_grad():
        call, _ = call_of(static, input_spec)
        return static, static.traced_for(call.args, keywords=call.kwargs)


class _Variant(NamedTuple):
    traced: Traced
    data: dict[str, Any]


class _Source(NamedTuple):
    """The source that one mode of a method is traced from."""

    static: StaticFunction
    call: SpecifiedCall
    training: bool
    sizes: Dimensions
    part: Selection


class ArtifactWriter:
    """Collects methods, and the weights that they share."""

    def __init__(
        self, owner: Any, constraints: tuple[str, ...], platforms: tuple[str, ...], passes: Any = (),
        only_eval: bool = False,
    ) -> None:  # fmt: skip
        self.owner, self.constraints, self.platforms, self.passes = owner, constraints, platforms, passes
        self.modes = MODES if isinstance(owner, Layer) and not passes and not only_eval else {"eval": False}
        self.weights: dict[int, tuple[str, Tensor]] = {}
        self.methods: dict[str, dict[str, _Variant]] = {}
        self.sources: dict[tuple[str, str], _Source] = {}
        self.known: dict[int, str] = {}
        self.lost: list[str] = []  # what methods change that no file can keep
        self.unmade: list[str] = []  # the calls of Python that they make in each run
        self.eval_only: list[str] = []  # the methods that cannot be traced in training mode
        if isinstance(owner, Layer):
            self.known = {id(t): n for n, t in [*owner.named_parameters(), *owner.named_buffers()]}

    def method(self, name: str, static: StaticFunction, call: SpecifiedCall, part: Selection = WHOLE) -> None:
        """Trace a method, or a part of it, in both modes."""
        found = self.methods[name] = {}
        for kind, training in self.modes.items():
            source = _Source(static, call, training, static.dimensions(call, self.constraints), part)
            try:
                found[kind] = self._traced(source)
            except Exception as error:
                if not training or self.owner.training:
                    raise
                self._without_training(name, error)
            else:
                self.sources[name, kind] = source
        if "train" in found and found["train"].data == found["eval"].data:
            del found["train"]

    def _without_training(self, name: str, error: Exception) -> None:
        """Leave out training mode: a layer in evaluation mode often gets no labels, which its training needs."""
        self.eval_only.append(name)
        warn_user(
            f"jit.save saves `{name}` in evaluation mode only: in training mode it raises {type(error).__name__}: "
            f"{error}. To save training too, pass an input_spec with all arguments that it needs"
        )

    def _traced(self, source: _Source) -> _Variant:
        # With gradients on, whatever the caller's mode: the program is to be fine-tuned later.
        with _mode(self.owner, source.training), enable_grad():
            return self.variant(_with_gradients(source), source.static.__name__, source.part)

    def variant(self, traced: Traced, name: str, part: Selection = WHOLE) -> _Variant:
        """Return a method, or a part of it, in one mode."""
        traced = part.of(traced, name)
        self.unmade += [f"`{called}` at {where}" for called, where in calls_at_run(traced.program)]
        traced = for_file(traced._replace(program=without_acts(traced.program)), name, self.lost)
        traced = run_passes(traced, self.passes)
        return _Variant(traced, describe(traced, self._position, name))

    def _position(self, handle: Tensor) -> int:
        if id(handle) not in self.weights:
            name = self.known.get(id(handle)) or handle._name or f"constant_{len(self.weights)}"
            taken = {n for n, _ in self.weights.values()}
            self.weights[id(handle)] = (name if name not in taken else f"{name}_{len(self.weights)}", handle)
        return list(self.weights).index(id(handle))

    def loaded(self, layer: TranslatedLayer, change: Callable[[Traced], Traced] = lambda traced: traced) -> None:
        """The methods of a loaded layer in evaluation mode, changed perhaps."""
        self.constraints = tuple(layer._manifest["constraints"])
        self.methods = {n: {"eval": self.variant(change(m["eval"].traced()), n)} for n, m in layer._methods.items()}

    def manifest(self) -> dict[str, Any]:
        """Return the manifest of all methods."""
        weights = [
            {
                "name": n,
                "kind": "generator" if h is default_generator.state else "tensor",
                "parameter": isinstance(h, Parameter),
                "trainable": isinstance(h, Parameter) and not h.stop_gradient,
            }
            for n, h in self.weights.values()
        ]
        methods = {n: {k: v.data for k, v in found.items()} for n, found in self.methods.items()}
        made = {"weights": weights, "constraints": list(self.constraints), "methods": methods}
        return made | {"eval_only": self.eval_only} if self.eval_only else made

    def blobs(self) -> dict[str, bytes]:
        """Return the data files by suffix."""
        whole = [(n, k) for n, found in self.methods.items() for k, v in found.items() if not _in_parts(v)]
        made = {(n, k): self._exported(n, k) for n, k in whole}
        out = {f"{n}.{k}.stablehlo": code for (n, k), code in made.items() if code is not None}
        arrays = {n: h._payload for n, h in self.weights.values() if h is not default_generator.state}
        return {"safetensors": safetensors.save(arrays)} | out

    def _exported(self, name: str, kind: str) -> bytes | None:
        """Return the StableHLO of a method; None where XLA must know a size: the operators serve each size then."""
        traced, data = self.methods[name][kind]
        program = traced.program
        used = kernels(program)
        platforms = ("cpu",) if used else self.platforms  # what they were compiled for
        try:
            order, digest = 0 if _without_gradient(program) else 1, digest_of(data["program"])
            own = tuple([op.bound.op for op in program.ops() if op.bound.op.custom])
            key = digest, own, platforms, order, tuple(used), current_context(), *traced_by().values()
            code = _exported.get(key)
            if code is None:
                code = _exported.put(key, serialize.export_program(program, lower(program), platforms, order, used))
            data["digest"] = digest
            return code
        except Exception:
            if not any(map(has_symbolic, [v.shape for v in program.block.inputs])):
                raise
        data["for_each_size"] = True
        return None

    def fixed(self) -> str:
        """Return the dimensions that the user left open, and are saved for one size; in words."""
        sizes = [s.sizes for s in self.sources.values() if not isinstance(s.call, OpenCall)]
        return "; ".join(dict.fromkeys([f for s in sizes if (f := s.fixed())]))


# Key: the program as it is written to the file, its operators that are the user's, for which platforms, whether with
# its gradient, and the settings of ours and of JAX's that it is lowered under.
_exported: Memo[Any, bytes] = Memo("programs as StableHLO", 16)


def _with_gradients(source: _Source) -> Traced:
    """The trace whose arguments take gradients: only there detach() and no_grad() cut something, and loops record.

    A loop on frozen weights alone is to have a gradient too: they may be thawed once the program is loaded.
    """
    sizes = source.sizes
    try:
        plain = source.static.traced_with(sizes, source.call)
    except RuntimeError:  # a hook, which only what takes gradients may have
        return source.static.traced_with(sizes, source.call, with_grads=True)
    flags = [(handle, handle.stop_gradient) for handle in plain.captures]
    known = list(sizes.facts), dict(sizes.known), dict(sizes.symbols)
    changed = {id(e.write.owner) for e in plain.effects}
    try:
        for handle, _ in flags if _without_gradient(plain.program) else ():
            handle.stop_gradient &= not isinstance(handle, Parameter) or id(handle) in changed
        traced = source.static.traced_with(sizes, source.call, with_grads=True)
        if not traced.reached:  # a backward() inside would leave gradients in the arguments
            return traced
    except RuntimeError:  # a change of an argument in place, which then may have none
        sizes.facts, sizes.known, sizes.symbols = known
    finally:
        for handle, flag in flags:
            handle.stop_gradient = flag
    return plain


def _in_parts(variant: _Variant) -> bool:
    """Whether a method runs in parts, which are compiled for the sizes that a run finds: no StableHLO has all of it."""
    return runs_in_parts(variant.traced.program)


def _without_gradient(program: Program) -> bool:
    """True if it has a loop, of more than integers, that was traced as one that needs no gradient, and so has none."""
    loops = [op for op in program.ops() if op.name == "while" and op.bound.attrs[3] is None]
    return any(is_inexact(v.dtype) for op in loops for v in op.outputs)


@contextmanager
def _mode(owner: Any, training: bool) -> Iterator[None]:
    """Put a layer into train or eval mode for the block, each sublayer that is not frozen in eval."""
    modules = owner.sublayers(include_self=True) if isinstance(owner, Layer) else []
    before = [(m, m.training) for m in modules]
    try:
        for m in modules:
            m.training = training
        yield
    finally:
        for m, flag in before:
            m.training = flag


def _samples(static: StaticFunction, owner: Any, samples: Sequence[Any]) -> bytes:
    """Example arguments of forward and their results in eval mode, as safetensors."""
    arrays: dict[str, Any] = {}
    for i, given in enumerate(samples):
        args = given if isinstance(given, tuple | list) else (given,)
        with _mode(owner, False), no_grad():
            result = static.dygraph_function(*args)
        for part, value in (("in", args), ("out", result)):
            leaves: list[Any] = []
            nested.flatten(value, lambda v: is_tensor(v) or isinstance(v, np.ndarray), leaves)
            arrays.update({f"{i}.{part}.{k}": Tensor(v)._payload for k, v in enumerate(leaves)})
    return safetensors.save(arrays)
