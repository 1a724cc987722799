"""Settings that change between the calls of a static function act as they do in eager code."""

import contextvars
import operator
from types import SimpleNamespace

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn, optimizer

ONES = nn.initializer.Constant(1.0)


def parameter(n=2):
    return paddle.create_parameter([n], "float32", default_initializer=ONES)


class Halving(nn.clip.ClipGradBase):
    """Clipping of the user's own."""

    factor = 0.5

    def __init__(self):
        self.offset = 0.0

    def __call__(self, params_grads):
        return [(p, g * self.factor + self.offset) for p, g in params_grads]


def sgd(w, v):
    decay = paddle.regularizer.L1Decay(0.01)
    return optimizer.SGD(0.1, parameters=[w, v], weight_decay=decay, grad_clip=nn.ClipGradByValue(0.5))


def momentum(w, v):
    return optimizer.Momentum(0.1, 0.9, parameters=[w, v], grad_clip=nn.ClipGradByNorm(0.5))


def adam(w, v):
    return optimizer.Adam(0.1, parameters=[w, v], grad_clip=nn.ClipGradByGlobalNorm(0.5))


def grouped(w, v):
    groups = [{"params": [w], "learning_rate": 0.5}, {"params": [v], "grad_clip": nn.ClipGradByValue(0.5)}]
    return optimizer.Momentum(0.1, 0.9, parameters=groups)


def adamw(w, v):
    return optimizer.AdamW(0.1, parameters=[w, v], weight_decay=0.1)


def halving(w, v):
    return optimizer.SGD(0.1, parameters=[w, v], grad_clip=Halving())


def rms(w, v):
    return optimizer.RMSProp(0.1, parameters=[w, v])


