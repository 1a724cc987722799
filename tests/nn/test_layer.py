"""Layer: attributes, walks, state, hooks, modes, copies."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.core.interpreter import layer_version
from paddle_lite_py.nn import unique_name


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)
        self.w = self.create_parameter([1])
        self.register_buffer("steps", paddle.zeros([1]))
        self.register_buffer("cache", paddle.zeros([1]), persistable=False)
        self.note = paddle.ones([2])

    def forward(self, x):
        return self.fc(x) * self.w


def test_a_sparse_buffer_that_is_not_saved_is_converted_with_the_others():
    net = nn.Linear(2, 2)
    sparse = paddle.to_tensor([[0.0, 1.0], [2.0, 0.0]]).to_sparse_coo(2)
    net.register_buffer("places", sparse, persistable=False)
    net.to(dtype="float64")
    assert net.places is sparse and sparse.dtype == "float64" and list(net.state_dict()) == ["weight", "bias"]
    assert sparse.to_dense().tolist() == [[0.0, 1.0], [2.0, 0.0]]
    with pytest.raises(TypeError, match="must be a Tensor, got SparseCooTensor"):
        net.register_buffer("saved", sparse)


def test_what_a_layer_holds_is_found_by_name():
    net = Net()
    assert [n for n, _ in net.named_parameters()] == ["w", "fc.weight", "fc.bias"]
    assert [n for n, _ in net.named_buffers()] == ["steps", "cache", "note"]
    assert list(net.state_dict()) == ["w", "steps", "fc.weight", "fc.bias"]
    assert list(net.to_static_state_dict()) == ["w", "steps", "cache", "note", "fc.weight", "fc.bias"]
    assert [n for n, _ in net.named_parameters(prefix="net")] == ["net.w", "net.fc.weight", "net.fc.bias"]
    assert [n for n, _ in net.named_sublayers(include_self=True)] == ["", "fc"]
    assert net.get_parameter("fc.weight") is net.fc.weight and net.get_sublayer("fc") is net.fc
    assert {"fc", "w", "steps"} <= set(dir(net))


def test_a_shared_parameter_is_listed_once_and_saved_twice():
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    b.weight = a.weight
    net = nn.Sequential(a, b)
    assert len(net.parameters()) == 3
    assert list(net.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]


@pytest.mark.parametrize(
    ("change", "error", "part"),
    [
        (lambda net: setattr(net, "w", paddle.ones([1])), TypeError, "parameters"),
        (lambda net: setattr(net, "steps", 1), TypeError, "buffers"),
        (lambda net: setattr(net, "fc", 1), TypeError, "sublayers"),
        (lambda net: net.add_parameter("p", 3), TypeError, "Parameter"),
        (lambda net: net.add_parameter("a.b", net.w), KeyError, r"'\.'"),
        (lambda net: net.add_sublayer("x", 3), TypeError, "Layer"),
        (lambda net: net.register_buffer("fc", paddle.ones([1])), KeyError, "already"),
        (lambda net: net.nope, AttributeError, "no attribute 'nope'"),
        (lambda net: net.get_sublayer("fc.x"), AttributeError, "'x'"),
        (lambda net: nn.Layer()(1), NotImplementedError, "forward"),
    ],
)
def test_wrong_attributes_are_refused_by_name(change, error, part):
    with pytest.raises(error, match=part):
        change(Net())


def test_forgetting_super_init_is_explained():
    class Wrong(nn.Layer):
        def __init__(self):
            self.fc = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match=r"super\(\).__init__\(\)"):
        Wrong()


def test_attributes_change_kind_and_go_away():
    net = Net()
    net.w = None
    assert net.w is None and "w" not in net.state_dict()
    del net.fc
    assert not hasattr(net, "fc") and net.parameters() == []
    net.steps = paddle.ones([1])
    assert net.steps.item() == 1.0 and "steps" in net.state_dict()
    net.note = nn.ReLU()
    assert isinstance(net.note, nn.ReLU) and "note" not in dict(net.named_buffers())


def test_the_layer_version_counts_changes_of_configuration_only():
    net, x = Net(), paddle.ones([1, 2])
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())

    def counted(action):
        before = layer_version.number
        action()
        return layer_version.number - before

    def step():
        net(x).sum().backward()
        opt.step()
        opt.clear_grad()

    assert counted(step) == 0
    assert counted(lambda: setattr(net, "steps", paddle.ones([1]))) == 0
    for change in (net.eval, lambda: setattr(net, "rate", 2), lambda: setattr(net.w, "stop_gradient", True)):
        assert counted(change) > 0
    assert counted(lambda: setattr(net.w, "trainable", True)) > 0 and not net.w.stop_gradient


def test_loading_reports_what_does_not_fit():
    net = nn.Linear(2, 3)
    before = net.bias.numpy()
    with pytest.warns(UserWarning) as notes:
        missing, unexpected = net.set_state_dict({"weight": np.zeros([3, 3], "float32"), "extra": 1.0})
    assert (missing, unexpected) == (["weight", "bias"], ["weight", "extra"])
    texts = [str(n.message) for n in notes]
    assert "weight receives a shape [3, 3], but the expected shape is [2, 3]" in texts[0]
    assert "bias is not found" in texts[1]
    np.testing.assert_array_equal(net.bias.numpy(), before)


def test_strict_loading_changes_nothing_when_it_fails():
    net = nn.Linear(2, 3)
    before = net.weight.numpy()
    with pytest.raises(RuntimeError, match="bias is not found"):
        net.load_state_dict({"weight": np.zeros([2, 3], "float32")})
    np.testing.assert_array_equal(net.weight.numpy(), before)
    loose = net.load_state_dict({"weight": np.zeros([2, 3], "float32")}, strict=False)
    assert loose.missing_keys == ["bias"] and not net.weight.numpy().any()


def test_loading_by_parameter_names_and_converting_dtypes():
    net = nn.Linear(2, 1)
    given = {net.weight.name: np.ones([2, 1]), net.bias.name: paddle.ones([1], dtype="float64")}
    assert net.set_state_dict(given, use_structured_name=False) == ([], [])
    assert net.weight.dtype == "float32" and net.weight.numpy().all()
    with pytest.raises(TypeError, match="dict"):
        net.set_state_dict([1])


def test_hooks_change_arguments_and_results():
    net = nn.ReLU()
    seen = []
    net.register_forward_post_hook(lambda layer, args, out: seen.append(args[0].item()) or out + 1)
    first = net.register_forward_pre_hook(lambda layer, args: args[0] * 2)
    net.register_forward_pre_hook(lambda layer, args: (args[0] + 3,), prepend=True)
    assert net(paddle.to_tensor(1.0)).item() == 9.0 and seen == [8.0]
    first.remove()
    assert net(paddle.to_tensor(1.0)).item() == 5.0


def test_hooks_with_keywords_and_those_that_are_always_called():
    class Scaled(nn.Layer):
        def forward(self, x, by=1.0):
            return x * by if by else 1 / 0

    net, calls = Scaled(), []
    net.register_forward_pre_hook(lambda layer, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True)
    net.register_forward_post_hook(lambda layer, args, out: calls.append(out), always_call=True)
    assert net(paddle.to_tensor(2.0), by=2.0).item() == 6.0
    with pytest.raises(ZeroDivisionError):
        net(paddle.to_tensor(2.0), by=-1.0)
    assert calls[1] is None


def test_packages_find_the_hooks_of_a_layer_and_move_them():
    def double(layer, args):
        return args[0] * 2

    first, second = nn.Identity(), nn.Identity()
    first.register_forward_pre_hook(double)
    run = paddle.jit.to_static(first)
    x = paddle.to_tensor(1.0)
    assert [*first._forward_pre_hooks.values()] == [double] and run(x).item() == first(x).item() == 2.0
    for key, hook in list(first._forward_pre_hooks.items()):
        second.register_forward_pre_hook(hook)
        del first._forward_pre_hooks[key]
    assert (run(x).item(), first(x).item(), second(x).item()) == (1.0, 1.0, 2.0)
    own = {}
    handle = nn.layer.layers.HookRemoveHelper(own)
    own[handle._hook_id] = double
    assert handle.remove() and not own
    second._forward_pre_hooks.clear()
    assert second(x).item() == 1.0 and not first._forward_post_hooks


def test_hooks_are_part_of_a_static_layer():
    net = nn.Linear(2, 2)
    net.register_forward_post_hook(lambda layer, args, out: out * 2)
    outer = nn.Sequential(net)
    x = paddle.ones([1, 2])
    expected = outer(x).numpy()
    np.testing.assert_allclose(paddle.jit.to_static(outer)(x).numpy(), expected, rtol=1e-6)


def test_modes_reach_all_sublayers():
    net = nn.Sequential(nn.Dropout(), nn.Sequential(nn.BatchNorm1D(2)))
    net.eval()
    assert not any(layer.training for layer in net.sublayers(include_self=True))
    assert net.train().training and net[1][0].training
    names = []
    net.apply(lambda layer: names.append(type(layer).__name__))
    assert names == ["Dropout", "BatchNorm1D", "Sequential", "Sequential"]


class Frozen(nn.Layer):
    """A layer of which a part stays in evaluation mode: train() of its own, with no arguments."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1D(2)

    def train(self):
        super().train()
        self.norm.training = False

    def forward(self, x):
        return self.norm(x)


