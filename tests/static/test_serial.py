"""Whole training programs as bytes: another process trains on with the same numbers; damaged ones are refused."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys

import numpy as np
import pytest
from paddle_lite_py.jit.artifact import ArtifactError

import house
import optimizer_cases
import paddle_lite_py as paddle
import schedule_cases
from paddle_lite_py import nn, static
from paddle_lite_py.core.switches import baseline_tier
from paddle_lite_py.ir.serialize import FormatError
from paddle_lite_py.optimizer.lr.described import describe, from_description

pytestmark = pytest.mark.usefixtures("static_mode")


@pytest.fixture(autouse=True)
def without_baseline(monkeypatch):
    """The same bits each time; else NumPy runs the first steps of a large program until it is compiled."""
    monkeypatch.setattr(baseline_tier, "on", False)


RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(4, 2)).astype("float32"), RNG.normal(size=(4, 1)).astype("float32")
FEED = {"x": X, "y": Y}
REFUSED = (ArtifactError, FormatError)


def mean_square(*, dropout: bool = False) -> paddle.Tensor:
    x, y = static.data("x", [None, 2]), static.data("y", [None, 1])
    hidden = static.nn.fc(x, 3, activation="tanh")
    return nn.functional.mse_loss(static.nn.fc(nn.functional.dropout(hidden, 0.5) if dropout else hidden, 1), y)


def trained(loss, steps, program=None, feed=FEED):
    """Losses of some runs, each followed by a step of the schedule."""
    program = program or static.default_main_program()
    out = []
    for _ in range(steps):
        out.append(static.Executor().run(program, feed, [loss])[0].tolist())
        if program.lr_scheduler is not None:
            program.lr_scheduler.step()
    return out


def saved(loss, path, feed=FEED):
    """Write a program after two runs; what its next three runs give."""
    static.Executor().run(static.default_startup_program())
    trained(loss, 2, feed=feed)
    static.save(static.default_main_program(), str(path))
    return trained(loss, 3, feed=feed)


def loaded(path):
    program = static.deserialize_program(static.load_from_file(f"{path}.json"))
    static.load(program, str(path))
    return program


def goes_on(loss, tmp_path, feed=FEED):
    """Whether a program that is loaded, in a scope of its own, gives what the one that was written gives."""
    expected, text = saved(loss, tmp_path / "m", feed), str(static.default_main_program())
    with static.scope_guard(static.Scope()):
        program = loaded(tmp_path / "m")
        assert str(program) == text
        np.testing.assert_array_equal(trained(loss.name, 3, program, feed), expected)
        return program


@pytest.mark.parametrize("case", optimizer_cases.CASES)
def test_each_optimizer_goes_on(case, tmp_path):
    params = optimizer_cases.parameters(paddle, case)
    x = static.data("x", [None, 2])
    loss = ((x @ params[0] + params[1]) ** 2).mean() + (params[2] * params[2]).sum()
    optimizer_cases.CASES[case](paddle, params).minimize(loss)
    goes_on(loss, tmp_path, {"x": X})


SCHEDULES = {n: make for n, make in schedule_cases.CASES.items() if n not in ("lambda", "multiplicative")}


@pytest.mark.parametrize("case", [*SCHEDULES, *schedule_cases.PLATEAUS])
def test_each_schedule_goes_on(case):
    schedule = (SCHEDULES | schedule_cases.PLATEAUS)[case](paddle.optimizer.lr)
    metrics = [[m] * (case in schedule_cases.PLATEAUS) for m in schedule_cases.METRICS]
    for metric in metrics[:4]:
        schedule.step(*metric)
    other = from_description(json.loads(json.dumps(describe(schedule))))
    for metric in metrics[4:]:
        assert other() == schedule()
        schedule.step(*metric), other.step(*metric)


def scaled(loss):
    """float16 with a scale that adapts, from one that overflows at first."""
    optimizer = static.amp.decorate(paddle.optimizer.Momentum(0.1), init_loss_scaling=2.0**30, incr_every_n_steps=2)
    optimizer.minimize(loss)


def merged(loss):
    """Two runs to an update."""
    static.GradientMergeOptimizer(paddle.optimizer.Adam(0.1), k_steps=2).minimize(loss)


def averaged(loss):
    """Averages beside the parameters."""
    paddle.optimizer.SGD(0.1, weight_decay=paddle.regularizer.L1Decay(0.1)).minimize(loss)
    static.ExponentialMovingAverage(0.9).update()


def clipped(loss):
    """A clip that is called, and the update of what it gives."""
    pairs = nn.ClipGradByNorm(0.1)(static.append_backward(loss))
    paddle.optimizer.Adam(0.1).apply_gradients(pairs)


def twice(loss):
    """Two optimizers, one with a schedule; weights are clipped between them."""
    first, second = static.default_main_program().all_parameters()[::2]
    paddle.optimizer.Adam(0.1, parameters=[first]).minimize(loss)
    with paddle.no_grad():
        paddle.assign(first.clip(-0.2, 0.2), first)
    rate = paddle.optimizer.lr.ExponentialDecay(0.1, 0.5)
    paddle.optimizer.Adam(rate, parameters=[first, second]).minimize(loss)


@pytest.mark.parametrize("train", [scaled, merged, averaged, clipped, twice])
def test_each_way_to_train_goes_on(train, tmp_path):
    loss = mean_square()
    train(loss)
    goes_on(loss, tmp_path)


def test_random_numbers_of_the_program_go_on(tmp_path):
    static.default_main_program().random_seed = 5
    loss = mean_square(dropout=True)
    paddle.optimizer.SGD(0.1).minimize(loss)
    goes_on(loss, tmp_path)


def test_tensors_of_dynamic_mode_go_along(tmp_path):
    paddle.disable_static()
    fixed, trained_too = paddle.to_tensor([[1.0], [2.0]]), paddle.create_parameter([1], "float32")
    paddle.enable_static()
    loss = (mean_square() + static.data("x", [None, 2]) @ fixed * trained_too).mean()
    paddle.optimizer.SGD(0.1, parameters=[*static.default_main_program().all_parameters(), trained_too]).minimize(loss)
    goes_on(loss, tmp_path)


def test_branches_and_loops_go_along(tmp_path):
    loss = mean_square()
    loss = static.nn.cond(loss > 0.5, lambda: loss * 2, lambda: loss)
    _, loss = static.nn.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 1.5), [paddle.zeros([], "int64"), loss])
    paddle.optimizer.SGD(0.1).minimize(loss)
    goes_on(loss, tmp_path)


OTHER = """
import sys, json, numpy as np
import paddle_lite_py as paddle
from paddle_lite_py import static
paddle.enable_static()
program = static.deserialize_program(static.load_from_file(sys.argv[1] + ".json"))
static.load(program, sys.argv[1])
feed, out = {"x": np.array(json.loads(sys.argv[2]), "float32"), "y": np.array(json.loads(sys.argv[3]), "float32")}, []
for _ in range(3):
    out.append(float(static.Executor().run(program, feed, [sys.argv[4]])[0]))
    program.lr_scheduler.step()
