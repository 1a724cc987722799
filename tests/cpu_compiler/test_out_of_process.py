"""Large programs are compiled by a process of their own, with the results that they have without it."""

from __future__ import annotations

import hashlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.core.config import user_secret
from paddle_lite_py.core.jax_compat import compiler, versions
from paddle_lite_py.core.jax_compat.versions import JaxVersionWarning
from paddle_lite_py.core.mappings import make_room, room
from paddle_lite_py.core.private_files import signature
from paddle_lite_py.core.switches import baseline_tier
from paddle_lite_py.cpu_compiler import executables, out_of_process
from paddle_lite_py.cpu_compiler.compiler_process import CompilerJob, CompilerProcess
from paddle_lite_py.cpu_compiler.traced import TracedFunction
from paddle_lite_py.host.tier import program_jit

X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)


pytestmark = pytest.mark.usefixtures("all_are_large")


@pytest.fixture
def jobs(monkeypatch):
    """What the process is asked to do."""
    asked = []
    do = out_of_process.process.do
    monkeypatch.setattr(out_of_process.process, "do", lambda job: asked.append(job["name"]) or do(job))
    return asked


def affine(a, b):
    return {"sum": jnp.sin(a) + b, "pair": (a * b, [a.sum()])}


def flat(results):
    return [np.asarray(a) for a in jax.tree.leaves(results)]


def same(found, expected):
    assert all(np.array_equal(a, b) for a, b in zip(flat(found), flat(expected), strict=True))


def test_results_and_their_structure_are_those_of_jit(jobs):
    f = program_jit(affine, 1)
    found, expected = f(X, X), jax.jit(affine)(X, X)
    assert jax.tree.structure(found) == jax.tree.structure(expected) and jobs == ["affine"]
    np.testing.assert_allclose(found["sum"], expected["sum"], rtol=1e-6)
    same(f(jnp.asarray(X), X), found)  # arrays of either library
    assert jobs == ["affine"]


def test_each_kind_of_arguments_has_an_executable(jobs):
    f = program_jit(affine, 1)
    for _ in range(2):
        for a in (X, X[:1], X.astype(np.float64), X):
            np.testing.assert_allclose(f(a, a)["sum"], np.sin(a) + a, rtol=1e-6)
    assert jobs == ["affine"] * 3


def test_numbers_are_arrays_of_a_kind_of_their_own(jobs):
    f = program_jit(affine, 1)
    for _ in range(2):
        assert f(1.0, 2.0)["pair"][1][0] == 1.0
        same(f(X, X)["pair"][0], X * X)
        assert f(X, 2.0)["sum"].dtype == X.dtype and f(X, np.float64(2.0))["sum"].dtype == np.float64
    assert jobs == ["affine"] * 4


def test_memory_is_given_away():
    f = program_jit(lambda a, b: (a + b, b * 2), 1, donate_argnums=(0,))
    a = jnp.asarray(X)
    same(f(a, X), (X + X, X * 2))
    assert a.is_deleted()


def test_another_process_compiles_nothing(jobs):
    first = program_jit(affine, 1)(X, X)
    f = program_jit(affine, 1)  # an equal program from another line, as a new process has it after an edit elsewhere
    same(f(X, X), first)
    assert jobs == ["affine"]


@pytest.mark.parametrize(
    "harm", [lambda c: c[:-9], lambda c: c[:40] + b"\0" + c[41:], lambda c: b"", lambda c: b"x" * 99]
)
def test_a_damaged_file_is_written_again(tmp_path, jobs, harm):
    first = program_jit(affine, 1)(X, X)
    (path,) = tmp_path.glob("*.executable")
    whole = path.read_bytes()
    path.write_bytes(harm(whole))
    same(program_jit(affine, 1)(X, X), first)
    assert jobs == ["affine"] * 2 and len(path.read_bytes()) > 99 and not list(tmp_path.glob("*.program"))


def test_what_another_version_has_written_is_not_loaded(tmp_path):
    program_jit(affine, 1)(X, X)
    (path,) = tmp_path.glob("*.executable")
    content = zlib.compress(b"an executable of tomorrow")
    path.write_bytes(signature(user_secret(), path.name, content) + content)
    assert program_jit(affine, 1)(X, X)["sum"].shape == (2, 3)