def test_evaluation_mode_does_not_call_an_own_train():
    net = nn.Sequential(Frozen())
    assert net[0].eval() is net[0] and not net[0].training
    net[0].train()
    assert net[0].training and not net[0].norm.training
    net.eval()
    assert not net[0].training


def test_a_model_calls_an_own_train_without_arguments():
    model = paddle.Model(Frozen())
    model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()), nn.MSELoss())
    x = np.ones((4, 2), "float32")
    model.train_batch([x], [x])
    assert model.network.training and not model.network.norm.training
    model.eval_batch([x], [x])
    assert not model.network.training


def test_conversion_touches_floating_tensors_only():
    net = Net()
    net.register_buffer("count", paddle.zeros([1], dtype="int64"))
    assert net.bfloat16() is net
    assert net.fc.weight.dtype == "bfloat16" and net.steps.dtype == "bfloat16" and net.count.dtype == "int64"
    assert net.fc.create_parameter([1]).dtype == "float32"  # the default, as in Paddle
    assert net.float(excluded_layers=[nn.Linear]).fc.weight.dtype == "bfloat16" and net.w.dtype == "float32"
    assert net.to("cpu", "float64").w.dtype == "float64"


@pytest.mark.parametrize(
    ("cast", "integers"),  # as PaddlePaddle 3.3.1 does; its astype() leaves all dtypes, against its documentation
    [
        (lambda net: net.to(dtype="float64"), "float64"),
        (lambda net: net.to("cpu", "float16"), "float16"),
        (lambda net: net.astype("float64"), "float64"),
        (lambda net: net.type("bfloat16"), "bfloat16"),
        (lambda net: net.half(), "float16"),
        (lambda net: net.double(), "float64"),
        (lambda net: net.to(paddle.float64), "int64"),  # as in PyTorch
        (lambda net: net.float(), "int64"),
        (lambda net: net.float16(), "int64"),
        (lambda net: net.bfloat16(), "int64"),
        (lambda net: net.to("cpu"), "int64"),
    ],
)
def test_casts_of_a_layer_reach_integers_or_leave_them(cast, integers):
    net = nn.Linear(1, 1)
    net.register_buffer("count", paddle.to_tensor([3]))
    net.register_buffer("spectrum", paddle.to_tensor([1 + 2j]))
    floating = integers == "int64"
    net(paddle.ones([2, 1])).sum().backward()
    assert cast(net) is net
    assert net.weight.grad.dtype == net.weight.dtype and net.weight.grad.item() == 2.0
    assert net.count.dtype == integers and net.count.item() == 3
    assert net.spectrum.dtype == ("complex64" if floating else integers)
    assert floating or net.weight.dtype == integers


