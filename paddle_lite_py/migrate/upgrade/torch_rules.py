"""PyTorch: names whose meaning or arguments differ here. What is not listed keeps its name if there is such a one."""

from __future__ import annotations

import libcst as cst

from .rule import Arguments, Misfit, Rule, code

MODULES = {
    "torch.nn.functional": "paddle.nn.functional",
    "torch.nn.init": "paddle.nn.init",
    "torch.nn.utils": "paddle.nn.utils",
    "torch.nn": "paddle.nn",
    "torch.optim.lr_scheduler": "paddle.optimizer.lr",
    "torch.optim": "paddle.optimizer",
    "torch.utils.data": "paddle.io",
    "torch.autograd": "paddle.autograd",
    "torch.linalg": "paddle.linalg",
    "torch.fft": "paddle.fft",
    "torch.cuda": "paddle.cuda",
    "torch.distributions": "paddle.distribution",
    "torchvision.transforms": "paddle.vision.transforms",
    "torchvision.datasets": "paddle.vision.datasets",
    "torchvision.models": "paddle.vision.models",
    "torchvision": "paddle.vision",
    "torch": "paddle",
}


def _optimizer(args: Arguments) -> None:
    if "betas" in args:
        betas = args.pop("betas")
        if not isinstance(betas, cst.Tuple | cst.List) or len(betas.elements) != 2:
            raise Misfit("betas is not written as two numbers")
        args["beta1"], args["beta2"] = (e.value for e in betas.elements)


def _adam(args: Arguments) -> None:
    _optimizer(args)
    args.setdefault("lr", cst.Float("0.001"))


def _sgd(args: Arguments) -> str | None:
    if "dampening" in args or "maximize" in args:
        raise Misfit("dampening and maximize are not known here")
    return "paddle.optimizer.Momentum" if "momentum" in args else None


def _batch_norm(args: Arguments) -> None:
    """The part of the old statistics, there of the new ones."""
    if "momentum" in args:
        args["momentum"] = cst.parse_expression(f"1 - {code(args['momentum'])}")
    if "affine" in args:
        off = args.pop("affine")
        args["weight_attr"] = args["bias_attr"] = cst.parse_expression(f"None if {code(off)} else False")


def _recurrent(args: Arguments) -> None:
    first = args.pop("batch_first", None)
    args["time_major"] = cst.parse_expression("True" if first is None else f"not {code(first)}")
    if "bidirectional" in args:
        both = args.pop("bidirectional")
        args["direction"] = cst.parse_expression(f'"bidirect" if {code(both)} else "forward"')
    if "bias" in args:
        raise Misfit("bias is given for each weight here: bias_ih_attr, bias_hh_attr")


_LOADER = "dataset batch_size shuffle sampler batch_sampler num_workers collate_fn pin_memory drop_last timeout"
_NORM = {"eps": "epsilon", "track_running_stats": "", "device": "", "dtype": ""}
_INPLACE = {"inplace": ""}
_TRAINED = {"params": "parameters", "lr": "learning_rate", "eps": "epsilon", "nesterov": "use_nesterov", "foreach": "",
            "fused": "", "capturable": ""}  # fmt: skip
STATISTICS = (
    "its running statistics are among parameters() here, with requires_grad False; the running variance is that of the "
    "batch, where PyTorch multiplies it by n / (n - 1)"
)
_BATCH = "num_features eps momentum affine track_running_stats"
_SGD = "params lr momentum dampening weight_decay nesterov"
_RNN = "input_size hidden_size num_layers bias batch_first dropout bidirectional"