class Bomb:
    def __reduce__(self):
        return os.system, ("touch exploded",)


@pytest.mark.parametrize("key", [b"", b"another secret"])
def test_what_another_user_has_written_is_not_unpickled(tmp_path, monkeypatch, key):
    monkeypatch.chdir(tmp_path)
    expected = program_jit(affine, 1)(X, X)
    (path,) = tmp_path.glob("*.executable")
    content = zlib.compress(pickle.dumps(Bomb()))
    signed = signature(key, path.name, content) if key else hashlib.sha256(content).digest()
    path.write_bytes(signed + content)
    same(program_jit(affine, 1)(X, X), expected)
    assert not (tmp_path / "exploded").exists()


def test_an_executable_under_the_name_of_another_is_not_loaded(tmp_path, jobs):
    program_jit(affine, 1)(X, X)
    (path,) = tmp_path.glob("*.executable")
    other = lambda a, b: {"sum": a - b, "pair": (a, [b.sum()])}  # noqa: E731
    other.__name__ = "affine"
    expected = other(X, X)
    program_jit(other, 1)(X, X)
    (second,) = set(tmp_path.glob("*.executable")) - {path}
    second.write_bytes(path.read_bytes())
    same(program_jit(other, 1)(X, X)["sum"], expected["sum"])
    assert len(jobs) == 3


def test_the_process_is_started_again(jobs):
    program_jit(affine, 1)(X, X)
    out_of_process.process.child.kill()
    f = program_jit(lambda a: a * 3, 1)
    same(f(X), X * 3)
    assert len(jobs) == 2


def test_without_the_process_the_results_are_the_same(monkeypatch, tmp_path):
    expected = program_jit(affine, 1)(X, X)
    for path in tmp_path.glob("*"):
        path.unlink()
    monkeypatch.setattr(out_of_process.process, "do", lambda job: "no")
    same(program_jit(affine, 1)(X, X), expected)
    monkeypatch.setattr(executables, "folder", lambda: tmp_path / "of nobody")  # as if there were no room on the disk
    same(program_jit(affine, 1)(X, X), expected)
    monkeypatch.setattr(out_of_process.process, "do", pytest.fail)
    paddle.set_flags({"FLAGS_compiler_process": False})
    try:
        same(program_jit(affine, 1)(X, X), expected)
    finally:
        paddle.set_flags({"FLAGS_compiler_process": True})


def test_the_process_begins_early_unless_programs_alike_are_there(monkeypatch):
    started = []
    monkeypatch.setattr(out_of_process, "MANY", 0)
    monkeypatch.setattr(out_of_process.process, "start", lambda: started.append(1))
    counts = []
    for x in (X, X, X[:1]):
        program_jit(affine, 1)(x, x)
        counts.append(len(started))
    assert counts == [1, 1, 2]


def test_a_process_that_cannot_start_is_not_asked_for_again(monkeypatch):
    process = CompilerProcess()
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert process.do({}) and process.refused


def test_a_job_that_fails_says_why():
    process = CompilerProcess()
    try:
        assert "FileNotFoundError" in process.do({"program": "/nowhere", "path": "/nowhere", "name": "f"})
        assert process.child.poll() is None
    finally:
        process.end()


def test_python_in_a_program_stays_in_this_process(jobs):
    def f(a):
        return jax.pure_callback(lambda a: np.asarray(a) + 1, jax.ShapeDtypeStruct(a.shape, a.dtype), a)

    def g(a):
        jax.debug.callback(lambda a: None, a)
        return a + 1

    same(program_jit(f, 1)(X), X + 1)
    same(program_jit(g, 1)(X), X + 1)
    assert jobs == []


def test_room_is_made(jobs, monkeypatch):
    f = program_jit(affine, 1)
    expected = f(X, X)
    monkeypatch.setattr(room, "due", True)
    make_room()
    assert f._last is None
    same(f(X, X), expected)
    assert jobs == ["affine"]