def test_a_layer_is_cast_after_its_gradients_were_cleared():
    net = nn.Linear(1, 1)
    net(paddle.ones([2, 1])).sum().backward()
    net.clear_gradients()
    assert net.to(dtype="float64").weight.grad.dtype == "float64" and net.weight.grad.item() == 0


def test_amp_and_codes_of_weights_leave_integers():
    net = nn.Linear(2, 2)
    net.register_buffer("count", paddle.to_tensor([3]))
    assert paddle.amp.decorate(net, level="O2", dtype="bfloat16").count.dtype == "int64"
    assert paddle.text.models.quantized.QuantizedLinear(nn.Linear(2, 2)).to(dtype="float16").weight.dtype == "int8"


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_a_copy_has_parameters_of_its_own(duplicate):
    net = Net()
    net.fc.weight.stop_gradient = True
    other = duplicate(net)
    assert list(other.state_dict()) == list(net.state_dict()) and other.fc.weight.stop_gradient
    before = net.w.numpy()
    paddle.optimizer.SGD(1.0, parameters=other.parameters())
    other.w.set_value(paddle.ones([1]) * 5)
    np.testing.assert_array_equal(net.w.numpy(), before)
    assert other(paddle.ones([1, 2])).shape == [1, 3]


def test_gradients_are_cleared_to_zeros_or_none():
    net = nn.Linear(1, 1)
    net(paddle.ones([1, 1])).sum().backward()
    net.clear_gradients()
    assert net.weight.grad.item() == 0.0
    net.zero_grad()
    assert net.weight.grad is None
    net.requires_grad_(False)
    assert net.weight.stop_gradient


