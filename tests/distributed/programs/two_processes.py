"""What two processes say to each other; run by the launcher, an assertion that fails ends the job."""

import os
from pathlib import Path

import numpy as np

import paddle_lite_py as paddle
import paddle_lite_py.nn.functional as F
from paddle_lite_py import distributed as dist
from paddle_lite_py import nn
from paddle_lite_py.distributed import fleet
from paddle_lite_py.distributed.exchange import exchanges
from paddle_lite_py.distributed.fleet import meta_parallel as parallel
from paddle_lite_py.distributed.fleet.layers.mpu import mp_ops
from paddle_lite_py.distributed.utils import moe_utils
from paddle_lite_py.incubate.distributed.models import moe

dist.init_parallel_env()
RANK = dist.get_rank()
REDUCED = {"SUM": [3, 1, 5], "MAX": [2, 1, 3], "MIN": [1, 0, 2], "PROD": [2, 0, 6], "AVG": [1.5, 0.5, 2.5]}
KINDS = ("int8", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64")


def reductions():
    for kind in KINDS:
        for name, expected in REDUCED.items():
            x = paddle.to_tensor(np.array([1, 0, 2]) + RANK).astype(kind)
            dist.all_reduce(x, getattr(dist.ReduceOp, name))
            assert x.astype("float64").tolist() == [
                float(np.array(e).astype(int) if "int" in kind else e) for e in expected
            ]
    flags = paddle.to_tensor([True, RANK == 0, False])
    dist.all_reduce(flags, dist.ReduceOp.MAX)
    assert flags.tolist() == [True, True, False]
    number = paddle.to_tensor(1.0 + 2j * RANK)
    dist.all_reduce(number)
    assert number.item() == 2 + 2j
    mine = paddle.to_tensor([1.0])
    dist.reduce(mine, 1)
    assert mine.item() == (2 if RANK else 1)


def deliveries():
    bits = paddle.to_tensor([-0.0, float("nan")]) if RANK == 0 else paddle.ones([2])
    dist.broadcast(bits, 0)
    assert np.signbit(bits.numpy()[0]) and np.isnan(bits.numpy()[1])
    rows = []
    dist.all_gather(rows, paddle.to_tensor([RANK, 5]))
    assert [r.tolist() for r in rows] == [[0, 5], [1, 5]]
    one = paddle.zeros([2])
    dist.scatter(one, [paddle.full([2], 5.0), paddle.full([2], 6.0)] if RANK == 1 else None, src=1)
    assert one.tolist() == [5.0 + RANK] * 2
    dist.reduce_scatter(one, [paddle.full([2], 1.0), paddle.full([2], 2.0 + RANK)])
    assert one.tolist() == ([2.0, 2.0], [5.0, 5.0])[RANK]
    parts = []
    dist.alltoall(parts, [paddle.to_tensor([10 * RANK]), paddle.to_tensor([10 * RANK + 1])])
    assert [p.item() for p in parts] == [RANK, 10 + RANK]
    parts = []
    dist.alltoall(parts, [paddle.full([RANK + i + 1, 2], RANK) for i in range(2)])
    assert [p.shape for p in parts] == [[RANK + 1, 2], [RANK + 2, 2]]
    whole = paddle.zeros([3]) if RANK == 0 else paddle.zeros([1])
    sizes = ([2, 0], [1, 1])[RANK]
    dist.alltoall_single(whole, paddle.arange(2, dtype="float32") + 10 * RANK, sizes, ([2, 1], [0, 1])[RANK])
    assert whole.tolist() == ([0.0, 1.0, 10.0], [11.0])[RANK]
    objects = []
    dist.all_gather_object(objects, {"rank": RANK, "text": "x" * (1000 * RANK)})
    assert [len(o["text"]) for o in objects] == [0, 1000]
    words = ["from", RANK]
    dist.broadcast_object_list(words, 1)
    assert words == ["from", 1]


def one_to_one():
    mine, other = paddle.full([3], float(RANK)), paddle.zeros([3])
    operations = [dist.P2POp(dist.isend, mine, 1 - RANK), dist.P2POp(dist.irecv, other, 1 - RANK)]
    for task in dist.batch_isend_irecv(operations):
        task.wait()
    assert other.tolist() == [1.0 - RANK] * 3
    if RANK == 0:
        for i in range(3):
            dist.send(paddle.to_tensor([i]), 1)
        dist.send_object_list([{"a": 1}], 1)
    else:
        first, second, third = [paddle.zeros([1], "int64") for _ in range(3)]
        tasks = [dist.irecv(t, 0) for t in (first, second, third)]
        tasks[2].wait()
        assert [first.item(), second.item(), third.item()] == [0, 1, 2]
        found = []
        dist.recv_object_list(found, 0)
        assert found == [{"a": 1}]


def groups():
    alone = [dist.new_group([r]) for r in range(2)]
    assert alone[RANK].is_member() and not alone[1 - RANK].is_member() and alone[RANK].rank == 0
    x = paddle.ones([1])
    assert dist.all_reduce(x, group=alone[1 - RANK]) is None
    dist.all_reduce(x, group=alone[RANK])
    assert x.item() == 1


def _trained(parallel, static=False, pieces=False, level=None):
    paddle.seed(3)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    if parallel and RANK:
        for p in net.parameters():
            p.set_value(p * 0 + 7)
    model = paddle.DataParallel(net) if parallel and not level else net
    opt = paddle.optimizer.Adam(0.05, parameters=net.parameters())
    if level:
        model, opt, _ = dist.sharding.group_sharded_parallel(net, opt, level)
    rng = np.random.default_rng(0)
    x, y = [paddle.to_tensor(rng.normal(size=s).astype("float32")) for s in ((8, 4), (8, 1))]
    if parallel:
        x, y = x[4 * RANK : 4 * RANK + 4], y[4 * RANK : 4 * RANK + 4]

    def step(x, y):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    def step_in_pieces(x, y):
        with model.no_sync():
            (F.mse_loss(model(x[:2]), y[:2]) / 2).backward()
        (F.mse_loss(model(x[2:]), y[2:]) / 2).backward()
        opt.step()
        opt.clear_grad()

    run = step_in_pieces if pieces else paddle.jit.to_static(step) if static else step
    for _ in range(3):
        run(x, y)
    if level == "p_g_os":
        held = [p for p in opt._parameter_list if p.size]
        assert sum(p.size for p in held) == (4 * 8 + 8 + 8 + 2) // 2 and np.isnan(net[0].weight.numpy()).all()
        assert {tuple(v.shape) for k, v in opt.state_dict().items() if "moment1" in k} == {(16,), (4,), (1,)}
        return np.concatenate([v.numpy().ravel() for v in model.state_dict().values()])
    return np.concatenate([p.numpy().ravel() for p in net.parameters()])


def data_parallel():
    alone = _trained(False)
    for how in ({}, {"static": True}, {"pieces": True}, *[{"level": n} for n in ("os", "os_g", "p_g_os")]):
        np.testing.assert_allclose(_trained(True, **how), alone, atol=1e-6, err_msg=str(how))


def _normalized(parallel, static=False):
    paddle.seed(4)
    net = nn.Sequential(nn.Conv2D(2, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 1))
    model = paddle.DataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(net)) if parallel else net
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    samples = list(np.random.default_rng(1).normal(size=(8, 2, 4, 4)).astype("float32") * 3 + 1)
    batch = paddle.io.DistributedBatchSampler if parallel else paddle.io.BatchSampler

    def step(x):
        loss = (model(x) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()

    run = paddle.jit.to_static(step) if static else step
    for _ in range(2):
        for x in paddle.io.DataLoader(samples, batch_sampler=batch(samples, batch_size=2 if parallel else 4)):
            run(x)
    return np.concatenate([t.numpy().ravel() for t in net.state_dict().values()])


def batch_statistics():
    alone = _normalized(False)
    for static in (False, True):
        np.testing.assert_allclose(_normalized(True, static), alone, rtol=1e-4, atol=1e-6)


def _with_strategy(name, **configs):
    """Parameters after training by a strategy, and the bytes that this process has given."""
    strategy = fleet.DistributedStrategy()
    setattr(strategy, name, True)
    setattr(strategy, f"{name}_configs", configs)
    fleet.init(is_collective=True, strategy=strategy)
    paddle.seed(5 + RANK)  # the model of the first process is that of all
    net = nn.Linear(64, 8)
    model = fleet.distributed_model(net)
    opt = fleet.distributed_optimizer(paddle.optimizer.Momentum(0.05, 0.5, parameters=net.parameters()))
    before, losses = exchanges().traffic, []
    x = paddle.to_tensor(np.random.default_rng(RANK).normal(size=(16, 64)).astype("float32"))
    for _ in range(6):
        loss = (model(x) - 1).square().mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        losses.append(loss.item())
    found = []
    dist.all_gather(found, net.weight)
    fleet.init(is_collective=True, strategy=fleet.DistributedStrategy())
    return [f.numpy() for f in found], exchanges().traffic - before - found[0].size * 4, losses


def sparse_exchanges():
    whole = 4 * (64 * 8 + 8)
    for configs, traffic in (
        ({"sparsity": [0.0]}, 6 * 2 * whole),  # a number and its place
        ({"sparsity": [0.99]}, 6 * 8 * (5 + 1)),
        ({"sparsity": [0.9], "rampup_begin_step": 2}, 2 * whole + 4 * 8 * (51 + 1)),
    ):
        weights, given, losses = _with_strategy("dgc", **configs)
        np.testing.assert_array_equal(weights[0], weights[1])
        assert given == traffic and losses[-1] < losses[0], (configs, given, losses)
    weights, given, losses = _with_strategy("localsgd", k_steps=3, begin_step=0)
    np.testing.assert_array_equal(weights[0], weights[1])
    assert given == 2 * whole and losses[-1] < losses[0], (given, losses)


def _program_trained(parallel, merged=1, **switches):
    """Losses of a program, and the sizes of the optimizer's states; parallel: with half of the rows in each process."""
    paddle.enable_static()
    main, startup, scope = paddle.static.Program(), paddle.static.Program(), paddle.static.Scope()
    main.random_seed = startup.random_seed = 7 + RANK * parallel  # all start with what the first one draws
    with paddle.static.program_guard(main, startup), paddle.static.scope_guard(scope), paddle.utils.unique_name.guard():
        x, y = paddle.static.data("x", [4 if parallel else 8, 4]), paddle.static.data("y", [4 if parallel else 8, 1])
        hidden = nn.Linear(4, 3)(x)
        loss = F.mse_loss(nn.Linear(3, 1)(F.relu(hidden)), y)
        opt = paddle.optimizer.Adam(0.05)
        strategy = fleet.DistributedStrategy()
        for name, configs in switches.items():
            setattr(strategy, name, True)
            setattr(strategy, f"{name}_configs", {"checkpoints": [hidden]} if name == "recompute" else configs)
        if parallel:
            opt = fleet.distributed_optimizer(opt, strategy)
        elif merged > 1:
            opt = paddle.static.GradientMergeOptimizer(opt, merged)
        opt.minimize(loss)
        exe, rng, losses = paddle.static.Executor(), np.random.default_rng(4), []
        exe.run(startup)
        a, b = rng.normal(size=(8, 4)).astype("float32"), rng.normal(size=(8, 1)).astype("float32")
        if parallel:
            a, b = a[4 * RANK : 4 * RANK + 4], b[4 * RANK : 4 * RANK + 4]
        for _ in range(4):
            losses.append(exe.run(main, feed={"x": a, "y": b}, fetch_list=[loss])[0].item())
        sizes = sorted(scope.homes[n].size for n in scope.homes if "moment1" in n)
    paddle.disable_static()
    return losses, sizes


def programs():
    fleet.init(is_collective=True)
    for switches, merged, tolerance in (
        ({}, 1, 1e-5),
        ({"sharding": {}}, 1, 1e-5),
        ({"recompute": {}, "gradient_merge": {"k_steps": 2}}, 2, 1e-5),
        ({"amp": {"use_bf16": True}}, 1, 2e-2),
    ):
        expected, whole = _program_trained(False, merged)
        losses, sizes = _program_trained(True, merged, **switches)
        mean = paddle.to_tensor(losses)
        dist.all_reduce(mean, dist.ReduceOp.AVG)
        np.testing.assert_allclose(mean.numpy(), expected, rtol=tolerance, err_msg=str(switches))
        assert sizes == ([-(-n // 2) for n in whole] if "sharding" in switches else whole), sizes


class _Either(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(2, 1), nn.Linear(2, 1), nn.Linear(2, 1)

    def forward(self, x, first):
        return self.a(x) if first else self.b(x)


def unused_parameters():
    model = _Either()
    paddle.DataParallel(model, find_unused_parameters=True)(paddle.ones([1, 2]), RANK == 0).sum().backward()
    assert model.a.weight.grad.tolist() == model.b.weight.grad.tolist() == [[0.5], [0.5]]
    assert model.c.weight.grad is None


def in_a_static_function():
    @paddle.jit.to_static
    def doubled(x):
        y = x * 2
        dist.all_reduce(y)
        return y + 1

    split = paddle.jit.to_static(lambda x, w: (mp_ops._mp_allreduce(x @ w, group=dist.get_group()) ** 2).mean())
    w = paddle.to_tensor(np.arange(6, dtype="float32").reshape(3, 2) / 5, stop_gradient=False)
    x = paddle.full([4, 3], 1.0 + RANK)
    for _ in range(2):  # gradients flow out of the program into eager code
        (split(x, w) * 2).backward()
    eager = paddle.to_tensor(w.numpy(), stop_gradient=False)
    loss = (mp_ops._mp_allreduce(x @ eager, group=dist.get_group()) ** 2).mean()
    (loss * 4).backward()
    np.testing.assert_allclose(w.grad.numpy(), eager.grad.numpy(), rtol=1e-5)
    both = paddle.jit.to_static(lambda x, w, v: (split(x, w), mp_ops._mp_allreduce(x * v, group=dist.get_group())))
    v, w.grad = paddle.ones([3], dtype="float32"), None
    v.stop_gradient = False
    for _ in range(2):
        (both(x, w, v)[0] * 2).backward()
    np.testing.assert_allclose(w.grad.numpy(), eager.grad.numpy(), rtol=1e-5)
    assert v.grad is None  # an optimizer leaves it alone, as in eager mode
    both(x, w, v)[1].sum().backward()
    assert v.grad.tolist() == [4.0 * (1 + RANK)] * 3
    for _ in range(2):
        assert doubled(paddle.ones([2]) * (RANK + 1)).tolist() == [7.0, 7.0]


def mixed_precision():
    """Exchanges are made at once under auto_cast, too."""
    x = paddle.full([2, 2], 1.0 + RANK)
    x.stop_gradient = False
    with paddle.amp.auto_cast(dtype="bfloat16"):
        out = mp_ops._mp_allreduce(x @ x, group=dist.get_group())
    out.astype("float32").sum().backward()
    assert out.dtype == paddle.bfloat16 and out.astype("float32").tolist() == [[10.0, 10.0]] * 2
    assert x.grad.tolist() == [[4.0 * (1 + RANK)] * 2] * 2


def _mixed(parallel, kind, static=False):
    """Four experts, all in one process or two in each; the rows of a process are every other half."""
    paddle.seed(6)
    experts = [nn.Linear(3, 3) for _ in range(4)]
    gate = moe.NaiveGate(3, 4, 1) if kind == "naive" else moe.GShardGate(3, 4, 1, capacity=(9, 9), random_routing=False)
    group = dist.get_group() if parallel else None
    if parallel:
        gate.world_size, gate.num_expert = 2, 2
        experts = experts[2 * RANK : 2 * RANK + 2]
    net = moe.MoELayer(3, experts, gate, moe_group=group)
    is_expert = {id(p) for e in experts for p in e.parameters()}
    clip = moe.ClipGradForMOEByGlobalNorm(0.5, lambda p: id(p) in is_expert, group)
    opt = paddle.optimizer.SGD(0.5, parameters=net.parameters(), grad_clip=clip)
    model = paddle.DataParallel(net) if parallel else net
    x = paddle.to_tensor(np.random.default_rng(2).normal(size=(8, 3)).astype("float32"))
    mine = x[4 * RANK : 4 * RANK + 4] if parallel else x

    def step(x):
        out = model(x)
        (out**2).mean().backward()
        opt.step()
        opt.clear_grad()
        return out

    run = paddle.jit.to_static(step) if static else step
    for _ in range(3):
        out = run(mine)
    rows = []
    dist.all_gather(rows, out) if parallel else rows.append(out)
    return np.concatenate([r.numpy() for r in rows])


def experts():
    for kind in ("naive", "gshard"):
        alone = _mixed(False, kind)
        for static in (False, True):
            np.testing.assert_allclose(_mixed(True, kind, static), alone, rtol=1e-4, atol=1e-6)
    x = paddle.to_tensor(np.arange(5, dtype="float32").reshape(5, 1) + 10 * RANK, stop_gradient=False)
    counts = [paddle.to_tensor(c) for c in ([2, 1, 1, 1], [1, 1, 2, 1])]
    coming = [paddle.to_tensor(c) for c in ([2, 1, 1, 1], [1, 1, 2, 1])]
    there = moe_utils.global_scatter(x, counts[RANK], coming[RANK])
    assert there.flatten().tolist() == ([0, 1, 10, 2, 11], [3, 12, 13, 4, 14])[RANK]
    back = moe_utils.global_gather(there * there, counts[RANK], coming[RANK])
    back.sum().backward()
    assert (back == x * x).all() and (x.grad == 2 * x).all()
    # Each process has three rows for expert 0 of the first, which takes four: all of the first, one of the second.
    index = paddle.to_tensor([[0], [0], [0], [1]])
    taken = moe.utils.limit_by_capacity(index, 1, 2, 4)[2].flatten().tolist()
    assert taken == ([0, 0, 0, 1], [0, -1, -1, 1])[RANK]


def _attended(q, k, v, weight, how, causal):
    """The result and the gradients, of all of the sequence and of its parts."""
    q, k, v = (t.detach() for t in (q, k, v))
    q.stop_gradient = k.stop_gradient = v.stop_gradient = False
    whole, group = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal), dist.get_group()
    cut = [parallel.split_sequence(t, group=group, balanced=how == "balanced") for t in (q, k, v)]
    if how == "heads":
        cut = [parallel.sequence_to_heads(t, group) for t in cut]
        out = parallel.heads_to_sequence(F.scaled_dot_product_attention(*cut, is_causal=causal), group)
    else:
        out = parallel.ring_attention(*cut, causal, group, balanced=how == "balanced")
    found = parallel.join_sequence(out, group=group, balanced=how == "balanced")
    return [[o.detach(), *paddle.grad((o * weight).sum(), [q, k, v], retain_graph=True)] for o in (whole, found)]


def sequences():
    rng = np.random.default_rng(3)
    for how, causal, kv_heads, static in (
        ("parts", False, 2, False), ("parts", True, 4, True), ("balanced", True, 2, False), ("heads", True, 4, False),
    ):  # fmt: skip
        q, k, v, weight = [
            paddle.to_tensor(rng.normal(size=(2, 8, h, 3)).astype("float32")) for h in (4, kv_heads, kv_heads, 4)
        ]
        run = paddle.jit.to_static(_attended) if static else _attended
        for expected, found in zip(*run(q, k, v, weight, how, causal), strict=True):
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5, err_msg=how)


def doors():
    """Whatever listens in a job on one node, JAX's coordinator included, listens at the loopback address."""
    found = []
    own = {os.readlink(f) for f in Path("/proc/self/fd").iterdir() if f.is_symlink()}
    mapped = f"{0:016X}FFFF00000100007F"  # IPv4 within IPv6
    for name, loopback in (("tcp", "0100007F"), ("tcp6", (mapped, f"{1 << 24:032X}"))):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == "0A" and f"socket:[{rest[5]}]" in own:
                assert local.startswith(loopback), local
                found.append(local)
    assert len(found) >= 1 + (RANK == 0), found
    assert len(os.environ["PADDLE_JOB_KEY"]) == 64  # the launcher's, new for each job


CHECKS = (doors, reductions, deliveries, one_to_one, groups, data_parallel, batch_statistics, experts)
for check in (*CHECKS, mixed_precision, sequences, sparse_exchanges, programs, unused_parameters, in_a_static_function):
    check()
    print(f"{check.__name__} is well", flush=True)
dist.barrier()