def test_it_is_told_as_other_compilations_are(monkeypatch):
    told = []
    listener = lambda event, seconds, **details: told.append((event, details.get("fun_name")))  # noqa: E731
    jax.monitoring.register_event_duration_secs_listener(listener)
    try:
        program_jit(affine, 1)(X, X)
    finally:
        jax.monitoring.unregister_event_duration_listener(listener)
    assert (out_of_process.COMPILED, "jit(affine)") in told


def trained(steps=3):
    paddle.seed(1)
    net = paddle.nn.Sequential(
        paddle.nn.Linear(64, 64), paddle.nn.GELU(), paddle.nn.Dropout(0.3), paddle.nn.Linear(64, 8)
    )
    adam = paddle.optimizer.AdamW(1e-2, parameters=net.parameters())

    @paddle.jit.to_static
    def step(x):
        loss = (net(x) ** 2).mean()
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    x = paddle.linspace(-1, 1, 64 * 64).reshape([64, 64])
    losses = [float(step(x)) for _ in range(steps)]
    layer = paddle.jit.to_static(net)  # forward and backward of its own
    layer(x).sum().backward()
    return losses, [p.numpy() for p in net.parameters()], net[0].weight.grad.numpy()


def test_training_is_the_same(jobs, monkeypatch):
    found = trained()
    assert "step" in jobs and not {"forward", "eager_ops_and_backward"}.isdisjoint(jobs)  # alone, or with what waits
    monkeypatch.setattr(out_of_process, "FEW", 10**9)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(trained()), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


SCRIPT = """
import os, signal, sys, threading, time
import jax.numpy as jnp
import paddle_lite_py as paddle
from paddle_lite_py.cpu_compiler import out_of_process, executables
from paddle_lite_py.host.tier import program_jit
out_of_process.LARGE = out_of_process.FEW = 1
paddle.set_flags({"FLAGS_baseline_tier": False})
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
def slow(a):
    for i in range(3000):
        a = jnp.sin(a[::-1]) @ a if i % 3 else a.sum(1) * a + i
    return a
try:
    program_jit(slow, 1)(jnp.ones((8, 8)))
except KeyboardInterrupt:
    print("heeded", out_of_process.process.child)
print(float(program_jit(lambda a: a * 3, 1)(jnp.ones(())) ))
print(out_of_process.process.child.pid)
"""


