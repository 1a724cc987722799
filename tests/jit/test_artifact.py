"""Saved programs: several methods, both modes, constraints, samples, old formats, hostile files, killed saves."""

from __future__ import annotations

import json
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from paddle_lite_py.jit import ArtifactError, InputSpec, to_static
from paddle_lite_py.jit.agreement import digest_of

import house
import paddle_lite_py as paddle
from paddle_lite_py import nn

SPEC = [InputSpec([None, 3], "float32", "x")]
GOLDEN = house.ROOT / "tests" / "golden"


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4, bias_attr=False), nn.BatchNorm1D(4), nn.ReLU(), nn.Dropout(0.5))
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.body(x))

    @to_static(input_spec=SPEC)
    def encode(self, x):
        return {"code": self.body(x), "norm": x.norm()}

    @to_static
    def unknown(self, x):
        return x


def x_of(n, seed=0):
    return paddle.to_tensor(np.random.RandomState(seed).randn(n, 3).astype("float32"))


def saved_net(folder, **kwargs):
    paddle.seed(0)
    net = Net()
    with pytest.warns(UserWarning, match="leaves method `unknown` out: its arguments are not known"):
        paddle.jit.save(net, str(folder / "net"), input_spec=SPEC, **kwargs)
    return net, str(folder / "net")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return saved_net(tmp_path_factory.mktemp("model"))


# -- what is in it -------------------------------------------------------------------------------------------------
def test_several_methods_share_their_weights(saved):
    net, prefix = saved
    loaded = paddle.jit.load(prefix)
    net.eval()
    assert loaded.method_names == ["forward", "encode"]
    np.testing.assert_allclose(loaded(x_of(4)).numpy(), net(x_of(4)).numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(loaded.encode(x_of(4))["code"].numpy(), net.encode(x_of(4))["code"].numpy(), rtol=1e-5)
    assert len(loaded.parameters()) == len(net.parameters())
    loaded.parameters()[0].set_value(np.zeros((3, 4), "float32"))
    assert loaded.encode(x_of(4))["code"].abs().sum().item() == 0.0
    net.train()


def test_train_mode_fine_tunes_to_the_same_losses(saved):
    net, prefix = saved
    twin = Net()
    twin.set_state_dict(net.state_dict())
    losses = []
    for model in (paddle.jit.load(prefix), twin):
        model.train()
        opt = paddle.optimizer.Adam(0.01, parameters=model.parameters())
        paddle.seed(5)
        run = []
        for i in range(4):
            loss = (model(x_of(8, i)) ** 2).mean()
            loss.backward()
            opt.step()
            opt.clear_grad()
            run.append(loss.item())
        model.eval()
        losses.append([*run, model(x_of(8)).sum().item()])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-3)


def test_modes_are_recorded_and_survive_copies(saved, tmp_path):
    _, prefix = saved
    loaded = paddle.jit.load(prefix)
    assert loaded.saved_in == "train" and not loaded.training
    loaded.train()
    assert loaded.__deepcopy__({}).training
    assert "dropout" in str(loaded.program()) and "dropout" not in str(loaded.eval().program())
    paddle.jit.save(loaded, str(tmp_path / "again"))
    again = paddle.jit.load(str(tmp_path / "again")).train()
    paddle.seed(1)
    first = again(x_of(4)).numpy()
    paddle.seed(1)
    np.testing.assert_allclose(loaded.train()(x_of(4)).numpy(), first, rtol=1e-5)


def test_inputs_outputs_and_readable_text(saved):
    loaded = paddle.jit.load(saved[1])
    assert [s.shape for s in loaded.inputs] == [(-1, 3)] and [s.shape for s in loaded.outputs] == [(-1, 2)]
    manifest = json.loads(Path(f"{saved[1]}.json").read_text())
    ops = [op["op"] for op in manifest["methods"]["forward"]["eval"]["program"]["block"]["ops"]]
    assert "linear" in ops and manifest["version"] == 2 and manifest["weights"][0]["name"] == "body.0.weight"


def test_no_paths_of_this_machine_are_in_the_files(saved):
    for path in Path(saved[1]).parent.iterdir():
        content = path.read_bytes()
        assert str(house.ROOT).encode() not in content and os.path.dirname(__file__).encode() not in content, path


