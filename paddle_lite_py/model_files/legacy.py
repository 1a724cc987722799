"""Operators of the earlier generations in terms of the newest ones: their names, operands, results and attributes."""

from __future__ import annotations

from typing import Any, NamedTuple

from .graph import Literal, Node
from .weights import DTYPES


class Row(NamedTuple):
    """What an operator is now.

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


def _all(names: str, row: Row) -> dict[str, Row]:
    return {name: row._replace(op=row.op or name) for name in names.split()}


_REDUCED = {"dim": "axis", "keep_dim": "keepdim"}
_RESIZED = {"data_layout": "data_format"}
_GRAPH = "X Src_index Dst_index Out_size"
ROWS: dict[str, Row] = {
    **_all(
        "relu relu6 sigmoid tanh sqrt exp abs square log log10 log1p log2 rsqrt ceil floor round sign sin cos tan erf "
        "reciprocal trunc silu softsign tanh_shrink logsigmoid real imag angle as_real logical_not assign gelu "
        "hard_swish softmax log_softmax mish selu celu softplus stanh maxout swish hard_sigmoid expm1 acos asin atan "
        "sinh cosh lgamma digamma bernoulli",
        Row(""),
    ),
    **_all("less_than less_equal greater_than greater_equal equal not_equal atan2 logical_and logical_or logical_xor "
           "bitwise_and bitwise_or bitwise_xor dot bmm kron", Row("", "X Y")),
    **{f"elementwise_{a}": Row(f"elementwise_{b}", "X Y") for a, b in {
        "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "max": "maximum", "min": "minimum",
        "mod": "remainder", "floordiv": "floor_divide", "pow": "elementwise_pow"}.items()},
    "mv": Row("mv", "X Vec"),
    "lerp": Row("lerp", "X Y Weight"),
    "where": Row("where", "Condition X Y"),
    "where_index": Row("nonzero", "Condition"),
    "isnan_v2": Row("isnan"),
    "isfinite_v2": Row("isfinite"),
    "isinf_v2": Row("isinf"),
    "mean": Row("mean_all"),
    "size": Row("numel", "Input"),
    "elu": Row("elu"),
    "leaky_relu": Row("leaky_relu", attrs={"alpha": "negative_slope"}),
    "hard_shrink": Row("hardshrink"),
    "softshrink": Row("softshrink", attrs={"lambda": "threshold"}),
    "brelu": Row("hardtanh"),
    "thresholded_relu": Row("thresholded_relu"),
    "prelu": Row("prelu", "X Alpha"),
    "pow": Row("pow", attrs={"factor": "y"}),
    "clip": Row("clip", "X Min|min Max|max"),
    "scale": Row("scale", "X ScaleTensor|scale"),
    "cast": Row("cast", attrs={"out_dtype": "dtype"}),
    "increment": Row("increment", attrs={"step": "value"}),
    "matmul_v2": Row("matmul", "X Y", attrs={"trans_x": "transpose_x", "trans_y": "transpose_y"}),
    "matmul": Row("matmul_scaled", "X Y", attrs={"transpose_X": "transpose_x", "transpose_Y": "transpose_y"}),
    "mul": Row("mul", "X Y"),
    "fc": Row("fc", "Input W Bias"),
    "addmm": Row("addmm", "Input X Y", attrs={"Alpha": "alpha", "Beta": "beta"}),
    "einsum": Row("einsum", "Operands*"),
    "trace": Row("trace", "Input"),
    "cross": Row("cross", "X Y", attrs={"dim": "axis"}),
    "inverse": Row("inverse", "Input", "Output"),
    "determinant": Row("det", "Input"),
    "diag_v2": Row("diag"),
    "dist": Row("dist", "X Y"),
    "p_norm": Row("p_norm"),
    "logsumexp": Row("logsumexp"),
    "kthvalue": Row("kthvalue", "X", "Out Indices"),
    "cumsum": Row("cumsum", "X AxisTensor|axis"),
    "cumprod": Row("cumprod"),
    "tril_triu": Row("tril_triu"),
    **{f"reduce_{n}": Row(n, attrs=_REDUCED) for n in ("mean", "max", "min", "all", "any", "amax", "amin")},
    "reduce_sum": Row("sum", "X dim", attrs={"keep_dim": "keepdim", "out_dtype": "dtype"}),
    "reduce_prod": Row("prod", "X dim", attrs={"keep_dim": "keepdim"}),
    "arg_max": Row("argmax", "X axis"),
    "arg_min": Row("argmin", "X axis"),
    # values and shapes
    "fill_constant": Row("fill_constant", "ShapeTensor|ShapeTensorList*|shape ValueTensor"),
    "fill_constant_batch_size_like": Row("fill_constant_batch_size_like", "Input"),
    "fill_any_like": Row("full_like", "X value"),
    "fill_zeros_like": Row("zeros_like"),
    "assign_value": Row("assign_values", ""),
    "shape": Row("shape", "Input"),
    "range": Row("arange", "Start End Step"),
    "linspace": Row("linspace", "Start Stop Num"),
    "eye": Row("eye", "num_rows num_columns"),
    "gaussian_random": Row("gaussian", "ShapeTensor|ShapeTensorList*|shape"),
    "uniform_random": Row("uniform", "ShapeTensor|ShapeTensorList*|shape min max"),
    "randint": Row("randint", "ShapeTensor|ShapeTensorList*|shape"),
    "randperm": Row("randperm", ""),
    "multinomial": Row("multinomial", "X num_samples"),
    "reshape2": Row("reshape", "X Shape|ShapeTensor*|shape"),
    "reshape": Row("reshape", "X Shape|ShapeTensor*|shape"),
    "transpose2": Row("transpose", attrs={"axis": "perm"}),
    "transpose": Row("transpose", attrs={"axis": "perm"}),
    "flatten_contiguous_range": Row("flatten"),
    "flatten2": Row("flatten2"),
    "squeeze2": Row("squeeze", "X AxesTensor|axes"),
    "unsqueeze2": Row("unsqueeze", "X AxesTensor|AxesTensorList*|axes"),
    "squeeze": Row("squeeze", "X axes"),
    "unsqueeze": Row("unsqueeze", "X AxesTensor|axes"),
    "expand_v2": Row("expand", "X Shape|expand_shapes_tensor*|shape"),
    "expand_as_v2": Row("expand_as", "X Y"),
    "tile": Row("tile", "X RepeatTimes|repeat_times_tensor*|repeat_times"),
    "concat": Row("concat", "X* AxisTensor|axis"),
    "stack": Row("stack", "X*", "Y"),
    "split": Row("split_", "X AxisTensor|axis", "Out*"),
    "unstack": Row("unstack", "X", "Y*"),
    "unbind": Row("unbind", "X", "Out*"),
    "meshgrid": Row("meshgrid", "X*", "Out*"),
    "slice": Row("slice", "Input StartsTensor|StartsTensorList*|starts EndsTensor|EndsTensorList*|ends"),
    "strided_slice": Row(
        "strided_slice",
        "Input StartsTensor|StartsTensorList*|starts EndsTensor|EndsTensorList*|ends "
        "StridesTensor|StridesTensorList*|strides",
    ),
    "set_value": Row("set_values", "Input ValueTensor", attrs={"data_format": ""}),
    "gather": Row("gather", "X Index Axis|axis"),
    "gather_nd": Row("gather_nd", "X Index"),
    "index_select": Row("index_select", "X Index", attrs={"dim": "axis"}),
    "scatter": Row("scatter", "X Ids Updates"),
    "scatter_nd_add": Row("scatter_nd_add", "X Index Updates"),
    "take_along_axis": Row("take_along_axis", "Input Index", "Result", {"Axis": "axis"}),
    "masked_select": Row("masked_select", "X Mask", "Y"),
    "top_k_v2": Row("topk", "X K|k", "Out Indices"),
    "top_k": Row("topk", "X K|k", "Out Indices"),
    "argsort": Row("argsort", "X", "Out Indices"),
    "flip": Row("flip"),
    "roll": Row("roll", "X ShiftsTensor|shifts"),
    "unique": Row("unique", "X", "Out Indices Index Counts"),
    "one_hot_v2": Row("one_hot", "X depth_tensor|depth"),
    "lookup_table_v2": Row("embedding", "Ids W"),
    "lookup_table": Row("lookup_table", "Ids W"),
    "pad3d": Row("pad3d", "X Paddings|paddings", attrs={"value": "pad_value"}),
    "pad2d": Row("pad2d", "X Paddings|paddings", attrs={"value": "pad_value"}),
    "pad": Row("pad", "X pad_value"),
    "shard_index": Row("shard_index"),
    # layers
    **_all("conv2d depthwise_conv2d conv3d", Row("", "Input Filter", "Output")),
    **_all("conv2d_transpose depthwise_conv2d_transpose conv3d_transpose",
           Row("", "Input Filter output_size", "Output")),
    "deformable_conv": Row("deformable_conv", "Input Offset Filter Mask", "Output"),
    "pool2d": Row("pool2d", "X ksize"),
    "pool3d": Row("pool3d", "X ksize"),
    "max_pool2d_with_index": Row("max_pool2d_with_index", "X", "Out Mask", {"ksize": "kernel_size"}),
    "batch_norm": Row("batch_norm_", "X Mean Variance Scale Bias", "Y", {"data_layout": "data_format"}),
    "sync_batch_norm": Row("batch_norm_", "X Mean Variance Scale Bias", "Y", {"data_layout": "data_format"}),
    "layer_norm": Row("layer_norm", "X Scale Bias", "Y"),
    "group_norm": Row("group_norm", "X Scale Bias", "Y", {"data_layout": "data_format"}),
    "instance_norm": Row("instance_norm", "X Scale Bias", "Y"),
    "dropout": Row("dropout", "X Seed dropout_prob", attrs={"dropout_implementation": "mode"}),
    "affine_channel": Row("affine_channel", "X Scale Bias"),
    **{f"{m}_interp{v}": Row(f"{m}_interp", "X OutSize SizeTensor* Scale", attrs=_RESIZED)
       for m in ("nearest", "linear", "bilinear", "trilinear", "bicubic") for v in ("_v2", "")},
    **_all("pixel_shuffle grid_sampler affine_grid unfold temporal_shift shuffle_channel", Row("")),
    "grid_sampler": Row("grid_sample", "X Grid", "Output"),
    "affine_grid": Row("affine_grid", "Theta OutputShape|output_shape", "Output"),
    "unfold": Row("unfold", "X", "Y"),
    "shuffle_channel": Row("channel_shuffle", attrs={"group": "groups"}),
    "bilinear_tensor_product": Row("bilinear", "X Y Weight Bias"),
    "rnn": Row("rnn", "Input PreState* WeightList* SequenceLength", "Out DropoutState State* Reserve"),
    "gumbel_softmax": Row("gumbel_softmax"),
    # losses
    "softmax_with_cross_entropy": Row("cross_entropy_with_softmax", "Logits Label", "Softmax Loss"),
    "sigmoid_cross_entropy_with_logits": Row("sigmoid_cross_entropy_with_logits", "X Label pos_weight_absent"),
    "huber_loss": Row("huber_loss", "X Y", "Out Residual"),
    "kldiv_loss": Row("kldiv_loss", "X Target", "Loss"),
    "nll_loss": Row("nll_loss", "X Label Weight", "Out Total_weight"),
    "bce_loss": Row("bce_loss", "X Label"),
    "label_smooth": Row("label_smooth", "X PriorDist"),
    "warpctc": Row("warpctc", "Logits Label LogitsLength LabelLength", "Loss"),
    "accuracy": Row("accuracy", "Out Indices Label", "Accuracy Correct Total"),
    # signals, graphs, detection
    **_all("fft_c2c fft_r2c fft_c2r frame overlap_add", Row("")),
    "graph_send_recv": Row("send_u_recv", _GRAPH),
    "graph_send_ue_recv": Row("send_ue_recv", "X Y Src_index Dst_index Out_size"),
    "graph_send_uv": Row("send_uv", "x y src_index dst_index", "out"),
    "segment_pool": Row("segment_pool", "X SegmentIds"),
    **_all("roi_align roi_pool psroi_pool", Row("", "X ROIs RoisNum")),
    "nms": Row("nms", "Boxes", "KeepBoxesIdxs", {"iou_threshold": "threshold"}),
    "yolo_box": Row("yolo_box", "X ImgSize", "Boxes Scores"),
    "matrix_nms": Row("matrix_nms", "BBoxes Scores", "Out Index RoisNum"),
    "multiclass_nms3": Row("multiclass_nms3", "BBoxes Scores RoisNum", "Out Index NmsRoisNum"),
    "generate_proposals_v2": Row("generate_proposals", "Scores BboxDeltas ImShape Anchors Variances",
                                 "RpnRois RpnRoiProbs RpnRoisNum",
                                 {"pre_nms_topN": "pre_nms_top_n", "post_nms_topN": "post_nms_top_n"}),
    "distribute_fpn_proposals": Row("distribute_fpn_proposals", "FpnRois RoisNum",
                                    "MultiFpnRois* MultiLevelRoIsNum* RestoreIndex"),
    "prior_box": Row("prior_box", "Input Image", "Boxes Variances"),
    "box_coder": Row("box_coder", "PriorBox PriorBoxVar TargetBox", "OutputBox"),
    # quantization
    "quantize_linear": Row("quantize_linear", "X Scale ZeroPoint", "Y"),
    "dequantize_linear": Row("dequantize_linear", "X Scale ZeroPoint", "Y"),
    "fake_quantize_dequantize_moving_average_abs_max": Row(
        "fake_quantize_dequantize_moving_average_abs_max", "X InScale", "Out OutScale"),
    "fake_channel_wise_quantize_dequantize_abs_max": Row(
        "fake_channel_wise_quantize_dequantize_abs_max", "X", "Out OutScale"),
    "fake_quantize_dequantize_abs_max": Row("fake_quantize_dequantize_abs_max", "X", "Out OutScale"),
    "moving_average_abs_max_scale": Row("assign"),
    # control flow and lists
    "while": Row("while", "Condition", ""),
    "conditional_block": Row("conditional_block", "Cond|Condition", ""),
    "select_input": Row("select_input", "Mask X*"),
    "write_to_array": Row("array_write_", "Out X I"),
    "read_from_array": Row("array_read", "X I"),
    "lod_array_length": Row("array_length"),
    "tensor_array_to_tensor": Row("array_to_tensor", "X", "Out OutIndex"),
    "print": Row("print", "In"),
}  # fmt: skip
_DTYPES = ("dtype", "out_dtype", "in_dtype")


def normalized(kind: str, inputs: dict[str, list[str]], outputs: dict[str, list[str]], attrs: dict[str, Any]) -> Node:
    """An operator as the newest generation would have it; one that is not known stays as it is."""
    row = ROWS.get(kind)
    if row is None:
        return Node(kind, [], {}, [n for names in outputs.values() for n in names])
    given = {k: _dtype(v) if k in _DTYPES else v for k, v in attrs.items()}
    operands = [_operand(token, inputs, given, outputs) for token in row.operands.split()]
    results = [r for token in row.results.split() for r in _results(token, outputs)]
    renamed = {row.attrs.get(k, k): v for k, v in given.items()}
    return Node(row.op, operands, renamed, results)


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
            return Literal(attrs[plain])
    return None


def _results(token: str, outputs: dict[str, list[str]]) -> list[Any]:
    names: list[Any] = outputs.get(token.removesuffix("*"), [])
    if token.endswith("*"):
        return [list(names)]
    return [names[0] if names else None]
