"""The file of --auto_tuner_json: which settings to try, how to pass them to a program, and what is best."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

# The keys of a setting, in the order of the reference's tables.
DIMENSIONS = (
    "mp_degree", "sharding_degree", "pp_degree", "dp_degree", "sharding_stage", "micro_batch_size", "vpp_degree",
    "use_recompute", "recompute_granularity",
)  # fmt: skip
_MODEL = ("hidden_size", "num_attention_heads", "num_layers", "vocab_size", "seq_length")
# Taken from files of the reference, without a meaning here.
_NO_EFFECT = {
    "buffer": "memory is not measured",
    "max_mem_usage": "memory is not measured",
    "enable_mp_prune": "trials run on one node",
    "enable_pp_prune": "trials run on one node",
    "mode": "nothing asks for it",
    "nodes": "--nproc_per_node and --devices say what there is",
    "gpus_per_node": "--nproc_per_node and --devices say what there is",
    "num_gpus": "--nproc_per_node and --devices say what there is",
}
_REFUSED = {
    "refined_recompute": "recomputation is set for a whole layer; use custom_search_dim",
    "sharding_overlap": "XLA overlaps what it can; take it out",
}
_TABLES = ("search_algo", "metric_cfg", "model_cfg", "custom_search_dim", "run_cmd")
_ANY = (*DIMENSIONS, "max_time_per_task", "warmup_time", "max_search_time", "task_limit", "schedule_mode",
        "schedule_prior", "invalid_strategy", "need_baseline", "run_best", "best_cfg_dir", "resume_csv_file_path",
        "configs_csv", "use_sequence_parallel")  # fmt: skip


class SearchPlan(NamedTuple):
    """What to try, and how.

    Arguments:
        file: the JSON.
        given: what it says of each dimension: "auto", a value, a list of them, {"min": .., "max": ..}.
        model: sizes of the model, and "global_batch_size".
        custom: values of dimensions of the program's own, and whether a later one is left out once an earlier one ran.
        run_cmd: how each dimension becomes an argument.
        metric: what the program prints.
        maximize: whether more of it is better.
        seconds: of a trial; the first one has its own.
        configs: a table of the settings to try, instead of all that fit.
    """

    file: Path
    given: dict[str, Any]
    model: dict[str, int]
    custom: dict[str, tuple[list[Any], bool]]
    run_cmd: dict[str, Any]
    metric: str
    maximize: bool
    seconds: float
    first_seconds: float
    search_seconds: float
    limit: int
    configs: Path | None
    performance: bool
    sequence_parallel: bool
    prior: list[str]
    invalid: list[str]
    baseline: bool
    run_best: bool
    best_dir: str
    resume: Path

    @property
    def batch(self) -> int:
        """Rows of a step, of all processes together."""
        return self.model["global_batch_size"]

    def beside(self, end: str) -> Path:
        """Return a file in the folder of the JSON, whose name begins like its own."""
        return self.file.with_name(self.file.name.split(".")[0] + end)


def read(file: Path, warn: Callable[[str], None]) -> SearchPlan:
    """Return the plan of a file.

    Arguments:
        file: a .json.
        warn: a callback for keys that have no effect.

    Raises:
        ValueError: if it says something else than a plan, with the key, what was found, and what was expected.
    """
    if file.suffix != ".json":
        raise ValueError(f"--auto_tuner_json is {str(file)!r}; expected a file whose name ends in .json")
    try:
        data = json.loads(file.read_text())
    except (OSError, ValueError) as e:
        raise ValueError(f"--auto_tuner_json: {file} cannot be read: {e}") from None
    if not isinstance(data, dict):
        raise ValueError(f"{file} holds a {type(data).__name__}; expected a table, as {{...}}")
    reader = _KeyReader(file, data)
    _check_keys(data, file, warn)
    return _plan(reader, file)


def _plan(take: _KeyReader, file: Path) -> SearchPlan:
    metric, algo = take.part("metric_cfg", required=True), take.part("search_algo")
    direction = metric.choice("OptimizationDirection", ("Maximize", "Minimize"), None)
    grid = algo.choice("name", ("grid", "customize"), "grid") == "grid"
    seconds = take.number("max_time_per_task", 1800)
    history = file.with_name(file.name.split(".")[0] + "_history.csv")
    return SearchPlan(
        file=file,
        given={key: take.data.get(key) for key in DIMENSIONS},
        model=_model(take.part("model_cfg", required=True)),
        custom=_custom(take.part("custom_search_dim")),
        run_cmd=take.part("run_cmd", required=True).data,
        metric=metric.text("name", None),
        maximize=direction == "Maximize",
        seconds=seconds,
        first_seconds=take.number("warmup_time", seconds),
        search_seconds=take.number("max_search_time", math.inf),
        limit=int(take.number("task_limit", 100)),
        configs=None if grid else Path(take.text("configs_csv", None)),
        performance=take.choice("schedule_mode", ("memory", "performance"), "memory") == "performance",
        sequence_parallel=take.flag("use_sequence_parallel", False),
        prior=take.texts("schedule_prior"),
        invalid=take.texts("invalid_strategy"),
        baseline=take.flag("need_baseline", False),
        run_best=take.flag("run_best", True),
        best_dir=take.text("best_cfg_dir", str(file.with_name("best_cfg"))),
        resume=Path(take.text("resume_csv_file_path", str(history))),
    )


def _check_keys(data: dict[str, Any], file: Path, warn: Callable[[str], None]) -> None:
    for key in data:
        if key in _REFUSED:
            raise ValueError(f"{file}: {key} cannot be searched: {_REFUSED[key]}")
        if key in _NO_EFFECT:
            warn(f"{file}: {key} has no effect: {_NO_EFFECT[key]}")
        elif key not in _ANY + _TABLES:
            near = difflib.get_close_matches(key, _ANY + _TABLES, 1)
            warn(f"{file}: {key} is unknown, and has no effect" + (f"; did you mean {near[0]}?" if near else ""))


def _model(take: _KeyReader) -> dict[str, int]:
    if take.data.get("global_batch_size", "auto") == "auto":
        raise take.wrong("global_batch_size", "a number; the largest batch that fits is not looked for")
    named = [n for n in ("global_batch_size", *_MODEL) if take.data.get(n) is not None]
    return {n: take.count(n) for n in named}


def _custom(take: _KeyReader) -> dict[str, tuple[list[Any], bool]]:
    found = {}
    for key, said in take.data.items():
        if not isinstance(said, dict) or not isinstance(said.get("value"), list) or not said["value"]:
            raise take.wrong(key, '{"value": [...], "prune": true or false}')
        found[key] = (said["value"], bool(said.get("prune", False)))
    return found


class _KeyReader:
    """Takes values out of a table of the file. A default of None stands for none: the key must be there."""

    def __init__(self, file: Path, data: dict[str, Any], name: str = "") -> None:
        self.file, self.data, self.name = file, data, name

    def wrong(self, key: str, expected: str) -> ValueError:
        """Return the error for what a key says."""
        found = f"is {self.data[key]!r}" if key in self.data else "is not there"
        return ValueError(f"{self.file}: {self.name}{key} {found}; expected {expected}")

    def part(self, key: str, required: bool = False) -> _KeyReader:
        """Return a table in this one."""
        said = self.data.get(key)
        if not isinstance(said, dict) and (required or said is not None):
            raise self.wrong(key, "a table, as {...}")
        return _KeyReader(self.file, said or {}, f"{self.name}{key}.")

    def choice(self, key: str, known: tuple[str, ...], default: str | None) -> str:
        """Return one of some words, in any case of letters."""
        said = str(self.data.get(key, default))
        found = [k for k in known if k.lower() == said.lower()]
        if not found:
            raise self.wrong(key, " or ".join(f'"{k}"' for k in known))
        return found[0]

    def number(self, key: str, default: float) -> float:
        """Return a number above 0."""
        said = default if self.data.get(key) is None else self.data[key]
        if isinstance(said, bool) or not isinstance(said, (int, float)) or said <= 0:
            raise self.wrong(key, "a number above 0")
        return said

    def count(self, key: str) -> int:
        """Return a whole number above 0."""
        said = self.data.get(key)
        if isinstance(said, bool) or not isinstance(said, int) or said <= 0:
            raise self.wrong(key, "a whole number above 0")
        return said

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        said = self.data.get(key, default)
        if not isinstance(said, (bool, int)):
            raise self.wrong(key, "true or false")
        return bool(said)

    def text(self, key: str, default: str | None) -> str:
        """Return a text that is not empty."""
        said = self.data.get(key) or default
        if not isinstance(said, str):
            raise self.wrong(key, "a text")
        return said

    def texts(self, key: str) -> list[str]:
        """Return a list of texts."""
        said = self.data.get(key) or []
        if not isinstance(said, list) or not all(isinstance(s, str) for s in said):
            raise self.wrong(key, 'a list, as ["mp4_pp*"]')
        return said
