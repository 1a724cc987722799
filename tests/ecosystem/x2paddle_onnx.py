"""A network as an ONNX file, converted by X2Paddle: its code is imported, run, trained and exported."""

import importlib.util

import numpy as np
import paddle
import trial
from x2paddle.convert import onnx2paddle

import onnx
from onnx import TensorProto, helper, numpy_helper

rng = np.random.RandomState(0)


def weight(name, *shape):
    size = np.sqrt(np.prod(shape[1:]) or 1)
    return numpy_helper.from_array((rng.standard_normal(shape) / size).astype("float32"), name)


nodes = [
    ("Conv", ["x", "w1", "b1"], "c1", {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3]}),
    ("BatchNormalization", ["c1", "scale", "shift", "mean", "variance"], "n1", {}),
    ("Relu", ["n1"], "r1", {}),
    ("Conv", ["r1", "w2", "b2"], "c2", {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3], "group": 8}),
    ("Sigmoid", ["c2"], "s2", {}),
    ("Mul", ["c2", "s2"], "m2", {}),
    ("Add", ["m2", "r1"], "a2", {}),
    ("MaxPool", ["a2"], "p2", {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("Conv", ["p2", "w3", "b3"], "c3", {"kernel_shape": [1, 1], "strides": [2, 2]}),
    ("GlobalAveragePool", ["c3"], "g3", {}),
    ("Flatten", ["g3"], "f3", {"axis": 1}),
    ("Gemm", ["f3", "w4", "b4"], "y", {"transB": 1}),
]
weights = [weight("w1", 8, 3, 3, 3), weight("b1", 8), weight("scale", 8), weight("shift", 8), weight("mean", 8)]
weights += [numpy_helper.from_array(rng.rand(8).astype("float32") + 0.5, "variance")]
weights += [weight("w2", 8, 1, 3, 3), weight("b2", 8), weight("w3", 16, 8, 1, 1), weight("b3", 16)]
weights += [weight("w4", 5, 16), weight("b4", 5)]
graph = helper.make_graph(
    [helper.make_node(kind, inputs, [output], name=output, **attributes) for kind, inputs, output, attributes in nodes],
    "network",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3, 16, 16])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 5])],
    weights,
)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "network.onnx")
onnx2paddle("network.onnx", "converted", disable_feedback=True)
spec = importlib.util.spec_from_file_location("x2paddle_code", "converted/x2paddle_code.py")
code = importlib.util.module_from_spec(spec)
spec.loader.exec_module(code)
with paddle.utils.unique_name.guard():  # the conversion has made parameters of these names
    net = code.ONNXModel()
net.set_state_dict(paddle.load("converted/model.pdparams"))
x = paddle.to_tensor(rng.standard_normal([2, 3, 16, 16]).astype("float32"))
labels = paddle.to_tensor([1, 3])
net.eval()
first = [*trial.numbers(net(x)), *trial.numbers(paddle.jit.load("converted/inference_model/model")(x))]
optimizer = paddle.optimizer.Momentum(0.05, parameters=net.parameters())


def step():
    net.train()
    loss = paddle.nn.functional.cross_entropy(net(x), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss


trial.report(step, 20, lambda: [*first, *trial.exported(net, x, spec=[paddle.static.InputSpec([2, 3, 16, 16])])])
