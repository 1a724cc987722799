"""Settings of compilation, accepted for compatibility: XLA decides these things itself."""

from __future__ import annotations

from typing import Any

from ..core.no_effect import FUSING, ONE_PROCESS, no_effect
from .program import Program

__all__ = ["BuildStrategy", "CompiledProgram", "ExecutionStrategy"]


class BuildStrategy:
    """Build settings, accepted for compatibility: XLA fuses operators and reuses memory in every program.

    Any attribute may be set; none changes the results.

    Examples:
        >>> strategy = BuildStrategy()
        >>> strategy.fuse_elewise_add_act_ops = True
        >>> strategy.fuse_elewise_add_act_ops, strategy.memory_optimize
        (True, False)
    """

    reduce_strategy = gradient_scale_strategy = 0

    class ReduceStrategy:
        """How gradients are reduced over devices: of no effect on one device."""

        AllReduce, Reduce, _NoReduce = 0, 1, 2

    class GradientScaleStrategy:
        """How gradients are scaled over devices: of no effect on one device."""

        CoeffNumDevice, One, Customized = 0, 1, 2


# Switches that programs set; other names may be set as well.
for (
    _name
) in """allow_cuda_graph_capture async_mode build_cinn_pass cache_runtime_context enable_addto enable_auto_fusion
        enable_backward_optimizer_op_deps enable_inplace fuse_adamw fuse_all_optimizer_ops fuse_all_reduce_ops
        fuse_bn_act_ops fuse_bn_add_act_ops fuse_broadcast_ops fuse_dot_product_attention fuse_elewise_add_act_ops
        fuse_gemm_epilogue fuse_relu_depthwise_conv fuse_resunit fused_attention fused_feedforward memory_optimize
        sequential_run sync_batch_norm use_hierarchical_allreduce""".split():
    setattr(BuildStrategy, _name, False)
for _name in "bkcl_comm_num hierarchical_allreduce_inter_nranks nccl_comm_num num_trainers trainer_id".split():
    setattr(BuildStrategy, _name, 0)
for _name in "debug_graphviz_path trainers_endpoints mkldnn_enabled_op_types onednn_enabled_op_types".split():
    setattr(BuildStrategy, _name, "")


class ExecutionStrategy:
    """Settings of threads and scopes, accepted for compatibility: XLA manages its own threads.

    Any attribute may be set.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> strategy = paddle.static.ExecutionStrategy()
        >>> strategy.num_threads = 4; strategy.num_threads
        4
    """

    num_threads, num_iteration_per_drop_scope, num_iteration_per_run, use_thread_barrier = 0, 100, 1, False


class CompiledProgram:
    """Program with a BuildStrategy; it runs like the program itself, which is always compiled.

    Arguments:
        program_or_graph: the Program.
        build_strategy: no effect: XLA decides about fusion and memory.

    Raises:
        TypeError: if program_or_graph is not a Program.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2], "float32")
        ...     y = paddle.static.nn.fc(x, 1)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> compiled = paddle.static.CompiledProgram(main)
        >>> exe.run(compiled, feed={"x": np.ones([3, 2], "float32")}, fetch_list=[y])[0].shape
        (3, 1)
        >>> paddle.disable_static()
    """

    @no_effect(build_strategy=FUSING)
    def __init__(self, program_or_graph: Any, build_strategy: BuildStrategy | None = None) -> None:
        if not isinstance(program_or_graph, Program):
            raise TypeError(
                f"CompiledProgram: program_or_graph is a {type(program_or_graph).__name__}; expected a Program"
            )
        self.program, self.build_strategy = program_or_graph, build_strategy

    @no_effect(args=ONE_PROCESS, kwargs=ONE_PROCESS)
    def with_data_parallel(self, *args: Any, **kwargs: Any) -> CompiledProgram:
        """Itself: one program on one device."""
        return self
