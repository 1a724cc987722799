"""PyTorch: names whose meaning or arguments differ here. What is not listed keeps its name if there is such a one."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from .rule import Arguments, Misfit, Rule, code
from .torch_table import read

MODULES = {
    "torch.backends": "paddle.compat.backends",
    "torch.nn.functional": "paddle.nn.functional",
    "torch.nn.init": "paddle.nn.init",
    "torch.nn.utils": "paddle.nn.utils",
    **{f"torch.nn.utils.{n}": f"paddle.compat.nn.utils.{n}" for n in ("parametrizations", "parametrize")},
    "torch.nn": "paddle.nn",
    "torch.optim.lr_scheduler": "paddle.compat.optim.lr_scheduler",
    "torch.optim": "paddle.optimizer",
    "torch.utils.data": "paddle.io",
    "torch.utils.checkpoint": "paddle.distributed.fleet.utils",
    "torch.utils._pytree": "paddle.compat.pytree",
    "torch.func": "paddle.compat.func",
    "torch.utils.tensorboard": "paddle.compat.tensorboard",
    "torch.autograd": "paddle.autograd",
    "torch.linalg": "paddle.linalg",
    "torch.fft": "paddle.fft",
    "torch.cuda": "paddle.cuda",
    "torch.distributions": "paddle.distribution",
    "torch.distributed": "paddle.distributed",
    "torch.multiprocessing": "paddle.incubate.multiprocessing",
    "torch.profiler": "paddle.profiler",
    "torch.sparse": "paddle.sparse",
    "torchvision.transforms": "paddle.vision.transforms",
    "torchvision.datasets": "paddle.vision.datasets",
    "torchvision.utils": "paddle.compat.torchvision",
    "torchvision.models": "paddle.vision.models",
    "torchvision": "paddle.vision",
    "torch": "paddle",
}


def _with(**defaults: float) -> Callable[[Arguments], None]:
    """Writes defaults there that differ from those here."""

    def edit(args: Arguments) -> None:
        for name, value in defaults.items():
            args.setdefault(name, cst.parse_expression(repr(value)))

    return edit


def _optimizer(args: Arguments) -> None:
    if "betas" in args:
        betas = args.pop("betas")
        if isinstance(betas, cst.Name | cst.Attribute):
            args["beta1"], args["beta2"] = (cst.parse_expression(f"{code(betas)}[{i}]") for i in range(2))
            return
        if not isinstance(betas, cst.Tuple | cst.List) or len(betas.elements) != 2:
            raise Misfit("betas is not written as two numbers")
        args["beta1"], args["beta2"] = (e.value for e in betas.elements)


def _adam(args: Arguments) -> None:
    _optimizer(args)
    _with(lr=0.001)(args)


def _adamax(args: Arguments) -> None:
    _optimizer(args)
    _with(lr=0.002)(args)


def _adagrad(args: Arguments) -> None:
    if "lr_decay" in args:
        raise Misfit("lr_decay is not known here: use a schedule")
    _with(lr=0.01, eps=1e-10)(args)


def _sgd(args: Arguments) -> str | None:
    if "dampening" in args or "maximize" in args:
        raise Misfit("dampening and maximize are not known here")
    return "paddle.optimizer.Momentum" if "momentum" in args else None


def _loader(args: Arguments) -> None:
    """With batches of a sampler, where there is one, and that of a generator."""
    generator, shuffled = args.pop("generator", None), code(args.get("shuffle", cst.Name("False")))
    if generator is not None and "sampler" not in args and "batch_sampler" not in args and shuffled != "False":
        drawn = f"paddle.io.RandomSampler({code(args['dataset'])}, generator={code(generator)})"
        args["sampler"] = cst.parse_expression(drawn if shuffled == "True" else f"({drawn} if {shuffled} else None)")
    if "sampler" not in args:
        return
    given = args.pop("sampler")
    sampler, is_one = code(given), isinstance(given, cst.Call)
    settings = {k: code(args.pop(k)) for k in ("batch_size", "shuffle", "drop_last") if k in args}
    named = "".join([f", {k}={v}" for k, v in settings.items() if k != "shuffle"])
    batches = f"paddle.io.BatchSampler(sampler={sampler}{named})"
    args["batch_sampler"] = cst.parse_expression(batches if is_one else f"None if {sampler} is None else {batches}")
    for name, value in settings.items() if not is_one else ():
        args[name] = cst.parse_expression(f"{value} if {sampler} is None else {1 if name == 'batch_size' else False}")


def _model(args: Arguments) -> None:
    """Without weights of PyTorch's."""
    for name in ("weights", "pretrained"):
        if code(args.pop(name, cst.Name("None"))) not in ("None", "False"):
            raise Misfit(f"weights of PyTorch are not known here: load them with set_state_dict(); {name} is not None")
    args.pop("progress", None)


