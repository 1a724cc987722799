"""Programs and their values in files: checkpoints, and inference models of the format of jit.save."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core.arrays import as_array, stored_arrays
from ..core.no_effect import AT_HAND, Immaterial, Refused, no_effect, only_known
from ..eager.random import default_generator
from ..eager.tensor import Parameter, Tensor, wrap
from ..framework import load as load_file
from ..framework import save as save_file
from ..ir.program import Program as IRProgram
from ..ir.simplify import without_acts
from ..jit import artifact, save_load
from ..jit.artifact import ArtifactError
from ..optimizer.operators import Update
from . import serial
from .current import current
from .deserialize import from_manifest
from .executor import fetched
from .program import Program
from .restore import restore
from .scope import Scope, global_scope
from .snapshot import home_of, snapshot

__all__ = [
    *("load", "load_inference_model", "load_program_state", "normalize_program", "save"),
    *("save_inference_model", "set_program_state"),
]

ONE_FORM = Immaterial("an artefact has one form")
_BY_PREFIX = Refused("the files are named by path_prefix")
_OF_JIT = "samples", "constraints", "platforms", "passes", "format"  # what paddle.jit.save takes as well


# -- checkpoints ---------------------------------------------------------------------------------------------------
def save(
    program: Program, model_path: str, protocol: int = 4, *, pickle_protocol: int | None = None, **configs: Any
) -> None:
    """Save a program and its state: parameters as model_path.pdparams, other state as .pdopt, the program as .json.

    Restore it with static.deserialize_program(static.load_from_file(model_path + ".json")) and static.load(). If the
    program cannot be represented in a file, a warning says why.

    Arguments:
        program: the program.
        model_path: path without extension.
        protocol: pickle protocol, 2 to 5. Default: 4.

    Examples:
        >>> import tempfile
        >>> paddle.enable_static()
        >>> main, startup = Program(), Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     w = paddle.static.create_parameter([2], "float32", name="saved_weight")
        ...     y = w * 2
        >>> exe = paddle.static.Executor()
        >>> _ = exe.run(startup)
        >>> path = tempfile.mkdtemp() + "/model"
        >>> paddle.static.save(main, path)
        >>> again = paddle.static.deserialize_program(paddle.static.load_from_file(path + ".json"))
        >>> paddle.static.load(again, path, exe)
        >>> paddle.disable_static()
    """
    only_known(save, configs)
    protocol = protocol if pickle_protocol is None else pickle_protocol
    check(program, "save")
    state = state_by_name(program)
    params = {n: state.pop(n) for n in program.states("param")}
    save_file(params, f"{model_path}.pdparams", protocol)
    save_file(state, f"{model_path}.pdopt", protocol)
    try:
        Path(f"{model_path}.json").write_bytes(serial.dumps(program))
    except (TypeError, ValueError) as e:
        warnings.warn(f"static.save: the state is written, the program itself is not: {e}", stacklevel=2)


def state_by_name(program: Program) -> dict[str, Tensor]:
    """Return the state of a program in the scope in force, under the names that it has in files of PaddlePaddle."""
    out = program.state_dict()
    for vector, names in _numbers(program):
        if vector in out:
            held = out.pop(vector).numpy()
            out |= {name: wrap(as_array(held[i : i + 1])) for name, i in names.items()}
    for k, optimizer in enumerate(program.optimizers):  # PaddlePaddle asks for it; here the optimizer itself has it
        out[f"learning_rate_{k}"] = wrap(as_array(np.float32(optimizer.get_lr())))
    for value in out.values():
        value.persistable = True
    return out


def _numbers(program: Program) -> Iterator[tuple[str, dict[str, int]]]:
    """The vectors in which optimizers keep one number for each parameter, and the name of each number in files."""
    names: dict[Any, str] = {}
    for op in program.builder.root.block.ops:
        if isinstance(update := op.bound, Update):
            changed = [names.get(v, v.name) for v in op.inputs[update.changed]]
            names.update(zip(op.outputs, changed, strict=True))
            params, _, _, vectors = update.recipe.split(changed)
            rows = [s.row for s in update.recipe.settings]
            for slot, vector in vectors.items() if set(params) <= program.parameters.keys() else ():
                number = vector.rpartition("_")[2]
                yield vector, {f"{p}_{slot}_{number}": row for p, row in zip(params, rows, strict=True)}


@no_effect(executor=AT_HAND)
def load(program: Program, model_path: str, executor: Any = None, var_list: Sequence[Any] | None = None) -> None:
    """Load the state of a program, into the current scope, from the files of static.save().

    Arguments:
        program: the program.
        model_path: path without extension.
        var_list: tensors to load; None: all.

    Raises:
        FileNotFoundError: if there are no such files.
        ValueError: if a shape differs, or a parameter of the program is not in the files.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2], "float32")
        ...     y = paddle.static.nn.fc(x, 1)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> import tempfile
        >>> file = tempfile.mkdtemp() + "/m"
        >>> paddle.static.save(main, file); paddle.static.load(main, file, exe)
        >>> paddle.disable_static()
    """
    check(program, "load")
    held = load_program_state(model_path, var_list)
    missing = [n for n in program.states("param") if n not in held] if var_list is None else []
    if missing:
        raise ValueError(f"load: '{missing[0]}', a parameter of the program, is not in '{model_path}.pdparams'")
    set_program_state(program, held)


def load_program_state(model_path: str, var_list: Sequence[Any] | None = None) -> dict[str, np.ndarray]:
    """Load the files of static.save() or save_vars() as arrays.

    Arguments:
        model_path: path without extension, or a folder or file of save_vars().
        var_list: variables or names to load; None: all.

    Returns:
        A dict from names to NumPy arrays.

    Raises:
        FileNotFoundError: if there are no such files.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2], "float32")
        ...     y = paddle.static.nn.fc(x, 1)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> import tempfile
        >>> file = tempfile.mkdtemp() + "/m"
        >>> paddle.static.save(main, file)
        >>> len(paddle.static.load_program_state(file))
        2
        >>> paddle.disable_static()
    """
    prefix = str(model_path)
    for ending in (".pdparams", ".pdopt", ".pdmodel", ".json"):
        prefix = prefix.removesuffix(ending)
    alone = None if Path(f"{prefix}.pdparams").exists() else _of_folder(str(model_path), var_list)
    if alone is not None:
        return alone
    out = _by_name(f"{prefix}.pdparams")
    if Path(f"{prefix}.pdopt").exists():
        out |= _by_name(f"{prefix}.pdopt")
    if var_list is None:
        return out
    wanted = {v if isinstance(v, str) else v.name for v in var_list}
    return {n: a for n, a in out.items() if n in wanted}


def _by_name(path: str) -> dict[str, np.ndarray]:
    found = load_file(path, return_numpy=True)
    if not isinstance(found, dict):
        raise ValueError(f"load_program_state: '{path}' holds no dict of arrays by name")
    return found


def _of_folder(path: str, var_list: Sequence[Any] | None) -> dict[str, np.ndarray] | None:
    """Load the output of save_vars() from a folder or a file; None if there is nothing.

    Raises:
        ValueError: if it is a file, and var_list does not say which variables it has.
    """
    names = None if var_list is None else [v if isinstance(v, str) else v.name for v in var_list]
    if Path(path).is_file():
        if names is None:
            raise ValueError(f"load_program_state: '{path}' has no names: say in var_list which variables it holds")
        return artifact.foreign_files().read_variables(str(Path(path).parent), names, Path(path).name)
    if not Path(path).is_dir():
        return None
    found = [p.relative_to(path).as_posix() for p in sorted(Path(path).rglob("*")) if p.is_file()]
    return artifact.foreign_files().read_variables(path, names or found, None)


def set_program_state(program: Program, state_dict: dict[str, Any]) -> None:
    """Set the state of a program.

    Arguments:
        program: the program.
        state_dict: arrays by name, as load_program_state() returns them.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2], "float32")
        ...     y = paddle.static.nn.fc(x, 1)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> import tempfile
        >>> file = tempfile.mkdtemp() + "/m"
        >>> paddle.static.save(main, file)
        >>> paddle.static.set_program_state(main, paddle.static.load_program_state(file))
        >>> paddle.disable_static()
    """
    known, found = program.states(), dict(state_dict)
    for vector, names in _numbers(program):
        if vector in known and any(n in found for n in names):
            state = known[vector]
            there = vector in global_scope().homes or state.home is not None
            now = np.array(state.find(global_scope()).numpy()) if there else np.zeros(state.shape, state.dtype)
            for n, i in names.items():
                now[i] = np.asarray(found.pop(n, now[i])).reshape(-1)[0]
            found[vector] = now
    program.set_state_dict(found)


# -- inference models ----------------------------------------------------------------------------------------------
_PRUNED = Refused("a program is saved as what computes fetch_vars of feed_vars")


@no_effect(skip_prune_program=_PRUNED)
def normalize_program(
    program: Program, feed_vars: Any, fetch_vars: Any, *, skip_prune_program: bool = False, **kwargs: Any
) -> Program:
    """Return the part of a program that computes fetch_vars from feed_vars, in evaluation mode.

    Arguments:
        program: the program.
        feed_vars: feeds, a tensor or a list of tensors.
        fetch_vars: results, a tensor or a list of tensors.

    Returns:
        A new Program.

    Raises:
        ValueError: if fetch_vars depend on data that is not among feed_vars.

    Examples:
        >>> paddle.enable_static()
        >>> main = Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     y, z = x * 2, x.exp()
        >>> [op.type for op in normalize_program(main, [x], [y]).global_block().ops]
        ['multiply']
        >>> paddle.disable_static()
    """
    only_known(normalize_program, kwargs)
    check(program, "normalize_program")
    return restore(Program(), *_prune(program, feed_vars, fetch_vars))


def _prune(program: Program, feed_vars: Any, fetch_vars: Any) -> tuple[IRProgram, Program]:
    """Return the IR program of feeds and fetches, in their order, and the program for evaluation that it is of."""
    test = program.clone(for_test=True)
    feeds = [_feed_of(program, v) for v in _listed(feed_vars)]
    results = [fetched(test, v) for v in _listed(fetch_vars)]
    if not results:
        raise ValueError("fetch_vars is empty; name what the program is to compute")
    found, _ = snapshot(test, results, updates=False)
    needed = [n for n, v in zip(found.input_names, found.block.inputs, strict=True) if v not in found.captured]
    for name in needed:
        if name not in feeds:
            known = ", ".join(feeds) or "none"
            raise ValueError(f"fetch_vars depend on '{name}', which is not among feed_vars ({known}): add it")
    inputs = [*[test.feeds[n] for n in feeds], *found.captured]
    found.block.inputs, found.input_names = inputs, [str(v.name) for v in inputs]
    return without_acts(found), test


def bound(program: Program | None, feed_vars: Any, fetch_vars: Any) -> IRProgram:
    """Return the same with its state bound to the scope in force."""
    source, scope = program or current.main, global_scope()
    check(source, "program")
    found, _ = _prune(source, feed_vars, fetch_vars)
    found.captured = {v: _weight(source, s, scope) for v, s in found.captured.items()}
    found.asked = source.builder.checks, source.builder.loop_buffer
    return found


def _weight(program: Program, state: Any, scope: Scope) -> Tensor:
    home = home_of(state, scope)
    held = program.parameters.get(home.name)
    if held is None or home is default_generator.state:
        return home
    return Parameter.of_payload(home._payload, home.name, not held.stop_gradient)


def _feed_of(program: Program, var: Any) -> str:
    name = var if isinstance(var, str) else str(getattr(getattr(var, "_payload", None), "name", var))
    if name not in program.feeds:
        raise ValueError(
            f"feed_vars: '{name}' is no data of the program, which has {', '.join(program.feeds) or 'none'}"
        )
    return name


@no_effect(executor=AT_HAND, skip_prune_program=_PRUNED, clip_extra=ONE_FORM, legacy_format=ONE_FORM)
def save_inference_model(
    path_prefix: str, feed_vars: Any, fetch_vars: Any, executor: Any = None, program: Program | None = None,
    *, skip_prune_program: bool = False, clip_extra: bool = True, legacy_format: bool = False, **kwargs: Any,
) -> None:  # fmt: skip
    """Save the part of a program that computes fetch_vars from feed_vars, with its weights, for inference.

    The files have the format of paddle.jit.save(); read them with paddle.static.load_inference_model(),
    paddle.jit.load() or paddle.inference.

    Arguments:
        path_prefix: path without extension.
        feed_vars: feeds, a tensor or a list of tensors.
        fetch_vars: results, a tensor or a list of tensors.
        executor: no effect: the state is read from the current scope.
        program: the program; None: the default main program.
        kwargs: format="paddle" writes model files for PaddlePaddle; further arguments of paddle.jit.save().

    Raises:
        ValueError: if fetch_vars depend on data that is not among feed_vars.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2], "float32")
        ...     y = paddle.static.nn.fc(x, 1)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> import tempfile
        >>> file = tempfile.mkdtemp() + "/m"
        >>> paddle.static.save_inference_model(file, [x], [y], exe, program=main)
        >>> program, feeds, fetches = paddle.static.load_inference_model(file, exe)
        >>> feeds
        ['x']
        >>> paddle.disable_static()
    """
    only_known(save_inference_model, kwargs, *_OF_JIT)
    known = (program or current.main).builder.unknown.constraints
    kwargs["constraints"] = [*known, *kwargs.get("constraints", ())]
    save_load.save(bound(program, feed_vars, fetch_vars), str(path_prefix), **kwargs)


@no_effect(executor=AT_HAND, model_filename=_BY_PREFIX, params_filename=_BY_PREFIX)
def load_inference_model(
    path_prefix: str, executor: Any = None, *, model_filename: Any = None, params_filename: Any = None, **kwargs: Any
) -> list[Any]:
    """Load a program for inference; its weights are put into the current scope.

    Arguments:
        path_prefix: path without extension, as given to save_inference_model() or jit.save().
        executor: no effect: the state is read from the current scope.
        model_filename: no effect: path_prefix names the files.
        params_filename: no effect: path_prefix names the files.

    Returns:
        A list of the program, the names of its feeds, and the tensors to fetch.

    Raises:
        ArtifactError: if the files are missing, damaged, from another source or of a newer version.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2], "float32")
        ...     y = paddle.static.nn.fc(x, 1)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> import tempfile
        >>> file = tempfile.mkdtemp() + "/m"
        >>> paddle.static.save_inference_model(file, [x], [y], exe, program=main)
        >>> program, feeds, fetches = paddle.static.load_inference_model(file, exe)
        >>> feeds
        ['x']
        >>> paddle.disable_static()
    """
    only_known(load_inference_model, kwargs)
    manifest, blobs = artifact.read(str(path_prefix))
    program = from_manifest(Program(), manifest)
    _set_arrays(program, artifact.weights_of(blobs), global_scope())
    return [program, list(program.feeds), program.fetches]


def set_weights(program: Program, data: bytes, scope: Scope) -> None:
    """Set the state of a program in a scope to arrays in the form of safetensors."""
    try:
        arrays = stored_arrays(data)
    except Exception as e:
        raise ArtifactError(f"the weights are damaged: {type(e).__name__}: {e}") from None
    _set_arrays(program, arrays, scope)


def _set_arrays(program: Program, arrays: dict[str, Any], scope: Scope) -> None:
    missing = [n for n, s in program.states().items() if n not in arrays and s.home is None]
    if missing:
        raise ArtifactError(f"weight '{missing[0]}' of the program is not among the weights given")
    if arrays:
        program.set_state_dict(arrays, scope)


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else [given]


def check(program: Any, who: str) -> None:
    """Raise for what is no Program."""
    if not isinstance(program, Program):
        raise TypeError(f"{who}: program is a {type(program).__name__}; expected a paddle.static.Program")
