"""Programs as model files of PaddlePaddle: read back here, and compared with what PaddlePaddle has made of them."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from paddle_lite_py.jit import ArtifactError

import paddle_lite_py as paddle
import written_cases as written
from nn_ops_table import ROWS as OF_LAYERS
from ops_table import ROWS
from paddle_lite_py import nn
from paddle_lite_py.convert.command import main
from paddle_lite_py.inference import Config, create_predictor
from paddle_lite_py.model_files.building import refuse_unknown
from paddle_lite_py.model_files.pir import read_pir

S = paddle.static.InputSpec
RECORDED = json.loads((Path(__file__).parents[1] / "golden" / "written.json").read_text())
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.parametrize("name", written.CASES)
def test_what_is_read_back_gives_what_was_written(name, tmp_path):
    case, expected = written.save(name, tmp_path / name)
    layer = paddle.jit.load(str(tmp_path / name / "inference"))
    with paddle.no_grad():
        found = written.leaves(layer(*map(paddle.to_tensor, case.arrays)))
    assert len(found) == len(expected)
    tolerance = written.TOLERANCES.get(name, written.TOLERANCE)
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    for k, (array, figures) in enumerate(zip(expected, RECORDED[name], strict=True)):
        np.testing.assert_allclose(
            written.figures(array), figures, rtol=tolerance, atol=tolerance, err_msg=f"result {k}"
        )


def operators(path):
    return json.loads(path.read_text())["program"]["regions"][0]["blocks"][0]["ops"]


class Rows(nn.Layer):
    """Rows of a table, chosen by those of a buffer, one after another."""

    def __init__(self, places):
        super().__init__()
        self.table = self.create_parameter([4, 3])
        self.register_buffer("places", paddle.to_tensor(places))

    def forward(self, x):
        return x + sum(paddle.gather(self.table, row).sum(0) for row in self.places)


@pytest.mark.parametrize(("places", "wrapped"), [([[0, 3], [1, 1], [2, 0]], 0), ([[0, -1], [1, 1], [2, 0]], 3)])
def test_constants_are_written_once_and_only_places_that_may_be_from_the_end_are_looked_at(tmp_path, places, wrapped):
    net, x = Rows(places).eval(), paddle.ones([2, 3])
    paddle.jit.save(net, str(tmp_path / "net"), [S([2, 3])], format="paddle")
    written = operators(tmp_path / "net.json")
    assert [op["#"] for op in written].count("1.less_than") == wrapped
    constants = [json.dumps(op["A"]) for op in written if op["#"] in ("1.full_int_array", "1.full")]
    assert len(constants) == len(set(constants))
    np.testing.assert_allclose(paddle.jit.load(str(tmp_path / "net"))(x).numpy(), net(x).numpy(), rtol=1e-6)


def test_weights_have_their_names_and_say_whether_they_train(tmp_path):
    with paddle.utils.unique_name.guard():  # nothing else has been loaded under these names
        assert_names_are_kept(tmp_path)


def assert_names_are_kept(tmp_path):
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1D(2)).eval()
    net[0].bias.stop_gradient = True
    paddle.jit.save(net, str(tmp_path / "net"), [S([None, 2], name="x")], format="paddle")
    held = {op["A"][3]: op["OA"] for op in operators(tmp_path / "net.json") if op["#"] == "p"}
    assert held == {
        p.name: [1, int(p.stop_gradient), int(not p.stop_gradient)] for p in [*net.parameters(), *net.buffers()]
    }
    again = paddle.jit.load(str(tmp_path / "net"))
    assert {p.name for p in again.parameters()} == {p.name for p in net.parameters() if not p.stop_gradient}
    paddle.jit.save(again, str(tmp_path / "again"), format="paddle")
    assert operators(tmp_path / "again.json") == operators(tmp_path / "net.json")


EVERY = 8  # of the rows of both tables; all of them take half a minute
# Of those, what PaddlePaddle has no operators for, or this package no row.
WITHOUT_FORM = "ctc_loss gather_tree gcd local_response_norm matrix_exp max_unpool1d".split()


def test_operators_of_the_tables_are_written_with_such_as_are_read(tmp_path):
    refused = set()
    known = [r for r in [*ROWS, *OF_LAYERS] if "float32" in r.dtypes and r.inputs and not r.names]
    for row in known[::EVERY]:
        given, names = [], count()
        sizes = [len(i) if isinstance(i, list) else None for i in row.inputs]
        for i in row.sample():
            given += i if isinstance(i, list) else [i]

        def run(*arrays, f=row.function, attrs=row.attrs, sizes=sizes):
            it = iter(arrays)
            return f(*[next(it) if n is None else [next(it) for _ in range(n)] for n in sizes], **attrs)

        specs = [S(np.shape(a), np.asarray(a).dtype.name, f"a{next(names)}") for a in given]
        try:
            paddle.jit.save(run, str(tmp_path / "f"), specs, format="paddle")
        except ArtifactError:
            refused.add(row.name)
        else:
            refuse_unknown(read_pir(tmp_path / "f.json"))
    assert sorted(refused) == WITHOUT_FORM


def test_a_value_that_is_given_twice_is_two_results(tmp_path):
    paddle.jit.save(lambda x: (x * 2, x, x * 2, x), str(tmp_path / "f"), [S([2], name="x")], format="paddle")
    fetched = [op["I"][0]["%"] for op in operators(tmp_path / "f.json") if op["#"] == "1.fetch"]
    assert len(set(fetched)) == 4 and not (tmp_path / "f.pdiparams").exists()
    assert [t.tolist() for t in paddle.jit.load(str(tmp_path / "f"))(paddle.to_tensor([1.0, 2.0]))] == [
        [2.0, 4.0], [1.0, 2.0], [2.0, 4.0], [1.0, 2.0]
    ]  # fmt: skip


class Two(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    @paddle.jit.to_static(input_spec=[S([None, 2], name="x")])
    def forward(self, x):
        return self.fc(x)

    @paddle.jit.to_static(input_spec=[S([None, 2], name="x")])
    def twice(self, x):
        return self.fc(x) * 2


def test_each_method_has_a_file_and_they_share_their_weights(tmp_path):
    net, x = Two(), paddle.ones([3, 2])
    paddle.jit.save(net, str(tmp_path / "net"), format="paddle")
    assert {p.name for p in tmp_path.iterdir()} == {
        f"net{m}.{e}" for m in ("", ".twice") for e in ("json", "pdiparams")
    }
    again = paddle.jit.load(str(tmp_path / "net"))
    assert len(again.parameters()) == 2
    np.testing.assert_allclose(again.twice(x).numpy(), 2 * net(x).numpy(), rtol=1e-6)


def test_what_has_no_form_is_named_all_at_once_with_its_line_and_old_files_stay(tmp_path):
    path = str(tmp_path / "f")
    spec = [S([2], "int32", "x")]
    paddle.jit.save(lambda x: x + 1, path, spec, format="paddle")
    before = (tmp_path / "f.json").read_bytes()

    def run(x):
        y = x << 2
        return y, paddle.gcd(x, x)

    line = run.__code__.co_firstlineno + 1
    with pytest.raises(
        ArtifactError, match=rf"`bitwise_left_shift` at test_writing.py:{line}.*\n *`gcd` at .*:{line + 1}"
    ):
        paddle.jit.save(run, path, spec, format="paddle")
    assert (tmp_path / "f.json").read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["f.json"]


def test_what_changes_state_or_draws_is_refused(tmp_path):
    class Counting(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("n", paddle.zeros([1]))

        def forward(self, x):
            self.n.add_(paddle.ones([1]))
            return x + self.n

    with pytest.raises(ArtifactError, match="method forward changes state"):
        paddle.jit.save(Counting(), str(tmp_path / "f"), [S([1])], format="paddle")
    with pytest.raises(ArtifactError, match="method forward draws random numbers"):
        paddle.jit.save(lambda x: nn.functional.dropout(x), str(tmp_path / "f"), [S([1])], format="paddle")


def test_a_format_that_is_not_known_is_an_error_with_those_that_are(tmp_path):
    with pytest.raises(ValueError, match="format is 'onnx'; expected one of 'artifact', 'paddle'"):
        paddle.jit.save(nn.Linear(2, 2), str(tmp_path / "f"), [S([None, 2])], format="onnx")
    with pytest.raises(ValueError, match="samples are kept in artefacts alone"):
        paddle.jit.save(nn.Linear(2, 2), str(tmp_path / "f"), [S([1, 2])], [paddle.ones([1, 2])], format="paddle")


def test_a_saved_program_is_converted_and_takes_the_place_of_none(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    paddle.jit.save(nn.Linear(3, 2), "net", [S([None, 3], name="x")])
    main(["net", "--to", "paddle"])
    assert "net.paddle.json" in capsys.readouterr().out
    x = paddle.ones([2, 3])
    np.testing.assert_allclose(paddle.jit.load("net.paddle")(x).numpy(), paddle.jit.load("net")(x).numpy(), rtol=1e-6)
    paddle.jit.save(paddle.jit.load("net"), "net", format="paddle")  # the data files of what was there go
    assert {p.name for p in tmp_path.iterdir()} == {
        f"net{m}.{e}" for m in ("", ".paddle") for e in ("json", "pdiparams")
    }


def test_programs_of_static_mode_are_written(tmp_path):
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        x = paddle.static.data("x", [None, 2])
        y = paddle.static.nn.fc(x, 3)
        exe = paddle.static.Executor()
        exe.run(paddle.static.default_startup_program())
        path, feed = str(tmp_path / "net"), {"x": np.ones((2, 2), "float32")}
        paddle.static.save_inference_model(path, [x], [y], exe, format="paddle")
        wanted = exe.run(feed=feed, fetch_list=[y])
        program, feeds, fetches = paddle.static.load_inference_model(path, exe)
        assert feeds == ["x"]
        np.testing.assert_allclose(exe.run(program, feed=feed, fetch_list=fetches)[0], wanted[0], rtol=1e-6)


class Pyramid(nn.Layer):
    """Sizes that can be added for some sizes of the picture, and not for all."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 1, 3, stride=2, padding=1)

    def forward(self, x):
        fine = self.conv(x)
        return fine + nn.functional.interpolate(nn.functional.max_pool2d(fine, 2), scale_factor=2)


