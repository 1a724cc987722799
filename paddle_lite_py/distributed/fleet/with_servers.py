"""The functions of fleet in a job with parameter servers."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.no_effect import Immaterial, Refused, no_effect
from ...core.processes import job
from .roles import PaddleCloudRoleMaker

if TYPE_CHECKING:
    from .served.session import Session

_ONE_FORM = Refused("all that the servers have is saved and loaded; take 0")
_TABLES = Immaterial("tables lie on the servers, and the dense part with them")
_LAID_OUT = Immaterial("the program says which tables there are")
_DAYS = Immaterial("the age of a row is counted in calls of shrink(); the reference tells tables on GPUs alone")
_OWN_CACHE = Immaterial("a server keeps the rows in memory that were used last, and moves others to disk by itself")
# The part of a table's rows that a cache holds: that of the reference by default.
CACHE_RATE = 0.00055
_ONE_STATE = "the rows that there are now are counted, all of them"
# Saves a program for inference: a module above this one.
_EXPORT = f"{__name__.partition('.')[0]}.static.exported"


class WithServers:
    """The methods of fleet for servers and their workers; without servers they do nothing, so that programs run alone.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> fleet = paddle.distributed.fleet
        >>> fleet.is_server(), fleet.server_num(), fleet.server_endpoints()
        (False, 0, [])
    """

    _role_maker: PaddleCloudRoleMaker

    # -- who is who ----------------------------------------------------------------------------------------------------
    def server_num(self) -> int:
        """Return the number of servers."""
        return self._role_maker.server_num()

    def server_index(self) -> int:
        """Return the number of this server."""
        return self._role_maker.server_index()

    def server_endpoints(self, to_string: bool = False) -> list[str] | str:
        """Return the addresses of the servers."""
        found = self._role_maker.get_pserver_endpoints()
        return ",".join(found) if to_string else found

    def is_server(self) -> bool:
        """Whether this process keeps parameters for others."""
        return self._role_maker.is_server()

    def is_worker(self) -> bool:
        """Whether this process trains."""
        return self._role_maker.is_worker()

    # -- servers -------------------------------------------------------------------------------------------------------
    @no_effect(var_names=Refused("a folder has all tables"), kwargs=_LAID_OUT)
    def init_server(self, dirname: str | None = None, var_names: Any = None, **kwargs: Any) -> None:
        """Prepare this server.

        Arguments:
            dirname: a folder that save_persistables() wrote, with the values to begin with.

        Raises:
            RuntimeError: if this process is a worker.
        """
        if job.session is not None:
            job.session.serve(dirname or "")

    def run_server(self) -> None:
        """Keep parameters until the workers are done."""
        if job.session is not None:
            job.session.run()

    # -- workers -------------------------------------------------------------------------------------------------------
    @no_effect(scopes=Immaterial("values are in the scope in force"))
    def init_worker(self, scopes: Any = None) -> None:
        """Begin as a process that trains: the first worker's values become those of all.

        Where the startup program has not run yet, that happens before the first step.
        """
        session = job.session
        if session is not None and session.state is not None and session.state.ready() and not session.begun:
            session.begin()

    def stop_worker(self) -> None:
        """End as a process that trains; when all workers have, the servers end."""
        if job.session is not None and not self.is_server():
            job.session.end()

    # -- what servers have ---------------------------------------------------------------------------------------------
    @no_effect(executor=_TABLES, main_program=_TABLES, mode=_ONE_FORM)
    def save_persistables(self, executor: Any, dirname: str, main_program: Any = None, mode: int = 0) -> None:
        """Write all tables and the dense parameters, with what their optimizers keep, into a folder.

        All workers call it, or the first one alone, which then writes what has arrived so far.

        Raises:
            OSError: if the servers cannot write there; the folder must be one that all of them see.
        """
        session = job.session
        if session is not None:
            session.save(dirname)
            return
        if main_program is not None or executor is not None:
            self._program().save_alone(dirname, main_program)

    @no_effect(mode=_ONE_FORM)
    def load_model(self, path: str, mode: int = 0) -> None:
        """Give the servers what save_persistables() wrote."""
        if job.session is not None:
            job.session.load(path)

    @no_effect(mode=_ONE_FORM)
    def load_inference_model(self, path: str, mode: int = 0) -> None:
        """Give the servers the rows and the dense parameters of a model that save_inference_model() wrote.

        What optimizers keep stays as it is. All workers call it. Without servers it does nothing:
        paddle.static.load_inference_model() reads such a model.

        Arguments:
            path: the folder that was given to save_inference_model().

        Raises:
            ValueError: if the model has no rows of a table of the program, or others than the program has.
        """
        if job.session is not None:
            prefix = str(Path(path) / "model")
            job.session.load_values(lambda: self._program().load(None, prefix), prefix)

    @no_effect(mode=Immaterial("there is one form"))
    def save_cache_model(self, dirname: str, *, table_id: int | str = 0, mode: int = 1) -> int:
        """Write the rows of a table that were shown most, one in 1,818, for servers that answer from memory.

        All workers call it. The form is that of save_one_table().

        Arguments:
            table_id: its name, or its number in the order in which the program looks tables up.

        Returns:
            How many rows were written, for the first worker; -1 for others.

        Raises:
            ValueError: if the table does not count how often its features are shown.
        """
        return job.session.save_hot(table_id, dirname, CACHE_RATE) if job.session is not None else -1

    @no_effect(table_id=_OWN_CACHE, pass_id=_OWN_CACHE, mem_cache_key_threshold=_OWN_CACHE)
    def save_cache_table(self, table_id: int | str, pass_id: int, mem_cache_key_threshold: int = 4000000000) -> None:
        """Wait until all workers are here; servers bring rows to the disk by themselves."""
        if job.session is not None:
            job.session.barrier()

    @no_effect(table_id=_DAYS, day_id=_DAYS)
    def set_date(self, table_id: int | str, day_id: int | str) -> None:
        """Wait until all workers are here; a day of a table is a call of shrink()."""
        if job.session is not None:
            job.session.barrier()

    @no_effect(mode=_ONE_FORM)
    def save_one_table(self, table_id: int | str, path: str, mode: int = 0) -> None:
        """Write the rows of one table: path/part-0.npz with ids and their values.

        Arguments:
            table_id: its name, or its number in the order in which the program looks tables up.
        """
        if job.session is not None:
            job.session.save_table(table_id, path)

    @no_effect(mode=_ONE_FORM)
    def load_one_table(self, table_id: int | str, path: str, mode: int = 0) -> None:
        """Give one table the rows that save_one_table() wrote."""
        if job.session is not None:
            job.session.load_table(table_id, path)

    @no_effect(threshold=_LAID_OUT)
    def shrink(self, threshold: int | None = None) -> int:
        """Remove rows that were not seen for long, by the tables' settings; returns how many were removed."""
        return job.session.shrink() if job.session is not None else 0

    @no_effect(executor=_TABLES)
    def save_dense_params(
        self, executor: Any, dirname: str, scope: Any, program: Any, var_names: list[str] | None = None
    ) -> None:
        """Write the dense parameters of a program, as the servers have them: dirname/NAME.npy. The first worker writes.

        Arguments:
            scope: where the program keeps them.
            var_names: which; all that servers train by default.

        Raises:
            LookupError: for a name that is none of them.
        """
        session = job.session
        if session is not None:
            session.settle()
        if not self._role_maker.is_first_worker():
            return
        known = [p.name for p in program.all_parameters()]
        for name in known if var_names is None else var_names:
            if name not in known:
                raise LookupError(
                    f"save_dense_params: the program has no parameter '{name}'; it has {', '.join(known)}"
                )
            Path(dirname).mkdir(parents=True, exist_ok=True)
            np.save(Path(dirname) / f"{name}.npy", np.array(scope.find_var(name).get_tensor()), allow_pickle=False)

    @no_effect(pass_id=_ONE_STATE, threshold=_ONE_STATE)
    def print_table_stat(self, table_id: int | str, pass_id: int | None = None, threshold: float = 0) -> None:
        """Print how many rows a table has.

        Arguments:
            table_id: its name, or its number in the order in which the program looks tables up.
        """
        if job.session is not None:
            name, numbers = job.session.table_stats(table_id)
            print(f"table '{name}': " + ", ".join(f"{k} {v}" for k, v in numbers.items()))

    @no_effect(export_for_deployment=Immaterial("there is one form"), mode=_ONE_FORM)
    def save_inference_model(
        self, executor: Any, dirname: str, feeded_var_names: list[str], target_vars: Any,
        main_program: Any = None, export_for_deployment: bool = True, mode: int = 0,
    ) -> None:  # fmt: skip
        """Write a program for inference, with the rows that its tables have now: dirname/model.

        A feature that has no row reads as zeros there. The first worker writes; others do nothing.

        Arguments:
            target_vars: what it gives: one tensor, or several.
        """
        if not self._role_maker.is_first_worker():
            return
        targets = target_vars if isinstance(target_vars, list | tuple) else [target_vars]

        def write() -> None:
            self._program().save(executor, str(Path(dirname) / "model"), feeded_var_names, targets, main_program)

        if job.session is not None:
            job.session.first_does(write)
        else:
            write()

    def _program(self) -> Any:
        return importlib.import_module(_EXPORT)


def begin(place: Any, strategy: Any) -> Session:
    """Take part in a job with servers.

    Raises:
        ImportError: saying what to install, where servers cannot be talked to.
        SystemExit: a worker that was killed in stop_worker(): when the others are there too, it ends.
    """
    from .served.session import Session

    job.session = Session(place, strategy)
    if not place.is_server and job.session.end_again():
        print(f"worker {place.number}: all was done before it was started again", file=sys.stderr)
        sys.exit(0)
    return job.session