def test_names_are_those_of_the_reference():
    with unique_name.guard():
        net = nn.Sequential(nn.Linear(1, 1), nn.BatchNorm2D(1), nn.Linear(1, 1))
        assert [p.name for p in net.parameters()] == [
            *("linear_0.w_0", "linear_0.b_0", "batch_norm2d_0.w_0", "batch_norm2d_0.b_0"),
            *("batch_norm2d_0.w_1", "batch_norm2d_0.w_2", "linear_1.w_0", "linear_1.b_0"),
        ]
        assert (net.full_name(), nn.Layer("foo").full_name()) == ("sequential_0", "foo_0")


def test_param_attr_settings_reach_the_parameter():
    attr = paddle.ParamAttr(
        "mine", nn.initializer.Constant(2.0), 0.5, paddle.regularizer.L2Decay(0.1), False, need_clip=False
    )
    p = nn.Linear(1, 1, weight_attr=attr).weight
    assert (p.name, p.item(), p.optimize_attr, p.trainable, p.need_clip) == (
        "mine",
        2.0,
        {"learning_rate": 0.5},
        False,
        False,
    )
    assert p.regularizer.coeff == 0.1
    assert nn.Linear(1, 1, bias_attr=False).bias is None
    assert nn.Linear(1, 1, bias_attr="named").bias.name == "named"
    with pytest.raises(TypeError, match="parameter attribute"):
        nn.Linear(1, 1, weight_attr=3)


def test_containers():
    net = nn.Sequential(("a", nn.Linear(1, 1)), ("b", nn.ReLU()))
    assert net["a"] is net[0] and isinstance(net[-1], nn.ReLU) and len(net[:1]) == 1
    net[1] = nn.Tanh()
    assert isinstance(net["b"], nn.Tanh)
    layers = nn.LayerList([nn.Linear(1, 1), nn.ReLU()])
    layers.insert(0, nn.Tanh())
    layers.append(nn.Sigmoid())
    del layers[1]
    assert [type(x).__name__ for x in layers] == ["Tanh", "ReLU", "Sigmoid"]
    assert isinstance(layers[-1], nn.Sigmoid) and len(layers[1:]) == 2
    heads = nn.LayerDict({"x": nn.ReLU()})
    heads["y"] = nn.Tanh()
    assert list(heads.keys()) == ["x", "y"] and isinstance(heads.pop("x"), nn.ReLU) and len(heads) == 1
    params = nn.ParameterList([paddle.create_parameter([1], "float32")])
    params.append(paddle.create_parameter([2], "float32"))
    assert list(params.state_dict()) == ["0", "1"] and params[-1].shape == [2]
    assert list(nn.ParameterDict({"k": params[0]}).state_dict()) == ["k"]


def test_the_state_is_not_split():
    with pytest.raises(NotImplementedError, match=r"use state_dict\(\)"):
        nn.Linear(1, 1).sharded_state_dict()


