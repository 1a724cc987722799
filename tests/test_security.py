"""The page of security lists each place that reads pickles, runs text or other programs, or talks to others."""

from __future__ import annotations

import ast
import re

import pytest

import house

PAGE = house.ROOT / "docs" / "security.md"
ROOTS = ("paddle_lite_py", "jit", "dy2static")
# What a row is about: modules that are imported, and functions that are called.
KINDS = {
    "reading pickles": (
        "cloudpickle",
        "pickle.load pickle.loads pickle.Unpickler pickle._Unpickler cloudpickle.loads marshal.loads Connection.recv "
        "serialize_executable.deserialize_and_load",
    ),
    "eval, exec": ("", "eval exec"),
    "other programs": ("subprocess", "os.system os.popen os.execv os.execve os.posix_spawn os.fork"),
    "sockets": ("socket zmq multiprocessing.connection urllib.request http.client grpc uvicorn", ""),
    "temporary files": ("tempfile", ""),
    "native code": ("", "ctypes.CDLL serialize_executable.deserialize_and_load compiled_by_numba"),
}


def uses(tree: ast.AST) -> set[str]:
    """The modules that a file imports, and the functions that it mentions."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {str(node.module), *(f"{node.module}.{a.name}" for a in node.names)}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.add(node.func.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "recv" and not node.args:
                found.add("Connection.recv")
            if node.func.attr == "njit":
                found.add("compiled_by_numba")
            if node.func.attr == "import_module" and node.args and isinstance(node.args[0], ast.Constant):
                found.add(str(node.args[0].value))
    return found


def used() -> dict[str, set[str]]:
    """By kind, the files that belong into its row."""
    found: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for path in (p for root in ROOTS for p in (house.ROOT / root).rglob("*.py")):
        names = uses(ast.parse(path.read_text()))
        for kind, (modules, functions) in KINDS.items():
            if names & {*modules.split(), *functions.split()}:
                found[kind].add(str(path.relative_to(house.ROOT)).removeprefix("paddle_lite_py/"))
    return found


def listed() -> dict[str, set[str]]:
    """By kind, the files and folders (which end with /) of the page."""
    found: dict[str, set[str]] = {}
    kind = ""
    for row in re.findall(r"^\|(.*?)\| (`.*?) \|", PAGE.read_text(), re.M):
        kind = row[0].strip() or kind
        found.setdefault(kind, set()).update(re.findall(r"`([^`]+)`", row[1]))
    return found


USED, LISTED = used(), listed()


@pytest.mark.parametrize("kind", KINDS)
def test_each_use_is_listed_and_what_is_listed_is_one(kind):
    rows = LISTED[kind]
    missing = {f for f in USED[kind] if not any(f == r or (r.endswith("/") and f.startswith(r)) for r in rows)}
    assert not missing, f"read these, and list them in docs/security.md: {sorted(missing)}"
    idle = {r for r in rows if not any(f == r or f.startswith(r) for f in USED[kind])}
    assert not idle, f"docs/security.md lists {sorted(idle)}, where there is nothing of the kind"


def test_the_scan_finds_what_it_is_for():
    text = "import subprocess\nfrom multiprocessing.connection import Client\nx = pickle.loads(b)\neval('1')\nc.recv()"
    assert {"subprocess", "multiprocessing.connection", "pickle.loads", "eval", "Connection.recv"} <= uses(
        ast.parse(text)
    )
