"""Calls of the library as text, run in the same way here and in PaddlePaddle; see tests/golden/make.py.

In a case `t(1.0, 2.0)` is a tensor of these numbers, `i(1, 2)` one of integers, and `ramp(2, 3)` one of that shape with
different numbers.
"""

from __future__ import annotations

import io
import math
import re
from typing import Any

import numpy as np

import kernel_cases

D = "paddle.distribution."
# A distribution, a value to judge, another distribution of its kind, and more methods.
DISTRIBUTIONS: list[tuple[str, str, str, str]] = [
    ("Normal(t(0, 1), t(1, 2))", "t(.5, -1)", "Normal(t(1, 0), t(2, 1))", ""),
    ("LogNormal(t(0, 1), t(1, .5))", "t(.5, 1)", "LogNormal(t(1, 0), t(2, 1))", ""),
    ("Uniform(t(0, 1), t(1, 3))", "t(.5, 2)", "", "entropy"),
    ("Laplace(t(0, 1), t(1, 2))", "t(.5, -1)", "Laplace(t(1, 0), t(2, 1))", "cdf"),
    ("Gumbel(t(0, 1), t(1, 2))", "t(.5, -1)", "", "cdf"),
    ("Cauchy(t(0, 1), t(1, 2))", "t(.5, -1)", "Cauchy(t(1, 0), t(2, 1))", "cdf"),
    ("Exponential(t(.5, 2))", "t(.5, .9)", "Exponential(t(1, 1))", "cdf icdf"),
    ("Gamma(t(.5, 2), t(1, 3))", "t(.5, 1)", "Gamma(t(1, 1), t(2, 1))", ""),
    ("Chi2(t(3, 2))", "t(.5, 1)", "", ""),
    ("Beta(t(.5, 2), t(1, 3))", "t(.5, .2)", "Beta(t(1, 1), t(2, 1))", ""),
    ("Dirichlet(t(.5, 2, 1))", "t(.5, .2, .3)", "Dirichlet(t(1, 1, 2))", ""),
    ("StudentT(t(3, 5), t(0, 1), t(1, 2))", "t(.5, .2)", "", ""),
    (
        "MultivariateNormal(t(0, 1), covariance_matrix=t(2, .5, .5, 1).reshape([2, 2]))",
        "t(.5, .2)",
        "MultivariateNormal(t(1, 1), scale_tril=t(1, 0, .3, 2).reshape([2, 2]))",
        "",
    ),
    ("Bernoulli(t(.3, .9))", "t(1, 0)", "Bernoulli(t(.5, .5))", "cdf"),
    ("Categorical(t(1, 3, 2))", "i(0, 2)", "Categorical(t(1, 1, 2))", ""),
    ("Geometric(t(.3, .9))", "t(1, 0)", "", "pmf cdf"),
    ("Poisson(t(1, 3))", "t(1, 2)", "Poisson(t(2, 1))", ""),
    ("Binomial(i(5, 5), t(.3, .6))", "t(1, 2)", "", ""),
    ("Multinomial(4, t(.3, .6, .1))", "t(1, 2, 1)", "", ""),
    ("ContinuousBernoulli(t(.3, .5))", "t(.2, .7)", "", "cdf icdf"),
    ("LKJCholesky(2, 1.5)", "t(1, 0, .6, .8).reshape([2, 2])", "", ""),
    (f"Independent({D}Normal(t(0, 1), t(1, 2)), 1)", "t(.5, -1)", "", ""),
    (
        f"TransformedDistribution({D}Normal(t(0, 1), t(1, 2)), "
        f"[{D}AffineTransform(t(1), t(2)), {D}SigmoidTransform()])",
        "t(.5, .1)",
        "",
        "",
    ),
]
WITHOUT_MOMENTS = ("Categorical", "Uniform", "Cauchy", "LKJ", "Transformed")
WITHOUT_ENTROPY = ("LKJ", "Transformed", "Independent")