def test_prints_stay_behind(tmp_path, capfd):
    def f(x):
        print("x is", x)
        if x.sum() > 0:
            print("positive", x)
        return x * 2.0

    paddle.jit.save(f, str(tmp_path / "f"), input_spec=[InputSpec([2], "float32")])
    assert paddle.jit.load(str(tmp_path / "f"))(paddle.ones([2])).tolist() == [2.0, 2.0]
    assert "x is" not in capfd.readouterr().out


# -- constraints and samples ---------------------------------------------------------------------------------------
def test_constraints_are_checked_at_the_call(tmp_path):
    spec = [InputSpec(["batch", "seq"], "float32", "a"), InputSpec(["batch", "seq"], "float32", "b")]
    save = lambda c: paddle.jit.save(lambda a, b: a + b, str(tmp_path / "f"), input_spec=spec, constraints=c)  # noqa: E731
    save(["batch <= 4", "seq >= 2"])
    f = paddle.jit.load(str(tmp_path / "f"))
    assert f(paddle.ones([4, 2]), paddle.ones([4, 2])).shape == [4, 2]
    with pytest.raises(ValueError, match=r"saved for batch <= 4, and is called with batch = 5, seq = 3"):
        f(paddle.ones([5, 3]), paddle.ones([5, 3]))
    with pytest.raises(ValueError, match="saved for seq >= 2"):
        f(paddle.ones([3, 1]), paddle.ones([3, 1]))
    with pytest.raises(ValueError, match="dimension seq is 2 in one argument and 3 in another"):
        f(paddle.ones([3, 2]), paddle.ones([3, 3]))
    with pytest.raises(ValueError, match="constraint 'batch' is no comparison"):
        save(["batch"])


def test_samples_are_stored_and_compared(tmp_path):
    net, prefix = saved_net(tmp_path, samples=[(x_of(2),), (x_of(5, 1),)])
    assert net.training
    paddle.jit.load(prefix, check=True)
    paddle.jit.save(net.head, str(tmp_path / "plain"), input_spec=[InputSpec([None, 4])])
    with pytest.raises(ArtifactError, match="saved without samples"):
        paddle.jit.load(str(tmp_path / "plain"), check=True)
    manifest = json.loads(Path(f"{prefix}.json").read_text())
    other = json.loads((tmp_path / "plain.json").read_text())
    manifest["files"]["samples"] = wrong_samples(tmp_path, manifest["files"]["samples"]["name"])
    Path(f"{prefix}.json").write_text(json.dumps(manifest))
    assert other["files"]
    with pytest.raises(ArtifactError, match="result 0 of saved sample 0 is not what it was"):
        paddle.jit.load(prefix, check=True)


