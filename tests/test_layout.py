"""The tests lie in the rooms of what they test: tests/nn for paddle_lite_py/nn, tests/jit for jit."""

from __future__ import annotations

import house

TESTS = house.ROOT / "tests"
# Folders that are no rooms: packages of others, recorded figures, what test files share, programs, tables of cases.
SHARED = {"ecosystem", "golden", "helpers", "scripts", "tables"}
# Tests of the project as a whole. Others at the top are those of a module at the top of paddle_lite_py.
WHOLE = set("bad_input benchmarks cache_table caches docs doctests gpu house layout library_figures".split())
WHOLE |= set("readme security tutorials versions".split())


def folders(path) -> set[str]:
    return {p.name for p in path.iterdir() if p.is_dir() and p.name != "__pycache__"}


def test_each_folder_is_a_room():
    rooms = {room for package in house.PACKAGES for room in (package, *folders(house.ROOT / package))}
    assert not (lost := folders(TESTS) - rooms - SHARED), f"no room of the house has this name: {lost}"


def test_each_file_at_the_top_is_of_a_module_at_the_top():
    modules = {p.stem for p in (house.ROOT / "paddle_lite_py").glob("*.py")}
    files = {p.stem.removeprefix("test_") for p in TESTS.glob("test_*.py")}
    assert not (lost := files - modules - WHOLE), f"put these into the room of what they test: {lost}"


def test_folders_are_no_packages():
    assert not list(TESTS.rglob("__init__.py"))