TRANSFORMS = [
    *("StickBreakingTransform()", "SoftmaxTransform()", "TanhTransform()", "PowerTransform(t(2))", "ExpTransform()"),
    *(f"ChainTransform([{D}ExpTransform(), {D}AffineTransform(t(1), t(2))])", "ReshapeTransform((2,), (1, 2))"),
    *(f"StackTransform([{D}ExpTransform(), {D}TanhTransform()], 0)", f"IndependentTransform({D}ExpTransform(), 1)"),
]


def _distributions() -> list[str]:
    cases = []
    for make, value, other, more in DISTRIBUTIONS:
        cases += [f"{D}{make}.{method}({value})" for method in ("log_prob", *more.split()) if method != "entropy"]
        if "Geometric" in make:  # it has log_pmf in the reference
            cases[-3] = f"{D}{make}.log_pmf({value})"
        if not make.startswith(WITHOUT_ENTROPY):
            cases.append(f"{D}{make}.entropy()")
        if not make.startswith(WITHOUT_MOMENTS):
            cases += [f"{D}{make}.mean", f"{D}{make}.variance"]
        if other:
            cases.append(f"{D}kl_divergence({D}{make}, {D}{other})")
    for make in TRANSFORMS:
        cases.append(f"{D}{make}.inverse({D}{make}.forward(t(.3, .2)))")
        cases += [f"{D}{make}.{m}(t(.3, .2))" for m in ("forward", "forward_log_det_jacobian") if "Softmax" not in make]
    return cases


