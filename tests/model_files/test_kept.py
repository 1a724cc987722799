"""Model files are made into programs once: the next process finds what was made."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from paddle_lite_py.jit import ArtifactError

import paddle_lite_py as paddle
from paddle_lite_py.model_files import kept, reading
from paddle_lite_py.model_files.weights import read_weights, record

MODELS = Path(__file__).parents[1] / "golden" / "models"


@pytest.fixture
def built(monkeypatch, tmp_path):
    """One entry for each program that is built, with a folder of the test's own to keep manifests in."""
    found, as_traced = [], reading.as_traced
    (tmp_path / "kept").mkdir()
    monkeypatch.setattr(kept, "kept_in", lambda: tmp_path / "kept")
    monkeypatch.setattr(reading, "as_traced", lambda program: found.append(program) or as_traced(program))
    return found


@pytest.fixture
def files(tmp_path):
    """A folder with a model of one input."""
    for file in (MODELS / "pir_bf16_net").glob("inference.*"):
        shutil.copy(file, tmp_path / file.name)
    return tmp_path


def run(folder):
    layer = paddle.jit.load(str(folder / "inference"))
    shape = [2 if n in (None, -1) else n for n in layer.inputs[0].shape]
    return layer, layer(paddle.ones(shape)).numpy()


@pytest.mark.parametrize("name", sorted(p.name for p in MODELS.iterdir()))
def test_what_is_kept_is_what_was_made(built, name):
    path = reading.program_file(str(MODELS / name / "inference"))
    made, kept_ = reading.read(path), reading.read(path)
    assert len(built) == len(made[0]["methods"]) and made[0] == kept_[0] or len(made[0]["methods"]) > 1
    for key, array in made[1]["safetensors"].items():
        np.testing.assert_array_equal(np.asarray(array), np.asarray(kept_[1]["safetensors"][key]))


def test_a_program_is_built_once_and_its_operators_name_the_line_that_loads_it(built, files):
    first, expected = run(files)
    again, found = paddle.jit.load(str(files / "inference")), run(files)[1]
    assert len(built) == 1
    np.testing.assert_array_equal(expected, found)
    lines = [{str(op.where) for op in layer.program().ops()} for layer in (first, again)]
    assert all(len(line) == 1 for line in lines) and lines[0] != lines[1]


def test_other_weights_of_the_same_sizes_are_read_for_what_is_kept(built, files):
    _, before = run(files)
    weights = files / "inference.pdiparams"
    weights.write_bytes(b"".join(record(a * 2) for a in read_weights(weights)))
    assert not np.array_equal(run(files)[1], before) and len(built) == 1


@pytest.mark.parametrize("change", ["program", "source", "dtype", "damage"])
def test_what_is_kept_for_something_else_is_not_taken(built, files, monkeypatch, change):
    run(files)
    program = files / "inference.json"
    if change == "program":
        program.write_text(program.read_text() + " ")
    elif change == "source":
        monkeypatch.setattr(kept, "package_stamp", lambda: "another")
    elif change == "dtype":
        paddle.set_default_dtype("float64")
    else:
        (path,) = (files / "kept").iterdir()
        path.write_bytes(path.read_bytes()[:-1])
    paddle.jit.load(str(files / "inference"))
    assert len(built) == 2


def test_weights_that_do_not_fit_are_refused_as_ever(built, files):
    run(files)
    weights = files / "inference.pdiparams"
    arrays = list(read_weights(weights))
    weights.write_bytes(b"".join(map(record, arrays[:-1])))
    with pytest.raises(ArtifactError, match="tensors, and the program"):
        run(files)
    weights.write_bytes(b"".join(record(np.ones(np.add(a.shape, 1), a.dtype)) for a in arrays))
    with pytest.raises(ArtifactError, match="in the program"):
        run(files)
    weights.unlink()
    with pytest.raises(ArtifactError, match="is missing"):
        run(files)
