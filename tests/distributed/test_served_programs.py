"""Programs whose tables lie on servers, with one worker: this process."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import static
from paddle_lite_py.core.processes import job
from paddle_lite_py.distributed import fleet, ps
from paddle_lite_py.distributed.fleet.places import SERVER, ServedPlace
from paddle_lite_py.distributed.fleet.served.session import Session
from parameter_servers import one_worker

FEED = {"a": np.array([[1], [2], [0]]), "b": np.array([[5], [1], [1 << 40]]), "y": np.ones([3, 1], "float32")}


@pytest.fixture
def worker(static_mode):
    """This process as the one worker of two servers."""
    with one_worker():
        yield


def strategy(mode):
    made = fleet.DistributedStrategy()
    made.a_sync = mode != "sync"
    made.a_sync_configs = {"async": {"send_queue_size": 4}, "half": {"send_queue_size": 0}, "geo": {"k_steps": 1}}.get(
        mode, {}
    )
    return made


def attr(name, value=0.1):
    return paddle.ParamAttr(name=name, initializer=paddle.nn.initializer.Constant(value))


def network(entry=None, is_test=False):
    """Two tables, and a layer; the loss and the prediction."""
    a, b = static.data("a", [None, 1], "int64"), static.data("b", [None, 1], "int64")
    y = static.data("y", [None, 1])
    ids = paddle.concat([a, b], 1)
    wide = static.nn.sparse_embedding(
        ids, [100, 1], padding_idx=0, param_attr=attr("wide"), entry=entry, is_test=is_test
    )
    deep = paddle.nn.Embedding(100, 3, sparse=True, weight_attr=attr("deep"))
    parts = [wide.reshape([-1, 2]), deep(a).reshape([-1, 3]), deep(b).reshape([-1, 3])]
    weight = attr("weight", 0.5)
    out = paddle.nn.Linear(8, 1, weight_attr=weight)(paddle.concat(parts, 1))
    return ((out - y) ** 2).mean(), out


def losses(steps=6, optimizer=None, mode="sync", feed=FEED):
    """Losses of some steps, the program in evaluation, and the prediction."""
    loss, out = network()
    test = static.default_main_program().clone(for_test=True)
    made = optimizer or paddle.optimizer.Adagrad(0.1)
    fleet.distributed_optimizer(made, strategy(mode)).minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    fleet.init_worker()
    found = [float(exe.run(feed=feed, fetch_list=[loss])[0]) for _ in range(steps)]
    return found, test, out, exe


@pytest.fixture
def alone(static_mode):
    """The losses of the same program without servers, where ids are below the size of the table."""
    with static.program_guard(static.Program(), static.Program()):
        found, test, out, exe = losses(feed=SMALL)
        return found, exe.run(test, feed=SMALL, fetch_list=[out])[0]


SMALL = {**FEED, "b": np.array([[5], [1], [7]])}


@pytest.mark.parametrize("mode", ["sync", "async", "half", "geo"])
def test_training_with_servers_is_training(alone, worker, mode):
    behind = mode == "async"  # steps behind the reading
    found, test, out, exe = losses(60 if behind else 6, mode=mode, feed=SMALL)
    fleet.barrier_worker()
    last = exe.run(test, feed=SMALL, fetch_list=[out])[0]
    if behind:
        assert min(found) < found[0] / 10 and np.isfinite(last).all()  # where workers are slow it swings
    else:
        np.testing.assert_allclose(found, alone[0], rtol=1e-5)
        np.testing.assert_allclose(last, alone[1], rtol=1e-4, atol=1e-5)


def test_tables_and_the_dense_part_are_on_servers(worker):
    losses(mode="sync")
    main = static.default_main_program()
    assert [list(p.shape) for p in main.all_parameters()] == [[8, 1], [1]]
    assert {n: s["rows"] for n, s in job.session.client.stats().items() if "rows" in s} == {"wide": 4, "deep": 5}
    # What pads is neither read nor trained.
    np.testing.assert_allclose(job.session.client.pull_sparse("wide", np.array([0])), 0.1)


def test_a_layer_with_a_row_that_pads(worker):
    ids = static.data("ids", [None, 2], "int64")
    weight = paddle.ParamAttr(name="padded", initializer=paddle.nn.initializer.TruncatedNormal(0.0, 0.1))
    rows = paddle.nn.Embedding(10, 2, padding_idx=0, sparse=True, weight_attr=weight)(ids)
    fleet.distributed_optimizer(paddle.optimizer.SGD(1.0), strategy("sync")).minimize(rows.sum())
    exe = static.Executor()
    exe.run(static.default_startup_program())
    found = [exe.run(feed={"ids": np.array([[0, 3]])}, fetch_list=[rows])[0][0] for _ in range(2)]
    assert (found[0][0] == 0).all() and (found[1][0] == 0).all() and (found[0][1] != 0).all()
    np.testing.assert_allclose(found[1][1], found[0][1] - 1, rtol=1e-5)


def test_a_schedule_reaches_the_servers(worker):
    schedule = paddle.optimizer.lr.StepDecay(0.1, 1, 0.0)
    (first,), _, out, exe = losses(1, paddle.optimizer.SGD(schedule))
    schedule.step()
    later = [exe.run(feed=FEED, fetch_list=[out])[0] for _ in range(2)]
    assert ((later[0] - 1) ** 2).mean() < first
    np.testing.assert_array_equal(later[0], later[1])


def test_an_inference_model_has_the_rows(worker, tmp_path):
    _, test, out, exe = losses(3)
    fleet.barrier_worker()
    wanted = exe.run(test, feed=FEED, fetch_list=[out])[0]
    fleet.save_inference_model(exe, str(tmp_path), ["a", "b"], out)
    program, names, results = static.load_inference_model(str(tmp_path / "model"), exe)
    np.testing.assert_allclose(exe.run(program, {n: FEED[n] for n in names}, results)[0], wanted, rtol=1e-5)
    unknown = {"a": np.array([[77]]), "b": np.array([[78]])}
    bias = static.default_main_program().all_parameters()[1].get_value().numpy()
    np.testing.assert_allclose(exe.run(program, unknown, results)[0], [bias], rtol=1e-5)
    with pytest.raises(ValueError, match="the program has no data 'c'; it has a, b"):
        fleet.save_inference_model(exe, str(tmp_path), ["c"], [out])


def test_what_is_saved_is_loaded(worker, tmp_path):
    _, test, out, exe = losses(3)
    wanted = exe.run(test, feed=FEED, fetch_list=[out])[0]
    fleet.save_persistables(exe, str(tmp_path / "all"))
    fleet.save_one_table(0, str(tmp_path / "wide"))
    for _ in range(2):
        exe.run(feed=FEED)
    changed = exe.run(test, feed=FEED, fetch_list=[out])[0]
    assert not np.allclose(changed, wanted)
    fleet.load_model(str(tmp_path / "all"))
    np.testing.assert_allclose(exe.run(test, feed=FEED, fetch_list=[out])[0], wanted, rtol=1e-5)
    ids = np.array([1, 2, 5])
    before = job.session.client.pull_sparse("wide", ids)
    job.session.client.add_sparse("wide", ids, np.ones([3, 1], "float32"))
    fleet.load_one_table("wide", str(tmp_path / "wide"))
    np.testing.assert_allclose(job.session.client.pull_sparse("wide", ids), before, rtol=1e-5)
    with pytest.raises(ValueError, match="there is no table 7; there are 0: 'wide', 1: 'deep'"):
        fleet.save_one_table(7, str(tmp_path))
    with pytest.raises(ValueError, match="holds no|no save|is not there|not"):
        fleet.load_model(str(tmp_path / "nothing"))


def test_an_inference_model_is_given_to_servers(worker, tmp_path):
    _, test, out, exe = losses(3)
    fleet.save_inference_model(exe, str(tmp_path), ["a", "b"], out)
    wanted = exe.run(test, feed=FEED, fetch_list=[out])[0]
    for _ in range(2):
        exe.run(feed=FEED)
    assert not np.allclose(exe.run(test, feed=FEED, fetch_list=[out])[0], wanted)
    fleet.load_inference_model(str(tmp_path))
    np.testing.assert_allclose(exe.run(test, feed=FEED, fetch_list=[out])[0], wanted, rtol=1e-5)
    job.session.tables["third"] = job.session.tables["wide"]._replace(name="third")
    with pytest.raises(ValueError, match="model has no rows of table 'third'; it has those of deep, wide"):
        fleet.load_inference_model(str(tmp_path))


def test_the_features_that_are_shown_most_are_a_cache(worker, tmp_path):
    show, click = static.data("show", [None, 1]), static.data("click", [None, 1])
    loss, _ = network(entry=paddle.distributed.ShowClickEntry(show.name, click.name))
    fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy("sync")).minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    counts = {"show": np.array([[1], [2], [30]], "float32"), "click": np.ones([3, 1], "float32")}
    exe.run(feed={**FEED, **counts})
    assert fleet.save_cache_model(str(tmp_path), table_id="wide") == 1
    with np.load(tmp_path / "part-0.npz") as found:
        assert found["ids"].tolist() == [1 << 40] and found["values"].shape == (1, 1)
    with pytest.raises(ValueError, match="table 'deep' does not count how often its features are shown"):
        fleet.save_cache_model(str(tmp_path), table_id=1)
    fleet.set_date(0, "20250101")
    fleet.save_cache_table(0, 1)


def test_inference_with_servers(worker, tmp_path):
    loss, out = network()
    infer = fleet.utils.DistributedInfer()
    exe = static.Executor()
    infer.init_distributed_infer_env(exe, loss)
    program = infer.get_dist_infer_program()
    before = [exe.run(program, feed=FEED, fetch_list=[out])[0] for _ in range(2)]
    np.testing.assert_array_equal(*before)
    job.session.client.add_sparse("wide", np.array([5]), np.ones([1, 1], "float32"))
    changed = exe.run(program, feed=FEED, fetch_list=[out])[0] - before[0]
    np.testing.assert_allclose(changed[:, 0], [0.5, 0, 0], atol=1e-6)  # the weight of the row in the layer
    infer.init_distributed_infer_env(exe, loss)  # has begun


def test_a_server_begins_with_what_was_saved(worker, tmp_path):
    losses(2)
    fleet.barrier_worker()
    fleet.save_persistables(None, str(tmp_path))
    server = Session(ServedPlace(SERVER, 0, 1, ("127.0.0.1:0",)), fleet.DistributedStrategy())
    server.serve(str(tmp_path))
    tables = server._server.tables.all
    assert tables["wide"].stats()["rows"] == 4
    np.testing.assert_array_equal(tables["dense"].value, static.default_main_program().served.read())
    server._server.stop()
    server.run()


def test_entries_and_counts(worker):
    show, click = static.data("show", [None, 1]), static.data("click", [None, 1])
    assert show.name == "show" and click.name == "click"
    loss, _ = network(entry=paddle.distributed.ShowClickEntry("show", "click"))
    fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy("sync")).minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    counts = {"show": np.array([[1], [2], [3]], "float32"), "click": np.array([[0], [1], [1]], "float32")}
    exe.run(feed={**FEED, **counts})
    assert fleet.shrink() == 0


def test_a_count_filter_reads_zeros_until_a_feature_was_seen(worker):
    ids = static.data("ids", [None, 1], "int64")
    rows = static.nn.sparse_embedding(
        ids, [10, 2], param_attr=attr("filtered", 1.0), entry=paddle.distributed.CountFilterEntry(2)
    )
    out = paddle.nn.Linear(2, 1)(rows.reshape([-1, 2]))
    fleet.distributed_optimizer(paddle.optimizer.SGD(0.0), strategy("sync")).minimize(out.mean())
    exe = static.Executor()
    exe.run(static.default_startup_program())
    seen = [exe.run(feed={"ids": np.array([[3]])}, fetch_list=[rows])[0].sum() for _ in range(3)]
    assert seen == [0.0, 0.0, 2.0]


def test_a_dataset_feeds_a_program_with_servers(worker, tmp_path, capsys):
    (tmp_path / "part-0").write_text("".join(f"1 {i % 7} 1 {i % 5} 1 1.0\n" for i in range(40)))
    loss, _ = network()
    fleet.distributed_optimizer(paddle.optimizer.Adagrad(0.1), strategy("sync")).minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    fleet.init_worker()
    dataset = paddle.distributed.InMemoryDataset()
    feeds = static.default_main_program().feeds
    dataset.init(batch_size=8, use_var=[static.default_main_program().global_block().var(n) for n in "aby"])
    dataset.set_filelist([str(tmp_path / "part-0")])
    dataset.load_into_memory()
    assert len(feeds) > 3
    for _ in range(3):
        exe.train_from_dataset(dataset=dataset, fetch_list=[loss], fetch_info=["loss"], print_period=5)
    printed = [float(line.split("=")[1]) for line in capsys.readouterr().out.splitlines()]
    assert len(printed) == 3 and printed[2] < printed[0] / 2


REFUSED = [
    (lambda: paddle.optimizer.RMSProp(0.1), "servers do not update as RMSProp does; take SGD, Adagrad or Adam"),
    (lambda: paddle.optimizer.SGD(0.1, weight_decay=0.1), "weight_decay and grad_clip look at whole parameters"),
]


@pytest.mark.parametrize(("optimizer", "message"), REFUSED, ids=["rule", "decay"])
def test_what_servers_cannot_do_is_refused(worker, optimizer, message):
    with pytest.raises(NotImplementedError, match=message):
        fleet.distributed_optimizer(optimizer(), strategy("sync"))


def test_mistakes_are_explained(worker):
    with pytest.raises(RuntimeError, match="this process is a worker; ask fleet.is_server"):
        fleet.init_server()
    with pytest.raises(ValueError, match="entry is a str; expected paddle.distributed.CountFilterEntry"):
        network(entry="count")
    ids = static.data("ids", [None, 1], "int64")
    drawn = paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(np.ones([4, 2], "float32")))
    rows = static.nn.sparse_embedding(ids, [4, 2], param_attr=drawn)
    fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy("sync")).minimize(rows.mean())
    exe = static.Executor()
    with pytest.raises(ValueError, match="the initializer Assign is not one that servers draw rows by"):
        exe.run(feed={"ids": np.array([[1]])})


def test_a_table_that_differs_is_told(worker):
    job.session.client.create(ps.SparseConfig("wide", 9))
    loss, _ = network()
    fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy("sync")).minimize(loss)
    static.Executor().run(static.default_startup_program())
    with pytest.raises(ValueError, match="table 'wide' exists .*9 columns.*1 columns"):
        fleet.init_worker()


def test_dynamic_mode_says_what_to_do(worker):
    optimizer = paddle.optimizer.SGD(0.1)
    paddle.disable_static()
    try:
        with pytest.raises(NotImplementedError, match="call paddle.enable_static"):
            fleet.distributed_optimizer(optimizer, strategy("sync"))
    finally:
        paddle.enable_static()


def test_without_servers_a_program_saves_itself(static_mode, tmp_path):
    with static.program_guard(static.Program(), static.Program()):
        _, _, out, exe = losses(1, feed=SMALL)
        fleet.save_persistables(exe, str(tmp_path / "all"))
        wanted = exe.run(static.default_main_program().clone(for_test=True), feed=SMALL, fetch_list=[out])[0]
        fleet.save_inference_model(exe, str(tmp_path), ["a", "b"], [out])
        program, names, results = static.load_inference_model(str(tmp_path / "model"), exe)
        np.testing.assert_allclose(exe.run(program, {n: SMALL[n] for n in names}, results)[0], wanted, rtol=1e-5)
        static.load(static.default_main_program(), str(tmp_path / "all" / "persistables"))


def test_a_program_says_what_fleet_told_it(worker):
    loss, _ = network()
    made = strategy("async")
    made.trainer_desc_configs = {"dump_fields_path": "there"}
    fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), made).minimize(loss)
    told = static.default_main_program()._fleet_opt
    assert told == {"mpi_size": 1, "mpi_rank": 0, "dump_fields_path": "there"}
    assert static.Program()._fleet_opt is None


def test_settings_of_tables_that_servers_do_not_know(worker):
    made = strategy("async")
    assert made.sparse_table_configs == {} and not made.adam_d2sum and made.fs_client_param == {}
    made.sparse_table_configs = {"wide": {"table_parameters.wide.accessor.fea_dim": 11}}
    with pytest.raises(NotImplementedError, match="sparse_table_configs has 'wide'"):
        fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), made)


def test_metrics_and_numbers_of_tables(worker, tmp_path, capsys):
    loss, out = network()
    predicted = paddle.nn.functional.sigmoid(out)
    label = static.default_main_program().global_block().var("y")
    both = paddle.concat([1 - predicted, predicted], 1)
    area, _, states = static.auc(both, label.astype("int64"), num_thresholds=255)
    fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy("sync")).minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    feed = {**FEED, "y": np.array([[1], [0], [1]], "float32")}
    found = exe.run(feed=feed, fetch_list=[area])[0]
    positive, negative = states[-2:]
    np.testing.assert_allclose(fleet.metrics.auc(positive, negative.name), found, rtol=1e-6)
    assert fleet.all_reduce(np.array([3.0]), "mean").tolist() == [3.0]
    with pytest.raises(LookupError, match="the scope has no variable 'nothing'"):
        fleet.metrics.sum("nothing")
    fleet.print_table_stat("deep")
    assert "table 'deep': rows 5" in capsys.readouterr().out
    scope, main = static.global_scope(), static.default_main_program()
    fleet.save_dense_params(exe, str(tmp_path / "dense"), scope, main)
    weight = main.all_parameters()[0]
    np.testing.assert_array_equal(np.load(tmp_path / "dense" / f"{weight.name}.npy"), weight.get_value().numpy())
    with pytest.raises(LookupError, match="no parameter 'other'; it has"):
        fleet.save_dense_params(exe, str(tmp_path), scope, main, ["other"])
