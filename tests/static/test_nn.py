"""Layers, branches, loops and sequences of static programs."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn, static
from paddle_lite_py.nn import functional as F

pytestmark = pytest.mark.usefixtures("static_mode")


def run(fetches, **feed):
    exe = static.Executor()
    exe.run(static.default_startup_program())
    return exe.run(feed={k: np.asarray(v) for k, v in feed.items()}, fetch_list=list(fetches))


def value(name):
    return np.array(static.global_scope().find_var(name).get_tensor())


def images(n=2, c=3, size=4):
    return np.random.default_rng(0).normal(size=(n, c, size, size)).astype("float32")


# -- layers ------------------------------------------------------------------------------------------------------------
def test_fc_of_several_inputs():
    x, z = static.data("x", [None, 2, 3]), static.data("z", [None, 6])
    y = static.nn.fc([x, z], 4, activation="relu")
    feed = {"x": np.ones([5, 2, 3], "float32"), "z": np.full([5, 6], 2, "float32")}
    (found,) = run([y], **feed)
    expected = feed["x"].reshape(5, 6) @ value("fc_0.w_0") + feed["z"] @ value("fc_0.w_1") + value("fc_0.b_0")
    np.testing.assert_allclose(found, np.maximum(expected, 0), rtol=1e-5)


def test_fc_keeps_leading_dimensions():
    y = static.nn.fc(static.data("x", [None, 5, 3]), 4, num_flatten_dims=2, bias_attr=False)
    (found,) = run([y], x=np.ones([2, 5, 3], "float32"))
    np.testing.assert_allclose(found, np.ones([2, 5, 3]) @ value("fc_0.w_0"), rtol=1e-5)


def test_a_size_that_is_not_known_is_named():
    with pytest.raises(ValueError, match="fc: a size that the weight depends on of the input is not known"):
        static.nn.fc(static.data("x", [None, None]), 4)
    with pytest.raises(ValueError, match="act is 'rellu'"):
        static.nn.conv2d(static.data("i", [None, 3, 4, 4]), 2, 3, act="rellu")


def test_embedding_with_padding():
    y = static.nn.embedding(static.data("x", [None], "int64"), [5, 3], padding_idx=-1)
    (found,) = run([y], x=[0, 4])
    np.testing.assert_allclose(found, [value("embedding_0.w_0")[0], np.zeros(3)])


CALLS = {
    "conv2d": (lambda x: static.nn.conv2d(x, 4, 3, padding=1, act="relu"), (2, 4, 4, 4)),
    "conv2d_transpose": (lambda x: static.nn.conv2d_transpose(x, 4, output_size=[8, 8], stride=2), (2, 4, 8, 8)),
    "conv2d_transpose_filter": (lambda x: static.nn.conv2d_transpose(x, 4, filter_size=3), (2, 4, 6, 6)),
    "conv3d": (lambda x: static.nn.conv3d(x.unsqueeze(2), 4, 1), (2, 4, 1, 4, 4)),
    "conv3d_transpose": (lambda x: static.nn.conv3d_transpose(x.unsqueeze(2), 2, filter_size=2), (2, 2, 2, 5, 5)),
    "deform": (
        lambda x: static.nn.deform_conv2d(x, paddle.zeros([2, 18, 2, 2]), paddle.ones([2, 9, 2, 2]), 4, 3),
        (2, 4, 2, 2),
    ),
    "batch_norm": (lambda x: static.nn.batch_norm(x, act="tanh", moving_mean_name="mm"), (2, 3, 4, 4)),
    "layer_norm": (lambda x: static.nn.layer_norm(x, begin_norm_axis=2), (2, 3, 4, 4)),
    "group_norm": (lambda x: static.nn.group_norm(x, 3), (2, 3, 4, 4)),
    "instance_norm": (lambda x: static.nn.instance_norm(x), (2, 3, 4, 4)),
    "spectral_norm": (lambda x: static.nn.spectral_norm(static.create_parameter([4, 3], "float32")), (4, 3)),
    "bilinear": (lambda x: static.nn.bilinear_tensor_product(x[:, 0, 0], x[:, 1, 1], 5), (2, 5)),
    "row_conv": (lambda x: static.nn.row_conv(x[:, 0], 2), (2, 4, 4)),
    "nce": (lambda x: static.nn.nce(x[:, 0, 0], paddle.zeros([2, 1], "int64"), 7, num_neg_samples=3, seed=1), (2, 1)),
    **{
        f"prelu_{mode}": ((lambda m: lambda x: static.nn.prelu(x, m))(mode), (2, 3, 4, 4))
        for mode in ("all", "channel", "element")
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_layers_run_and_train(name):
    call, shape = CALLS[name]
    y = call(static.data("x", [None, 3, 4, 4]))
    loss = (y * y).mean()
    paddle.optimizer.SGD(0.05).minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    found, first = exe.run(feed={"x": images()}, fetch_list=[y, loss])
    assert found.shape == shape
    second = exe.run(feed={"x": images()}, fetch_list=[loss])[0]
    assert 0 < second < first


@pytest.mark.parametrize(("drawn", "costs", "slopes"), [
    (1, [0.74586, 0.6936053], [0.00295181, 0.00354696]),
    (3, [0.60665894, 0.56268233], [0.00262979, 0.00270109]),
])  # fmt: skip
def test_noise_costs_what_it_costs_in_paddle(drawn, costs, slopes):
    """All classes weigh the same, so that it does not matter which are drawn."""
    x = static.data("x", [2, 3])
    x.stop_gradient = False
    same = [nn.initializer.Constant(v) for v in (0.5, 0.25)]
    y = static.nn.nce(x, paddle.zeros([2, 1], "int64"), 2, None, *same, drawn)
    (grad,) = static.gradients([y], [x])
    cost, slope = run([y, grad], x=np.array([[1, 2, 3], [-1, 0.5, 0.25]], "float32"))
    np.testing.assert_allclose(cost[:, 0], costs, rtol=1e-6)
    np.testing.assert_allclose(slope, np.repeat([slopes], 3, 0).T, rtol=1e-5)


def test_noise_is_drawn_anew_unless_a_seed_is_given():
    x = paddle.ones([1, 3])
    costs = [static.nn.nce(x, paddle.zeros([1, 1], "int64"), 50, seed=seed) for seed in (0, 1)]
    exe = static.Executor()
    exe.run(static.default_startup_program())
    found = [[float(c[0, 0]) for c in exe.run(fetch_list=costs)] for _ in range(3)]
    drawn, given = map(set, zip(*found, strict=True))
    assert len(drawn) == 3 and len(given) == 1


def test_layers_equal_those_of_nn():
    x = static.data("x", [None, 3, 4, 4])
    a = static.nn.layer_norm(static.nn.prelu(static.nn.conv2d(x, 2, 3, bias_attr=False), "channel"))
    (found,) = run([a], x=images())
    weights = {n: value(n) for n in static.global_scope().local_var_names()}
    paddle.disable_static()
    y = F.conv2d(paddle.to_tensor(images()), paddle.to_tensor(weights["conv2d_0.w_0"]))
    y = F.prelu(y, paddle.to_tensor(weights["prelu_0.w_0"]))
    np.testing.assert_allclose(found, F.layer_norm(y, [2, 2, 2]).numpy(), rtol=1e-4, atol=1e-5)
    paddle.enable_static()


def test_batch_norm_names_its_statistics():
    static.nn.batch_norm(static.data("x", [None, 3, 4, 4]), moving_mean_name="mm", moving_variance_name="mv")
    run([], x=images())
    np.testing.assert_allclose(value("mm"), 0.1 * images().mean((0, 2, 3)), rtol=1e-4, atol=1e-6)
    assert value("mv").shape == (3,)


# -- state -------------------------------------------------------------------------------------------------------------
def test_global_variables_keep_what_is_assigned():
    step = static.create_global_var([1], 0, "int64", name="step")
    before = step + 0
    paddle.assign(step + 1, output=step)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    assert [[a.tolist() for a in exe.run(fetch_list=[before, step])] for _ in range(2)] == [[[0], [1]], [[1], [2]]]
    assert value("step").tolist() == [2]
    with pytest.raises(ValueError, match=r"'step' is int64\[1\] and cannot become float32\[1\]"):
        paddle.assign(step.astype("float32"), output=step)


def test_metrics_keep_their_state():
    x, y = static.data("x", [None, 2]), static.data("y", [None, 1], "int64")
    total, batch, _ = static.auc(x, y, num_thresholds=100)
    acc = static.accuracy(x, y)
    sums = static.ctr_metric_bundle(x[:, 1:], y)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    p = np.array([[0.4, 0.6], [0.8, 0.2], [0.1, 0.9], [0.3, 0.7]], "float32")
    labels = [np.array([[1], [0], [1], [0]]), np.array([[0], [1], [1], [0]])]
    found = [exe.run(feed={"x": p, "y": t}, fetch_list=[total, batch, acc, sums[-1]]) for t in labels]
    metric = paddle.metric.Auc(num_thresholds=100)
    for t, (whole, last, part, _) in zip(labels, found, strict=True):
        alone = paddle.metric.Auc(num_thresholds=100)
        metric.update(p, t)
        alone.update(p, t)
        np.testing.assert_allclose([whole, last], [metric.accumulate(), alone.accumulate()])
        assert part == ((p.argmax(1) == t[:, 0]).mean())
    assert found[-1][-1] == 8


@pytest.mark.parametrize(
    ("steps", "batches"), [(0, slice(0, 4)), (1, slice(3, 4)), (2, slice(2, 4)), (20, slice(0, 4))]
)
def test_auc_of_the_last_batches(steps, batches):
    x, y = static.data("x", [None, 2]), static.data("y", [None, 1], "int64")
    _, last, _ = static.auc(x, y, num_thresholds=100, slide_steps=steps)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    rng = np.random.default_rng(0)
    p, t = rng.random((4, 10), "float32"), rng.integers(0, 2, (4, 10, 1))
    both = np.stack([1 - p, p], -1)
    found = [exe.run(feed={"x": a, "y": b}, fetch_list=[last])[0] for a, b in zip(both, t, strict=True)]
    metric = paddle.metric.Auc(num_thresholds=100)
    metric.update(both[batches].reshape(-1, 2), t[batches].reshape(-1, 1))
    np.testing.assert_allclose(found[-1], metric.accumulate())


def test_auc_of_fewer_than_no_batches():
    x, y = static.data("x", [None, 2]), static.data("y", [None, 1], "int64")
    with pytest.raises(ValueError, match="slide_steps is -1; expected how many batches, or 0 for all"):
        static.auc(x, y, slide_steps=-1)


def test_print_shows_a_tensor_in_each_run(capsys):
    x = static.data("x", [2])
    y = static.Print(x, message="look") * 2
    run([y], x=np.array([1, 2], "float32"))
    out = capsys.readouterr().out
    assert "Variable: x" in out and "message: look" in out and "[1., 2.]" in out


# -- branches and loops ------------------------------------------------------------------------------------------------
def test_cond_gives_nested_results_and_writes_state():
    x = static.data("x", [1])
    count = static.create_global_var([1], 0.0, "float32")

    def yes():
        paddle.assign(count + 1, output=count)
        return {"a": x, "b": [x * 2]}

    found = static.nn.cond(x.sum() > 0, yes, lambda: {"a": -x, "b": [x]})
    exe = static.Executor()
    exe.run(static.default_startup_program())
    out = [
        [
            float(a[0])
            for a in exe.run(feed={"x": np.array([v], "float32")}, fetch_list=[found["a"], found["b"][0], count])
        ]
        for v in (3, -3, 2)
    ]
    assert out == [[3, 6, 1], [3, -3, 1], [2, 4, 2]]


def test_cond_says_what_differs():
    x = static.data("x", [1])
    with pytest.raises(TypeError, match=r"the result of cond`? is float32\[1\].*float32\[1, 1\]"):
        static.nn.cond(x.sum() > 0, lambda: x, lambda: x.reshape([1, 1]))
    with pytest.raises(TypeError, match="true_fn is a Tensor"):
        static.nn.cond(x.sum() > 0, x)


def test_case_and_switch_case():
    x, i = static.data("x", [1]), static.data("i", [1], "int32")
    a = static.nn.case([(x < 0, lambda: x * 0), (x < 1, lambda: x * 10)], default=lambda: x)
    b = static.nn.switch_case(i, {3: lambda: x + 3, 1: lambda: x + 1})
    found = [run([a, b], x=np.array([v], "float32"), i=np.array([k], "int32")) for v, k in ((-1, 1), (0.5, 3), (2, 9))]
    assert [[float(p[0]), float(q[0])] for p, q in found] == [[0, 0], [5, 3.5], [2, 5]]
    with pytest.raises(ValueError, match="index twice"):
        static.nn.switch_case(i, [(1, lambda: x), (1, lambda: x)])
    with pytest.raises(TypeError, match="pred_fn_pairs"):
        static.nn.case([])


def test_while_loop_has_a_gradient_of_any_length():
    x, n = static.data("x", [1]), static.data("n", [1], "int64")
    w = static.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(2.0))
    i, y = static.nn.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * w), [paddle.zeros([1], "int64"), x])
    ((_, grad),) = static.append_backward(y.sum())
    for k in (3, 100):
        count, out, g = run([i, y, grad], x=np.array([1.0], "float32"), n=np.array([k]))
        assert count[0] == k
        np.testing.assert_allclose([out[0], g[0]], [2.0**k, k * 2.0 ** (k - 1)], rtol=1e-5)


def test_while_loop_checks_its_arguments():
    x = static.data("x", [1])
    with pytest.raises(ValueError, match="body gives 2 values, but there are 1 loop_vars"):
        static.nn.while_loop(lambda v: v.sum() < 3, lambda v: [v, v], [x])
    with pytest.raises(TypeError, match=r"`loop_vars` is .* after one iteration"):
        static.nn.while_loop(lambda v: v.sum() < 3, lambda v: [v.reshape([1, 1])], [x])
    with pytest.raises(ValueError, match="loop_vars is empty"):
        static.nn.while_loop(lambda: x, lambda: x, [])
    with pytest.raises(TypeError, match="cond is a int"):
        static.nn.while_loop(1, lambda v: v, [x])


def test_a_plain_if_on_a_value_is_explained():
    x = static.data("x", [1])
    with pytest.raises(TypeError, match=r"has only when the program runs: .*static\.nn\.cond"):
        bool(x > 0)


def test_static_functions_become_part_of_the_program():
    @paddle.jit.to_static
    def f(x):
        if x.sum() > 0:
            return x * 2
        return -x

    y = f(static.data("x", [1]))
    assert [run([y], x=np.array([v], "float32"))[0].tolist() for v in (2, -3)] == [[4], [3]]


def test_own_gradients():
    x = static.data("x", [2])
    x.stop_gradient = False
    y = static.nn.static_pylayer(lambda x: x * 2, [x], lambda dy: dy * 10)
    (dx,) = static.gradients(y, x)
    assert [a.tolist() for a in run([y, dx], x=np.ones([2], "float32"))] == [[2, 2], [10, 10]]


# -- sequences ---------------------------------------------------------------------------------------------------------
DATA = np.arange(12, dtype="float32").reshape(2, 3, 2)
LENGTHS = np.array([3, 2])
ROWS = [DATA[0], DATA[1, :2]]
POOLS = {
    "sum": lambda s: s.sum(0),
    "average": lambda s: s.mean(0),
    "sqrt": lambda s: s.sum(0) / np.sqrt(len(s)),
    "max": lambda s: s.max(0),
    "first": lambda s: s[0],
    "last": lambda s: s[-1],
}


def sequences():
    return static.data("x", [None, None, 2]), static.data("n", [None], "int64")


def test_sequences_are_pooled():
    x, n = sequences()
    found = run([static.nn.sequence_pool(x, kind, lengths=n) for kind in POOLS], x=DATA, n=LENGTHS)
    for pool, a in zip(POOLS.values(), found, strict=True):
        np.testing.assert_allclose(a, [pool(s) for s in ROWS], rtol=1e-6)
    empty = static.nn.sequence_pool(x, "max", pad_value=7.0, lengths=n)
    assert run([empty], x=DATA, n=np.array([0, 1]))[0].tolist() == [[7, 7], [6, 7]]
    steps = [static.nn.sequence_first_step(x), static.nn.sequence_last_step(x, lengths=n)]
    first, last = run(steps, x=DATA, n=LENGTHS)
    np.testing.assert_allclose(first, DATA[:, 0])
    np.testing.assert_allclose(last, [DATA[0, 2], DATA[1, 1]])
    with pytest.raises(ValueError, match="pool_type is 'mean'"):
        static.nn.sequence_pool(x, "mean")


def test_sequences_are_normalized_expanded_and_convolved():
    x, n = sequences()
    soft = static.nn.sequence_softmax(x[:, :, 0], lengths=n)
    wide = static.nn.sequence_expand(x[:, 0], x, lengths=n)
    conv = static.nn.sequence_conv(x, 4, 3, bias_attr=False, lengths=n)
    a, b, c = run([soft, wide, conv], x=DATA, n=LENGTHS)
    for i, row in enumerate(ROWS):
        e = np.exp(row[:, 0] - row[:, 0].max())
        np.testing.assert_allclose(a[i, : len(row)], e / e.sum(), rtol=1e-5)
        np.testing.assert_allclose(b[i, : len(row)], np.repeat(row[:1], len(row), 0))
        padded = np.pad(row, ((1, 1), (0, 0)))
        windows = np.stack([padded[k : k + 3].ravel() for k in range(len(row))])
        np.testing.assert_allclose(c[i, : len(row)], windows @ value("sequence_conv_0.w_0"), rtol=1e-5, atol=1e-5)
    assert not a[1, 2:].any() and not b[1, 2:].any()


def test_python_functions_in_a_program():
    x = static.data("x", [None, 3])
    x.stop_gradient = False
    out = static.default_main_program().current_block().create_var("sorted", "float32", [-1, 3])
    static.nn.py_func(lambda a: np.sort(a, -1), x, out, lambda a, b, g: g * 2)
    (dx,) = static.gradients(out * 3, x)
    found = run([out, dx], x=np.array([[3, 1, 2]], "float32"))
    assert [a.tolist() for a in found] == [[[1, 2, 3]], [[6, 6, 6]]]
    with pytest.raises(NotImplementedError, match=r"append_op: .*paddle\.utils\.custom_op"):
        static.default_main_program().current_block().append_op(type="relu")


def test_sizes_of_other_data_are_the_same_sizes():
    x = static.data("x", [None, 3])
    y = static.data("y", x.shape)
    assert (x + y).shape == x.shape == y.shape
    with pytest.raises(ValueError, match="'y' .*3"):
        run([x + y], x=np.ones([2, 3], "float32"), y=np.ones([4, 3], "float32"))


BROADCAST = {
    "add": lambda x, y: x + y,
    "a chain": lambda x, y: paddle.concat([paddle.maximum(x, y), x * y]).reshape([-1]),
    "matmul": lambda x, y: paddle.matmul(x.unsqueeze(1), y.unsqueeze(2)),
    "expand_as": paddle.expand_as,
}


@pytest.mark.parametrize("name", BROADCAST)
def test_a_size_that_is_fed_as_1_broadcasts(name):
    x, y = (static.data(n, [None, 3]) for n in "xy")
    out = BROADCAST[name](x, y)
    for rows in ((2, 2), (1, 4), *([] if name == "expand_as" else [(4, 1)])):
        given = {n: np.arange(k * 3, dtype="float32").reshape(k, 3) for n, k in zip("xy", rows, strict=True)}
        (found,) = run([out], **given)
        paddle.disable_static()
        wanted = BROADCAST[name](*map(paddle.to_tensor, given.values())).numpy()
        paddle.enable_static()
        np.testing.assert_array_equal(found, wanted)


def test_a_size_that_an_attribute_has_is_one_number():
    x, y = (static.data(n, [None, 3]) for n in "xy")
    out = (x + y).reshape([x.shape[0], 3])
    with pytest.raises(ValueError, match="the program takes these sizes to be the same"):
        run([out], x=np.ones([1, 3], "float32"), y=np.ones([2, 3], "float32"))


def test_data_of_which_only_a_size_is_read_are_fed():
    x, y = (static.data(n, [None, 3]) for n in "xy")
    out = paddle.zeros([y.shape[0], 2]) + x.sum()
    (found,) = run([out], x=np.ones([1, 3], "float32"), y=np.ones([4, 3], "float32"))
    assert found.shape == (4, 2)
    with pytest.raises(ValueError, match="'y' is missing"):
        run([out], x=np.ones([1, 3], "float32"))


def test_reflecting_grids_of_any_size():
    x, grid = static.data("x", [None, 2, None, None]), static.data("grid", [None, None, None, 2])
    out = paddle.nn.functional.grid_sample(x, grid, padding_mode="reflection")
    for n, h in ((2, 4), (1, 3)):
        given = {
            "x": np.random.rand(n, 2, h, 5).astype("float32"),
            "grid": np.random.rand(n, 3, 2, 2).astype("float32") * 3,
        }
        (found,) = run([out], **given)
        paddle.disable_static()
        wanted = paddle.nn.functional.grid_sample(*map(paddle.to_tensor, given.values()), padding_mode="reflection")
        paddle.enable_static()
        np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-4, atol=1e-5)


def test_what_is_not_available_says_so():
    for call in (static.IpuStrategy, static.IpuCompiledProgram, static.ipu_shard_guard):
        with pytest.raises(NotImplementedError, match="no graph processors"):
            call()
    with pytest.raises(NotImplementedError, match="weight_norm"):
        static.WeightNormParamAttr(dim=0)
