"""Paddle 1.x: what the names of paddle.fluid became."""

from __future__ import annotations

import libcst as cst

from .rule import Arguments, Misfit, Rule, code, text_of

MODULES = {
    "paddle.fluid.dygraph": "paddle.base.dygraph",
    "paddle.fluid.initializer": "paddle.nn.initializer",
    "paddle.fluid.optimizer": "paddle.optimizer",
    "paddle.fluid.regularizer": "paddle.regularizer",
    "paddle.fluid.io": "paddle.static",
    "paddle.fluid.layers": "paddle.static.nn",
    "paddle.fluid.core": "paddle.framework.core",
    "paddle.fluid.framework": "paddle.base.framework",
    "paddle.fluid.executor": "paddle.static",
    "paddle.fluid.unique_name": "paddle.utils.unique_name",
    "paddle.fluid": "paddle.static",
}

LAYERS = {"relu": "ReLU", "tanh": "Tanh", "sigmoid": "Sigmoid", "softmax": "Softmax", "leaky_relu": "LeakyReLU"}


def _with_activation(args: Arguments) -> str:
    """Return a layer followed by its activation."""
    act = args.get("act")
    if act is None or (isinstance(act, cst.Name) and act.value == "None"):
        return ""
    name = text_of(act)
    if name not in LAYERS:
        raise Misfit("the activation is not written as a known text")
    return f"paddle.nn.Sequential({{}}, paddle.nn.{LAYERS[name]}())"


def _pool(args: Arguments, static: bool) -> str:
    """Pooling by its kind."""
    kind = text_of(args.pop("pool_type", None)) or "max"
    glob = args.pop("global_pooling", None)
    if glob is not None and getattr(glob, "value", "") != "False":
        for name in ("pool_size", "pool_stride", "pool_padding"):
            args.pop(name, None)
        args["output_size"] = cst.Integer("1")
        kind = f"adaptive_{kind}"
    if static:
        if "output_size" not in args:
            args.setdefault("pool_stride", cst.Integer("1"))
        return f"paddle.nn.functional.{kind}_pool2d"
    if "output_size" not in args:
        args.setdefault("pool_stride", cst.Integer("1"))
    return "paddle.nn." + "".join(part.title() for part in kind.split("_")) + "Pool2D"


_SCALING = {
    "downgrade_in_infer": "downscale_in_infer",
    "upscale_in_train": "upscale_in_train",
}


def _dropout(args: Arguments) -> None:
    """Elements were scaled in inference, unless it was said otherwise."""
    how = args.pop("dropout_implementation", None)
    text = "downgrade_in_infer" if how is None else text_of(how)
    if text not in _SCALING:
        raise Misfit("dropout_implementation is not written as a known text")
    if (is_test := args.pop("is_test", None)) is not None:
        args["training"] = cst.parse_expression(f"not ({code(is_test)})")
    args["mode"] = cst.SimpleString(f'"{_SCALING[text]}"')


def _batch_first(args: Arguments) -> None:
    """Shapes there were those of one sample, unless it was said otherwise."""
    whole = args.pop("append_batch_size", None)
    shape = args.get("shape")
    if (whole is None or getattr(whole, "value", "") != "False") and isinstance(shape, cst.List | cst.Tuple):
        elements = [cst.Element(cst.parse_expression("-1")), *shape.elements]
        args["shape"] = cst.List([e.with_changes(comma=cst.MaybeSentinel.DEFAULT) for e in elements])


def _is_uniform(args: Arguments) -> bool:
    return getattr(args.pop("uniform", None), "value", "True") != "False"


def _xavier(args: Arguments) -> str:
    return f"paddle.nn.initializer.Xavier{'Uniform' if _is_uniform(args) else 'Normal'}"


def _kaiming(args: Arguments) -> str:
    return f"paddle.nn.initializer.Kaiming{'Uniform' if _is_uniform(args) else 'Normal'}"


