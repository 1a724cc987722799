"""A net whose layers lie in different processes, trained as in one; and checkpoints read under other meshes."""

import sys

import numpy as np

import paddle_lite_py as paddle
from paddle_lite_py import distributed as dist
from paddle_lite_py import nn

RANK = dist.get_rank()
STAGES = [dist.ProcessMesh([i], ["x"]) for i in range(2)]
BOTH = dist.ProcessMesh([0, 1], ["x"])
S0, S1, R = dist.Shard(0), dist.Shard(1), dist.Replicate()
X = np.arange(32, dtype="float32").reshape(8, 4) / 10


def trained(in_stages, clip=None):
    paddle.seed(5)
    net = nn.LayerList([nn.Linear(4, 8), nn.Linear(8, 2)])
    if in_stages:
        for layer, mesh in zip(net, STAGES, strict=True):
            dist.shard_layer(layer, mesh)
    adam = paddle.optimizer.AdamW(0.05, parameters=net.parameters())
    adam = adam if clip is None else paddle.optimizer.SGD(0.5, parameters=net.parameters(), grad_clip=clip)
    adam = dist.shard_optimizer(adam) if in_stages else adam
    losses = []
    for _ in range(3):
        x, y = paddle.to_tensor(X), paddle.to_tensor(X[:, :2])
        if in_stages:
            x, y = dist.shard_tensor(x, STAGES[0], [R]), dist.shard_tensor(y, STAGES[1], [R])
        h = nn.functional.relu(net[0](x))
        h = dist.reshard(h, STAGES[1], [R]) if in_stages else h
        loss = nn.functional.mse_loss(net[1](h), y)
        loss.backward()
        adam.step()
        adam.clear_grad()
        losses.append(loss)
    return losses, net


def stages():
    expected, whole = trained(False)
    losses, net = trained(True)
    for loss, alone in zip(losses, expected, strict=True):
        assert loss._is_initialized() == (RANK == 1)
        if RANK == 1:
            np.testing.assert_allclose(loss.numpy(), alone.numpy(), rtol=1e-5)
        else:
            assert loss.numpy().size == 0 and "without data in this process" in repr(loss), repr(loss)
            try:
                float(loss)
            except ValueError as e:
                assert "this process has no part of the tensor" in str(e) and "process_ids: [1]" in str(e), e
    weight, alone = net[RANK].weight, whole[RANK].weight
    np.testing.assert_allclose(weight.numpy(), alone.numpy(), rtol=1e-5)
    np.testing.assert_allclose(dist.reshard(net[0].weight, BOTH, [S0]).numpy(), whole[0].weight.numpy(), rtol=1e-5)


def clipped():
    """By the norm of the gradients of both stages, which changes them."""
    expected, whole = trained(False, nn.ClipGradByGlobalNorm(0.1))
    losses, net = trained(True, nn.ClipGradByGlobalNorm(0.1))
    np.testing.assert_allclose(net[RANK].weight.numpy(), whole[RANK].weight.numpy(), rtol=1e-5)
    if RANK == 1:
        np.testing.assert_allclose([loss.item() for loss in losses], [loss.item() for loss in expected], rtol=1e-5)


class Staged(nn.Layer):
    def __init__(self, in_stages):
        super().__init__()
        self.first, self.last, self.in_stages = nn.Linear(4, 8), nn.Linear(8, 2), in_stages
        if in_stages:
            dist.shard_layer(self.first, STAGES[0])
            dist.shard_layer(self.last, STAGES[1])

    def forward(self, x):
        h = nn.functional.relu(self.first(x))
        return self.last(dist.reshard(h, STAGES[1], [R]) if self.in_stages else h)