SIGNALS = [
    "paddle.signal.stft(ramp(2, 40), 16)",
    "paddle.signal.stft(ramp(40), 16, 5, 12, window=ramp(12), center=False, normalized=True)",
    "paddle.signal.stft(ramp(40), 16, onesided=False, pad_mode='constant')",
    "paddle.signal.istft(paddle.signal.stft(ramp(2, 40), 16), 16)",
    "paddle.signal.istft(paddle.signal.stft(ramp(40), 16, window=ramp(16) + 3), 16, window=ramp(16) + 3, length=38)",
]
E1, E2 = "i(0, 1, 2, 0)", "i(1, 2, 1, 0)"
GRAPHS = [
    *(f"paddle.geometric.segment_{p}(ramp(4, 3), i(0, 0, 2, 2))" for p in ("sum", "mean", "max", "min")),
    *(f"paddle.geometric.send_u_recv(ramp(3, 2), {E1}, {E2}, '{p}')" for p in ("sum", "mean", "max", "min")),
    f"paddle.geometric.send_u_recv(ramp(3, 2), {E1}, {E2}, out_size=4)",
    *(f"paddle.geometric.segment_{p}(i(-3, 2, 0, 5), i(0, 0, 2, 2))" for p in ("mean", "max")),
    "[paddle.polygamma(t(0, -1, -2, .5), n) for n in (1, 2, 3)]",
    "paddle.histogram(t(1, float('nan'), 2, 5), 4)",
    "paddle.histogram_bin_edges(t(1, 2), 4, 1, 1)",
    "paddle.add_n(t(0).reshape([]))",
    *(f"t(1e5, -1e5, 500, .3).astype('float8_{kind}').astype('float32')" for kind in ("e4m3fn", "e5m2")),
    "paddle.fft.fft2(ramp(2, 3, 4), axes=None)",
    *(
        f"paddle.geometric.send_ue_recv(ramp(3, 2), ramp(4, 2) + 3, {E1}, {E2}, '{m}')"
        for m in ("add", "sub", "mul", "div")
    ),
    *(f"paddle.geometric.send_uv(ramp(3, 2), ramp(3, 2), {E1}, {E2}, '{m}')" for m in ("add", "mul")),
    "paddle.geometric.reindex_graph(i(0, 5, 2), i(8, 9, 0, 4, 7, 6, 7), i(2, 3, 2).astype('int32'))",
]
V = "paddle.vision.ops."
BOXES = "t(0, 1, 5, 6.5, 2.3, 0.4, 7.9, 4, -2, 3, 4, 9).reshape([3, 4]), i(2, 1).astype('int32')"
SIZES = "i(32, 40).reshape([1, 2]).astype('int32')"
PRIORS = "t(0, 0, 2, 2, 1, 1, 4, 5).reshape([2, 4]), [.1, .1, .2, .2]"
TWO = "2, 1, 1, 2, 2, ramp(1, 18, 3, 3)"
RESIZED = "paddle.nn.functional.interpolate(ramp(1, 1, 4, 1), "
REGIONS = [
    f"{V}roi_align(ramp(2, 3, 8, 8), {BOXES}, 2)",
    f"{V}roi_align(ramp(2, 3, 8, 8), {BOXES}, (2, 3), 0.5, 2, False)",
    f"{V}roi_pool(ramp(2, 3, 8, 8), {BOXES}, (2, 3))",
    f"{V}psroi_pool(ramp(2, 12, 8, 8), {BOXES}, 2)",
    # Sizes whose share of a bin is no number of float32: a bin ends where it should, and no pixel later.
    *(
        f"{V}{op}(ramp(1, {2 * n * n}, 16, 16), t(0, 0, {m}, {m}).reshape([1, 4]), i(1).astype('int32'), {n})[0, 0]"
        for op in ("roi_pool", "psroi_pool")
        for n, m in ((3, 6), (3, 13), (5, 12), (7, 5), (7, 13))
    ),
    *(f"{RESIZED}size=[1, 1], mode='{m}')" for m in ("nearest", "bilinear", "bicubic")),
    *(f"{RESIZED}scale_factor=[1.1, 1.0], mode='{m}')" for m in ("nearest", "bilinear")),
    f"{V}deform_conv2d(ramp(2, 4, 6, 6), ramp(2, 18, 4, 4) * .3, ramp(3, 4, 3, 3))",
    f"{V}deform_conv2d(ramp(1, 4, 6, 6), ramp(1, 36, 3, 3), ramp(4, 2, 3, 3), t(1, 2, 3, 4), {TWO})",
    f"{V}yolo_box(ramp(2, 14, 3, 3), i(32, 40, 64, 48).reshape([2, 2]).astype('int32'), [3, 4, 5, 6], 2, .3, 8)",
    f"{V}yolo_box(ramp(1, 16, 3, 3), {SIZES}, [3, 4, 5, 6], 2, .3, 8, False, None, 1.2, True)",
    f"{V}nms(t(0, 0, 2, 2, 0, 0, 2, 1.9, 5, 5, 6, 6, 0, .1, 2, 2).reshape([4, 4]), .5, t(.1, .5, .3, .4))",
    f"{V}box_coder({PRIORS}, t(0, 1, 2, 3, 1, 1, 2, 4, 0, 0, 1, 1).reshape([3, 4]))",
    f"{V}box_coder({PRIORS}, ramp(3, 2, 4), 'decode_center_size', False)",
]
MAP = "paddle.zeros([1, 4, 2, 3]), paddle.zeros([1, 3, 8, 12]), "
ROIS = "t(0, 0, 50, 60, 3, 2, 200, 300, 1, 1, 9, 9).reshape([3, 4])"
OVERLAPPING = "t(0, 0, 4, 4, 0, 1, 4, 4, 2, 2, 5, 6, 1, 0, 4, 3).reshape([1, 4, 4])"
MARKS = "t(.9, .3, .8, .5, .2, .7, .6, .9).reshape([1, 2, 4])"
REGIONS += [
    f"{V}prior_box({MAP}[2., 4.], [5., 6.], [1., 2.], flip=True)",
    f"{V}prior_box({MAP}[3.], None, [2., .5], clip=True, steps=[4., 5.], offset=.3)",
    f"{V}prior_box({MAP}[3., 7.], [5., 9.], [3.], min_max_aspect_ratios_order=True)",
    *(f"{V}distribute_fpn_proposals({ROIS}, 2, 5, 4, 100, rois_num=i(1, 2).astype('int32'))[{k}]" for k in (0, 1, 2)),
    *(
        f"{V}matrix_nms({OVERLAPPING}, {MARKS}, .25, .1, 3, 5, return_index=True{more})"
        for more in ("", ", use_gaussian=True, gaussian_sigma=1.5, normalized=False", ", background_label=-1")
    ),
]
AVERAGES = [
    f"optimized('{w}')" for w in ("LookAhead(sgd, .4, 3)", "ModelAverage(.5, [w], 3, 10)", "ModelAverage(.9, [w])")
]
DECODE = "paddle.nn.dynamic_decode(fixed(paddle.nn.BeamSearchDecoder, 3), ramp(2, 4), "
DECODING = [
    DECODE + "max_step_num=4)[0]",
    DECODE + "max_step_num=2, output_time_major=True, return_length=True)[::2]",
    DECODE + "max_step_num=3)[1].log_probs",
]
A = "paddle.audio."
AUDIO = [
    *(f"{A}functional.hz_to_mel({x})" for x in ("440.0", "5000.0, True", "t(60, 440, 5000)")),
    *(f"{A}functional.mel_to_hz({x})" for x in ("10.0", "50.0, True", "t(3, 10, 30)")),
    f"{A}functional.mel_frequencies(8, 50., 4000.)",
    f"{A}functional.fft_frequencies(8000, 16)",
    f"{A}functional.compute_fbank_matrix(8000, 32, 6)",
    f"{A}functional.power_to_db(t(1e-5, .5, 3), top_db=30.)",
    f"{A}functional.create_dct(4, 6)",
    f"{A}functional.create_dct(4, 6, None)",
    *(
        f"{A}functional.get_window({w}, 9, {p})"
        for w in ("'hann'", "'hamming'", "'blackman'", "('gaussian', 2.)", "'bohman'", "'triang'", "'cosine'")
        for p in (True, False)
    ),
    f"{A}features.Spectrogram(32, power=1.)(ramp(2, 100))",
    f"{A}features.MelSpectrogram(8000, 32, n_mels=6)(ramp(2, 100))",
    f"{A}features.LogMelSpectrogram(8000, 32, n_mels=6)(ramp(2, 100))",
    f"{A}features.MFCC(8000, 4, n_fft=32, n_mels=6)(ramp(2, 100))",
]
VITERBI = "paddle.text.viterbi_decode(ramp(2, 4, 5), ramp(5, 5), i(4, 3)"
TEXT = [VITERBI + ")", VITERBI + ", False)", "paddle.text.ViterbiDecoder(ramp(5, 5))(ramp(2, 4, 5), i(2, 4))"]
S = "paddle.sparse."
COO = f"{S}sparse_coo_tensor(i(0, 1, 2, 1, 2, 0).reshape([2, 3]), t(1, 2, 3), [3, 3])"
CSR = f"{S}sparse_csr_tensor(i(0, 2, 3, 5), i(1, 3, 2, 0, 1), t(1, 2, 3, 4, 5), [3, 4])"
SPARSE = [
    *(f"{COO}.{m}" for m in ("to_dense()", "values()", "indices()", "shape")),
    *(f"{CSR}.{m}" for m in ("to_dense()", "crows()", "cols()", "values()")),
    *(f"{S}{f}({COO}, {COO}).to_dense()" for f in ("add", "subtract", "multiply")),
    *(f"{S}{f}({COO}).to_dense()" for f in ("sin", "tanh", "sqrt", "square", "abs", "neg", "expm1", "log1p")),
    f"{S}nn.functional.relu({COO}).to_dense()",
    f"{S}nn.functional.softmax({CSR}).to_dense()",
    f"{S}transpose({COO}, [1, 0]).to_dense()",
    f"{S}sparse_coo_tensor(i(0, 0, 1, 1).reshape([2, 2]), t(1, 2), [2, 2]).coalesce().to_dense()",
    "ramp(2, 3).to_sparse_coo(2).indices()",
]
G = "paddle.autograd."
DERIVATIVES = [
    f"(lambda x: {G}jacobian(x * x.sum(), x)[:])(leaf(4))",
    f"(lambda x: {G}jacobian(x.matmul(ramp(3, 2)), x, batch_axis=0)[:])(leaf(2, 3))",
    f"(lambda x: {G}hessian((x ** 3).sum() + x[0] * x[1], x)[:])(leaf(3))",
    f"(lambda x: {G}hessian((x ** 3).sum(1), x, batch_axis=0)[:])(leaf(2, 3))",
    "paddle.incubate.autograd.vjp(lambda x: x.matmul(x), ramp(2, 2), ramp(2, 2))[1]",
    "paddle.incubate.autograd.jvp(lambda x: x.matmul(x), ramp(2, 2), ramp(2, 2) + 1)[1]",
]
NANS = "t(float('nan'), 1, 2, 3, 4, 5).reshape([2, 3])"
MATRIX = "paddle.incubate.autograd"
SPELLINGS = [
    *(f"paddle.{f}({NANS}, {axis}, mode='min')" for f in ("median", "nanmedian") for axis in (0, -1)),
    f"paddle.nanmedian({NANS}, (0, 1), mode='min')",
    *(f"paddle.nn.functional.gelu(t(-1, .5, 2), {way!r})" for way in ("none", "tanh", True)),
    *(f"paddle.nn.functional.pad(ramp(1, 2, 3), {pad})" for pad in ([1, 0, 0, 1], [1, 0, 0, 1, 2, 0], [1, 2])),
    "paddle.nn.functional.pad(ramp(1, 2, 3), [1, 0, 0, 1, 2, 0], pad_from_left_axis=False)",
    "paddle.compat.nn.functional.pad(ramp(2, 3), (1, 1), mode='reflect')",
    "paddle.tensordot(ramp(2, 3, 4), ramp(3, 2, 4), axes=[[0, 1, 2], [1, 0]])",
    *(f"{S}divide({m}, {m}).to_dense()" for m in (COO, CSR)),
    *(f"{S}sum({COO}, {axis}).to_dense()" for axis in (None, 0, -1)),
    *(f"{S}sum({CSR}, {axis}).to_dense()" for axis in (None, -1)),
    "paddle.nn.clip.clip_by_norm(ramp(2, 2), 1.)",
    "paddle.nn.functional.loss.edit_distance(i(1, 2, 3, 4).reshape([2, 2]), i(1, 3, 4, 5).reshape([2, 2]), False, "
    "None, i(2, 1), i(2, 2))",
    "paddle.incubate.graph_reindex(i(0, 1, 2), i(8, 9, 0, 4, 7, 6, 7, 0, 2, 3, 5, 1), "
    "i(2, 3, 2, 1, 3, 1).astype('int32'))",
    f"{MATRIX}.Jacobian(lambda x, y: x.matmul(y), [ramp(2, 2), ramp(2, 2)])[:]",
    f"{MATRIX}.Jacobian(lambda x, y: x * y, [ramp(2, 2), ramp(2, 2)], is_batched=True)[:]",
    f"{MATRIX}.Hessian(lambda x, y: (x * x * y).sum(), [ramp(2, 2), ramp(2, 2)])[:]",
    f"{MATRIX}.Hessian(lambda x: (x ** 3).sum(1), ramp(2, 2), is_batched=True)[:]",
    "paddle.to_tensor([True, False]) / True",
    *(f"{side}" for side in ("2 & paddle.to_tensor([True, False])", "3 ^ paddle.to_tensor([True, False])")),
]
CASES: list[str] = [
    *SPELLINGS,
    *DERIVATIVES,
    *AUDIO,
    *TEXT,
    *SPARSE,
    *DECODING,
    *_distributions(),
    *SIGNALS,
    *GRAPHS,
    *REGIONS,
    *AVERAGES,
    *kernel_cases.CASES,
]


