"""Writes server.ipynb, digits answered over the network: python tutorials/make_server_notebook.py."""

from __future__ import annotations

from make_notebook import write

CELLS = [
    """# Digits over the network
A net learns digits, is saved, and answers over HTTP and gRPC to clients that others wrote. It takes half a minute, and
`pip install '.[serving]' scikit-learn matplotlib 'tritonclient[http,grpc]'` in a clone.""",
    """    import numpy as np
    import paddle_lite_py as paddle
    from paddle_lite_py import nn
    from sklearn.datasets import load_digits

    paddle.seed(0)
    digits = load_digits()
    images, labels = (digits.images / 16).astype("float32")[:, None], digits.target.astype("int64")
    net = nn.Sequential(
        nn.Conv2D(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Flatten(), nn.Linear(128, 64), nn.ReLU(),
        nn.Linear(64, 10),
    )
    opt = paddle.optimizer.Adam(3e-3, parameters=net.parameters())

    @paddle.jit.to_static
    def step(x, y):
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    order = np.random.RandomState(0)
    for epoch in range(12):
        for rows in order.permutation(1500)[:1472].reshape(-1, 64):
            step(paddle.to_tensor(images[rows]), paddle.to_tensor(labels[rows]))
    net.eval()
    right = (net(paddle.to_tensor(images[1500:])).numpy().argmax(1) == labels[1500:]).mean()
    print(f"{right:.0%} right on digits it has not seen")""",
    """## Save
With any number of rows, so that the server can join requests.""",
    """    import tempfile

    folder = tempfile.mkdtemp()
    spec = [paddle.static.InputSpec(["batch", 1, 8, 8], "float32", "image")]
    paddle.jit.save(net, f"{folder}/digits", input_spec=spec)""",
    """## Serve
In a shell that is `python -m paddle_lite_py serve digits --max-batch 16`. It is ready once the batches of 1, 2, 4,
8 and 16 rows are compiled. Port 0 means a free one.""",
    """    import re
    import subprocess
    import sys

    command = [sys.executable, "-m", "paddle_lite_py", "serve", f"{folder}/digits", "--max-batch", "16"]
    server = subprocess.Popen([*command, "--port", "0", "--grpc-port", "0"], stderr=subprocess.PIPE, text=True)
    said = next(line for line in server.stderr if "ready: " in line)
    url, grpc_url = re.findall(r"at (\\S+?)[,\\s]", said)
    print(url, grpc_url)""",
    """## Ask with curl
The protocol is the Open Inference Protocol, which KServe and Triton speak too.""",
    """    import json
    import shutil
    import urllib.request

    pixels = images[1500].ravel().tolist()
    body = {"inputs": [{"name": "image", "shape": [1, 1, 8, 8], "datatype": "FP32", "data": pixels}]}
    address = f"{url}/v2/models/digits/infer"
    if shutil.which("curl"):
        answer = subprocess.run(["curl", "-s", address, "-d", json.dumps(body)], capture_output=True, check=True).stdout
    else:
        answer = urllib.request.urlopen(address, json.dumps(body).encode()).read()
    scores = json.loads(answer)["outputs"][0]["data"]
    print("curl says", int(np.argmax(scores)), "and it is", labels[1500])""",
    """## Ask with tritonclient
Its client for gRPC sends arrays as bytes.""",
    """    try:
        import tritonclient.grpc as triton
    except ImportError:
        print("tritonclient is not installed")
    else:
        with triton.InferenceServerClient(grpc_url) as client:
            given = triton.InferInput("image", [297, 1, 8, 8], "FP32")
            given.set_data_from_numpy(images[1500:])
            found = client.infer("digits", [given]).as_numpy("out0")
        print(f"gRPC: {(found.argmax(1) == labels[1500:]).mean():.0%} right")""",
    """## Latency against load
More clients at a time mean more answers a second, until the processor is full; from there on they wait.""",
    """    import http.client
    import time
    from concurrent.futures import ThreadPoolExecutor

    def ask(seconds):
        connection = http.client.HTTPConnection(url.removeprefix("http://"))
        text, times, end = json.dumps(body), [], time.perf_counter() + seconds
        while (start := time.perf_counter()) < end:
            connection.request("POST", "/v2/models/digits/infer", text)
            connection.getresponse().read()
            times.append(time.perf_counter() - start)
        connection.close()
        return times

    loads = [1, 2, 4, 8, 16]
    rates, middle, slow = [], [], []
    for clients in loads:
        with ThreadPoolExecutor(clients) as threads:
            times = sorted(t for found in threads.map(lambda _: ask(0.5), range(clients)) for t in found)
        rates.append(len(times) / 0.5)
        middle.append(1000 * times[len(times) // 2])
        slow.append(1000 * times[int(len(times) * 0.99)])
        print(f"{clients:2} clients: {rates[-1]:5.0f} answers a second, half of them in {middle[-1]:.1f} ms")""",
    """    import matplotlib.pyplot as plt

    fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2))
    left.plot(loads, rates, "o-")
    left.set(xlabel="clients", ylabel="answers a second", xscale="log", ylim=0)
    right.plot(loads, middle, "o-", label="half of the answers")
    right.plot(loads, slow, "o-", label="99 of 100")
    right.set(xlabel="clients", ylabel="ms", xscale="log", yscale="log")
    for ax in (left, right):
        ax.set_xticks(loads, loads)
    right.legend()
    fig.tight_layout()""",
    """What the server has counted is at `/metrics`, for Prometheus; a page for people is at `/`.""",
    """    text = urllib.request.urlopen(f"{url}/metrics").read().decode()
    print([line for line in text.splitlines() if line.startswith("paddle_serving_requests_total")])
    server.terminate()
    server.communicate()""",
]

if __name__ == "__main__":
    write("server.ipynb", CELLS)
