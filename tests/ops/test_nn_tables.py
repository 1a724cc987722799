"""Tests derived from the table of the ops for networks: values, dtypes, gradients; and what a table cannot say."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradient_cases
import paddle_lite_py as paddle
from nn_ops_table import ROWS
from op_checks import check_gradient, check_value
from ops_table import Row, families
from paddle_lite_py.registry.op import REGISTRY

F = paddle.nn.functional

IDS = [f"{i}-{r}"[:80] for i, r in enumerate(ROWS)]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_value_and_dtype(row: Row):
    check_value(row, "float32")


WITH_GRADIENT = [r for i, r in enumerate(ROWS) if r.grad and not gradient_cases.compared(f"nn {i} {r}")]


@pytest.mark.parametrize("row", WITH_GRADIENT, ids=[f"{i}-{r}"[:80] for i, r in enumerate(WITH_GRADIENT)])
def test_gradient(row: Row):
    check_gradient(row)


FAMILY = ("activation", "adaptive_pooling", "class_losses", "common", "convolution", "ctc", "distance_losses", "losses")
FAMILY += ("normalization", "padding", "pooling", "softmax", "vision_ops")
ELSEWHERE = {"one_hot", "gumbel_softmax", "upsample"}  # rows of another table; tests below; another name


@pytest.mark.parametrize("family", FAMILY)
def test_every_op_has_a_row(family: str):
    tested = {id(r.function) for r in ROWS}
    missing = {n for n in families()[family].__all__ if id(getattr(families()[family], n)) not in tested}
    assert {n for n in missing if not n.endswith("_")} <= ELSEWHERE


def test_dropout_keeps_the_mean():
    x = paddle.ones([64, 64])
    y = F.dropout(x, 0.25)
    kept = float((y != 0).astype("float32").mean())
    assert abs(kept - 0.75) < 0.05 and abs(float(y.max()) - 4 / 3) < 1e-6
    assert F.dropout(x, 0.25, training=False).equal_all(x)
    assert F.dropout(x, 0.25, mode="downscale_in_infer", training=False).mean().item() == 0.75
    assert F.dropout(x, 1.0).abs().sum().item() == 0
    assert not (F.dropout(x, 0.5) == F.dropout(x, 0.5)).all()


def test_dropout_of_whole_rows():
    y = F.dropout(paddle.ones([50, 4]), axis=0).numpy()
    assert (y == y[:, :1]).all() and set(y.ravel()) == {0.0, 2.0}


def test_alpha_dropout_keeps_mean_and_variance():
    y = F.alpha_dropout(paddle.randn([200, 200]), 0.3)
    assert abs(float(y.mean())) < 0.05 and abs(float(y.var()) - 1) < 0.05


def test_gumbel_softmax_draws_classes_with_a_gradient():
    x = paddle.to_tensor(np.log([[0.2, 0.8]] * 500), stop_gradient=False)
    y = F.gumbel_softmax(x, hard=True)
    assert set(y.numpy().ravel()) <= {0.0, 1.0} and abs(y.numpy()[:, 1].mean() - 0.8) < 0.08
    (y[:, 0].sum() * 3).backward()
    assert float(x.grad.abs().sum()) > 0


def test_rrelu_draws_slopes():
    y = F.rrelu(-paddle.ones([100]), 0.1, 0.3).numpy()
    assert -0.3 <= y.min() < y.max() <= -0.1


def test_batch_norm_moves_the_running_statistics():
    x = paddle.to_tensor(np.array([[1.0], [5.0]], "float32"))
    mean, variance = paddle.zeros([1]), paddle.ones([1])
    F.batch_norm(x, mean, variance, training=True, momentum=0.5)
    assert (mean.item(), variance.item()) == (1.5, 2.5)
    F.batch_norm(x, mean, variance, training=True, use_global_stats=True)
    assert (mean.item(), variance.item()) == (1.5, 2.5)


def test_embedding_scales_the_rows_that_it_reads():
    w = paddle.to_tensor([[3.0, 4.0], [6.0, 8.0]])
    out = F.embedding(paddle.to_tensor([1]), w, max_norm=5.0)
    np.testing.assert_allclose(out.numpy(), [[3, 4]], rtol=1e-6)
    np.testing.assert_allclose(w.numpy(), [[3, 4], [3, 4]], rtol=1e-6)


@pytest.mark.parametrize("options", [{"kernel_size": 2}, {"kernel_size": 3, "stride": 1, "padding": 1}])
def test_of_equal_elements_the_first_gets_the_gradient(options):
    x = paddle.zeros([1, 1, 2, 2])
    x.stop_gradient = False
    F.max_pool2d(x, **options).sum().backward()
    assert x.grad.flatten().tolist() == [4.0 if "padding" in options else 1.0, 0.0, 0.0, 0.0]


def test_ctc_of_what_cannot_be_aligned():
    args = [paddle.zeros([1, 1, 3]), paddle.to_tensor([[1, 2]]), paddle.to_tensor([1]), paddle.to_tensor([2])]
    assert F.ctc_loss(*args, reduction="sum").item() == float("inf")
    args[0].stop_gradient = False
    loss = F.ctc_loss(*args, reduction="sum", zero_infinity=True)
    loss.backward()
    assert loss.item() == 0 and args[0].grad.abs().sum().item() == 0


def test_low_precision_sums_in_float32():
    x = paddle.full([4, 1000], 200.0, "float16")
    assert F.layer_norm(x, 1000).abs().max().item() < 0.01
    assert F.rms_norm(x, [1000]).dtype == paddle.float16
    np.testing.assert_allclose(F.rms_norm(x, [1000]).numpy(), 1, rtol=1e-3)


def test_packed_sequences_attend_to_themselves():
    x, starts = paddle.randn([5, 2, 4]), paddle.to_tensor([0, 3, 5])
    out = F.flash_attention.flash_attn_unpadded(x, x, x, starts, starts, 3, 2, 0.5, causal=True)[0]
    for a, b in ((0, 3), (3, 5)):
        alone = F.scaled_dot_product_attention(*[x[a:b].unsqueeze(0)] * 3, is_causal=True)[0]
        np.testing.assert_allclose(out[a:b].numpy(), alone.numpy(), rtol=1e-4, atol=1e-5)


X4, W4 = (2, 4, 6, 6), (4, 4, 3, 3)
ERRORS = [
    (lambda x: F.conv2d(x, paddle.ones([2, 3, 2, 2])), r"x has 4 channels, but weight \[2, 3, 2, 2\]"),
    (lambda x: F.conv2d(x[0], paddle.ones(W4)), "x has 3 dimensions; expected 4"),
    (lambda x: F.conv2d(x, paddle.ones(W4), padding="FULL"), "padding is 'FULL'"),
    (lambda x: F.conv2d(x, paddle.ones(W4), stride=[1, 2, 3]), "stride is .*expected a number or 2 numbers"),
    (lambda x: F.conv2d_transpose(x, paddle.ones(W4), stride=2, output_size=[99, 99]), "expected sizes from"),
    (lambda x: F.max_pool2d(x, 9, 1), "more than the padded size"),
    (lambda x: F.max_pool2d(x, 2, data_format="HWC"), "data_format is 'HWC'"),
    (lambda x: F.group_norm(x, 3), "num_groups=3|groups=3"),
    (lambda x: F.layer_norm(x, 5), r"normalized_shape is \[5\]"),
    (lambda x: F.dropout(x, 2.0), "p is 2.0"),
    (lambda x: F.mse_loss(x, x, "avg"), "reduction is 'avg'"),
    (lambda x: F.grid_sample(x, x, mode="cubic"), "mode is 'cubic'"),
    (lambda x: F.linear(x, paddle.ones([3, 2])), "last dimension of x is 6"),
]


@pytest.mark.parametrize(("wrong", "message"), ERRORS, ids=range(len(ERRORS)))
def test_errors_name_the_argument(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong(paddle.ones(X4))


def shapes():
    """(op, attributes, shapes) with unknown batch, height and width."""
    b, h, w = jax.export.symbolic_shape("b, h, w")
    pool = {"n": 2, "kernel": 2, "stride": None, "padding": 0, "ceil": False, "first": True}
    image, channel = (b, 4, h, w), (4,)
    norm = {"training": True, "epsilon": 1e-5, "data_format": "NCHW"}
    yield "conv2d", {"stride": 2, "padding": 1}, [image, W4]
    yield "conv2d_transpose", {"stride": 2}, [image, W4]
    yield "max_pool", {**pool, "kernel": 3, "stride": 2, "padding": 1}, [image]
    yield "max_pool", pool, [image]
    yield "avg_pool", {**pool, "exclusive": True, "divisor": None, "padding": 1}, [image]
    yield "adaptive_avg_pool", {"n": 2, "size": 1, "first": True}, [image]
    yield "batch_norm", norm, [image, *[channel] * 4]
    yield "attention", {"causal": True, "scale": 1.0}, [(b, h, 4, 8), (b, w, 2, 8), (b, w, 2, 8)]


@pytest.mark.parametrize("at", range(8))
def test_exports_with_unknown_sizes(at: int):
    name, attrs, specs = list(shapes())[at]
    fn = jax.jit(lambda *a: REGISTRY[name].fn(*a, **attrs))
    args = [jax.ShapeDtypeStruct(s, jnp.float32) for s in specs]
    exported = jax.export.export(fn, platforms=["cpu", "cuda", "tpu"])(*args)
    given = [np.ones([{"b": 2, "h": 6, "w": 8}.get(str(n), n) for n in s], "float32") for s in specs]
    for got, want in zip(*map(jax.tree.leaves, (exported.call(*given), fn(*given))), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize(("size", "windows"), [(1, False), ((1, 1), False), (2, True), ((1, None), True), (None, True)])
def test_a_mean_of_all_goes_over_no_windows(size, windows):
    x = paddle.ones([1, 2, 4, 4])
    x.stop_gradient = False
    assert F.adaptive_avg_pool2d(x, size)._source.bound.windows is windows


@pytest.mark.parametrize(
    ("call", "plain"),
    [
        (lambda x: F.conv2d(x, x), True),
        (lambda x: F.conv2d_transpose(x, x), True),
        (lambda x: F.max_pool2d(x, 2), True),
        (lambda x: F.relu(x), False),
        (lambda x: x.transpose([0, 1, 3, 2]), False),
    ],
)
def test_what_goes_over_windows_takes_plain_emitters(call, plain):
    x = paddle.ones([2, 2, 4, 4])
    x.stop_gradient = False
    assert call(x)._source.bound.plain is plain


@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_mean_of_all_is_summed_in_at_least_float32(data_format: str, dtype: str):
    x = paddle.full([1, 64, 64, 1] if data_format == "NHWC" else [1, 1, 64, 64], 0.1, dtype)
    out = F.adaptive_avg_pool2d(x, 1, data_format)
    assert out.dtype == x.dtype and out.item() == x.flatten()[0].item() and out.shape == [1, 1, 1, 1]


def test_a_mean_of_all_of_an_image_of_unknown_size(tmp_path):
    layer = paddle.nn.AdaptiveAvgPool2D(1)
    spec = paddle.static.InputSpec([None, 2, None, None])
    paddle.jit.save(paddle.nn.Sequential(layer), str(tmp_path / "pool"), input_spec=[spec])
    loaded = paddle.jit.load(str(tmp_path / "pool"))
    for shape in ([1, 2, 3, 4], [2, 2, 5, 5]):
        x = paddle.randn(shape)
        np.testing.assert_allclose(loaded(x).numpy(), x.numpy().mean((2, 3), keepdims=True), rtol=1e-5, atol=1e-6)
