"""jit.save and jit.load: round trips, fresh processes, fine-tuning, damaged files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import jax
import numpy as np
import pytest
from paddle_lite_py.jit import ArtifactError, InputSpec
from safetensors.numpy import load_file

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.ir import serialize

SPEC = [InputSpec([None, 3], "float32", "x")]


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4), nn.ReLU(), nn.Dropout(0.5))
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        y = self.head(self.body(x))
        if y.sum() > 0:
            y = y * 2.0
        return y


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    paddle.seed(0)
    net = Net()
    prefix = str(tmp_path_factory.mktemp("model") / "net")
    paddle.jit.save(net, prefix, input_spec=SPEC)
    net.eval()
    return net, prefix


def images(n=5):
    return paddle.to_tensor(np.random.RandomState(n).randn(n, 3).astype("float32"))


def copied(prefix, folder):
    copytree(Path(prefix).parent, folder, dirs_exist_ok=True)
    return folder / "net", folder / "net.json"


def test_round_trip_with_any_batch(saved):
    net, prefix = saved
    loaded = paddle.jit.load(prefix)
    for n in (1, 2, 7):
        np.testing.assert_allclose(loaded(images(n)).numpy(), net(images(n)).numpy(), rtol=1e-5, atol=1e-6)


def test_saving_leaves_the_mode_alone(tmp_path):
    net = Net()
    net.train()
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=SPEC)
    assert net.training and net.body[3].training


def test_a_fresh_process_needs_none_of_the_code(saved, tmp_path):
    net, prefix = saved
    x = images()
    np.save(tmp_path / "x.npy", x.numpy())
    code = (
        "import sys, numpy as np, paddle_lite_py as paddle\n"
        "net = paddle.jit.load(sys.argv[1])\n"
        "np.save(sys.argv[3], net(paddle.to_tensor(np.load(sys.argv[2]))).numpy())"
    )
    subprocess.run([sys.executable, "-c", code, prefix, tmp_path / "x.npy", tmp_path / "y.npy"], check=True)
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), net(x).numpy(), rtol=1e-5, atol=1e-6)


def test_a_loaded_program_can_be_looked_into(saved):
    net, prefix = saved
    with paddle.utils.unique_name.guard():  # names are given once
        loaded = paddle.jit.load(prefix)
    assert "linear(" in str(loaded.program()) and [s.name for s in loaded.inputs] == ["x"]
    names = {p.name for p in loaded.parameters()}
    assert names == {n for n, _ in net.named_parameters()}


def test_weights_are_plain_safetensors(saved):
    net, prefix = saved
    (path,) = Path(prefix).parent.glob("net.*.safetensors")
    weights = load_file(path)
    np.testing.assert_array_equal(weights["head.weight"], net.head.weight.numpy())


def test_fine_tuning_moves_as_the_original_does(saved):
    net, prefix = saved
    loaded = paddle.jit.load(prefix)
    twin = Net()
    twin.set_state_dict(net.state_dict())
    twin.eval()
    losses = []
    for model in (loaded, twin):
        opt = paddle.optimizer.SGD(0.1, parameters=model.parameters())
        run = []
        for n in (4, 4, 4):
            loss = (model(images(n)) ** 2).mean()
            loss.backward()
            opt.step()
            opt.clear_grad()
            run.append(loss.item())
        losses.append(run)
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)
    assert losses[0][2] < losses[0][0]


def test_a_loaded_program_inside_a_static_function_and_saved_again(saved, tmp_path):
    net, prefix = saved
    loaded = paddle.jit.load(prefix)
    f = paddle.jit.to_static(lambda x: loaded(x) + 1.0)
    np.testing.assert_allclose(f(images()).numpy(), net(images()).numpy() + 1.0, rtol=1e-5, atol=1e-6)
    with paddle.no_grad():
        loaded.parameters()[0].set_value(loaded.parameters()[0].numpy() * 0.0)
    paddle.jit.save(loaded, str(tmp_path / "again"))
    again = paddle.jit.load(str(tmp_path / "again"))
    np.testing.assert_allclose(again(images()).numpy(), loaded(images()).numpy())


def test_functions_and_nested_results(tmp_path):
    @paddle.jit.to_static(input_spec=[InputSpec([None], "float32"), InputSpec([None], "float32")])
    def f(a, b):
        return {"sum": a + b, "pair": (a * b, [a.max()])}

    paddle.jit.save(f, str(tmp_path / "f"))
    out = paddle.jit.load(str(tmp_path / "f"))(paddle.ones([3]), paddle.ones([3]))
    assert list(out) == ["sum", "pair"] and out["sum"].tolist() == [2.0] * 3 and out["pair"][1][0].item() == 1.0


def test_state_of_a_function_lives_on_in_the_loaded_program(tmp_path):
    count = paddle.zeros([1])

    def f(x):
        count.add_(paddle.ones([1]))
        return x + count

    paddle.jit.save(f, str(tmp_path / "f"), input_spec=[InputSpec([1], "float32")])
    loaded = paddle.jit.load(str(tmp_path / "f"))
    assert [loaded(paddle.zeros([1])).item() for _ in range(3)] == [1.0, 2.0, 3.0] and count.item() == 0.0


def test_checks_are_raised_by_the_loaded_program(tmp_path):
    def f(x):
        assert x.sum() > 0, "must be positive"
        return x

    paddle.jit.save(f, str(tmp_path / "f"), input_spec=[InputSpec([None], "float32")])
    loaded = paddle.jit.load(str(tmp_path / "f"))
    assert loaded(paddle.ones([2])).tolist() == [1.0, 1.0]
    with pytest.raises(AssertionError, match="must be positive"):
        loaded(-paddle.ones([2]))


def test_wrong_arguments_are_named(saved):
    loaded = paddle.jit.load(saved[1])
    with pytest.raises(ValueError, match=r"argument `x` is float32\[2, 4\]"):
        loaded(paddle.ones([2, 4]))
    with pytest.raises(ValueError, match=r"argument `x` is int64\[2, 3\]"):
        loaded(paddle.ones([2, 3], "int64"))
    with pytest.raises(TypeError, match=r"takes 1 arguments \(x\), got 2"):
        loaded(images(), images())


def test_unknown_arguments_are_asked_for():
    with pytest.raises(ValueError, match="input_spec"):
        paddle.jit.save(Net(), "never-written")


def test_a_training_step_is_not_saved(tmp_path):
    net = nn.Linear(3, 1)
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())

    def step(x):
        with paddle.enable_grad():
            net(x).sum().backward()
        opt.step()
        opt.clear_grad()

    with pytest.raises(ValueError, match="jit.save of `step`"):
        paddle.jit.save(step, str(tmp_path / "step"), input_spec=SPEC)
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_cannot_be_written_leaves_the_old_files_whole(saved, tmp_path):
    _, manifest = copied(saved[1], tmp_path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    blocked = tmp_path / "net.json" / "inner"  # a file stands where a folder is needed
    with pytest.raises(OSError):
        paddle.jit.save(saved[0], str(blocked), input_spec=SPEC)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_saving_again_replaces_and_cleans_up(saved, tmp_path):
    net = Net()
    prefix = str(tmp_path / "net")
    paddle.jit.save(net, prefix, input_spec=SPEC)
    net.head.bias.set_value(np.ones(2, "float32"))
    paddle.jit.save(net, prefix, input_spec=SPEC)
    assert len(list(tmp_path.iterdir())) == 4
    net.eval()
    np.testing.assert_allclose(paddle.jit.load(prefix)(images()).numpy(), net(images()).numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("suffix", ["json", "safetensors", "eval.stablehlo"])
def test_truncated_files_are_refused(saved, tmp_path, suffix, share):
    prefix, _ = copied(saved[1], tmp_path)
    (path,) = tmp_path.glob(f"*.{suffix}")
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ArtifactError):
        paddle.jit.load(str(prefix))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(version=99), "format version 99"),
        (lambda m: m.update(format="other"), "not a program saved by"),
        (lambda m: m["files"]["forward.eval.stablehlo"].update(name="../../etc/passwd"), "outside of its folder"),
        (lambda m: m["files"]["forward.eval.stablehlo"].update(size=1 << 60), "truncated or foreign"),
        (lambda m: m["files"].pop("safetensors"), "damaged"),
        (lambda m: m.pop("methods"), "damaged"),
        (lambda m: m["weights"][0].update(name="nope"), "is not in the safetensors"),
        (lambda m: m["methods"]["forward"]["eval"].update(result={"call": "os.system"}), "damaged"),
    ],
)
def test_foreign_and_newer_files_are_refused(saved, tmp_path, change, message):
    prefix, manifest = copied(saved[1], tmp_path)
    data = json.loads(manifest.read_text())
    change(data)
    manifest.write_text(json.dumps(data))
    with pytest.raises(ArtifactError, match=message):
        paddle.jit.load(str(prefix))


def test_missing_files_are_named(saved, tmp_path):
    with pytest.raises(ArtifactError, match="no saved program at"):
        paddle.jit.load(str(tmp_path / "nothing"))
    prefix, _ = copied(saved[1], tmp_path)
    (path,) = tmp_path.glob("*.safetensors")
    path.unlink()
    with pytest.raises(ArtifactError, match="is missing"):
        paddle.jit.load(str(prefix))


class Observed(nn.Layer):
    """Its buffer is only overwritten, and never read."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.register_buffer("largest", paddle.zeros([1]))

    def forward(self, x):
        with paddle.no_grad():
            self.largest.set_value(x.abs().max().reshape([1]))
        return self.fc(x)


