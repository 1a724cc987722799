"""Runs of programs whose tables servers keep: rows are read before a run, and gradients are given after it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.processes import job
from .lookups import Lookup
from .scope import global_scope

if TYPE_CHECKING:
    from ..distributed.fleet.served.session import Session
    from ..distributed.fleet.served.step import IdRows
    from .program_state import ProgramState
    from .scope import Scope

# The gradient of all dense parameters, one after another, in a program.
DENSE_GRADIENT = "dense@GRAD"


class Served(NamedTuple):
    """How a program is trained with servers.

    Arguments:
        dense: name and shape of each parameter that the program has itself.
        gradient: whether its gradient goes to the servers; else the program updates it.
        optimizer: says the learning rate.
    """

    dense: tuple[tuple[str, tuple[int, ...]], ...]
    gradient: bool
    optimizer: Any

    def read(self) -> np.ndarray:
        """Return all dense parameters, one after another, from the scope in force."""
        homes = global_scope().homes
        return self.flat({name: homes[name].numpy() for name, _ in self.dense})

    def flat(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """Values of the dense parameters, one after another.

        Raises:
            ValueError: if one is missing, or has another shape.
        """
        for name, shape in self.dense:
            if name not in values or values[name].shape != shape:
                found = f"is {list(values[name].shape)}" if name in values else "is not there"
                raise ValueError(f"parameter '{name}' {found}; the program has it as {list(shape)}")
        parts = [np.asarray(values[n], np.float32).reshape(-1) for n, _ in self.dense]
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)

    def write(self, values: np.ndarray) -> None:
        """Set all dense parameters."""
        at, scope = 0, global_scope()
        for name, shape in self.dense:
            size = math.prod(shape)
            scope.set(name, values[at : at + size].reshape(shape))
            at += size

    def ready(self) -> bool:
        """Whether a startup program has run."""
        return all(name in global_scope().homes for name, _ in self.dense)


class ServedRun:
    """One run of a program: what it asks the servers for before, and gives them after.

    Arguments:
        scope: where the program has its state.
    """

    def __init__(self, program: ProgramState, scope: Scope) -> None:
        self._lookups, self._served = program.lookups, program.served
        trained = [k.gradient for k in self._lookups if k.trained] if self._served else []
        dense = [DENSE_GRADIENT] if self._served and self._served.gradient else []
        self.gradients = [*trained, *dense]
        self._program, self._scope = program, scope

    def begin(self) -> None:
        """Make sure that the servers have the tables, and this process their values."""
        session = _session()
        if self._served is not None and not session.begun:
            session.begin()

    def skips(self) -> bool:
        """Whether this worker has made the step before, and was started again since; then its run changes nothing.

        Where it was the last that was made, what this process alone has becomes what it was after that.
        """
        if self._served is None:
            return False
        self.begin()
        progress = _session().progress
        if not progress.skips():
            return False
        self.put_back(progress.own())
        return True

    def state(self, dense: bool = True) -> dict[str, np.ndarray]:
        """Return the state that a run changes in this process, with or without the dense parameters."""
        left_out = set() if dense or self._served is None else {name for name, _ in self._served.dense}
        found = {n: v for n, (v, _) in self._program.builder.finals().items() if n not in left_out}
        return {name: np.array(variable.find(self._scope)._payload) for name, variable in found.items()}

    def put_back(self, values: Mapping[str, np.ndarray]) -> None:
        """Give what a run changes the values that it had."""
        finals = self._program.builder.finals() if values else {}
        for name in values.keys() & finals.keys():
            finals[name][0].find(self._scope)._payload = values[name]

    def refresh(self) -> None:
        """Give the program the latest dense parameters that are here; not while it runs."""
        _session().refresh()

    def give(self, batch: ServedBatch, gradients: Sequence[Any]) -> None:
        """Give the servers the gradients that were fetched."""
        if self._served is None:
            return
        from ..distributed.fleet.served.step import Gradients

        found = [np.asarray(g) for g in gradients]
        dense = found.pop() if self._served.gradient else None
        session = _session()

        def counts(table: str) -> Any:
            names = session.tables[table].count_names
            return [np.asarray(batch.feed[n]) for n in names] if names else (None, None)

        sparse = rows_of(self._lookups, batch, found, counts)
        rate = float(self._served.optimizer.get_lr())
        session.push(Gradients(sparse, dense, rate, lambda: self.state(dense=False)))


class ServedBatch(NamedTuple):
    """A feed with the rows that its ids stand for.

    Arguments:
        feed: arrays by the names of the program's data, rows included.
        ids: for each table those that were read, each once; `places` of each lookup among them, -1 for padding.
    """

    feed: dict[str, Any]
    ids: dict[str, np.ndarray]
    places: list[np.ndarray]


def _session() -> Session:
    if job.session is None:
        raise RuntimeError(
            "the program has tables on servers, and this process is in no job with servers: call fleet.init()"
        )
    return job.session


def reads_ahead(program: ProgramState) -> bool:
    """Whether the rows for the next batch may be read while this one is trained on."""
    session = job.session
    return bool(program.lookups) and session is not None and session.begun and session.mode.reads_ahead


def read(lookups: Sequence[Lookup], feed: dict[str, Any], compute: Callable[[list[str]], list[Any]]) -> ServedBatch:
    """Read a batch: the rows of all its lookups, with one request for each table.

    Arguments:
        compute: gives the values of a program by name, for ids that it computes.
    """
    from ..distributed.ps.sums import distinct

    session = _session()
    computed = sorted({k.ids for k in lookups} - feed.keys())
    named = dict(zip(computed, compute(computed), strict=True)) if computed else {}
    ids = [np.asarray(named[k.ids] if k.ids in named else feed[k.ids]).astype(np.int64, copy=False) for k in lookups]
    read_ids: dict[str, np.ndarray] = {}
    places, rows = list(ids), dict(feed)
    for table in dict.fromkeys(k.table for k in lookups):
        own = [i for i, k in enumerate(lookups) if k.table == table]
        wanted = [np.ones(ids[i].shape, bool) if (p := lookups[i].padding) is None else ids[i] != p for i in own]
        found = np.concatenate([ids[i][w] for i, w in zip(own, wanted, strict=True)])
        once, place, _ = distinct(found.view(np.uint64))
        read_ids[table] = once.view(np.int64)
        values = session.rows(table, read_ids[table])
        ended = np.concatenate([values, np.zeros((1, values.shape[1]), np.float32)])  # what pads reads the last row
        at = 0
        for i, w in zip(own, wanted, strict=True):
            places[i] = np.full(ids[i].shape, -1)
            places[i][w] = place[at : at + np.count_nonzero(w)]
            at += int(np.count_nonzero(w))
            rows[lookups[i].rows] = ended[places[i]]
    return ServedBatch(rows, read_ids, places)


def rows_of(
    lookups: Sequence[Lookup], batch: ServedBatch, gradients: Sequence[np.ndarray], counts: Callable[[str], Any]
) -> dict[str, IdRows]:
    """Return the gradients of the rows of each table, each id once.

    Arguments:
        gradients: of the lookups that are trained, in their order.
        counts: how often the instances of a batch were shown and clicked, for a table; (None, None): nobody counts.
    """
    from ..distributed.fleet.served.step import IdRows
    from ..distributed.ps.sums import sum_rows

    found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    trained = [(k, p) for k, p in zip(lookups, batch.places, strict=True) if k.trained]
    for (k, place), gradient in zip(trained, gradients, strict=True):
        found.setdefault(k.table, []).append((place, np.asarray(gradient)))
    out = {}
    for table, parts in found.items():
        ids, columns = batch.ids[table], parts[0][1].shape[-1]
        place = np.concatenate([p.reshape(-1) for p, _ in parts])
        values = np.concatenate([g.reshape(-1, columns) for _, g in parts])
        total = sum_rows(values[place >= 0], place[place >= 0], len(ids))
        each = [None if c is None else _counted(c, [p for p, _ in parts], len(ids)) for c in counts(table)]
        there = np.zeros(len(ids), bool)
        there[place[place >= 0]] = True
        out[table] = IdRows(ids, total, *each).part(there)
    return out


def _counted(of_instance: np.ndarray, places: list[np.ndarray], size: int) -> np.ndarray:
    """Return the counts of instances, for each id added up over those that it stands in."""
    total = np.zeros(size, np.float32)
    for place in places:
        flat = place.reshape(len(place), -1)
        each = np.broadcast_to(np.asarray(of_instance, np.float32).reshape(-1, 1), flat.shape)
        np.add.at(total, flat[flat >= 0], each[flat >= 0])
    return total
