"""Settings of distributed training."""

from __future__ import annotations

from typing import Any

# Settings that change what a program computes; all others say how processes share the work.
CHANGES = ("amp", "asp", "dgc", "gradient_merge", "lamb", "lars", "localsgd", "adaptive_localsgd", "qat")
SWITCHES = (
    "a_sync", "auto", "auto_search", "elastic", "find_unused_parameters", "fp16_allreduce", "fuse_all_reduce_ops",
    "heter_ccl_mode", "pipeline", "recompute", "semi_auto", "sharding", "sync_batch_norm", "sync_nccl_allreduce",
    "tensor_parallel", "use_hierarchical_allreduce", "without_graph_optimization", "cudnn_exhaustive_search",
    "cudnn_batchnorm_spatial_persistent", "fuse_grad_merge", "split_data", "is_fl_ps_mode", *CHANGES,
)  # fmt: skip
SETTINGS = ("gradient_scale", "sparse_table", "trainer_desc")  # without a switch
DEGREES = ("dp_degree", "mp_degree", "pp_degree", "sharding_degree", "sep_degree", "ep_degree")
VALUES = {
    "nccl_comm_num": 1, "fuse_grad_size_in_MB": 32, "last_comm_group_size_MB": 1.0, "conv_workspace_size_limit": 512,
    "hybrid_parallel_order": ["dp", "pp", "sharding", "sep", "mp"], "build_strategy": None, "execution_strategy": None,
    "hierarchical_allreduce_inter_nranks": 1, "adam_d2sum": False, "fs_client_param": {},
}  # fmt: skip

# Settings of single axes: how processes share the work, which XLA and the runtime decide.
AXIS_CONFIGS: dict[str, dict[str, Any]] = {
    "mp_configs": {
        "sync_param": True, "sync_grad": False, "sync_moment": False, "sync_mode": "broadcast",
        "mp_async_allreduce": False, "mp_skip_c_identity": False, "mp_fused_linear_param_grad_add": False,
        "need_broadcast_data": True, "recompute_allgather": False, "sp_async_reduce_scatter": False,
        "sync_param_name": ["embedding", "layer_norm", ".b_"],
    },
    "pp_configs": {
        "dp_comm_overlap": False, "delay_scale_loss": False, "enable_timer": False, "sharding_comm_overlap": False,
        "profiling": False, "release_gradients": False, "overlap_p2p_comm": False, "clear_every_step_cache": False,
        "use_batch_p2p_comm": True, "best_unbalanced_scheduler": False, "enable_offload_queue": False,
        "enable_dynamic_shape": False, "use_dualpipev": False, "forward_backward_overlap_scheduler": False,
        "sync_param": False, "sync_moment": False, "sync_mode": "broadcast",
    },
    "sharding_configs": {
        "tensor_fusion": False, "accumulate_steps": 1, "comm_overlap": False, "split_param": False,
        "fuse_optimizer": True, "use_reduce_avg": True, "comm_buffer_size_MB": 256, "release_gradients": False,
        "free_grads_in_comm": False, "enable_fuse_optimizer_states": False, "offload_opt_buffer_size": -1,
    },
}  # fmt: skip

# How workers of parameter servers keep step, with the defaults of the reference; the first three have an effect.
SERVED = {
    "k_steps": -1, "max_merge_var_num": 1, "send_queue_size": 16, "independent_recv_thread": False,
    "min_send_grad_num_before_recv": 1, "thread_pool_size": 1, "send_wait_times": 1, "runtime_split_send_recv": False,
    "launch_barrier": True, "heter_worker_device_guard": "cpu", "lr_decay_steps": 10, "use_ps_gpu": 0,
    "use_gpu_graph": 0,
}  # fmt: skip


class AxisConfig(dict[str, Any]):
    """Settings of an axis of hybrid_configs, as items and as attributes.

    Arguments:
        name: its name there.
    """

    def __init__(self, name: str) -> None:
        super().__init__(AXIS_CONFIGS[name])

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(f"hybrid_configs has no setting {name!r} here; it has {', '.join(self)}")
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self:
            raise AttributeError(f"hybrid_configs has no setting {name!r} here; it has {', '.join(self)}")
        super().__setitem__(name, value)

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


class DistributedStrategy:
    """Settings of parallel training: a switch for each kind of parallelism, and `*_configs` with its settings.

    Raises:
        AttributeError: if there is no such setting.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> strategy = paddle.distributed.fleet.DistributedStrategy()
        >>> strategy.find_unused_parameters = True
        >>> strategy.hybrid_configs = {"dp_degree": 1}
        >>> strategy.hybrid_configs["mp_degree"]
        1
    """

    a_sync: bool
    a_sync_configs: dict[str, Any]
    find_unused_parameters: bool
    dgc: bool
    localsgd: bool
    adaptive_localsgd: bool
    hybrid_configs: dict[str, Any]
    hybrid_parallel_order: list[str]

    def __init__(self) -> None:
        configs: dict[str, Any] = {f"{name}_configs": {} for name in (*SWITCHES, *SETTINGS)}
        configs["hybrid_configs"] = dict.fromkeys(DEGREES, 1) | {name: AxisConfig(name) for name in AXIS_CONFIGS}
        configs["a_sync_configs"] = dict(SERVED)
        self.__dict__.update(dict.fromkeys(SWITCHES, False) | VALUES | configs | {"a_sync": True})

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__dict__:
            raise AttributeError(
                f"DistributedStrategy has no setting {name!r}; it has {', '.join(sorted(self.__dict__))}"
            )
        if name == "a_sync_configs" and (unknown := sorted(value.keys() - SERVED.keys())):
            raise ValueError(f"a_sync_configs has no setting {unknown[0]!r}; it has {', '.join(SERVED)}")
        if name == "hybrid_configs":
            value = {**value, **{axis: self._changed(axis, value[axis]) for axis in AXIS_CONFIGS if axis in value}}
        self.__dict__[name] = {**self.__dict__[name], **value} if name.endswith("_configs") else value
        if name == "a_sync":
            self.__dict__["a_sync_configs"]["k_steps"] = 0

    def _changed(self, axis: str, settings: dict[str, Any]) -> AxisConfig:
        config: AxisConfig = self.__dict__["hybrid_configs"][axis]
        for name, value in settings.items():
            config[name] = value
        return config

    def exchanges_updates(self) -> bool:
        """Whether processes exchange something else than gradients."""
        return bool(self.dgc or self.localsgd or self.adaptive_localsgd)

    def check(self) -> None:
        """Check that all settings are supported.

        Raises:
            NotImplementedError: if a setting that changes the results is not supported.
        """
        if (degree := self.__dict__["hybrid_configs"].get("ep_degree", 1)) > 1:
            raise NotImplementedError(f"DistributedStrategy: ep_degree is {degree}; experts are not spread: set 1")
        if tables := self.__dict__["sparse_table_configs"]:
            raise NotImplementedError(
                f"DistributedStrategy: sparse_table_configs has {', '.join(map(repr, tables))}; tables are as "
                "the program says: set their optimizer and `entry` there"
            )
        if self.dgc and (self.localsgd or self.adaptive_localsgd):
            raise ValueError("DistributedStrategy: dgc and localsgd are both on; choose one")
