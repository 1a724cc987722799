"""`hadoop fs -COMMAND ...` on a folder of this machine, HADOOP_FOLDER, which stands for the root of HDFS."""

import os
import shutil
import sys
from pathlib import Path

ROOT = Path(os.environ["HADOOP_FOLDER"])
command, *given = [word for word in sys.argv[2:] if not word.startswith("-D")]
options = [word for word in given if word.startswith("-")]
paths = [word for word in given if not word.startswith("-")]
there = [ROOT / path.lstrip("/") for path in paths]


def line(path):
    kind, size = ("drwxr-xr-x", 0) if path.is_dir() else ("-rw-r--r--", path.stat().st_size)
    return f"{kind}   3 user group {size:>10} 2026-01-01 00:00 /{path.relative_to(ROOT)}"


def listed(path):
    children = sorted(path.iterdir()) if path.is_dir() else [path]
    return [*([f"Found {len(children)} items"] if path.is_dir() else []), *map(line, children)]


def copied(source, target):
    target = target / source.name if target.is_dir() else target
    if target.exists() and "-f" not in options:
        sys.exit(f"`{target}': File exists")
    shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)


match command:
    case "-test":
        sys.exit(not {"-e": there[0].exists(), "-d": there[0].is_dir()}[options[0]])
    case "-ls":
        print("\n".join(text for path in there for text in listed(path)))
    case "-mkdir":
        there[0].mkdir(parents="-p" in options, exist_ok="-p" in options)
    case "-touchz":
        there[0].touch()
    case "-rm" | "-rmr":
        shutil.rmtree(there[0]) if there[0].is_dir() else there[0].unlink()
    case "-mv":
        there[0].rename(there[1])
    case "-put":
        copied(Path(paths[0]), there[1])
    case "-get":
        copied(there[0], Path(paths[1]))
    case "-cat":
        print(there[0].read_text())
    case _:
        sys.exit(f"{command[1:]}: Unknown command")
