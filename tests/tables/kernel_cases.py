"""Cases of library_cases.py: losses, sparse convolutions, detection, sound files, and functions as those of torch."""

from __future__ import annotations

F = "paddle.nn.functional."
LABELS = "i(1, 2, 3, 1).reshape([2, 2]).astype('int32'), i(3, 2).astype('int32'), i(2, 1).astype('int32')"
PATHS = "i(0, 2, -1, 0, 1, 3).reshape([2, 3]), i(1, 0, -1, 0, 1, 1).reshape([2, 3])"
TAILS = "[[ramp(3, 2), ramp(2, 2)], [ramp(3, 1), ramp(1, 3)]], [2, 4, 7]"
LOSSES = [
    f"graded(lambda x, w, b: {F}hsigmoid_loss(x, i(0, 1, 4, 2), 5, w, b), ramp(4, 3), ramp(4, 3), ramp(4, 1))",
    f"graded(lambda x, w: {F}hsigmoid_loss(x * 100, i(0, 5, 6).unsqueeze(1), 7, w), ramp(3, 3), ramp(6, 3))",
    f"graded(lambda x, w: {F}hsigmoid_loss(x, i(0, 1), 5, w, None, {PATHS}), ramp(2, 3), ramp(4, 3))",
    f"graded(lambda x, w: {F}adaptive_log_softmax_with_loss(x, i(0, 1, 4, 3, 6), w, {TAILS}), ramp(5, 3), ramp(3, 4))",
    f"graded(lambda x: {F}adaptive_log_softmax_with_loss(x, i(0, 3), ramp(3, 4), {TAILS}, ramp(4)), ramp(2, 3))",
    f"graded(lambda x: {F}rnnt_loss({F}log_softmax(x), {LABELS}), ramp(2, 3, 3, 4))",
    f"graded(lambda x: {F}rnnt_loss(x, {LABELS}, 1, 0.5, 'none'), ramp(2, 3, 3, 4))",
    f"graded(lambda x: {F}rnnt_loss(x, {LABELS}, 0, 0.0, 'sum'), ramp(2, 3, 3, 4))",
    f"{F}class_center_sample(i(0, 5, 7, 5), 10, 3)",
    *(f"graded(lambda x: {F}kl_div(x, t(.3, -.1, 0), '{r}'), ramp(3))" for r in ("none", "batchmean")),
    f"{F}kl_div(t(.5).squeeze(0), t(.3).squeeze(0), 'batchmean')",
]
S = "paddle.sparse."
N = "paddle.sparse.nn.functional."
FLAT = "i(0, 0, 1, 0, 1, 2, 1, 2, 0).reshape([3, 3])"
DEEP = "i(0, 0, 1, 0, 1, 2, 1, 2, 0, 0, 0, 1).reshape([4, 3])"
IMAGE = f"lambda v, w, b: {N}%s({S}sparse_coo_tensor({FLAT}, v, [2, 3, 3, 2], stop_gradient=False), w, b%s)"
VOLUME = f"lambda v, w, b: {N}%s({S}sparse_coo_tensor({DEEP}, v, [2, 3, 3, 2, 2], stop_gradient=False), w, b%s)"


def _sparse(function: str, name: str, settings: str, *sizes: str) -> list[str]:
    call = function % (name, settings)
    return [f"graded({call}, ramp(3, 2), {', '.join(sizes)})", f"({call})(ramp(3, 2), {', '.join(sizes)}).indices()"]


