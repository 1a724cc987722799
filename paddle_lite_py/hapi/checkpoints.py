"""Checkpoints: all that training depends on in one file, from which it goes on to the very same weights."""

from __future__ import annotations

import os
import random
import re
import shutil
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ..core.processes import world
from ..core.switches import baseline_tier
from ..eager.random import default_generator
from ..eager.tensor import Tensor, wrap
from ..framework import load, save
from ..io.position import random_state, set_random_state

__all__ = ["Checkpoints"]

_NAME = re.compile(r"checkpoint-(\d+)\.pdckpt")


class Checkpoints:
    """Folder of checkpoints of the state of training, including the random state.

    Files are written atomically, so that the process may be killed at any time. A run that restores the newest
    checkpoint continues to bitwise identical results; since a step must then have the same bits whenever it runs, this
    process waits for the compiler from now on (FLAGS_baseline_tier). With several processes, all of which have the same
    parts, the first one writes, and all restore from its files.

    Arguments:
        folder: the folder.
        every: number of batches between two checkpoints of Model.fit, besides those after each epoch; None: none.
        keep: number of newest checkpoints to keep. Default: 3.
        best: name of a loss or metric; the checkpoint with the best value is kept as best.pdckpt.
        mode: "min" or "max": which value is best; "auto": "max" for names that contain "acc". Default: 'auto'.
        asynchronous: write in a background thread. Default: False.
        parts: what to save, by name: layers, optimizers, schedules, scalers, DataLoaders, or any object with
            state_dict() and set_state_dict() or load_state_dict(). Model.fit adds its own.

    Raises:
        ValueError: if keep or every is not at least 1, or for another mode.

    Examples:
        >>> import paddle_lite_py as paddle, tempfile
        >>> net = paddle.nn.Linear(2, 2)
        >>> opt = paddle.optimizer.Adam(parameters=net.parameters())
        >>> kept = Checkpoints(tempfile.mkdtemp(), net=net, opt=opt)
        >>> kept.restore()
        {}
        >>> kept.save({"step": 1}); kept.restore()["step"]
        1
    """

    def __init__(
        self,
        folder: Any,
        every: int | None = None,
        keep: int = 3,
        best: str | None = None,
        mode: str = "auto",
        asynchronous: bool = False,
        **parts: Any,
    ) -> None:
        if keep < 1 or (every is not None and every < 1) or mode not in ("auto", "min", "max"):
            raise ValueError(
                f"Checkpoints: keep is {keep}, every {every}, mode {mode!r}; expected at least 1, and auto, min or max"
            )
        self.folder, self.every, self.keep, self.best, self.asynchronous = Path(folder), every, keep, best, asynchronous
        self.rises = mode == "max" or (mode == "auto" and "acc" in (best or ""))
        self.parts: dict[str, Any] = dict(parts)
        self._score: float | None = None
        baseline_tier.set(False)
        self._thread: threading.Thread | None = None
        self._failure: list[BaseException] = []

    def check(self) -> None:
        """Check that checkpoints can be written, before training starts.

        Raises:
            OSError: if the folder cannot be created or written.
        """
        probe = self.folder / f".checkpoint-probe-{os.getpid()}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            probe.write_bytes(b"")
            probe.unlink(missing_ok=True)
        except OSError as e:
            why = e.strerror or str(e)
            raise OSError(e.errno, f"no checkpoint can be written into the folder ({why}); give another one, or the "
                          "right to write there", str(self.folder)) from None  # fmt: skip

    # -- saving ----------------------------------------------------------------------------------------------------
    def save(self, progress: dict[str, Any], score: float | None = None) -> None:
        """Write a checkpoint.

        Arguments:
            progress: progress of training, a dict of plain values that restore() returns.
            score: value of the loss or metric for `best`.

        Raises:
            OSError: if this checkpoint, or an earlier one in the background, could not be written.
        """
        self.wait()
        if world().rank:
            return None
        state = {
            "progress": progress,
            "score": score,
            "random": _random_state(),
            "parts": {name: _snapshot(part.state_dict()) for name, part in self.parts.items()},
            "parameters": {n: [p.name for p in _parameters(part)] for n, part in self.parts.items()},
        }
        number = max([0, *self._numbers()]) + 1
        if not self.asynchronous:
            return self._write(number, state, score)
        self._thread = threading.Thread(target=self._in_thread, args=(number, state, score), name="checkpoint")
        self._thread.start()

    def wait(self) -> None:
        """Wait until the current checkpoint is written.

        Raises:
            OSError: if it could not be written.
        """
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._failure:
            raise self._failure.pop()

    def _in_thread(self, *args: Any) -> None:
        try:
            self._write(*args)
        except BaseException as e:  # raised by who waits
            self._failure.append(e)

    def _write(self, number: int, state: dict[str, Any], score: float | None) -> None:
        path = self.folder / f"checkpoint-{number:08}.pdckpt"
        save(state, path)
        if score is not None and self._is_best(score):
            self._score = score
            beside = self.folder / ".best.pdckpt"
            beside.unlink(missing_ok=True)
            try:
                os.link(path, beside)
            except OSError:  # a file system without links
                shutil.copyfile(path, beside)
            os.replace(beside, self.folder / "best.pdckpt")
        for old in self._numbers()[: -self.keep]:
            self._path(old).unlink(missing_ok=True)

    def _is_best(self, score: float) -> bool:
        path = self.folder / "best.pdckpt"
        if self._score is None and path.exists():
            self._score = load(path)["score"]
        return self._score is None or (score > self._score if self.rises else score < self._score)

    def _path(self, number: int) -> Path:
        return self.folder / f"checkpoint-{number:08}.pdckpt"

    def _numbers(self) -> list[int]:
        names = os.listdir(self.folder) if self.folder.is_dir() else []
        return sorted(int(m[1]) for name in names if (m := _NAME.fullmatch(name)))

    # -- restoring -------------------------------------------------------------------------------------------------
    def restore(self, best: bool = False) -> dict[str, Any]:
        """Restore the newest checkpoint; damaged ones are skipped with a warning.

        Arguments:
            best: restore the best checkpoint instead. Default: False.

        Returns:
            The progress given to save(); an empty dict if there is no checkpoint.

        Raises:
            ValueError: if the checkpoint does not match; all differences are listed, and nothing is changed.
        """
        self.wait()
        for left in self.folder.glob(".checkpoint-*"):  # half a file of who was killed
            left.unlink(missing_ok=True)
        paths = [self.folder / "best.pdckpt"] if best else [self._path(n) for n in reversed(self._numbers())]
        for path in paths:
            try:
                state = load(path)
            except FileNotFoundError:
                continue
            except ValueError as e:
                warnings.warn(f"Checkpoints: {path} is damaged and left out: {e}", stacklevel=2)
                continue
            self._put_back(state, path)
            return state["progress"]
        return {}

    def _put_back(self, state: dict[str, Any], path: Path) -> None:
        wrong = [f"'{n}' is not in it" for n in self.parts if n not in state["parts"]]
        for name, part in self.parts.items():
            if hasattr(part, "sublayers"):
                wrong += [f"{name}: {text}" for text in unlike(part.state_dict(), state["parts"].get(name, {}))]
        if wrong:
            raise ValueError(f"Checkpoints: {path} does not fit what is to be restored: {'; '.join(wrong)}")
        for name, part in self.parts.items():
            found, old = state["parts"][name], state["parameters"].get(name, [])
            put = getattr(part, "set_state_dict", None) or part.load_state_dict
            put(_renamed(found, old, [p.name for p in _parameters(part)]))
        _set_random_state(state["random"])