def names(paddle: Any) -> dict[str, Any]:
    """What a case may use."""

    def ramp(*shape: int) -> Any:
        n = int(np.prod(shape))
        return paddle.to_tensor((np.sin(np.arange(n) * 1.7) * 2).astype("float32").reshape(shape))

    def fixed(decoder: Any, beams: int) -> Any:
        embed, cell, out = paddle.nn.Embedding(6, 4), paddle.nn.GRUCell(4, 4), paddle.nn.Linear(4, 6)
        for layer in (embed, cell, out):
            for p in layer.parameters():
                p.set_value(ramp(*p.shape) * 1.5)
        return decoder(cell, 0, 1, beams, embed, out)

    def leaf(*shape: int) -> Any:
        out = ramp(*shape)
        out.stop_gradient = False
        return out

    def graded(function: Any, *inputs: Any) -> list[Any]:
        """The results of a function, and the gradients of its inputs (of `values()` of sparse ones)."""
        for x in inputs:
            x.stop_gradient = False
        made = function(*inputs)
        out = [r.values() if getattr(r, "is_sparse", lambda: False)() else r for r in _listed(made)]
        sum((r * ramp(*r.shape)).sum() for r in out if "float" in str(r.dtype)).backward()
        grads = [x.grad for x in inputs]
        return [*out, *[g.values() if g.is_sparse() else g for g in grads]]

    def optimized(around: str) -> Any:
        w = paddle.create_parameter([3], "float32")
        w.set_value(np.array([1.0, -2.0, 0.5], "float32"))
        sgd = paddle.optimizer.Momentum(0.05, parameters=[w])
        outer = eval(f"paddle.incubate.{around}", {"paddle": paddle, "w": w, "sgd": sgd})
        path = []
        for _ in range(8):
            ((w - 3.0) ** 2).sum().backward()
            if "Average" in around:
                sgd.step()
            outer.step()
            sgd.clear_grad()
            path.append(w.numpy().copy())
        if "Average" in around:
            with outer.apply():
                path.append(w.numpy().copy())
        return np.stack([*path, w.numpy()])

    return {
        "fixed": fixed,
        "optimized": optimized,
        "leaf": leaf,
        "graded": graded,
        "paddle": paddle,
        "np": np,
        "io": io,
        "t": lambda *v: paddle.to_tensor(np.array(v, "float32")),
        "i": lambda *v: paddle.to_tensor(np.array(v, "int64")),
        "ramp": ramp,
    }


