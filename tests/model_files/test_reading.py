"""Model files of the reference: programs that PaddlePaddle saved, with the results that it gave."""

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from paddle_lite_py.jit import ArtifactError

import paddle_lite_py as paddle
from paddle_lite_py.inference import Config, create_predictor
from paddle_lite_py.model_files import legacy, weights
from paddle_lite_py.model_files.building import CONTROL
from paddle_lite_py.model_files.operators.table import OPERATORS
from paddle_lite_py.model_files.program_desc import read_program
from paddle_lite_py.serving.models import load_model

MODELS = Path(__file__).parents[1] / "golden" / "models"
NAMES = sorted(p.name for p in MODELS.iterdir())


def program_of(folder):
    return next(p for p in folder.iterdir() if p.suffix in (".json", ".pdmodel"))


def loaded(name):
    return paddle.jit.load(str(MODELS / name / "inference"))


def inputs(name, layer):
    given = recorded(name, "inputs")
    return [given.get(s.name, list(given.values())[i]) for i, s in enumerate(layer.inputs)]


def recorded(name, kind):
    with np.load(MODELS / name / f"{kind}.npz") as file:
        return dict(file)


def test_a_file_for_each_weight(tmp_path):
    folder = MODELS / "pd26_lstm"
    names = sorted(w.name for w in read_program(folder / "inference.pdmodel").weights if w.is_stored)
    for name, array in zip(names, weights.read_weights(folder / "inference.pdiparams"), strict=True):
        (tmp_path / name).write_bytes(weights.record(array))
    shutil.copy(folder / "inference.pdmodel", tmp_path / "__model__")
    predictor = create_predictor(Config(str(tmp_path)))
    assert_recorded("pd26_lstm", predictor.run(list(recorded("pd26_lstm", "inputs").values())))
    (tmp_path / names[1]).unlink()
    with pytest.raises(ArtifactError, match=f"__params__ is missing, and so is .*{names[1]}: the program has"):
        create_predictor(Config(str(tmp_path)))


@pytest.mark.parametrize("name", ["pd26_lstm", "pir_det_yolo"])
def test_the_server_takes_them(name):
    model = load_model(str(MODELS / name))
    given = dict(zip([s.name for s in model.inputs], inputs(name, model), strict=True))
    found = model.run(given)
    assert list(found) == create_predictor(Config(str(MODELS / name))).get_output_names()
    assert_recorded(name, list(found.values()))


def assert_recorded(name, found):
    expected = recorded(name, "outputs")
    assert len(found) == len(expected)
    for tensor, (key, wanted) in zip(found, expected.items(), strict=True):
        array = np.asarray(tensor)
        assert (array.shape, array.dtype) == (wanted.shape, wanted.dtype), key
        if wanted.dtype.kind in "fc":
            scale = max(1.0, np.abs(wanted).max(initial=0.0))
            np.testing.assert_allclose(array / scale, wanted / scale, atol=1e-5, err_msg=key)
        else:
            np.testing.assert_array_equal(array, wanted, err_msg=key)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_model_gives_what_was_recorded(name):
    layer = loaded(name)
    with paddle.no_grad():
        found = layer(*map(paddle.to_tensor, inputs(name, layer)))
    assert_recorded(name, list(found) if isinstance(found, list | tuple) else [found])


def test_a_predictor_takes_a_folder_or_two_files(tmp_path):
    name = "pir_bf16_net"
    program, weights = MODELS / name / "inference.json", tmp_path / "other.pdiparams"
    shutil.copy(MODELS / name / "inference.pdiparams", weights)
    for files in ((str(MODELS / name),), (str(program), str(weights))):
        predictor = paddle.inference.create_predictor(paddle.inference.Config(*files))
        assert predictor.get_input_names() == ["x"]
        assert_recorded(name, predictor.run(inputs(name, loaded(name))))


def test_a_predictor_folds_what_lies_behind_windows_of_unknown_sizes(tmp_path):
    net = paddle.nn.Sequential(
        *[m for s in (2, 1, 2) for m in (paddle.nn.Conv2D(2, 2, 3, s), paddle.nn.BatchNorm2D(2))]
    )
    net.eval()
    spec = paddle.static.InputSpec([None, 2, None, None], "float32", "x")
    paddle.jit.save(net, str(tmp_path / "inference"), input_spec=[spec], format="paddle")
    predictor = create_predictor(Config(str(tmp_path)))
    for shape in ([1, 2, 21, 17], [2, 2, 30, 31]):
        x = paddle.rand(shape)
        np.testing.assert_allclose(predictor.run([x])[0].numpy(), net(x).numpy(), atol=1e-5)


def test_a_model_is_a_program_of_static_mode_too():
    name = "pir_dict_io"
    paddle.enable_static()
    with paddle.static.scope_guard(paddle.static.Scope()):
        exe = paddle.static.Executor()
        program, feeds, fetches = paddle.static.load_inference_model(str(MODELS / name / "inference"), exe)
        given = recorded(name, "inputs")
        assert_recorded(name, exe.run(program, feed={n: given[n] for n in feeds}, fetch_list=fetches))