def _per_sample(args: Arguments) -> None:
    """Of probabilities, and for each sample."""
    args["use_softmax"], args["reduction"] = cst.Name("False"), cst.SimpleString('"none"')


_ATTR = {"param_attr": "weight_attr", "act": "", "use_cudnn": "", "dtype": ""}
_TRAINED = {"parameter_list": "parameters", "regularization": "weight_decay"}
_CONV = "num_channels num_filters filter_size stride padding dilation groups param_attr bias_attr use_cudnn act dtype"
_OPTIMIZERS = {
    "SGD": "learning_rate", "Adagrad": "learning_rate epsilon", "Adam": "learning_rate beta1 beta2 epsilon",
    "Adamax": "learning_rate beta1 beta2 epsilon", "Momentum": "learning_rate momentum",
}  # fmt: skip
_DRAWN = {"seed": "", "force_cpu": "", "loc": "mean", "scale": "std"}
_INITIALIZERS: dict[str, tuple[str, str, dict[str, str]]] = {
    "Constant": ("Constant", "value force_cpu", {}),
    "Normal": ("Normal", "loc scale seed", {}),
    "TruncatedNormal": ("TruncatedNormal", "loc scale seed", {}),
    "Uniform": ("Uniform", "low high seed", {}),
    "NumpyArray": ("Assign", "value", {}),
}
_POOL = {"pool_size": "kernel_size", "pool_stride": "stride", "pool_padding": "padding", "use_cudnn": ""}
_POOLED = "pool_size pool_type pool_stride pool_padding global_pooling use_cudnn ceil_mode"


def _same(names: str, to: str, **kwargs: str) -> dict[str, Rule]:
    """Names that only lie elsewhere now."""
    return {f"paddle.fluid.layers.{n}": Rule(f"{to}.{n}", names=kwargs) for n in names.split()}


def _reduction(name: str) -> Rule:
    return Rule(f"paddle.{name.removeprefix('reduce_')}", "input dim keep_dim name", 1,
                {"input": "x", "dim": "axis", "keep_dim": "keepdim"})  # fmt: skip


