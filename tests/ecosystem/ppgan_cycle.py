"""CycleGAN and a super-resolution network of PaddleGAN, from configurations, with its optimizers, losses and metrics.

Its import needs `paddle.fluid`, which PaddlePaddle has no longer: `paddle.base` stands for it, with one function of it.
"""

import sys
import types

import numpy as np
import paddle
import trial

layers = types.ModuleType("paddle.fluid.layers")
nn = types.ModuleType("paddle.fluid.layers.nn")
nn.soft_relu = paddle.nn.functional.softplus
sys.modules |= {"paddle.fluid": paddle.base, "paddle.fluid.layers": layers, "paddle.fluid.layers.nn": nn}

from ppgan.metrics.psnr_ssim import calculate_psnr, calculate_ssim  # noqa: E402
from ppgan.models.builder import build_model  # noqa: E402

rng = np.random.RandomState(0)
cycle = build_model(
    {
        "name": "CycleGANModel",
        "generator": {"name": "ResnetGenerator", "input_nc": 3, "output_nc": 3, "ngf": 8, "n_blocks": 2},
        "discriminator": {
            "name": "NLayerDiscriminator",
            "ndf": 8,
            "n_layers": 2,
            "input_nc": 3,
            "norm_type": "instance",
        },
        "cycle_criterion": {"name": "L1Loss"},
        "idt_criterion": {"name": "L1Loss", "loss_weight": 0.5},
        "gan_criterion": {"name": "GANLoss", "gan_mode": "lsgan"},
        "pool_size": 0,
    }
)
resolution = build_model(
    {
        "name": "BaseSRModel",
        "generator": {"name": "RRDBNet", "in_nc": 3, "out_nc": 3, "nf": 8, "nb": 1, "gc": 4},
        "pixel_criterion": {"name": "L1Loss"},
    }
)
for model in (cycle, resolution):
    for i, net in enumerate(model.nets.values()):
        trial.start_from(net, i, gain=1.0)
rate = cycle.setup_lr_schedulers(
    {"name": "LinearDecay", "learning_rate": 0.0002, "start_epoch": 2, "decay_epochs": 4, "iters_per_epoch": 1}
)
adam = {"name": "Adam", "beta1": 0.5}
cycle.setup_optimizers(
    rate, {"optimG": {**adam, "net_names": ["netG_A", "netG_B"]}, "optimD": {**adam, "net_names": ["netD_A", "netD_B"]}}
)
resolution.setup_optimizers(0.001, {"name": "Adam", "beta1": 0.9, "beta2": 0.99, "net_names": ["generator"]})
a, b = rng.rand(2, 2, 3, 64, 64).astype("float32") * 2 - 1
small, large = rng.rand(2, 3, 16, 16).astype("float32"), rng.rand(2, 3, 64, 64).astype("float32")


def step():
    cycle.setup_input({"A": a, "B": b})
    cycle.train_iter(cycle.optimizers)
    rate.step()
    resolution.setup_input({"lq": small, "gt": large, "lq_path": ""})
    resolution.train_iter(resolution.optimizers)
    return sum(float(loss) for model in (cycle, resolution) for loss in model.losses.values())


def more():
    picture, grey = (large[0].transpose(1, 2, 0) * 255).round(), np.full([64, 64, 3], 127.0)
    values = [calculate_psnr(picture, grey, 0), calculate_ssim(picture, grey, 0)]
    values += [float(loss) for model in (cycle, resolution) for loss in model.losses.values()]
    values += trial.exported(cycle.nets["netG_A"], paddle.to_tensor(a))
    spec = [paddle.static.InputSpec([None, 3, None, None])]
    return values + trial.exported(resolution.nets["generator"], paddle.to_tensor(small), spec=spec)


trial.report(step, 5, more)
