"""What programs of Paddle 1.x call to write and read models, with the arguments of that time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..core.no_effect import Immaterial, no_effect
from ..eager.tensor import Tensor
from ..framework import Parameter
from ..framework.io import load, save
from ..nn import functional as F
from ..static import default_main_program
from ..static import nn as static_nn
from ..static.program import Program
from ..static.saving import load_inference_model as _load_inference_model
from ..static.saving import save_inference_model as _save_inference_model

__all__ = ["load_dygraph", "load_inference_model", "save_dygraph", "save_inference_model", "simple_img_conv_pool"]
_ONE_NAME = Immaterial("the weights take the name of the program's file")
_MODEL = "model"  # the name of the files in the folder where none was given


def save_dygraph(state_dict: dict[str, Any], model_path: str) -> None:
    """Save the state of a layer as `model_path.pdparams`, or that of an optimizer as `model_path.pdopt`.

    Args:
        state_dict: of a layer or an optimizer.
        model_path: path without extension.

    Raises:
        ValueError: state_dict is empty.

    Examples:
        >>> import paddle_lite_py as paddle, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> save_dygraph(paddle.nn.Linear(2, 1).state_dict(), folder + "/net")
        >>> sorted(load_dygraph(folder + "/net")[0])
        ['bias', 'weight']
    """
    if not state_dict:
        raise ValueError("save_dygraph: state_dict is empty; expected that of a layer or an optimizer")
    of_layer = any(isinstance(value, Parameter) for value in state_dict.values())
    save(state_dict, model_path + (".pdparams" if of_layer else ".pdopt"))


def load_dygraph(model_path: str) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Load what save_dygraph() wrote: the state of a layer, and that of an optimizer; None where there is no file.

    Args:
        model_path: path, with or without the extension.

    Raises:
        FileNotFoundError: neither file is there.
    """
    prefix = model_path.removesuffix(".pdparams").removesuffix(".pdopt")
    of_layer, of_optimizer = (f"{prefix}{end}" for end in (".pdparams", ".pdopt"))
    if not os.path.exists(of_layer) and not os.path.exists(of_optimizer):
        raise FileNotFoundError(f"load_dygraph: there is neither {of_layer} nor {of_optimizer}")
    found = [load(path) if os.path.exists(path) else None for path in (of_layer, of_optimizer)]
    return found[0], found[1]


def _prefix(dirname: str, model_filename: str | None) -> str:
    return os.path.join(dirname, os.path.splitext(model_filename or _MODEL)[0])


@no_effect(params_filename=_ONE_NAME)
def save_inference_model(
    dirname: str, feeded_var_names: Sequence[str], target_vars: Sequence[Any], executor: Any,
    main_program: Program | None = None, model_filename: str | None = None, params_filename: str | None = None,
) -> list[str]:  # fmt: skip
    """Save the part of a program that computes some variables, as paddle.static.save_inference_model().

    Args:
        dirname: folder of the files.
        feeded_var_names: names of the placeholders that are fed.
        target_vars: the variables that are computed.
        executor: what ran the program.
        main_program: Default: the default main program.
        model_filename: name of the file of the program. Default: "model".
        params_filename: no effect: the weights take the name of the program's file.

    Returns:
        The names of the variables that are computed.
    """
    program = main_program or default_main_program()
    block = program.global_block()
    os.makedirs(dirname, exist_ok=True)
    feeds = [block.var(name) for name in feeded_var_names]
    _save_inference_model(_prefix(dirname, model_filename), feeds, list(target_vars), executor, program=program)
    return [v.name for v in target_vars]


@no_effect(params_filename=_ONE_NAME)
def load_inference_model(
    dirname: str, executor: Any, model_filename: str | None = None, params_filename: str | None = None
) -> list[Any]:
    """Load what save_inference_model() wrote: the program, the names of its feeds, and its results.

    Args:
        dirname: folder of the files.
        executor: what will run the program.
        model_filename: as it was saved.
        params_filename: no effect: the weights take the name of the program's file.
    """
    return _load_inference_model(_prefix(dirname, model_filename), executor)


@no_effect(use_cudnn=Immaterial("XLA chooses how it convolves"))
def simple_img_conv_pool(
    input: Tensor, num_filters: int, filter_size: int, pool_size: int, pool_stride: int, pool_padding: int = 0,
    pool_type: str = "max", global_pooling: bool = False, conv_stride: int = 1, conv_padding: int = 0,
    conv_dilation: int = 1, conv_groups: int = 1, param_attr: Any = None, bias_attr: Any = None,
    act: str | None = None, use_cudnn: bool = True,
) -> Tensor:  # fmt: skip
    """Convolve pictures, then pool them, in a static program.

    Args:
        input: pictures [n, c, h, w].
        num_filters, filter_size, conv_stride, conv_padding, conv_dilation, conv_groups: of the convolution.
        pool_size, pool_stride, pool_padding: of the pooling.
        pool_type: "max" or "avg".
        global_pooling: pool whole pictures.
        param_attr, bias_attr: attributes of the parameters.
        act: the name of an activation.

    Raises:
        ValueError: pool_type is another text.
    """
    if pool_type not in ("max", "avg"):
        raise ValueError(f"simple_img_conv_pool: pool_type is {pool_type!r}; expected 'max' or 'avg'")
    layers: Any = static_nn  # whose functions are looked up by name
    x = layers.conv2d(
        input, num_filters, filter_size, conv_stride, conv_padding, conv_dilation, conv_groups, param_attr, bias_attr,
        act=act,
    )  # fmt: skip
    if global_pooling:
        return (F.adaptive_max_pool2d if pool_type == "max" else F.adaptive_avg_pool2d)(x, 1)
    return (F.max_pool2d if pool_type == "max" else F.avg_pool2d)(x, pool_size, pool_stride, pool_padding)
