"""Client of parameter servers."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..members import job_secret
from .channel import Channel, Finder
from .config import Config, DenseConfig, SparseConfig, from_json, to_json
from .hashing import home_of, shard_of
from .sums import distinct, sum_rows
from .wire import SERVERS, split

Ids = Any  # whatever NumPy makes an array of int64 or uint64 of


class Client:
    """A worker's way to the tables. It may be used by several threads, each of which has connections of its own.

    Args:
        endpoints: "host:port" of each server, in the same order for all workers.
        token: what the servers know.
        worker: number of this worker.
        workers: how many workers there are.
        timeout: seconds that a server may take to answer, also one that is started again meanwhile.
        find: tells where a server is now, by its number, if it may come back elsewhere; None where it is not known.
        session: a name of this client's own, which a client that takes its place has as well: see `once`.

    Raises:
        ValueError: no endpoints or one of another form, or a worker's number that is none.

    Example:
        >>> from paddle_lite_py.distributed import ps
        >>> server = ps.Server()
        >>> thread = threading.Thread(target=server.run)
        >>> thread.start()
        >>> with ps.Client([server.endpoint]) as client:
        ...     client.create(ps.SparseConfig("words", 2, ps.Rule("sgd", 0.5)))
        ...     client.push_sparse("words", [7, 7, 9], np.ones([3, 2], "float32"))
        ...     client.pull_sparse("words", [[7, 9]]).tolist()
        ...     client.stop_servers()
        [[[-1.0, -1.0], [-0.5, -0.5]]]
        >>> thread.join()
    """

    def __init__(
        self,
        endpoints: Sequence[str],
        token: str = "",
        worker: int = 0,
        workers: int = 1,
        timeout: float = 60.0,
        find: Finder | None = None,
        session: str = "",
    ) -> None:
        if not endpoints or isinstance(endpoints, str):
            raise ValueError(f"endpoints is {endpoints!r}; expected a list of 'host:port', one for each server")
        if not 0 <= worker < workers:
            raise ValueError(f"worker is {worker}; expected a number from 0 to {workers - 1}, below workers")
        for endpoint in endpoints:
            split(endpoint)
        self.endpoints, self.worker, self.workers = list(endpoints), worker, workers
        secret = token or job_secret(SERVERS)
        self._make = lambda: Channel(self.endpoints, secret, worker, timeout, find)
        self._session = session or uuid.uuid4().hex
        self._local = threading.local()
        self._channels: list[Channel] = []
        self._configs: dict[str, Config] = {}
        self._background = ThreadPoolExecutor(1, "parameter client")

    # -- tables --------------------------------------------------------------------------------------------------------
    def create(self, config: Config) -> None:
        """Make a table on all servers; one that is there and is the same stays as it is.

        Raises:
            ValueError: another table of this name is there.
        """
        self._ask_all({"op": "create", "config": to_json(config)})
        self._configs[config.name] = config

    def config(self, name: str) -> Config:
        """Return the configuration of a table.

        Raises:
            LookupError: there is none of this name.
        """
        if name not in self._configs:
            answer = self._channel.ask({0: ({"op": "describe", "table": name}, [])})
            self._configs[name] = from_json(answer[0][0]["config"])
        return self._configs[name]

    # -- sparse tables -------------------------------------------------------------------------------------------------
    def pull_sparse(self, name: str, ids: Ids) -> np.ndarray:
        """Return the rows of ids.

        Args:
            name: the table's.
            ids: int64 or uint64, of any shape.

        Returns:
            float32 of the shape of ids, and the table's columns.

        Raises:
            TypeError: ids that are no integers of 64 bits.
            LookupError: there is no such table.
            ServerGone: a server does not answer in time.
        """
        flat, shape = _flat(ids)
        columns = self._sparse(name).columns
        unique, inverse, _ = distinct(flat)
        split = self._split(unique)
        header = {"op": "pull_sparse", "table": name}
        answers = self._channel.ask({n: (header, [unique[at]]) for n, at in split.items()})
        if len(split) == 1:
            rows = answers[next(iter(split))][1][0]
        else:
            rows = np.empty((len(unique), columns), np.float32)
            for n, at in split.items():
                rows[at] = answers[n][1][0]
        return rows.take(inverse, axis=0).reshape(*shape, columns)

    def push_sparse(
        self, name: str, ids: Ids, gradients: Any, shows: Any = None, clicks: Any = None, rate: float | None = None
    ) -> None:
        """Apply gradients to rows; those of one id are added up first.

        Args:
            name: the table's.
            ids: int64 or uint64, of any shape.
            gradients: float32 of the shape of ids, and the table's columns.
            shows: how often each was shown, of the shape of ids. None: once.
            clicks: how often each was clicked. None: never.
            rate: learning rate. None: that of the table's rule.

        Raises:
            TypeError: ids that are no integers of 64 bits.
            ValueError: shapes that do not fit, or gradients that are no finite numbers; nothing was applied.
            LookupError: there is no such table.
            ServerGone: a server does not answer in time; others have applied their share.
        """
        config = self._sparse(name)
        flat, values = _checked(name, ids, gradients, config)
        unique, inverse, counts = distinct(flat)
        arrays = [unique, sum_rows(values, inverse, len(unique))]
        if config.wants_counts:
            arrays.append(counts.astype(np.float32) if shows is None else _counts(shows, inverse, len(unique)))
            arrays.append(_counts(np.zeros(len(flat)) if clicks is None else clicks, inverse, len(unique)))
        header = {"op": "push_sparse", "table": name, **({} if rate is None else {"rate": float(rate)})}
        self._ask_split(header, arrays)

    def add_sparse(self, name: str, ids: Ids, deltas: Any) -> None:
        """Add to rows, past the optimizer; what is for one id is added up first. Arguments as in `push_sparse`."""
        flat, values = _checked(name, ids, deltas, self._sparse(name))
        unique, inverse, _ = distinct(flat)
        self._ask_split({"op": "add_sparse", "table": name}, [unique, sum_rows(values, inverse, len(unique))])

    def pull_sparse_async(self, name: str, ids: Ids) -> Future[np.ndarray]:
        """`pull_sparse` in the background; what runs there runs in its order."""
        return self._background.submit(self.pull_sparse, name, np.array(ids))

    def push_sparse_async(
        self, name: str, ids: Ids, gradients: Any, shows: Any = None, clicks: Any = None, rate: float | None = None
    ) -> Future[None]:
        """`push_sparse` in the background; what runs there runs in its order."""
        return self._background.submit(self.push_sparse, name, ids, gradients, shows, clicks, rate)

    def shrink(self, name: str) -> int:
        """Decay the statistics of a table and delete rows as its config says; how many are gone."""
        answers = self._ask_all({"op": "shrink", "table": name})
        return sum(header["removed"] for header, _ in answers.values())

    # -- dense tables --------------------------------------------------------------------------------------------------
    def pull_dense(self, name: str) -> np.ndarray:
        """Return the array of a dense table.

        Raises:
            LookupError: there is no such table.
            ServerGone: the server does not answer in time.
        """
        return self._ask_home({"op": "pull_dense", "table": name}, [])[1][0].copy()

    def push_dense(self, name: str, gradient: Any, rate: float | None = None) -> None:
        """Apply a gradient of the table's shape.

        Raises:
            ValueError: a shape that does not fit, or what is no finite number; nothing was applied.
        """
        header = {"op": "push_dense", "table": name, **({} if rate is None else {"rate": float(rate)})}
        self._ask_home(header, [np.asarray(gradient, np.float32)])

    def add_dense(self, name: str, delta: Any) -> None:
        """Add to the array, past the optimizer."""
        self._ask_home({"op": "add_dense", "table": name}, [np.asarray(delta, np.float32)])

    def set_dense(self, name: str, value: Any) -> None:
        """Give the array other numbers."""
        self._ask_home({"op": "set_dense", "table": name}, [np.asarray(value, np.float32)])

    @contextmanager
    def once(self, name: str, number: int) -> Iterator[None]:
        """Make the changes in the block once, even if a client of the same session has already made some of them.

        Args:
            name: what they belong to.
            number: of these among those of the name, from 0; servers take a lower one than the last for done.

        Example:
            >>> from paddle_lite_py.distributed import ps
            >>> server = ps.Server()
            >>> thread = threading.Thread(target=server.run)
            >>> thread.start()
            >>> for _ in range(2):
            ...     with ps.Client([server.endpoint], session="worker 0") as client:
            ...         client.create(ps.DenseConfig("bias", (2,), ps.Rule("sgd", 0.5)))
            ...         with client.once("step", 0):
            ...             client.push_dense("bias", np.ones(2))
            >>> with ps.Client([server.endpoint]) as client:
            ...     client.pull_dense("bias").tolist()
            ...     client.stop_servers()
            [-0.5, -0.5]
            >>> thread.join()
        """
        with self._channel.numbered(f"{self._session} {name}", (number + 1) << 16):
            yield

    # -- the job -------------------------------------------------------------------------------------------------------
    def flush(self) -> None:
        """Wait for what runs in the background."""
        self._background.submit(lambda: None).result()

    def barrier(self) -> None:
        """Wait until all workers are here."""
        self.flush()
        self._channel.ask({0: ({"op": "barrier"}, [])}, patient=True)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Save all tables: each server writes its share into this folder, by its full path. One worker calls it.

        Raises:
            OSError: a server cannot write; what was saved there before is still there.
        """
        self.flush()
        word, place = uuid.uuid4().hex[:12], os.path.abspath(folder)
        answers = self._ask_all({"op": "save", "folder": place, "word": word}, patient=True)
        shares = [share for header, _ in answers.values() for share in header["shares"]]
        self._channel.ask({0: ({"op": "commit", "folder": place, "shares": shares}, [])}, patient=True)

    def load(self, folder: str | os.PathLike[str]) -> None:
        """Replace tables by saved ones, by however many servers these were written. One worker calls it.

        Raises:
            ValueError: the folder holds no save or a damaged one, or a table there is another than the servers'.
        """
        self.flush()
        self._ask_all({"op": "load", "folder": os.path.abspath(folder)}, patient=True)

    def stats(self) -> dict[str, dict[str, int]]:
        """Numbers of each table, added over the servers."""
        total: dict[str, dict[str, int]] = {}
        for header, _ in self._ask_all({"op": "stats"}).values():
            for name, numbers in header["stats"].items():
                table = total.setdefault(name, dict.fromkeys(numbers, 0))
                for key, value in numbers.items():
                    table[key] += value
        return total

    def stop_servers(self) -> None:
        """Let all servers end."""
        self.flush()
        self._ask_all({"op": "stop"})

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish what runs in the background, and close the connections."""
        self._background.shutdown()
        for channel in self._channels:
            channel.close()
        self._channels.clear()

    # -- ways to the servers -------------------------------------------------------------------------------------------
    @property
    def _channel(self) -> Channel:
        """The connections of this thread."""
        if not hasattr(self._local, "channel"):
            self._local.channel = self._make()
            self._channels.append(self._local.channel)
        return self._local.channel

    def _sparse(self, name: str) -> SparseConfig:
        config = self.config(name)
        if isinstance(config, DenseConfig):
            raise ValueError(f"table {name!r} is dense; use pull_dense, push_dense")
        return config

    def _split(self, ids: np.ndarray) -> dict[int, Any]:
        """Which of distinct ids each server has; all of them are one slice if there is one server."""
        servers = len(self.endpoints)
        if servers == 1:
            return {0: slice(None)}
        shards = shard_of(ids, servers)
        return {n: np.flatnonzero(shards == n) for n in range(servers)}

    def _ask_split(self, header: dict[str, Any], arrays: list[np.ndarray]) -> None:
        split = self._split(arrays[0])
        self._channel.ask({n: (header, [a[at] for a in arrays]) for n, at in split.items()})

    def _ask_all(self, header: dict[str, Any], patient: bool = False) -> dict[int, Any]:
        return self._channel.ask({n: (header, []) for n in range(len(self.endpoints))}, patient)

    def _ask_home(self, header: dict[str, Any], arrays: list[np.ndarray]) -> Any:
        """Ask the server that a dense table lies on."""
        home = home_of(header["table"], len(self.endpoints))
        return self._channel.ask({home: (header, arrays)})[home]


def _flat(ids: Ids) -> tuple[np.ndarray, tuple[int, ...]]:
    """Ids as uint64 in one dimension, and their shape."""
    array = np.asarray(ids)
    if array.size == 0 and not isinstance(ids, np.ndarray):
        array = array.astype(np.int64)
    if array.dtype not in (np.int64, np.uint64):
        raise TypeError(f"ids are {array.dtype}{list(array.shape)}; expected int64 or uint64: ids.astype('int64')")
    return np.ascontiguousarray(array).reshape(-1).view(np.uint64), array.shape


def _checked(name: str, ids: Ids, values: Any, config: SparseConfig) -> tuple[np.ndarray, np.ndarray]:
    """Flat ids and a row of values for each."""
    flat, shape = _flat(ids)
    values = np.asarray(values, np.float32)
    if values.shape != (*shape, config.columns):
        raise ValueError(
            f"table {name!r} has {config.columns} columns and ids have shape {list(shape)}: expected values of shape "
            f"{[*shape, config.columns]}, found {list(values.shape)}"
        )
    values = values.reshape(-1, config.columns)
    if not np.isfinite(values).all():
        row = np.argwhere(~np.isfinite(values))[0][0]
        raise ValueError(
            f"table {name!r}: values for id {flat[row].view(np.int64)} are {values[row].tolist()}; expected finite "
            "numbers. Nothing was applied"
        )
    return flat, values


def _counts(given: Any, inverse: np.ndarray, count: int) -> np.ndarray:
    """Counts of each id, added up."""
    array = np.asarray(given, np.float32).reshape(-1, 1)
    if len(array) != len(inverse):
        raise ValueError(f"shows or clicks are {len(array)} numbers for {len(inverse)} ids; expected one for each")
    return sum_rows(array, inverse, count)[:, 0]
