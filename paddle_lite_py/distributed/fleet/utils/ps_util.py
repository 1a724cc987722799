"""Inference over a dataset with tables that servers keep."""

from __future__ import annotations

import importlib
from typing import Any

from ....core.processes import job
from ....optimizer import SGD

__all__ = ["DistributedInfer"]

_FLEET = __name__.rpartition(".utils")[0]
# Programs: a module above this one.
_STATIC = f"{__name__.partition('.')[0]}.static"


class DistributedInfer:
    """Evaluate a program on the workers of a job with parameter servers.

    Build the network after fleet.init(), so that its tables are on the servers.

    Arguments:
        main_program: the program; None: the default main program.
        startup_program: its startup program; None: the default one.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     loss = paddle.static.nn.fc(paddle.static.data("x", [None, 2]), 1).mean()
        ...     infer = DistributedInfer(main, startup)
        ...     exe = paddle.static.Executor()
        ...     infer.init_distributed_infer_env(exe, loss)
        >>> exe.run(infer.get_dist_infer_program(), {"x": np.zeros([1, 2], "float32")}, [loss])[0].tolist()
        0.0
        >>> paddle.disable_static()
    """

    def __init__(self, main_program: Any = None, startup_program: Any = None) -> None:
        static = importlib.import_module(_STATIC)
        self.origin_main_program = main_program or static.default_main_program()
        self.origin_startup_program = startup_program or static.default_startup_program()
        self._test = self.origin_main_program.clone(for_test=True)

    def init_distributed_infer_env(
        self, exe: Any, loss: Any, role_maker: Any = None, dirname: str | None = None
    ) -> None:
        """Begin as a server, which then serves until the workers are done, or as a worker; where that is not done yet.

        Arguments:
            exe: runs the startup program.
            loss: of the program.
            role_maker: as of fleet.init().
            dirname: a folder that save_persistables() wrote, with the values to begin with.

        Raises:
            RuntimeError: in a job with servers, if the network was built before fleet.init().
        """
        fleet: Any = importlib.import_module(_FLEET)
        if job.session is None:
            fleet.init(role_maker)
            if job.session is not None:
                raise RuntimeError(
                    "DistributedInfer: the network was built before fleet.init(), so that its tables lie in this "
                    "process; call fleet.init(role_maker) first"
                )
            exe.run(self.origin_startup_program)
            return
        if job.session.plan is not None:  # it has begun, as a program that trains
            return
        strategy = fleet.DistributedStrategy()
        strategy.a_sync = True
        fleet.distributed_optimizer(SGD(0.001), strategy).minimize(loss, self.origin_startup_program)
        if fleet.is_server():
            fleet.init_server(dirname)
            fleet.run_server()
        else:
            exe.run(self.origin_startup_program)
            fleet.init_worker()

    def get_dist_infer_program(self) -> Any:
        """Return the program as it is in evaluation: it reads rows from the servers, and changes nothing."""
        return self._test