def test_parameters_are_of_the_default_dtype():
    class Own(nn.Layer):
        def __init__(self, **settings):
            super().__init__(**settings)
            self.p, self.q = self.create_parameter([2]), self.create_parameter([2], dtype="float16")

    with_dtypes = [nn.Embedding(2, 2, dtype="float32"), nn.BatchNorm(2), nn.LayerNorm(2, dtype="float32")]
    assert {p.dtype for layer in with_dtypes for p in layer.parameters()} == {paddle.float32}
    paddle.set_default_dtype("float64")
    made = [
        nn.Linear(2, 2),
        nn.Conv2D(1, 1, 1),
        nn.BatchNorm2D(2),
        nn.LSTM(2, 2),
        nn.Embedding(2, 2),
        nn.GroupNorm(1, 2),
    ]
    held = [t.dtype for layer in made for t in layer.state_dict().values()]
    told = [nn.Embedding(2, 2, dtype="float32"), nn.BatchNorm(2), nn.LayerNorm(2, dtype="float32")]
    out = nn.GRUCell(2, 2)(paddle.ones([1, 2]))[0]
    own = Own(dtype="float32")
    paddle.set_default_dtype("float32")
    assert set(held) == {paddle.float64} and out.dtype == paddle.float64
    assert {t.dtype for layer in told for t in layer.state_dict().values()} == {paddle.float32}
    assert (own.p.dtype, own.q.dtype) == (paddle.float64, paddle.float16)
    assert "dtype=float64" in repr(made[0])


def test_a_property_is_set_by_its_setter():
    class Scaled(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.kept = []

        @property
        def scale(self):
            return self.factor * 2

        @scale.setter
        def scale(self, value):
            self.kept.append(type(value).__name__)
            self.factor = value

    layer = Scaled()
    for value in (paddle.ones([1]), paddle.create_parameter([1], "float32"), paddle.nn.ReLU(), 3.0):
        if "factor" in layer.__dict__ or hasattr(layer, "factor"):
            del layer.factor
        layer.scale = value
        assert layer.factor is value
        assert "scale" not in {*layer._parameters, *layer._buffers, *layer._sub_layers}
    assert layer.kept == ["Tensor", "Parameter", "ReLU", "float"]
    assert layer.scale == 6.0


def test_names_are_counted_anew_and_again_where_they_were():
    with unique_name.guard():
        first = unique_name.generate("fc")
        before = paddle.utils.unique_name.switch()
        assert paddle.utils.unique_name.generate("fc") == first
        paddle.utils.unique_name.switch(*before)
        assert unique_name.generate("fc") == "fc_1"


def test_a_layer_alone_is_cast_by_the_name_that_packages_call():
    net = nn.Sequential(nn.Linear(2, 2))
    net.register_buffer("mean", paddle.ones([2]))
    net.register_buffer("steps", paddle.to_tensor([1]))
    vars(nn.Layer)["_to_impl"](net, dtype="float64", include_sublayers=False, floating_only=True)
    assert (net.mean.dtype, net.steps.dtype, net[0].weight.dtype) == (paddle.float64, paddle.int64, paddle.float32)


@pytest.mark.parametrize("way", [lambda net: net.to("cpu"), lambda net: net.to(paddle.CPUPlace()), nn.Layer.cpu])
def test_a_move_to_where_a_layer_is_leaves_what_was_computed_before(way):
    """JAX gives another array over the same memory, which an update of one takes from the other."""
    net = nn.Linear(300, 300)  # of XLA
    x = paddle.ones([300, 300])
    weight, bias = [p.numpy().copy() for p in net.parameters()]
    payload, before = net.weight._payload, net(x)
    way(net)
    assert net.weight._payload is payload
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    net(x).sum().backward()
    opt.step()
    opt.clear_grad()
    np.testing.assert_allclose(before.numpy(), np.ones([300, 300]) @ weight + bias, rtol=1e-4, atol=1e-5)


def test_a_small_layer_stays_on_the_host_when_it_is_moved_there():
    net = nn.Linear(3, 2).to("cpu")
    assert all(isinstance(p._payload, np.ndarray) for p in net.parameters())
