"""What programs of PyTorch define or call besides layers: optimizers, functions, types, event files."""

from __future__ import annotations

import copy
from contextlib import nullcontext

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import compat


class Descent(compat.optim.Optimizer):
    def __init__(self, params, lr=0.5):
        super().__init__(params, {"lr": lr})

    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                state["steps"] = state.get("steps", 0) + 1
                p.detach().sub_(p.grad * group["lr"])


def weights(*values):
    return [paddle.to_tensor([v], stop_gradient=False) for v in values]


def test_an_optimizer_of_a_program_has_groups_states_and_schedules():
    a, b = weights(1.0, 2.0)
    opt = Descent([{"params": [a]}, {"params": b, "lr": 0.25}])
    opt.set_lr_scheduler(paddle.optimizer.lr.StepDecay(0.5, 1, 0.1))
    for _ in range(2):
        opt.zero_grad()
        (a * 2 + b * 2).backward()
        opt.step()
        opt._scheduler.step()
    np.testing.assert_allclose([a.item(), b.item()], [1 - 1.0 - 0.1, 2 - 0.5 - 0.05], rtol=1e-6)
    saved = opt.state_dict()
    other = Descent([{"params": [a]}, {"params": b}])
    other.load_state_dict(saved)
    assert other.state[b]["steps"] == 2 and other.param_groups[1]["lr"] == opt.param_groups[1]["lr"]
    with pytest.raises(ValueError, match="1 groups; expected 2"):
        other.load_state_dict(saved | {"param_groups": saved["param_groups"][:1]})
    with pytest.raises(ValueError, match="Descent: there are no parameters"):
        Descent([])


@pytest.mark.parametrize("static", [False, True])
def test_a_function_returns_a_gradient_for_each_argument(static):
    class Scaled(compat.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor, y):
            ctx.save_for_backward(x, y)
            ctx.factor = factor
            assert ctx.needs_input_grad[:2] == (True, False)
            return x * factor * y

        @staticmethod
        def backward(ctx, dy):
            x, y = ctx.saved_tensors
            return dy * ctx.factor * y, None, dy * ctx.factor * x

    def run(x, y):
        return Scaled.apply(x, 3.0, y).sum()

    x, y = weights(2.0, 5.0)
    (paddle.jit.to_static(run) if static else run)(x, y).backward()
    assert (x.grad.item(), y.grad.item()) == (15.0, 6.0)


class Squared(compat.autograd.Function):
    @staticmethod
    def forward(x, n):
        return x**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)

    @staticmethod
    def backward(ctx, dy):
        return 2 * dy * ctx.saved_tensors[0], None, None, Squared.more


@pytest.mark.parametrize("static", [False, True])
def test_a_function_sets_its_context_up_after_it_has_run_and_returns_more_nones_than_it_has_arguments(static):
    Squared.more = None
    (x,) = weights(3.0)
    run = paddle.jit.to_static(Squared.apply) if static else Squared.apply
    run(x, 2).backward()
    assert x.grad.item() == 6.0
    if not static:
        Squared.more = x
        with pytest.raises(ValueError, match=r"4 gradients; expected 2"):
            Squared.apply(x, 2).backward()


def test_a_query_that_attends_to_nothing_gives_zeros_and_no_gradient():
    q = paddle.to_tensor(np.arange(8.0).reshape(1, 1, 2, 4), "float32", stop_gradient=False)
    seen = paddle.to_tensor([[True, False], [False, False]])
    for mask in (seen, paddle.where(seen, paddle.zeros([2, 2]), paddle.full([2, 2], -np.inf))):
        q.clear_gradient()
        out = compat.nn.functional.scaled_dot_product_attention(q, q, q, mask)
        out.sum().backward()
        assert out.tolist() == [[[[0, 1, 2, 3], [0, 0, 0, 0]]]] and q.grad.tolist() == [[[[1] * 4, [0] * 4]]]


class Symmetric(paddle.nn.Layer):
    def forward(self, x):
        return x.triu() + x.triu(1).T

    def right_inverse(self, x):
        return x.triu()


P = compat.nn.utils.parametrize
PARAMETRIZED = {
    "original": lambda net: P.register_parametrization(net, "weight", Symmetric()),
    "original0": compat.nn.utils.parametrizations.weight_norm,
    "0._u": compat.nn.utils.parametrizations.spectral_norm,
}


