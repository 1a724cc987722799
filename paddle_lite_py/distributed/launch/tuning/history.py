"""The results of trials: read from their logs, and kept in a table next to the JSON."""

from __future__ import annotations

import csv
import io
import math
import re
from pathlib import Path
from typing import Any, NamedTuple

from .candidates import Setting
from .plan import SearchPlan
from .settings import Tried

_OUT = re.compile(r"out of memory|RESOURCE_EXHAUSTED|\bMemoryError\b", re.IGNORECASE)
_NUMBER = r"([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)"
# Lines at the end of a log in which an error is looked for, and values of which the last ones are averaged.
_LAST_LINES, _LAST_VALUES = 100, 10


class Trial(NamedTuple):
    """The result of a setting: the metric, or why there is none. `out`: of memory. `seconds` that it took."""

    setting: Setting
    metric: float | None
    out: bool
    error: str
    seconds: float

    @property
    def tried(self) -> Tried:
        """Return what the trial implies for other settings."""
        return Tried(self.setting, self.metric is not None, self.out)


def judge(plan: SearchPlan, setting: Setting, folder: Path, code: int, late: bool, seconds: float) -> Trial:
    """Judge a trial by its logs.

    Arguments:
        plan: has the name of the metric.
        setting: that of the trial.
        folder: its logs.
        code: its exit code; one that is ended since it takes long counts by what it printed until then.
        late: whether it was.
        seconds: that it took.
    """
    logs = [p.read_text(errors="replace") for p in sorted(folder.glob("workerlog.*"))]
    metric = recent_mean(values(logs[0], plan.metric)) if logs else None
    failed = code != 0 and not late
    out = (failed or metric is None) and any(_OUT.search(log) for log in logs)
    error = "Out of memory" if out else _error(logs, code) if failed else ""
    if metric is None and not error:
        error = f"no {plan.metric} in workerlog.0" + (f" within {seconds:.0f} s" if late else "")
    return Trial(setting, None if error else metric, out, error, round(seconds, 2))


def values(log: str, metric: str) -> list[float]:
    """Return the values of a metric in a log, one for each line: after its name, or before it.

    Examples:
        >>> values("step 1 ips: 3.5\\nstep 2 ips: 4\\n5 ips", "ips")
        [3.5, 4.0, 5.0]
    """
    name = re.escape(metric)
    patterns = [re.compile(p) for p in (rf"{name} *[:=]+ *{_NUMBER}", rf"{name} *{_NUMBER}|{_NUMBER} *{name}")]
    found = [next((m for p in patterns if (m := p.search(line))), None) for line in log.splitlines()]
    return [float(next(filter(None, m.groups()))) for m in found if m]


def recent_mean(found: list[float]) -> float | None:
    """Return the last of a few values; of many the mean of the last ones, since programs take time to get going."""
    if not found:
        return None
    last = found[-1:] if len(found) < _LAST_VALUES else found[_LAST_VALUES - 1 :][-_LAST_VALUES:]
    return round(sum(last) / len(last), 5)


def _error(logs: list[str], code: int) -> str:
    lines = [line.strip() for log in logs for line in log.splitlines()[-_LAST_LINES:]]
    return next((line for line in reversed(lines) if "error" in line.lower()), f"exit code {code}")


def best(trials: list[Trial], plan: SearchPlan) -> Trial | None:
    """Return the best of those that gave the metric."""
    ordered = in_order(trials, plan)
    return ordered[0] if ordered and ordered[0].metric is not None else None


def in_order(trials: list[Trial], plan: SearchPlan) -> list[Trial]:
    """Return the best first, and those that failed last."""
    sign = -1 if plan.maximize else 1
    return sorted(trials, key=lambda t: math.inf if t.metric is None else sign * t.metric)


def write(numbered: dict[int, Trial], plan: SearchPlan) -> None:
    """Write the table: a trial a line, the best first, with the columns of the reference."""
    numbers = {id(trial): number for number, trial in numbered.items()}
    rows = [_row(numbers[id(trial)], trial, plan) for trial in in_order(list(numbered.values()), plan)]
    with plan.beside("_history.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0] if rows else ["job_id"])
        writer.writeheader()
        writer.writerows(rows)


def _row(number: int, trial: Trial, plan: SearchPlan) -> dict[str, Any]:
    return {
        "job_id": number,
        **trial.setting,
        "acc_steps": steps(trial.setting, plan),
        "global_batch_size": plan.batch,
        "exec_time": trial.seconds,
        plan.metric: trial.metric,
        "max_mem_usage": "OOM" if trial.out else None,
        "error_info": trial.error,
    }


def steps(setting: Setting, plan: SearchPlan) -> int:
    """Parts of a batch, one after the other."""
    return int(plan.batch // setting["dp_degree"] // setting["sharding_degree"] // setting["micro_batch_size"])


def known(plan: SearchPlan) -> list[dict[str, str]]:
    """Return the lines of the table that is resumed from, of which a copy is kept; none if there is no such file.

    Raises:
        ValueError: if it is of another metric.
    """
    if not plan.resume.exists():
        return []
    text = plan.resume.read_text()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    if rows and plan.metric not in rows[0]:
        raise ValueError(
            f"{plan.resume} has no column {plan.metric!r}, which metric_cfg.name asks for; give another "
            "resume_csv_file_path, or delete it"
        )
    plan.resume.with_name(plan.resume.name.split(".")[0] + "_copy.csv").write_text(text)
    return rows


def find_earlier(setting: Setting, plan: SearchPlan, rows: list[dict[str, str]]) -> Trial | None:
    """Return the result of a setting that was tried before."""
    wanted = {k: _text(v) for k, v in {**setting, "global_batch_size": plan.batch}.items()}
    for row in rows:
        if all(row.get(key, "") == value for key, value in wanted.items()):
            error, number = row.get("error_info", ""), row[plan.metric]
            out = row.get("max_mem_usage") == "OOM"
            seconds = float(row.get("exec_time") or 0)
            return Trial(setting, float(number) if number and not error else None, out, error, seconds)
    return None


def _text(value: Any) -> str:
    return "" if value is None else str(value)
