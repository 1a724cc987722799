"""Portable programs: for another process, which compiles them: StableHLO for one platform, and what goes with it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
from jax import export

from ..core.config import exporting
from ..core.jax_compat.executables import CALLBACKS, unchecked_calls
from ..ir.block import Operator, Value
from ..ir.lower import concrete
from ..ir.program import Program
from .findings import Finding, findings
from .hlo import source


class Portable(NamedTuple):
    """A program for one platform.

    Examples:
        >>> import jax, numpy as np
        >>> made = portable(lambda x: x + 1, [jax.ShapeDtypeStruct((2,), np.float32)], "tpu")
        >>> made.devices, made.error
        (1, '')
    """

    name: str
    data: bytes
    names: Sequence[str]  # of its arguments
    donated: tuple[int, ...]
    devices: int
    mesh: dict[str, int]  # the mesh axes that it is sharded over
    found: Sequence[Finding]
    error: str = ""  # what keeps it from being written for the platform
    where: str = ""  # the op and the user's line that are to blame


def portable(
    fn: Callable[..., Any],
    specs: Sequence[Any],
    platform: str,
    name: str = "program",
    names: Sequence[str] = (),
    donated: tuple[int, ...] = (),
    program: Program | None = None,
) -> Portable:
    """Return a function of arrays, written for a platform; an error is kept rather than raised.

    Arguments:
        fn: not traced before, since what it does may depend on the platform.
        specs: shapes, dtypes and shardings of its arguments.
        donated: the arguments whose memory the results may take.
        program: whose operators are looked through for the one that is to blame for an error.

    Examples:
        >>> import jax
        >>> made = portable(lambda x: x + x, [jax.ShapeDtypeStruct((2,), "float32")], "cuda")
        >>> made.error, len(made.data) > 0
        ('', True)
    """

    def call(*args: Any) -> Any:
        return jax.tree.leaves(fn(*args))

    call.__name__ = call.__qualname__ = name
    try:
        made = _export(call, specs, platform)
        found = findings(made.mlir_module())
        return Portable(name, bytes(made.serialize()), names, donated, made.nr_devices, _mesh(specs), found)
    except Exception as e:
        found = _found_anyway(call, specs, platform)
        blamed = _host(found) or ("" if program is None else _blamed(program, platform))
        return Portable(name, b"", names, donated, 1, {}, found, f"{type(e).__name__}: {e}", blamed)


def _mesh(specs: Sequence[Any]) -> dict[str, int]:
    held = [getattr(s, "sharding", None) for s in specs]
    return next((dict(h.mesh.shape) for h in held if isinstance(h, jax.sharding.NamedSharding)), {})


def _export(fn: Callable[..., Any], specs: Sequence[Any], platform: str) -> export.Exported:
    # The compiler may need a CPU's cost model, and the user's own kernels are looked up when it links.
    checks = [export.DisabledSafetyCheck.platform(), *unchecked_calls(CALLBACKS)]
    with exporting((platform,)), _short_locations():
        return export.export(jax.jit(fn), platforms=(platform,), disabled_checks=checks)(*specs)


@contextlib.contextmanager
def _short_locations() -> Iterator[None]:
    """Leave JAX's own frames out of the program: its operators name the user's lines."""
    before = getattr(jax.config, "jax_traceback_in_locations_limit")  # noqa: B009  (mypy does not know it)
    jax.config.update("jax_traceback_in_locations_limit", 0)
    try:
        yield
    finally:
        jax.config.update("jax_traceback_in_locations_limit", before)


def _found_anyway(fn: Callable[..., Any], specs: Sequence[Any], platform: str) -> list[Finding]:
    """Return the findings in a program that cannot be written to a file."""
    try:
        with exporting((platform,)):
            return findings(jax.jit(fn).trace(*specs).lower(lowering_platforms=(platform,)).as_text(debug_info=True))
    except Exception:  # it cannot even be lowered; the current error says why
        return []


def _host(found: Sequence[Finding]) -> str:
    return next((f"{f.op}, {f.where}" for f in found if f.kind == "host callback"), "")


def _blamed(program: Program, platform: str) -> str:
    """Return the first operator that cannot be written for the platform by itself, with its line."""
    for op in program.ops():
        if op.bound.op.name in ("grad", "cond", "while", "for"):
            continue  # those inside of them come by themselves
        if not _possible(op, platform):
            return f"{op.name}, {op.where}"
    return ""


def _possible(op: Operator, platform: str) -> bool:
    try:
        given = [jax.ShapeDtypeStruct(_sizes(v), v.dtype) if isinstance(v, Value) else v for v in op.inputs]
        specs = [v for v in given if isinstance(v, jax.ShapeDtypeStruct)]

        def alone(*arrays: Any) -> Any:
            order = iter(arrays)
            return concrete(op.bound).fn(*[next(order) if isinstance(v, jax.ShapeDtypeStruct) else v for v in given])

        _export(alone, specs, platform)
    except Exception:
        return False
    return True


def _sizes(value: Value) -> tuple[int, ...]:
    return tuple([n if isinstance(n, int) else 2 for n in value.shape])


def blame_in(error: str) -> str:
    """Return the op and the user's line that an XLA error refers to; empty if there are none.

    Examples:
        >>> blame_in('no kernel for "jit(f)/eig.0:net.py:3/eig"')
        'eig, net.py:3'
    """
    op, where = source(error.replace('"', " "))
    return f"{op.removeprefix('gradient of ')}, {where}" if where else ""