def test_an_interrupt_ends_the_wait_and_the_compilation(tmp_path):
    environment = os.environ | {"PADDLE_LITE_CACHE_DIR": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment, timeout=120)
    lines = ran.stdout.split()
    assert lines[:2] == ["heeded", "None"] and lines[2] == "3.0", ran.stdout + ran.stderr
    for _ in range(50):  # it does not outlive this process
        try:
            os.kill(int(lines[3]), 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the compiler is still there")


def test_a_compiler_that_nobody_needs_ends(tmp_path):
    code = f"import sys; sys.path.insert(0, {os.path.dirname(compiler.__file__)!r}); import compiler; "
    quick = subprocess.Popen(
        [sys.executable, "-c", code + "compiler.IDLE_SECONDS = 0.1; compiler.main()"],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert quick.wait(60) == 0
    finally:
        quick.kill()
        quick.communicate()


def test_who_forks_starts_a_process_of_its_own():
    process = CompilerProcess()
    try:
        process.start()
        child = process.child
        process.owner = -1  # as in a fork
        process.start()
        assert process.child is not child and child.poll() is None
        child.send_signal(signal.SIGKILL)
        child.communicate()
    finally:
        process.end()


def test_the_file_of_an_executable_tells_what_may_be_written_over():
    def at(donated):
        f = program_jit(affine, 1, donate_argnums=donated)
        return f.executable(TracedFunction(affine, (X, X))).path

    assert at(()) == at(()) and len({at(()), at((0,)), at((1,)), at((0, 1))}) == 4


# -- the baseline tier -----------------------------------------------------------------------------------------------
@pytest.fixture
def warming(monkeypatch):
    """The baseline tier runs what is not compiled yet, however small it is."""
    monkeypatch.setattr(baseline_tier, "on", True)
    monkeypatch.setattr(out_of_process, "BASELINE", 1)
    monkeypatch.setattr(out_of_process, "PER_EQUATION", 10.0)
    submitted = []
    submit = out_of_process.process.submit
    monkeypatch.setattr(out_of_process.process, "submit", lambda job: submitted.append(job) or submit(job))
    return submitted


def finish(jobs):
    for job in jobs:
        while not out_of_process.process.is_done(job, wait=True):
            pass


def tier(f):
    return "baseline" if f._last is None else "compiled"


def test_what_comes_a_second_time_is_compiled_and_nobody_waits(warming):
    f = program_jit(affine, 20)
    found = [f(X, X)]
    assert warming == [] and tier(f) == "baseline"
    found.append(f(X, X))
    assert len(warming) == 1 and tier(f) == "baseline"
    finish(warming)
    found.append(f(X, X))
    assert len(warming) == 1 and tier(f) == "compiled"
    for each in found:
        np.testing.assert_allclose(each["sum"], np.sin(X) + X, rtol=1e-6)
        assert all(isinstance(a, jax.Array) for a in jax.tree.leaves(each))


def test_another_process_compiles_nothing_again(warming, monkeypatch):
    f = program_jit(affine, 20)
    f(X, X), f(X, X)
    finish(warming)
    again = program_jit(affine, 20)
    again(X, X), again(X, X)
    assert tier(again) == "compiled" and len(warming) == 1
    monkeypatch.setattr(out_of_process, "PER_EQUATION", 1e-7)  # it is loaded sooner than NumPy would have run
    again = program_jit(affine, 20)
    again(X, X)
    assert tier(again) == "compiled" and len(warming) == 1


def test_what_the_compiler_of_another_process_is_at_is_not_asked_for_again(warming, monkeypatch, tmp_path):
    monkeypatch.setattr(out_of_process.process, "submit", lambda job: warming.append(job) or job)  # which takes long

    def called(times):
        f = program_jit(affine, 20, text=lambda: "affine")
        for _ in range(times):
            np.testing.assert_allclose(f(X, X)["sum"], np.sin(X) + X, rtol=1e-6)
        return tier(f)

    assert called(2) == called(3) == "baseline" and len(warming) == 1
    [source] = tmp_path.glob("*.program")
    os.utime(source, (0, 0))  # nobody works that long: the process was killed
    assert called(2) == "baseline" and len(warming) == 2


def test_each_kind_is_compiled_when_it_comes_again(warming):
    f = program_jit(affine, 20)
    for n in (1, 2, 3, 2):
        f(np.ones((n, 3), np.float32), np.ones((n, 3), np.float32))
    assert len(warming) == 1
    np.testing.assert_allclose(f(X[:1], X)["sum"], np.sin(X[:1]) + X, rtol=1e-6)


def test_what_is_given_away_is_not_needed(warming):
    f = program_jit(lambda a, b: (a + b, b * 2), 20, donate_argnums=(0,))
    for _ in range(2):
        same(f(jnp.asarray(X), X), (X + X, X * 2))
    finish(warming)
    a = jnp.asarray(X)
    same(f(a, X), (X + X, X * 2))
    assert a.is_deleted()


def test_without_a_compiler_nothing_is_compiled(warming):
    f = program_jit(affine, 20)
    for _ in range(3):
        np.testing.assert_allclose(f.without_compiler(X, X)(X, X)["sum"], np.sin(X) + X, rtol=1e-6)
        assert f.without_compiler(X, 2.0)(X, 2.0)["sum"].dtype == X.dtype
    assert warming == []


def test_a_compiler_that_fails_leaves_it_to_this_process(warming, monkeypatch, tmp_path):
    monkeypatch.setattr(out_of_process.process, "_running", lambda: None)
    f = program_jit(affine, 20)
    for _ in range(3):
        np.testing.assert_allclose(f(X, X)["sum"], np.sin(X) + X, rtol=1e-6)
    assert tier(f) == "compiled" and not list(tmp_path.glob("*.program"))


def test_a_flag_waits_for_the_compiler(warming):
    paddle.set_flags({"FLAGS_baseline_tier": False})
    try:
        f = program_jit(affine, 20)
        f(X, X)
        assert tier(f) == "compiled"
    finally:
        paddle.set_flags({"FLAGS_baseline_tier": True})


@pytest.mark.parametrize("flag", [{"FLAGS_baseline_tier": False}, {"FLAGS_check_nan_inf": True}])
def test_a_flag_that_is_set_later_is_heeded(warming, flag):
    f = program_jit(lambda a: jnp.log(a) * 2, 20)
    f(X)  # NaN, which nobody looks for
    paddle.set_flags(flag)
    if "FLAGS_check_nan_inf" in flag:
        with pytest.raises(FloatingPointError):
            f(X)
    else:
        f(X)
    assert tier(f) == "compiled" and warming == []


def test_training_begins_on_the_baseline_tier_and_goes_on_compiled(warming):
    found = trained(4)
    assert warming
    finish(warming)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(baseline_tier, "on", False)
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(trained(4)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


LEAVING = """
import sys
import numpy as np
import paddle_lite_py as paddle
from paddle_lite_py.cpu_compiler import out_of_process
from paddle_lite_py.host.tier import program_jit
out_of_process.LARGE = out_of_process.BASELINE = 1
out_of_process.PER_EQUATION = 10.0
f = program_jit(lambda a: a * 3, 20)
for _ in range(2):
    f(np.ones(3))
print(out_of_process.process.child.pid)
"""


def test_a_process_that_ends_leaves_the_compiler_its_work(tmp_path):
    environment = os.environ | {"PADDLE_LITE_CACHE_DIR": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", LEAVING], capture_output=True, text=True, env=environment, timeout=120)
    for _ in range(300):
        try:
            os.kill(int(ran.stdout), 0)
        except ProcessLookupError:
            break
        time.sleep(0.1)
    assert len(list(tmp_path.rglob("*.executable"))) == 1 and not list(tmp_path.rglob("*.program"))


def test_who_does_not_wait_is_not_held_up_by_who_does():
    process, reads, goes_on = CompilerProcess(), threading.Event(), threading.Event()
    take = process._take_answer
    process._take_answer = lambda child: (reads.set(), goes_on.wait(60), take(child))
    try:
        first = process.submit(CompilerJob({"program": "/nowhere"}))
        with ThreadPoolExecutor(1) as others:
            waiting = others.submit(process.is_done, first, True)
            assert reads.wait(60)
            second = process.submit(CompilerJob({"program": "/nowhere"}))
            assert not process.is_done(second)
            goes_on.set()
            assert waiting.result(60)
        assert process.is_done(second, wait=True)
        assert "FileNotFoundError" in first.answer and "FileNotFoundError" in second.answer
    finally:
        process.end()


def test_what_fails_on_the_baseline_tier_is_compiled(warming, monkeypatch):
    f = program_jit(affine, 20)
    run = f.without_compiler(X, X)
    monkeypatch.setattr(out_of_process.Warming, "compiled", lambda self: setattr(self, "baseline", lambda *args: 1 / 0))
    monkeypatch.setattr(versions._Told, "once", False)
    with pytest.warns(JaxVersionWarning, match="baseline tier"):
        found = f(X, X)
    same(found["sum"], jax.jit(affine)(X, X)["sum"])
    assert tier(f) == "compiled" and run is not None


def test_the_file_of_an_executable_tells_how_it_is_compiled():
    def at(windows):
        return program_jit(affine, 20, windows).executable(TracedFunction(affine, (X, X))).path

    assert at(False) == at(False) != at(True)


def test_a_program_of_this_process_takes_no_other_shapes(monkeypatch):
    monkeypatch.setattr(out_of_process, "LARGE", 10**9)
    f = program_jit(lambda a: jnp.concatenate([a, a]) @ a.T, 20)
    for n in (2, 3, 1, 3):
        a = np.ones((n, 4), np.float32)
        np.testing.assert_array_equal(f(a), np.full((2 * n, n), 4.0))
