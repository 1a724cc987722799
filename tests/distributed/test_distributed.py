"""paddle.distributed in one process: programs that ask for ranks and exchange values run as they are."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import distributed as dist
from paddle_lite_py import nn
from paddle_lite_py.distributed import fleet
from paddle_lite_py.distributed.fleet.utils import recompute


@pytest.fixture(autouse=True)
def _no_groups():
    yield
    dist.destroy_process_group()


def test_a_program_for_many_processes_trains_in_one():
    fleet.init(is_collective=True, strategy=fleet.DistributedStrategy())
    assert dist.is_initialized() and dist.get_group().nranks == dist.get_world_size() == 1
    model = fleet.distributed_model(nn.Linear(2, 1))
    opt = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, parameters=model.parameters()))
    before = model.weight.numpy()
    loss = model(paddle.ones([4, 2])).mean()
    loss.backward()
    dist.all_reduce(loss, op=dist.ReduceOp.SUM).wait()
    opt.step()
    np.testing.assert_allclose(model.weight.numpy(), before - 0.1, rtol=1e-5)
    assert fleet.worker_num() == 1 and fleet.get_hybrid_communicate_group().get_sharding_parallel_world_size() == 1


def test_what_is_exchanged_comes_back():
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    tensors, objects, parts = [], [], []
    dist.all_gather(tensors, x)
    dist.all_gather_object(objects, {"hits": 3})
    dist.alltoall(parts, [x])
    assert objects == [{"hits": 3}] and len(tensors) == len(parts) == 1
    kept, tensors[0] = tensors[0], paddle.zeros([2, 2])
    dist.all_gather(tensors, x)  # into the tensor that is there
    assert len(tensors) == 1 and tensors[0].tolist() == kept.tolist()
    taken = paddle.zeros([2, 2])
    for exchange in (dist.scatter, dist.reduce_scatter, dist.stream.scatter):
        taken.zero_()
        exchange(taken, [x])
        assert taken.tolist() == x.tolist()
    taken.zero_()
    dist.alltoall_single(taken, x)
    assert taken.tolist() == x.tolist()
    tensors[0].zero_()
    assert x.sum().item() == 10  # what was gathered is a copy


def test_a_group_is_created_with_the_arguments_of_the_reference():
    group = dist.communication.group.Group(0, None, [0], name="alone")
    assert (dist.get_world_size(group), dist.get_rank(group), group.name) == (1, 0, "alone")
    assert dist.communication.group.Group(-1, 3, [1, 2]).rank == -1


def test_what_one_process_cannot_do_is_said(monkeypatch):
    with pytest.raises(ValueError, match="new_group: ranks is"):
        dist.new_group([0, 1])
    with pytest.raises(ValueError, match="broadcast: there is no process of rank 1"):
        dist.broadcast(paddle.ones([1]), 1)
    with pytest.raises(ValueError, match="get_group: there is no group 7"):
        dist.get_group(7)
    with pytest.raises(ValueError, match="spawn: nprocs is 0"):
        dist.spawn(print, nprocs=0)
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {"mp_degree": 2}
    with pytest.raises(ValueError, match="mp_degree=2 for 1 processes"):
        fleet.init(is_collective=True, strategy=strategy)
    fleet.init(is_collective=True)  # what was refused is not kept
    with pytest.raises(AttributeError, match="no setting 'speed'"):
        strategy.speed = 1
    with pytest.raises(ValueError, match="current_id is 1 of 2 workers, but this process is rank 0 of 1"):
        fleet.UserDefinedRoleMaker(current_id=1, worker_num=2)
    dist.destroy_process_group()
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "4")
    with pytest.raises(ValueError, match="PADDLE_TRAINERS_NUM is 4, but neither"):
        dist.init_parallel_env()


def test_a_strategy_that_changes_programs_is_refused(static_mode):
    strategy = fleet.DistributedStrategy()
    strategy.qat = True
    with pytest.raises(NotImplementedError, match="qat is on, which fleet does not do in programs"):
        fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy)
    strategy.qat, strategy.amp, strategy.gradient_merge = False, True, True
    with pytest.raises(ValueError, match="gradient_merge and amp are both on"):
        fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy)


class Block(nn.Layer):
    """Counts its calls."""

    def __init__(self):
        super().__init__()
        self.linear, self.calls = nn.Linear(3, 3), 0

    def forward(self, x, scale=None):
        self.calls += 1
        y = nn.functional.dropout(self.linear(x), 0.5, training=self.training)
        return y if scale is None else y * scale


def gradients(block, run, x, scale):
    paddle.seed(5)
    for t in (x, scale, *block.parameters()):
        t.clear_grad()
    out = run(x, scale=scale)
    (out * out).sum().backward()
    return [out.numpy(), *(t.grad.numpy() for t in (x, scale, *block.parameters()))], paddle.rand([2]).numpy()


def test_recomputation_gives_the_same_gradients_and_random_numbers():
    block = Block()
    x = paddle.to_tensor(np.arange(6, dtype="float32").reshape(2, 3), stop_gradient=False)
    scale = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    plain, next_plain = gradients(block, block, x, scale)
    again, next_again = gradients(block, lambda *a, **k: recompute(block, *a, **k), x, scale)
    assert block.calls == 3
    for a, b in zip(plain, again, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    np.testing.assert_array_equal(next_plain, next_again)


def test_recomputation_in_a_static_step():
    block = Block()
    block.eval()
    x = paddle.ones([2, 3])
    x.stop_gradient = False

    def loss(x):
        return recompute(block, x * 2).sum()

    assert paddle.jit.to_static(loss)(x).item() == pytest.approx(loss(x).item())


def test_segments_of_a_sequence():
    layers = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
    x = paddle.ones([1, 2])
    x.stop_gradient = False
    out = fleet.recompute.recompute_sequential({"segments": 3}, layers, x)
    np.testing.assert_allclose(out.numpy(), layers(x).numpy(), rtol=1e-6)


def test_exchanges_on_a_stream_have_names_of_their_own():
    found: list = []
    dist.stream.all_gather(tensor_or_tensor_list=found, tensor=paddle.ones([2]), use_calc_stream=True)
    dist.stream.alltoall_single(out := paddle.zeros([2]), found[0], out_split_sizes=[2], in_split_sizes=[2])
    dist.stream.all_reduce(out, dist.ReduceOp.SUM, None, True, True)
    assert out.tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match="tensor_list"):
        dist.stream.all_gather(tensor_list=found, tensor=out)


def test_data_parallel_is_the_layer_itself():
    layer = paddle.nn.Linear(2, 1)
    net = paddle.DataParallel(layer)
    with net.no_sync():
        net(paddle.ones([3, 2])).sum().backward()
    assert net.state_dict().keys() == layer.state_dict().keys() and layer.weight.grad is not None
    assert [p.name for p in net.parameters()] == [p.name for p in layer.parameters()]


def test_recompute_in_a_static_function_keeps_nothing_of_the_part():
    layers = paddle.nn.LayerList([paddle.nn.Linear(8, 8) for _ in range(3)])

    def step(x, again):
        for layer in layers:
            part = lambda x, layer=layer: layer(x).tanh() * 2  # noqa: E731
            x = recompute(part, x) if again else part(x)
        return paddle.grad(x.sum(), layers.parameters())

    static, x = paddle.jit.to_static(step, full_graph=True), paddle.rand([4, 8])
    for kept, again in zip(static(x, False), static(x, True), strict=True):
        np.testing.assert_allclose(again.numpy(), kept.numpy(), rtol=1e-4, atol=1e-5)
    programs = [p.program for p in static.program_cache]
    names = [[op.name for op in p.ops()] for p in programs]
    assert [n.count("recompute") for n in names] == [0, 3]
    # Once more each; of the last layer nothing but the gradient is asked for.
    plain, again = (static.lower(x, a).stablehlo().count("tanh") for a in (False, True))
    assert (plain, again) == (3, 5)


def test_recompute_in_a_static_function_draws_the_same_numbers_and_refuses_gradients_of_inner_values():
    held = []

    def part(x):
        h = paddle.nn.functional.dropout(x, 0.5) * x
        held.append(h)
        return h.exp()

    def drawn(x):
        out = recompute(part, x)
        return out, paddle.grad(out.sum(), x)[0]

    x = paddle.rand([16])
    x.stop_gradient = False
    out, grad = paddle.jit.to_static(drawn, full_graph=True)(x)
    # out = exp(x * x * m) with m in {0, 2}: its gradient is out * 2 * x * m
    m = np.log(out.numpy()) / x.numpy() ** 2
    np.testing.assert_allclose(grad.numpy(), out.numpy() * 2 * x.numpy() * m, rtol=1e-4)

    def inner(x):
        held.clear()
        out = recompute(part, x)
        return paddle.grad(out.sum(), held[0])[0]

    with pytest.raises(RuntimeError, match="made inside of recompute"):
        paddle.jit.to_static(inner, full_graph=True)(x)
