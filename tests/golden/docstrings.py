"""Runs the examples of PaddlePaddle's own docstrings: on itself, and, those that pass there, on this package.

`python tests/golden/docstrings.py PADDLE_PYTHON` takes the docstrings from the installed reference, whose Python is
named, and prints how many pass here, and which do not. Numbers are compared to 1e-4, white space and addresses are left
aside.
No case are examples that the reference itself fails, that are marked to be skipped, that print what a seed gives, and
those of paddle.distributed. What differs here on purpose is in `docstring_exceptions.txt`, with its reason.
"""

from __future__ import annotations

import contextlib
import doctest
import faulthandler
import importlib
import inspect
import io
import json
import linecache
import os
import re
import signal
import subprocess
import sys
import tempfile
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BATCH = 40
SECONDS = 60
RANDOM = re.compile(r"paddle\.seed|manual_seed|set_rng_state")  # others that pass on the reference show no draws
APART = re.compile(r"paddle\.distributed|fleet|import torch|download|pretrained=True|datasets\.")
NUMBER = re.compile(
    r"(?:(?<![\w.])|(?=[-+]))[-+]*(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+|inf\.?|nan)(?=j?\b|[^\w.]|$)(?!\.\d)", re.I
)
IGNORED = re.compile(r"0x[0-9a-f]+|Place\([^)]*\)|<class '[\w.]*\.|paddle_lite_py")
DIRECTIVE = re.compile(r"#\s*x?doctest:\s*([+-])(\w+)(\(.*?\))?")


def documented(paddle: Any) -> Iterator[tuple[str, str]]:
    """(name, docstring) of everything public that has examples, once."""
    seen: set[str] = set()
    for module in sorted(n for n in sys.modules if n.split(".")[0] == "paddle" and "distributed" not in n):
        for name, value in sorted(vars(sys.modules[module]).items(), key=lambda item: item[0]):
            if name.startswith("_") or isinstance(value, types.ModuleType):
                continue
            owned = [(name, value)]
            if inspect.isclass(value) and str(getattr(value, "__module__", "")).startswith("paddle"):
                owned += [(f"{name}.{k}", v) for k, v in sorted(vars(value).items()) if not k.startswith("_")]
            for path, each in owned:
                doc = inspect.getdoc(each)
                if (
                    doc
                    and ">>>" in doc
                    and doc not in seen
                    and not str(getattr(each, "__module__", "")).startswith("jax")
                ):
                    seen.add(doc)
                    yield f"{module}.{path}", doc


def blocks(doc: str) -> Iterator[str]:
    """The code blocks of a docstring: each is an example of its own."""
    parts = re.split(r"\n\s*\.\. code-block::[^\n]*\n", "\n" + doc)
    yield from (part for part in (parts if len(parts) == 1 else parts[1:]) if ">>>" in part)


def statements(block: str) -> list[tuple[str, str]]:
    """(source, what it is to print) of what is not marked to be skipped."""
    found, skipping = [], False
    for example in doctest.DocTestParser().get_examples(DIRECTIVE.sub(r"# marked: \1\2", block)):
        marks = re.findall(r"# marked: ([+-])(SKIP|REQUIRES)", example.source)
        alone = not re.sub(r"#.*", "", example.source).strip()
        if marks and alone:
            skipping = marks[-1][0] == "+"
        if not skipping and not (marks and not alone and marks[-1][0] == "+"):
            found.append((example.source, example.want))
    return found


