"""Writes programs.ipynb, a walk through the static mode: python tutorials/make_program_notebook.py."""

from __future__ import annotations

from make_notebook import write

CELLS = [
    """# A static program: built, printed, drawn, changed, trained
In static mode nothing runs while the program is built; an executor runs it afterwards, as often as you like. Each cell
runs as it stands.""",
    """    import numpy as np
    import paddle_lite_py as paddle
    from paddle_lite_py import nn, static

    paddle.enable_static()
    paddle.seed(0)
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        image = static.data("image", [None, 1, 8, 8])
        label = static.data("label", [None, 1], "int64")
        hidden = static.nn.conv2d(image, 8, 3, padding=1, bias_attr=False)
        hidden = static.nn.batch_norm(hidden, act="relu")
        hidden = nn.functional.max_pool2d(hidden, 2)
        scores = static.nn.fc(nn.functional.dropout(hidden.flatten(1), 0.2), 3)
        loss = nn.functional.cross_entropy(scores, label)
        accuracy = static.accuracy(scores, label)""",
    """## Look at it
`main` holds operators; `startup` says how parameters get their first values. The batch has no size yet: `image_0` is a
symbol, and the labels were found to have as many.""",
    """    print(main)
    print(startup)
    print([op.type for op in main.global_block().ops])""",
    """## Draw it
`static.draw` writes the graph in Graphviz's language, and a picture where Graphviz is installed.""",
    """    import tempfile

    folder = tempfile.mkdtemp()
    dot = static.draw(main, f"{folder}/main.dot")
    print(dot[:120])""",
    """## Train it
The clone is taken before the gradients are appended: it neither drops nor updates anything. A schedule is stepped
between runs; nothing is compiled again.""",
    """    test = main.clone(for_test=True)
    with static.program_guard(main, startup):
        rate = paddle.optimizer.lr.StepDecay(0.02, 30)
        paddle.optimizer.Adam(rate, weight_decay=1e-4).minimize(loss)

    exe = static.Executor()
    exe.run(startup)
    rng = np.random.default_rng(0)

    def batch(n=64):
        kind = rng.integers(0, 3, n)
        x = rng.normal(size=(n, 1, 8, 8)) * 0.5
        for i, k in enumerate(kind):  # stripes of three widths
            x[i, 0, :: k + 1] += 1.0
        return {"image": x.astype("float32"), "label": kind[:, None]}

    losses = []
    for _ in range(60):
        losses.append(float(exe.run(main, feed=batch(), fetch_list=[loss])[0]))
        rate.step()
    print(losses[0], "->", losses[-1])
    held_out = batch(256)
    print(exe.run(test, feed=held_out, fetch_list=[accuracy])[0])""",
    """## What a run checks
Feeds are compared with what was declared, before anything runs.""",
    """    for feed in ({"image": held_out["image"]}, held_out | {"image": held_out["image"][0]}):
        try:
            exe.run(test, feed=feed, fetch_list=[loss])
        except ValueError as e:
            print(e)""",
    """## Change it
A pass is a function from program to program. The pipeline `inference` folds the normalization into the convolution.""",
    """    fast = paddle.passes.apply(static.normalize_program(main, [image], [scores]), "inference")
    print([op.type for op in test.global_block().ops])
    print([op.type for op in fast.global_block().ops])
    (a,) = exe.run(test, feed=held_out, fetch_list=[scores])
    (b,) = exe.run(fast, feed={"image": held_out["image"]}, fetch_list=fast.fetches)
    print("off by", abs(a - b).max())""",
    """## Branches and loops
They are functions of functions, with gradients, also where the number of iterations depends on the data.""",
    """    flow = static.Program()
    with static.program_guard(flow):
        n, x = static.data("n", [1], "int64"), static.data("x", [1])
        x.stop_gradient = False
        _, y = static.nn.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, y * x], [n * 0, x])
        y = static.nn.cond(y.sum() > 100, lambda: y * 0 + 100, lambda: y)
        (dx,) = static.gradients(y, x)
    for k in (2, 4, 9):
        print(exe.run(flow, feed={"n": np.array([k]), "x": np.array([2.0], "float32")}, fetch_list=[y, dx]))""",
    """## Keep it
Checkpoints hold values; an inference model is what `paddle.jit.save` writes, and needs no code to be loaded.""",
    """    static.save(main, f"{folder}/checkpoint")
    static.save_inference_model(f"{folder}/model", [image], [scores], exe, program=main)
    with static.scope_guard(static.Scope()):  # as in another process
        loaded, feeds, fetches = static.load_inference_model(f"{folder}/model", exe)
        (c,) = exe.run(loaded, feed={feeds[0]: held_out["image"]}, fetch_list=fetches)
    print("off by", abs(a - c).max())
    paddle.disable_static()""",
]

if __name__ == "__main__":
    write("programs.ipynb", CELLS)
