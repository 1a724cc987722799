"""Programs whose sizes depend on data as ONNX: for several sizes onnxruntime gives what eager code gives."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.convert.command import main
from paddle_lite_py.core import structure
from tables import sized_cases

F, V, S = nn.functional, paddle.vision.ops, paddle.static.InputSpec
jax2onnx = pytest.importorskip("jax2onnx")
ort = pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.filterwarnings("ignore")  # those packages warn of their own

RNG = np.random.RandomState(0)


def floats(*shape):
    return RNG.randn(*shape).astype("float32")


def ints(*values, dtype="int64"):
    return np.array(values, dtype)


def number(n):
    return np.array(n, "int64")


def boxes(n, *more):
    low = RNG.rand(n, 2) * 10
    return np.concatenate([low, low + 1 + RNG.rand(n, 2) * 6, *more], 1).astype("float32")


def scored(n):
    return boxes(n, RNG.rand(n, 1), RNG.rand(n, 1) * 3)


def gathered(x):
    rows = paddle.nonzero(x[:, 0] > 0).flatten()
    return paddle.gather(x, rows), paddle.scatter(x, rows, paddle.ones([rows.shape[0], 4]))


def written(x):
    y = x * 1.0
    y[x > 0] = -1.0
    return y


def cut(x):
    found = x[x > 0]
    return found[::2], found[1:], found[:-1], paddle.cumsum(found), found.max()


def distinct(x):
    return paddle.unique(paddle.floor(x), return_index=True, return_inverse=True, return_counts=True)


def runs(x):
    return paddle.unique_consecutive(paddle.floor(x).flatten(), return_counts=True)


def segments(x):
    return paddle.geometric.segment_sum(x, paddle.floor(paddle.abs(x[:, 0])).astype("int64").sort())


def masked_rows(x, lengths):
    longest = lengths.max()
    return paddle.zeros([x.shape[0], longest]) + (paddle.arange(0, longest) < lengths.unsqueeze(1)).astype("float32")


def repeated(x, n):
    return paddle.tile(x, [n, 1]), paddle.expand(x.unsqueeze(0), [n, *x.shape])


def branch(x):
    found = x[x > 0]
    return found * 2.0 if found.shape[0] > 3 else found + 1.0


def decode(x, n):
    out, i = x[:, :1], paddle.zeros([], "int64")
    while i < n:
        out = paddle.concat([out, out[:, -1:] + 1.0], 1)
        i += 1
    return out


def best(x):
    kept = x[x[:, 4] > 0.5]
    kept = kept[paddle.argsort(kept[:, 4], descending=True)]
    kinds = paddle.floor(kept[:, 5]).astype("int64")
    return kept[V.nms(kept[:, :4], 0.5, kept[:, 4], kinds, [0, 1, 2], top_k=5)]


def matrix(b, s):
    return V.matrix_nms(b, s, 0.3, 0.2, 5, 6, return_index=True)


def proposals(scores, deltas, sizes, anchors, spread):
    rois, marks, counts = V.generate_proposals(scores, deltas, sizes, anchors, spread, 20, 5, 0.6, return_rois_num=True)
    return marks, *V.distribute_fpn_proposals(rois, 2, 3, 2, 4, rois_num=counts)


def proposed(n, h, w):
    anchors = boxes(h * w * 2).reshape(h, w, 2, 4)
    return [RNG.rand(n, 2, h, w).astype("float32"), floats(n, 8, h, w) * 0.1, floats(n, 2) * 0 + 16, anchors,
            np.ones_like(anchors)]  # fmt: skip


class Regions(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Conv2D(3, 4, 3, padding=1), nn.Linear(16, 5)

    def forward(self, x, rois, counts):
        y = F.relu(self.body(x))
        return self.head(V.roi_align(y, rois, counts, 2, 0.5).flatten(1)), V.roi_pool(y, rois, counts, 2, 0.5)


class Pyramid(nn.Layer):
    """Open height and width: a net, its boxes, and what a threshold leaves of them."""

    def __init__(self):
        super().__init__()
        self.body, self.norm = nn.Conv2D(3, 8, 3, stride=2, padding=1), nn.BatchNorm2D(8)
        self.up, self.head = nn.Conv2DTranspose(8, 8, 2, stride=2), nn.Linear(8, 2)

    def forward(self, x):
        y = F.hardswish(self.norm(self.body(x)))
        y = self.up(F.avg_pool2d(y, 2)) + F.interpolate(F.max_pool2d(y, 2), size=[n // 2 * 2 for n in y.shape[2:]])
        scores = F.softmax(self.head(y.flatten(2).transpose([0, 2, 1])), -1)[:, :, 1]
        return scores[scores > 0.5], paddle.nonzero(scores > 0.5)


ROWS = S([None, 4])
THREE = [[floats(3, 4)], [floats(7, 4)], [-np.abs(floats(2, 4))]]  # the last one has nothing above 0
COUNTS = [[number(4)], [number(0)], [number(1)]]
CASES = {
    "mask": (lambda x: x[x > 0], [ROWS], THREE),
    "nonzero": (paddle.nonzero, [ROWS], THREE),
    "where of a condition": (lambda x: paddle.where(x > 0), [ROWS], THREE),
    "masked_select": (lambda x: paddle.masked_select(x, x > 0.5) * 2.0, [ROWS], THREE),
    "unique": (distinct, [ROWS], THREE),
    "unique_consecutive": (runs, [ROWS], THREE),
    "gather and scatter": (gathered, [ROWS], THREE),
    "a write under a mask": (written, [ROWS], THREE),
    "slices of what is found": (cut, [ROWS], THREE[:2]),
    "segment_sum": (segments, [ROWS], THREE),
    "bincount": (lambda x: paddle.bincount(paddle.floor(paddle.abs(x.flatten())).astype("int64")), [ROWS], THREE),
    "a branch on a size": (branch, [ROWS], THREE),
    "zeros": (lambda n: paddle.zeros([n, 2]), [S([], "int64")], COUNTS),
    "arange": (lambda n: paddle.arange(0, n), [S([], "int64")], COUNTS),
    "linspace": (lambda n: paddle.linspace(0, 1, n), [S([], "int64")], COUNTS[::2]),
    "one_hot": (F.one_hot, [S([None], "int64"), S([], "int64")], [[ints(1, 0, 2), number(3)], [ints(1), number(5)]]),
    "reshape": (
        lambda x, s: x.reshape(s), [ROWS, S([2], "int64")], [[floats(3, 4), ints(*s)] for s in ((4, 3), (1, 12))],
    ),
    "tile and expand": (repeated, [ROWS, S([], "int64")], [[floats(2, 4), number(3)], [floats(1, 4), number(1)]]),
    "repeat_interleave": (
        lambda x, n: paddle.repeat_interleave(x, n, 0), [ROWS, S([None], "int64")],
        [[floats(3, 4), ints(1, 2, 3)], [floats(2, 4), ints(0, 0)], [floats(4, 4), ints(0, 3, 1, 0)]],
    ),
    "interpolate": (
        lambda x, s: F.interpolate(x, size=s, mode="bilinear"), [S([1, 2, 4, 4]), S([2], "int64")],
        [[floats(1, 2, 4, 4), ints(*s)] for s in ((8, 8), (6, 3), (1, 1))],
    ),
    "rows up to their lengths": (
        masked_rows, [ROWS, S([None], "int64")], [[floats(3, 4), ints(1, 2, 3)], [floats(2, 4), ints(5, 2)]],
    ),
    "a loop that grows": (decode, [ROWS, S([], "int64")], [[floats(2, 4), number(n)] for n in (3, 0, 9)]),
    "nms": (lambda b, s: V.nms(b, 0.5, s), [ROWS, S([None])], [[boxes(n), floats(n)] for n in (5, 30, 1)]),
    "nms in order": (lambda b: V.nms(b, 0.3), [ROWS], [[boxes(n)] for n in (5, 30)]),
    "nms of classes": (best, [S([None, 6])], [[scored(n)] for n in (10, 40, 3)]),
    "matrix_nms": (
        matrix, [S([None, None, 4]), S([None, 3, None])],
        [[np.stack([boxes(n), boxes(n)]), RNG.rand(2, 3, n).astype("float32")] for n in (4, 12)],
    ),
    "proposals": (
        proposals, [S([None, 2, None, None]), S([None, 8, None, None]), S([None, 2]), *[S([None, None, 2, 4])] * 2],
        [proposed(2, 3, 4), proposed(1, 2, 2)],
    ),
    "regions": (
        Regions, [S([None, 3, 8, 8]), ROWS, S([None], "int32")],
        [[floats(b, 3, 8, 8), boxes(sum(n)), ints(*n, dtype="int32")] for b, n in ((2, (2, 3)), (1, (4,)))],
    ),
    "a net of any size": (Pyramid, [S([None, 3, None, None])], [[floats(2, 3, 8, 8)], [floats(1, 3, 12, 16)]]),
    "diagonals": (
        lambda x: [paddle.diagonal(x, k) for k in (0, 1, -2)], [ROWS], [[floats(n, 4)] for n in (5, 3, 1)],
    ),
    "windows": (
        lambda x: paddle.nonzero(F.unfold(x, [2, 3], paddings=[1, 0]) > 0), [S([None, 2, None, None])],
        [[floats(2, 2, 4, 5)], [floats(1, 2, 3, 3)]],
    ),
    # One part, but with sizes that jax2onnx does not compute.
    "padding": (lambda x: paddle.concat([x, paddle.zeros([-x.shape[0] % 4, 4])]), [ROWS], THREE),
    "the larger size": (
        lambda x, y: paddle.zeros([max(x.shape[0], y.shape[0]), 2]), [ROWS, ROWS],
        [[floats(3, 4), floats(5, 4)], [floats(6, 4), floats(2, 4)]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_onnxruntime_gives_what_eager_code_gives(name, tmp_path):
    function, spec, inputs = CASES[name]
    net = function() if isinstance(function, type) else function
    path = paddle.onnx.export(net, str(tmp_path / "model"), input_spec=spec)
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    net = net.eval() if isinstance(net, nn.Layer) else net
    for arrays in inputs:
        found = session.run(None, {i.name: a for i, a in zip(session.get_inputs(), arrays, strict=True)})
        same(found, net(*map(paddle.to_tensor, arrays)))


def same(found, result):
    wanted: list[paddle.Tensor] = []
    structure.flatten(result, lambda v: isinstance(v, paddle.Tensor), wanted)
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.numpy().dtype
        np.testing.assert_allclose(a, b.numpy(), rtol=1e-4, atol=1e-5)


def test_what_has_no_form_is_named_with_its_line(tmp_path):
    def found(x):
        return paddle.linalg.svd(x[x[:, 0] > 0])[1]

    with pytest.raises(paddle.onnx.OnnxError, match=r"ONNX has no form of\n  `svd` at test_parts.py:\d+"):
        paddle.onnx.export(found, str(tmp_path / "f"), input_spec=[ROWS])


def test_a_saved_program_is_compared_for_several_sizes_or_on_given_inputs(tmp_path, capsys):
    path, output = str(tmp_path / "saved"), str(tmp_path / "model")
    paddle.jit.save(lambda x, s: x.reshape(s), path, input_spec=[S([None, 4], name="x"), S([2], "int64", name="s")])
    with pytest.raises(SystemExit, match=r"not compared: the program does not run on made-up inputs"):
        main([path, "--to", "onnx", "-o", output])
    np.savez(tmp_path / "inputs.npz", x=floats(3, 4), s=ints(6, 2))
    main([path, "--to", "onnx", "-o", output, "--inputs", str(tmp_path / "inputs.npz")])
    assert "off by 0.0e+00 in onnxruntime" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"of other formats ONNX alone has operators for that"):
        main([path, "--to", "stablehlo", "-o", output])


# What data choose an axis, histograms in several dimensions, and pooling of one part, which jax2onnx writes.
NOT_IN_ONNX = {"argmin along an axis", "cumsum along an axis", "histogramdd", "roi_pool"}


@pytest.mark.parametrize("name", [n for n in sized_cases.CASES if n not in NOT_IN_ONNX])
def test_programs_of_static_mode_in_onnxruntime(name, tmp_path):
    given, function = sized_cases.GIVEN, sized_cases.CASES[name]
    spec = [S(list(a.shape), a.dtype.name, n) for n, a in given.items()]
    path = paddle.onnx.export(
        lambda *tensors: function(dict(zip(given, tensors, strict=True))), str(tmp_path / "m"), spec
    )
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    for arrays in (given, sized_cases.OTHER):
        found = session.run(None, {i.name: arrays[i.name] for i in session.get_inputs()})
        same(found, function({n: paddle.to_tensor(a) for n, a in arrays.items()}))