def pipelined():
    """Steps of dist.to_static in micro-batches: of stages, and as one program over one mesh."""
    found = []
    for where, count in (((None, None), 1), ((BOTH, BOTH), 4), (STAGES, 4)):
        paddle.seed(6)
        net = Staged(where is STAGES)
        if where[0] is BOTH:
            dist.shard_layer(net, BOTH)
        sgd = paddle.optimizer.SGD(0.5, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.1))
        strategy = dist.Strategy({"pipeline": {"enable": count > 1, "accumulate_steps": count}})
        step = dist.to_static(net, None, nn.MSELoss(), sgd, strategy)
        x, y = paddle.to_tensor(X), paddle.to_tensor(X[:, :2])
        if where[0] is not None:
            x, y = dist.shard_tensor(x, where[0], [R]), dist.shard_tensor(y, where[1], [R])
        losses = [step(x, y) for _ in range(3)]
        if where is not STAGES or RANK == 1:
            found.append([float(loss) for loss in losses])
        found.append((net.last if RANK else net.first).weight.numpy())
        if count > 1:
            try:
                step(x[:6], y)
            except ValueError as e:
                assert "accumulate_steps is 4, and argument 0 of the step is [6, 4]" in str(e), e
            else:
                raise AssertionError("six rows are no four micro-batches")
    weights = found[1::2] if RANK else [found[1], found[3], found[4]]
    for weight in weights[1:]:
        np.testing.assert_allclose(weight, weights[0], rtol=1e-5, atol=1e-7)
    for losses in found[2:5:2] if RANK else found[2:3]:
        np.testing.assert_allclose(losses, found[0], rtol=1e-5)


def other_processes():
    """A tensor goes from any mesh to any other one; each gets what it lacks."""
    places = [(m, p) for m in (*STAGES, BOTH, dist.ProcessMesh([1, 0], ["x"])) for p in (S0, S1, R, dist.Partial())]
    for old, before in places[::3]:
        for new, after in places[1::2]:
            x = dist.shard_tensor(X, old, [before])
            y = dist.reshard(x, new, [after])
            assert y.process_mesh == new and y.shape == [8, 4]
            if RANK in new.process_ids:
                np.testing.assert_array_equal(y.numpy(), X, err_msg=f"{old} {before} {new} {after}")


def checkpoints(folder):
    x = dist.shard_tensor(X, BOTH, [S0, R])
    part = dist.auto_parallel.api.dtensor_from_local(paddle.to_tensor(X) * (RANK + 1), BOTH, [dist.Partial()])
    dist.save_state_dict({"x": x, "nested": {"part": part, "step": 3}}, folder)
    for mesh, placements in ((BOTH, [S1]), (BOTH, [R]), (dist.ProcessMesh([1, 0], ["y"]), [S0])):
        state = {
            "x": dist.shard_tensor(X * 0, mesh, placements),
            "nested": {"part": dist.shard_tensor(X * 0, mesh, [R])},
        }
        dist.load_state_dict(state, folder)
        assert state["x"].placements == placements and state["x"].process_mesh == mesh
        np.testing.assert_array_equal(state["x"].numpy(), X)
        np.testing.assert_allclose(state["nested"]["part"].numpy(), X * 3, rtol=1e-6)
    alone = {"x": paddle.zeros([8, 4])}
    dist.load_state_dict(alone, folder)
    np.testing.assert_array_equal(alone["x"].numpy(), X)
    path = f"{folder}/x{RANK}.pdparams"
    paddle.save({"x": x}, path)
    np.testing.assert_array_equal(paddle.load(path)["x"].numpy(), X)


def received():
    """A tensor that is on its way is waited for by whoever reads it."""
    for kind in ("float32", "int64", "bool"):
        x = paddle.to_tensor([1, RANK, 0]).astype(kind)
        other = 1 - RANK
        sent = dist.isend(x, other)
        got = paddle.zeros([3], kind)
        task = dist.irecv(got, other)
        assert got.tolist() == paddle.to_tensor([1, other, 0]).astype(kind).tolist()
        assert task.wait() and task.is_completed() and sent.wait() and sent.is_completed()
    dist.stream.reduce_scatter(got := paddle.zeros([2]), [paddle.ones([2]), paddle.ones([2]) * 2], sync_op=True)
    assert got.tolist() == [2.0 * (RANK + 1)] * 2
    dist.gloo_init_parallel_env(RANK, 2, "")
    dist.gloo_barrier()
    dist.gloo_release()


for check in (stages, clipped, pipelined, other_processes, received):
    check()
    print(f"{check.__name__} is well", flush=True)
checkpoints(sys.argv[1])
print("checkpoints is well", flush=True)
