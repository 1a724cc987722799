"""Compression by PaddleSlim: pruned filters, sensitivities, QAT, PTQ, distillation, a static pruner."""

import numpy as np
import paddle
import paddle.nn.functional as F
import paddleslim
import trial
from paddle.inference import Config, create_predictor
from paddle.static import InputSpec
from paddle.vision.models import LeNet, mobilenet_v1
from paddleslim.dygraph.dist import Distill
from paddleslim.prune import Pruner

# Names that PaddleSlim calls, which PaddlePaddle 3.3.1 and NumPy 2 have under others.
paddle.base.dygraph.base._to_static_mode_guard_ = paddle.base.dygraph.base.to_static_mode_guard
np.product = np.prod

rng = np.random.RandomState(0)
digits, kinds = (
    paddle.to_tensor(rng.randn(8, 1, 28, 28).astype("float32")),
    paddle.to_tensor(rng.randint(0, 10, [8, 1])),
)
pictures = paddle.to_tensor(rng.randn(4, 3, 32, 32).astype("float32"))


def lenet(seed):
    net = LeNet()
    trial.start_from(net, seed, gain=1.0)
    return net


config = {
    "weight_quantize_type": "channel_wise_abs_max",
    "activation_quantize_type": "moving_average_abs_max",
    "quantizable_layer_type": ["Conv2D", "Linear"],
}
aware = paddleslim.QAT(config=config)
quantized = lenet(1)
aware.quantize(quantized)
quantized.train()
optimizer = paddle.optimizer.Momentum(0.005, parameters=quantized.parameters())


def step():
    loss = F.cross_entropy(quantized(digits), kinds)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss


def ran(prefix, x):
    """What a saved program gives."""
    [result] = create_predictor(Config(f"{prefix}.pdmodel", f"{prefix}.pdiparams")).run([x])
    return trial.numbers(result)


def pruned():
    """MobileNets without half of the filters of four layers, once chosen by norm and once by their distance."""
    values = []
    for pruner in (paddleslim.L1NormFilterPruner, paddleslim.FPGMFilterPruner):
        net = mobilenet_v1(scale=0.25, num_classes=10)
        trial.start_from(net, 2, gain=1.4)
        net.eval()
        names = [p.name for p in net.parameters() if len(p.shape) == 4 and p.shape[1] > 1][1:5]
        pruner(net, [1, 3, 32, 32]).prune_vars(dict.fromkeys(names, 0.5), 0)
        values += [sum(int(np.prod(p.shape)) for p in net.parameters()), *trial.numbers(net(pictures))]
    paddle.jit.save(net, "pruned/net", input_spec=[InputSpec([None, 3, 32, 32])])
    return [*values, paddle.flops(net, [1, 3, 32, 32]), *ran("pruned/net", pictures)]


def sensitivities():
    net = lenet(3)
    net.eval()
    pruner = paddleslim.L1NormFilterPruner(net, [1, 1, 28, 28])
    with paddle.no_grad():
        found = pruner.sensitive(eval_func=lambda: float(net(digits).abs().mean()), sen_file="sensitivities.pickle")
    return [loss for losses in found.values() for loss in losses.values()]


def after_training():
    net = lenet(5)
    net.eval()
    method = paddleslim.PTQ()
    observed = method.quantize(net, fuse=False)
    for i in range(3):
        observed(digits * (1 + 0.1 * i))
    method.save_quantized_model(observed, "ptq/net", input_spec=[InputSpec([None, 1, 28, 28])])
    return ran("ptq/net", digits)


def distilled():
    teacher, student = lenet(6), lenet(7)
    teacher.eval()
    pairs = [{"loss_function": "MSELoss", "layers": [{"layers_name": ["fc", "fc"]}]}]
    both = Distill(pairs, [student], [teacher], convert_fn=False)
    optimizer, losses = paddle.optimizer.Momentum(0.005, parameters=student.parameters()), []
    for _ in range(3):
        loss, out, _ = both(digits)
        loss = loss + F.cross_entropy(out, kinds)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss)
    return losses


def static():
    """The operations of a program before and after the pruning of a convolution."""
    paddle.enable_static()
    main, start = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, start):
        x = paddle.static.data("x", [1, 3, 16, 16])
        x = F.relu(paddle.static.nn.conv2d(x, 8, 3, padding=1, param_attr="first", bias_attr=False))
        x = paddle.static.nn.conv2d(x, 8, 3, padding=1, param_attr="second", bias_attr=False)
    paddle.static.Executor().run(start)
    smaller, _, _ = Pruner().prune(main, paddle.static.global_scope(), ["first"], [0.5], paddle.CPUPlace())
    paddle.disable_static()
    return [paddleslim.analysis.flops(main), paddleslim.analysis.flops(smaller)]


def more():
    quantized.eval()
    values = trial.numbers(quantized(digits))
    aware.save_quantized_model(quantized, "qat/net", input_spec=[InputSpec([None, 1, 28, 28])])
    # On PaddlePaddle the program quantizes what layers give as well, which is no part of the comparison.
    np.testing.assert_allclose(ran("qat/net", digits), values, 0.2)
    for part in (pruned, sensitivities, after_training, distilled, static):
        values += part()
    return values


trial.report(step, 12, more)
