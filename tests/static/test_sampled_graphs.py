"""Sampling of neighbours in programs: Python does it between two compiled parts of a run."""

import numpy as np

import paddle_lite_py as paddle


def test_sampled_and_renumbered():
    paddle.enable_static()
    row, ends, nodes = np.array([1, 2, 0, 2]), np.array([0, 2, 3, 4]), np.array([0, 2])
    with paddle.static.program_guard(paddle.static.Program()):
        given = {"row": row, "ends": ends, "nodes": nodes}
        data = [paddle.static.data(k, v.shape, "int64") for k, v in given.items()]
        neighbors, count = paddle.geometric.sample_neighbors(*data)
        again = paddle.geometric.reindex_graph(data[2], neighbors, count)
        few, _ = paddle.geometric.weighted_sample_neighbors(data[0], data[1], paddle.ones([4]), data[2], sample_size=1)
        found = paddle.static.Executor().run(feed=given, fetch_list=[neighbors + 0, count, *again, few])
    assert [f.tolist() for f in found[:5]] == [[1, 2, 2], [2, 1], [2, 1, 1], [0, 0, 1], [0, 2, 1]]
    assert len(found[5]) == 2 and found[5][1] == 2
