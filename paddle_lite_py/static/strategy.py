"""Settings of compilation that other executors have, accepted: XLA decides these things itself."""

from __future__ import annotations

from typing import Any

__all__ = ["BuildStrategy", "CompiledProgram", "ExecutionStrategy"]


class BuildStrategy:
    """Accepted settings: fusing, in-place updates and the reuse of memory are what XLA does to every program.

    Any attribute may be set; none changes what is computed.

    Examples:
        >>> strategy = BuildStrategy()
        >>> strategy.fuse_elewise_add_act_ops = True
        >>> strategy.fuse_elewise_add_act_ops, strategy.memory_optimize
        (True, False)
    """

    class ReduceStrategy:
        """How gradients are reduced over devices: of no effect on one device."""

        AllReduce, Reduce, _NoReduce = 0, 1, 2

    class GradientScaleStrategy:
        """How gradients are scaled over devices: of no effect on one device."""

        CoeffNumDevice, One, Customized = 0, 1, 2

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return 0 if name.endswith("strategy") else False


class ExecutionStrategy:
    """Accepted settings of threads and scopes: XLA has its own threads. Any attribute may be set."""

    num_threads, num_iteration_per_drop_scope, num_iteration_per_run, use_thread_barrier = 0, 100, 1, False


class CompiledProgram:
    """A program with a BuildStrategy: it runs as the program itself does, which is always compiled.

    Raises:
        TypeError: if it is no Program.
    """

    def __init__(self, program_or_graph: Any, build_strategy: BuildStrategy | None = None) -> None:
        from .program import Program

        if not isinstance(program_or_graph, Program):
            raise TypeError(
                f"CompiledProgram: program_or_graph is a {type(program_or_graph).__name__}; expected a Program"
            )
        self.program, self.build_strategy = program_or_graph, build_strategy

    def with_data_parallel(self, *args: Any, **kwargs: Any) -> CompiledProgram:
        """Itself: one program on one device."""
        return self
