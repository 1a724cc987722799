"""What a predictor is made from: the files of a program, and the device."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .kinds import PrecisionType

# Accepted and noted, because programs call them; XLA does what they ask for itself, or has no counterpart.
_NOTED = """
    collect_shape_range_info delete_pass disable_mkldnn disable_mkldnn_fc_passes disable_onednn disable_onednn_fc_passes
    disable_onnxruntime enable_cinn enable_custom_passes enable_low_precision_io enable_memory_optim enable_mkldnn
    enable_mkldnn_bfloat16 enable_mkldnn_int8 enable_new_executor enable_new_ir enable_onednn enable_onednn_bfloat16
    enable_onednn_int8 enable_onnxruntime enable_openvino_engine enable_ort_optimization enable_profile
    enable_save_optim_model enable_tensorrt_dla enable_tensorrt_engine enable_tensorrt_explicit_quantization
    enable_tensorrt_inspector enable_tensorrt_memory_optim enable_tensorrt_varseqlen
    enable_tuned_tensorrt_dynamic_shape exp_disable_mixed_precision_ops exp_disable_tensorrt_dynamic_shape_ops
    exp_disable_tensorrt_ops exp_disable_tensorrt_subgraph exp_enable_mixed_precision_ops exp_enable_use_cutlass
    exp_sparse_conv_using_buffer exp_specify_tensorrt_subgraph_precision mark_trt_engine_outputs set_bfloat16_op
    set_cpu_math_library_num_threads set_mkldnn_cache_capacity set_mkldnn_op set_onednn_cache_capacity set_onednn_op
    set_optim_cache_dir set_optimization_level set_tensorrt_optimization_level set_trt_dynamic_shape_info
    switch_ir_debug switch_ir_optim switch_specify_input_names switch_use_feed_fetch_ops use_optimized_model
""".split()
# Questions about such settings.
_OFF = """
    mkldnn_enabled mkldnn_int8_enabled onednn_enabled onednn_int8_enabled onnxruntime_enabled openvino_engine_enabled
    shape_range_info_collected tensorrt_dla_enabled tensorrt_dynamic_shape_enabled tensorrt_engine_enabled
    tensorrt_explicit_quantization_enabled tensorrt_inspector_enabled tensorrt_varseqlen_enabled
    trt_allow_build_at_runtime tuned_tensorrt_dynamic_shape use_feed_fetch_ops_enabled use_xpu model_from_memory
