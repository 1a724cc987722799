"""Configuration of a predictor: the files of a program, and the device."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..core.no_effect import KERNELS, Immaterial, no_effect
from ..jit.artifact import is_foreign
from .kinds import PrecisionType

# Settings that are noted, because programs call for them, and have no effect, with the reason.
_NOTED = {
    KERNELS: """
        enable_mkldnn enable_onednn enable_onnxruntime enable_openvino_engine enable_ort_optimization
        exp_enable_use_cutlass exp_sparse_conv_using_buffer set_mkldnn_cache_capacity set_mkldnn_op
        set_onednn_cache_capacity set_onednn_op
    """,
    "XLA compiles the program as it is": """
        delete_pass enable_cinn enable_custom_passes enable_tensorrt_dla enable_tensorrt_engine
        enable_tensorrt_explicit_quantization enable_tensorrt_inspector enable_tensorrt_memory_optim
        enable_tensorrt_varseqlen enable_tuned_tensorrt_dynamic_shape exp_disable_tensorrt_dynamic_shape_ops
        exp_disable_tensorrt_ops exp_disable_tensorrt_subgraph exp_specify_tensorrt_subgraph_precision
        mark_trt_engine_outputs set_optimization_level set_tensorrt_optimization_level set_trt_dynamic_shape_info
    """,
    "enable_use_gpu() and enable_custom_device() take the precision": """
        enable_mkldnn_bfloat16 enable_mkldnn_int8 enable_onednn_bfloat16 enable_onednn_int8
        exp_disable_mixed_precision_ops exp_enable_mixed_precision_ops set_bfloat16_op
    """,
    "inputs and outputs have the dtypes that the program says": "enable_low_precision_io",
    "XLA computes with all cores": "set_cpu_math_library_num_threads",
    "paddle.profiler and paddle.passes show what runs": "collect_shape_range_info enable_profile switch_ir_debug",
    "compiled programs are kept in the user's cache": "enable_save_optim_model set_optim_cache_dir use_optimized_model",
    Immaterial("that is how programs run"): """
        disable_mkldnn disable_mkldnn_fc_passes disable_onednn disable_onednn_fc_passes disable_onnxruntime
        enable_memory_optim enable_new_executor enable_new_ir switch_specify_input_names switch_use_feed_fetch_ops
    """,
}
# Questions about such settings.
_OFF = """
    mkldnn_enabled mkldnn_int8_enabled onednn_enabled onednn_int8_enabled onnxruntime_enabled openvino_engine_enabled
    shape_range_info_collected tensorrt_dla_enabled tensorrt_dynamic_shape_enabled tensorrt_engine_enabled
    tensorrt_explicit_quantization_enabled tensorrt_inspector_enabled tensorrt_varseqlen_enabled
    trt_allow_build_at_runtime tuned_tensorrt_dynamic_shape use_feed_fetch_ops_enabled use_xpu model_from_memory
