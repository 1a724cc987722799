"""NaN and infinities, dimensions of size 0 and tensors of none, against what PaddlePaddle makes of them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import paddle_lite_py as paddle
import special_cases
from library_cases import close
from special_cases import RAISES

# What differs on purpose: the kind of argument, the ops, and why.
DIFFERENT = [
    ("special", "logaddexp log_sigmoid logsigmoid softshrink thresholded_relu", "the limit, where the formula is NaN"),
    (
        "special",
        "relu maxout max_pool1d max_pool2d max_pool3d fractional_max_pool2d fractional_max_pool3d",
        "NaN stays NaN",
    ),
    ("special", "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d argmax argmin sgn sinc", "NaN stays NaN"),
    ("special", "logcumsumexp margin_ranking_loss", "NaN stays NaN"),
    ("special", "erfinv frexp slogdet ihfft nanquantile searchsorted", "of what is not finite, or not in order"),
    ("special", "histogramdd", "there is no range to divide"),
    ("empty hollow", "quantile nanquantile topk crop", "there is nothing to choose"),
    ("empty hollow", "inverse expand_as masked_fill embedding label_smooth gather_nd", "shapes that do not fit"),
    ("empty hollow", "bincount histogram take nll_loss", "dtype and shape are those of the full ones"),
    ("hollow", "rfft rfft2 rfftn ihfft", "a spectrum of nothing"),
    ("hollow", "max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d lp_pool1d lp_pool2d", "no window"),
    ("hollow", "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d scaled_dot_product_attention", "no window"),
    ("hollow", "fractional_max_pool2d fractional_max_pool3d", "no window"),
    ("scalar", "topk pairwise_distance triplet_margin_loss", "there is no such axis"),
    ("scalar", "triplet_margin_with_distance_loss multi_label_soft_margin_loss", "there is no such axis"),
]
APART = {(kind, name): why for kinds, names, why in DIFFERENT for kind in kinds.split() for name in names.split()}
# Where PaddlePaddle refuses to give a result, so do these; the others have one that is well defined.
REFUSED = {
    "inverse",
    "cholesky",
    "cholesky_inverse",
    "svdvals",
    "eigvalsh",
    "pinv",
    "matrix_power",
    "matrix_rank",
    "cond",
}


def name_of(case: str) -> str:
    return special_cases.cases()[case.rpartition(" ")[0]].name.rpartition(".")[2]


@pytest.mark.parametrize("kind", special_cases.KINDS)
@pytest.mark.filterwarnings("ignore")
def test_as_recorded(kind: str):
    wrong = []
    for case in (c for c in special_cases.keys() if c.endswith(f" {kind}")):
        want, name = special_cases.golden()[case], name_of(case)
        got = json.loads(json.dumps(special_cases.outcome(paddle, case)))
        free = want == "crashes" or (want == RAISES and not (kind == "special" and name in REFUSED))
        if not close(want, got) and not free and (kind, name) not in APART:
            wrong.append(f"{case}: {got}; expected {want}")
    assert not wrong, "\n".join(wrong)


def test_what_differs_is_still_there():
    names = {name_of(c) for c in special_cases.keys()}
    assert names >= {name for _, name in APART} | REFUSED


SINGULAR = [
    ("inv(m)", r"x\[1\] is singular, or holds NaN: it has no inverse"),
    ("solve(m, paddle.ones([2, 2, 1]))", r"x\[1\] is singular"),
    ("matrix_power(m, -1)", r"x\[1\] is singular"),
    ("cond(m, 1)", r"x\[1\] is singular"),
    ("cholesky(m - 1)", r"x\[0\] is not positive definite"),
    ("svd(m / 0)", r"x\[0\] holds NaN; expected numbers"),
    ("matrix_norm(m / 0, 'nuc')", "holds NaN"),
]


@pytest.mark.parametrize(("call", "message"), SINGULAR)
def test_matrices_without_a_result_are_refused(call: str, message: str):
    m = paddle.stack([paddle.eye(2), paddle.ones([2, 2])])
    with pytest.raises(ValueError, match=message):
        eval(f"paddle.linalg.{call}", {"m": m, "paddle": paddle})


def test_in_a_program_they_give_what_is_not_finite():
    found = paddle.jit.to_static(lambda x: paddle.linalg.inv(x))(paddle.ones([2, 2]))
    assert not np.isfinite(found.numpy()).any()
    assert np.isnan(paddle.linalg.solve(paddle.eye(2), paddle.to_tensor([1.0, float("nan")])).numpy()).any()


def test_a_norm_of_nan_is_nan_and_flat_at_zero():
    x = paddle.to_tensor([float("nan"), 1.0])
    assert all(np.isnan(paddle.linalg.norm(x, p).item()) for p in (1, 2, 3))
    zero = paddle.zeros([2])
    zero.stop_gradient = False
    paddle.linalg.norm(zero).backward()
    assert zero.grad.tolist() == [0.0, 0.0]


def test_a_loss_of_nothing_but_ignored_labels_is_0():
    x, label = paddle.zeros([2, 3]), paddle.to_tensor([-100, -100])
    assert paddle.nn.functional.nll_loss(x, label).item() == paddle.nn.functional.cross_entropy(x, label).item() == 0


def test_one_triangle_is_read():
    x = paddle.to_tensor([[4.0, 9.0], [1.0, 5.0]])
    whole = paddle.to_tensor([[4.0, 1.0], [1.0, 5.0]])
    for f in (paddle.linalg.cholesky, paddle.linalg.eigvalsh, lambda m: paddle.linalg.pinv(m, hermitian=True)):
        np.testing.assert_allclose(f(x).numpy(), f(whole).numpy(), rtol=1e-6)
    upper = paddle.to_tensor([[4.0, 9.0], [9.0, 5.0]])
    np.testing.assert_allclose(paddle.linalg.eigvalsh(x, "U").numpy(), paddle.linalg.eigvalsh(upper).numpy(), rtol=1e-6)
