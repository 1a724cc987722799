"""Writes recommender.ipynb, clicks learned with parameter servers: python tutorials/make_recommender_notebook.py."""

from __future__ import annotations

from make_notebook import write

CELLS = [
    """# A recommender, and servers that keep its tables
A DeepFM learns clicks from files of slots: first in one process, then with a parameter server and two workers. The
program is the same. It takes half a minute, and `pip install '.[ps]' matplotlib` in a clone of the repository.""",
    """## Files of slots
Each line is an instance, slot by slot: a count, and that many values. Here are a label and five features; what is
clicked depends on each feature, and on pairs of them.""",
    """    import tempfile
    from pathlib import Path

    import numpy as np

    folder = Path(tempfile.mkdtemp())
    shop = np.random.default_rng(0)
    alone, pairs = shop.normal(0, 0.7, (5, 60)), shop.normal(0, 0.7, (5, 60, 3))

    def write_part(name, lines, seed):
        rng = np.random.default_rng(seed)
        features = np.minimum(rng.zipf(1.3, (lines, 5)) - 1, 59)
        own = pairs[np.arange(5), features]
        logit = alone[np.arange(5), features].sum(1) + ((own.sum(1) ** 2) - (own**2).sum(1)).sum(1) / 2
        labels = (rng.random(lines) < 1 / (1 + np.exp(-logit))).astype(int)
        ids = features + 1000 * np.arange(1, 6)
        rows = [f"1 {y} " + " ".join(f"1 {i}" for i in row) for y, row in zip(labels, ids)]
        (folder / name).write_text("\\n".join(rows) + "\\n")

    for seed, name in enumerate(["part-0", "part-1", "test-0"]):
        write_part(name, 3000, seed)
    print((folder / "part-0").read_text().splitlines()[0])""",
    """## The program
`sparse_embedding` is a table for any ids. Without servers it is an ordinary parameter of this size, of which a step
updates the rows that it has read; with servers it lies there. `fleet` knows which of the two it is, and which of the
processes this one is: the launcher says so in the environment.""",
    """    program = folder / "train.py"
    program.write_text('''
    import sys
    from pathlib import Path

    import numpy as np
    import paddle
    import paddle.distributed.fleet as fleet
    import paddle.nn.functional as F

    folder, mode = Path(sys.argv[1]), sys.argv[2]
    paddle.enable_static()
    paddle.seed(1)
    fleet.init(fleet.PaddleCloudRoleMaker())
    label = paddle.static.data("label", [None, 1], "int64")
    slots = [paddle.static.data(f"C{i}", [None, 1], "int64") for i in range(5)]

    def table(name, size):
        attr = paddle.ParamAttr(name=name, initializer=paddle.nn.initializer.Uniform(-0.1, 0.1))
        return paddle.static.nn.sparse_embedding(paddle.concat(slots, 1), [10000, size], param_attr=attr)

    first, found = table("first", 1), table("second", 8)
    total = found.sum(1)
    second = 0.5 * (total * total - (found * found).sum(1)).sum(1, keepdim=True)
    deep = paddle.nn.Sequential(paddle.nn.Linear(40, 16), paddle.nn.ReLU(), paddle.nn.Linear(16, 1))
    click = F.sigmoid(first.sum(1) + second + deep(found.reshape([-1, 40])))
    loss = F.binary_cross_entropy(click, paddle.cast(label, "float32"))
    test = paddle.static.default_main_program().clone(for_test=True)

    strategy = fleet.DistributedStrategy()
    strategy.a_sync = mode != "sync"
    strategy.a_sync_configs = {"k_steps": 20 if mode == "geo" else 0}
    fleet.distributed_optimizer(paddle.optimizer.Adagrad(0.05), strategy).minimize(loss)
    if fleet.is_server():
        fleet.init_server()
        fleet.run_server()
        sys.exit()

    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    fleet.init_worker()

    def dataset(files):
        made = paddle.distributed.InMemoryDataset()
        made.init(batch_size=64 // fleet.worker_num(), use_var=[label, *slots])
        made.set_filelist(files)
        made.load_into_memory()
        return made

    train = dataset(fleet.util.get_file_shard([str(folder / f"part-{i}") for i in range(2)]))
    held = dataset([str(folder / "test-0")])
    for epoch in range(4):
        train.local_shuffle()
        exe.train_from_dataset(paddle.static.default_main_program(), train)
        fleet.barrier_worker()
        auc = paddle.metric.Auc()
        for feed in held:
            (p,) = exe.run(test, feed=feed, fetch_list=[click])
            auc.update(np.concatenate([1 - p, p], 1), feed["label"])
        print("auc", round(float(auc.accumulate()), 4), flush=True)
        fleet.barrier_worker()
    fleet.stop_worker()
    ''')""",
    """## Alone, and with others
`geo`: each worker trains by itself, and exchanges what has changed every 20 steps; `sync` would make each step
together. What the first worker prints, the launcher shows; logs of all are in its folder.""",
    """    import re
    import subprocess
    import sys

    launch = ["-m", "paddle_lite_py.distributed.launch", "--server_num", "1", "--trainer_num", "2"]
    launch += ["--log_dir", str(folder / "log")]
    curves = {}
    for mode, how in {"alone": ["-m", "paddle_lite_py", "run"], "geo": launch}.items():
        command = [sys.executable, *how, str(program), str(folder), mode]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        curves[mode] = [float(a) for a in re.findall(r"^auc (\\S+)", done.stdout, re.MULTILINE)]
        print(mode, curves[mode])
    print(sorted(p.name for p in (folder / "log").iterdir()))""",
    """    import matplotlib.pyplot as plt

    fig, ax = plt.subplots(figsize=(5.5, 3.5))
    for mode, curve in curves.items():
        ax.plot(range(1, 5), curve, "o-", label={"alone": "one process"}.get(mode, f"a server, 2 workers, {mode}"))
    ax.set(xlabel="pass over the data", ylabel="AUC on instances not seen", xticks=range(1, 5))
    ax.legend()
    fig.tight_layout()""",
]

if __name__ == "__main__":
    write("recommender.ipynb", CELLS)