""".split()
_ON = "new_ir_enabled specify_input_name".split()


class Config:
    """Configuration of a predictor: the files of a saved program, and the device.

    Arguments:
        prog_file: path given to jit.save(), with or without ".json", or a folder.
        params_file: file of the weights, with the same name except for the extension; for a folder, the name of its
            program without extension, which may be left out if there is only one.

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
        self._quiet, self._folds = False, True
        self._memory_mb, self._precision = 0, PrecisionType.Float32
        if prog_file is not None:
            self.set_model(prog_file, params_file)

    # -- files -----------------------------------------------------------------------------------------------------
    def set_model(self, prog_file: str, params_file: str | None = None) -> None:
        """Set the program, and optionally the file of the weights; or a folder, and the name of its files."""
        if params_file and os.path.isdir(prog_file) and not os.path.isfile(params_file):
            prog_file, params_file = os.path.join(prog_file, params_file), None
        self.set_prog_file(prog_file)
        self.set_params_file(params_file or "")

    def set_prog_file(self, path: str) -> None:
        """Set the program.

        Raises:
            ValueError: if a folder contains no program, or several.
        """
        path = os.fspath(path)
        if os.path.isdir(path):
            path = self._only(path)
        self._prefix = path.removesuffix(".json").removesuffix(".pdmodel")

    @staticmethod
    def _only(folder: str) -> str:
        """Return the program in a folder."""
        found = sorted([*Path(folder).glob("*.json"), *Path(folder).glob("*.pdmodel"), *Path(folder).glob("__model__")])
        if len(found) != 1:
            names = ", ".join(p.name for p in found) or "none"
            raise ValueError(
                f"Config: folder {folder} must hold one saved program (.json, .pdmodel, __model__), it holds {names}"
            )
        return str(found[0])

    def set_params_file(self, path: str) -> None:
        """Set the file of the weights.

        It is next to the program, with the same name except for the extension; for PaddlePaddle's model files it may
        lie elsewhere.
        """
        self._params = os.fspath(path)

    def set_model_buffer(self, *args: Any) -> None:
        """Not supported: programs are read from files."""
        raise NotImplementedError("Config.set_model_buffer: programs are read from files; write it to one, and name it")

    def prefix(self) -> str:
        """Path without extension, as given to jit.save().

        Raises:
            ValueError: if the file of the weights belongs to another program.
        """
        if self._params and not self._params.startswith(f"{self._prefix}.") and not is_foreign(self._prefix):
            raise ValueError(
                f"Config: params_file is {self._params}, but the weights of {self._prefix}.json are next to it and "
                "begin with its name; save the program with the weights that are wanted"
            )
        return self._prefix

    def prog_file(self) -> str:
        """Return the file of the program."""
        return f"{self._prefix}.json"

    def params_file(self) -> str:
        """Return the file of the weights."""
        return self._params

    def model_dir(self) -> str:
        """Return the folder of the program."""
        return os.path.dirname(self._prefix)

    # -- device ----------------------------------------------------------------------------------------------------
    @no_effect(memory_pool_init_size_mb="XLA keeps a pool of its own")
    def enable_use_gpu(
        self, memory_pool_init_size_mb: int = 100, device_id: int = 0, precision_mode: Any = PrecisionType.Float32
    ) -> None:
        """Run on a GPU.

        Arguments:
            memory_pool_init_size_mb: accepted for compatibility; XLA manages its own memory pool. Default: 100.
            device_id: index of the GPU. Default: 0.
            precision_mode: PrecisionType.Half or Bfloat16: compute in this precision where that is safe.

        Raises:
            NotImplementedError: for Int8.
        """
        self._device, self._memory_mb = ("gpu", int(device_id)), int(memory_pool_init_size_mb)
        self._set_precision(precision_mode)

    def _set_precision(self, mode: PrecisionType) -> None:
        if mode is PrecisionType.Int8:
            raise NotImplementedError("Config: precision_mode Int8 is not available; quantize with paddle.quantization")
        self._precision = PrecisionType(mode)

    def precision(self) -> PrecisionType:
        """Return the precision of the computation."""
        return self._precision

    def disable_gpu(self) -> None:
        """Run on the CPU."""
        self._device = ("cpu", 0)

    def enable_custom_device(
        self, device_type: str, device_id: int = 0, precision_mode: Any = PrecisionType.Float32
    ) -> None:
        """Run on another kind of device, such as "tpu"; see enable_use_gpu()."""
        self._device = (device_type, int(device_id))
        self._set_precision(precision_mode)

    def enable_xpu(self, *args: Any, **kwargs: Any) -> None:
        """Not supported: XLA has no such device."""
        raise NotImplementedError("Config.enable_xpu: this framework runs on CPU, GPU and TPU; leave it out")

    enable_ipu = enable_xpu

    def use_gpu(self) -> bool:
        """Return whether the predictor runs on a GPU."""
        return self._device[0] == "gpu"

    def gpu_device_id(self) -> int:
        """Return the index of the GPU."""
        return self._device[1]

    def device(self) -> tuple[str, int]:
        """Return the kind and index of the device."""
        return self._device

    def memory_pool_init_size_mb(self) -> int:
        """Return the value given to enable_use_gpu(); XLA manages its own memory pool."""
        return self._memory_mb

    def cpu_math_library_num_threads(self) -> int:
        """Return the number of threads that was set; XLA uses all cores."""
        return int(self._asked.get("set_cpu_math_library_num_threads", (1,))[0])

    # -- talk ------------------------------------------------------------------------------------------------------
    def disable_glog_info(self) -> None:
        """Do nothing; no log is printed."""
        self._quiet = True

    def glog_info_disabled(self) -> bool:
        """Return whether disable_glog_info() was called."""
        return self._quiet

    def switch_ir_optim(self, x: bool = True) -> None:
        """Set whether batch normalization is folded into the weights before it; XLA optimizes every program.

        Arguments:
            x: whether it is. A predictor that does not fold loads faster, and gives what jit.load() gives, bit by bit.
        """
        self._folds = x

    def ir_optim(self) -> bool:
        """Return whether batch normalization is folded into the weights before it. Default: True."""
        return self._folds

    def pass_builder(self) -> Config:
        """Return the configuration itself; deleted and appended passes are recorded without effect."""
        return self

    def summary(self) -> str:
        """Return the settings as text: those in effect, then those without effect."""
        kind, number = self._device
        lines = [f"program: {self.prog_file()}", f"device: {kind}:{number}", f"precision: {self._precision.name}"]
        lines += [f"noted, no effect: {name}{args}" for name, args in self._asked.items()]
        return "\n".join(lines)


def _noting(name: str, reason: str) -> Callable[..., None]:
    def method(self: Config, *args: Any, **kwargs: Any) -> None:
        self._asked[name] = (*args, *kwargs.values())

    method.__name__, method.__qualname__, method.__doc__ = name, f"Config.{name}", f"Noted, and no more: {reason}."
    return no_effect(reason)(method)


def _answering(name: str, value: bool) -> Callable[..., bool]:
    def method(self: Config) -> bool:
        return value

    method.__name__, method.__doc__ = name, f"Whether it is on: {value}."
    return method


for _reason, _names in _NOTED.items():
    for _name in _names.split():
        setattr(Config, _name, _noting(_name, _reason))
for _name in _OFF + _ON:
    setattr(Config, _name, _answering(_name, _name in _ON))