def wrong_samples(folder, name):
    import hashlib

    from safetensors.numpy import load_file, save

    arrays = load_file(folder / name)
    content = save(arrays | {"0.out.0": arrays["0.out.0"] + 1.0})
    (folder / name).write_bytes(content)
    return {"name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


# -- old formats ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("version", [1, 2])
def test_artefacts_of_all_versions_give_what_they_gave(version, tmp_path):
    folder = GOLDEN / f"artifact_v{version}"
    with np.load(folder / "net.sample.npz") as sample:
        x, y = sample["x"], sample["y"]
    loaded = paddle.jit.load(str(folder / "net"))
    assert json.loads((folder / "net.json").read_text())["version"] == version
    np.testing.assert_allclose(loaded(paddle.to_tensor(x)).numpy(), y, rtol=1e-5, atol=1e-6)
    paddle.jit.save(loaded, str(tmp_path / "new"))
    np.testing.assert_allclose(paddle.jit.load(str(tmp_path / "new"))(x).numpy(), y, rtol=1e-5, atol=1e-6)


# -- hostile files -------------------------------------------------------------------------------------------------
@pytest.fixture
def copy_of(saved, tmp_path):
    copytree(Path(saved[1]).parent, tmp_path, dirs_exist_ok=True)
    return tmp_path


def refused(prefix, match=None):
    start = time.process_time()
    with pytest.raises(ArtifactError, match=match):
        paddle.jit.load(str(prefix))
    assert time.process_time() - start < 20  # a loop without end, not speed, is looked for


@pytest.mark.parametrize("suffix", ["json", "safetensors", "encode.eval.stablehlo"])
def test_files_cut_at_each_hundredth_are_refused(copy_of, suffix):
    (path,) = copy_of.glob(f"*.{suffix}")
    content = path.read_bytes()
    for percent in range(100):
        path.write_bytes(content[: len(content) * percent // 100])
        refused(copy_of / "net")


def consistent(folder, suffix, content):
    """Put content in the place of a data file, with a manifest that agrees."""
    import hashlib

    manifest = json.loads((folder / "net.json").read_text())
    entry = manifest["files"][suffix]
    (folder / entry["name"]).write_bytes(content)
    entry.update(size=len(content), sha256=hashlib.sha256(content).hexdigest())
    (folder / "net.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("suffix", ["json", "safetensors", "forward.eval.stablehlo"])
def test_flipped_bytes_are_refused_or_harmless(copy_of, suffix):
    rng = random.Random(0)
    (path,) = copy_of.glob(f"*.{suffix}")
    content = path.read_bytes()
    for _ in range(40):
        changed = bytearray(content)
        changed[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(bytes(changed))
        if suffix == "json":  # a flipped bit in a name or number of the text may leave it a sound manifest
            try:
                paddle.jit.load(str(copy_of / "net"))
            except ArtifactError:
                continue
        else:
            refused(copy_of / "net", "damaged")


def test_damaged_data_with_a_manifest_that_agrees_are_refused(copy_of):
    code = (
        "import sys, paddle_lite_py as paddle\n"
        "from paddle_lite_py.jit import ArtifactError\n"
        "try:\n    paddle.jit.load(sys.argv[1]); print('loaded')\n"
        "except ArtifactError as e:\n    print('refused')\n"
    )
    manifest = json.loads((copy_of / "net.json").read_text())
    for suffix in ("safetensors",):
        content = (copy_of / manifest["files"][suffix]["name"]).read_bytes()
        consistent(copy_of, suffix, content[: len(content) // 2])
        done = subprocess.run([sys.executable, "-c", code, str(copy_of / "net")], capture_output=True, text=True)
        assert done.stdout.strip() == "refused", done.stderr
        consistent(copy_of, suffix, content)


class Bomb:
    def __reduce__(self):
        return os.system, ("touch exploded",)


def test_nothing_is_unpickled(copy_of, monkeypatch):
    monkeypatch.chdir(copy_of)
    bomb = pickle.dumps(Bomb())
    consistent(copy_of, "safetensors", bomb)
    refused(copy_of / "net", "damaged")
    (copy_of / "net.json").write_bytes(bomb)
    refused(copy_of / "net", "damaged")
    assert not (copy_of / "exploded").exists()


def write_agreeing(path, manifest):
    """Write a manifest, with the digests of the programs that are in it now."""
    for modes in manifest["methods"].values():
        for method in modes.values():
            method["digest"] = digest_of(method["program"])
    path.write_text(json.dumps(manifest))


def deep(n):
    data = "x"
    for _ in range(n):
        data = {"tuple": [data]}
    return data


ABSURD = {
    "huge file": lambda m: m["files"]["safetensors"].update(size=1 << 62),
    "negative file": lambda m: m["files"]["safetensors"].update(size=-1),
    "huge dimension": lambda m: block(m)["inputs"][0].update(shape=[1 << 70, 3]),
    "power of powers": lambda m: block(m)["inputs"][0].update(shape=[{"dim": "9^9^9^9^9^9*b"}, 3]),
    "long number": lambda m: block(m)["inputs"][0].update(shape=[{"dim": "9" * 10_000}, 3]),
    "code as a dimension": lambda m: block(m)["inputs"][0].update(shape=[{"dim": "__import__('os').getcwd()"}, 3]),
    "deep result": lambda m: m["methods"]["forward"]["eval"].update(result=deep(100)),
    "unknown op": lambda m: block(m)["ops"][0].update(op="system"),
    "unknown id": lambda m: block(m)["ops"][0].update({"in": [12345]}),
    "no methods": lambda m: m.update(methods={}),
    "weights out of range": lambda m: m["methods"]["forward"]["eval"].update(weights=[99]),
    "more arguments": lambda m: m["methods"]["forward"]["eval"].update(n_args=7),
    "layout of another op": lambda m: block(m)["ops"][0].update(layout=[1 << 31]),
    "layout of too few inputs": lambda m: block(m)["ops"][0].update(layout=[]),
    "size of an inner value": lambda m: block(m)["ops"][0]["out"][0].update(shape=[1 << 70]),
    "huge attribute": lambda m: block(m)["ops"][0].update(attrs={"axis": 1 << 70}),
    "Python called back": lambda m: block(m)["ops"][0].update(op="py_func", attrs={"function": "os.system"}),
    "state that is not there": lambda m: m["methods"]["forward"]["eval"].update(state=[-1]),
    "result that is not there": lambda m: m["methods"]["forward"]["eval"].update(result={"weight": -1}),
    "a check more": lambda m: m["methods"]["forward"]["eval"].update(checks=[{"type": "ValueError", "text": "x"}]),
    "fewer results": lambda m: m["methods"]["forward"]["eval"].update(n_results=0),
    "weights in another order": lambda m: m["methods"]["forward"]["eval"]["weights"].reverse(),
    "constraint": lambda m: m.update(constraints=7),
    "future": lambda m: m.update(version=3),
    "version of another type": lambda m: m.update(version=[1]),
}


def block(m):
    return m["methods"]["forward"]["eval"]["program"]["block"]


@pytest.mark.parametrize("name", ABSURD)
def test_absurd_manifests_are_refused(copy_of, name):
    manifest = json.loads((copy_of / "net.json").read_text())
    ABSURD[name](manifest)
    write_agreeing(copy_of / "net.json", manifest)
    refused(copy_of / "net")


def test_deeply_nested_json_is_refused(copy_of):
    (copy_of / "net.json").write_text("[" * 200_000)
    refused(copy_of / "net", "damaged")


def test_only_the_program_of_the_manifest_runs(copy_of):
    """StableHLO is for other runtimes: what a stranger puts there does not run here, be it as broken as it may."""
    want = paddle.jit.load(str(copy_of / "net"))(x_of(2)).numpy()
    for content in (b"ML\xefR" + bytes(range(256)), b""):
        consistent(copy_of, "forward.eval.stablehlo", content)
        np.testing.assert_array_equal(paddle.jit.load(str(copy_of / "net"))(x_of(2)).numpy(), want)


def test_a_program_and_stablehlo_that_differ_are_refused(copy_of):
    text = (copy_of / "net.json").read_text()
    (copy_of / "net.json").write_text(text.replace('"op": "relu"', '"op": "tanh"'))
    refused(copy_of / "net", "is not the one that its StableHLO was made of")
    manifest = json.loads((copy_of / "net.json").read_text())
    for modes in manifest["methods"].values():
        for method in modes.values():
            del method["digest"]  # as in artefacts of before
    (copy_of / "net.json").write_text(json.dumps(manifest))
    loaded = paddle.jit.load(str(copy_of / "net"))
    bare = loaded._methods["forward"]["eval"].bare()
    assert "tanh" in str(loaded.program())
    np.testing.assert_allclose(bare(x_of(2).numpy())[0], loaded(x_of(2)).numpy(), rtol=1e-6)


@pytest.mark.parametrize("attrs", [{}, {"axis": "nowhere"}, {"axis": []}, {"axis": {"dtype": "float32"}}])
def test_operators_with_foreign_attributes_fail_with_a_documented_error(copy_of, attrs):
    manifest = json.loads((copy_of / "net.json").read_text())
    for op in block(manifest)["ops"]:
        op["attrs"] = {k: next(iter(attrs.values()), None) for k in op["attrs"]}
    write_agreeing(copy_of / "net.json", manifest)
    with pytest.raises((ValueError, TypeError)):
        paddle.jit.load(str(copy_of / "net"))(x_of(2))


@pytest.mark.parametrize("name", ["a" * 300, "net\0.json"])
def test_names_that_no_file_has_are_refused(copy_of, name):
    manifest = json.loads((copy_of / "net.json").read_text())
    manifest["files"]["safetensors"]["name"] = name
    (copy_of / "net.json").write_text(json.dumps(manifest))
    refused(copy_of / "net")


def test_links_out_of_the_folder_are_not_followed(copy_of, tmp_path_factory):
    (path,) = copy_of.glob("*.safetensors")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    path.rename(elsewhere / path.name)
    path.symlink_to(elsewhere / path.name)
    refused(copy_of / "net", "a link to a file outside")
    (copy_of / "net.json").rename(elsewhere / "net.json")  # a store of files, to which all are links
    (copy_of / "net.json").symlink_to(elsewhere / "net.json")
    for other in copy_of.glob("*.stablehlo"):
        other.rename(elsewhere / other.name)
        other.symlink_to(elsewhere / other.name)
    assert paddle.jit.load(str(copy_of / "net")).method_names == ["forward", "encode"]


# -- files of others -----------------------------------------------------------------------------------------------
def test_files_of_others_are_left_alone(tmp_path):
    linear, prefix = nn.Linear(2, 1), str(tmp_path / "package")
    spec = [InputSpec([2, 2])]
    (tmp_path / "index.js").write_text("mine")
    foreign = {"name": "package", "files": {"main": {"name": "index.js"}}}
    (tmp_path / "package.json").write_text(json.dumps(foreign))
    with pytest.raises(FileExistsError, match="is there, and no saved program"):
        paddle.jit.save(linear, prefix, input_spec=spec)
    assert json.loads((tmp_path / "package.json").read_text()) == foreign
    forged = {"format": "paddle_lite_py.artifact", "files": {"main": {"name": "index.js"}, "list": ["index.js"]}}
    (tmp_path / "package.json").write_text(json.dumps(forged))
    paddle.jit.save(linear, prefix, input_spec=spec)
    assert (tmp_path / "index.js").read_text() == "mine"


# -- killed saves --------------------------------------------------------------------------------------------------
def test_a_killed_save_leaves_an_old_or_a_new_artefact_whole(tmp_path):
    code = (
        "import sys, itertools, numpy as np, paddle_lite_py as paddle\n"
        "net = paddle.nn.Linear(3, 2)\n"
        "spec = [paddle.static.InputSpec([2, 3])]\n"
        "for i in itertools.count():\n"
        "    net.weight.set_value(np.full((3, 2), float(i), 'float32')); net.bias.set_value(np.zeros(2, 'float32'))\n"
        "    paddle.jit.save(net, sys.argv[1], input_spec=spec, platforms=['cpu'])\n"
        "    print(i, flush=True)\n"
    )
    prefix, rng, values = str(tmp_path / "net"), random.Random(3), []
    for _ in range(4):
        process = subprocess.Popen([sys.executable, "-c", code, prefix], stdout=subprocess.PIPE, text=True)
        process.stdout.readline()
        for _ in range(rng.randrange(3)):
            process.stdout.readline()
        time.sleep(rng.random() * 0.1)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        values.append(paddle.jit.load(prefix)(paddle.ones([2, 3])).numpy())
    for v in values:
        assert np.all(v == v.ravel()[0]) and v.ravel()[0] % 3 == 0


# -- without this package ------------------------------------------------------------------------------------------
def test_the_script_of_twenty_lines_runs_an_artefact_without_this_package(saved, tmp_path):
    net, prefix = saved
    np.save(tmp_path / "x.npy", x_of(3).numpy())
    script = house.ROOT / "tutorials" / "run_artifact.py"
    assert not re.search(r"paddle_lite_py|dy2static", script.read_text().partition('"""\n\n')[2])
    block = "import sys; sys.modules.update(paddle_lite_py=None, dy2static=None); import runpy; sys.argv = sys.argv[1:]"
    run = f"{block}; runpy.run_path(sys.argv[0], run_name='__main__')"
    command = [sys.executable, "-c", run, str(script), prefix, str(tmp_path / "x.npy")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    net.eval()
    want = net(x_of(3)).numpy()
    net.train()
    found = np.array([float(v) for v in re.findall(r"-?\d+\.\d*(?:e-?\d+)?", done.stdout)]).reshape(want.shape)
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5)
