"""Manifests of training jobs: read by validators, refused where descriptions are wrong, and run as local processes."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys

import numpy as np
import pytest

from launching import PROGRAMS, ROOT
from paddle_lite_py.distributed.kubernetes import manifests, parse_description
from paddle_lite_py.distributed.kubernetes.__main__ import main
from pods import Pods

BASE = {"name": "digits", "image": "x/y:1", "program": ["train.py", "--epochs", 3]}
FULL = {"namespace": "ml", "env": {"A": 1}, "resources": {"cpu": 4, "memory": "8Gi", "gpus": 1}, "grace": 90}
VOLUME = {"checkpoints": {"size": "20Gi", "storage_class": "nfs", "path": "/kept"}}
SERVED = {"kind": "parameter-server", "servers": 2, "nodes": 3}


@pytest.mark.parametrize(
    ("more", "kinds"),
    [
        ({}, "Service Job"),
        ({"nodes": "2:4", **FULL, **VOLUME}, "PersistentVolumeClaim Service Job"),
        ({"form": "jobset", "nodes": "2:4", "checkpoints": {"claim": "mine"}}, "JobSet"),
        (SERVED, "Service Job Job"),
        ({**SERVED, "form": "jobset", **VOLUME}, "PersistentVolumeClaim JobSet"),
        ({"kind": "ray", "nodes": "1:3", **FULL, **VOLUME}, "PersistentVolumeClaim RayJob"),
        ({"kind": "ray", "form": "raycluster", "program": []}, "RayCluster"),
    ],
)
def test_manifests_are_valid(tmp_path, capsys, more, kinds):
    check = pytest.importorskip("cluster_schemas", reason="needs the package kubernetes-validate").check
    yaml = pytest.importorskip("yaml")
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(BASE | more))
    main([str(tmp_path / "job.yaml")])
    documents = list(yaml.safe_load_all(capsys.readouterr().out))
    assert " ".join(d["kind"] for d in documents) == kinds
    for document in documents:
        check(document)
        assert document["metadata"].get("namespace") == more.get("namespace")
    main([str(tmp_path / "job.yaml"), "--out", str(tmp_path / "out")])
    assert len(list((tmp_path / "out").iterdir())) == len(documents)


def test_an_unknown_field_is_no_manifest():
    cluster_schemas = pytest.importorskip("cluster_schemas", reason="needs the package kubernetes-validate")
    for form, at in (("job", -1), ("jobset", 0)):
        document = manifests(parse_description(BASE | {"form": form}))[at]
        document["spec"]["completion"] = 3
        with pytest.raises(Exception, match="completion"):
            cluster_schemas.check(document)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"node": 4}, "node: there is no such field; did you mean 'nodes'?"),
        ({"resources": {"memry": "1Gi"}}, "resources.memry: there is no such field; did you mean 'memory'?"),
        ({"colour": "red"}, "colour: there is no such field; the fields are name, image"),
        ({"name": "My_Job"}, "name is 'My_Job'; expected at most 40 small letters"),
        ({"nodes": "4:2"}, "nodes is '4:2'; expected a number, or the least and the most"),
        ({"nodes": True}, "nodes is True; expected text"),
        ({"processes": "two"}, "processes is 'two'; expected a number"),
        ({"kind": "mpi"}, "kind is 'mpi'; expected collective, parameter-server, ray"),
        ({"form": "rayjob"}, "form is 'rayjob'; expected job or jobset for kind collective"),
        ({"servers": 2}, "servers is 2; expected 0 for kind collective"),
        ({"kind": "parameter-server"}, "servers is 0; expected at least 1 for kind parameter-server"),
        ({"program": "train.py"}, "program is 'train.py'; expected a list of words"),
        ({"program": []}, "program is empty"),
        ({"grace": 5}, "grace is 5; expected at least 10 seconds"),
        ({"resources": {"memory": "lots"}}, "resources.memory is 'lots'; expected a quantity"),
        ({"env": {"A B": 1}}, "env.A B: expected a name"),
        ({"checkpoints": {"path": "kept"}}, "checkpoints.path is 'kept'; expected one that begins with '/'"),
        ({"checkpoints": 3}, "checkpoints is 3; expected fields and their values"),
    ],
)
def test_descriptions_that_are_wrong(tmp_path, capsys, more, message):
    (tmp_path / "job.json").write_text(json.dumps(BASE | more))
    with pytest.raises(SystemExit) as caught:
        main([str(tmp_path / "job.json")])
    assert caught.value.code == 2 and message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(("text", "message"), [("[1", "no YAML"), ("- a", "expected fields"), ("", "expected fields")])
def test_files_that_are_no_description(tmp_path, capsys, text, message):
    pytest.importorskip("yaml")
    (tmp_path / "job.yaml").write_text(text)
    with pytest.raises(SystemExit):
        main([str(tmp_path / "job.yaml")])
    assert message in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([str(tmp_path / "none.yaml")])
    assert "No such file" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["job", "jobset"])
def test_servers_and_workers_of_a_manifest_find_each_other(tmp_path, form):
    job = BASE | SERVED | {"form": form, "nodes": 2, "servers": 1, "program": [str(PROGRAMS / "roles.py")]}
    run = Pods(manifests(parse_description(job)), tmp_path)
    for pod in run.pods:  # the command without the package, which takes seconds to import
        pod.container["command"] = [w for w in pod.container["command"] if w not in ("-m", "paddle_lite_py", "run")]
    run.run(60)
    said = run.said()
    assert "heard ['0', '1']" in said and "worker 1 of 2 is done" in said


@pytest.mark.repeat  # kills of servers and workers by hand are in test_recommenders.py
def test_pods_of_servers_and_workers_that_are_killed_go_on_from_the_volume(tmp_path):
    folder, clicks = PROGRAMS / "recommenders", tmp_path / "clicks"
    subprocess.run([sys.executable, str(folder / "data.py"), str(clicks), "1600"], check=True)
    program = [str(folder / "train.py"), str(clicks), "--rate", "0.1"]
    job = SERVED | {"nodes": 1, "servers": 1, "checkpoints": {"claim": "c"}, "program": program}
    run = Pods(manifests(parse_description(BASE | job)), tmp_path)
    noted = tmp_path / "checkpoints" / ".digits" / "uid-of-digits-trainer" / "worker-0" / "progress"
    killed: list[str] = []

    def kill_each_once():
        found = noted.read_bytes() if noted.exists() else b""
        done = struct.unpack_from("<q", found)[0] if found else 0
        for role, after in (("trainer", 8), ("server", 30)):
            if role not in killed and done >= after:
                run.evict(f"digits-{role}", 0, signal.SIGKILL)
                killed.append(role)

    run.run(240, kill_each_once)
    assert [p.codes for p in run.pods] == [[137, 0], [137, 0]], run.said()
    assert "counted 3200 instances" in run.said()


def test_pods_of_servers_without_a_volume_do_not_come_back():
    for volume, limit in (({}, 0), (VOLUME, 3)):
        jobs = [d["spec"] for d in manifests(parse_description(BASE | SERVED | volume)) if d["kind"] == "Job"]
        assert [j["backoffLimit"] for j in jobs] == [limit] * 2
        assert all(("podFailurePolicy" in j) == bool(volume) for j in jobs)


@pytest.mark.repeat  # a worker that is killed and begun again is in test_elastic.py
@pytest.mark.parametrize("index", [1, 0])
def test_the_pods_of_a_manifest_train_and_one_is_evicted(tmp_path, index):
    program = [str(PROGRAMS / "elastic.py"), "/checkpoints", 12]
    job = {"nodes": "2:2", "elastic_timeout": 5, "checkpoints": {"claim": "c"}, "program": program}
    run = Pods(manifests(parse_description(BASE | job)), tmp_path)
    evicted: list[bool] = []
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "pause").write_text("0.1")

    def evict_once():
        second = '"step": 1,'  # in the first one the program has not yet said that it takes SIGTERM down
        if not evicted and any(second in p.read_text() for p in (tmp_path / "checkpoints").glob("events.1")):
            run.evict("digits", index)
            evicted.append(True)

    run.run(240, evict_once)
    evicted_codes, other_codes = run.pods[index].codes, run.pods[1 - index].codes
    assert evicted_codes in ([101], [101, 0]) and other_codes in ([], [0]), run.said()
    assert run.pods[0].codes[-1] == 0  # whose end is that of the Job
    assert all((tmp_path / f"digits-{i}" / "logs" / "alive").exists() for i in (0, 1))  # what probes look for
    lines = (tmp_path / "checkpoints" / "events.0").read_text().splitlines()
    steps = [e["step"] for e in map(json.loads, lines) if e["what"] == "step"]
    assert steps == list(range(12))  # none was lost, none done again
    whole = np.load(tmp_path / "checkpoints" / "weights.npy")
    alone = alone_trained(tmp_path / "alone", 12)
    np.testing.assert_allclose(whole, alone, atol=1e-5)


def alone_trained(folder, steps):
    """The weights of the same training in one process."""
    folder.mkdir()
    command = [sys.executable, str(PROGRAMS / "elastic.py"), str(folder), str(steps)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True)
    return np.load(folder / "weights.npy")