def test_a_buffer_that_is_never_read_is_saved(tmp_path):
    net, x = Observed(), paddle.to_tensor([[3.0, -7.0]])
    paddle.jit.save(net, str(tmp_path / "m"), input_spec=[paddle.static.InputSpec([None, 2], "float32")])
    loaded = paddle.jit.load(str(tmp_path / "m"))
    np.testing.assert_allclose(loaded(x).numpy(), net(x).numpy())
    assert loaded.state_dict()["largest"].tolist() == [7.0]


class _Decoder(paddle.nn.Layer):
    """In training it reads labels; in evaluation it has none."""

    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(4, 3)

    def forward(self, x, labels=None):
        y = self.fc(x)
        return y * labels[0] if self.training else y


def test_a_layer_whose_training_needs_labels_is_saved_for_evaluation(tmp_path):
    net, path, spec = _Decoder(), str(tmp_path / "net"), [paddle.static.InputSpec([None, 4])]
    with pytest.raises(TypeError, match="NoneType"):
        paddle.jit.save(net, path, input_spec=spec)
    net.eval()
    with pytest.warns(UserWarning, match="`forward` in evaluation mode only: in training mode it raises TypeError"):
        paddle.jit.save(net, path, input_spec=spec)
    loaded = paddle.jit.load(path)
    x = paddle.ones([2, 4])
    np.testing.assert_allclose(loaded(x).numpy(), net(x).numpy(), rtol=1e-6)
    paddle.jit.save(loaded, str(tmp_path / "again"))
    for layer in (loaded, paddle.jit.load(str(tmp_path / "again"))):
        layer.train()
        with pytest.raises(RuntimeError, match="saved in evaluation mode only"):
            layer(x)
        layer.eval()
        layer(x)
    with_labels = [*spec, paddle.static.InputSpec([None, 3])]
    paddle.jit.save(net, path, input_spec=with_labels)
    labels = paddle.full([2, 3], 2.0)
    trained = paddle.jit.load(path).train()(x, labels)
    np.testing.assert_allclose(trained.numpy(), 2 * net(x).numpy(), rtol=1e-6)


