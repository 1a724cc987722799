"""How a setting is passed to a program: by arguments, or in a modified copy of its file, as run_cmd says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .candidates import Setting
from .plan import DIMENSIONS, SearchPlan

# Parts of run_cmd that are no dimensions.
_STAGES = ("search_stage", "run_best_stage")
_OTHERS = (*_STAGES, "generate_launch_cfg")
_FORMS = '["--flag", ""], ["-o", "Name"], or ["file.json", "name.of.key"]'


def derive_setting(setting: Setting, plan: SearchPlan) -> Setting:
    """Return a setting with what follows from it, as run_cmd may ask for it."""
    local = plan.batch // setting["sharding_degree"] // setting["dp_degree"]
    return setting | {
        "local_batch_size": local,
        "gradient_accumulation_steps": local // setting["micro_batch_size"],
        "global_batch_size": plan.batch,
        "sequence_parallel": int(setting["mp_degree"] > 1),
    }


def check(plan: SearchPlan, setting: Setting) -> None:
    """Look at all of run_cmd before anything is run, by one of the settings.

    Raises:
        ValueError: if it names what is no dimension, says it in no known form, or names a file that does not fit.
    """
    known = {*DIMENSIONS, *plan.custom, *derive_setting(dict.fromkeys(DIMENSIONS, 1), plan)}
    for key, form in plan.run_cmd.items():
        if key in _STAGES and not isinstance(form, dict):
            raise ValueError(f"{plan.file}: run_cmd.{key} is {form!r}; expected a table, as {{...}}")
        if key not in _OTHERS and key not in known:
            raise ValueError(f"{plan.file}: run_cmd.{key} is no dimension; expected {', '.join(sorted(known))}")
        for name, each in form.items() if key in _STAGES else [(key, form)] * (key not in _OTHERS):
            _check_form(plan, f"run_cmd.{name}", each)
    for last in (False, True):
        _fill_arguments(plan, [], setting, last)


def _check_form(plan: SearchPlan, name: str, form: Any) -> None:
    texts = isinstance(form, list) and len(form) in (2, 3) and all(isinstance(f, str) for f in form[:2])
    if not texts or not (form[0].startswith("-") or Path(form[0]).suffix in (".json", ".yaml")):
        raise ValueError(f"{plan.file}: {name} is {form!r}; expected {_FORMS}")


def arguments(plan: SearchPlan, given: list[str], setting: Setting, folder: str | None) -> list[str]:
    """Return the arguments of the program under a setting; what is said in files is written there.

    Arguments:
        plan: has run_cmd.
        given: those that the program has in any case.
        setting: what to tell it.
        folder: the name of the trial's folder, under which a copy of each changed file is kept; None for the last run.

    Raises:
        ValueError: if a file cannot be changed so.
    """
    found, changed = _fill_arguments(plan, given, setting, last=folder is None)
    for path, data in changed.items():
        text = _text(path, data)
        path.write_text(text)
        if folder is not None and plan.run_cmd.get("generate_launch_cfg", True):
            path.with_name(f"{path.stem}_{folder}{path.suffix}").write_text(text)
    return found


def _fill_arguments(
    plan: SearchPlan, given: list[str], setting: Setting, last: bool
) -> tuple[list[str], dict[Path, Any]]:
    """Return the arguments, and what files are to hold."""
    found, changed = list(given), dict[Path, Any]()
    for key, value in derive_setting(setting, plan).items():
        if key in plan.run_cmd:
            flag, place, *prefix = plan.run_cmd[key]
            if flag.startswith("-"):
                found += [flag, f"{place}{'' if flag.startswith('--') else '='}{value}"]
            else:
                _put(plan, changed, Path(flag), place, f"{prefix[0]}{value}" if prefix and prefix[0] else value)
    for form in plan.run_cmd.get("run_best_stage" if last else "search_stage", {}).values():
        if form[0].startswith("-"):
            found += [str(f) for f in form]
        else:
            _put(plan, changed, Path(form[0]), form[1], form[2] if len(form) == 3 else "")
    return found, changed


def _put(plan: SearchPlan, changed: dict[Path, Any], path: Path, place: str, value: Any) -> None:
    """Set what stands at a place such as "model.degrees.mp" of a file."""
    if path not in changed:
        changed[path] = _data(plan, path)
    *way, last = place.split(".")
    inner = changed[path]
    for key in way:
        inner = inner.get(key) if isinstance(inner, dict) else None
    if not isinstance(inner, dict):
        raise ValueError(f"{plan.file}: run_cmd names {place!r} in {path}, which has no table {'.'.join(way)!r}")
    inner[last] = value


def _data(plan: SearchPlan, path: Path) -> Any:
    try:
        text = path.read_text()
        return json.loads(text) if path.suffix == ".json" else _from_yaml(text)
    except (OSError, ValueError) as e:
        raise ValueError(
            f"{plan.file}: run_cmd names {path}, which cannot be read: {' '.join(str(e).split())}"
        ) from None


def _text(path: Path, data: Any) -> str:
    return json.dumps(data, indent=2) if path.suffix == ".json" else _yaml().safe_dump(data, sort_keys=False)


def _from_yaml(text: str) -> Any:
    yaml = _yaml()
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as e:
        raise ValueError(f"no YAML: {e}") from None


def _yaml() -> Any:
    try:
        import yaml
    except ModuleNotFoundError:
        raise ValueError("a .yaml needs the package pyyaml: pip install pyyaml, or take a .json") from None
    return yaml
