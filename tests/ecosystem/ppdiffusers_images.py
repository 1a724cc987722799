"""ppdiffusers: a U-Net learns to remove noise, then makes pictures by DDIM; a conditioned one by Euler; a VAE."""

import numpy as np
import paddle
import trial
from paddle.nn import functional as F
from ppdiffusers import (
    AutoencoderKL,
    DDIMScheduler,
    DDPMPipeline,
    DDPMScheduler,
    EulerDiscreteScheduler,
    UNet2DConditionModel,
    UNet2DModel,
)
from ppdiffusers.optimization import get_cosine_schedule_with_warmup

rng = np.random.RandomState(0)
BLOCKS = {"block_out_channels": [8, 16], "layers_per_block": 1, "norm_num_groups": 4}
pictures = paddle.to_tensor(rng.rand(4, 1, 16, 16).astype("float32"))

net = UNet2DModel(
    sample_size=16, in_channels=1, out_channels=1, down_block_types=["DownBlock2D", "AttnDownBlock2D"],
    up_block_types=["AttnUpBlock2D", "UpBlock2D"], attention_head_dim=4, **BLOCKS,
)  # fmt: skip
trial.start_from(net, 1, gain=1.0)
noises = DDPMScheduler(num_train_timesteps=100)
rate = get_cosine_schedule_with_warmup(2e-3, num_warmup_steps=2, num_training_steps=10)
optimizer = paddle.optimizer.AdamW(rate, parameters=net.parameters(), grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0))


def step():
    noise = paddle.to_tensor(rng.standard_normal([4, 1, 16, 16]).astype("float32"))
    when = paddle.to_tensor(rng.randint(0, 100, [4]))
    found = net(noises.add_noise(pictures, noise, when), when).sample
    loss = F.mse_loss(found, noise)
    loss.backward()
    optimizer.step()
    rate.step()
    optimizer.clear_grad()
    return loss


def made():
    """Pictures of four DDIM steps from given noise; the pipeline, saved and loaded."""
    net.eval()
    scheduler = DDIMScheduler(num_train_timesteps=100)
    scheduler.set_timesteps(4)
    x = paddle.to_tensor(rng.standard_normal([2, 1, 16, 16]).astype("float32"))
    with paddle.no_grad():
        for when in scheduler.timesteps:
            x = scheduler.step(net(x, when).sample, when, x).prev_sample
    DDPMPipeline(net, noises).save_pretrained("pipeline")
    again = DDPMPipeline.from_pretrained("pipeline")
    return trial.numbers([x, again.unet(x, paddle.to_tensor(7)).sample])


def conditioned():
    """A U-Net that looks at texts, three steps, then Euler steps with guidance."""
    text = UNet2DConditionModel(
        sample_size=16, in_channels=4, out_channels=4, cross_attention_dim=8, attention_head_dim=4,
        down_block_types=["CrossAttnDownBlock2D", "DownBlock2D"], up_block_types=["UpBlock2D", "CrossAttnUpBlock2D"],
        **BLOCKS,
    )  # fmt: skip
    trial.start_from(text, 2, gain=1.0)
    words = paddle.to_tensor(rng.standard_normal([2, 5, 8]).astype("float32"))
    descent, losses = paddle.optimizer.Adam(1e-3, parameters=text.parameters()), []
    x = paddle.to_tensor(rng.standard_normal([2, 4, 16, 16]).astype("float32"))
    for _ in range(3):
        loss = text(x, paddle.to_tensor([3, 60]), words).sample.square().mean()
        loss.backward()
        descent.step()
        descent.clear_grad()
        losses.append(loss)
    scheduler = EulerDiscreteScheduler(num_train_timesteps=100)
    scheduler.set_timesteps(3)
    text.eval()
    x = x * scheduler.init_noise_sigma
    with paddle.no_grad():
        for when in scheduler.timesteps:
            found = text(scheduler.scale_model_input(x, when), when, words).sample
            x = scheduler.step(found[:1] + 2.0 * (found[1:] - found[:1]), when, x).prev_sample
    return [*losses, *trial.numbers(x)]


class Codes(paddle.nn.Layer):
    """Encoder and decoder, without noise."""

    def __init__(self, vae):
        super().__init__()
        self.vae = vae

    def forward(self, x):
        return self.vae.decode(self.vae.encode(x).latent_dist.mode()).sample


def encoded():
    vae = AutoencoderKL(
        in_channels=1, out_channels=1, latent_channels=4, sample_size=16,
        down_block_types=["DownEncoderBlock2D"] * 2, up_block_types=["UpDecoderBlock2D"] * 2, **BLOCKS,
    )  # fmt: skip
    trial.start_from(vae, 3, gain=1.0)
    codes, losses = Codes(vae), []
    descent = paddle.optimizer.Adam(1e-3, parameters=vae.parameters())
    for _ in range(3):
        loss = F.l1_loss(codes(pictures), pictures)
        loss.backward()
        descent.step()
        descent.clear_grad()
        losses.append(loss)
    return [*losses, *trial.exported(codes, pictures)]


trial.report(step, steps=10, more=lambda: [*made(), *conditioned(), *encoded()])
