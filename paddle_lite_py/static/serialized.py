"""Serialization of programs and their values as bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors import numpy as safetensors

from ..core.no_effect import AT_HAND, no_effect, only_known
from ..eager.random import default_generator
from ..jit import artifact, save_load
from ..tracing.as_traced import as_traced
from .current import current
from .program import Program
from .saving import ONE_FORM, bound, check, set_weights
from .scope import global_scope

__all__ = [
    *("deserialize_persistables", "deserialize_program", "load_from_file", "save_to_file", "serialize_persistables"),
    "serialize_program",
]

# The bytes of a serialized program, and of its weights next to it.
MAX_PROGRAM = artifact.MAX_MANIFEST


@no_effect(legacy_format=ONE_FORM)
def serialize_program(
    feed_vars: Any, fetch_vars: Any, program: Program | None = None, *, legacy_format: bool = False, **kwargs: Any
) -> bytes:
    """Serialize the part of a program that computes fetch_vars from feed_vars, without weights, as JSON.

    Arguments:
        feed_vars: feeds, a tensor or a list of tensors.
        fetch_vars: results, a tensor or a list of tensors.
        program: the program; None: the default main program.

    Returns:
        The bytes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2], "float32")
        ...     y = paddle.static.nn.fc(x, 1)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> isinstance(paddle.static.serialize_program([x], [y], program=main), bytes)
        True
        >>> paddle.disable_static()
    """
    only_known(serialize_program, kwargs)
    found = as_traced(bound(program, feed_vars, fetch_vars))
    known = (program or current.main).builder.unknown.constraints
    writer = save_load.ArtifactWriter(None, tuple(known), ())
    writer.methods = {"forward": {"eval": writer.variant(found, "program")}}
    head = {"format": artifact.FORMAT, "version": artifact.VERSION, "name": "program", "saved_in": "eval"}
    return json.dumps(head | writer.manifest()).encode()


def deserialize_program(data: bytes) -> Program:
    """Create a program from the bytes of serialize_program(), Program.serialize_to_string() or static.save().

    Arguments:
        data: the bytes.

    Returns:
        A Program.

    Raises:
        ArtifactError: if the bytes are damaged, from another source or of a newer version.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2], "float32")
        ...     y = paddle.static.nn.fc(x, 1)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> data = paddle.static.serialize_program([x], [y], program=main)
        >>> type(paddle.static.deserialize_program(data)).__name__
        'Program'
        >>> paddle.disable_static()
    """
    return Program.parse_from_string(data)


@no_effect(executor=AT_HAND)
def serialize_persistables(
    feed_vars: Any, fetch_vars: Any, executor: Any = None, program: Program | None = None, **kwargs: Any
) -> bytes:
    """Serialize the weights that fetch_vars depend on, from the current scope, as safetensors.

    Arguments:
        feed_vars: feeds, a tensor or a list of tensors.
        fetch_vars: results, a tensor or a list of tensors.
        program: the program; None: the default main program.

    Returns:
        The bytes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2], "float32")
        ...     y = paddle.static.nn.fc(x, 1)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> isinstance(paddle.static.serialize_persistables([x], [y], exe, program=main), bytes)
        True
        >>> paddle.disable_static()
    """
    only_known(serialize_persistables, kwargs)
    found = bound(program, feed_vars, fetch_vars)
    held = [t for t in found.captured.values() if t is not default_generator.state]
    return safetensors.save({t.name: t.numpy() for t in held})


@no_effect(executor=AT_HAND)
def deserialize_persistables(program: Program, data: bytes, executor: Any = None) -> None:
    """Set the weights of a program, in the current scope, from the bytes of serialize_persistables().

    Arguments:
        program: the program.
        data: the bytes.

    Raises:
        ArtifactError: if the bytes are damaged, or a weight is missing.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2], "float32")
        ...     y = paddle.static.nn.fc(x, 1)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> data = paddle.static.serialize_persistables([x], [y], exe, program=main)
        >>> paddle.static.deserialize_persistables(main, data, exe)
        >>> paddle.disable_static()
    """
    check(program, "deserialize_persistables")
    set_weights(program, data, global_scope())


def save_to_file(path: str, content: bytes) -> None:
    """Write bytes to a file.

    Arguments:
        path: path of the file.
        content: the bytes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import tempfile
        >>> file = tempfile.mkdtemp() + "/m"
        >>> paddle.static.save_to_file(file, b"abc")
        >>> paddle.static.load_from_file(file)
        b'abc'
    """
    if not isinstance(content, bytes):
        raise TypeError(f"save_to_file: content is a {type(content).__name__}; expected bytes")
    Path(path).write_bytes(content)


def load_from_file(path: str) -> bytes:
    """Read a file as bytes.

    Arguments:
        path: path of the file.

    Returns:
        The bytes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import tempfile
        >>> file = tempfile.mkdtemp() + "/m"
        >>> paddle.static.save_to_file(file, b"abc")
        >>> paddle.static.load_from_file(file)
        b'abc'
    """
    return Path(path).read_bytes()