def test_a_program_that_is_saved_again_is_not_exported_again(tmp_path, monkeypatch):
    exported, export = [], serialize.export_program
    monkeypatch.setattr(serialize, "export_program", lambda *args: exported.append(args[2]) or export(*args))
    net = nn.Sequential(nn.Linear(3, 5), nn.Dropout(0.5))

    def saved(**options):
        exported.clear()
        paddle.jit.save(net, str(tmp_path / "net"), [InputSpec([None, 3])], **options)
        files = {f.name.split(".", 2)[2]: f.read_bytes() for f in tmp_path.glob("net.*.stablehlo")}
        return len(exported), files

    count, files = saved()
    assert count == len(files) == 2
    net[0].weight.set_value(net[0].weight + 1)
    assert saved() == (0, files)
    np.testing.assert_array_equal(
        paddle.jit.load(str(tmp_path / "net"))(paddle.ones([1, 3])).numpy(), net.eval()(paddle.ones([1, 3])).numpy()
    )
    net.train()
    net[1].p = 0.25
    assert saved()[0] == 1  # of training
    assert saved(platforms=["cpu"])[0] == 2
    with jax.default_matmul_precision("highest"):
        assert saved(platforms=["cpu"])[0] == 2
    assert saved(platforms=["cpu"])[0] == 0


@pytest.mark.parametrize("form", ["artifact", "paddle"])
def test_a_program_may_replace_the_bool_of_numpy(tmp_path, monkeypatch, form):
    class Signs(paddle.nn.Layer):
        def forward(self, x):
            mask = x > 0
            return paddle.where(mask, x, x - 1) if mask.any() else x, mask

    x, path = paddle.to_tensor([[1.0, -1.0]]), str(tmp_path / "net")
    spec = [paddle.static.InputSpec([None, 2], "float32")]
    with monkeypatch.context() as patched:
        patched.setattr(np, "bool", bool)  # as packages do; NumPy names its own dtype `bool8` then
        paddle.jit.save(Signs(), path, input_spec=spec, format=form)
    found, mask = paddle.jit.load(path)(x)
    assert (found.tolist(), mask.tolist(), mask.dtype) == ([[1.0, -2.0]], [[True, False]], "bool")
