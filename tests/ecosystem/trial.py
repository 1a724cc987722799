"""What the trials share: the same weights everywhere, and what is printed at the end."""

import json
import time

import numpy as np


def start_from(layer, seed=0):
    """Give a layer weights that depend on nothing but the seed."""
    rng = np.random.RandomState(seed)
    for p in layer.parameters():
        p.set_value((rng.standard_normal(p.shape) * 0.3).astype("float32"))


def report(step, steps=20, more=list):
    """Run steps, each of which gives a number, then `more`, which gives several; print all of them, and CPU seconds: to
    the first one, imports included, and of one step after it."""
    values = [float(step())]
    cold = time.process_time()
    began = time.process_time()
    values += [float(step()) for _ in range(steps - 1)]
    hot = (time.process_time() - began) / max(steps - 1, 1)
    print(json.dumps({"values": [*values, *map(float, more())], "cold": cold, "hot": hot}))
