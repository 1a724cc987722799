"""Programs whose tables servers keep, in files for inference: with the rows that the tables have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core.interpreter import no_grad
from ..core.processes import job
from ..eager.tensor import Tensor, wrap
from ..ir.block import Operator, Value
from ..nn import functional as F
from ..ops import public
from ..ops.convert import to_tensor
from .current import current
from .executor import fetched
from .lookups import Lookup
from .mode import program_guard
from .program import Program
from .saving import load_inference_model, save_inference_model
from .saving import save as save_program
from .scope import Scope, global_scope, scope_guard

_ops: Any = public  # its names come from the modules that define them


def save(executor: Any, prefix: str, feeds: Sequence[Any], targets: Sequence[Any], main_program: Any = None) -> None:
    """Write a program for inference to prefix.json and its like, with its tables as they are now.

    Raises:
        ValueError: if a feed or a target is none of the program's.
    """
    program = (main_program or current.main).clone(for_test=True)
    names = [f.name if isinstance(f, Tensor) else str(f) for f in feeds]
    if unknown := [n for n in names if n not in program.feeds]:
        raise ValueError(
            f"save_inference_model: the program has no data '{unknown[0]}'; it has {', '.join(program.feeds)}"
        )
    if program.lookups:
        _embed_tables(program)
    Path(prefix).parent.mkdir(parents=True, exist_ok=True)
    fetches = [wrap(fetched(program, t)) for t in targets]
    save_inference_model(prefix, [wrap(program.feeds[n]) for n in names], fetches, executor, program=program)


def ids_of(table: str) -> str:
    """Return the name of the ids whose rows a saved program has for a table."""
    return f"{table}@IDS"


def load(executor: Any, prefix: str) -> tuple[dict[str, np.ndarray], dict[str, tuple[np.ndarray, np.ndarray]]]:
    """Load the output of save(): dense values by name, and of each table its ids, int64 [n], and rows, [n, columns].

    Raises:
        ValueError, FileNotFoundError: if it wrote nothing there.
    """
    with scope_guard(Scope()):
        load_inference_model(prefix, executor)
        values = {name: home.numpy() for name, home in global_scope().homes.items()}
    tables = [name for name in values if ids_of(name) in values]
    rows = {name: (values.pop(ids_of(name)), values.pop(name)[:-1]) for name in tables}
    return values, rows


def save_alone(folder: str, main_program: Any = None) -> None:
    """Write the state of a program that no servers have a part of."""
    save_program(main_program or current.main, str(Path(folder) / "persistables"))


def _embed_tables(program: Program) -> None:
    """Put rows into a program itself, in the place of those that were fed."""
    session = job.session
    if session is None:
        raise RuntimeError("save_inference_model: the tables lie on servers, and this process is in no job with them")
    session.flush()
    session.refresh()
    tables = {name: session.table_rows(name) for name in {k.table for k in program.lookups}}
    with program_guard(program), no_grad():
        weights = {name: (to_tensor(ids), to_tensor(_ended(values))) for name, (ids, values) in tables.items()}
        for name, (ids, rows) in weights.items():  # by which load() finds them
            ids.name, rows.name = ids_of(name), name
        for lookup in program.lookups:
            _embed(program, lookup, *weights[lookup.table])
    program.lookups = []


def _ended(values: np.ndarray) -> np.ndarray:
    """Rows, and one of zeros for all that have none."""
    return np.concatenate([values, np.zeros((1, values.shape[1]), np.float32)])


def _embed(program: Program, lookup: Lookup, keys: Tensor, rows: Tensor) -> None:
    block = program.builder.root.block
    ids = wrap(fetched(program, lookup.ids)).astype("int64")
    count = rows.shape[0] - 1
    if count:
        place = _ops.searchsorted(keys, ids).clip(0, count - 1)
        there = _ops.equal(_ops.gather(keys, place.reshape([-1])).reshape(place.shape), ids)
        if lookup.padding is not None:
            there = there.logical_and(ids != lookup.padding)
        place = _ops.where(there, place, _ops.full_like(place, count))
    else:
        place = ids * 0
    found, fed = F.embedding(place, rows)._payload, program.feeds.pop(lookup.rows)
    for op in block.ops:
        op.inputs = tuple([found if v is fed else v for v in op.inputs])
    block.inputs = [v for v in block.inputs if v is not fed]
    block.ops = _in_order(block.ops)
    program.builder.version += 1


def _in_order(ops: list[Operator]) -> list[Operator]:
    """Operators, each after those whose values it reads, and else in the order that they have."""
    makers = {v: op for op in ops for v in op.outputs}
    out: dict[int, Operator] = {}

    def place(op: Operator) -> None:
        if id(op) not in out:
            for v in op.inputs:
                if isinstance(v, Value) and v in makers:
                    place(makers[v])
            out[id(op)] = op

    for op in ops:
        place(op)
    return list(out.values())
