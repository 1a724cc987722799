"""Descriptions of clusters and strategies, parts converted between these, and barriers at an address."""

from __future__ import annotations

import itertools
import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from paddle_lite_py import distributed as dist
from paddle_lite_py.distributed.auto_parallel import dist_attr
from paddle_lite_py.distributed.auto_parallel.cluster import Cluster, LinkType, get_default_cluster
from paddle_lite_py.distributed.auto_parallel.converter import Converter
from paddle_lite_py.distributed.gloo import _Meeting
from paddle_lite_py.distributed.spawning import free_ports

MESH = dist.ProcessMesh([[0, 1, 2], [3, 4, 5]], ["x", "y"])
WHOLE = np.arange(48.0).reshape(4, 6, 2)


def strategy(mapping, shape=(2,)):
    return {"process_shape": list(shape), "process_group": list(range(int(np.prod(shape)))), "dims_mapping": mapping}


def parts_of(attribute):
    """The parts of all processes, cut by NumPy."""
    found = []
    for at in itertools.product(*map(range, attribute["process_shape"])):
        part = WHOLE
        for dim, axis in enumerate(attribute["dims_mapping"]):
            if axis != -1:
                part = np.split(part, attribute["process_shape"][axis], dim)[at[axis]]
        found.append(part)
    return found


STRATEGIES = [
    *(strategy([-1, -1, -1]), strategy([0, -1, -1]), strategy([-1, 0, -1]), strategy([-1, -1, 0])),
    *(strategy([0, 1, -1], (2, 3)), strategy([-1, 1, 0], (2, 3))),
]


@pytest.mark.parametrize(("old", "new"), [*itertools.product(STRATEGIES, STRATEGIES[:4])])
def test_parts_under_another_strategy(old, new):
    found = Converter({"w": parts_of(old)}, {"w": old}, {"w": new}).convert()["w"]
    np.testing.assert_array_equal(found, parts_of(new)[0])


def test_names_that_begin_alike_and_names_that_are_missing():
    old, new = {"w_0": STRATEGIES[1], "gone": STRATEGIES[0]}, {"w_1": STRATEGIES[2], "new": STRATEGIES[0]}
    tensors = {"w_0": parts_of(STRATEGIES[1])}
    with pytest.warns(UserWarning, match="Converter: ") as told:
        found = Converter(tensors, old, new).convert(strict=False)
    assert [*found] == ["w_1"] and len(told) == 2
    assert "new: in the current strategy only" in str(told[0].message)
    np.testing.assert_array_equal(found["w_1"], parts_of(STRATEGIES[2])[0])
    with pytest.raises(ValueError, match="tensors_dict is empty"):
        Converter({}, old, new)
    with pytest.raises(TypeError, match="cur_strategy is a list"):
        Converter(tensors, old, [])


def test_a_cluster_from_a_file(tmp_path):
    def link(a, b, **more):
        return {"source_global_id": a, "target_global_id": b, "bandwidth": 200.0, **more}

    devices = [[{"global_id": 4 * m + i, "local_id": i, "type": k} for i, k in enumerate(("GPU", "GPU", "CPU"))]
               for m in range(2)]  # fmt: skip
    machines = [{"devices": devices[0], "links": [link(0, 1, type="NVL"), link(1, 4)]}, {"devices": devices[1]}]
    (file := tmp_path / "cluster.json").write_text(json.dumps({"machines": machines}))
    cluster = Cluster()
    cluster.build_from_file(str(file))
    assert cluster.get_num_machines() == 2 and cluster.get_num_devices_per_machine() == 2
    assert cluster.convert_rank_to_device_id([0, 1, 2, 3]) == [0, 1, 4, 5] and cluster.device_id_to_rank[5] == 3
    assert cluster.cross_machine([1, 4]) and not cluster.cross_machine([0, 1])
    assert cluster.get_beta(0, 1) == pytest.approx(1 / 200e3) and cluster.get_beta(0, 5) == pytest.approx(1 / 24e3)
    assert [cluster.get_hop(0, 1), cluster.get_hop(1, 4), cluster.get_hop(0, 5)] == [0, 1, 1]
    assert cluster.machines[0].get_link(0, 1).type is LinkType.NVL and len(cluster.get_all_devices("CPU")) == 2
    machines[0]["links"] = [link(0, 9)]
    file.write_text(json.dumps({"machines": machines}))
    with pytest.raises(ValueError, match="there is no device 9"):
        get_default_cluster({"cluster": {"path": str(file)}})
    many = {"num_nodes": 2, "num_gpus": 4, "gpu_model": "A100", "gpu_memory": 80}
    assert get_default_cluster({"cluster": many}).rank_to_device_id[7] == 8


