"""Beside each cache stands what its values depend on, and the checker of caches finds what is stale."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from paddle_lite_py.core import cache_checks

ROOT = Path(__file__).resolve().parents[2]
KEEPING = {"Memo", "IdentityMemo", "memo", "cache", "lru_cache"}
EXEMPT = {"paddle_lite_py/core/memo.py", "paddle_lite_py/migrate/module_paths.py"}


def _name(node):
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)


def lines_of_caches(text):
    """The lines where something is made that keeps values: by a decorator, or assigned."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            yield from (d.lineno for d in node.decorator_list if _name(d) in KEEPING)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            calls = [n for n in ast.walk(node.value) if isinstance(n, ast.Call)]
            types = {id(a) for n in calls if _name(n) == "type" for a in n.args}
            yield from (node.lineno for n in calls if _name(n) in KEEPING and id(n) not in types)


def is_described(lines, at):
    """Whether the comment right above a line says what the key is."""
    above = at - 2
    while above >= 0 and lines[above].lstrip().startswith("#"):
        if lines[above].lstrip().startswith("# Key: "):
            return True
        above -= 1
    return False


def undescribed(root):
    for folder in ("dy2static", "jit", "paddle_lite_py"):
        for path in sorted((root / folder).rglob("*.py")):
            where, text = path.relative_to(root).as_posix(), path.read_text()
            lines = text.splitlines()
            if where not in EXEMPT:
                yield from (f"{where}:{at}" for at in lines_of_caches(text) if not is_described(lines, at))


def test_beside_each_cache_stands_what_its_values_depend_on():
    assert not (found := sorted(undescribed(ROOT))), found


def test_a_cache_without_its_key_is_found(tmp_path):
    (tmp_path / "jit").mkdir()
    text = "a = Memo('a', 1)\n# Key: b.\nb = Memo('b', 1)\n@memo(8)\ndef f(): ...\n"
    (tmp_path / "jit" / "a.py").write_text(text + "c: Any = functools.lru_cache(f)\n")
    assert sorted(undescribed(tmp_path)) == ["jit/a.py:1", "jit/a.py:4", "jit/a.py:6"]


def test_what_is_stale_is_told_from_what_is_rounded():
    cache_checks.expect_same("sums", [np.array([1.0, 2.0])], lambda: [np.array([1.001, 2.0])])
    for other in ([np.array([1.0, 3.0])], [np.array([1.0, 2.0], "float32")], [np.array([1.0])], []):
        with pytest.raises(cache_checks.StaleError, match="sums"):
            cache_checks.expect_same("sums", [np.array([1.0, 2.0])], lambda other=other: other)


STALE = """
import numpy as np
import paddle_lite_py as paddle
from paddle_lite_py.core.memo import _all
from paddle_lite_py.core.cache_checks import StaleError
from paddle_lite_py.host.tier import for_xla

x, found = paddle.ones([3, 4]), []
def caught(call):
    try:
        call()
    except StaleError as e:
        found.append(str(e))

array = np.ones(3, "float32")
for _ in range(3):
    for_xla(array)
array.flags.writeable = True
array[0] = 2.0
caught(lambda: for_xla(array))  # an array that was written into

def call():
    return paddle.clip(x, 0.0, 0.5)
for _ in range(4):
    call()
(cache,) = [c for c in _all if c.name == "calls of clip"]
(key, kept), *_ = cache.items()
cache[key] = kept._replace(bound=paddle.tanh.__op__.bind(()))
caught(call)  # a call that is kept as another op
print(len(found))
"""


def test_the_checker_finds_what_was_planted(tmp_path):
    script = tmp_path / "stale.py"
    script.write_text(STALE)
    env = {**os.environ, cache_checks.VARIABLE: "1"}
    done = subprocess.run([sys.executable, str(script)], env=env, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "2\n", done.stderr