@pytest.mark.parametrize("format", ["artifact", "paddle"])
def test_a_program_for_some_sizes_is_loaded_in_static_mode(tmp_path, format):
    net, x = Pyramid(), np.ones((1, 1, 8, 8), "float32")
    paddle.jit.save(net, str(tmp_path / "net"), [S([None, 1, None, None], name="x")], format=format)
    wanted = net(paddle.to_tensor(x)).numpy()
    paddle.enable_static()
    exe = paddle.static.Executor()
    program, _, fetches = paddle.static.load_inference_model(str(tmp_path / "net"), exe)
    np.testing.assert_allclose(exe.run(program, feed={"x": x}, fetch_list=fetches)[0], wanted, rtol=1e-6)


class Best(nn.Layer):
    """The best of those that count, in order: all of them where they are few."""

    def forward(self, x):
        found = paddle.gather(x, paddle.nonzero(x > 0).squeeze(1))
        if paddle.shape(found)[0] > 300:
            best = paddle.topk(found, 300)[1] - paddle.shape(found)[0]
        else:
            best = paddle.argsort(found, descending=True)
        return best


def test_a_branch_needs_more_elements_than_are_tried(tmp_path):
    paddle.jit.save(Best(), str(tmp_path / "net"), [S([None], name="x")], format="paddle")
    predictor = create_predictor(Config(str(tmp_path / "net.json"), str(tmp_path / "net.pdiparams")))
    for n in (4, 400):
        x = paddle.arange(1, n + 1).astype("float32")
        np.testing.assert_array_equal(predictor.run([x])[0], Best()(x))
