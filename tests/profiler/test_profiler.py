"""The profiler: schedules, recordings, summaries."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py import profiler as P
from paddle_lite_py.core.interpreter import state
from paddle_lite_py.profiler.tables import source


def test_schedules():
    schedule = P.make_scheduler(closed=1, ready=1, record=2, repeat=1, skip_first=1)
    names = ["CLOSED", "CLOSED", "READY", "RECORD", "RECORD_AND_RETURN", "CLOSED"]
    assert [schedule(i).name for i in range(6)] == names
    with pytest.raises(ValueError, match="record must be at least 1"):
        P.make_scheduler(closed=1, ready=1, record=0)


def test_a_recording_holds_the_users_stretches(tmp_path: Path, capsys):
    with P.Profiler(scheduler=(1, 2), on_trace_ready=P.export_chrome_tracing(str(tmp_path))) as profiler:
        for _ in range(3):
            with P.RecordEvent("my stretch"):
                (paddle.ones([4, 4]) @ paddle.ones([4, 4])).numpy()
            profiler.step()
    (path,) = tmp_path.iterdir()
    rows = {r.name: r for r in P.load_profiler_result(str(path)).rows()}
    assert rows["my stretch"].calls == 1 and rows["my stretch"].total > 0
    profiler.summary(sorted_by=P.SortedKeys.CPUTotal, time_unit="us")
    assert "my stretch" in capsys.readouterr().out


HERE = Path(__file__).name
net = nn.Linear(64, 64)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())


def train(x):
    h = net(x)
    loss = paddle.tanh(h).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()


def train_the_same(x):
    h = net(x)
    loss = paddle.tanh(h).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()


def until_ten(x):
    i = paddle.zeros([], "int64")
    while i < 10:
        x = paddle.sin(x @ x)
        i = i + 1
    return x


def recorded(run, *args, **options) -> P.ProfilerResult:
    run(*args)
    with P.Profiler(scheduler=(0, 2), **options) as profiler:
        for _ in range(2):
            run(*args)
            profiler.step()
    return profiler.profiler_result


def lines_of(result: P.ProfilerResult) -> dict[str, str]:
    """The source text of each line that took time."""
    assert all(Path(name).name.rpartition(":")[0] == HERE for name in (r.name for r in result.by_line()))
    return {source(r.name).partition("  ")[2] for r in result.by_line()}


@pytest.fixture(scope="module")
def x():
    return paddle.rand([1024, 64])


def test_eager_code_by_op_and_line(x):
    result = recorded(train, x, record_shapes=True)
    calls = {r.name: r.calls for r in result.by_op()}
    assert calls["linear"] == calls["tanh"] == calls["mean"] == calls["backward"] == calls["sgd"] == 2
    told = {"h = net(x)", "loss = paddle.tanh(h).mean()", "loss.backward()", "opt.step()"}
    assert lines_of(result) >= told
    assert {"[1024, 64] [64, 64] [64]"} == {e["args"]["shapes"] for e in result.events if e["name"] == "linear"}
    assert state.timer is None


@pytest.mark.parametrize("function", [train, train_the_same])
def test_a_compiled_step_by_op_and_line(function, x):
    # The second one is the same program to XLA, and may come compiled from the cache with the lines of the first.
    result = recorded(paddle.jit.to_static(function), x)
    names = {r.name for r in result.by_op()}
    assert {"linear", "linear (backward)", "sgd", function.__name__} <= names and "backward" not in names
    first = function.__code__.co_firstlineno
    numbers = {int(r.name.rpartition(":")[2]) for r in result.by_line() if r.name.startswith(__file__)}
    assert {first + 1, first + 4} <= numbers <= set(range(first, first + 6)) | {CALL}


CALL = recorded.__code__.co_firstlineno + 4


def test_loops_by_line():
    assert "x = paddle.sin(x @ x)" in lines_of(recorded(paddle.jit.to_static(until_ten), paddle.rand([64, 64])))


def test_a_function_without_state_is_called_directly_but_while_it_is_recorded():
    double = paddle.jit.to_static(lambda x: x * 2)
    other = paddle.jit.to_static(lambda x: x * 3)
    x = paddle.rand([256, 256])
    double(x)
    with P.Profiler() as profiler:
        double(x), other(x)
    assert {"multiply", "<lambda>"} <= {r.name for r in profiler.profiler_result.by_op()}
    for f in (double, other):
        (entry,) = f.cache
        assert entry.call is entry.executable.jitted and not hasattr(entry.call, "program")


def test_compilations_stand_apart():
    with P.Profiler() as profiler:
        paddle.jit.to_static(lambda x: paddle.cos(x) * 3)(paddle.rand([4, 333]))
    assert any(r.name.endswith("(compilation)") and r.total > 0 for r in profiler.profiler_result.by_op())


def test_memory_over_time():
    def grow():
        return [paddle.rand([512, 512]) for _ in range(3)]

    memory = [held for _, held in recorded(grow, profile_memory=True).memory()]
    assert len(memory) == 6 and memory[2] - memory[0] == 2 * 512 * 512 * 4


def test_files_for_perfetto_and_tensorboard(tmp_path, x):
    with P.Profiler(on_trace_ready=P.export_protobuf(str(tmp_path), "me")) as profiler:
        train(x)
    (plane,) = tmp_path.glob("plugins/profile/*/me.xplane.pb")
    host = jax.profiler.ProfileData.from_file(str(plane)).find_plane_with_name("/host:CPU")
    spans = [e for line in host.lines for e in line.events if e.name == "linear"]
    assert [dict(e.stats)["line"] for e in spans] == [f"{__file__}:{train.__code__.co_firstlineno + 1}"]
    profiler.export(str(tmp_path / "trace.json"))
    again = P.load_profiler_result(str(tmp_path / "trace.json"))
    assert again.by_line() == profiler.profiler_result.by_line() and again.by_op()
    with pytest.raises(ValueError, match="'json' or 'pb'"):
        profiler.export("a", format="csv")


def test_the_tables(x, capsys):
    with P.Profiler(profile_memory=True) as profiler:
        train(x)
        profiler.step()
    profiler.summary()
    out = capsys.readouterr().out
    assert f"{HERE}:{train.__code__.co_firstlineno + 1}  h = net(x)" in out and "1 steps of" in out
    assert all(f"--- {name} ---" in out for name in ("By operation", "By line", "Memory")) and "RecordEvent" not in out
    profiler.summary(views=P.SummaryView.OperatorView, op_detail=False)
    assert "By line" not in capsys.readouterr().out
    with pytest.raises(ValueError, match="time_unit is 'min'"):
        profiler.summary(time_unit="min")


def test_what_is_missing_is_told(tmp_path: Path):
    with pytest.raises(RuntimeError, match="nothing was recorded"):
        P.Profiler().export(str(tmp_path / "a.json"))
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(ValueError, match="is no trace"):
        P.load_profiler_result(str(tmp_path / "bad.json"))


def test_a_local_hub(tmp_path: Path):
    (tmp_path / "hubconf.py").write_text('def mlp(n=2):\n    """A layer."""\n    return ("mlp", n)\n')
    assert paddle.hub.list(str(tmp_path), "local") == ["mlp"]
    assert paddle.hub.help(str(tmp_path), "mlp", "local") == "A layer."
    assert paddle.hub.load(str(tmp_path), "mlp", "local", n=3) == ("mlp", 3)
    with pytest.raises(RuntimeError, match="defines no model 'cnn'; it has mlp"):
        paddle.hub.load(str(tmp_path), "cnn", "local")
    with pytest.raises(NotImplementedError, match="source='local'"):
        paddle.hub.load("a/b", "c")