def _normalized(args: Arguments) -> None:
    """With batch normalization, which is in the name there."""
    _model(args)
    args["batch_norm"] = cst.parse_expression("True")


def _affine(args: Arguments) -> None:
    """With weight and bias, or without both."""
    if "affine" in args:
        off = args.pop("affine")
        args["weight_attr"] = args["bias_attr"] = cst.parse_expression(f"None if {code(off)} else False")


def _synchronized(args: Arguments) -> None:
    """The part of the old statistics, there of the new ones."""
    if "momentum" in args:
        args["momentum"] = cst.parse_expression(f"1 - {code(args['momentum'])}")
    _affine(args)


def _grouped(args: Arguments) -> None:
    """With groups of parameters as they are written here, where there may be such."""
    params = args.get("params")
    called = code(params.func).rpartition(".")[2] if isinstance(params, cst.Call) else ""
    if params is not None and called not in ("parameters", "filter", "list", "chain") and "lr" in args:
        args["params"] = cst.parse_expression(f"paddle.compat.optim.groups({code(params)}, {code(args['lr'])})")


def _with_groups(edit: Callable[[Arguments], str | None] | None) -> Callable[[Arguments], str | None]:
    def both(args: Arguments) -> str | None:
        new = edit(args) if edit is not None else None
        _grouped(args)
        return new

    return both


def _chosen(where: cst.BaseExpression) -> str | None:
    """Return the text of an argument inplace, "" if it is True, None if it is False."""
    return {"False": None, "True": ""}.get(code(where), f", {code(where)}")


def _layer_in_place(args: Arguments) -> str:
    more = _chosen(args["inplace"]) if "inplace" in args else None
    return "" if more is None else f"paddle.compat.nn.in_place({{}}{more})"


def _function_in_place(args: Arguments) -> str:
    """Return the call that writes into the input; a value that is used once needs none."""
    x, more = args["input"], _chosen(args["inplace"]) if "inplace" in args else None
    if more is None or not isinstance(x, cst.Name | cst.Attribute | cst.Subscript):
        return ""
    return f"paddle.compat.nn.functional.in_place({code(x)}, {{}}{more})"


def _average(args: Arguments) -> None:
    """With what is padded, by default, there."""
    counted = args.pop("count_include_pad", cst.Name("True"))
    args["exclusive"] = cst.parse_expression(f"not {code(counted)}")


def _data_set(args: Arguments) -> None:
    """Files are found in the cache here, and the part is named."""
    if "target_transform" in args:
        raise Misfit("target_transform is not known here")
    if "train" in args:
        args["mode"] = cst.parse_expression(f'"train" if {code(args.pop("train"))} else "test"')


def _one_momentum(args: Arguments) -> None:
    """A schedule of the rate alone."""
    if code(args.get("cycle_momentum", cst.Name("True"))) != "False":
        raise Misfit("the momentum does not change here: write cycle_momentum=False")


def _bernoulli(args: Arguments) -> None:
    """From probabilities, where logits are given there."""
    if "logits" in args:
        args["probs"] = cst.parse_expression(f"paddle.nn.functional.sigmoid({code(args.pop('logits'))})")
    args.pop("validate_args", None)


def _process_group(args: Arguments) -> None:
    """The launcher says what is said there."""
    args.clear()


_MODELS = (
    "alexnet vgg11 vgg13 vgg16 vgg19 resnet18 resnet34 resnet50 resnet101 resnet152 wide_resnet50_2 wide_resnet101_2 "
    "resnext50_32x4d resnext101_64x4d densenet121 densenet161 densenet169 densenet201 mobilenet_v2 mobilenet_v3_large "
    "mobilenet_v3_small shufflenet_v2_x0_5 shufflenet_v2_x1_0 squeezenet1_0 squeezenet1_1 googlenet inception_v3"
).split()
_INPLACE = {"inplace": ""}
_LOADER = "dataset batch_size shuffle sampler batch_sampler num_workers collate_fn pin_memory drop_last timeout"
AS_CALLED = {"input": "x", **_INPLACE}  # a function whose first argument comes without a name
_NORM = {"eps": "epsilon", "track_running_stats": "", "device": "", "dtype": ""}
_ACTIVATIONS = ("ReLU", "ReLU6", "SiLU", "Hardswish", "Hardsigmoid", "Mish", "SELU")
_TRAINED = {"params": "parameters", "lr": "learning_rate", "eps": "epsilon", "nesterov": "use_nesterov", "foreach": "",
            "fused": "", "capturable": ""}  # fmt: skip
