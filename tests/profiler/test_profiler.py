"""The profiler: schedules, recordings, summaries."""

from __future__ import annotations

from pathlib import Path

import pytest

import paddle_lite_py as paddle
from paddle_lite_py import profiler as P


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