def _parameters(part: Any) -> list[Any]:
    """Return the parameters that an optimizer updates."""
    return list(getattr(part, "_parameter_list", None) or [])


def unlike(own: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Describe how a saved state differs from a layer's: missing names, extra names, other shapes."""
    out = [f"'{k}' is missing" for k in own.keys() - found.keys()]
    out += [f"'{k}' is not in the network" for k in found.keys() - own.keys()]
    shapes = [(k, list(found[k].shape), list(own[k].shape)) for k in own.keys() & found.keys()]
    return sorted(out + [f"'{k}' is {old}, here {new}" for k, old, new in shapes if old != new])


def _renamed(state: dict[str, Any], old: list[str], new: list[str]) -> dict[str, Any]:
    """Return the state of an optimizer under the names that its parameters have here, in the same order."""
    if old == new or len(old) != len(new):
        return state
    by_old = dict(zip(old, new, strict=True))

    def name(key: str) -> str:
        owner = max((o for o in old if key == o or key.startswith(o + "_")), key=len, default="")
        return by_old[owner] + key[len(owner) :] if owner else key

    return {name(k): _renamed(v, old, new) if k == "master_weights" else v for k, v in state.items()}


def _snapshot(value: Any) -> Any:
    """Return a state as it is now: payloads are never changed, so it is enough to hold them."""
    if isinstance(value, Tensor):
        held = wrap(value._payload)
        held.name = value.name
        return held
    if isinstance(value, dict):
        return {k: _snapshot(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_snapshot(v) for v in value) if type(value) in (list, tuple) else value
    return np.array(value) if isinstance(value, np.ndarray) else value


def _random_state() -> dict[str, Any]:
    version, words, gauss = random.getstate()
    return {"drawn": random_state(), "python": [version, np.array(words, np.int64), gauss],
            "device": np.asarray(default_generator.state._payload)}  # fmt: skip


def _set_random_state(state: dict[str, Any]) -> None:
    set_random_state(state["drawn"])
    version, words, gauss = state["python"]
    random.setstate((version, tuple(map(int, np.asarray(words))), gauss))
    default_generator.set_state(np.asarray(state["device"]).astype(np.uint32))
