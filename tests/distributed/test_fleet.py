"""paddle.distributed.fleet: layers, pipelines, streams and optimizers that would be spread over processes."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle
from paddle_lite_py.distributed.fleet import layers, meta_parallel
from paddle_lite_py.distributed.fleet.current import hybrid_group


def test_layers_that_would_be_split():
    x = paddle.ones([2, 4])
    column, row = meta_parallel.ColumnParallelLinear(4, 6, has_bias=True), layers.mpu.RowParallelLinear(6, 3)
    assert row(column(x)).shape == [2, 3] and meta_parallel.ColumnParallelLinear(4, 6).bias is None
    ids = paddle.to_tensor([[1, 2]])
    assert meta_parallel.VocabParallelEmbedding(5, 3)(ids).shape == [1, 2, 3]
    label = paddle.to_tensor([1, -100])
    assert meta_parallel.ParallelCrossEntropy()(x, label).flatten().tolist() == pytest.approx([1.3862944, 0.0])
    assert layers.mpu.mp_ops._c_identity(x) is x


def test_a_pipeline_with_a_shared_layer():
    shared = [
        meta_parallel.SharedLayerDesc("embed", paddle.nn.Embedding, None, "weight", 5, 4),
        meta_parallel.LayerDesc(paddle.nn.Linear, 4, 4),
        paddle.tanh,
        meta_parallel.SharedLayerDesc("embed", paddle.nn.Embedding, lambda e, x: x @ e.weight.T, "weight", 5, 4),
    ]
    paddle.seed(1)
    model = meta_parallel.PipelineLayer(shared, recompute_interval=2)
    ids = paddle.to_tensor([[1, 2]])
    out = model(ids)
    assert out.shape == [1, 2, 5] and len(model.parameters()) == 3
    out.sum().backward()
    assert all(p.grad is not None for p in model.parameters())


def test_a_pipeline_with_two_losses():
    import types

    net = [paddle.nn.Linear(2, 1, weight_attr=paddle.nn.initializer.Constant(1.0))]
    losses = [paddle.nn.MSELoss(), lambda out, label: (out - label).sum()]
    model = meta_parallel.PipelineLayer(net, loss_fn=losses)
    strategy = types.SimpleNamespace(pipeline_configs={"accumulate_steps": 2})
    pipeline = meta_parallel.PipelineParallel(model, hybrid_group(), strategy)
    sgd = paddle.optimizer.SGD(0.5, model.parameters())
    batch = paddle.ones([2, 2]), paddle.ones([2, 1])
    assert [t.item() for t in pipeline.train_batch(batch, sgd, loss_fn_idx=1)] == [1.0, 1.0]
    assert net[0].weight.tolist() == [[0.5], [0.5]]  # the gradient of the second loss
    assert [out.tolist() for out in pipeline.eval_batch(batch)] == [[[0.5]], [[0.5]]]
    assert [t.item() for t in pipeline.eval_batch(batch, compute_loss=True)] == [0.25, -0.5]


def test_streams_of_random_numbers():
    tracker = meta_parallel.RNGStatesTracker()
    tracker.add("own", 7)
    paddle.seed(1)
    plain = paddle.rand([2]).tolist()
    paddle.seed(1)
    with tracker.rng_state("own"):
        first = paddle.rand([2]).tolist()
    assert paddle.rand([2]).tolist() == plain
    with tracker.rng_state("own"):
        assert paddle.rand([2]).tolist() != first
    with pytest.raises(ValueError, match="a stream 'own' already"):
        tracker.add("own", 7)


def test_optimizers_and_sequences_that_would_be_spread():
    import copy

    from paddle_lite_py.distributed.fleet import meta_optimizers
    from paddle_lite_py.distributed.fleet.utils import sequence_parallel_utils as sequences

    weight = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
    opt = meta_optimizers.dygraph_optimizer.DygraphShardingOptimizer(paddle.optimizer.SGD(0.5, [weight]))
    sequences.mark_as_sequence_parallel_parameter(weight)
    (sequences.GatherOp.apply(sequences.ScatterOp.apply(weight)) * 2).sum().backward()
    opt.step()
    opt.clear_grad()
    assert weight.tolist() == [0.0, 0.0] and weight.sequence_parallel
    assert copy.copy(opt).get_lr() == 0.5


def test_sharding_keeps_model_and_optimizer(tmp_path):
    from paddle_lite_py.distributed import sharding

    model = paddle.nn.Linear(2, 1)
    opt = paddle.optimizer.Adam(parameters=model.parameters())
    with pytest.raises(ValueError, match="level is 'all'; expected one of os, os_g, p_g_os"):
        sharding.group_sharded_parallel(model, opt, "all")
    assert sharding.group_sharded_parallel(model, opt, "p_g_os") == (model, opt, None)
    sharding.save_group_sharded_model(model, str(tmp_path / "out"), opt)
    assert paddle.load(str(tmp_path / "out" / "model.pdmodel"))["weight"].shape == [2, 1]


def test_gradients_in_low_precision_are_added_up_in_float32():
    from paddle_lite_py.distributed.fleet.utils import mix_precision_utils as mixed

    layer = paddle.nn.Linear(2, 1, bias_attr=False).to(dtype="bfloat16")
    model = mixed.MixPrecisionLayer(layer, "bfloat16")
    inner = paddle.optimizer.SGD(0.5, parameters=layer.parameters(), multi_precision=True)
    opt, scaler = (
        mixed.MixPrecisionOptimizer(inner),
        mixed.MixPrecisionScaler(paddle.amp.GradScaler(init_loss_scaling=4.0)),
    )
    before = layer.weight.astype("float32")
    for _ in range(2):
        scaler.scale(model(paddle.ones([1, 2], "bfloat16")).sum()).backward()
    assert layer.weight.grad is None and layer.weight.main_grad.dtype == paddle.float32
    scaler.step(opt)
    scaler.update()
    assert (before - layer.weight.astype("float32")).flatten().tolist() == pytest.approx([1.0, 1.0], abs=0.02)
    opt.clear_grad(set_to_zero=False)
    assert layer.weight.main_grad is None


def test_work_that_is_put_off():
    done = []
    store = meta_parallel.WeightGradStore
    store.put(lambda: done.append(1))
    store.flush()
    assert not done
    store.pop()
    assert done == [1]
    with pytest.raises(RuntimeError, match="nothing was deferred"):
        store.pop()
    nodes = [meta_parallel.ScheduleNode(f) for f in (lambda x: x * 2, lambda x: x.sum())]
    chunk = meta_parallel.ScheduleChunk(nodes)
    assert chunk.forward(paddle.ones([3])).item() == 6
    assert chunk.backward(None)[0].tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(TypeError, match="nodes has a function"):
        meta_parallel.ScheduleChunk([lambda x: x])


class Both(paddle.nn.Layer):
    def forward(self, pair):
        return pair[0] + pair[1]


def test_a_pipeline_saves_each_layer_in_a_file(tmp_path):
    def made(seed):
        paddle.seed(seed)
        pair = meta_parallel.SharedLayerDesc("w", paddle.nn.Linear, lambda layer, x: (layer(x), x), "weight", 3, 3)
        return meta_parallel.PipelineLayer(
            [pair, Both(), meta_parallel.LayerDesc(paddle.nn.Linear, 3, 2)], num_stages=1
        )

    one, other, x = made(1), made(2), paddle.ones([1, 3])
    one.save_state_dict(str(tmp_path / "model"))
    names = [f"layer_{i:02d}-tensor_00-model_states.pdparams" for i in range(3)]
    assert sorted(f.name for f in (tmp_path / "model").iterdir()) == names
    assert one(x).tolist() != other(x).tolist()
    other.set_state_dir(str(tmp_path / "model"))
    assert one(x).tolist() == other(x).tolist()
    with pytest.raises(FileNotFoundError, match="has no file layer_00-tensor"):
        one.set_state_dir(str(tmp_path))


def test_settings_of_single_axes():
    strategy = paddle.distributed.fleet.DistributedStrategy()
    strategy.hybrid_configs = {"mp_degree": 2, "mp_configs": {"sync_grad": True}}
    strategy.hybrid_configs["sharding_configs"].split_param = True
    found = strategy.hybrid_configs
    assert found["mp_configs"].sync_grad and found["mp_configs"].sync_param and found["mp_degree"] == 2
    assert found["sharding_configs"]["split_param"] and not found["pp_configs"].profiling
    with pytest.raises(AttributeError, match="no setting 'sync_all' here; it has sync_param"):
        strategy.hybrid_configs = {"mp_configs": {"sync_all": True}}
    group = hybrid_group()
    assert group.get_dp_sep_parallel_group().nranks == 1 and group.get_pp_mp_parallel_group().nranks == 1