""".split()
_ON = "ir_optim new_ir_enabled specify_input_name".split()


class Config:
    """The files of a saved program, and where it runs.

    Arguments:
        prog_file: what jit.save was given, with or without the ending .json, or a folder that holds one program.
        params_file: accepted; the program names its weights itself.

    Examples:
        >>> config = Config("models/net")
        >>> config.enable_memory_optim()
        >>> config.prog_file(), config.use_gpu()
        ('models/net.json', False)
    """

    Precision = PrecisionType
    Float32, Int8, Half, Bfloat16 = PrecisionType

    def __init__(self, prog_file: str | None = None, params_file: str | None = None) -> None:
        self._prefix, self._params = "", ""
        self._device: tuple[str, int] = ("cpu", 0)
        self._asked: dict[str, tuple[Any, ...]] = {}
        self._quiet = False
        self._memory_mb = 0
        if prog_file is not None:
            self.set_model(prog_file, params_file)

    # -- files -----------------------------------------------------------------------------------------------------
    def set_model(self, prog_file: str, params_file: str | None = None) -> None:
        """Name the program."""
        self.set_prog_file(prog_file)
        self.set_params_file(params_file or "")

    def set_prog_file(self, path: str) -> None:
        """Name the program.

        Raises:
            ValueError: if a folder holds no program, or several.
        """
        path = os.fspath(path)
        if os.path.isdir(path):
            found = sorted(p for p in Path(path).glob("*.json"))
            if len(found) != 1:
                names = ", ".join(p.name for p in found) or "none"
                raise ValueError(f"Config: folder {path} must hold one saved program (.json), it holds {names}")
            path = str(found[0])
        self._prefix = path.removesuffix(".json").removesuffix(".pdmodel")

    def set_params_file(self, path: str) -> None:
        """Accepted; the program names its weights itself."""
        self._params = path

    def set_model_buffer(self, *args: Any) -> None:
        """Refuse: programs are read from files."""
        raise NotImplementedError("Config.set_model_buffer: programs are read from files; write it to one, and name it")

    def prefix(self) -> str:
        """What jit.save was given."""
        return self._prefix

    def prog_file(self) -> str:
        """The file of the program."""
        return f"{self._prefix}.json"

    def params_file(self) -> str:
        """What was given as file of the weights."""
        return self._params

    def model_dir(self) -> str:
        """The folder of the program."""
        return os.path.dirname(self._prefix)

    # -- device ----------------------------------------------------------------------------------------------------
    def enable_use_gpu(
        self, memory_pool_init_size_mb: int = 100, device_id: int = 0, precision_mode: Any = PrecisionType.Float32
    ) -> None:
        """Run on a GPU."""
        self._device, self._memory_mb = ("gpu", int(device_id)), int(memory_pool_init_size_mb)

    def disable_gpu(self) -> None:
        """Run on the CPU."""
        self._device = ("cpu", 0)

    def enable_custom_device(self, device_type: str, device_id: int = 0, *args: Any) -> None:
        """Run on another kind of device, such as "tpu"."""
        self._device = (device_type, int(device_id))

    def enable_xpu(self, *args: Any, **kwargs: Any) -> None:
        """Refuse: XLA has no such device."""
        raise NotImplementedError("Config.enable_xpu: this framework runs on CPU, GPU and TPU; leave it out")

    enable_ipu = enable_xpu

    def use_gpu(self) -> bool:
        """True if it is to run on a GPU."""
        return self._device[0] == "gpu"

    def gpu_device_id(self) -> int:
        """Number of the GPU."""
        return self._device[1]

    def device(self) -> tuple[str, int]:
        """Kind and number of the device."""
        return self._device

    def memory_pool_init_size_mb(self) -> int:
        """What enable_use_gpu() was given; XLA keeps its own pool."""
        return self._memory_mb

    def cpu_math_library_num_threads(self) -> int:
        """What was asked for; XLA uses all cores."""
        return int(self._asked.get("set_cpu_math_library_num_threads", (1,))[0])

    # -- talk ------------------------------------------------------------------------------------------------------
    def disable_glog_info(self) -> None:
        """Print nothing, which is what happens anyway."""
        self._quiet = True

    def glog_info_disabled(self) -> bool:
        """True after disable_glog_info()."""
        return self._quiet

    def pass_builder(self) -> Config:
        """Itself: passes that are deleted or appended are noted."""
        return self

    def summary(self) -> str:
        """The settings as text: those that act, then those that are only noted."""
        kind, number = self._device
        lines = [f"program: {self.prog_file()}", f"device: {kind}:{number}"]
        lines += [f"noted, no effect: {name}{args}" for name, args in self._asked.items()]
        return "\n".join(lines)


def _noting(name: str) -> Callable[..., None]:
    def method(self: Config, *args: Any, **kwargs: Any) -> None:
        self._asked[name] = (*args, *kwargs.values())

    method.__name__, method.__doc__ = name, "Accepted and noted: XLA decides."
    return method


def _answering(name: str, value: bool) -> Callable[..., bool]:
    def method(self: Config) -> bool:
        return value

    method.__name__, method.__doc__ = name, f"Whether it is on: {value}."
    return method


for _name in _NOTED:
    setattr(Config, _name, _noting(_name))
for _name in _OFF + _ON:
    setattr(Config, _name, _answering(_name, _name in _ON))