@pytest.mark.parametrize(
    ("specs", "mapping", "placements"),
    [
        ([None, "x"], [-1, 0], [dist.Shard(1), dist.Replicate()]),
        (["y", "x"], [1, 0], [dist.Shard(1), dist.Shard(0)]),
        ([None, None], [-1, -1], [dist.Replicate(), dist.Replicate()]),
    ],
)
def test_spellings_of_placements(specs, mapping, placements):
    attr = dist.DistAttr(MESH, specs)
    assert attr.dims_mapping == mapping and attr.placements == placements and attr.sharding_specs == specs
    assert dist_attr.convert_to_shard_spec(mapping, MESH) == specs and dist_attr.to_dim_map(placements, 2)[0] == mapping
    assert "dims_mappings" in str(attr)
    assert dist_attr.check_placements_equal(placements, [*placements, dist.Replicate()])
    assert not dist_attr.check_placements_equal([*placements, dist.Shard(0)], placements)


def test_what_fits_a_mesh():
    for mesh, specs, message in (
        (None, [], "mesh must be"),
        (MESH, {}, "must be an instance of list"),
        (MESH, ["z"], "'z'"),
    ):
        with pytest.raises(ValueError, match=message):
            dist.DistAttr(mesh, specs)
    assert dist_attr.verify_shard_spec(["x", None], [4, 3], MESH) and not dist_attr.verify_shard_spec(["y"], [4], MESH)
    assert not dist_attr.verify_dims_mapping([0, 0], MESH) and not dist_attr.verify_dims_mapping([2], MESH)
    assert dist_attr.compute_compatible_dims_mapping([[0, -1], [-1, -1]]) == [0, -1]
    assert dist_attr.compute_compatible_dims_mapping([[0], [1]]) is None
    assert dist_attr.compute_compatible_process_mesh([MESH, None, MESH[0]]) == MESH
    assert dist_attr.compute_compatible_process_mesh([MESH, dist.ProcessMesh([7])]) is None
    assert dist_attr.merge_process_mesh([MESH, dist.ProcessMesh([7])]).process_ids == [0, 1, 2, 3, 4, 5, 7]
    assert [m.process_ids for m in dist_attr.split_mesh(MESH, 1)] == [[0, 3], [1, 4], [2, 5]]
    assert [dist_attr.to_list(v) for v in (None, 1, (1, 2))] == [[], [1], [1, 2]]


def test_processes_wait_for_each_other_at_an_address():
    endpoint, arrived = f"127.0.0.1:{free_ports(1)[0]}", []

    def process(rank):
        meeting = _Meeting(rank, 3, endpoint)
        for turn in range(3):
            arrived.append(turn)
            meeting.wait()
            assert arrived.count(turn) == 3
        return meeting

    with ThreadPoolExecutor(3) as pool:
        meetings = list(pool.map(process, range(3)))
    for meeting in meetings[::-1]:
        meeting.close()
    with pytest.raises(ValueError, match="rank_id is 2 of rank_num=2"):
        dist.gloo_init_parallel_env(2, 2, endpoint)
