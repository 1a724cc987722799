"""The trials, one after the other, and the last run with the best setting."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from . import history
from .arguments import arguments, check
from .candidates import Setting
from .history import Trial
from .plan import SearchPlan
from .settings import Tried, because_of, prior_first, settings

# Exit codes of a launcher that was told to stop, and of one that was interrupted.
_ASKED, _INTERRUPTED = 128 + signal.SIGTERM, 128 + signal.SIGINT

# Starts the program from its arguments, log folder, job name and requests; returns the exit code.
Start = Callable[[list[str], Path, str, Callable[[], str]], int]


class Search:
    """The trials of a plan.

    Arguments:
        plan: what to try.
        processes: of a trial.
        given: arguments that the program has in any case.
        start: runs it.

    Raises:
        ValueError: if nothing of the plan fits, or a file that it names says something else than expected.
    """

    def __init__(self, plan: SearchPlan, processes: int, given: list[str], start: Start) -> None:
        self.plan, self.given, self.start = plan, given, start
        self.every, self.rows = settings(plan, processes), history.known(plan)
        check(plan, self.every[0])
        self.trials: dict[int, Trial] = {}
        self.known: list[Tried] = []
        self.log = plan.beside("_auto_tuner.log")
        self.log.write_text("")

    def run(self, asked: Callable[[], str]) -> int:
        """Return all trials, and the best one at the end; the exit code.

        Arguments:
            asked: whether the launcher should stop.
        """
        begun = time.monotonic()
        self._say(f"{len(self.every)} settings to try")
        left = list(self.every)
        while left and len(self.trials) < self.plan.limit and time.monotonic() - begun < self.plan.search_seconds:
            setting = left.pop(0)
            if self.plan.configs is None and (other := because_of(setting, self.known, self.plan)):
                self._leave_out(setting, other)
                continue
            trial = self._trial(setting, asked)
            if isinstance(trial, int):
                return trial
            self._note(trial)
            if self.plan.baseline and trial.metric is not None and len(self._ran()) == 1:
                left = prior_first(sorted(left, key=lambda s: -int(s["micro_batch_size"])), self.plan)
        found = history.best(list(self.trials.values()), self.plan)
        if found is None:
            self._say(f"no setting has given {self.plan.metric}; see error_info in {self._table()}")
            return 1
        best = describe(found.setting, self.plan)
        self._say(f"the best is {best}: {self.plan.metric} {found.metric}; all are in {self._table()}")
        return self._best(found, asked) if self.plan.run_best else 0

    def _trial(self, setting: Setting, asked: Callable[[], str]) -> Trial | int:
        """Run one trial, or return its earlier result; the exit code if this launcher should stop."""
        number = len(self.trials) + 1
        name = folder(number, setting, self.plan)
        if known := history.find_earlier(setting, self.plan, self.rows):
            self._say(f"trial {number}, {name}: as in {self.plan.resume}")
            return known
        self._say(f"trial {number}, {name}")
        words = arguments(self.plan, self.given, setting, name)
        begun, late = time.monotonic(), False
        limit = self.plan.seconds if self.trials else self.plan.first_seconds

        def called() -> str:
            nonlocal late
            late = time.monotonic() - begun > limit
            return "end" if late or asked() else ""

        logs = self.plan.file.with_name(name)
        code = self.start(words, logs, f"auto_tuner_{number}", called)
        if asked() or code == _INTERRUPTED:
            return _INTERRUPTED if code == _INTERRUPTED else _ASKED
        return history.judge(self.plan, setting, logs, code, late, time.monotonic() - begun)

    def _note(self, trial: Trial) -> None:
        self.trials[len(self.trials) + 1] = trial
        self.known.append(trial.tried)
        history.write(self.trials, self.plan)
        self._say(trial.error or f"{self.plan.metric} {trial.metric} in {trial.seconds} s")

    def _leave_out(self, setting: Setting, other: Tried) -> None:
        differs = ", ".join(f"{k} {v}" for k, v in other.setting.items() if setting[k] != v)
        why = "runs, and needs more memory for less time" if other.ran else "is out of memory, and needs less"
        self._say(f"left out {describe(setting, self.plan)}: the same with {differs} {why}")
        self.known.append(other._replace(setting=setting))

    def _ran(self) -> list[Trial]:
        return [t for t in self.trials.values() if t.metric is not None]

    def _best(self, found: Trial, asked: Callable[[], str]) -> int:
        words = arguments(self.plan, self.given, found.setting, None)
        return self.start(words, Path(self.plan.best_dir), "best_cfg", asked)

    def _table(self) -> Path:
        return self.plan.beside("_history.csv")

    def _say(self, text: str) -> None:
        print(f"launch: {text}", file=sys.stderr, flush=True)
        with self.log.open("a") as log:
            print(time.strftime("%Y-%m-%d %H:%M:%S"), text, file=log)


def folder(number: int, setting: Setting, plan: SearchPlan) -> str:
    """Return the name of a trial's folder, as the reference names it."""
    return f"Job{number}_{describe(setting, plan)}"


def describe(setting: Setting, plan: SearchPlan) -> str:
    """Return a setting in one word."""
    s = setting
    name = (
        f"GBS{plan.batch}_DP{s['dp_degree']}_MP{s['mp_degree']}_PP{s['pp_degree']}_VPP{s['vpp_degree']}"
        f"_Sharding{s['sharding_degree']}_Stage{s['sharding_stage']}_MBS{s['micro_batch_size']}"
        f"_Recompute_{s['use_recompute']}_Granularity_{s['recompute_granularity']}_AccStep{history.steps(s, plan)}"
    )
    own = ("".join(part.capitalize() for part in key.split("_")) + str(s[key]) for key in plan.custom if key in s)
    return "_".join([name, *own])