@pytest.mark.parametrize("part", PARAMETRIZED)
def test_parametrized_weights_are_trained_copied_saved_and_made_ordinary_again(part):
    net, x = compat.nn.Linear(3, 3), paddle.randn([2, 3])
    PARAMETRIZED[part](net)
    saved = {k: v.clone() for k, v in net.state_dict().items()}
    assert f"parametrizations.weight.{part}" in saved and P.is_parametrized(net, "weight")
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())

    def step(x):
        loss = (net(x) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    eager = [step(x).item() for _ in range(3)]
    net.set_state_dict(saved)
    static = paddle.jit.to_static(step)
    np.testing.assert_allclose([static(x).item() for _ in range(3)], eager, rtol=1e-5)
    net.eval()
    other, expected = copy.deepcopy(net), net(x).numpy()
    P.remove_parametrizations(net, "weight")
    assert sorted(net.state_dict()) == ["bias", "weight"] and type(net) is compat.nn.Linear
    for made in (other, net):
        np.testing.assert_allclose(made(x).numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Adadelta", "Adagrad", "RMSprop"])
def test_an_optimizer_that_is_chosen_by_name_takes_groups_and_the_arguments_of_torch(name):
    kind, (a, b) = getattr(compat.optim.classes, name), weights(1.0, 1.0)
    opt = kind([{"params": [a]}, {"params": [b], "lr": 0.05}], lr=0.1, weight_decay=0.01)
    (a + b).sum().backward()
    opt.step()
    assert 1 > b.item() > a.item() and isinstance(opt, paddle.optimizer.Optimizer)
    with pytest.raises(ValueError, match=f"{name}: maximize is True"):
        kind([a], maximize=True)


def test_a_mixture_draws_from_its_parts_and_a_relaxed_sample_has_a_gradient():
    D, (p,) = compat.distributions, [paddle.to_tensor([[0.5, 0.5]], stop_gradient=False)]
    parts = paddle.distribution.Normal(paddle.to_tensor([[-9.0, 9.0]]), paddle.to_tensor([[0.1, 0.1]]))
    drawn = D.MixtureSameFamily(D.Categorical(p), parts).sample([50])
    assert drawn.shape == [50, 1] and set(np.round(drawn.numpy().ravel() / 9)) == {-1, 1}
    for kind in (D.RelaxedOneHotCategorical, D.RelaxedBernoulli):
        p.clear_gradient()
        kind(0.5, p).rsample([3])[:, 0, 0].sum().backward()
        assert p.grad[0, 0].item() > 0


def test_containers_of_parameters_hold_tensors_and_layers():
    nn = compat.nn
    held = nn.ParameterList([paddle.ones([2]), nn.ParameterList([paddle.ones([1])])])
    held += [paddle.zeros([1])]
    held[0] = nn.ParameterDict({"a": paddle.ones([2])})
    assert sorted(held.state_dict()) == ["0.a", "1.0", "2"] and len(held[1:]) == 2
    with pytest.raises(IndexError, match="the index is 3; there are 3"):
        held[3]
    assert compat.FloatTensor(np.int64(3)).shape == [3]


LR = compat.optim.lr_scheduler


def rated():
    return paddle.optimizer.SGD(0.1, parameters=weights(1.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compat.randint(3), "expected the size"),
        (lambda: compat.randint(3, (2,), generator=None), "generator is not known here"),
        (lambda: compat.norm(paddle.ones([2, 2]), "nuc"), "p is 'nuc'"),
        (lambda: compat.chunk(paddle.ones([2]), 0), "chunks is 0"),
        (lambda: compat.nn.CrossEntropyLoss(size_average=True), "write reduction="),
        (lambda: compat.nn.functional.cross_entropy(paddle.ones([2, 3]), paddle.ones([2, 2])), r"expected \[2, 3\]"),
        (lambda: compat.nn.Conv2d(2, 2, 3, 2, "same")(paddle.ones([1, 2, 5, 5])), "expected a stride of 1"),
        (lambda: compat.nn.ConvTranspose2d(2, 2, 3, padding_mode="reflect"), "expected 'zeros'"),
        (lambda: compat.nn.EmbeddingBag(3, 2)(paddle.to_tensor([1])), "with offsets"),
        (lambda: compat.nn.MaxPool2d(2, dilation=2, ceil_mode=True)(paddle.ones([1, 1, 5, 5])), "dilation is 2"),
        (lambda: compat.nn.init.kaiming_normal_(paddle.ones([2, 2]), mode="fan"), "mode is 'fan'"),
        (lambda: compat.optim.groups([{"params": [], "lr": 1.0}], 0.0), "expected lr above 0"),
        (lambda: LR.OneCycleLR(rated(), 1.0, 9), "write cycle_momentum=False"),
        (lambda: LR.CyclicLR(rated(), 0.1, 1.0), "write cycle_momentum=False"),
        (lambda: LR.SequentialLR(rated(), [], []), "expected a milestone for each"),
        (lambda: LR.ChainedScheduler([LR.StepLR(rated(), 1)], rated()), "a StepLR is of another optimizer"),
        (lambda: LR.LambdaLR(rated(), [abs, abs]), "2 values; expected 1"),
        (lambda: compat.drawn(3, paddle.rand, [2]), "a int; expected a paddle.Generator"),
        (lambda: compat.svd(paddle.eye(2), compute_uv=False), "write paddle.linalg.svdvals"),
        (lambda: compat.func.grad(lambda x: x)(paddle.ones([2])), "expected a tensor with one element"),
        (lambda: compat.func.vmap(abs, randomness="same"), "draw the random numbers before"),
        (lambda: compat.pytree.tree_map(max, [1], (1,)), r"rests\[0\] has the structure"),
        (lambda: compat.nn.ReLU(scale=1), "scale; expected inplace"),
        (lambda: compat.func.jacrev(abs)(3), "a Jacobian by a int"),
        (lambda: compat.nn.MultiheadAttention(4, 2)(*[paddle.ones([2, 1, 6])] * 3), "size 6; expected 4"),
        (lambda: compat.autograd.grad(None, [], is_grads_batched=True), "write paddle.compat.func.vmap"),
        (lambda: compat.imag(paddle.ones([2])), "the input is a float32 tensor; expected a complex one"),
        (lambda: compat.LongTensor(paddle.ones([2])), "the argument is a float32 tensor; expected int64"),
        (lambda: paddle.ones([2])[paddle.to_tensor([0, 1], "uint8")], "uint8; expected .* for a mask, 'int64' for"),
        (lambda: paddle.ones([2, 2])[0, paddle.to_tensor([0, 1], "uint8")], "an index tensor is uint8"),
        (lambda: compat.pytree.tree_unflatten([1], compat.pytree.tree_structure([1, 2])), "1 leaves; expected 2"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_activations_write_into_their_input():
    net = paddle.nn.Sequential(compat.nn.in_place(paddle.nn.ReLU()), paddle.nn.Tanh())
    x = paddle.to_tensor([-1.0, 2.0], stop_gradient=False)
    h = x * 1.0
    (net(h) + h).sum().backward()  # h is what the activation left
    assert h.tolist() == [0.0, 2.0] and x.grad[0].item() == 0.0
    np.testing.assert_allclose(x.grad[1].item(), 2 - np.tanh(2.0) ** 2, rtol=1e-5)


def test_an_activation_may_be_told_not_to_write_into_its_input():
    act = compat.nn.in_place(paddle.nn.ReLU())
    act.inplace = False
    x = paddle.to_tensor([-1.0])
    assert act(x).tolist() == [0.0] and x.tolist() == [-1.0]


def test_a_layer_has_no_state_before_its_first_input():
    layer = compat.nn.LazyLinear(2)
    with pytest.raises(RuntimeError, match="LazyLinear: give it an input before a state_dict is loaded"):
        layer.load_state_dict(compat.nn.Linear(3, 2).state_dict())
    layer(paddle.ones([1, 3]))
    state = compat.nn.Linear(3, 2).state_dict()
    layer.load_state_dict(state)
    assert layer.weight.tolist() == state["weight"].tolist()


def test_gradients_that_are_not_there_may_be_zeros():
    x, y = weights(1.0, 2.0)
    dx, dy = compat.autograd.grad(x * 3, [x, y], materialize_grads=True)
    assert (dx.tolist(), dy.tolist()) == ([3.0], [0.0])
    assert compat.autograd.grad(x * 3, (x, y), allow_unused=True)[1] is None


def test_a_convolution_is_called_with_other_weights():
    layer = compat.nn.Conv1d(1, 1, 2, [1], padding=[0])
    assert layer._conv_forward(paddle.ones([1, 1, 3]), paddle.ones([1, 1, 2]), None).tolist() == [[[2.0, 2.0]]]
    assert (layer.stride, layer.padding, layer.output_padding, layer.transposed) == ((1,), (0,), (0,), False)


def test_groups_have_rates_of_their_own():
    a, b = weights(1.0, 1.0)
    groups = compat.optim.groups([{"params": [a], "betas": (0.5, 0.5)}, {"params": [b], "lr": 0.25}], 0.5)
    opt = paddle.optimizer.Adam(0.5, parameters=groups)
    (a + b).backward()
    opt.step()
    np.testing.assert_allclose([a.item(), b.item()], [0.5, 0.75], rtol=1e-5)


def test_tensorboard_shows_what_a_writer_wrote(tmp_path):
    with compat.tensorboard.SummaryWriter(tmp_path, comment="x") as writer:
        writer.add_scalar("loss", np.array([0.5]), 3)
        writer.add_scalars("both", {"a": 1, "b": 2}, 1)
        writer.add_text("note", "**hello**")
        writer.add_image("picture", paddle.rand([3, 4, 5]), 2)
        writer.add_images("pictures", np.zeros([2, 1, 4, 4]))
        writer.add_histogram("weights", paddle.arange(10), 1)
        with pytest.raises(ValueError, match="expected CHW"):
            writer.add_image("flat", paddle.rand([4]))
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_dir()) == ["both_a", "both_b"]
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(tmp_path))
    events.Reload()
    assert [(e.step, e.value) for e in events.Scalars("loss")] == [(3, 0.5)]
    assert (events.Images("picture")[0].width, events.Images("picture")[0].height) == (5, 4)
    assert events.Histograms("weights")[0].histogram_value.num == 10
    assert events.Tensors("note/text_summary")[0].tensor_proto.string_val == [b"**hello**"]


def test_schedules_resume_act_together_and_may_be_own():
    opt = rated()
    warm, falling = LR.LinearLR(opt, 0.1, total_iters=2), LR.ExponentialLR(opt, 0.5)
    found = []
    for step in range(4):
        (warm if step < 2 else falling).step()
        found.append(opt.get_lr())
    np.testing.assert_allclose(found, [0.055, 0.1, 0.05, 0.025])  # as PyTorch's
    other = rated()
    resumed = LR.ExponentialLR(other, 0.5)
    resumed.load_state_dict(falling.state_dict())
    assert other.get_lr() == opt.get_lr()

    class Halving(LR.LRScheduler):
        def get_lr(self):
            return [rate * 0.5**self.last_epoch for rate in self.base_lrs]

    own = Descent(weights(1.0))
    schedule = Halving(own)
    schedule.step()
    assert own.param_groups[0]["lr"] == 0.25 and schedule.get_last_lr() == [0.25]
    with pytest.raises(KeyError, match="had no schedule"):
        LR.StepLR(rated(), 1, last_epoch=3)


def _train(w, opt):
    loss = (w * w).sum()
    loss.backward()
    opt.step()
    opt.clear_grad()
    return loss


def _after(w, opt, schedule):
    loss = _train(w, opt)
    schedule.step()
    return [loss]


def _decided(w, opt, schedule):
    loss = _train(w, opt)
    if loss > 0.5:
        schedule.step()
    return [loss]


def _read_before(w, opt, schedule):
    loss = _train(w, opt)
    rate, state = schedule.get_last_lr()[0], schedule.state_dict()
    schedule.step()
    return [loss, loss * 0 + rate, loss * 0 + state["last_epoch"]]


def _read_after(w, opt, schedule):
    loss = _train(w, opt)
    schedule.step()
    return [loss, loss * 0 + schedule.get_last_lr()[0]]


def _rate_after(w, opt, schedule):
    loss = _train(w, opt)
    schedule.step()
    return [loss, loss * 0 + opt.get_lr()]


def _twice(w, opt, schedule):
    first = _train(w, opt)
    schedule.step()
    return [first, _train(w, opt)]


_STEPPED = {
    "step": lambda o: LR.StepLR(o, 2, 0.5),
    "sequence": lambda o: LR.SequentialLR(o, [LR.LinearLR(o, 0.1, total_iters=2), LR.CosineAnnealingLR(o, 8)], [2]),
}


@pytest.mark.parametrize("kind", _STEPPED)
@pytest.mark.parametrize(
    ("body", "traces"),
    [(_after, 1), (_decided, 1), (_read_before, 1), (_read_after, 0), (_rate_after, 0), (_twice, 0)],
)
def test_a_static_function_steps_a_schedule_in_each_run(kind, body, traces):
    def run(static):
        (w,) = weights(1.0)
        opt = paddle.optimizer.SGD(0.1, parameters=[w])
        schedule = _STEPPED[kind](opt)

        def step():
            return body(w, opt, schedule)

        step = paddle.jit.to_static(step) if static else step
        found = [[v.item() for v in step()] + [opt.get_lr(), schedule.last_epoch] for _ in range(5)]
        assert not static or step.get_traced_count() == traces
        return found

    with nullcontext() if traces else pytest.warns(UserWarning, match="in the same static function"):
        np.testing.assert_allclose(run(True), run(False), rtol=1e-6)


def test_a_static_function_that_does_not_step_a_schedule_is_traced_once():
    (w,) = weights(1.0)
    opt = paddle.optimizer.SGD(0.1, parameters=[w])
    schedule, inside = LR.StepLR(opt, 1, 0.5), False

    def step():
        loss = _train(w, opt)
        if inside:
            schedule.step()
        return loss

    step = paddle.jit.to_static(step)
    for _ in range(3):
        step()
        schedule.step()
    assert step.get_traced_count() == 1


def test_an_augmented_assignment_changes_the_tensor():
    (w,) = held = weights(1.0)
    (w * 3).sum().backward()
    with paddle.no_grad():
        for p in held:
            p = compat.augmented(p, "-=", 0.5 * p.grad)
    assert w.item() == -0.5 and not w.stop_gradient and w.grad.item() == 3.0
    for operation, expected in (("+=", 7), ("-=", 3), ("*=", 10), ("//=", 2), ("%=", 1), ("**=", 25)):
        x = paddle.to_tensor([5])
        assert compat.augmented(x, operation, 2) is x and x.tolist() == [expected]
        assert compat.augmented(5, operation, 2) == expected
    names = ["a"]
    assert compat.augmented(names, "+=", ["b"]) is names and names == ["a", "b"]
    assert compat.augmented(paddle.eye(2), "@=", paddle.ones([2, 1])).tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("static", [False, True])
def test_tensors_of_no_size_add_nothing_to_others(static):
    def join(first, x):
        return paddle.concat([first, x, first], 0)

    join = paddle.jit.to_static(join) if static else join
    x = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)
    found = join(paddle.to_tensor([]), x)
    found.sum().backward()
    assert found.tolist() == [[1.0, 2.0]] and x.grad.tolist() == [[1.0, 1.0]]
    assert paddle.concat([paddle.to_tensor([])] * 2).shape == [0]


def test_rounded_quotients_by_a_number_may_be_repeated():
    x = paddle.to_tensor([7, -7])
    for _ in range(3):
        assert x.div(2, rounding_mode="trunc").tolist() == [3, -3]
        assert paddle.div(x, 2, rounding_mode="floor").tolist() == [3, -4]
        with pytest.raises(ValueError, match="0"):
            x.div(0, rounding_mode="trunc")


def test_the_random_stream_of_a_block_may_be_forked():
    paddle.seed(1)
    with compat.fork_rng(devices=[]):
        first = paddle.rand([2]).tolist()
    assert paddle.rand([2]).tolist() == first
    with compat.fork_rng(enabled=False):
        second = paddle.rand([2]).tolist()
    assert paddle.rand([2]).tolist() != second


def test_state_has_the_names_and_shapes_of_pytorch():
    class Net(compat.nn.LSTM):
        def __init__(self):
            super().__init__(2, 3, bidirectional=True)
            self.head = compat.nn.weight_norm(compat.nn.Conv1d(2, 3, 2))
            self.all = compat.nn.weight_norm(compat.nn.Linear(2, 3), dim=None)

    names = [
        f"{kind}_{which}_l0{end}" for end in ("", "_reverse") for kind in ("weight", "bias") for which in ("ih", "hh")
    ]
    net = Net()
    assert list(net.state_dict())[:8] == names
    assert {k: [*v.shape] for k, v in list(net.state_dict().items())[8:]} == {
        "head.bias": [3], "head.weight_g": [3, 1, 1], "head.weight_v": [3, 2, 2],
        "all.bias": [3], "all.weight_g": [], "all.weight_v": [3, 2],
    }  # fmt: skip
    x, v = paddle.rand([1, 2, 4]), net.head.weight_v
    length = (v * v).sum(axis=[1, 2], keepdim=True).sqrt()
    np.testing.assert_allclose(length.numpy(), net.head.weight_g.numpy(), rtol=1e-6)
    before = net.head(x).numpy()
    paddle.nn.utils.remove_weight_norm(net.head)
    np.testing.assert_allclose(net.head(x).numpy(), before, rtol=1e-5)


def test_types_have_the_names_of_pytorch():
    x = paddle.ones([1])
    assert [compat.to_type(x.astype(d)) for d in ("float32", "int64", "bool")] == [
        "torch.FloatTensor", "torch.LongTensor", "torch.BoolTensor",
    ]  # fmt: skip
    assert compat.to_type(x, compat.to_type(x.astype("int32"))).dtype == "int32"


def test_a_generator_has_a_stream_of_its_own():
    def draws(seed):
        return compat.drawn(paddle.Generator(seed=seed), paddle.rand, [3]).tolist()

    paddle.seed(1)
    first = paddle.rand([2]).tolist()
    paddle.seed(1)
    assert draws(3) == draws(3) != draws(4)
    assert paddle.rand([2]).tolist() == first and compat.initial_seed() == 1
    generator = paddle.Generator(seed=3)
    rows = [compat.drawn(generator, paddle.rand, [3]).tolist() for _ in range(2)]
    assert rows[0] == draws(3) != rows[1]
    assert compat.drawn(None, paddle.full, [1], 2.0).item() == 2.0


def test_hooks_see_and_replace_gradients():
    net, seen = paddle.nn.Linear(2, 1), []
    net.weight.set_value(paddle.to_tensor([[1.0], [2.0]]))
    handle = compat.nn.register_full_backward_hook(net, lambda layer, into, of: (into[0] * 3,))
    before = compat.nn.register_full_backward_pre_hook(net, lambda layer, of: (of[0] * 2,))
    x = paddle.to_tensor([[1.0, 1.0]], stop_gradient=False)
    net(x).sum().backward()
    assert x.grad.tolist() == [[6.0, 12.0]] and net.bias.grad.item() == 2.0
    handle.remove()
    before.remove()
    compat.nn.register_full_backward_hook(net, lambda layer, into, of: seen.append((into, of[0].item())))
    net(paddle.ones([1, 2])).sum().backward()
    assert seen == [((None,), 1.0)]


def test_a_layer_is_called_with_other_tensors():
    net = paddle.nn.Sequential(compat.nn.Linear(2, 2), compat.nn.BatchNorm1d(2))
    kept = {k: v.numpy() for k, v in net.state_dict().items()}
    other = {k: v * 2 + 1 for k, v in net.named_parameters()}
    expected = paddle.nn.Sequential(compat.nn.Linear(2, 2), compat.nn.BatchNorm1d(2))
    expected.load_state_dict({**kept, **other})
    x = paddle.rand([3, 2])
    net.eval()
    expected.eval()
    np.testing.assert_allclose(compat.func.functional_call(net, other, x).numpy(), expected(x).numpy(), rtol=1e-5)
    assert all((v.numpy() == kept[k]).all() for k, v in net.state_dict().items())
    with pytest.raises(KeyError, match="Sequential has no parameter or buffer 'w'"):
        compat.func.functional_call(net, {"w": x}, x)


def test_activations_are_made_with_the_arguments_of_pytorch():
    x = paddle.to_tensor([-1.0, 2.0])
    made = [compat.nn.ReLU(True), compat.nn.LeakyReLU(0.5, inplace=False), compat.nn.Hardtanh(min_val=-0.5)]
    assert [type(layer).__mro__[1] for layer in made] == [paddle.nn.ReLU, paddle.nn.LeakyReLU, paddle.nn.Hardtanh]
    assert made[1](x).tolist() == [-0.5, 2.0] and made[2](x).tolist() == [-0.5, 1.0] and x.tolist() == [-1.0, 2.0]
    made[0](x)
    assert x.tolist() == [0.0, 2.0]


def test_what_is_missing_raises_where_it_is_used():
    fx = compat.missing("torch.fx", "write it by hand")
    assert not isinstance(x := paddle.ones([1]), fx.Node) and repr(fx.Node).startswith("<torch.fx.Node")

    class Tracer(fx.Tracer):
        pass

    for use in (Tracer, fx.wrap, lambda: bool(fx), lambda: list(fx), lambda: fx.Graph[x]):
        with pytest.raises(NotImplementedError, match=r"torch\.fx.*is not available: write it by hand"):
            use()
    assert not hasattr(fx, "__array__")
