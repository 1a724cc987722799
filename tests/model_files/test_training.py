"""Programs in training that PaddlePaddle saved: they train on here as they did there, and state goes both ways."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from paddle_lite_py.jit import ArtifactError

import paddle_lite_py as paddle
from paddle_lite_py.model_files.building import OPERATORS
from paddle_lite_py.model_files.gradients import signatures

static = paddle.static
TRAINED = Path(__file__).parents[1] / "golden" / "trained"
MODELS = Path(__file__).parents[1] / "golden" / "models"
NAMES = sorted(p.name for p in TRAINED.iterdir())


@pytest.fixture(autouse=True)
def static_mode():
    paddle.enable_static()
    with static.scope_guard(static.Scope()):
        yield
    paddle.disable_static()


def program_file(name):
    return next(p for p in (TRAINED / name).iterdir() if p.suffix in (".json", ".pdmodel"))


def recorded(name):
    with np.load(TRAINED / name / "data.npz") as file:
        return dict(file)


def loaded(name):
    program = paddle.load(str(program_file(name)))
    static.load(program, str(TRAINED / name / "m"))
    return program


def losses(program, name, steps=4):
    """The values of the scalar that is fetched last among those that are a mean: the loss."""
    data = recorded(name)
    feed = {"x": data["x"], "y": data["y"]}
    means = [n for n in program.global_block().vars if n.startswith("mean_") and "@" not in n]
    exe = static.Executor()
    (loss,) = [n for n in means if not program.global_block().var(n).shape][-1:]
    return [float(exe.run(program, feed=feed, fetch_list=[loss])[0]) for _ in range(steps)]


@pytest.mark.parametrize("name", NAMES)
def test_a_program_trains_on_as_it_did_there(name):
    program = loaded(name)
    assert list(program.feeds) == ["x", "y"]
    np.testing.assert_allclose(losses(program, name), recorded(name)["losses"], rtol=2e-6)


@pytest.mark.parametrize("name", ["pd26_cnn", "pir_sequence"])
def test_it_is_saved_as_ours_between_steps(name, tmp_path):
    program, expected = loaded(name), recorded(name)["losses"]
    losses(program, name, 2)
    static.save(program, str(tmp_path / "ours"))
    again = paddle.load(str(tmp_path / "ours.json"))
    with static.scope_guard(static.Scope()):
        static.load(again, str(tmp_path / "ours"))
        np.testing.assert_allclose(losses(again, name, 2), expected[2:], rtol=2e-6)


def test_bytes_are_a_program_too():
    data = program_file("pd26_cnn").read_bytes()
    assert static.deserialize_program(data).all_parameters()
    assert static.Program.parse_from_string(data).list_vars()


def test_every_gradient_belongs_to_an_operator():
    assert not [n for n in signatures() if n not in OPERATORS and f"{n}_" not in OPERATORS]


def test_operators_that_have_no_row_are_named_at_once(tmp_path):
    text = program_file("pir_cnn").read_text()
    path = tmp_path / "m.json"
    path.write_text(text.replace('"1.momentum_"', '"1.no_such_update_"').replace('"1.relu_grad"', '"1.no_such_grad"'))
    with pytest.raises(ArtifactError, match=r"not known here: `no_such_grad`, `no_such_update_`"):
        paddle.load(str(path))


@pytest.mark.parametrize(
    "name, relu, other, message",
    [
        ("pir_cnn", b'"1.relu"', b'"1.tanh"', "`relu_grad` belongs to no operator `relu` before it"),
        ("pd26_cnn", b"\x1a\x04relu", b"\x1a\x04tanh", "`relu_grad` belongs to no operator `relu` before it"),
    ],
)
def test_a_gradient_of_an_operator_that_is_not_there_is_refused(name, relu, other, message, tmp_path):
    path, data = tmp_path / program_file(name).name, program_file(name).read_bytes()
    assert data.count(relu) == 1
    path.write_bytes(data.replace(relu, other))
    with pytest.raises(ArtifactError, match=message):
        paddle.load(str(path))


# -- state ---------------------------------------------------------------------------------------------------------
def test_weights_are_loaded_by_name():
    older = paddle.load(str(MODELS / "pd26_lstm" / "inference"))
    assert older and {n: t.shape for n, t in older.items()} == {
        n: t.shape for n, t in paddle.load(str(MODELS / "pd26_lstm" / "inference.pdiparams")).items()
    }
    newer = paddle.load(str(MODELS / "pir_dict_io" / "inference.pdiparams"), return_numpy=True)
    assert len(newer) == 4 and all(isinstance(a, np.ndarray) for a in newer.values())


def test_weights_without_their_program_have_no_names(tmp_path):
    shutil.copy(MODELS / "pir_dict_io" / "inference.pdiparams", tmp_path)
    with pytest.raises(ValueError, match=r"holds 4 tensors without names.*inference\.pdmodel, which is not there"):
        paddle.load(str(tmp_path / "inference.pdiparams"))


@pytest.mark.parametrize("file", [None, "all"])
def test_variables_have_files_of_their_own_or_one(file, tmp_path):
    name = "pd26_cnn"
    program, folder = loaded(name), str(tmp_path / "vars")
    losses(program, name, 2)
    static.save_vars(None, folder, program, filename=file)
    expected = losses(program, name, 2)
    static.load_vars(None, folder, program, filename=file)
    assert losses(program, name, 2) == expected
    path = folder if file is None else f"{folder}/{file}"
    every = list(program.state_dict())
    held = static.load_program_state(path, every)
    assert held.keys() == set(every)
    if file is None:
        assert static.load_program_state(path).keys() == set(every)
    else:
        with pytest.raises(ValueError, match="say in var_list"):
            static.load_program_state(path)


def test_some_variables_alone(tmp_path):
    program = loaded("pd26_cnn")
    some = [p for p in program.all_parameters() if p.name.startswith("linear")]
    static.save_vars(None, str(tmp_path), program, vars=some)
    assert {p.name for p in tmp_path.iterdir()} == {p.name for p in some}
    static.load_vars(
        None, str(tmp_path), program, predicate=lambda v: v.name.startswith("linear") and "velocity" not in v.name
    )
    with pytest.raises(ValueError, match="'none' is no state of the program"):
        static.load_vars(None, str(tmp_path), program, vars=["none"])
    with pytest.raises(ArtifactError, match="outside of the folder"):
        static.load_program_state(str(tmp_path), ["../other"])
    with pytest.raises(ArtifactError, match="has 2 variables; 1 are expected"):
        data = b"".join((tmp_path / p.name).read_bytes() for p in some)
        (tmp_path / "both").write_bytes(data)
        static.load_program_state(str(tmp_path / "both"), ["linear_0.w_0"])


@pytest.mark.parametrize("file", [None, "all"])
def test_persistables_of_a_program(file, tmp_path):
    program, folder = loaded("pd26_cnn"), str(tmp_path)
    losses(program, "pd26_cnn", 2)
    paddle.distributed.io.save_persistables(None, folder, program, file)
    expected = losses(program, "pd26_cnn", 2)
    paddle.distributed.io.load_persistables(None, folder, program, file)
    assert losses(program, "pd26_cnn", 2) == expected
    assert all(map(paddle.distributed.io.is_persistable, program.all_parameters()))


def test_a_state_that_is_no_dict_is_refused(tmp_path):
    paddle.save([1, 2], str(tmp_path / "m.pdparams"))
    with pytest.raises(ValueError, match="m.pdparams' holds no dict of arrays by name"):
        static.load_program_state(str(tmp_path / "m"))


def test_errors_name_the_file_and_the_operator(tmp_path):
    path = tmp_path / "m.json"
    path.write_text(program_file("pir_cnn").read_text().replace('"N":"momentum"', '"M":"momentum"', 1))
    with pytest.raises(ArtifactError, match=r"m\.json: .*operator \d+ \(`1\.batch_norm_`\) is damaged: KeyError: 'N'"):
        paddle.load(str(path))