def run(paddle: Any, case: str) -> list[np.ndarray]:
    """The results of a case as arrays."""
    found = eval(case, names(paddle))
    results = _listed(found)
    return [np.asarray(r.numpy() if hasattr(r, "numpy") else r) for r in results if r is not None]


def _listed(found: Any) -> Any:
    return found if isinstance(found, list | tuple) else [found]


def rounded(value: Any) -> Any:
    """Seven digits, complex numbers as pairs, infinities and NaN as text."""
    if isinstance(value, complex):
        return [rounded(value.real), rounded(value.imag)]
    if isinstance(value, float):
        return float(f"{value:.7g}") if np.isfinite(value) else str(value)
    return value


def close(a: Any, b: Any) -> bool:
    """Equal, but for the rounding of numbers."""
    if isinstance(a, float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-5) or (math.isnan(a) and math.isnan(b))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(close(v, b[k]) for k, v in a.items())
    return a == b


NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def prints_the_same(a: str, b: str) -> bool:
    """The same text, but for the rounding of numbers that show three or four digits."""
    ours, others = ([float(n) for n in NUMBER.findall(text)] for text in (a, b))
    same = all(math.isclose(x, y, rel_tol=2e-3, abs_tol=2e-4) for x, y in zip(ours, others, strict=False))
    return NUMBER.sub("#", a) == NUMBER.sub("#", b) and same


def figures(arrays: list[np.ndarray]) -> list[Any]:
    """Arrays as JSON: dtype, shape and numbers."""
    return [[str(a.dtype), list(a.shape), [rounded(v) for v in a.ravel().tolist()]] for a in arrays]


def record(paddle: Any) -> dict[str, Any]:
    """The figures of all cases."""
    return {case: figures(run(paddle, case)) for case in CASES}