print(json.dumps(out))
"""


def test_another_process_trains_on(tmp_path):
    loss = mean_square()
    rate = paddle.optimizer.lr.LinearWarmup(paddle.optimizer.lr.StepDecay(0.1, 2), 3, 0.0, 0.1)
    paddle.optimizer.AdamW(rate, grad_clip=nn.ClipGradByGlobalNorm(0.5)).minimize(loss)
    expected = saved(loss, tmp_path / "m")
    arguments = [str(tmp_path / "m"), json.dumps(X.tolist()), json.dumps(Y.tolist()), loss.name]
    done = subprocess.run([sys.executable, "-c", OTHER, *arguments], cwd=house.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(json.loads(done.stdout), np.array(expected, "float32").astype(float))


def test_a_loaded_program_is_evaluated_changed_and_built_upon(tmp_path):
    loss = mean_square(dropout=True)
    paddle.optimizer.Adam(0.1).minimize(loss)
    saved(loss, tmp_path / "m")
    exe, test = static.Executor(), static.default_main_program().clone(for_test=True)
    program, startup = loaded(tmp_path / "m"), static.Program()
    expected = exe.run(test, FEED, [loss])[0]
    np.testing.assert_array_equal(exe.run(program.clone(for_test=True), FEED, [loss.name])[0], expected)
    assert program.optimizers[0].get_lr() == pytest.approx(0.1)
    program.optimizers[0].set_lr(0.0)
    with static.program_guard(program, startup):
        weight = static.data("weight", [None, 1])
        more = (program.global_block().var(loss.name) * weight).mean() + static.data("x", [None, 2]).sum() * 0
    one = np.ones([4, 1], "float32")
    before = program.state_dict("param")
    plain, weighted = exe.run(program, FEED | {"weight": one * 2}, [loss.name, more])
    np.testing.assert_allclose(weighted, plain * 2, rtol=1e-6)
    for name, value in program.state_dict("param").items():
        np.testing.assert_array_equal(value.numpy(), before[name].numpy())


def test_asserts_of_a_loaded_program_fail(tmp_path):
    x = static.data("x", [2])

    def checked(x):
        assert x.sum() > 0, "the sum is negative"
        return x * 2

    y = paddle.jit.to_static(checked)(x)
    program = static.Program.parse_from_string(static.default_main_program().serialize_to_string())
    exe = static.Executor()
    np.testing.assert_array_equal(exe.run(program, {"x": np.ones(2, "float32")}, [y.name])[0], [2, 2])
    with pytest.raises(AssertionError, match="the sum is negative"):
        exe.run(program, {"x": -np.ones(2, "float32")}, [y.name])


def test_paddle_save_takes_programs(tmp_path):
    loss = mean_square()
    paddle.optimizer.SGD(0.1).minimize(loss)
    main, startup = static.default_main_program(), static.default_startup_program()
    paddle.save(main, tmp_path / "main.pdmodel")
    static.Executor().run(startup)
    again = paddle.load(tmp_path / "main.pdmodel")
    state = main.state_dict()
    found = trained(loss.name, 2, again)
    main.set_state_dict(state)
    assert found == trained(loss, 2)
    (tmp_path / "main.pdmodel").write_bytes((tmp_path / "main.pdmodel").read_bytes()[:-9])
    with pytest.raises(ArtifactError):
        paddle.load(tmp_path / "main.pdmodel")


# -- what no file can hold ---------------------------------------------------------------------------------------------
def test_what_no_file_can_hold_is_said(tmp_path):
    loss = mean_square()

    class Halving(paddle.optimizer.SGD):
        @staticmethod
        def _rule(param, grad, state, lr):
            return param - lr * grad / 2, {}

    main = static.default_main_program()
    for optimizer, text in [
        (Halving(0.1), "operator halving at .* is not of the registry"),
        (paddle.optimizer.SGD(paddle.optimizer.lr.LambdaDecay(0.1, lambda n: 0.5)), "learning rate: no file can hold"),
    ]:
        program = main.clone()
        with static.program_guard(program, static.Program()):
            optimizer.minimize(program.global_block().var(loss.name))
        with pytest.raises(TypeError, match=text):
            program.serialize_to_string()
    out = main.global_block().create_var(name="out", dtype="float32", shape=[1])
    static.py_func(lambda a: a, loss.reshape([1]), out)
    static.Executor().run(static.default_startup_program())
    with pytest.warns(UserWarning, match="the program itself is not: operator py_func"):
        static.save(main, str(tmp_path / "m"))
    static.load(main, str(tmp_path / "m"))


# -- bad input ---------------------------------------------------------------------------------------------------------
@pytest.fixture
def written():
    loss = mean_square()
    rate = paddle.optimizer.lr.StepDecay(0.1, 2)
    paddle.optimizer.Adam(rate, grad_clip=nn.ClipGradByGlobalNorm(0.5), weight_decay=0.1).minimize(loss)
    return json.loads(static.default_main_program().serialize_to_string())


def put(value, *path):
    """A change: what stands at a path becomes `value`, or what it makes of what is there."""

    def change(data):
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = value(data[path[-1]]) if callable(value) else value

    return change


ADAM = ("program", "block", "ops", -1)
ATTRS = (*ADAM, "attrs")
# What is changed, and what the error says.
DAMAGES = {
    "a slot less": (put(lambda s: s[1:], *ATTRS, "slots"), "damaged"),
    "a slot of another name": (put("other", *ATTRS, "slots", 0, 0), "damaged"),
    "a slot that is no slot": (put(3, *ATTRS, "slots", 0), "a slot is 3; expected 4 entries"),
    "a setting less": (put(lambda s: s[1:], *ATTRS, "settings"), "damaged"),
    "a setting that is none": (put({"float": "inf"}, *ATTRS, "settings", 0), "a setting is inf; expected 7 entries"),
    "a row that is not there": (put(99, *ATTRS, "settings", 0, 0), "the rows .* are not those of beta1_pow_acc"),
    "a row twice": (put(1, *ATTRS, "settings", 0, 0), "the rows .* are not those of"),
    "a row that is no number": (put("0", *ATTRS, "settings", 0, 0), "expected 7 entries"),
    "an unknown decay": (put("l3", *ATTRS, "settings", 0, 2), "the decay is 'l3'; expected 'l1', 'l2' or ''"),
    "an unknown setting": (put([["beta3", 0.5]], *ATTRS, "settings", 0, 5), "damaged"),
    "a text for a number": (put([["beta1", "a"]], *ATTRS, "settings", 0, 5), "damaged"),
    "an unknown clip": (put(["median", 1.0], *ATTRS, "clip"), "damaged"),
    "a clip of a text": (put(["global_norm", "a"], *ATTRS, "clip"), "damaged"),
    "a flag that is none": (put(1, *ATTRS, "skips"), "skips is 1; expected true or false"),
    "a flag that is not there": (put(True, *ATTRS, "skips"), "damaged"),
    "an attribute more": (put({}, *ATTRS, "more"), "damaged"),
    "an attribute less": (lambda data: data["program"]["block"]["ops"][-1]["attrs"].pop("clip"), "damaged"),
    "another rule": (put("lamb", *ADAM, "op"), "damaged"),
    "an unknown rule": (put("adamant", *ADAM, "op"), "not known"),
    "an input less": (put(lambda i: i[:-1], *ADAM, "in"), "damaged"),
    "a gradient of another shape": (
        lambda d: put(d["program"]["block"]["ops"][-1]["in"][2], *ADAM, "in", 1)(d),
        "damaged",
    ),
    "a number for state": (put({"py": 1.0}, *ADAM, "in", -1), "damaged"),
    "a result of another shape": (put([7], *ADAM, "out", 0, "shape"), "damaged"),
    "an input of no kind": (put("else", "inputs", -2, "kind"), "unknown kind"),
    "a name twice": (lambda d: put(d["inputs"][0]["name"], "inputs", 1, "name")(d), "one name"),
    "a name that is none": (put(3, "inputs", 2, "name"), "has no name"),
    "a description less": (put(lambda i: i[:-1], "inputs"), "damaged"),
    "a rate that is not there": (put(lambda i: [d | {"of": 5} for d in i], "inputs"), "no number of what is expected"),
    "an update of a feed": (put(0, "updates", 0), "is given another kind of value"),
    "an update of other state": (lambda d: d["updates"].reverse(), "is given another kind of value"),
    "an update less": (put(lambda u: u[1:], "updates"), "updates, but"),
    "a schedule that is none": (put("Eval", "rates", 0, "schedule"), "describes no schedule"),
    "a schedule of a text": (put(["a", 2], "rates", 0, "args"), "damaged"),
    "a state of a text": (put("a", "rates", 0, "state", "last_epoch"), "last_epoch is 'a'"),
    "a rate of a text": (put(["a"], "rates"), "damaged"),
    "a newer version": (put(99, "version"), "version is 99"),
    "random numbers of a text": (put("a", "random"), "damaged"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_programs_are_refused(written, name):
    change, text = DAMAGES[name]
    change(written)
    with pytest.raises(REFUSED, match=text):
        static.deserialize_program(json.dumps(written).encode())


def test_a_constant_of_another_size_is_refused():
    paddle.disable_static()
    fixed = paddle.to_tensor([1.0, 2.0])
    paddle.enable_static()
    static.data("x", [2]) + fixed
    data = json.loads(static.default_main_program().serialize_to_string())
    for text in ("AAAA", "!", 3):
        bad = copy.deepcopy(data)
        bad["inputs"][-1]["data"] = text
        with pytest.raises(REFUSED, match="damaged|which is not its size"):
            static.deserialize_program(json.dumps(bad).encode())


def test_a_fuzzed_program_is_loaded_or_refused(written):
    whole = json.dumps(written).encode()
    rng = random.Random(0)
    refused = 0
    for _ in range(150):
        changed = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(changed))
            if rng.random() < 0.5:
                changed[at] = rng.randrange(32, 127)
            else:
                changed[at : at + rng.randint(0, 20)] = whole[at // 2 : at // 2 + rng.randint(0, 20)]
        try:
            static.deserialize_program(bytes(changed))
        except REFUSED:
            refused += 1
    assert refused > 100


def test_fuzzed_numbers_and_texts_are_loaded_or_refused(written):
    """Damage that is still JSON: each leaf of the data may become another one."""
    rng, refused = random.Random(1), 0
    others = [None, True, -1, 0, 7, 1 << 70, 0.5, "", "x", [], {}, [1], {"py": 1}, {"float": "nan"}]

    def leaves(data):
        for key in range(len(data)) if isinstance(data, list) else list(data):
            yield data, key
            if isinstance(data[key], list | dict):
                yield from leaves(data[key])

    for _ in range(150):
        bad = copy.deepcopy(written)
        owner, key = rng.choice(list(leaves(bad)))
        owner[key] = rng.choice(others)
        try:
            static.deserialize_program(json.dumps(bad).encode())
        except REFUSED:
            refused += 1
    assert refused > 80
