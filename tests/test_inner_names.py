"""Names below the public ones that programs import: the same things as in the public modules."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle
from paddle_lite_py import common_ops_import as ops
from paddle_lite_py.distributed.fleet import layers, meta_parallel


def test_functions_of_the_tensor_module():
    assert paddle.tensor.triu(paddle.ones([2, 2])).tolist() == [[1.0, 1.0], [0.0, 1.0]]
    assert paddle.tensor.search.argmax is paddle.argmax and paddle.tensor.manipulation.concat is paddle.concat
    with pytest.raises(AttributeError, match="no attribute 'tiru'"):
        paddle.tensor.tiru  # noqa: B018


def test_core_and_framework():
    assert paddle.base.core is paddle.framework.core
    assert isinstance(paddle.ones([1]), paddle.framework.core.eager.Tensor)
    assert paddle.base.core.is_compiled_with_cuda() == paddle.is_compiled_with_cuda()
    assert isinstance(paddle.nn.Linear(1, 1).weight, paddle.framework.io.EagerParamBase)
    assert paddle.framework.in_dynamic_mode() and paddle.base.dygraph.enabled()
    assert paddle.framework._current_expected_place() == paddle.CPUPlace()


def test_eager_code_in_static_mode(static_mode):
    assert not paddle.base.in_dygraph_mode()
    with paddle.base.dygraph.guard():
        assert paddle.base.dygraph.to_variable([1.0]).item() == 1.0
    assert not paddle.base.in_dygraph_mode()


def test_checks_of_arguments():
    assert ops.convert_dtype(paddle.bfloat16) == "bfloat16"
    ops.check_variable_and_dtype(paddle.ones([1]), "x", ["float32"], "f")
    with pytest.raises(TypeError, match="f: x is a int; expected"):
        ops.check_type(1, "x", str, "f")
    with pytest.raises(TypeError, match="f: x has the dtype float32; expected int32, int64"):
        ops.check_dtype(paddle.float32, "x", ["int32", "int64"], "f")


def test_operators_are_not_appended_by_name():
    with pytest.raises(NotImplementedError, match=r"LayerHelper\('yolo_box'\).append_op: operators are not"):
        ops.LayerHelper("yolo_box").append_op(type="yolo_box")


def test_layers_ask_their_helper_for_the_dtype_of_parameters():
    net = paddle.nn.Linear(2, 3)
    assert net._helper.get_default_dtype() == "float32" and net._helper.layer_type == net.full_name()
    with pytest.raises(NotImplementedError, match="append_op: operators are not"):
        net._helper.append_op(type="relu")


def test_values_are_assigned_to_parameters():
    w, x = paddle.create_parameter([2], "float32"), paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    assert paddle.assign(paddle.ones([2]), w) is w and w.is_leaf and not w.stop_gradient
    (w * 3).sum().backward()
    assert w.tolist() == [1.0, 1.0] and w.grad.tolist() == [3.0, 3.0]
    (paddle.assign(x * 2, w) * 3).sum().backward()
    assert not w.is_leaf and x.grad.tolist() == [6.0, 6.0]


def test_libraries_of_others_are_not_loaded():
    with pytest.raises(NotImplementedError, match=r"lib.so was compiled against Paddle's own library"):
        paddle.utils.cpp_extension.load_op_meta_info_and_register_op("lib.so")


def test_checksums_of_files(tmp_path):
    (tmp_path / "a").write_bytes(b"data")
    assert paddle.dataset.common.md5file(str(tmp_path / "a")) == "8d777f385d3dfec8815d20f7496026dc"


def test_kernels_by_name():
    for found in (
        paddle._C_ops.argsort(paddle.to_tensor([1.0, 3.0, 2.0]), 0, True),
        paddle._legacy_C_ops.argsort(paddle.to_tensor([1.0, 3.0, 2.0]), "axis", 0, "descending", True),
    ):
        assert [t.tolist() for t in found] == [[3.0, 2.0, 1.0], [1, 2, 0]]
    with pytest.raises(AttributeError, match="no kernel 'yolo'"):
        paddle._C_ops.yolo  # noqa: B018


def test_settings_of_layers_without_parameters():
    pool = paddle.nn.AdaptiveAvgPool2D(1)
    assert pool._output_size == 1 and paddle.nn.Softmax()._axis == -1
    pool._output_size = 2
    assert pool(paddle.ones([1, 1, 4, 4])).shape == [1, 1, 2, 2]


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


def test_nested_containers():
    from collections import namedtuple

    pair = namedtuple("pair", "a b")
    nest = {"z": pair(1, [2]), "y": 3}
    assert paddle.utils.flatten(nest) == [3, 1, 2] and paddle.utils.flatten(5) == [5]
    assert paddle.utils.map_structure(lambda v: v * 2, nest) == {"z": pair(2, [4]), "y": 6}
    assert paddle.utils.map_structure(abs, -1) == 1 and paddle.utils.map_structure(abs, []) == []
    with pytest.raises(ValueError, match="1 values for 3 places"):
        paddle.utils.pack_sequence_as(nest, [1])
    with pytest.raises(ValueError, match=r"hold \[1, 2\] values"):
        paddle.utils.map_structure(max, [1], [1, 2])


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


def test_sizes_of_a_linear_layer_are_what_a_subclass_says():
    class Patched(paddle.nn.Linear):
        in_features = property(lambda self: self.weight.shape[0] * 10)

    class Own(paddle.nn.Linear):
        def __init__(self):
            super().__init__(2, 3)
            self.out_features = 7

    plain, own = paddle.nn.Linear(2, 3), Own()
    assert (plain.in_features, plain.out_features, Patched(2, 3).in_features, own.out_features) == (2, 3, 20, 7)
    assert "in_features=2, out_features=3" in repr(plain)
