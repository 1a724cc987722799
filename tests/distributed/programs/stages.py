"""A program that names devices, trained in stages by several processes: the same as by one."""

import sys

import numpy as np

import paddle_lite_py as paddle
from paddle_lite_py import static
from paddle_lite_py.distributed import fleet

STAGES = int(sys.argv[1])
ROWS, PARTS, STEPS = 8, 4, 3
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(ROWS, 6)).astype("float32"), RNG.normal(size=(ROWS, 1)).astype("float32")
paddle.enable_static()


def drawn(*shape):
    values = np.random.default_rng(shape).normal(size=shape).astype("float32") / 3
    return paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(values))


def built(staged):
    """Layers in stages; what the first one makes is read by the last one as well."""
    x, y = static.data("x", [None, 6]), static.data("y", [None, 1])
    with static.device_guard("gpu:0"):
        first = paddle.tanh(static.nn.fc(x, 5, weight_attr=drawn(6, 5), bias_attr=drawn(5)))
        h = first
    for k in range(1, STAGES):
        with static.device_guard(f"gpu:{k}"):
            h = paddle.matmul(h, static.create_parameter([5, 5], "float32", attr=drawn(5, 5)))
    with static.device_guard(f"gpu:{STAGES - 1}"):
        score = (h * first).sum(1, keepdim=True)
        loss = paddle.nn.functional.mse_loss(score, y)
    schedule = paddle.optimizer.lr.StepDecay(0.1, step_size=2)
    clip = paddle.nn.ClipGradByGlobalNorm(0.5)
    adam = paddle.optimizer.Adam(schedule, grad_clip=clip, weight_decay=0.01)
    if staged is not None:
        adam = fleet.distributed_optimizer(adam, staged)
    adam.minimize(loss)
    return score, loss, schedule


def trained(staged, feed):
    main, startup, scope = static.Program(), static.Program(), static.Scope()
    with static.program_guard(main, startup), static.scope_guard(scope), paddle.utils.unique_name.guard():
        score, loss, schedule = built(staged)
        exe, found = static.Executor(), []
        exe.run(startup)
        for _ in range(STEPS):
            found.append(exe.run(main, feed=feed, fetch_list=[loss, score.name]))
            schedule.step()
        names = [p.name for p in main.all_parameters()]
        return found, {n: scope.homes[n].numpy() for n in names if n in scope.homes}


def main():
    strategy = fleet.DistributedStrategy()
    strategy.pipeline = True
    strategy.pipeline_configs = {"accumulate_steps": PARTS, "micro_batch_size": ROWS // PARTS}
    if len(sys.argv) > 2:
        strategy.pipeline_configs = {"schedule_mode": sys.argv[2]}
    fleet.init(is_collective=True, strategy=strategy)
    rank, copies = fleet.worker_index(), fleet.worker_num() // STAGES
    alone, weights = trained(None, {"x": X, "y": Y})
    own = slice(rank // STAGES * ROWS // copies, (rank // STAGES + 1) * ROWS // copies)
    found, held = trained(strategy, {"x": X[own], "y": Y[own]})
    assert 0 < len(held) < len(weights), held.keys()
    for name, values in held.items():
        np.testing.assert_allclose(values, weights[name], rtol=1e-4, atol=1e-6, err_msg=name)
    if rank % STAGES < STAGES - 1:
        assert found == [[]] * STEPS, found
    else:
        for (loss, score), (wanted, scores) in zip(found, alone, strict=True):
            np.testing.assert_allclose(score, scores[own], rtol=1e-4, atol=1e-6)
            assert copies > 1 or abs(loss - wanted) < 1e-5
    print(f"stage {rank % STAGES} has {', '.join(held)}", flush=True)


if __name__ == "__main__":
    main()
