"""Families of ops with attributes drawn at random, valid or not: a result or a Python error, the same in a program, and
what NumPy gives where that has the function."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import paddle_lite_py as paddle
from op_calls import ERRORS

F = paddle.nn.functional
Draw = Callable[..., Any]
quickly = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)

# Few, so that compiled code is met again.
SHAPES = [(3,), (2, 3), (2, 0), (2, 3, 4), (1, 3, 1, 2)]
AXIS = st.sampled_from([None, 0, 1, -1, 2, -3, 5])
AXES = st.one_of(AXIS, st.sampled_from([[0, 1], [-1, 0], [0, 0], []]))


def values(shape: tuple[int, ...], seed: int = 0, dtype: str = "float32") -> np.ndarray:
    """Different numbers, so that order has no ties."""
    n = int(np.prod(shape))
    return ((np.random.default_rng(seed).permutation(n) - n // 2) / 4 + 0.1).reshape(shape).astype(dtype)


def outcome(run: Callable[..., Any], arrays: list[np.ndarray]) -> Any:
    """The results as arrays, or the type of the error."""
    try:
        made = run(*[paddle.to_tensor(a) for a in arrays])
    except ERRORS as e:
        assert str(e).strip()
        return type(e)
    return [np.asarray(m.numpy()) for m in (made if isinstance(made, list | tuple) else [made]) if m is not None]


def agree(run: Draw, arrays: list[np.ndarray], oracle: Draw | None = None, close: float = 1e-4) -> None:
    """Eager mode and a program do the same, and what NumPy does where it gives something."""
    eager, static = outcome(run, arrays), outcome(paddle.jit.to_static(run), arrays)
    failed = isinstance(eager, type), isinstance(static, type)
    assert failed[0] == failed[1], (eager, static)
    want = expected(oracle, arrays)
    if failed[0]:
        assert want is None, (eager, want)
        return
    same(static, eager, close)
    if want is not None:
        same(eager, want, close)


def expected(oracle: Draw | None, arrays: list[np.ndarray]) -> Any:
    """What NumPy gives; None where that raises an error too."""
    try:
        made = None if oracle is None else oracle(*arrays)
    except (ValueError, TypeError, IndexError, np.exceptions.AxisError):
        return None
    return made if made is None or isinstance(made, list | tuple) else [made]


def same(got: list[Any], want: list[Any], close: float) -> None:
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert g.shape == np.shape(w)
        np.testing.assert_allclose(g, w, rtol=close, atol=close)


def drawn(data: Any, **attributes: Any) -> dict[str, Any]:
    return {name: data.draw(s, name) for name, s in attributes.items()}


REDUCTIONS = ["sum", "mean", "max", "min", "prod", "amax", "std", "var", "logsumexp", "any", "all", "norm", "median"]
OF_NUMPY = {"sum", "mean", "max", "min", "prod", "amax", "any", "all"}


@quickly
@given(st.data())
def test_reductions(data: Any):
    name, shape = data.draw(st.sampled_from(REDUCTIONS)), data.draw(st.sampled_from(SHAPES))
    attrs = drawn(data, axis=AXES, keepdim=st.booleans())
    x = values(shape) > 0 if name in ("any", "all") else values(shape)
    axes = tuple(attrs["axis"]) if isinstance(attrs["axis"], list) else attrs["axis"]
    plain = name in OF_NUMPY and axes != () and (x.size or name in ("sum", "prod", "any", "all"))
    oracle = (lambda a: getattr(np, name)(a, axis=axes, keepdims=attrs["keepdim"])) if plain else None
    agree(lambda t: getattr(paddle, name)(t, **attrs), [x], oracle)


@quickly
@given(st.data())
def test_order_and_sums_along_an_axis(data: Any):
    axis, shape = data.draw(st.sampled_from([0, 1, -1, -3, 5])), data.draw(st.sampled_from(SHAPES))
    x, down = values(shape), data.draw(st.booleans())
    choices: dict[str, tuple[Draw, Draw | None]] = {
        "cumsum": (lambda t: t.cumsum(axis), lambda a: a.cumsum(axis)),
        "cumprod": (lambda t: t.cumprod(axis), lambda a: a.cumprod(axis)),
        "sort": (lambda t: t.sort(axis, descending=down), lambda a: -np.sort(-a, axis) if down else np.sort(a, axis)),
        "argsort": (lambda t: t.argsort(axis, descending=down), lambda a: np.argsort(-a if down else a, axis)),
        "topk": (lambda t: t.topk(2, axis, largest=down), None),
        "argmax": (lambda t: t.argmax(axis), lambda a: a.argmax(axis) if a.size else None),
        "kthvalue": (lambda t: t.kthvalue(2, axis), None),
        "cummax": (lambda t: t.cummax(axis), None),
        "logcumsumexp": (lambda t: t.logcumsumexp(axis), lambda a: np.log(np.exp(a).cumsum(axis))),
        "diff": (lambda t: t.diff(axis=axis), lambda a: np.diff(a, axis=axis)),
    }
    agree_of(choices, data, x)


def agree_of(choices: dict[str, tuple[Draw, Draw | None]], data: Any, x: np.ndarray) -> None:
    run, oracle = choices[data.draw(st.sampled_from(sorted(choices)))]
    agree(run, [x], oracle)


SIZES = st.lists(st.sampled_from([-1, 0, 1, 2, 3, 4, 6]), max_size=3)


@quickly
@given(st.data())
def test_shapes(data: Any):
    x, to = values(data.draw(st.sampled_from(SHAPES))), data.draw(SIZES)
    axis, other = data.draw(st.sampled_from([0, 1, -1, -2, 4])), data.draw(st.sampled_from([0, 1, -1]))
    order = data.draw(st.permutations(range(x.ndim)))
    positive = [abs(n) for n in to]
    kept = [x.shape[i] if n == 0 and x.size and i < x.ndim else n for i, n in enumerate(to)]
    choices: dict[str, tuple[Draw, Draw | None]] = {
        "reshape": (lambda t: t.reshape(to), (lambda a: a.reshape(kept)) if x.size else None),
        "transpose": (lambda t: t.transpose(order), lambda a: a.transpose(order)),
        "squeeze": (lambda t: t.squeeze(axis), lambda a: a.squeeze(axis) if a.shape[axis] == 1 else a),
        "unsqueeze": (lambda t: t.unsqueeze(axis), lambda a: np.expand_dims(a, axis)),
        "expand": (lambda t: t.expand(positive), lambda a: np.broadcast_to(a, positive) if positive else None),
        "tile": (lambda t: t.tile(positive), lambda a: np.tile(a, positive)),
        "flip": (lambda t: t.flip(axis), lambda a: np.flip(a, axis)),
        "roll": (lambda t: t.roll(2, axis), lambda a: np.roll(a, 2, axis)),
        "split": (lambda t: t.split(2, axis), lambda a: np.split(a, 2, axis)),
        "moveaxis": (lambda t: t.moveaxis(axis, other), lambda a: np.moveaxis(a, axis, other)),
        "concat": (lambda t: paddle.concat([t, t], axis), lambda a: np.concatenate([a, a], axis)),
        "stack": (lambda t: paddle.stack([t, t], axis), lambda a: np.stack([a, a], axis)),
        "rot90": (lambda t: paddle.rot90(t, 1, [axis, other]), lambda a: np.rot90(a, 1, [axis, other])),
        "repeat": (lambda t: t.repeat_interleave(2, axis), lambda a: np.repeat(a, 2, axis)),
        "unbind": (lambda t: t.unbind(axis), lambda a: [np.take(a, i, axis) for i in range(a.shape[axis])]),
        "flatten": (lambda t: t.flatten(other, axis), None),
        "diagonal": (lambda t: t.diagonal(1, axis, other), lambda a: a.diagonal(1, axis, other)),
        "slice": (lambda t: t.slice([axis], [1], [9]), lambda a: np.take(a, range(1, a.shape[axis]), axis)),
    }
    agree_of(choices, data, x)


PLACE = st.one_of(
    st.sampled_from([0, -1, 1, 3, None, ..., slice(None), slice(None, None, 2), slice(1, None), slice(2, 0)]),
    st.sampled_from([slice(None, None, -1), [0, 1], [1, -1, 0], [[0], [1]], True]),
)


@settings(quickly, max_examples=30)
@given(st.data())
def test_indices(data: Any):
    x = values(data.draw(st.sampled_from([(3,), (2, 3), (2, 3, 4)])))
    at = tuple(data.draw(st.lists(PLACE, min_size=1, max_size=3)))
    # Numbers select before lists do: NumPy takes them for lists of one, which matters beside a new axis.
    mixed = None in at and any(isinstance(i, list) for i in at) and any(isinstance(i, int) for i in at)
    plain = ("?",) if mixed else tuple(np.array(i) if isinstance(i, list) else i for i in at)
    agree(lambda t: t[at if len(at) > 1 else at[0]], [x], lambda a: a[plain])

    def put(t: Any, index: Any) -> Any:
        t = t.clone() if isinstance(t, paddle.Tensor) else t.copy()
        t[index] = 9.0
        return t

    agree(lambda t: put(t, at), [x], lambda a: put(a, plain))


@quickly
@given(st.data())
def test_masks(data: Any):
    x = values((2, 3))
    mask = data.draw(st.sampled_from([np.array([True, False]), x > 0, np.zeros((2, 3), bool), np.ones(3, bool)]))
    agree(lambda t, m: paddle.where(m.expand([2, 3]) if m.ndim == 2 else t > 0, t, t * 2), [x, mask])
    eager = outcome(lambda t, m: t[m], [x, mask])
    want = expected(lambda a, m: a[m], [x, mask])
    assert isinstance(eager, type) == (want is None)
    if want is not None:
        same(eager, want, 0)


MATRICES = [(3, 3), (2, 2), (2, 3, 3), (2, 3), (3,), (0, 0), (1, 2, 2)]


@quickly
@given(st.data())
def test_matrices(data: Any):
    x, y = (values(data.draw(st.sampled_from(MATRICES)), i) for i in (0, 1))
    left, right = data.draw(st.booleans()), data.draw(st.booleans())
    solved = x.ndim > 1 and x.shape[-1] == x.shape[-2] and x.size
    x = x + 9 * np.eye(x.shape[-1], dtype="float32") if solved else x
    choices: dict[str, tuple[Draw, Draw | None]] = {
        "matmul": (lambda a, b: paddle.matmul(a, b, left, right), None if left or right else np.matmul),
        "inv": (lambda a, b: paddle.linalg.inv(a), lambda a, b: np.linalg.inv(a)),
        "det": (lambda a, b: paddle.linalg.det(a), lambda a, b: np.linalg.det(a)),
        "solve": (lambda a, b: paddle.linalg.solve(a, b), None),
        "qr": (lambda a, b: paddle.linalg.qr(a)[1].abs(), None),
        "svdvals": (lambda a, b: paddle.linalg.svdvals(a), lambda a, b: np.linalg.svd(a, compute_uv=False)),
        "eigvalsh": (lambda a, b: paddle.linalg.eigvalsh(a), lambda a, b: np.linalg.eigvalsh(a)),
        "cross": (lambda a, b: paddle.cross(a, b), None),
        "kron": (lambda a, b: paddle.kron(a, b), np.kron if x.ndim == y.ndim else None),
        "outer": (lambda a, b: paddle.outer(a, b), np.outer),
        "dot": (lambda a, b: paddle.dot(a, b), None),
    }
    run, oracle = choices[data.draw(st.sampled_from(sorted(choices)))]
    agree(run, [x, y], oracle, 1e-2)


LOSSES = ["mse_loss", "l1_loss", "smooth_l1_loss", "binary_cross_entropy_with_logits", "kl_div", "huber_loss",
          "soft_margin_loss", "hinge_embedding_loss", "cosine_embedding_loss", "square_error_cost"]  # fmt: skip


@quickly
@given(st.data())
def test_losses(data: Any):
    name = data.draw(st.sampled_from([n for n in LOSSES if hasattr(F, n)]))
    x, y = (values(data.draw(st.sampled_from([(2, 3), (3,), (2, 0), (2, 1)])), i) for i in (0, 1))
    how = {} if name == "square_error_cost" else drawn(data, reduction=st.sampled_from(["mean", "sum", "none", "avg"]))
    agree(lambda a, b: getattr(F, name)(a, b, **how), [x, y])


@quickly
@given(st.data())
def test_cross_entropy(data: Any):
    attrs = drawn(
        data, reduction=st.sampled_from(["mean", "sum", "none"]), axis=st.sampled_from([-1, 1, 0]),
        ignore_index=st.sampled_from([-100, 0, 1]), soft_label=st.booleans(),
        label_smoothing=st.sampled_from([0.0, 0.1]),
    )  # fmt: skip
    x = values(data.draw(st.sampled_from([(2, 3), (2, 3, 4), (3,), (0, 3)])))
    label = (
        values(x.shape, 1) ** 2
        if attrs["soft_label"]
        else np.ones(data.draw(st.sampled_from([(2,), (2, 1), (2, 4)])), int)
    )
    agree(lambda a, b: F.cross_entropy(a, b, **attrs), [x, label])


def convolved(x: np.ndarray, w: np.ndarray, stride: int, pad: int, dilation: int, groups: int) -> np.ndarray:
    """Convolution by its definition: x [n, c, *space], w [out, c / groups, *kernel]."""
    n, space = len(w.shape) - 2, x.shape[2:]
    x = np.pad(x, [(0, 0), (0, 0)] + [(pad, pad)] * n)
    counts = [(s + 2 * pad - dilation * (k - 1) - 1) // stride + 1 for s, k in zip(space, w.shape[2:], strict=True)]
    if min(counts) < 1 or x.shape[1] != w.shape[1] * groups or w.shape[0] % groups:
        raise ValueError
    out = np.zeros((x.shape[0], w.shape[0], *counts), "float32")
    for at in itertools.product(*map(range, counts)):
        cut = tuple(
            slice(i * stride, i * stride + dilation * (k - 1) + 1, dilation)
            for i, k in zip(at, w.shape[2:], strict=True)
        )
        parts = np.split(x[(slice(None), slice(None), *cut)], groups, 1)
        found = [
            np.tensordot(p, v, (range(1, n + 2), range(1, n + 2)))
            for p, v in zip(parts, np.split(w, groups), strict=True)
        ]
        out[(slice(None), slice(None), *at)] = np.concatenate(found, 1)
    return out


@quickly
@given(st.data())
@pytest.mark.parametrize("n", [1, 2, 3])
def test_convolutions(n: int, data: Any):
    ints = drawn(
        data,
        stride=st.integers(1, 2),
        pad=st.integers(0, 2),
        dilation=st.integers(1, 2),
        groups=st.sampled_from([1, 2]),
    )
    stride, pad, dilation, groups = ints.values()
    x = values((2, 4, *(5, 4, 4)[:n]))
    w = values((4, data.draw(st.sampled_from([4, 2])), *(2, 3, 2)[:n]), 1)
    last = data.draw(st.booleans())
    form = {1: "NLC", 2: "NHWC", 3: "NDHWC"}[n]
    fn = getattr(F, f"conv{n}d")

    def run(a: Any, b: Any) -> Any:
        if not last:
            return fn(a, b, None, stride, pad, dilation, groups)
        out = fn(a.moveaxis(1, -1), b, None, stride, pad, dilation, groups, data_format=form)
        return out.moveaxis(-1, 1)

    agree(run, [x, w], lambda a, b: convolved(a, b, stride, pad, dilation, groups), 1e-3)


PADDINGS = st.sampled_from(
    [0, 1, 3, [1, 2], [1, 0, 2, 1], "SAME", "valid", [[0, 0], [0, 0], [1, 0], [0, 1]], "FULL", -1]
)


@quickly
@given(st.data())
def test_windows(data: Any):
    name = data.draw(st.sampled_from(["conv2d", "conv2d_transpose", "max_pool2d", "avg_pool2d", "unfold", "lp_pool2d"]))
    attrs = drawn(data, stride=st.sampled_from([1, 2, [2, 1], 0]), padding=PADDINGS)
    x, w = values((1, 2, 5, 4)), values((2, 2, 3, 2), 1)
    ceil = data.draw(st.booleans())
    runs: dict[str, Draw] = {
        "conv2d": lambda a, b: F.conv2d(a, b, **attrs),
        "conv2d_transpose": lambda a, b: F.conv2d_transpose(a, b, **attrs),
        "max_pool2d": lambda a, b: F.max_pool2d(a, 2, ceil_mode=ceil, **attrs),
        "avg_pool2d": lambda a, b: F.avg_pool2d(a, [3, 2], ceil_mode=ceil, exclusive=not ceil, **attrs),
        "lp_pool2d": lambda a, b: F.lp_pool2d(a.abs(), 2, 2, ceil_mode=ceil, **attrs),
        "unfold": lambda a, b: F.unfold(a, 2, attrs["stride"], attrs["padding"]),
    }
    agree(runs[name], [x, w])


@quickly
@given(st.data())
def test_interpolation(data: Any):
    n = data.draw(st.sampled_from([1, 2, 3]))
    x = values((1, 2, *(4, 3, 2)[:n]))
    mode = data.draw(st.sampled_from(["nearest", "linear", "bilinear", "trilinear", "bicubic", "area"]))
    size = data.draw(st.sampled_from([None, list(x.shape[2:]), [6, 5, 3][:n], 7]))
    attrs = drawn(data, align_corners=st.booleans(), align_mode=st.integers(0, 1))
    attrs |= {"size": size} if size is not None else drawn(data, scale_factor=st.sampled_from([2, 1.5, 0.5]))
    form = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[n]
    whole = (lambda a: a) if size == list(x.shape[2:]) and mode not in ("area", "nearest") else None
    try:
        F.interpolate(paddle.to_tensor(x), mode=mode, data_format=form, **attrs)
    except ERRORS:
        whole = None
    agree(lambda a: F.interpolate(a, mode=mode, data_format=form, **attrs), [x], whole)


def standardised(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


@quickly
@given(st.data())
def test_normalizations(data: Any):
    x = values(data.draw(st.sampled_from([(2, 4), (2, 4, 3), (2, 4, 2, 3)])))
    count, groups = data.draw(st.integers(1, 3)), data.draw(st.sampled_from([1, 2, 3]))
    inner = list(x.shape[-count:])
    channels = (0, *range(2, x.ndim))
    mean, variance = paddle.zeros([4]), paddle.ones([4])
    choices: dict[str, tuple[Draw, Draw | None]] = {
        "layer": (lambda t: F.layer_norm(t, inner), lambda a: standardised(a, tuple(range(-len(inner), 0)))),
        "batch": (lambda t: F.batch_norm(t, mean, variance, training=True), lambda a: standardised(a, channels)),
        "instance": (
            lambda t: F.instance_norm(t),
            lambda a: standardised(a, tuple(range(2, a.ndim))) if a.ndim > 2 else None,
        ),
        "group": (lambda t: F.group_norm(t, groups), None),
        "rms": (lambda t: F.rms_norm(t, inner), None),
        "normalize": (lambda t: F.normalize(t, axis=count - 2), None),
        "response": (lambda t: F.local_response_norm(t, count), None),
    }
    run, oracle = choices[data.draw(st.sampled_from(sorted(choices)))]
    agree(run, [x], oracle, 1e-3)


PADS = st.sampled_from([[1, 2], [1, 0, 2, 1], [0, 1, 1, 0, 2, 0], [1, 1, 1, 1, 0, 0, 0, 0], [-1, 0], 1, [9, 9]])


@quickly
@given(st.data())
def test_padding(data: Any):
    x = values(data.draw(st.sampled_from([(2, 3, 4), (1, 2, 3, 4), (1, 1, 2, 3, 4)])))
    attrs = drawn(data, pad=PADS, mode=st.sampled_from(["constant", "reflect", "replicate", "circular", "mirror"]))
    agree(lambda t: F.pad(t, **attrs), [x])