_STATISTICS = (
    "its running statistics are among parameters() here, with requires_grad False; the running variance is that of the "
    "batch, where PyTorch multiplies it by n / (n - 1)"
)
_BATCH = "num_features eps momentum affine track_running_stats"
_POOL = "input kernel_size stride padding ceil_mode count_include_pad divisor_override"
_SPARSE = "indices values size dtype device requires_grad"
_DATA_SET = "root train transform target_transform download"
_ADAGRAD = "params lr lr_decay weight_decay initial_accumulator_value eps"
_RMS = "params lr alpha eps weight_decay momentum centered"
_LBFGS = "params lr max_iter max_eval tolerance_grad tolerance_change history_size line_search_fn"
_SGD = "params lr momentum dampening weight_decay nesterov"
_ONE_CYCLE = (
    "optimizer max_lr total_steps epochs steps_per_epoch pct_start anneal_strategy cycle_momentum base_momentum "
    "max_momentum div_factor final_div_factor three_phase last_epoch"
)
_CYCLIC = (
    "optimizer base_lr max_lr step_size_up step_size_down mode gamma scale_fn scale_mode cycle_momentum base_momentum "
    "max_momentum last_epoch"
)

RULES, _BY_HAND = read(MODULES)
RULES |= {
    "torch.nn.Module": Rule("paddle.nn.Layer"),
    **{f"torch.nn.{n}": Rule(f"paddle.nn.{n}", "inplace", 0, _INPLACE) for n in _ACTIVATIONS},
    **{f"torch.nn.functional.{n.lower()}": Rule(f"paddle.nn.functional.{n.lower()}", "input inplace", 1,
                                                {"input": "x", **_INPLACE}) for n in _ACTIVATIONS},
    "torch.nn.LeakyReLU": Rule("paddle.nn.LeakyReLU", "negative_slope inplace", 1, _INPLACE),
    "torch.nn.Dropout": Rule("paddle.nn.Dropout", "p inplace", 1, _INPLACE),
    "torch.nn.LogSoftmax": Rule("paddle.nn.LogSoftmax", "dim", 1, {"dim": "axis"}),
    **{f"torch.nn.{kind}Pool{n}d": Rule(f"paddle.nn.{kind}Pool{n}D") for n in (1, 2, 3) for kind in
       ("AdaptiveAvg", "AdaptiveMax")},
    "torch.optim.SGD": Rule("paddle.optimizer.SGD", _SGD, 0, _TRAINED, _sgd),
    **{f"torch.optim.{n}": Rule(f"paddle.optimizer.{n}", "params lr betas eps weight_decay amsgrad", 0, _TRAINED, _adam,
                                            unpacks=True)
       for n in ("Adam", "AdamW")},
    "torch.optim.Adadelta": Rule("paddle.optimizer.Adadelta", "params lr rho eps weight_decay", 0, _TRAINED,
                                 _with(lr=1.0, rho=0.9)),
    "torch.optim.Adagrad": Rule("paddle.optimizer.Adagrad", _ADAGRAD, 0, _TRAINED, _adagrad),
    "torch.optim.Adamax": Rule("paddle.optimizer.Adamax", "params lr betas eps weight_decay", 0, _TRAINED, _adamax),
    "torch.optim.NAdam": Rule("paddle.optimizer.NAdam", "params lr betas eps weight_decay momentum_decay", 0, _TRAINED,
                              _adamax),
    "torch.optim.RAdam": Rule("paddle.optimizer.RAdam", "params lr betas eps weight_decay", 0, _TRAINED, _adam),
    "torch.optim.RMSprop": Rule("paddle.compat.optim.RMSprop", _RMS, 0, {**_TRAINED, "alpha": "rho"},
                                _with(lr=0.01, alpha=0.99, eps=1e-8)),
    "torch.optim.LBFGS": Rule("paddle.optimizer.LBFGS", _LBFGS, 0, _TRAINED),
    "torch.nn.SyncBatchNorm": Rule("paddle.nn.SyncBatchNorm", f"{_BATCH} process_group", 1,
                                   {**_NORM, "process_group": ""}, _synchronized, todo=_STATISTICS),
    **{f"torch.nn.functional.avg_pool{n}d": Rule(f"paddle.nn.functional.avg_pool{n}d", _POOL, 4, {"input": "x"},
                                                 _average) for n in (1, 2, 3)},
    "torch.sparse_coo_tensor": Rule("paddle.sparse.sparse_coo_tensor", _SPARSE, 2,
                                    {"size": "shape", "device": "place", "requires_grad": ""}),
    **dict.fromkeys(("torch.spmm", "torch.sparse.mm"), Rule("paddle.matmul")),
    "torchvision.datasets.MNIST": Rule("paddle.compat.torchvision.IndexedMNIST"),
    "torchvision.datasets.FashionMNIST": Rule("paddle.compat.torchvision.IndexedFashionMNIST"),
    "torchvision.datasets.FakeData": Rule("paddle.compat.torchvision.FakeImages"),
    **{f"torchvision.datasets.CIFAR{n}": Rule(f"paddle.vision.datasets.Cifar{n}", _DATA_SET, 0,
                                              {"root": "", "download": ""}, _data_set) for n in (10, 100)},
    **{f"torchvision.models.{n}": Rule(f"paddle.vision.models.{n}", "weights progress", 0, {}, _model)
       for n in _MODELS},
    **{f"torchvision.models.vgg{n}_bn": Rule(f"paddle.vision.models.vgg{n}", "weights progress", 0, {}, _normalized)
       for n in (11, 13, 16, 19)},
    "torchvision.transforms.Lambda": Rule("{0}"),  # Compose takes any function
    "torch.distributed.init_process_group": Rule(
        "paddle.distributed.init_parallel_env", "backend init_method timeout world_size rank", 0, {}, _process_group,
        todo="start the processes with python -m paddle.distributed.launch, which says what this call says there",
    ),
    **dict.fromkeys(
        [f"torch.nn.parallel.{n}DistributedDataParallel" for n in ("", "distributed.")],
        Rule("paddle.DataParallel", "module device_ids output_device", 1, {"device_ids": "", "output_device": ""}),
    ),
    "torch.accelerator.is_available": Rule("paddle.cuda.is_available"),
    "torch.accelerator.current_accelerator": Rule("paddle.get_default_device"),
    "torch.accelerator.device_count": Rule("paddle.device.device_count"),
    "torch.accelerator.synchronize": Rule("paddle.device.synchronize"),
    "torch.utils.data.DataLoader": Rule("paddle.io.DataLoader", _LOADER, 1, {"pin_memory": ""}, _loader, unpacks=True),
    "torch.distributions.Bernoulli": Rule("paddle.distribution.Bernoulli", "probs logits validate_args", 1, {},
                                          _bernoulli),
    "torch.autograd.grad": Rule("paddle.compat.autograd.grad", "outputs inputs grad_outputs retain_graph create_graph "
                                "only_inputs allow_unused is_grads_batched materialize_grads", 5, {"only_inputs": ""}),
    "torch.chain_matmul": Rule("paddle.linalg.multi_dot", listed=True),
    "torch.block_diag": Rule("paddle.block_diag", listed=True),
    "torch.utils.data.TensorDataset": Rule("paddle.io.TensorDataset", listed=True),
    "torch.utils.data.ConcatDataset": Rule("paddle.io.ConcatDataset"),
    "torch.device": Rule("paddle.device"),
    "torch.load": Rule("paddle.load", "f map_location", 1, {"map_location": "", "weights_only": ""}),
    "torch.topk": Rule("paddle.topk", "input k dim largest sorted", 2, {"input": "x", "dim": "axis"}),
    **{f"torch.optim.lr_scheduler.{n}": Rule(f"paddle.compat.optim.lr_scheduler.{n}", order, 99, {}, _one_momentum)
       for n, order in (("OneCycleLR", _ONE_CYCLE), ("CyclicLR", _CYCLIC))},
    "torch.optim.lr_scheduler._LRScheduler": Rule("paddle.compat.optim.lr_scheduler.LRScheduler"),
    "torch.cuda.manual_seed": Rule("paddle.seed"),
    "torch.cuda.manual_seed_all": Rule("paddle.seed"),
    "torch.linspace": Rule("paddle.linspace", "start end steps", 2, {"end": "stop", "steps": "num"}),
}  # fmt: skip

