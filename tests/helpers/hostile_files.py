"""Alters files, and reads them with limits: hostile_files.py KIND FOLDER FIRST COUNT; a line of JSON for each bad one.

A file is good, or refused with a documented error. Nothing outside of its folder is touched, nothing takes longer than
20 seconds of CPU time (120 in all), or more memory than 20 times the file and 200 MB.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import random
import resource
import shutil
import signal
import struct
import sys
import warnings
from pathlib import Path

import numpy as np
from paddle_lite_py.jit.agreement import digest_of

import paddle_lite_py as paddle
from paddle_lite_py import distributed as dist
from paddle_lite_py.core import config
from paddle_lite_py.distributed.flex_checkpoint.dcp import metadata

SECONDS, TIMES, MORE = 20, 20, 200 << 20
DOCUMENTED = (ValueError, TypeError, OSError, NotImplementedError, RuntimeError)
MODELS, TRAINED = (Path(__file__).parents[1] / "golden" / kind for kind in ("models", "trained"))
VALUES = [
    *(
        0,
        -1,
        1,
        2,
        7,
        2**31,
        2**32,
        2**63,
        -(2**70),
        1e308,
        float("inf"),
        True,
        None,
        "",
        "x",
        "*",
        "../x",
        "/etc/passwd",
    ),
    *("float32", "int64", "a" * 5000, [], {}, [[]], {"dim": "b"}, {"dim": "9^9^9*b"}, {"float": "nan"}, {"block": {}}),
    *({"py": 1}, {"argument": 0}, {"weight": 0}, {"constant": 99}, {"tuple": ["*", "*"]}, {"dtype": "int8"}),
]


# -- what is altered -----------------------------------------------------------------------------------------------
def places(tree, path=()):
    """All places in a tree of JSON."""
    yield path
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield from places(value, (*path, key))


def altered_tree(rng, tree):
    """A tree with one to three places altered."""
    tree = json.loads(json.dumps(tree))
    for _ in range(rng.randrange(1, 4)):
        path = rng.choice([p for p in places(tree) if p])
        holder = tree
        for key in path[:-1]:
            holder = holder[key]
        kind = rng.randrange(4)
        if kind == 0:
            del holder[path[-1]]
        elif kind == 1:
            other = tree
            for key in rng.choice(list(places(tree))):
                other = other[key]
            holder[path[-1]] = json.loads(json.dumps(other))
        elif kind == 2 and type(holder[path[-1]]) is int:
            holder[path[-1]] += rng.choice([-1, 1, 2, 100])
        else:
            holder[path[-1]] = rng.choice(VALUES)
    return tree


def altered_bytes(rng, data):
    """Bytes with some flipped, cut off, doubled, or replaced by numbers that mean much."""
    data = bytearray(data)
    for _ in range(rng.randrange(1, 6)):
        at, kind = rng.randrange(len(data)), rng.randrange(5)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.randrange(256)
        elif kind == 2:
            piece = struct.pack(rng.choice(["<I", "<Q"]), rng.choice([0, 1, 2**31 - 1, 2**32 - 1]))
            data[at : at + len(piece)] = piece
        elif kind == 3:
            end = at + rng.randrange(1, 40)
            data[at:at] = data[at:end]
        elif len(data) > 8:
            del data[rng.randrange(len(data) // 2, len(data)) :]
    return bytes(data)


class Artefacts:
    """What jit.save wrote: the manifest or a data file altered, with digests made right."""

    def __init__(self, folder):
        net = paddle.nn.Sequential(
            paddle.nn.Linear(3, 4), paddle.nn.ReLU(), paddle.nn.BatchNorm1D(4), paddle.nn.Linear(4, 2)
        )

        def looping(x, n):
            if x.sum() > 0:
                x = x * 2
            while n > 0:
                x, n = x + net[0](x).sum(), n - 1
            return {"x": x, "n": [n, 1.5]}

        spec = paddle.static.InputSpec
        paddle.jit.save(net, str(folder / "net"), input_spec=[spec([None, 3], "float32", "x")], platforms=["cpu"])
        given = [spec([2, 3], "float32", "x"), spec([], "int64", "n")]
        paddle.jit.save(looping, str(folder / "loop"), input_spec=given, platforms=["cpu"])
        self.kept = {p.name: p.read_bytes() for p in folder.iterdir()}

    def alter(self, rng, folder):
        self.name = rng.choice(["net", "loop"])
        files = dict(self.kept)
        manifest = json.loads(files[f"{self.name}.json"])
        if rng.random() < 0.9:
            manifest = altered_tree(rng, manifest)
        else:
            entry = manifest["files"][rng.choice(list(manifest["files"]))]
            content = files[entry["name"]] = altered_bytes(rng, files[entry["name"]])
            entry.update(size=len(content), sha256=hashlib.sha256(content).hexdigest())
        for method in _methods(manifest):
            method["digest"] = digest_of(method["program"])
        files[f"{self.name}.json"] = json.dumps(manifest).encode()
        for name, content in files.items():
            (folder / name).write_bytes(content)

    def read(self, folder):
        loaded = paddle.jit.load(str(folder / self.name))
        if "forward" not in loaded.method_names:
            return
        x = paddle.ones([2, 3])
        with paddle.no_grad():
            loaded(*([x] if self.name == "net" else [x, paddle.to_tensor(2)]))


def _methods(manifest):
    found = manifest.get("methods")
    for modes in found.values() if isinstance(found, dict) else ():
        for method in modes.values() if isinstance(modes, dict) else ():
            if isinstance(method, dict) and "program" in method:
                yield method


class Pickles:
    """What paddle.save wrote, or what only a stranger writes."""

    def __init__(self, folder):
        state = paddle.nn.Linear(3, 4).state_dict()
        state["nested"] = {"lr": 0.1, "list": [1, "x", None, (2.5, True)], "t": paddle.ones([2])}
        self.kept = []
        for protocol in (2, 3, 4, 5):
            file = io.BytesIO()
            paddle.save(state, file, protocol=protocol)
            self.kept.append(file.getvalue())
        self.kept.append(pickle.dumps({"a": np.arange(6).reshape(2, 3), "b": {1, 2}, "c": frozenset({3})}))
        self.opcodes = [c.encode("latin1") for c in pickle.__dict__.values() if isinstance(c, str) and len(c) == 1]
        self.opcodes += [v for k, v in vars(pickle).items() if k.isupper() and isinstance(v, bytes) and len(v) == 1]

    def alter(self, rng, folder):
        data = rng.choice(self.kept)
        if rng.random() < 0.3:  # steps of any kind, of which most can be done
            data = b"\x80\x04" + b"".join(self._step(rng) for _ in range(rng.randrange(200))) + b"."
        elif rng.random() < 0.5:
            at = rng.randrange(2, len(data))
            data = data[:at] + b"".join(self._step(rng) for _ in range(rng.randrange(1, 5))) + data[at:]
        else:
            data = altered_bytes(rng, data)
        (folder / "file").write_bytes(data)

    def _step(self, rng):
        kind = rng.randrange(8)
        if kind < 3:
            return rng.choice([b"]", b"}", b")", b"N", b"K\x01", b"(", b"\x94", b"\x8f", b"X\x01\0\0\0x", b"C\x01x"])
        if kind < 5:
            return rng.choice(
                [b"h\0", b"h\1", b"q\0", b"q\1", b"\x85", b"\x86", b"a", b"e", b"s", b"u", b"t", b"l", b"R"]
            )
        if kind == 5:
            return rng.choice([b"cnumpy\nndarray\n", b"cnumpy\ndtype\n", b"c_codecs\nencode\n", b"cbuiltins\nlist\n"])
        return rng.choice(self.opcodes) + rng.randbytes(rng.randrange(3))

    def read(self, folder):
        paddle.load(str(folder / "file"))


class Checkpoints:
    """A checkpoint of several processes: its record or one of its files altered."""

    def __init__(self, folder):
        dist.save_state_dict({"w": paddle.ones([4, 2]), "b": paddle.ones([2])}, str(folder))
        self.kept = {p.name: p.read_bytes() for p in folder.iterdir()}

    def alter(self, rng, folder):
        for name, content in self.kept.items():
            (folder / name).write_bytes(content)
        name = rng.choice(list(self.kept))
        if name.endswith(".metadata") and rng.random() < 0.5:
            found = metadata.from_bytes(self.kept[name])
            part = rng.choice(found.state_dict_metadata["w"])
            setattr(part, rng.choice(["global_offset", "local_shape", "dtype", "global_shape"]), rng.choice(VALUES))
            found.storage_metadata = dict.fromkeys(found.storage_metadata, rng.choice(["0_0.distcp", "../x", 7, ""]))
            (folder / name).write_bytes(metadata.as_bytes(found))
        else:
            (folder / name).write_bytes(altered_bytes(rng, self.kept[name]))

    def read(self, folder):
        dist.load_state_dict({"w": paddle.zeros([4, 2]), "b": paddle.zeros([2])}, str(folder))


class Models:
    """Model files of the reference, programs in training among them, the program or the weights altered."""

    def __init__(self, folder):
        sizes = {p: sum(f.stat().st_size for f in p.iterdir()) for p in (*MODELS.iterdir(), *TRAINED.iterdir())}
        self.small = sorted(sizes, key=sizes.get)[:17]

    def alter(self, rng, folder):
        source = rng.choice(self.small)
        for path in (*source.glob("inference.*"), *source.glob("m.*")):
            shutil.copy(path, folder / path.name)
        path = rng.choice(sorted(folder.iterdir()))
        if path.suffix == ".json" and rng.random() < 0.7:
            path.write_text(json.dumps(altered_tree(rng, json.loads(path.read_text()))))
        elif path.stat().st_size:
            path.write_bytes(altered_bytes(rng, path.read_bytes()))

    def read(self, folder):
        (program,) = (p for p in folder.iterdir() if p.suffix in (".json", ".pdmodel"))
        try:
            if program.stem == "inference":
                paddle.jit.load(str(folder / "inference"))
            else:
                self._train(program)
        except DOCUMENTED as e:
            assert str(folder) in str(e), f"the message names no file: {type(e).__name__}: {e}"

    def _train(self, file):
        static = paddle.static
        paddle.enable_static()
        try:
            with static.scope_guard(static.Scope()):
                static.load(paddle.load(str(file)), str(file.with_suffix("")))
        finally:
            paddle.disable_static()


KINDS = {"artefacts": Artefacts, "pickles": Pickles, "checkpoints": Checkpoints, "models": Models}


# -- what is watched -----------------------------------------------------------------------------------------------
class Touched:
    """What the process does to the world while a file is read, outside of some folders."""

    ACTS = (
        "os.system",
        "os.exec",
        "os.posix_spawn",
        "subprocess.Popen",
        "socket.connect",
        "os.remove",
        "os.rename",
        "os.mkdir",
    )

    def __init__(self, *allowed):
        self.allowed, self.found, self.on = [str(a) for a in allowed], [], False
        sys.addaudithook(self)

    def __call__(self, event, args):
        if not self.on:
            return
        if event == "open" and isinstance(args[0], str) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            self._note(event, args[0])
        elif event in self.ACTS:
            self._note(event, str(args[0]))

    def _note(self, event, path):
        if not any(os.path.abspath(path).startswith(a) for a in self.allowed) and path != os.devnull:
            self.found.append(f"{event} {path[:200]}")


class Late(BaseException):
    """A file takes too long."""


def late(*_):
    raise Late


def verdict(reader, folder, touched):
    """What is bad about how a file was read; empty if nothing is."""
    size = sum(p.stat().st_size for p in folder.iterdir())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    touched.found.clear()
    touched.on = True
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(6 * SECONDS)
    try:
        reader.read(folder)
        error = ""
    except DOCUMENTED as e:
        error = "" if not isinstance(e, RecursionError) else "RecursionError"
    except Late:
        error = f"more than {SECONDS} s"
    except Exception as e:
        error = f"{type(e).__name__}: {e}"[:300]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        touched.on = False
    taken = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    if taken > TIMES * size + MORE:
        error += f" {taken >> 20} MB for {size} bytes"
    return error + "".join(f" touched: {t}" for t in touched.found)


def main(kind, folder, first, count):
    """Read so many altered files; the seed of each is its number."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, late)
    signal.signal(signal.SIGALRM, late)
    (folder / "whole").mkdir()
    reader = KINDS[kind](folder / "whole")
    config.user_secret()  # which the first file would have made, beside the folder of compiled programs
    touched = Touched(folder, config.kept_in() or folder, "/dev/")
    for seed in range(first, first + count):
        place = folder / "altered"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        reader.alter(random.Random(f"{kind} {seed}"), place)
        print(json.dumps({"seed": seed}), flush=True)  # should it end over it
        if bad := verdict(reader, place, touched):
            print(json.dumps({"seed": seed, "bad": bad}), flush=True)
    print(json.dumps({"done": count}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