def test_a_model_is_trained_further_and_saved_as_ours(tmp_path):
    name = "pir_dict_io"
    layer = loaded(name)
    given = [paddle.to_tensor(a) for a in inputs(name, layer)]
    optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
    assert len(layer.parameters()) == 2  # and two buffers
    before = [p.numpy() for p in layer.parameters()]
    sum(out.square().sum() for out in layer(*given)).backward()
    optimizer.step()
    assert all(not np.allclose(p.numpy(), b) for p, b in zip(layer.parameters(), before, strict=True))
    paddle.jit.save(layer, str(tmp_path / "ours"))
    again = paddle.jit.load(str(tmp_path / "ours"))
    for a, b in zip(again(*given), layer(*given), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


def test_other_sizes_than_the_recorded_ones_are_served():
    layer = loaded("pd26_lstm")
    shape = [3 if n in (None, -1) else n for n in layer.inputs[0].shape]
    found = layer(paddle.ones(shape))
    assert (found[0] if isinstance(found, tuple | list) else found).shape[0] == 3


def test_every_row_of_the_earlier_generations_leads_to_an_operator():
    missing = {name: row.op for name, row in legacy.ROWS.items() if row.op not in OPERATORS and row.op not in CONTROL}
    assert not missing


@pytest.mark.parametrize("name", ["pd26_lstm", "pd26_qat", "pir_det_yolo", "pir_greedy_decode"])
def test_a_model_is_written_as_a_model_file_again(name, tmp_path):
    layer = loaded(name)
    paddle.jit.save(layer, str(tmp_path / "again"), format="paddle")
    again = paddle.jit.load(str(tmp_path / "again"))
    assert [s.name for s in again.inputs] == [s.name for s in layer.inputs]
    with paddle.no_grad():
        found = again(*map(paddle.to_tensor, inputs(name, layer)))
    assert_recorded(name, list(found) if isinstance(found, list | tuple) else [found])


# -- bad input -----------------------------------------------------------------------------------------------------
def copied(name, tmp_path):
    folder = tmp_path / name
    shutil.copytree(MODELS / name, folder)
    return folder


def test_operators_that_are_not_known_are_named_with_their_layers(tmp_path):
    folder = copied("pir_dict_io", tmp_path)
    path = folder / "inference.json"
    text = path.read_text()
    assert '"1.matmul"' in text and '"1.add"' in text
    path.write_text(text.replace('"1.matmul"', '"1.no_such_product"').replace('"1.add"', '"1.no_such_sum"'))
    with pytest.raises(ArtifactError, match=r"`no_such_sum`, `no_such_product` \(layer Linear\)"):
        paddle.jit.load(str(folder / "inference"))


def test_weights_that_are_missing_or_others_are_named(tmp_path):
    folder = copied("pir_dict_io", tmp_path)
    (folder / "inference.pdiparams").unlink()
    with pytest.raises(ArtifactError, match=r"inference\.pdiparams is missing: the program has 4 weights"):
        paddle.jit.load(str(folder / "inference"))
    shutil.copy(MODELS / "pir_det_ssd" / "inference.pdiparams", folder)
    with pytest.raises(ArtifactError, match=r"inference\.pdiparams has 2 tensors, and the program 4 weights"):
        paddle.jit.load(str(folder / "inference"))


def test_a_result_that_nothing_makes_is_an_error(tmp_path):
    path = copied("pir_dict_io", tmp_path) / "inference.json"
    data = json.loads(path.read_text())
    fetch = next(op for op in data["program"]["regions"][0]["blocks"][0]["ops"] if op["#"] == "1.fetch")
    fetch["I"] = [{"%": 9999}]
    path.write_text(json.dumps(data))
    with pytest.raises(ArtifactError, match="value 9999 is read before anything has made it"):
        paddle.jit.load(str(path.with_suffix("")))


def test_a_size_beyond_all_memory_is_an_error(tmp_path):
    path = copied("pir_dict_io", tmp_path) / "inference.pdiparams"
    data = bytearray(path.read_bytes())
    data[4:20] = (1).to_bytes(8, "little") + b"\xff" * 8  # one level, of so many bytes
    path.write_bytes(data)
    with pytest.raises(ArtifactError, match="inference.pdiparams is damaged at byte 0"):
        paddle.jit.load(str(path.with_suffix("")))


@pytest.mark.parametrize("name", ["pir_dict_io", "pd26_lstm"])
@pytest.mark.parametrize("ending", ["program", ".pdiparams"])
@pytest.mark.filterwarnings("ignore")
def test_damaged_files_end_in_an_error_that_names_them(name, ending, tmp_path):
    folder = copied(name, tmp_path)
    path = program_of(folder) if ending == "program" else folder / "inference.pdiparams"
    whole, draw, refused = path.read_bytes(), random.Random(0), 0
    for i in range(40):
        data = bytearray(whole)
        if i % 3:
            for _ in range(1 + i % 5):
                data[draw.randrange(len(data))] = draw.randrange(256)
        else:
            del data[draw.randrange(len(data)) :]
        path.write_bytes(data)
        try:
            paddle.jit.load(str(folder / "inference"))
        except ArtifactError:
            refused += 1
    assert refused >= 13  # all that are cut short


def test_an_earlier_operator_is_not_taken_for_one_of_today_of_that_name(tmp_path):
    folder = copied("pd26_lstm", tmp_path)
    path = folder / "inference.pdmodel"
    data = path.read_bytes()
    assert b"\x1a\x06matmul" not in data and b"\x1a\x09matmul_v2" in data
    path.write_bytes(data.replace(b"\x1a\x09matmul_v2", b"\x1a\x09reduce_as"))
    with pytest.raises(ArtifactError, match=r"not known here: `fluid.reduce_as`"):
        paddle.jit.load(str(folder / "inference"))