ROWS = "i(0, 1, 3, 0, 2, 3), i(1, 0, 1, 0, 1, 1)"
SPARSE = [
    *_sparse(IMAGE, "conv2d", ", 1, 1", "ramp(3, 3, 2, 4)", "ramp(4)"),
    *_sparse(IMAGE, "conv2d", ", [2, 1], [1, 0]", "ramp(2, 3, 2, 4)", "ramp(4)"),
    *_sparse(IMAGE, "subm_conv2d", "", "ramp(3, 3, 2, 4)", "ramp(4)"),
    *_sparse(VOLUME, "conv3d", ", 2, 1", "ramp(2, 3, 2, 2, 4)", "ramp(4)"),
    *_sparse(VOLUME, "conv3d", ", 1, 2, 2", "ramp(2, 2, 2, 2, 4)", "ramp(4)"),
    *_sparse(VOLUME, "subm_conv3d", "", "ramp(3, 3, 3, 2, 4)", "ramp(4)"),
    *(
        f"{N}max_pool3d({S}sparse_coo_tensor({DEEP}, ramp(3, 2), [2, 3, 3, 2, 2]), {more}).to_dense()"
        for more in ("2, 1", "[2, 3, 1], 2, 1")
    ),
    f"{S}nn.BatchNorm(2)({S}sparse_coo_tensor({FLAT}, ramp(3, 2), [2, 3, 3, 2])).values()",
    *(
        f"{S}slice({x}, [0, -1], [-2, 0], [3, 2]).to_dense()"
        for x in (
            f"{S}sparse_coo_tensor(i(0, 1, 2, 1, 2, 0).reshape([2, 3]), ramp(3), [3, 3])",
            f"{S}sparse_csr_tensor(i(0, 2, 3, 5), i(1, 3, 2, 0, 1), ramp(5), [3, 4])",
        )
    ),
    f"{N}softmax({S}sparse_csr_tensor({ROWS}, ramp(6), [2, 2, 2])).to_dense()",
]
V = "paddle.vision.ops."
GIVEN = "t(.3, .3, .2, .2, .55, .5, .4, .4, .9, .1, .3, .6, 0, 0, 0, 0).reshape([2, 2, 4])"
KINDS = "i(0, 1, 1, 0).reshape([2, 2]).astype('int32')"
YOLO = f"graded(lambda x: {V}yolo_loss(x, {GIVEN}, {KINDS}, [3, 4, 5, 6, 9, 8], "
PROPOSED = (
    f"{V}generate_proposals(ramp(2, 2, 3, 2), ramp(2, 8, 3, 2) * .3, t(30, 40, 50, 30).reshape([2, 2]), "
    "ramp(3, 2, 2, 4) * 4 + t(10, 10, 24, 22), paddle.ones([3, 2, 2, 4]) * .8, "
)
DETECTION = [
    f"{YOLO}[0, 1], 2, .7, 8), ramp(2, 14, 3, 3))",
    f"{YOLO}[2, 1], 2, .1, 8, t(.5, 1, .7, 1).reshape([2, 2]), False, None, 1.2), ramp(2, 14, 3, 3))",
    f"{PROPOSED}return_rois_num=True)",
    f"{PROPOSED}8, 3, .3, 2., .8, True, True)",
]
# Kernels that programs call by name: tensors, then attributes by place or as names and values.
K = "paddle._C_ops."
AT = "paddle._C_ops.sparse_sparse_coo_tensor(t(3, 2, 5), i(0, 1, 2, 1, 2, 0).reshape([2, 3]), [3, 3])"
L = "paddle._legacy_C_ops."
MANY = "t(0, 0, 4, 4, 0, 1, 4, 4, 2, 2, 5, 6, 1, 0, 4, 3, 5, 5, 7, 7, 0, 0, 4, 3.5).reshape([2, 3, 4])"
MARKS = "t(.9, .3, .8, .5, .2, .7, .6, .9, .4, .1, .8, .85).reshape([2, 2, 3])"
APART = "(ramp(5, 2, 4) + t(0, 0, 3, 4)), (ramp(5, 2) + .5), i(3, 2).astype('int32')"
ROIS = "t(0, 0, 50, 60, 3, 2, 200, 300, 1, 1, 9, 9).reshape([3, 4]), i(1, 2).astype('int32')"
MAP = "paddle.zeros([1, 4, 2, 3])"
ENCODED = "t(0, 0, 2, 2, 1, 1, 4, 5).reshape([2, 4]), None, t(0, 1, 2, 3, 1, 1, 2, 4).reshape([2, 4])"
KERNELS = [
    f"list({L}multiclass_nms3({MANY}, {MARKS}, None, 'score_threshold', .25, 'background_label', -1, "
    "'nms_top_k', 2, 'keep_top_k', -1, 'nms_threshold', .3, 'normalized', True, 'nms_eta', 1.))",
    f"list({K}multiclass_nms3({MANY}, {MARKS}, None, .25, 2, 3, .3, False, .8, -1))",
    f"list({K}multiclass_nms3({MANY}, {MARKS}, None, .25, -1, -1, .3, True, 1., 0))",
    f"list({K}multiclass_nms3({MANY}, {MARKS}, None, 2., -1, -1, .3, True, 1., 0))",
    f"list({K}multiclass_nms3({APART}, .2, -1, 3, .3, False, 1., -1))",
    f"list({L}matrix_nms({MANY}, {MARKS}, 'score_threshold', .25, 'post_threshold', .1, 'nms_top_k', 3, "
    "'keep_top_k', 2))",
    f"list({K}matrix_nms({MANY}, {MARKS}, .25, 3, 2, .1, True, 1.5, -1, False))",
    f"list({L}anchor_generator({MAP}, 'anchor_sizes', [16., 40.], 'aspect_ratios', [.5, 1., 1.7], "
    "'stride', [8., 16.], 'variances', [.1, .1, .2, .2], 'offset', .3))",
    f"list({L}prior_box({MAP}, paddle.zeros([1, 3, 8, 12]), 'min_sizes', [2., 4.], 'max_sizes', [5., 6.], "
    "'aspect_ratios', [1., 2.], 'variances', [.1, .1, .2, .2], 'flip', True, 'clip', False, 'step_h', 3.))",
    *(
        f"{L}distribute_fpn_proposals({ROIS}, 4, 4, 'min_level', 2, 'max_level', 5, 'refer_level', 4, "
        f"'refer_scale', 100, 'pixel_offset', False)[{k}]"
        for k in (0, 1, 2)
    ),
    *(f"{K}distribute_fpn_proposals({ROIS}, 2, 5, 4, 100, True)[{k}]" for k in (0, 1, 2)),
    f"{L}box_coder({ENCODED}, 'code_type', 'encode_center_size', 'box_normalized', False, "
    "'variance', [.1, .1, .2, .2])",
    f"{V}box_coder({ENCODED.replace('None', '[.1, .1, .2, .2]')}, box_normalized=False)",
    PROPOSED.replace(f"{V}generate_proposals", f"list({L}generate_proposals_v2")
    + "'pre_nms_topN', 8, 'post_nms_topN', 3, 'nms_thresh', .3, 'min_size', 2., 'eta', .8, 'pixel_offset', True))",
    PROPOSED.replace(f"{V}generate_proposals", f"list({K}generate_proposals") + "8, 3, .3, 2., .8, False))",
    f"list({L}argsort(ramp(2, 3), 'axis', 0, 'descending', True))",
    f"{K}numel(ramp(2, 3))",
    f"graded(lambda x: {K}sigmoid_cross_entropy_with_logits(x, t(.2, 1, 0), t(2, 3, .5), False, -100), ramp(3))",
    *(f"{K}sparse_{f}({AT}).to_dense()" for f in ("tanh", "relu", "square", "sqrt")),
    f"{K}sparse_leaky_relu({AT}, .3).to_dense()",
    f"{K}sparse_pow({AT}, 2.).to_dense()",
    f"{K}sparse_divide_scalar({AT}, 4.).to_dense()",
    f"{K}sparse_add({AT}, {AT}).to_dense()",
    f"{K}sparse_transpose({AT}, [1, 0]).to_dense()",
    f"{K}sparse_sum({AT}, 0, None, True).to_dense()",
    f"{K}sparse_to_dense({AT})",
    f"{K}sparse_values({AT})",
    f"{K}linear(ramp(2, 3), ramp(3, 4), ramp(4))",
    f"{K}tensor_unfold(ramp(6), 0, 3, 2)",
    f"list({K}reindex_graph(i(3, 1), i(5, 1, 3), i(1, 2).astype('int32'), None, None))",
    f"{K}fill_(ramp(2), 3.)",
    f"{K}fill_diagonal_(ramp(3, 3), 9., 1, False)",
    f"list({K}edit_distance(i(1, 2, 3).reshape([1, 3]), i(1, 4).reshape([1, 2]), i(3), i(2), True))",
    f"{K}matrix_rank_atol_rtol(ramp(3, 3), t(.1), t(.2), False)",
    *(f"graded(lambda x, w: {K}prelu(x, w, 'NCHW', 'element'), ramp(2, 3{s}), ramp(1, 3{s}))" for s in ("", ", 2")),
]
FILE = (
    "(lambda f: [paddle.audio.save(f, ramp(2, 5) * .4, 8000), f.seek(0), paddle.audio.load(f%s)[0]][2])(io.BytesIO())"
)
SOUND = [FILE % "", FILE % ", 1, 3, False, False"]
C = "paddle.compat."
TIED = "t(3, 1, float('nan'), 2, 5, 4).reshape([2, 3])"
SELF = "ramp(1, 2, 3, 4)"
COMPAT = [
    *(
        f"graded(lambda x: list({C}{f}), ramp(2, 3))"
        for f in ("max(x, 1)", "min(x, dim=0, keepdim=True)", "sort(x, 0)")
    ),
    *(f"graded(lambda x: {C}{f}, ramp(2, 3))" for f in ("max(x)", "min(x, ramp(2, 3) * -1)", "max(x, other=x * 2)")),
    *(f"list({C}{f})" for f in ("sort(ramp(6), descending=True)", f"nanmedian({TIED}, 1)", "median(ramp(2, 4), 1)")),
    *(f"{C}{f}" for f in (f"nanmedian({TIED})", "median(ramp(2, 4))", "equal(ramp(2), ramp(2))", "equal(t(1), t(2))")),
    *(f"list({C}{f})" for f in ("split(ramp(5), 2)", "split(ramp(2, 5), [2, 3], 1)", "slogdet(ramp(2, 2))")),
    *(f"{C}unique(i(3, 1, 3, 2){more})" for more in ("", ", return_inverse=True, return_counts=True")),
    *(f"{C}nn.functional.pad(ramp(1, 2, 3), {w})" for w in ("(1, 0, 0, 2), value=7.", "[1, 2], 'reflect'")),
    f"{C}nn.functional.linear(ramp(2, 3), ramp(4, 3), ramp(4))",
    f"{C}nn.functional.scaled_dot_product_attention({SELF}, {SELF}, {SELF}, is_causal=True)",
    *(f"{C}nn.{m}(ramp(1, 2, 6))" for m in ("Softmax()", "AvgPool1d(3, 2, 1)", "AvgPool1D(3, 2, 1, True, False)")),
    *(f"{C}nn.{m}(ramp(1, 2, 4, 4))" for m in ("Unfold(2, 2, 1, 2)", "AvgPool2D(2, 1, 1, divisor_override=3)")),
]
FACTORS = [
    *(f"graded(lambda x: paddle.linalg.eig(x)[{k}].abs(), ramp(3, 3) + paddle.eye(3))" for k in (0, 1)),
    "paddle.linalg.ormqr(ramp(3, 2), ramp(2), ramp(2, 4))",
    "paddle.linalg.ormqr(ramp(3, 2), ramp(2), ramp(3, 4), True, True)",
    "paddle.incubate.autograd.Hessian(lambda a, b: (a * a).sum(), [ramp(2), ramp(3)])[:]",
]
CASES: list[str] = [*FACTORS, *LOSSES, *SPARSE, *DETECTION, *KERNELS, *SOUND, *COMPAT]
