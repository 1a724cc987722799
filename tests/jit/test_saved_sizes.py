"""Saved programs serve every size that their specs allow: conditions on sizes, and sizes that depend on data."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.nn import functional as F
from paddle_lite_py.static import InputSpec

ANY = [InputSpec([None, 3])]


def rows(n, seed=0):
    return paddle.to_tensor(np.random.default_rng(seed).standard_normal((n, 3)).astype("float32"))


def listed(found):
    return list(found) if isinstance(found, list | tuple) else [found]


def saved(function, specs, tmp_path):
    prefix = str(tmp_path / "program")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paddle.jit.save(paddle.jit.to_static(function, full_graph=True), prefix, input_spec=specs)
    return paddle.jit.load(prefix)


def agree(loaded, function, *args):
    found, expected = listed(loaded(*args)), listed(function(*args))
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-6)


def greater(x):
    if x.shape[0] > 4:
        return x * 2
    return x + 1


def number(x):
    n = 2 if x.shape[0] >= 4 else 3
    return x.sum() * n


def size_by_size(x):
    n = 3 if x.shape[0] >= 5 else 1
    return paddle.zeros([n, 2]) + x.mean()


def loop(x):
    i, total = 0, x[0] * 0
    while i < x.shape[0]:
        total = total + x[i] * i
        i += 1
    return total


def padded(x):
    return F.pad(x, [0, (4 - x.shape[0] % 4) % 4, 0, 0])


def padded_if(x):
    n = x.shape[0]
    if n % 4 != 0:
        x = paddle.concat([x, paddle.zeros([4 - n % 4, 3])])
    return x.reshape([-1, 4, 3]).sum(1)


def one(x):
    if x.shape[0] == 1:
        return x.sum(0)
    return x.mean(0)


def even(x):
    if x.shape[0] % 2 == 0:
        return x * 2
    return x


def both(x):
    n = x.shape[0]
    h = x if n > 3 and n < 6 else x * 0
    return h + (1 if not n == 4 else 0)


def halves(x):
    return x.reshape([x.shape[0] // 2, -1]) if x.shape[0] % 2 == 0 else x.reshape([1, -1])


def counted(x):
    for i in range(x.shape[0]):
        x = x + i
    return x


BY_SIZE = [greater, number, size_by_size, loop, padded, padded_if, one, even, both, halves, counted]


@pytest.mark.parametrize("function", BY_SIZE, ids=lambda f: f.__name__)
def test_conditions_on_sizes_are_part_of_the_program(function, tmp_path):
    loaded = saved(function, ANY, tmp_path)
    for n in (1, 4, 5, 6):
        agree(loaded, function, rows(n))


def shorter(x, y):
    n = min(x.shape[0], y.shape[0])
    return x[:n] + y[:n]


def longer(x, y):
    return paddle.zeros([max(x.shape[0], y.shape[0]), 2])


def zipped(x, y):
    total = 0.0
    for a, b in zip(x, F.softmax(y), strict=False):
        total = total + (a * b).sum()
    return total


@pytest.mark.parametrize("function", [shorter, longer, zipped], ids=lambda f: f.__name__)
def test_sizes_of_two_arguments(function, tmp_path):
    loaded = saved(function, ANY * 2, tmp_path)
    for m, n in ((4, 5), (5, 4), (3, 3)):
        agree(loaded, function, rows(m), rows(n, 1))


def masked(x):
    return x[x > 0] * 2


def found_rows(x):
    return F.relu(x[x.sum(1) > 0] @ paddle.ones([3, 2]))


def either(x):
    mask = x.sum(1) > 0
    if mask.sum() > 1:
        found = x[mask]
    else:
        found = x[:1]
    return found * 2


def in_branch(x):
    return x[x > 0].sum() if x.sum() > 0 else x.sum()


def none_found(x):
    found = x[x[:, 0] > 0]
    if found.shape[0] == 0:
        return x.sum()
    return found.sum()


def over_found(x):
    total = x[0] * 0
    for row in x[x[:, 0] > 0]:
        total = total + row
    return total


def filled(x):
    x = x.clone()
    x[x > 0] = -0.5
    return x


BY_DATA = [masked, found_rows, either, in_branch, none_found, over_found, filled]


@pytest.mark.parametrize("function", BY_DATA, ids=lambda f: f.__name__)
def test_sizes_that_depend_on_data(function, tmp_path):
    loaded = saved(function, ANY, tmp_path)
    for x in (rows(4), rows(5, 1), rows(4).abs(), -rows(4).abs()):
        agree(loaded, function, x)


def grown(x, n):
    out, i = x[:1], paddle.zeros([], "int64")
    while i < n:
        out = paddle.concat([out, out[-1:] + 1])
        i += 1
    return out


def as_long_as_the_longest(x, lengths):
    return paddle.zeros([2, int(lengths.max())]) + x.sum()


def as_long_as_an_argument(x, n):
    kept = paddle.arange(0, n.max(), dtype="int64")
    return paddle.where(kept > 1, x[:, 0], x[:, 1]) * 2


def kept_boxes(x, n):
    boxes = paddle.concat([x, x.abs()[:, :1]], 1).cumsum(1)
    return boxes[paddle.vision.ops.nms(boxes, 0.5, x[:, 0])] * n.sum()


SAID = [grown, as_long_as_the_longest, as_long_as_an_argument, kept_boxes]


@pytest.mark.parametrize("function", SAID, ids=lambda f: f.__name__)
def test_sizes_that_a_tensor_says(function, tmp_path):
    one_number = InputSpec([] if function is grown else [None], "int64")
    loaded = saved(function, [*ANY, one_number], tmp_path)
    for n in (3, 5):
        agree(loaded, function, rows(n), paddle.to_tensor(n if function is grown else [n, 1]))


def test_a_size_that_a_tensor_says_must_be_that_of_the_argument_it_meets(tmp_path):
    loaded = saved(as_long_as_an_argument, [*ANY, InputSpec([None], "int64")], tmp_path)
    with pytest.raises(ValueError, match="sizes 2 and 5"):
        loaded(rows(5), paddle.to_tensor([2]))


class Chosen(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = paddle.nn.Linear(3, 3)

    def forward(self, x):
        h = self.linear(x)
        return h[h > 0] * 2


def test_what_runs_in_parts_is_trained_nested_saved_again_and_served_by_a_predictor(tmp_path):
    net, prefix = Chosen(), str(tmp_path / "net")
    paddle.jit.save(net, prefix, input_spec=ANY)
    loaded, x = paddle.jit.load(prefix), rows(4)
    for each in (loaded, net):
        each(x).sum().backward()
    for a, b in zip(loaded.parameters(), net.parameters(), strict=True):
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-5)
    expected = net(x).numpy()
    assert paddle.jit.to_static(lambda x: loaded(x).sum())(x).item() == pytest.approx(expected.sum(), rel=1e-5)
    again = str(tmp_path / "again")
    paddle.jit.save(paddle.jit.to_static(lambda x: loaded(x) + 1, full_graph=True), again, input_spec=ANY)
    np.testing.assert_allclose(paddle.jit.load(again)(x).numpy(), expected + 1, rtol=1e-5)
    predictor = paddle.inference.create_predictor(paddle.inference.Config(prefix))
    np.testing.assert_allclose(predictor.run([x.numpy()])[0].numpy(), expected, rtol=1e-5)
    from paddle_lite_py.serving.models import ArtifactModel

    (found,) = ArtifactModel(prefix).run({"x": x.numpy()}).values()
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_no_runtime_but_onnx_is_given_a_program_in_parts(tmp_path):
    from paddle_lite_py.convert import ConvertError, SavedProgram

    saved(masked, ANY, tmp_path)
    with pytest.raises(ConvertError, match=r"runs in parts.*`_flat_nonzero` at .*test_saved_sizes.py"):
        SavedProgram(str(tmp_path / "program")).function()


def test_another_process_serves_any_size(tmp_path):
    saved(padded_if, ANY, tmp_path)
    code = (
        "import sys, paddle_lite_py as paddle\n"
        "f = paddle.jit.load(sys.argv[1])\n"
        "print([list(f(paddle.ones([n, 3])).shape) for n in (1, 4, 6)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "program")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[[1, 3], [1, 3], [2, 3]]"


def test_a_wrong_size_is_told_before_what_is_unknown(tmp_path):
    with pytest.raises(ValueError, match="the last dimension of x is 5, but weight"):
        paddle.jit.save(paddle.nn.Linear(3, 2), str(tmp_path / "x"), input_spec=[InputSpec([None, 5])])


class Deep(paddle.nn.Layer):
    """Windows over what windows leave: JAX compares such sizes in no time only if the windows are known to fit."""

    def __init__(self):
        super().__init__()
        self.conv = paddle.nn.Conv2D(1, 1, 3)

    def forward(self, x):
        for _ in range(6):
            x = F.max_pool2d(self.conv(x), 3, 2)
        return x.mean([1, 2, 3])


def test_windows_over_windows_are_saved_for_all_sizes_that_they_fit(tmp_path):
    net = Deep()
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec([None, 1, None, None])])
    loaded = paddle.jit.load(str(tmp_path / "net"))
    for shape in ([2, 1, 317, 320], [1, 1, 400, 330]):
        x = paddle.linspace(0, 1, int(np.prod(shape))).reshape(shape)
        np.testing.assert_allclose(loaded(x), net(x), rtol=1e-5)
    with pytest.raises(ValueError, match=r"saved for d0_\d >= \d+, and is called with .*d0_3 = 30"):
        loaded(paddle.ones([1, 1, 330, 30]))


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        (lambda x: paddle.unbind(x)[0], r" \(how many results _unbind has depends on batch\)"),
        (lambda x: paddle.split(x, x.shape[0])[0], r" \(how many results _split has depends on batch\)"),
        (lambda x: x[:, 0] * paddle.to_tensor(np.ones(x.shape[0], "float32")), ""),  # the line within NumPy is not told
    ],
    ids=["unbind", "split", "numpy"],
)
def test_a_size_that_python_needs_is_refused_at_its_line(use, reason, tmp_path):
    line = r"test_saved_sizes.py:\d+ needs the size of dimension 0 of `x`, which its InputSpec leaves open"
    with pytest.raises(ValueError, match=line + reason):
        saved(use, [InputSpec([None, 3], name="x")], tmp_path)


class Rows(nn.Layer):
    """Fixed as far as a reshape of the rows is."""

    def forward(self, x, y):
        return paddle.reshape(x + y, [4, -1])


class TurnsOver(nn.Layer):
    def forward(self, x, y):
        return paddle.stack([x[i] + y for i in range(int(x.shape[0]))])


@pytest.mark.parametrize(
    ("net", "shapes", "others", "refused"),
    [
        (Rows, [[4, 3], [4, 3]], [[[8, 3], [8, 3]]], [[8, 3], [4, 3]]),
        (Rows, [[4, 3], [1, 3]], [[[8, 3], [1, 3]]], [[8, 4], [1, 4]]),
        (lambda: nn.Bilinear(3, 2, 5), [[1, 3], [1, 2]], [[[6, 3], [6, 2]]], [[6, 3], [6, 3]]),
        (TurnsOver, [[4, 3], [3]], [], [[5, 4], [4]]),
    ],
)
def test_what_is_saved_after_a_call_takes_other_batches_where_it_can(tmp_path, recwarn, net, shapes, others, refused):
    """As in PaddlePaddle, whose guide saves a network after training with one batch and predicts with another."""
    net = paddle.jit.to_static(net())
    net(*map(paddle.rand, shapes))
    paddle.jit.save(net, str(tmp_path / "net"))
    loaded = paddle.jit.load(str(tmp_path / "net"))
    for each in (shapes, *others):
        given = [*map(paddle.rand, each)]
        np.testing.assert_allclose(loaded(*given).numpy(), net(*given).numpy(), rtol=1e-5)
    with pytest.raises(ValueError, match="InputSpec asks for|dimension batch is"):
        loaded(*map(paddle.rand, refused))
    assert not [w for w in recwarn if "jit.save" in str(w.message)]


def test_open_sizes_are_data_of_tensors(tmp_path):
    def f(x):
        n, k = x.shape[0], x.shape[1]
        sizes = paddle.to_tensor([n * 2, k, 1])
        return sizes, paddle.to_tensor(n + 1), paddle.to_tensor([[n, 0.5]]), paddle.to_tensor([n], "float32") * x

    loaded = saved(f, [InputSpec([None, None])], tmp_path)
    for n in (2, 5):
        agree(loaded, f, rows(n))
        assert [t.dtype for t in loaded(rows(n))] == [t.dtype for t in f(rows(n))]


def test_a_list_that_becomes_a_tuple_in_a_loop(tmp_path):
    def f(x):
        i, state = paddle.to_tensor(0), [x, [x]]
        while i < 3:
            state = (state[0] + 1, (state[1][0] * 2,))
            i = i + 1
        return state[0] + state[1][0]

    agree(saved(f, ANY, tmp_path), f, rows(4))
    agree(paddle.jit.to_static(f, full_graph=True), f, rows(2))


def test_a_list_that_a_function_makes_in_a_loop_over_an_open_size(tmp_path):
    def halves(x):
        out = []
        for part in (x * 2, x + 1):
            out.append(part)  # noqa: PERF402
        return out

    def f(x):
        found = paddle.zeros([1, 3])
        for i in range(x.shape[0]):
            parts = halves(x[i : i + 1])
            found = paddle.concat([found, parts[0], parts[1]])
        return found

    loaded = saved(f, ANY, tmp_path)
    for n in (1, 4):
        agree(loaded, f, rows(n))
