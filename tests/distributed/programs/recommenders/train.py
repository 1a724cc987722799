"""Trains a recommender, alone or with parameter servers, as the launcher says: python train.py DATA [options]

The last line of a worker's output is "auc A loss L" over the test files.
"""

import argparse
import glob
import os
import sys

import numpy as np
import paddle
import paddle.distributed.fleet as fleet

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from nets import FIELDS, NETS, NUMBERS  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--net", default="deepfm", choices=NETS)
parser.add_argument("--mode", default="sync", choices=["sync", "async", "half", "geo"])
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--optimizer", default="Adagrad")
parser.add_argument("--rate", type=float, default=0.05)
parser.add_argument("--feed", action="store_true", help="a loop of exe.run(feed=...) instead of train_from_dataset")
parser.add_argument("--files", default="train", help="the folder of the training files")
parser.add_argument("--save", default="")
parser.add_argument("--stale", type=int, default=16, help="steps under way, or between exchanges")
given = parser.parse_args()


def dataset(kind, use_var, files, batch):
    made = getattr(paddle.distributed, kind)()
    reader = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reader.py")
    command = f"{sys.executable} -m paddle_lite_py run {reader}"
    made.init(batch_size=batch, thread_num=1, use_var=use_var, pipe_command=command)
    made.set_filelist(files)
    return made


paddle.enable_static()
paddle.seed(2024)
role = fleet.PaddleCloudRoleMaker()
fleet.init(role)

label = paddle.static.data("label", [None, 1], "int64")
dense = paddle.static.data("dense", [None, NUMBERS], "float32")
fields = [paddle.static.data(f"C{i + 1}", [None, 1], "int64") for i in range(FIELDS)]
history = paddle.static.data("history", [None, None], "int64", lod_level=1)
item = paddle.static.data("item", [None, 1], "int64")
use_var = [label, dense, *fields, history, item]

predict = NETS[given.net]()(fields, dense, history, item)
cost = paddle.mean(paddle.nn.functional.log_loss(predict, paddle.cast(label, "float32")))
both = paddle.concat([1 - predict, predict], axis=1)
auc, batch_auc, auc_states = paddle.static.auc(both, label, num_thresholds=2**12)
test_program = paddle.static.default_main_program().clone(for_test=True)

strategy = fleet.DistributedStrategy()
strategy.a_sync = given.mode != "sync"
strategy.a_sync_configs = {
    "async": {"send_queue_size": given.stale},
    "half": {"send_queue_size": 0},
    "geo": {"k_steps": given.stale},
}.get(given.mode, {})
optimizer = fleet.distributed_optimizer(getattr(paddle.optimizer, given.optimizer)(given.rate), strategy)
optimizer.minimize(cost)

if fleet.is_server():
    fleet.init_server()
    fleet.run_server()
    sys.exit()

exe = paddle.static.Executor(paddle.CPUPlace())
exe.run(paddle.static.default_startup_program())
fleet.init_worker()
files = fleet.util.get_file_shard(sorted(glob.glob(os.path.join(given.data, given.files, "part-*"))))
share = given.batch // fleet.worker_num() if given.mode == "sync" else given.batch
train = dataset("InMemoryDataset", use_var, files, share)
train.load_into_memory()
for _ in range(given.epochs):
    if given.feed:
        for feed in train:
            exe.run(feed=feed, fetch_list=[cost, auc])
    else:
        exe.train_from_dataset(
            paddle.static.default_main_program(), train, fetch_list=[cost, auc], fetch_info=["cost", "auc"],
            print_period=20, debug=False,
        )  # fmt: skip
    fleet.barrier_worker()

scope = paddle.static.global_scope()
met = sum(int(np.array(scope.find_var(s.name).get_tensor()).sum()) for s in auc_states[-2:])
print(f"counted {met} instances", flush=True)
test = dataset("QueueDataset", use_var, sorted(glob.glob(os.path.join(given.data, "test", "part-*"))), 256)
metric, losses = paddle.metric.Auc(), []
for feed in test:
    found, loss = exe.run(test_program, feed=feed, fetch_list=[both, cost])
    metric.update(found, feed["label"])
    losses.append(float(loss))
if given.save and fleet.is_first_worker():
    fleet.save_persistables(exe, os.path.join(given.save, "persistables"))
    fleet.save_inference_model(exe, os.path.join(given.save, "inference"), [v.name for v in use_var[1:]], [predict])
print(f"auc {metric.accumulate():.5f} loss {np.mean(losses):.5f}")
fleet.barrier_worker()
fleet.stop_worker()