RULES: dict[str, Rule] = {
    "torch.nn.Module": Rule("paddle.nn.Layer"),
    "torch.nn.Linear": Rule("paddle.compat.nn.Linear"),  # whose weight is [out, in], as there
    **{f"torch.nn.BatchNorm{n}d": Rule(f"paddle.nn.BatchNorm{n}D", _BATCH, 1, _NORM, _batch_norm,
                                       todo=STATISTICS) for n in (1, 2, 3)},
    "torch.nn.LayerNorm": Rule("paddle.nn.LayerNorm", "normalized_shape eps elementwise_affine", 1, _NORM),
    "torch.nn.GroupNorm": Rule("paddle.nn.GroupNorm", "num_groups num_channels eps affine", 2, _NORM, _batch_norm),
    **{f"torch.nn.{n}": Rule(f"paddle.nn.{n}", "inplace", 0, _INPLACE) for n in ("ReLU", "ReLU6", "SiLU", "Hardswish")},
    "torch.nn.LeakyReLU": Rule("paddle.nn.LeakyReLU", "negative_slope inplace", 1, _INPLACE),
    "torch.nn.Dropout": Rule("paddle.nn.Dropout", "p inplace", 1, _INPLACE),
    "torch.nn.Softmax": Rule("paddle.nn.Softmax", "dim", 1, {"dim": "axis"}),
    "torch.nn.LogSoftmax": Rule("paddle.nn.LogSoftmax", "dim", 1, {"dim": "axis"}),
    **{f"torch.nn.{n}": Rule(f"paddle.nn.{n}", _RNN, 3, {}, _recurrent) for n in ("LSTM", "GRU")},
    **{f"torch.nn.{kind}Pool{n}d": Rule(f"paddle.nn.{kind}Pool{n}D") for n in (1, 2, 3) for kind in
       ("Max", "Avg", "AdaptiveAvg", "AdaptiveMax")},
    "torch.nn.functional.relu": Rule("paddle.nn.functional.relu", "input inplace", 1, {"input": "x", **_INPLACE}),
    "torch.optim.SGD": Rule("paddle.optimizer.SGD", _SGD, 0, _TRAINED, _sgd),
    **{f"torch.optim.{n}": Rule(f"paddle.optimizer.{n}", "params lr betas eps weight_decay amsgrad", 0, _TRAINED, _adam)
       for n in ("Adam", "AdamW")},
    "torch.utils.data.DataLoader": Rule("paddle.io.DataLoader", _LOADER, 1, {"pin_memory": ""}),
    "torch.utils.data.TensorDataset": Rule("paddle.io.TensorDataset", listed=True),
    "torch.utils.data.ConcatDataset": Rule("paddle.io.ConcatDataset"),
    "torch.device": Rule("{0}", todo="devices are named \"cpu\" and \"gpu:0\""),
    "torch.load": Rule("paddle.load", "f map_location", 1, {"map_location": "", "weights_only": ""}),
    "torch.max": Rule("paddle.compat.max"),
    "torch.min": Rule("paddle.compat.min"),
    "torch.sort": Rule("paddle.compat.sort"),
    "torch.median": Rule("paddle.compat.median"),
    "torch.split": Rule("paddle.compat.split"),
    "torch.topk": Rule("paddle.topk", "input k dim largest sorted", 2, {"input": "x", "dim": "axis"}),
    "torch.cuda.manual_seed": Rule("paddle.seed"),
    "torch.cuda.manual_seed_all": Rule("paddle.seed"),
    "torch.linspace": Rule("paddle.linspace", "start end steps", 2, {"end": "stop", "steps": "num"}),
}  # fmt: skip

SCHEDULE = (
    "a schedule is made before the optimizer here and given to it: learning_rate=paddle.optimizer.lr.{}(rate, ...)"
)
TODO = {
    **{f"torch.optim.lr_scheduler.{n}": SCHEDULE.format(n) for n in
       ("StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR", "LambdaLR", "ReduceLROnPlateau", "OneCycleLR")},
    "torch.nn.DataParallel": "one process for each device here: paddle.DataParallel under paddle.distributed.launch",
    "torch.backends": "there is nothing to set: XLA chooses its kernels",
    "torch.compile": "write @paddle.jit.to_static",
    "torch.jit": "write paddle.jit.to_static and paddle.jit.save",
    "torch.autograd.Function": "write paddle.autograd.PyLayer: forward(ctx, ...) and backward(ctx, ...)",
    "torch.utils.tensorboard": "paddle.callbacks.TensorBoard writes what Model.fit finds",
}  # fmt: skip

# Methods that give (values, indices) there.
PAIRS = {"max", "min", "median", "sort"}
