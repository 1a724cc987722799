"""Parts of functions saved: some results, some arguments, some methods; and programs saved inside of others."""

from __future__ import annotations

import numpy as np
import pytest
from paddle_lite_py.jit import InputSpec, load, save, to_static

import paddle_lite_py as paddle
from paddle_lite_py import nn

X = paddle.to_tensor(np.linspace(-1, 1, 8, dtype="float32").reshape(4, 2))
LABEL = paddle.zeros([4, 1], "int64")
SPECS = [InputSpec([None, 2], name="image"), InputSpec([None, 1], "int64", "label")]


def close(a, b):
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)


class Scored(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)

    def forward(self, x, label):
        out = self.fc(x)
        return out, nn.functional.cross_entropy(out, label).mean(), [out + 1.0]


@pytest.fixture
def net():
    return to_static(Scored(), input_spec=SPECS)


@pytest.fixture
def prefix(tmp_path):
    return str(tmp_path / "net")


def test_one_result_is_a_tensor_and_several_are_a_list(net, prefix):
    want = net(X, LABEL)
    save(net, prefix, output_spec=net.forward.outputs[1:2])
    close(load(prefix)(X, LABEL), want[1])
    save(net, prefix, output_spec=net.forward.outputs[:2])
    for a, b in zip(load(prefix)(X, LABEL), want, strict=False):
        close(a, b)


@pytest.mark.parametrize(
    "said",
    [
        {"input_spec": SPECS[:1]},
        {"input_spec": [InputSpec([None, 2])]},
        {"input_names_after_prune": ["image"]},
        {"input_spec": SPECS, "input_names_after_prune": ["image"]},
    ],
    ids=lambda said: "-".join(said),
)
def test_an_argument_that_the_results_do_not_need_is_left_out(net, prefix, said):
    save(net, prefix, output_spec=net.forward.outputs[2:], **said)
    loaded = load(prefix)
    assert [s.name for s in loaded._input_spec()] == ["image"] and len(loaded._output_spec()) == 1
    close(loaded(X), net(X, LABEL)[2][0])


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"input_spec": SPECS[:1]}, "what it gives needs argument `label`"),
        ({"output_spec": [paddle.ones([1])]}, r"output_spec names .*; it gives \['out0', 'out1', 'out2'\]"),
        (
            {"input_spec": [InputSpec([None, 2], "float64"), SPECS[1]]},
            "`image` is .*float64.*was told .*float32",
        ),
        ({"input_spec": [InputSpec([None, 3]), SPECS[1]]}, "argument `image`"),
        ({"input_spec": [InputSpec([2]), SPECS[1]]}, "argument `image`"),
    ],
)
def test_what_does_not_fit_is_told(net, prefix, said, message):
    with pytest.raises(ValueError, match=message):
        save(net, prefix, **said)


def test_a_spec_that_lacks_an_argument_is_told(prefix):
    with pytest.raises(ValueError, match="input_spec does not fit its arguments: .*'label'"):
        save(Scored(), prefix, input_spec=SPECS[:1])


class Methods(nn.Layer):
    def __init__(self):
        super().__init__()
        self.scale = 3.0

    def forward(self, x):
        return x

    @to_static(input_spec=SPECS[:1])
    def scaled(self, x):
        return x * self.scale

    @to_static(property=True)
    def sizes(self):
        return [int(self.scale), 20]


def test_other_methods_alone_and_values(prefix):
    save(Methods(), prefix, skip_forward=True)
    loaded = load(prefix)
    close(loaded.scaled(X), X * 3.0)
    assert loaded.sizes() == [3, 20] == Methods().sizes()
    with pytest.raises(AttributeError, match="saved without `forward`; it has scaled, sizes"):
        loaded(X)


def test_without_methods_nothing_is_written(tmp_path):
    with pytest.warns(UserWarning, match="nothing to save"):
        save(nn.Linear(2, 2), str(tmp_path / "net"), skip_forward=True)
    assert not list(tmp_path.iterdir())


class Looped(nn.Layer):
    """Has an unknown size, a condition, a loop, a mask and statistics."""

    def __init__(self):
        super().__init__()
        self.fc, self.norm, self.drop = nn.Linear(2, 2), nn.BatchNorm1D(2), nn.Dropout(0.5)

    def forward(self, x):
        y = self.fc(x).reshape([x.shape[0], 1, 2]).flatten(1)
        y = self.norm(y) if y.sum() > 0 else y - 1.0
        steps = paddle.zeros([], "int32")
        while steps < 2:
            y, steps = y * 0.5 + x.sum(0).expand([x.shape[0], 2]), steps + 1
        return self.drop(y)


class Around(nn.Layer):
    def __init__(self, prefix):
        super().__init__()
        self.fc, self.first, self.second = nn.Linear(2, 2), load(prefix), load(prefix)

    def forward(self, x):
        return self.second(self.first(self.fc(x)))


def test_loaded_programs_within_another_one(prefix):
    save(Looped(), prefix, input_spec=SPECS[:1])
    eager = Around(prefix)
    assert len({t.name for t in eager.state_dict().values()}) == len(eager.state_dict())
    static = to_static(Around(prefix))
    static.set_state_dict(eager.state_dict())
    eager.eval()
    save(eager, f"{prefix}_around", input_spec=SPECS[:1])
    nets = [eager, static, load(f"{prefix}_around")]
    for mode in ("eval", "train"):
        results = []
        for net in nets:
            getattr(net, mode)()
            net.clear_gradients()
            paddle.seed(7)
            out = net(X)
            out.square().sum().backward()
            results.append((out, sorted(p.grad.abs().sum().item() for p in net.parameters() if p.grad is not None)))
        for out, gradients in results[1:]:
            close(out, results[0][0])
            np.testing.assert_allclose(gradients, results[0][1], rtol=1e-4)