def cases(paddle: Any) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each example to be run, with its name."""
    for name, doc in documented(paddle):
        for i, block in enumerate(blocks(doc)):
            try:
                found = statements(block)
            except ValueError:
                continue
            text = "".join(source for source, _ in found)
            if found and any(want for _, want in found) and not RANDOM.search(text) and not APART.search(text):
                yield f"{name}#{i}", found


def same(want: str, got: str) -> bool:
    """Whether two texts are the same but for rounding, white space and addresses."""
    want, got = (IGNORED.sub("", text) for text in (want, got))
    shapes = ["".join(NUMBER.sub("#", text).split()) for text in (want, got)]
    if shapes[0] != shapes[1]:
        pattern = re.escape("".join(want.split())).replace(r"\.\.\.", ".*")
        return "..." in want and bool(re.fullmatch(pattern, "".join(got.split())))
    pairs = zip(NUMBER.findall(want), NUMBER.findall(got), strict=True)
    return all(close(number(a), number(b)) for a, b in pairs)


def number(text: str) -> float:
    """The value of a number as it is printed: PaddlePaddle writes `+-0.0` in complex ones, and `inf.`."""
    digits = text.lstrip("+-").rstrip(".")
    return -float(digits) if "-" in text[: len(text) - len(digits)] else float(digits)


def close(a: float, b: float) -> bool:
    """Equal to 1e-4, infinities and NaN included."""
    return a == b or a != a != b != b or abs(a - b) <= 1e-4 * max(1.0, abs(a), abs(b))


def run(found: list[tuple[str, str]]) -> str:
    """Run an example; what is wrong with it, or nothing."""
    names: dict[str, Any] = {"__name__": "__main__"}
    since = ""
    for i, (source, want) in enumerate(found):
        printed = io.StringIO()
        file = f"<example {i}>"
        linecache.cache[file] = len(source), None, source.splitlines(True), file  # static functions read their source
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(source, file, "single"), names)
        except Exception as e:
            if want.startswith("Traceback"):
                continue
            return f"{type(e).__name__}: {str(e).strip()[:300]} <- {source.strip()[:120]}"
        since += printed.getvalue()
        if want and not (same(want, printed.getvalue()) or same(want, since)):
            return f"printed {printed.getvalue().strip()[:300]!r}, not {want.strip()[:300]!r} <- {source.strip()[:120]}"
        since = "" if want else since
    return ""


def reset(paddle: Any) -> None:
    """What an example may have left behind is put back."""
    paddle.disable_static()
    paddle.set_default_dtype("float32")
    paddle.seed(1)


def run_all(paddle: Any, file: Path, out: Path) -> None:
    """Run examples of a file, each with a limit of time, and write what was wrong with each as they go."""
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError("too slow")))
    with out.open("w") as results:
        for name, found in json.loads(file.read_text()):
            signal.alarm(SECONDS)
            faulthandler.dump_traceback_later(SECONDS + 5, exit=True)  # what hangs in C hears no signal
            try:
                reset(paddle)
                wrong = run(found)
            except BaseException as e:
                wrong = f"{type(e).__name__}: {e}"
            signal.alarm(0)
            faulthandler.cancel_dump_traceback_later()
            results.write(json.dumps([name, wrong]) + "\n")
            results.flush()


def in_batches(python: str, kind: str, examples: list[Any]) -> dict[str, str]:
    """What is wrong with each example, run in processes of some examples each."""
    wrong: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "examples.json", Path(folder) / "results"
        for start in range(0, len(examples), BATCH):
            left = examples[start : start + BATCH]
            while left:
                file.write_text(json.dumps(left))
                out.write_text("")
                command = [python, __file__, kind, str(file), str(out)]
                subprocess.run(command, cwd=folder, capture_output=True, check=False)
                done = dict(json.loads(line) for line in out.read_text().splitlines())
                wrong |= done
                if len(done) < len(left):  # one of them ended the process
                    wrong[left[len(done)][0]] = "ended the process"
                left = left[len(done) + 1 :]
    return wrong


def exceptions() -> dict[str, str]:
    """The examples that differ on purpose, by the beginning of their names, with the reason."""
    lines = (HERE / "docstring_exceptions.txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def main(python: str, only: str = "") -> None:
    """List, run in the reference, run here, and print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "listed.json"
        subprocess.run([python, __file__, "list", str(listed)], check=True, capture_output=True)
        examples = [e for e in json.loads(listed.read_text()) if re.search(only, e[0])]
    on_reference = in_batches(python, "reference", examples)
    examples = [e for e in examples if not on_reference.get(e[0], "")]
    report(examples, in_batches(sys.executable, "here", examples))


def report(examples: list[Any], wrong: dict[str, str]) -> None:
    """Print what fails, and the figures; fail where something is not among the exceptions."""
    known = exceptions()
    failed = {name: why for name, why in wrong.items() if why}
    news = {name: why for name, why in failed.items() if not any(name.startswith(k) for k in known)}
    print(*(f"{name}: {why}" for name, why in sorted(news.items())), sep="\n")
    share = 100 * (1 - len(failed) / max(len(examples), 1))
    print(
        f"docstrings: {len(examples)} examples pass on PaddlePaddle, {len(examples) - len(failed)} here ({share:.1f} %)"
    )
    sys.exit(bool(news))


def act(kind: str, *files: str) -> None:
    """One of the steps, in a process of its own."""
    if kind == "here":
        importlib.import_module("paddle_lite_py").install_as_paddle()
    warnings.simplefilter("ignore")
    os.environ.setdefault("MPLBACKEND", "agg")
    paddle = importlib.import_module("paddle")
    if kind == "list":
        Path(files[0]).write_text(json.dumps(list(cases(paddle))))
    else:
        run_all(paddle, Path(files[0]), Path(files[1]))


if __name__ == "__main__":
    (act if sys.argv[1] in ("list", "reference", "here") else main)(*sys.argv[1:])