for _name, _rule in [*RULES.items()]:
    if _rule.names.get("inplace") == "":
        _after = _function_in_place if ".functional." in _name else _layer_in_place
        RULES[_name] = _rule._replace(after=_after)
    elif _name.startswith("torch.optim.") and "params" in _rule.order.split():
        RULES[_name] = _rule._replace(edit=_with_groups(_rule.edit))
_SHARED = (
    "processes do not share the memory of tensors here: train in one process, or average gradients with "
    "paddle.DataParallel under python -m paddle.distributed.launch"
)
TODO = _BY_HAND | {
    "torch.utils.data.distributed": "give the DataLoader batch_sampler=paddle.io.DistributedBatchSampler(...)",
    "torch.multiprocessing.spawn": "paddle.distributed.spawn(f, args, nprocs) calls f(*args) without the number of the "
    "process, which is paddle.distributed.get_rank()",
    "torch.onnx": "paddle.onnx.export writes a layer",
    **dict.fromkeys(
        ("torch.nn.DataParallel", "torch.nn.parallel.DataParallel", "torch.nn.parallel.data_parallel"),
        "one process for each device here: paddle.DataParallel under paddle.distributed.launch",
    ),
    "torch.jit": "write paddle.jit.to_static and paddle.jit.save",
}  # fmt: skip