RULES: dict[str, Rule] = {
    "paddle.fluid.data": Rule("paddle.static.data"),
    "paddle.fluid.layers.data": Rule(
        "paddle.static.data", "name shape append_batch_size dtype lod_level type stop_gradient", 1,
        {"type": "", "stop_gradient": ""}, _batch_first),
    "paddle.fluid.layers.fc": Rule(
        "paddle.static.nn.fc", "input size num_flatten_dims param_attr bias_attr act name", 2,
        {"input": "x", "param_attr": "weight_attr", "act": "activation"}),
    "paddle.fluid.layers.embedding": Rule("paddle.static.nn.embedding"),
    "paddle.fluid.embedding": Rule("paddle.static.nn.embedding"),
    "paddle.fluid.layers.conv2d": Rule("paddle.static.nn.conv2d"),
    "paddle.fluid.layers.batch_norm": Rule("paddle.static.nn.batch_norm"),
    "paddle.fluid.layers.pool2d": Rule("", "input " + _POOLED, 1, {"input": "x", **_POOL}, lambda a: _pool(a, True)),
    "paddle.fluid.layers.cross_entropy": Rule(
        "paddle.nn.functional.cross_entropy", "input label soft_label ignore_index", 2, {}, _per_sample),
    "paddle.fluid.layers.softmax_with_cross_entropy": Rule(
        "paddle.nn.functional.softmax_with_cross_entropy"),
    "paddle.fluid.layers.square_error_cost": Rule("paddle.nn.functional.square_error_cost"),
    "paddle.fluid.layers.mean": Rule("paddle.mean"),
    "paddle.fluid.layers.accuracy": Rule("paddle.static.accuracy"),
    "paddle.fluid.layers.relu": Rule("paddle.nn.functional.relu", "x name", 1),
    "paddle.fluid.layers.softmax": Rule("paddle.nn.functional.softmax", "input use_cudnn name axis", 1,
                                        {"input": "x", "use_cudnn": ""}),
    "paddle.fluid.layers.dropout": Rule(
        "paddle.nn.functional.dropout", "x dropout_prob is_test seed name dropout_implementation", 1,
        {"dropout_prob": "p", "seed": ""}, _dropout),
    **{f"paddle.fluid.dygraph.{n}Dropout": Rule(
        "paddle.nn.Dropout", "p seed dropout_implementation is_test", 1, {"seed": "", "training": ""}, _dropout)
       for n in ("", "nn.")},
    "paddle.fluid.layers.fill_constant": Rule("paddle.full", "shape dtype value", 1, {"value": "fill_value"}),
    "paddle.fluid.layers.reshape": Rule("paddle.reshape", "x shape actual_shape act inplace name", 2,
                                        {"actual_shape": "", "inplace": ""}),
    "paddle.fluid.layers.concat": Rule("paddle.concat", "input axis name", 2, {"input": "x"}),
    "paddle.fluid.layers.cast": Rule("paddle.cast"),
    "paddle.fluid.layers.transpose": Rule("paddle.transpose"),
    "paddle.fluid.layers.matmul": Rule("paddle.matmul"),
    **{f"paddle.fluid.layers.elementwise_{n}": Rule(f"paddle.{m}") for n, m in
       (("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("div", "divide"), ("max", "maximum"))},
    **{f"paddle.fluid.layers.{n}": _reduction(n) for n in
       ("reduce_mean", "reduce_sum", "reduce_max", "reduce_min", "reduce_prod")},
    "paddle.fluid.layers.unsqueeze": Rule("paddle.unsqueeze", "input axes name", 2, {"input": "x", "axes": "axis"}),
    "paddle.fluid.layers.squeeze": Rule("paddle.squeeze", "input axes name", 2, {"input": "x", "axes": "axis"}),
    "paddle.fluid.layers.shape": Rule("paddle.shape", "input", 1),
    "paddle.fluid.layers.expand": Rule("paddle.tile", "x expand_times name", 2, {"expand_times": "repeat_times"}),
    "paddle.fluid.layers.sums": Rule("paddle.add_n({input})", "input", template=True),
    "paddle.fluid.layers.cos_sim": Rule(
        "paddle.nn.functional.cosine_similarity({X}, {Y}).unsqueeze(1)", "X Y", template=True),
    "paddle.fluid.layers.sigmoid_cross_entropy_with_logits": Rule(
        "paddle.nn.functional.binary_cross_entropy_with_logits({x}, {label}, reduction='none')", "x label",
        template=True),
    "paddle.fluid.layers.sequence_mask": Rule("paddle.nn.functional.sequence_mask"),
    "paddle.fluid.io.batch": Rule("paddle.batch"),
    "paddle.fluid.io.shuffle": Rule("paddle.reader.shuffle"),
    "paddle.fluid.nets.simple_img_conv_pool": Rule("paddle.base.older.simple_img_conv_pool"),
    "paddle.fluid.clip.GradientClipByGlobalNorm": Rule("paddle.nn.ClipGradByGlobalNorm"),
    "paddle.fluid.clip.GradientClipByNorm": Rule("paddle.nn.ClipGradByNorm"),
    "paddle.fluid.clip.GradientClipByValue": Rule("paddle.nn.ClipGradByValue", "max min"),
    **_same("exp log sqrt square abs tanh sigmoid argmax scale clip gather stack zeros ones", "paddle"),
    # -- imperative ----------------------------------------------------------------------------------------------
    "paddle.fluid.dygraph.Layer": Rule("paddle.nn.Layer"),
    "paddle.fluid.dygraph.Sequential": Rule("paddle.nn.Sequential"),
    "paddle.fluid.dygraph.LayerList": Rule("paddle.nn.LayerList"),
    "paddle.fluid.dygraph.to_variable": Rule("paddle.to_tensor", "value name", 1, {"name": ""}),
    "paddle.fluid.dygraph.no_grad": Rule("paddle.no_grad"),
    **{f"paddle.fluid.{room}{n}": Rule(f"paddle.base.older.{n}") for room in ("", "dygraph.")
       for n in ("save_dygraph", "load_dygraph")},
    **{f"paddle.fluid.io.{n}": Rule(f"paddle.base.older.{n}")
       for n in ("save_inference_model", "load_inference_model")},
    "paddle.fluid.DataFeeder": Rule("paddle.base.DataFeeder"),
    "paddle.fluid.dygraph.Linear": Rule(
        "paddle.nn.Linear", "input_dim output_dim param_attr bias_attr act dtype", 2,
        {"input_dim": "in_features", "output_dim": "out_features", **_ATTR}, after=_with_activation),
    "paddle.fluid.dygraph.Conv2D": Rule(
        "paddle.nn.Conv2D", _CONV, 3,
        {"num_channels": "in_channels", "num_filters": "out_channels", "filter_size": "kernel_size", **_ATTR},
        after=_with_activation),
    "paddle.fluid.dygraph.Pool2D": Rule("", _POOLED, 1, _POOL, lambda a: _pool(a, False)),
    "paddle.fluid.dygraph.BatchNorm": Rule(
        "paddle.nn.BatchNorm", "num_channels act is_test momentum epsilon param_attr", 1, {"is_test": ""}),
    "paddle.fluid.dygraph.Embedding": Rule(
        "paddle.nn.Embedding", todo="size=[n, d] is num_embeddings and embedding_dim now"),
    # -- optimizers ----------------------------------------------------------------------------------------------
    **{f"paddle.fluid.optimizer.{n}{tail}": Rule(f"paddle.optimizer.{n}", order, 1, _TRAINED) for n, order in
       _OPTIMIZERS.items() for tail in ("", "Optimizer")},
    "paddle.fluid.regularizer.L2DecayRegularizer": Rule("paddle.regularizer.L2Decay", "regularization_coeff", 1,
                                                        {"regularization_coeff": "coeff"}),
    **{f"paddle.fluid.initializer.{old}{tail}": Rule(f"paddle.nn.initializer.{new}", order, 1, {**_DRAWN, **dropped})
       for old, (new, order, dropped) in _INITIALIZERS.items() for tail in ("", "Initializer")},
    "paddle.fluid.initializer.Xavier": Rule("", "uniform fan_in fan_out seed", 0, {"seed": ""}, _xavier),
    "paddle.fluid.initializer.XavierInitializer": Rule("", "uniform fan_in fan_out seed", 0, {"seed": ""}, _xavier),
    "paddle.fluid.initializer.MSRA": Rule("", "uniform fan_in seed", 0, {"seed": ""}, _kaiming),
    "paddle.fluid.initializer.MSRAInitializer": Rule("", "uniform fan_in seed", 0, {"seed": ""}, _kaiming),
    # -- running -------------------------------------------------------------------------------------------------
    **{f"paddle.fluid.{n}": Rule(f"paddle.{n}") for n in ("CPUPlace", "CUDAPlace", "ParamAttr")},
    "paddle.fluid.in_dygraph_mode": Rule("paddle.in_dynamic_mode"),
    "paddle.fluid.is_compiled_with_cuda": Rule("paddle.is_compiled_with_cuda"),
    "paddle.fluid.core.is_compiled_with_cuda": Rule("paddle.is_compiled_with_cuda"),
    "paddle.fluid.dygraph.guard": Rule("paddle.base.dygraph.guard"),
}  # fmt: skip

TODO = {
    "paddle.fluid.layers.While": "write paddle.static.nn.while_loop(cond, body, loop_vars)",
    "paddle.fluid.layers.py_reader": "give a paddle.io.DataLoader",
    "paddle.fluid.ParallelExecutor": "write paddle.static.Executor; XLA uses all cores",
    "paddle.dataset": "see paddle.vision.datasets and paddle.text",
}