CHANGES = {
    "a regularizer": (sgd, lambda w, v, o: setattr(w, "regularizer", paddle.regularizer.L2Decay(0.5))),
    "the number of a regularizer": (sgd, lambda w, v, o: setattr(o._weight_decay, "coeff", 3.0)),
    "a rate of a parameter": (sgd, lambda w, v, o: w.optimize_attr.__setitem__("learning_rate", 3.0)),
    "rates of a parameter": (adam, lambda w, v, o: w.optimize_attr.update(learning_rate=3.0)),
    "all of optimize_attr": (sgd, lambda w, v, o: setattr(w, "optimize_attr", {"learning_rate": 3.0})),
    "need_clip": (adam, lambda w, v, o: setattr(w, "need_clip", False)),
    "clipping": (momentum, lambda w, v, o: setattr(o, "_grad_clip", nn.ClipGradByValue(0.01))),
    "no clipping": (adam, lambda w, v, o: setattr(o, "_grad_clip", None)),
    "a bound of clipping": (sgd, lambda w, v, o: setattr(o._grad_clip, "max", 0.02)),
    "a norm of clipping": (adam, lambda w, v, o: setattr(o._grad_clip, "clip_norm", 0.02)),
    "clipping of a group": (grouped, lambda w, v, o: setattr(o._groups[1].options["grad_clip"], "max", 0.02)),
    "decay of a group": (grouped, lambda w, v, o: o._groups[0].options.update(weight_decay=0.9)),
    "an attribute of one's own clipping": (halving, lambda w, v, o: setattr(o._grad_clip, "offset", 1.0)),
    "a class attribute of one's own clipping": (halving, lambda w, v, o: setattr(o._grad_clip, "factor", 0.25)),
    "decay": (sgd, lambda w, v, o: setattr(o, "_weight_decay", 0.7)),
    "momentum": (momentum, lambda w, v, o: setattr(o, "_momentum", 0.2)),
    "nesterov": (momentum, lambda w, v, o: setattr(o, "_use_nesterov", True)),
    "beta1": (adam, lambda w, v, o: setattr(o, "_beta1", 0.2)),
    "beta2": (adamw, lambda w, v, o: setattr(o, "_beta2", 0.5)),
    "epsilon": (adamw, lambda w, v, o: setattr(o, "_epsilon", 1.0)),
    "rho": (rms, lambda w, v, o: setattr(o, "_rho", 0.2)),
    "the rate": (momentum, lambda w, v, o: o.set_lr(0.5)),
    "a frozen parameter": (adam, lambda w, v, o: setattr(w, "stop_gradient", True)),
    "a parameter that is not trained": (adamw, lambda w, v, o: setattr(v, "trainable", False)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_step_obeys_what_is_set_between_steps(name):
    make, change = CHANGES[name]

    def trained(decorate):
        w, v = parameter(3), parameter()
        opt = make(w, v)

        def step(x):
            loss = ((w * x) ** 2).sum() + (v * v).sum() * 3
            loss.backward()
            opt.step()
            opt.clear_grad()

        step, found = decorate(step), []
        for i in range(5):
            if i == 2:
                change(w, v, opt)
            step(paddle.to_tensor([1.0, 2.0, 3.0]))
            found += [w.numpy(), v.numpy()]
        return step, np.concatenate(found)

    _, right = trained(lambda f: f)
    step, found = trained(lambda f: paddle.jit.to_static(f, full_graph=True))
    np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-6)
    assert step.cache.count <= 2 + (name == "the rate")


def test_settings_that_stay_cost_no_trace():
    w = parameter()
    opt = optimizer.Adam(optimizer.lr.StepDecay(0.1, 2), parameters=[w], grad_clip=nn.ClipGradByNorm(1.0))

    @paddle.jit.to_static(full_graph=True)
    def step():
        (w * w).sum().backward()
        opt.step()
        opt.clear_grad()

    for _ in range(5):
        step()
        opt._learning_rate.step()
        w.need_clip, w.grad = True, None
    assert step.cache.count <= 2


# -- attributes of tensors that Python reads ---------------------------------------------------------------------------
def summed(parameters):
    def f(x):
        out = x * 0
        for p in parameters():
            if not p.stop_gradient:
                out = out + p.sum()
        return out

    return f


def of_list(frozen):
    held = [parameter(), parameter()]
    held[0].stop_gradient = frozen
    return held[0], summed(lambda: held)


def of_layer(_):
    net = nn.Linear(2, 2, weight_attr=ONES)
    return net.weight, summed(net.parameters)


def of_optimizer(_):
    w = parameter()
    opt = optimizer.SGD(0.1, parameters=[w, parameter()])
    return w, lambda x: summed(lambda: opt._parameter_list)(x)


def described(_):
    t = paddle.ones([2])
    t.tag, t.name = "a", "n"
    return t, lambda x: x * (2 if t.tag == "a" else 3) + (1 if t.name == "n" else 5) + t * (7 if t.stop_gradient else 9)


def asked(_):
    t = parameter()
    return t, lambda x: x * t.optimize_attr["learning_rate"] * (2 if hasattr(t, "tag") else 3) + int(t.need_clip)


def listed(_):
    t = paddle.ones([2])
    t.extra = [1]
    return t, lambda x: x * t.extra[0]


def sized(_):
    t = paddle.ones([2])
    return t, lambda x: (x.sum() * t / t.shape[0] + (1 if t.dtype == "float32" else 2)).sum().astype("float32")


K = 1.0
VARIABLE = contextvars.ContextVar("VARIABLE")


def by_getter(_):
    owner, get = SimpleNamespace(tag=1.0), operator.attrgetter("tag")
    return owner, lambda x: x * get(owner)


def by_context(_):
    VARIABLE.set(1.0)
    return VARIABLE, lambda x: x * VARIABLE.get()


def by_globals(_):
    globals()["K"] = 1.0
    return globals(), lambda x: x * globals()["K"]


def called(_):
    class Net(nn.Layer):
        def forward(self, x):
            return x * 2

    net = Net()
    return Net, lambda x: net(x)


def with_defaults(_):
    def scaled(x, by=2.0, *, plus=1.0):
        return x * by + plus

    return scaled, lambda x: scaled(x)


def inherited(_):
    class Base:
        factor = 1.0

    class Derived(Base):
        pass

    owner = Derived()
    return Derived, lambda x: x * owner.factor


def distributed(_):
    normal = paddle.distribution.Normal(0.0, 1.0)
    return normal, lambda x: normal.log_prob(x)


def flagged(_):
    paddle.set_flags({"FLAGS_cudnn_exhaustive_search": False})
    return (
        None,
        lambda x: x * (2 if paddle.get_flags("FLAGS_cudnn_exhaustive_search")["FLAGS_cudnn_exhaustive_search"] else 3),
    )


def initialized(_):
    constant = nn.initializer.Constant(1.0)
    return constant, lambda x: x * constant.value


def clipping(_):
    clip = nn.ClipGradByValue(1.0)
    return clip, lambda x: x * clip.max


def optimizing(_):
    opt = optimizer.Adam(0.1, parameters=[parameter()])
    return opt, lambda x: x * opt._beta1 * (2 if opt._grad_clip is None else 1)


READ = {
    "thawed": (of_list, lambda p: setattr(p, "stop_gradient", False)),
    "frozen": (of_list, lambda p: setattr(p, "trainable", False)),
    "of a layer": (of_layer, lambda p: setattr(p, "stop_gradient", True)),
    "of an optimizer": (of_optimizer, lambda p: setattr(p, "stop_gradient", True)),
    "of one's own": (described, lambda t: setattr(t, "tag", "b")),
    "name": (described, lambda t: setattr(t, "name", "m")),
    "stop_gradient": (described, lambda t: setattr(t, "stop_gradient", False)),
    "one that was not there": (asked, lambda t: setattr(t, "tag", 1)),
    "need_clip": (asked, lambda t: setattr(t, "need_clip", False)),
    "optimize_attr": (asked, lambda t: t.optimize_attr.update(learning_rate=4.0)),
    "an item of a list": (listed, lambda t: t.extra.__setitem__(0, 5)),
    "the list": (listed, lambda t: setattr(t, "extra", [5])),
    "shape": (sized, lambda t: setattr(t, "data", paddle.ones([5]))),
    "dtype": (sized, lambda t: setattr(t, "data", paddle.ones([2], "float64"))),
    "by a getter": (by_getter, lambda owner: setattr(owner, "tag", 5.0)),
    "a context variable": (by_context, lambda v: v.set(5.0)),
    "by globals()": (by_globals, lambda names: names.update(K=5.0)),
    "the forward of a class": (called, lambda cls: setattr(cls, "forward", lambda self, x: x * 7)),
    "defaults": (with_defaults, lambda f: setattr(f, "__defaults__", (7.0,))),
    "defaults of keywords": (with_defaults, lambda f: f.__kwdefaults__.update(plus=7.0)),
    "what a class hides": (inherited, lambda cls: setattr(cls, "factor", 5.0)),
    "of a distribution": (distributed, lambda d: setattr(d, "scale", paddle.to_tensor(2.0))),
    "a flag": (flagged, lambda _: paddle.set_flags({"FLAGS_cudnn_exhaustive_search": True})),
    "of an initializer": (initialized, lambda c: setattr(c, "value", 5.0)),
    "of clipping": (clipping, lambda c: setattr(c, "max", 2.0)),
    "of an optimizer itself": (optimizing, lambda o: setattr(o, "_beta1", 0.5)),
    "clipping of an optimizer": (optimizing, lambda o: setattr(o, "_grad_clip", nn.ClipGradByNorm(1.0))),
}


@pytest.mark.filterwarnings("ignore:set_flags")
@pytest.mark.parametrize("name", READ)
def test_an_attribute_that_python_reads_is_read_anew(name):
    make, change = READ[name]

    def results(decorate):
        owner, f = make(name == "thawed")
        f, found, x = decorate(f), [], paddle.ones([2])
        for i in range(5):
            if i == 2:
                change(owner)
            found.append(f(x).tolist())
        return found

    right = results(lambda f: f)
    assert right[1] != right[2]
    assert results(lambda f: paddle.jit.to_static(f, full_graph=True)) == right


def test_gradients_flow_to_a_tensor_that_takes_some_from_now_on():
    t = paddle.ones([2])
    f = paddle.jit.to_static(lambda x: x * t, full_graph=True)
    for stopped in (True, True, False, False, True):
        t.stop_gradient = stopped
        assert f(paddle.ones([2])).stop_gradient is stopped
