"""Operators of the earlier generations in terms of the newest ones: their names, operands, results and attributes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from .gradients import GradientNode
from .graph import LiteralOperand, ModelNode
from .weights import DTYPES


class LegacyRow(NamedTuple):
    """The current form of an older operator.

    Attributes:
        operands: in order. "A|B|c": the input A, or else B, or else the attribute c; "A*": all that input A names;
            "" is absent.
        results: the outputs in their order.
        attrs: new names of attributes, for those that have one.
    """

    op: str
    operands: str = "X"
    results: str = "Out"
    attrs: dict[str, str] = {}  # noqa: RUF012  (never changed)


def _all(names: str, row: LegacyRow) -> dict[str, LegacyRow]:
    return {name: row._replace(op=row.op or name) for name in names.split()}


_ADAM = (
    "Param Grad LearningRate Moment1 Moment2 Moment2Max Beta1Pow Beta2Pow MasterParam SkipUpdate Beta1Tensor|beta1 "
    "Beta2Tensor|beta2 EpsilonTensor|epsilon"
)
GRADIENT = "@GRAD"
CONTROL_INPUTS = {"conditional_block": "Input", "while": "X"}  # what blocks read from outside
_REDUCED = {"dim": "axis", "keep_dim": "keepdim"}
_RESIZED = {"data_layout": "data_format"}
_GRAPH = "X Src_index Dst_index Out_size"
ROWS: dict[str, LegacyRow] = {
    **_all(
        "relu relu6 sigmoid tanh sqrt exp abs square log log10 log1p log2 rsqrt ceil floor round sign sin cos tan erf "
        "reciprocal trunc silu softsign tanh_shrink logsigmoid real imag angle as_real logical_not assign gelu "
        "hard_swish softmax log_softmax mish selu celu softplus stanh maxout swish hard_sigmoid expm1 acos asin atan "
        "sinh cosh lgamma digamma bernoulli",
        LegacyRow(""),
    ),
    **_all("less_than less_equal greater_than greater_equal equal not_equal atan2 logical_and logical_or logical_xor "
           "bitwise_and bitwise_or bitwise_xor dot bmm kron", LegacyRow("", "X Y")),
    **{f"elementwise_{a}": LegacyRow(f"elementwise_{b}", "X Y") for a, b in {
        "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "max": "maximum", "min": "minimum",
        "mod": "remainder", "floordiv": "floor_divide", "pow": "elementwise_pow"}.items()},
    "mv": LegacyRow("mv", "X Vec"),
    "lerp": LegacyRow("lerp", "X Y Weight"),
    "where": LegacyRow("where", "Condition X Y"),
    "where_index": LegacyRow("nonzero", "Condition"),
    "isnan_v2": LegacyRow("isnan"),
    "isfinite_v2": LegacyRow("isfinite"),
    "isinf_v2": LegacyRow("isinf"),
    "mean": LegacyRow("mean_all"),
    "size": LegacyRow("numel", "Input"),
    "elu": LegacyRow("elu"),
    "leaky_relu": LegacyRow("leaky_relu", attrs={"alpha": "negative_slope"}),
    "hard_shrink": LegacyRow("hardshrink"),
    "softshrink": LegacyRow("softshrink", attrs={"lambda": "threshold"}),
    "brelu": LegacyRow("hardtanh"),
    "thresholded_relu": LegacyRow("thresholded_relu"),
    "prelu": LegacyRow("prelu", "X Alpha"),
    "pow": LegacyRow("pow", attrs={"factor": "y"}),
    "clip": LegacyRow("clip", "X Min|min Max|max"),
    "scale": LegacyRow("scale", "X ScaleTensor|scale"),
    "cast": LegacyRow("cast", attrs={"out_dtype": "dtype"}),
    "increment": LegacyRow("increment", attrs={"step": "value"}),
    "matmul_v2": LegacyRow("matmul", "X Y", attrs={"trans_x": "transpose_x", "trans_y": "transpose_y"}),
    "matmul": LegacyRow("matmul_scaled", "X Y", attrs={"transpose_X": "transpose_x", "transpose_Y": "transpose_y"}),
    "mul": LegacyRow("mul", "X Y"),
    "fc": LegacyRow("fc", "Input W Bias"),
    "addmm": LegacyRow("addmm", "Input X Y", attrs={"Alpha": "alpha", "Beta": "beta"}),
    "einsum": LegacyRow("einsum", "Operands*"),
    "trace": LegacyRow("trace", "Input"),
    "cross": LegacyRow("cross", "X Y", attrs={"dim": "axis"}),
    "inverse": LegacyRow("inverse", "Input", "Output"),
    "determinant": LegacyRow("det", "Input"),
    "diag_v2": LegacyRow("diag"),
    "dist": LegacyRow("dist", "X Y"),
    "p_norm": LegacyRow("p_norm"),
    "logsumexp": LegacyRow("logsumexp"),
    "kthvalue": LegacyRow("kthvalue", "X", "Out Indices"),
    "cumsum": LegacyRow("cumsum", "X AxisTensor|axis"),
    "cumprod": LegacyRow("cumprod"),
    "tril_triu": LegacyRow("tril_triu"),
    **{f"reduce_{n}": LegacyRow(n, attrs=_REDUCED) for n in ("mean", "max", "min", "all", "any", "amax", "amin")},
    "reduce_sum": LegacyRow("sum", "X dim", attrs={"keep_dim": "keepdim", "out_dtype": "dtype"}),
    "reduce_prod": LegacyRow("prod", "X dim", attrs={"keep_dim": "keepdim"}),
    "arg_max": LegacyRow("argmax", "X axis"),
    "arg_min": LegacyRow("argmin", "X axis"),
    # values and shapes
    "fill_constant": LegacyRow("fill_constant", "ShapeTensor|ShapeTensorList*|shape ValueTensor"),
    "fill_constant_batch_size_like": LegacyRow("fill_constant_batch_size_like", "Input"),
    "fill_any_like": LegacyRow("full_like", "X value"),
    "fill_zeros_like": LegacyRow("zeros_like"),
    "assign_value": LegacyRow("assign_values", ""),
    "shape": LegacyRow("shape", "Input"),
    "range": LegacyRow("arange", "Start End Step"),
    "linspace": LegacyRow("linspace", "Start Stop Num"),
    "eye": LegacyRow("eye", "num_rows num_columns"),
    "gaussian_random": LegacyRow("gaussian", "ShapeTensor|ShapeTensorList*|shape"),
    "uniform_random": LegacyRow("uniform", "ShapeTensor|ShapeTensorList*|shape min max"),
    "randint": LegacyRow("randint", "ShapeTensor|ShapeTensorList*|shape"),
    "randperm": LegacyRow("randperm", ""),
    "multinomial": LegacyRow("multinomial", "X num_samples"),
    "reshape2": LegacyRow("reshape", "X Shape|ShapeTensor*|shape"),
    "reshape": LegacyRow("reshape", "X Shape|ShapeTensor*|shape"),
    "transpose2": LegacyRow("transpose", attrs={"axis": "perm"}),
    "transpose": LegacyRow("transpose", attrs={"axis": "perm"}),
    "flatten_contiguous_range": LegacyRow("flatten"),
    "flatten2": LegacyRow("flatten2"),
    "squeeze2": LegacyRow("squeeze", "X AxesTensor|axes"),
    "unsqueeze2": LegacyRow("unsqueeze", "X AxesTensor|AxesTensorList*|axes"),
    "squeeze": LegacyRow("squeeze", "X axes"),
    "unsqueeze": LegacyRow("unsqueeze", "X AxesTensor|axes"),
    "expand_v2": LegacyRow("expand", "X Shape|expand_shapes_tensor*|shape"),
    "expand_as_v2": LegacyRow("expand_as", "X Y"),
    "tile": LegacyRow("tile", "X RepeatTimes|repeat_times_tensor*|repeat_times"),
    "concat": LegacyRow("concat", "X* AxisTensor|axis"),
    "stack": LegacyRow("stack", "X*", "Y"),
    "split": LegacyRow("split_", "X AxisTensor|axis", "Out*"),
    "unstack": LegacyRow("unstack", "X", "Y*"),
    "unbind": LegacyRow("unbind", "X", "Out*"),
    "meshgrid": LegacyRow("meshgrid", "X*", "Out*"),
    "slice": LegacyRow("slice", "Input StartsTensor|StartsTensorList*|starts EndsTensor|EndsTensorList*|ends"),
    "strided_slice": LegacyRow(
        "strided_slice_to_first",
        "Input StartsTensor|StartsTensorList*|starts EndsTensor|EndsTensorList*|ends "
        "StridesTensor|StridesTensorList*|strides",
    ),
    "set_value": LegacyRow(
        "set_values",
        "Input ValueTensor StartsTensorList*|starts EndsTensorList*|ends StepsTensorList*|steps",
        attrs={"data_format": ""},
    ),
    "gather": LegacyRow("gather", "X Index Axis|axis"),
    "gather_nd": LegacyRow("gather_nd", "X Index"),
    "index_select": LegacyRow("index_select", "X Index", attrs={"dim": "axis"}),
    "scatter": LegacyRow("scatter", "X Ids Updates"),
    "scatter_nd_add": LegacyRow("scatter_nd_add", "X Index Updates"),
    "take_along_axis": LegacyRow("take_along_axis", "Input Index", "Result", {"Axis": "axis"}),
    "masked_select": LegacyRow("masked_select", "X Mask", "Y"),
    "top_k_v2": LegacyRow("topk", "X K|k", "Out Indices"),
    "top_k": LegacyRow("topk", "X K|k", "Out Indices"),
    "argsort": LegacyRow("argsort", "X", "Out Indices"),
    "flip": LegacyRow("flip"),
    "roll": LegacyRow("roll", "X ShiftsTensor|shifts"),
    "unique": LegacyRow("unique", "X", "Out Indices Index Counts"),
    "one_hot_v2": LegacyRow("one_hot", "X depth_tensor|depth"),
    "lookup_table_v2": LegacyRow("embedding", "Ids W"),
    "lookup_table": LegacyRow("lookup_table", "Ids W"),
    "pad3d": LegacyRow("pad3d", "X Paddings|paddings", attrs={"value": "pad_value"}),
    "pad2d": LegacyRow("pad2d", "X Paddings|paddings", attrs={"value": "pad_value"}),
    "pad": LegacyRow("pad", "X pad_value"),
    "shard_index": LegacyRow("shard_index"),
    # layers
    **_all("conv2d depthwise_conv2d conv3d", LegacyRow("", "Input Filter", "Output")),
    **_all("conv2d_transpose depthwise_conv2d_transpose conv3d_transpose",
           LegacyRow("", "Input Filter output_size", "Output")),
    "deformable_conv": LegacyRow("deformable_conv", "Input Offset Filter Mask", "Output"),
    "pool2d": LegacyRow("pool2d", "X ksize"),
    "pool3d": LegacyRow("pool3d", "X ksize"),
    "max_pool2d_with_index": LegacyRow("max_pool2d_with_index", "X", "Out Mask", {"ksize": "kernel_size"}),
    "batch_norm": LegacyRow("batch_norm_", "X Mean Variance Scale Bias", "Y", {"data_layout": "data_format"}),
    "sync_batch_norm": LegacyRow("batch_norm_", "X Mean Variance Scale Bias", "Y", {"data_layout": "data_format"}),
    "layer_norm": LegacyRow("layer_norm", "X Scale Bias", "Y"),
    "group_norm": LegacyRow("group_norm", "X Scale Bias", "Y", {"data_layout": "data_format"}),
    "instance_norm": LegacyRow("instance_norm", "X Scale Bias", "Y"),
    "dropout": LegacyRow("dropout", "X Seed dropout_prob", "Out Mask", {"dropout_implementation": "mode"}),
    "affine_channel": LegacyRow("affine_channel", "X Scale Bias"),
    **{f"{m}_interp{v}": LegacyRow(f"{m}_interp", "X OutSize SizeTensor* Scale", attrs=_RESIZED)
       for m in ("nearest", "linear", "bilinear", "trilinear", "bicubic") for v in ("_v2", "")},
    **_all("pixel_shuffle grid_sampler affine_grid unfold temporal_shift shuffle_channel", LegacyRow("")),
    "grid_sampler": LegacyRow("grid_sample", "X Grid", "Output"),
    "affine_grid": LegacyRow("affine_grid", "Theta OutputShape|output_shape", "Output"),
    "unfold": LegacyRow("unfold", "X", "Y"),
    "shuffle_channel": LegacyRow("channel_shuffle", attrs={"group": "groups"}),
    "bilinear_tensor_product": LegacyRow("bilinear", "X Y Weight Bias"),
    "rnn": LegacyRow("rnn", "Input PreState* WeightList* SequenceLength", "Out DropoutState State* Reserve"),
    "gumbel_softmax": LegacyRow("gumbel_softmax"),
    # losses
    "softmax_with_cross_entropy": LegacyRow("cross_entropy_with_softmax", "Logits Label", "Softmax Loss"),
    "sigmoid_cross_entropy_with_logits": LegacyRow("sigmoid_cross_entropy_with_logits", "X Label pos_weight_absent"),
    "huber_loss": LegacyRow("huber_loss", "X Y", "Out Residual"),
    "kldiv_loss": LegacyRow("kldiv_loss", "X Target", "Loss"),
    "nll_loss": LegacyRow("nll_loss", "X Label Weight", "Out Total_weight"),
    "bce_loss": LegacyRow("bce_loss", "X Label"),
    "label_smooth": LegacyRow("label_smooth", "X PriorDist"),
    "warpctc": LegacyRow("warpctc", "Logits Label LogitsLength LabelLength", "Loss"),
    "accuracy": LegacyRow("accuracy", "Out Indices Label", "Accuracy Correct Total"),
    # signals, graphs, detection
    **_all("fft_c2c fft_r2c fft_c2r frame overlap_add", LegacyRow("")),
    "graph_send_recv": LegacyRow("send_u_recv", _GRAPH),
    "graph_send_ue_recv": LegacyRow("send_ue_recv", "X Y Src_index Dst_index Out_size"),
    "graph_send_uv": LegacyRow("send_uv", "x y src_index dst_index", "out"),
    "segment_pool": LegacyRow("segment_pool", "X SegmentIds"),
    **_all("roi_align roi_pool psroi_pool", LegacyRow("", "X ROIs RoisNum")),
    "nms": LegacyRow("nms", "Boxes", "KeepBoxesIdxs", {"iou_threshold": "threshold"}),
    "yolo_box": LegacyRow("yolo_box", "X ImgSize", "Boxes Scores"),
    "matrix_nms": LegacyRow("matrix_nms", "BBoxes Scores", "Out Index RoisNum"),
    "multiclass_nms3": LegacyRow("multiclass_nms3", "BBoxes Scores RoisNum", "Out Index NmsRoisNum"),
    "generate_proposals_v2": LegacyRow("generate_proposals", "Scores BboxDeltas ImShape Anchors Variances",
                                 "RpnRois RpnRoiProbs RpnRoisNum",
                                 {"pre_nms_topN": "pre_nms_top_n", "post_nms_topN": "post_nms_top_n"}),
    "distribute_fpn_proposals": LegacyRow("distribute_fpn_proposals", "FpnRois RoisNum",
                                    "MultiFpnRois* MultiLevelRoIsNum* RestoreIndex"),
    "prior_box": LegacyRow("prior_box", "Input Image", "Boxes Variances"),
    "box_coder": LegacyRow("box_coder", "PriorBox PriorBoxVar TargetBox", "OutputBox"),
    # quantization
    "quantize_linear": LegacyRow("quantize_linear", "X Scale ZeroPoint", "Y"),
    "dequantize_linear": LegacyRow("dequantize_linear", "X Scale ZeroPoint", "Y"),
    "fake_quantize_dequantize_moving_average_abs_max": LegacyRow(
        "fake_quantize_dequantize_moving_average_abs_max", "X InScale", "Out OutScale"),
    "fake_channel_wise_quantize_dequantize_abs_max": LegacyRow(
        "fake_channel_wise_quantize_dequantize_abs_max", "X", "Out OutScale"),
    "fake_quantize_dequantize_abs_max": LegacyRow("fake_quantize_dequantize_abs_max", "X", "Out OutScale"),
    "moving_average_abs_max_scale": LegacyRow("assign"),
    # control flow and lists
    "while": LegacyRow("while", "Condition", ""),
    "conditional_block": LegacyRow("conditional_block", "Cond|Condition", ""),
    "select_input": LegacyRow("select_input", "Mask X*"),
    "write_to_array": LegacyRow("array_write_", "Out X I"),
    "read_from_array": LegacyRow("array_read", "X I"),
    "lod_array_length": LegacyRow("array_length"),
    "tensor_array_to_tensor": LegacyRow("array_to_tensor", "X", "Out OutIndex"),
    "print": LegacyRow("print", "In"),
    # training
    "sum": LegacyRow("add_n", "X*"),
    "squared_l2_norm": LegacyRow("squared_l2_norm"),
    "clip_by_norm": LegacyRow("clip_by_norm"),
    "check_finite_and_unscale": LegacyRow("check_finite_and_unscale_", "X* Scale", "Out* FoundInfinite"),
    "update_loss_scaling": LegacyRow(
        "update_loss_scaling_", "X* FoundInfinite PrevLossScaling InGoodSteps InBadSteps StopUpdate|stop_update",
        "Out* LossScaling OutGoodSteps OutBadSteps"),
    "select_output": LegacyRow("select_output", "Mask X", "Out*"),
    "dropout_grad": LegacyRow(
        "dropout_grad", "Mask Out@GRAD dropout_prob", "X@GRAD", {"dropout_implementation": "mode"}),
    "sgd": LegacyRow("sgd_", "Param LearningRate Grad MasterParam", "ParamOut MasterParamOut"),
    "momentum": LegacyRow("momentum_", "Param Grad Velocity LearningRate MasterParam",
                          "ParamOut VelocityOut MasterParamOut"),
    **{n: LegacyRow(f"{n}_", _ADAM, "ParamOut Moment1Out Moment2Out Moment2MaxOut Beta1PowOut Beta2PowOut "
                    "MasterParamOut") for n in ("adam", "adamw")},
    "adamax": LegacyRow("adamax_", "Param Grad LearningRate Moment InfNorm Beta1Pow MasterParam",
                        "ParamOut MomentOut InfNormOut MasterParamOut"),
    "adagrad": LegacyRow("adagrad_", "Param Grad Moment LearningRate MasterParam",
                         "ParamOut MomentOut MasterParamOut"),
    "adadelta": LegacyRow("adadelta_", "Param Grad AvgSquaredGrad AvgSquaredUpdate LearningRate MasterParam",
                          "ParamOut AvgSquaredGradOut AvgSquaredUpdateOut MasterParamOut"),
    "rmsprop": LegacyRow("rmsprop_", "Param MeanSquare Grad Moment LearningRate MeanGrad MasterParam",
                         "ParamOut MomentOut MeanSquareOut MeanGradOut MasterParamOut"),
    "lamb": LegacyRow("lamb_", "Param Grad LearningRate Moment1 Moment2 Beta1Pow Beta2Pow MasterParam SkipUpdate",
                      "ParamOut Moment1Out Moment2Out Beta1PowOut Beta2PowOut MasterParamOut"),
    "merged_momentum": LegacyRow("merged_momentum_", "Param* Grad* Velocity* LearningRate* MasterParam*",
                                 "ParamOut* VelocityOut* MasterParamOut*"),
    "lars_momentum": LegacyRow("lars_momentum_", "Param* Grad* Velocity* LearningRate* MasterParam*",
                               "ParamOut* VelocityOut* MasterParamOut*"),
    "decayed_adagrad": LegacyRow("decayed_adagrad", "Param Grad Moment LearningRate", "ParamOut MomentOut"),
    "ftrl": LegacyRow("ftrl", "Param SquaredAccumulator LinearAccumulator Grad LearningRate",
                      "ParamOut SquaredAccumOut LinearAccumOut"),
    "average_accumulates": LegacyRow(
        "average_accumulates_",
        "param in_sum_1 in_sum_2 in_sum_3 in_num_accumulates in_old_num_accumulates in_num_updates",
        "out_sum_1 out_sum_2 out_sum_3 out_num_accumulates out_old_num_accumulates out_num_updates"),
}  # fmt: skip


def _read_rows() -> dict[str, LegacyRow]:
    out = dict[str, LegacyRow]()
    for line in Path(__file__).with_name("legacy.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        names, _, rest = line.partition(":")
        called, *renamed = rest.split(";")
        kind, _, op = names.replace(" ", "").partition("=")
        operands, results = (side.strip() for side in called.split(">"))
        pairs = [(old.strip(), new) for old, _, new in (pair.partition("=") for pair in renamed)]
        out[kind] = LegacyRow(op or kind, operands, results, dict(pairs))
    return out


ROWS |= _read_rows()
_DTYPES = ("dtype", "out_dtype", "in_dtype")


def normalized(
    kind: str, inputs: dict[str, list[str]], outputs: dict[str, list[str]], attrs: dict[str, Any]
) -> ModelNode:
    """Return an operator as the newest generation would have it; one that is not known stays as it is."""
    row = ROWS.get(kind)
    if row is None:
        name = kind if kind.endswith("_grad") else f"fluid.{kind}"  # another one of today may have its name
        return ModelNode(name, [], {}, [n for names in outputs.values() for n in names])
    given = {k: _dtype(v) if k in _DTYPES else v for k, v in attrs.items()}
    operands = [_operand(token, inputs, given, outputs) for token in row.operands.split()]
    results = [r for token in row.results.split() for r in _results(token, outputs)]
    renamed = {row.attrs.get(k, k): v for k, v in given.items()}
    return ModelNode(row.op, operands, renamed, results)


def gradient_of(forward: Any, node: ModelNode, gradient: Any) -> GradientNode:
    """Return the gradient of an operator, which is a node, both as they stand in the file."""
    if node.op in CONTROL_INPUTS:
        return _gradient_of_block(forward, node, gradient)
    row = ROWS.get(forward.kind, LegacyRow(forward.kind))
    starts, wanted = _of_gradients(gradient.inputs), _of_gradients(gradient.outputs)
    return GradientNode(
        node.op, [], {}, [n for names in wanted.values() for n in names], forward=node,
        starts=[r for token in row.results.split() for r in _results(token, starts)],
        wanted=[_operand(token, wanted, {}, {}) for token in row.operands.split()],
    )  # fmt: skip


def _gradient_of_block(forward: Any, node: ModelNode, gradient: Any) -> GradientNode:
    """Return the gradient of a block with respect to what it reads from outside."""
    slot = CONTROL_INPUTS[node.op]
    given = {g.partition(GRADIENT)[0]: g for g in gradient.inputs.get(f"Out{GRADIENT}", ())}
    wanted = [None if n == "@EMPTY@" else n for n in gradient.outputs.get(slot + GRADIENT, ())]
    made, read = forward.outputs.get("Out", []), forward.inputs.get(slot, [])
    results = [n for n in made if n in given]
    return GradientNode(
        node.op, list(read), {}, results, forward=node, starts=[given[n] for n in results],
        wanted=[*wanted, *[None] * (len(read) - len(wanted))],
    )  # fmt: skip


def _of_gradients(names: dict[str, list[str]]) -> dict[str, Any]:
    """Return those that are gradients, under the names of what they are gradients of; None for what nobody wants."""
    return {
        n.removesuffix(GRADIENT): [None if v == "@EMPTY@" else v for v in given]
        for n, given in names.items()
        if n.endswith(GRADIENT)
    }


def _dtype(number: Any) -> str | None:
    found = DTYPES.get(number)
    return None if found is None else found.name


def _operand(token: str, inputs: dict[str, list[str]], attrs: dict[str, Any], outputs: dict[str, list[str]]) -> Any:
    for name in token.split("|"):
        plain = name.removesuffix("*")
        if inputs.get(plain):
            return list(inputs[plain]) if name.endswith("*") else inputs[plain][0]
        if plain == "Out" and outputs.get("Out"):  # a list that is written
            return outputs["Out"][0]
        if plain in attrs:
            return LiteralOperand(attrs[plain])
    return None


def _results(token: str, outputs: dict[str, list[str]]) -> list[Any]:
    names: list[Any] = outputs.get(token.removesuffix("*"), [])
    if token.endswith("*"):
        return [list(names)]
    return [names[0] if names else None]
