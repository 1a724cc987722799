"""The part of a process in a job with servers: it serves tables, or trains with those that do."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ... import ps
from ...elastic import SERVER_FOLDER, WORKER_FOLDER
from ...ps.config import DenseConfig, Rule
from ..peers import Peers
from ..places import ServedPlace
from ..strategy import DistributedStrategy
from .geo import Geo
from .modes import Asynchronous, Mode, Synchronous
from .progress import Progress
from .saved import read_rows, replace_rows, table_rows, write_hot_rows, write_rows
from .step import Gradients
from .tables import DENSE, Table

if TYPE_CHECKING:
    from ...ps import Client, Server

T = TypeVar("T")
# Dense values by name, and of each table its ids and their rows.
Values = tuple[Mapping[str, np.ndarray], Mapping[str, tuple[np.ndarray, np.ndarray]]]
# Seconds that a server may take to answer: it may be started after this process, or be started again.
PATIENCE = 120.0


class Plan(NamedTuple):
    """The state that a program keeps on the servers besides its tables: dense numbers; and how all are updated."""

    dense: int
    rule: Rule


class DenseState(NamedTuple):
    """The dense parameters of a program where it keeps them: how they are read and set, whether they are there, and how
    values by name become one array."""

    read: Callable[[], np.ndarray]
    write: Callable[[np.ndarray], None]
    ready: Callable[[], bool]
    flat: Callable[[Mapping[str, np.ndarray]], np.ndarray]


class Session:
    """A process among servers and workers.

    Arguments:
        place: which one.
        strategy: says how workers keep step.
        token: a secret that all processes know; "": that of the job, or of the user.
    """

    def __init__(self, place: ServedPlace, strategy: DistributedStrategy, token: str = "") -> None:
        self.place, self.strategy, self._token = place, strategy, token
        noted = None if place.is_server else os.environ.get(WORKER_FOLDER)
        own = str(Path(noted) / f"worker-{place.number}") if noted else None
        self.progress = Progress(own)
        self.peers = Peers(place, self._token, folder=own, count=self.progress.exchanges)
        self.tables: dict[str, Table] = {}
        self.plan: Plan | None = None
        self.state: DenseState | None = None
        self._client: Client | None = None
        self._mode: Mode | None = None
        self._server: Server | None = None

    @property
    def client(self) -> Client:
        """This worker's way to the servers."""
        if self._client is None:
            if self.place.is_server:
                raise RuntimeError("this process is a server; only workers reach tables: ask fleet.is_worker() first")
            place = self.place
            self._client = ps.Client(
                list(place.servers), self._token, place.number, place.workers, PATIENCE, session=self.progress.session
            )
        return self._client

    @property
    def mode(self) -> Mode:
        """How this worker keeps step.

        Raises:
            RuntimeError: if it has not begun.
        """
        if self._mode is None:
            raise RuntimeError("fleet: this worker has not begun; run the startup program, then fleet.init_worker()")
        return self._mode

    @property
    def begun(self) -> bool:
        """Whether this worker has tables to train."""
        return self._mode is not None

    # -- servers -------------------------------------------------------------------------------------------------------
    def serve(self, folder: str = "") -> None:
        """Prepare to keep tables; `folder` has those to begin with.

        Where PADDLE_PS_FOLDER names a folder, a server that is killed comes back as it was.
        """
        place = self.place
        if not place.is_server:
            raise RuntimeError("fleet.init_server: this process is a worker; ask fleet.is_server() first")
        kept = os.environ.get(SERVER_FOLDER)
        self._server = ps.Server(
            place.endpoint, place.number, len(place.servers), place.workers, self._token,
            folder=str(Path(kept) / f"server-{place.number}") if kept else None, first=folder or None,
        )  # fmt: skip

    def run(self) -> None:
        """Keep tables until workers say that they are done."""
        if self._server is None:
            self.serve()
        assert self._server is not None
        self._server.run()

    # -- workers -------------------------------------------------------------------------------------------------------
    def begin(self) -> None:
        """Make the tables, unless they are there, and take the values of the first worker.

        Raises:
            RuntimeError: if no program is to be trained, or it has no values yet.
        """
        if self.plan is None or self.state is None:
            raise RuntimeError(
                "fleet: no program has tables here; call fleet.distributed_optimizer(...).minimize(loss)"
            )
        if not self.state.ready():
            raise RuntimeError("fleet: run the startup program before the program itself")
        if self.place.number == 0:
            self._make_tables(self.plan, self.state)
        self._meet()
        self._mode = self._mode_of(self.plan, self.state)
        if self.plan.dense:
            self.state.write(self.client.pull_dense(DENSE))

    def _make_tables(self, plan: Plan, state: DenseState) -> None:
        """Make those that a folder has not brought. Whether it has the dense one is noted before that is made: then a
        worker that is killed between the two gives it its values nevertheless."""
        known = self._known(lambda: {"dense": np.array(DENSE in self.client.stats())})

        def made() -> None:
            for table in self.tables.values():
                self.client.create(table.config(plan.rule))
            if plan.dense:
                self.client.create(DenseConfig(DENSE, (plan.dense,), plan.rule))
                if not known["dense"]:
                    self.client.set_dense(DENSE, state.read())

        self._once(made)

    def _known(self, look: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
        """Return what this worker found when it first checked."""
        if (found := self.progress.recall()) is None:
            number = self.progress.begin()
            found = self.progress.keep([look()])
            self.progress.done(number)
        return found[0]

    def _mode_of(self, plan: Plan, state: DenseState) -> Mode:
        configs = self.strategy.a_sync_configs
        if not self.strategy.a_sync:
            return Synchronous(self.client, self.peers, self.progress)
        if (steps := int(configs["k_steps"])) > 0:
            tables = {t.name: t.config(plan.rule) for t in self.tables.values()}
            read = state.read if plan.dense else None
            return Geo(self.client, tables, steps, self.place.workers, read, self.progress)
        under_way, merge = int(configs["send_queue_size"]), int(configs["max_merge_var_num"])
        return Asynchronous(self.client, under_way, merge, self.progress)

    def rows(self, table: str, ids: np.ndarray) -> np.ndarray:
        """Return the rows of distinct ids, as this worker has them."""
        return self._mode.rows(table, ids) if self._mode else self.client.pull_sparse(table, ids)

    def push(self, step: Gradients) -> None:
        """Give the gradients of a step."""
        self.mode.push(step)

    def refresh(self) -> None:
        """Give the program the latest dense parameters that are here."""
        found = self._mode.dense() if self._mode and self.plan and self.plan.dense else None
        if found is not None and self.state is not None:
            self.state.write(found)

    def settle(self) -> None:
        """Wait until what this worker gave has arrived, and read what came of it."""
        if self._mode is not None:
            self._once(self._mode.settle)
            self.refresh()

    def barrier(self) -> None:
        """Settle, and wait until all workers are here."""
        self.settle()
        self._meet()

    def gather(self, arrays: Mapping[str, Any]) -> list[dict[str, np.ndarray]]:
        """The arrays of all workers, once they have made their steps."""
        return self.exchange([arrays] * self.place.workers)

    def exchange(self, parts: Sequence[Mapping[str, Any]]) -> list[dict[str, np.ndarray]]:
        """Exchange parts with all workers once they have made their steps."""
        self.settle()
        if (found := self.progress.recall()) is not None:
            return found
        return self._numbered(lambda: self.progress.keep(self.peers.exchange(parts)), reaches_servers=False)

    def _meet(self) -> None:
        self._once(self.client.barrier)

    def _once(self, work: Callable[[], Any]) -> None:
        """Do what others see, unless it is done."""
        if not self.progress.skips():
            self._numbered(work)

    def _numbered(self, work: Callable[[], T], reaches_servers: bool = True) -> T:
        number = self.progress.begin()
        with self.client.once("meeting", number) if reaches_servers else contextlib.nullcontext():
            found = work()
        self.progress.done(number, self.peers.count)
        return found

    # -- what the servers have -----------------------------------------------------------------------------------------
    def flush(self) -> None:
        """Wait until what this worker gave has arrived; others may be anywhere."""
        if self._mode is not None:
            self._mode.flush()

    def save(self, folder: str) -> None:
        """Let the servers write all tables; the first worker asks them."""
        self.flush()
        self.first_does(lambda: self.client.save(folder))

    def load(self, folder: str) -> None:
        """Let the servers read all tables, and take the dense values; all workers call it, the first one asks them."""
        self._replace(lambda: self.client.load(folder))

    def load_values(self, read: Callable[[], Values], source: str) -> None:
        """Take values that the first worker reads; what optimizers keep stays as it is. All workers call it.

        Arguments:
            source: where they come from, for errors.
        """

        def given() -> None:
            dense, tables = read()
            if missing := sorted(self.tables.keys() - tables.keys()):
                there = ", ".join(sorted(tables)) or "none"
                raise ValueError(f"{source} has no rows of table '{missing[0]}'; it has those of {there}")
            flat = self.state.flat(dense) if self.state is not None and self.plan is not None else np.zeros(0)
            for name in self.tables:
                replace_rows(self.client, name, *tables[name], source)
            if len(flat):
                self.client.set_dense(DENSE, flat)

        self._replace(given)

    def _replace(self, work: Callable[[], None]) -> None:
        """Let the first worker give the servers other values, and take the dense ones."""
        self.settle()
        self.first_does(work)
        self._meet()
        if self.plan is not None and self.plan.dense and self.state is not None:
            self.state.write(self.client.pull_dense(DENSE))

    def save_table(self, table: int | str, folder: str) -> None:
        """Write the rows of one table."""
        self.flush()
        name = self._name(table)
        self.first_does(lambda: write_rows(self.client, name, folder))

    def save_hot(self, table: int | str, folder: str, share: float) -> int:
        """Write the rows of one table that were shown most, such a part of all; the first worker learns how many."""
        self.flush()
        name, count = self._name(table), [-1]

        def written() -> None:
            count[0] = write_hot_rows(self.client, name, folder, share)

        self.first_does(written)
        self._meet()
        return count[0]

    def load_table(self, table: int | str, folder: str) -> None:
        """Read the rows of one table."""
        self.settle()
        name = self._name(table)
        self.first_does(lambda: read_rows(self.client, name, folder))
        self._meet()

    def table_rows(self, table: str) -> tuple[np.ndarray, np.ndarray]:
        """Return all ids of a table, and their weights."""
        return table_rows(self.client, table)

    def table_stats(self, table: int | str) -> tuple[str, dict[str, int]]:
        """Return the name of a table, and its numbers, added over the servers."""
        name = self._name(table)
        return name, self.client.stats()[name]

    def _name(self, table: int | str) -> str:
        names = list(self.tables)
        if isinstance(table, int) and 0 <= table < len(names):
            return names[table]
        if table in self.tables:
            return str(table)
        raise ValueError(
            f"there is no table {table!r}; there are " + ", ".join(f"{i}: '{n}'" for i, n in enumerate(names))
        )

    def shrink(self) -> int:
        """Let all tables forget; how many rows are gone. The first worker asks the servers."""
        self.flush()
        gone: list[int] = []
        self.first_does(lambda: gone.extend(self.client.shrink(name) for name in self.tables))
        return sum(gone)

    def first_does(self, work: Callable[[], Any]) -> None:
        """Let the first worker do something, once."""
        if self.place.number == 0:
            self._once(work)

    def end(self) -> None:
        """Be done: the last steps arrive, and once all workers are done the servers end."""
        self.settle()
        self.progress.end()
        self._meet()
        if self.place.number == 0:
            self.client.stop_servers()
        self.close()

    def end_again(self) -> bool:
        """Whether this worker was killed when it had nothing more to do but to meet the others; then it meets them."""
        if self.progress.over is None:
            return False
        with contextlib.suppress(ps.ServerGone), self.client.once("meeting", self.progress.over):
            self.client.barrier()
            if self.place.number == 0:
                self.client.stop_servers()
        self.close()
        return True

    def close(self) -> None:
        """Leave servers and workers as they are."""
        if self._client is not None:
            self._client.close()
        self.peers.close()
        self._client = self._mode = None
