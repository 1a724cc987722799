"""Writes the table of module paths: under which names the modules of PaddlePaddle have what lies elsewhere here.

First `python tests/golden/module_paths.py list FILE` where PaddlePaddle 3.3.1 is installed, which writes what its
modules have and where else that is public; then `python tests/golden/module_paths.py keep FILE` here, which keeps what
this package has, and writes `paddle_lite_py/migrate/module_paths.txt`. A line of it is a module (`+`: a file here), and
then, for each module that has them, names (`name=other` where they are called otherwise there); modules stand after
an `@`.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "paddle_lite_py" / "migrate" / "module_paths.txt"
# What modules of the reference import for themselves, and of which modules that are files here need no copy.
COMMON = {
    *("LayerHelper", "check_dtype", "check_type", "check_variable_and_dtype", "convert_dtype", "deprecated", "paddle"),
    *("convert_np_dtype_to_dtype_", "in_dynamic_mode", "in_dynamic_or_pir_mode", "in_dygraph_mode", "is_complex"),
    *("is_floating_point", "is_integer"),
}
SKIPPED = ("launch", "ps", "proto", "tests", "the_one_ps", "__main__", "cinn", "tensorrt", "cinn_config")


def own_modules() -> dict[str, Path]:
    """The modules of this package, under the reference's names."""
    folders = {"paddle": ROOT / "paddle_lite_py", "paddle.jit": ROOT / "jit"}
    found = {}
    for name, folder in folders.items():
        for file in folder.rglob("*.py"):
            parts = [p for p in file.relative_to(folder).with_suffix("").parts if p != "__init__"]
            found[".".join([name, *parts])] = file
    return found


def reference_modules(paddle: Any) -> Iterator[tuple[str, types.ModuleType]]:
    """Each module of the reference that can be imported."""
    for info in pkgutil.walk_packages(paddle.__path__, "paddle.", onerror=lambda name: None):
        if not any(part in SKIPPED for part in info.name.split(".")):
            try:
                yield info.name, importlib.import_module(info.name)
            except (Exception, SystemExit):
                print("not imported:", info.name, file=sys.stderr)


def is_api(value: Any) -> bool:
    """True for a function or class of the reference."""
    callables = (type, types.FunctionType, types.BuiltinFunctionType)
    return isinstance(value, callables) and str(getattr(value, "__module__", "")).startswith("paddle")


def is_alias(module: str, name: str, value: Any) -> bool:
    """True for a module of the reference that a module knows beside those within it."""
    own = getattr(value, "__name__", "") if isinstance(value, types.ModuleType) else ""
    return own.startswith("paddle") and own != f"{module}.{name}"


def homes(modules: dict[str, types.ModuleType]) -> dict[int, list[tuple[str, str]]]:
    """Where each thing is public, best first, among the modules that this package has too."""
    found: dict[int, list[tuple[Any, ...]]] = {}
    for module in own_modules().keys() & modules.keys():
        listed = getattr(modules[module], "__all__", ())
        for name, value in vars(modules[module]).items():
            if not name.startswith("_") and is_api(value):
                rank = (name not in listed, module.count("."), module)
                found.setdefault(id(value), []).append((*rank, module, name))
    return {key: [places[-2:] for places in sorted(ranked)] for key, ranked in found.items()}


def list_names(file: Path) -> None:
    """Write each public name of each module, with the places where the same thing is public."""
    import paddle

    modules = {"paddle": paddle, **dict(reference_modules(paddle))}
    places = homes(modules)
    table = {}
    for module, loaded in sorted(modules.items()):
        public = {n: v for n, v in vars(loaded).items() if not n.startswith("_") and is_api(v)}
        table[module] = {
            n: sorted((p for p in places.get(id(v), ()) if p[0] != module), key=lambda p, n=n: p[1] != n)
            for n, v in sorted(public.items())
        }
        aliases = {n: [("@", v.__name__)] for n, v in sorted(vars(loaded).items()) if is_alias(module, n, v)}
        table[module] |= {n: place for n, place in aliases.items() if not n.startswith("_")}
    file.write_text(json.dumps(table))


def own_name(module: str) -> str:
    """The name of a module here."""
    return "paddle_lite_py" + module.removeprefix("paddle")


def has(module: str, name: str) -> bool:
    """True if a module here has something of its own of that name."""
    try:
        found = importlib.import_module(own_name(name if module == "@" else module))
    except ImportError:
        return False
    return module == "@" or name in vars(found) or (module == "paddle" and hasattr(found, name))


def is_file(module: str, own: dict[str, Path]) -> bool:
    """True for a module that is there without the table."""
    return module in own or type(sys.modules.get(own_name(module))) is types.ModuleType


def places_here(module: str, names: dict[str, list[tuple[str, str]]], own: dict[str, Path]) -> str:
    """Where the names are that a module of the reference has, and its like here has not."""
    by_home: dict[str, list[str]] = {}
    for name, places in names.items():
        if is_file(module, own) and (name in COMMON or has(module, name)):
            continue
        if place := next((p for p in places if has(*p)), None):
            by_home.setdefault(place[0], []).append(name if name == place[1] else f"{name}={place[1]}")
    return "; ".join(f"{home} {' '.join(named)}" for home, named in by_home.items())


def keep_names(file: Path) -> None:
    """Keep, of each module, what is had here under another path and not under this one."""
    own, found = own_modules(), {}
    for module, names in json.loads(file.read_text()).items():
        if (there := sys.modules.get(own_name(module))) and own_name(module) != there.__name__:
            continue  # another name of a module that is a file
        if places := places_here(module, names, own):
            found[module] = places
            while (module := module.rpartition(".")[0]) and module not in found:
                found[module] = ""
    lines = [f"{module}{'+' * is_file(module, own)}: {places}".strip() for module, places in sorted(found.items())]
    TABLE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    {"list": list_names, "keep": keep_names}[sys.argv[1]](Path(sys.argv[2]))