# Methods that give (values, indices) there, or whose arguments differ.
PAIRS = {"allclose", "max", "min", "median", "sort", "unique", "equal", "chunk", "kthvalue", "cummax", "cummin", "mode"}
# Methods that paddle.compat has as functions, if their arguments can be those of tensors: (keywords, literals).
TENSOR_METHODS = {
    **dict.fromkeys(("addcdiv_", "addcmul_", "aminmax", "index_copy_", "index_fill_", "new_tensor"), r".*"),
    "median": r"", "select": r"(dim=)?(-?\d+|[\w.]*(dim|axis)\w*), .+",
    "norm": r".*(dim ?= ?(?!-?\d+\b)|, ?[(\[]).*|(p ?= ?)?[\d.]+, ?(?!\w+ ?=)[A-Za-z_].*",
}  # fmt: skip
# Methods that are functions here, those of layers among them, and those with another name.
OF_LAYERS = {"register_full_backward_hook", "register_full_backward_pre_hook"}
AS_FUNCTIONS = {
    **{n: f"paddle.nn.functional.{n}" for n in ("relu", "log_softmax", "selu", "hardshrink")},
    "movedim": "paddle.moveaxis", "det": "paddle.linalg.det", "pinverse": "paddle.linalg.pinv",
    "matrix_power": "paddle.linalg.matrix_power", "svd": "paddle.compat.svd", "qr": "paddle.compat.qr",
    **{n: f"paddle.compat.nn.{n}" for n in OF_LAYERS},
}  # fmt: skip
OTHER_METHODS = {
    "retain_grad": "retain_grads",
    "to_sparse": "to_sparse_coo",
    "_indices": "indices",
    "_values": "values",
}
OTHER_ATTRIBUTES = {"saved_variables": "saved_tensors", "_modules": "_sub_layers"}
# Attributes of tensors that are False here: there are no such devices.
NEVER = {"is_xpu", "is_mps"}
LOADED = "a file holds no layers here, but their state_dict(): make the model, and give this to its set_state_dict()"
# Methods without a counterpart, and what to do.
METHODS_TODO = {
    **dict.fromkeys(
        ("add_graph", "add_hparams", "add_embedding", "add_video", "add_audio", "add_mesh", "add_pr_curve"),
        "the SummaryWriter here writes scalars, texts, pictures, figures and histograms",
    ),
    "share_memory": _SHARED, "share_memory_": _SHARED,
    "register_backward_hook": "write register_full_backward_hook(), whose gradients are those of the layer's inputs",
}  # fmt: skip
# What draws random numbers, maybe of a generator.
DRAWN = {
    f"torch.{n}" for n in ("rand", "randn", "randint", "randperm", "normal", "multinomial", "bernoulli", "poisson")
}
DRAWN_METHODS = {
    *("normal_", "uniform_", "random_", "bernoulli_", "bernoulli", "multinomial", "exponential_", "cauchy_"),
    *("geometric_", "log_normal_"),
}
# Decorators of TorchScript, and calls that tell whether it runs.
OF_SCRIPTS = {
    *(f"torch.jit.{n}" for n in ("export", "ignore", "interface", "script", "script_if_tracing", "unused")),
    *("torch.jit._overload", "torch.jit._overload_method", "torch.jit.script_method"),
    *("torch.jit._script_if_tracing", "torch.fx.wrap"),
}
CONSTANTS = dict.fromkeys(
    ("torch.jit.is_scripting", "torch.jit.is_tracing", "torch.compiler.is_compiling", "torch.cuda._initialized"),
    "False",
)
# Calls that set what XLA chooses by itself.
LEFT_OUT = {
    *("torch.set_num_threads", "torch.set_num_interop_threads", "torch.set_float32_matmul_precision"),
    *("torch.fx.wrap", "torch._C._log_api_usage_once"),
    *("torch.use_deterministic_algorithms", "torch.set_flush_denormal", "torch.autograd.set_detect_anomaly"),
}
