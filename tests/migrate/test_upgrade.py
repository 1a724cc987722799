"""Programs of Paddle 1.x, Paddle 2.x and PyTorch, rewritten: what they print is what they printed before.

What stands beside the programs in `sources` was printed by PyTorch.
Of those of Paddle 1.x it was printed by PaddlePaddle 3.3.1, from the rewritten text.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import house
from library_cases import prints_the_same
from paddle_lite_py.__main__ import main
from paddle_lite_py.migrate.upgrade import names, upgrade, upgrade_files

HERE = Path(__file__).parent
SOURCES = sorted((HERE / "sources").glob("*.py"))
PADDLE2 = [HERE.parent / "scripts" / f"{name}.py" for name in ("gan", "static_flow", "pylayer_loader")]


def run(text: str, folder: Path) -> str:
    (folder / "program.py").write_text(text)
    env = {**os.environ, "PYTHONPATH": str(house.ROOT)}
    done = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, cwd=folder, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("program", [*SOURCES, *PADDLE2], ids=[p.stem for p in (*SOURCES, *PADDLE2)])
def test_a_program_gives_what_it_gave_before(program, tmp_path):
    made = upgrade(program.read_text())
    written = program.with_suffix(".txt")
    expected = written if written.exists() else HERE.parent / "golden" / "scripts" / f"{program.stem}.txt"
    assert "import torch" not in made.text and "paddle.fluid" not in made.text
    found = run(made.text, tmp_path)
    assert prints_the_same(found, expected.read_text()), found


def test_the_report_names_lines(tmp_path, capsys):
    source = HERE / "sources" / "torch_convnet.py"
    main(["migrate", str(source), "-o", str(tmp_path / "new.py")])
    out = capsys.readouterr().out
    lines = source.read_text().splitlines()
    at = next(i for i, text in enumerate(lines, 1) if "optim.SGD" in text)
    assert (
        f"line {at}: optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4) -> optim.Momentum(" in out
    )
    assert "left to do by hand: 0" in out
    text = (tmp_path / "new.py").read_text()
    assert "  # first" in text and "        # what it has learned" in text and '"""A small classifier."""' in text
    with pytest.raises(SystemExit):
        main(["migrate", str(tmp_path / "nowhere.py")])


def test_a_folder_is_rewritten_as_a_whole(tmp_path):
    (tmp_path / "old" / "lib").mkdir(parents=True)
    (tmp_path / "old" / "lib" / "net.py").write_text("import torch.nn as nn\nnet = nn.Linear(2, 3)\n")
    (tmp_path / "old" / "data.csv").write_text("1,2\n")
    (tmp_path / "old" / "python2.py").write_text("print 'hello'\n")
    found = upgrade_files(tmp_path / "old", tmp_path / "new", show=False)
    assert (tmp_path / "new" / "data.csv").read_text() == "1,2\n"
    net = "import paddle_lite_py as paddle\nimport paddle_lite_py.nn as nn\nnet = paddle.compat.nn.Linear(2, 3)\n"
    assert (tmp_path / "new" / "lib" / "net.py").read_text() == net
    (note,) = found[tmp_path / "old" / "python2.py"]
    assert note.todo and "no Python of today" in note.new and note.line == 1
    assert (tmp_path / "new" / "python2.py").read_text() == "print 'hello'\n"


T, P = "import torch\n", "import paddle_lite_py as paddle\n"
CASES = {
    T + "net.half()(x.double())\n": P + "net.to(paddle.float16)(x.to(paddle.float64))\n",
    T + "x = torch.zeros(2)  # two\n": P + "x = paddle.zeros(2)  # two\n",
    "from torch.optim import Adam\nAdam(net.parameters(), 1e-3,\n     betas=(0.8, 0.9))\n": (
        "from paddle_lite_py.optimizer import Adam\n"
        "Adam(parameters=net.parameters(), learning_rate=1e-3,\n     beta1=0.8, beta2=0.9)\n"
    ),
    "from torch import nn\nnn.LSTM(3, 4, batch_first=True, bidirectional=True)\n": (
        P + "from paddle_lite_py import nn\npaddle.compat.nn.LSTM(3, 4, batch_first=True, bidirectional=True)\n"
    ),
    "from torch.optim.lr_scheduler import StepLR\nimport torch.optim as optim\n"
    "s = StepLR(opt, step_size=1, gamma=0.7)\nself.plateau = optim.lr_scheduler.ReduceLROnPlateau(optimizer=self.opt)\n"
    "print(s.get_last_lr()[0])\n": (
        P + "from paddle_lite_py.compat.optim.lr_scheduler import StepLR\nimport paddle_lite_py.optimizer as optim\n"
        "s = StepLR(opt, step_size=1, gamma=0.7)\n"
        "self.plateau = paddle.compat.optim.lr_scheduler.ReduceLROnPlateau(optimizer=self.opt)\n"
        "print(s.get_last_lr()[0])\n"
    ),
    T + "import torch.backends.cudnn as cudnn\nif fast:\n    cudnn.benchmark = True\nd = torch.device('cuda', 0)\n": (
        P + "cudnn = paddle.compat.backends.cudnn\nif fast:\n    pass\nd = paddle.device('cuda', 0)\n"
    ),
    "from torch.utils.data import DataLoader\nfrom torchvision import datasets, transforms\n"
    "d = datasets.CIFAR10('data', train=part, download=True, transform=transforms.Lambda(f))\nDataLoader(d, **kw)\n": (
        "from paddle_lite_py.io import DataLoader\nfrom paddle_lite_py.vision import datasets, transforms\n"
        'd = datasets.Cifar10(transform=f, mode="train" if part else "test")\n'
        'DataLoader(d, **{k: v for k, v in kw.items() if k != "pin_memory"})\n'
    ),
    "from torch.nn.modules.linear import Linear\nn = Linear(2, 2)\nw = next(n.parameters())\nnext(rows)\n": (
        "from paddle_lite_py.compat.nn import Linear\nn = Linear(2, 2)\nw = next(iter(n.parameters()))\nnext(rows)\n"
    ),
    "import torch.nn as nn\nfrom torch.optim import RMSprop, Adadelta\nnn.ConvTranspose2d(3, 4, 2, bias=False)\n"
    "Adadelta(p, lr=args.lr)\n": (
        P + "import paddle_lite_py.nn as nn\nfrom paddle_lite_py.compat.optim import RMSprop\n"
        "from paddle_lite_py.optimizer import Adadelta\n"
        "paddle.compat.nn.ConvTranspose2d(3, 4, 2, bias=False)\n"
        "Adadelta(parameters=paddle.compat.optim.groups(p, args.lr), learning_rate=args.lr, rho=0.9)\n"
    ),
    "from torchvision import models\nnet = models.vgg16_bn(weights=None, num_classes=3)\n": (
        "from paddle_lite_py.vision import models\nnet = models.vgg16(num_classes=3, batch_norm=True)\n"
    ),
    T + "from torch import optim\nfrom torch.optim import Adam\n"
    "def f(kind=torch.optim.Adam, other=Adam, name='SGD'):\n"
    "    return isinstance(o, Adam), getattr(optim, name)(p, lr=1)\n"
    "mps = torch.backends.mps.is_available() and hasattr(torch.backends, 'mps')\n"
    "with torch.backends.cuda.sdp_kernel(enable_flash=True):\n    top.select(dim, -1)\n"
    "@torch.amp.custom_fwd(device_type='cuda')\ndef g(ctx): return torch.unravel_index(i, (2, 3))\n"
    "torch.nn.utils.parametrize.register_parametrization(net, 'weight', h)\nnets = torch.nn.ParameterList([x])\n"
    "from torch.nn.attention import SDPBackend\nb = SDPBackend.CUDNN_ATTENTION\n": (
        P + "from paddle_lite_py import optimizer as optim\nfrom paddle_lite_py.optimizer import Adam\n"
        "def f(kind=paddle.compat.optim.classes.Adam, other=paddle.compat.optim.classes.Adam, name='SGD'):\n"
        "    return isinstance(o, Adam), getattr(paddle.compat.optim.classes, name)(p, lr=1)\n"
        "mps = paddle.compat.backends.mps.is_available() and hasattr(paddle.compat.backends, 'mps')\n"
        "with paddle.compat.backends.cuda.sdp_kernel(enable_flash=True):\n    paddle.compat.select(top, dim, -1)\n"
        "@paddle.compat.amp.custom_fwd(device_type='cuda')\ndef g(ctx): return paddle.compat.unravel_index(i, (2, 3))\n"
        "paddle.compat.nn.utils.parametrize.register_parametrization(net, 'weight', h)\n"
        "nets = paddle.compat.nn.ParameterList([x])\n"
        "from paddle_lite_py.nn.attention import SDPBackend\n"
        "b = paddle.nn.attention.SDPBackend.EFFICIENT_ATTENTION\n"
    ),
    "from torch.nn import Conv2d as C, Linear\nC(1, 2, 3)\nLinear(2, 2)\n": (
        "from paddle_lite_py.compat.nn import Conv2d as C, Linear\nC(1, 2, 3)\nLinear(2, 2)\n"
    ),
    "import torch\nimport numpy as np\nimport torch.nn.functional as F\nfrom torch import nn\n"
    "from torchvision.utils import save_image\n"
    "torch.set_num_threads(1)\na, b = x.split(n, dim=1), line.split(',')\nu = np.max(np.unique(y, True), 0)\n"
    "z = F.grid_sample(x, g, 'nearest').relu() + self.relu(x)\nF.dropout(x, 0.5, self.training)\n"
    "torch.addcmul(a, b, c + d, value=2)\nnn.InstanceNorm2d(3)\nF.avg_pool2d(x, 3, 1, 1)\n"
    "cell = getattr(nn, kind)(2, bias=False)\nsave_image(x, 'x.png')\ntorch.nn.SmoothL1Loss(beta=2.0)\n"
    "DataLoader = torch.utils.data.DataLoader\ntorch.utils.data.DataLoader(d, batch_size=4, sampler=s)\n": (
        P + "import numpy as np\nimport paddle_lite_py.nn.functional as F\nfrom paddle_lite_py import nn\n"
        "from paddle_lite_py.compat.torchvision import save_image\n"
        "a, b = paddle.compat.split(x, n, dim=1), line.split(',')\nu = np.max(np.unique(y, True), 0)\n"
        "z = paddle.nn.functional.relu(F.grid_sample(x, g, 'nearest', align_corners=False)) + self.relu(x)\n"
        "F.dropout(x, 0.5, training=self.training)\n(a + 2 * b * (c + d))\n"
        "paddle.compat.nn.InstanceNorm2d(3)\n"
        "F.avg_pool2d(x, 3, 1, 1, exclusive=not True)\n"
        "cell = getattr(paddle.compat.nn, kind)(2, bias=False)\nsave_image(x, 'x.png')\n"
        "paddle.nn.SmoothL1Loss(delta=2.0, is_huber=False)\nDataLoader = paddle.io.DataLoader\n"
        "paddle.io.DataLoader(d, batch_sampler=None if s is None else paddle.io.BatchSampler(sampler=s, batch_size=4), "
        "batch_size=4 if s is None else 1)\n"
    ),
    "import torch, os\nimport torch.nn.functional as F\ny = F.relu(x, inplace=True).size(0)\nz = y.max()\n": (
        P + "import os\nimport paddle_lite_py.nn.functional as F\n"
        "y = paddle.compat.nn.functional.in_place(x, F.relu(x)).shape[0]\nz = y.max()\n"
    ),
    "import paddle.fluid as fluid\nh = fluid.layers.reduce_sum(x, dim=1, keep_dim=True)\n": (
        P + "import paddle_lite_py.static as fluid\npaddle.enable_static()\nh = paddle.sum(x, axis=1, keepdim=True)\n"
    ),
    "from paddle.fluid.dygraph import Dropout\nd = Dropout(0.3)\nf = Dropout(0.3, None, 'upscale_in_train')\n": (
        'from paddle_lite_py.nn import Dropout\nd = Dropout(0.3, mode="downscale_in_infer")\n'
        'f = Dropout(0.3, mode="upscale_in_train")\n'
    ),
    "import paddle.fluid as fluid\nx = fluid.layers.dropout(x, 0.3, is_test=t)\n": (
        P + "import paddle_lite_py.static as fluid\npaddle.enable_static()\n"
        'x = paddle.nn.functional.dropout(x, p=0.3, training=not (t), mode="downscale_in_infer")\n'
    ),
    "from paddle.fluid.dygraph import Pool2D\np = Pool2D(global_pooling=True, pool_type='avg')\n": (
        P + "p = paddle.nn.AdaptiveAvgPool2D(output_size=1)\n"
    ),
    "import paddle.nn as nn\nfrom paddle.io import Dataset\nimport paddle\npaddle.seed(1)\n": (
        "import paddle_lite_py.nn as nn\nfrom paddle_lite_py.io import Dataset\n" + P + "paddle.seed(1)\n"
    ),
    "import torch.optim as optim\nfor g in self.opt.param_groups:\n    g['lr'] *= 0.1\n"
    "opt.param_groups[0]['lr'] = lr\noptim = optim.AdamW(p, betas=b)\noptim.zero_grad()\n": (
        "import paddle_lite_py.optimizer as optim\nself.opt.set_lr(self.opt.get_lr() * (0.1))\nopt.set_lr(lr)\n"
        "optim = optim.AdamW(parameters=paddle.compat.optim.groups(p, 0.001), beta1=b[0], beta2=b[1], "
        "learning_rate=0.001)\noptim.zero_grad()\n"
    ),
    T + "from torch.autograd import Variable\nx = Variable(x, requires_grad=True)\nnet.eval()\ntorch.save(net, 'f')\n"
    "y = x.to(memory_format=torch.channels_last)\n": (
        P + "x = (x.detach().requires_grad_(True))\nnet.eval()\npaddle.save(net.state_dict(), 'f')\ny = x\n"
    ),
    T + "from einops.layers.torch import Rearrange\nfrom torch.utils.tensorboard import SummaryWriter\n"
    "from torch.utils.data.dataloader import DataLoader\nr = SummaryWriter('runs')\n": (
        P + "paddle.install_as_paddle()  # by which other packages find it\n"
        "from einops.layers.paddle import Rearrange\nfrom paddle_lite_py.compat.tensorboard import SummaryWriter\n"
        "from paddle_lite_py.io import DataLoader\nr = SummaryWriter('runs')\n"
    ),
    T + "import torch.nn as nn\nr = nn.ReLU(inplace=True), nn.LeakyReLU(0.2, flag), nn.ReLU()\n"
    "y = nn.functional.relu(f(x), inplace=True), nn.functional.elu(x, inplace=flag)\n"
    "p.grad.zero_()\nn = sum(p.numel() for p in q), x.shape.numel()\n"
    "m = x.clamp_min(0), x.median(), x.chunk(3, dim=1)\n"
    "k = x.norm(dim=(1, 2)), self.norm(x), x.norm(2), x.select(1, 0), q.select('a')\n"
    "t = nn.Embedding.from_pretrained(w), nn.init.kaiming_normal_(w), torch.randint(3, (2,))\n": (
        P + "import paddle_lite_py.nn as nn\n"
        "r = paddle.compat.nn.in_place(nn.ReLU()), paddle.compat.nn.in_place(nn.LeakyReLU(0.2), flag), nn.ReLU()\n"
        "y = nn.functional.relu(f(x)), paddle.compat.nn.functional.in_place(x, nn.functional.elu(x), flag)\n"
        "p.grad.detach().zero_()\nn = sum(p.size for p in q), x.shape.numel()\n"
        "m = x.clip(min=0), paddle.compat.median(x), paddle.compat.chunk(x, 3, dim=1)\n"
        "k = paddle.compat.norm(x, dim=(1, 2)), self.norm(x), x.norm(2), paddle.compat.select(x, 1, 0), q.select('a')\n"
        "t = paddle.compat.nn.Embedding.from_pretrained(w), paddle.compat.nn.init.kaiming_normal_(w), "
        "paddle.compat.randint(3, (2,))\n"
    ),
    T + "f = hasattr(torch, 'compile'), self.torch, g(torch=1), isinstance(x, torch.nn.ReLU)\n"
    "def h(o: torch.optim.Adam): return x.grad.is_sparse\n": (
        P + "f = hasattr(paddle, 'compile'), self.torch, g(torch=1), isinstance(x, paddle.nn.ReLU)\n"
        "def h(o: paddle.optimizer.Adam): return x.grad.is_sparse()\n"
    ),
    T + "from torch.func import functional_call, vmap\nfrom torch.utils._pytree import tree_map\n"
    "from torch.optim.lr_scheduler import _LRScheduler, OneCycleLR\ns = OneCycleLR(o, 0.1, 9, cycle_momentum=False)\n"
    "x = torch.rand(3, generator=g), w.normal_(generator=g), nn.init.ones_(w), torch.vmap(f)(x), torch.initial_seed()\n"
    "self.register_full_backward_hook(f)\nvalues, at = x.sort()\nnames.sort()\nx.kthvalue(2).values, x.svd()\n"
    "torch.utils.data.DataLoader(d, 4, shuffle=True, generator=g)\n"
    "torch.linalg.eigh(x).eigenvalues\ntorch.fft.fft(x).real\n": (
        P + "from paddle_lite_py.compat.func import functional_call, vmap\n"
        "from paddle_lite_py.compat.pytree import tree_map\n"
        "from paddle_lite_py.compat.optim.lr_scheduler import LRScheduler as _LRScheduler, OneCycleLR\n"
        "s = OneCycleLR(o, 0.1, 9, cycle_momentum=False)\n"
        "x = paddle.compat.drawn(g, paddle.rand, 3), paddle.compat.drawn(g, w.normal_), nn.init.ones_(w), "
        "paddle.compat.func.vmap(f)(x), paddle.compat.initial_seed()\n"
        "paddle.compat.nn.register_full_backward_hook(self, f)\nvalues, at = paddle.compat.sort(x)\nnames.sort()\n"
        "paddle.compat.kthvalue(x, 2).values, paddle.compat.svd(x)\n"
        "paddle.io.DataLoader(d, batch_sampler=paddle.io.BatchSampler("
        "sampler=paddle.io.RandomSampler(d, generator=g), batch_size=4))\n"
        'paddle.compat.linalg.eigh(x).eigenvalues\npaddle.compat.real(paddle.fft.fft(x, norm="backward"))\n'
    ),
    T + "import torch.utils.checkpoint as cp\nfrom torch.hub import nowhere\nimport torch.fx as fx\n"
    "try:\n    from torch.nested import nested_tensor\nexcept ImportError:\n    pass\ntorch.fx.wrap('f')\n"
    "class Net(nn.Module):\n    def __init__(self, act=torch.nn.ReLU, gate=torch.nn.functional.silu):\n"
    "        torch._assert(act, 'an activation')\n    @torch.jit.unused\n    def f(self, shape, x):\n"
    "        return torch.jit.is_scripting() or cp.checkpoint(self.g, shape.numel(), x._indices())\n"
    "a, b = x.split(split_size=[1, 2], dim=-1)\ntorch.promote_types(a, b)\n"
    "torch.autograd.functional.jacobian(f, x)\n": (
        P + "import paddle_lite_py.distributed.fleet.utils as cp\n"
        'nowhere = paddle.compat.missing("torch.hub.nowhere", "there is no such name here")\n'
        'fx = paddle.compat.missing("torch.fx", "there is no such name here")\n'
        'try:\n    raise ImportError("there is no torch.nested.nested_tensor here")\nexcept ImportError:\n    pass\n'
        "class Net(nn.Module):\n    def __init__(self, act=paddle.compat.nn.ReLU, gate=paddle.nn.functional.silu):\n"
        "        assert act, 'an activation'\n    def f(self, shape, x):\n"
        "        return False or cp.recompute(self.g, shape.numel(), x.indices())\n"
        "a, b = paddle.compat.split(x, split_size_or_sections=[1, 2], dim=-1)\n"
        "((paddle.zeros([], a) + paddle.zeros([], b)).dtype)\n(paddle.compat.func.jacrev(f)(x))\n"
    ),
    T + "for i, (name, p) in enumerate(named):\n    p -= rate * p.grad\n    total += 1\nw *= w.grad\n"
    "x = t.where(mask, 0.0)\nif x.type() == t.device.type: pass\na, b = torch.broadcast_tensors(x, t)\n"
    "if torch.cuda._initialized: pass\nx.norm(p=2, dim=self.dims), x.norm(2, dims), x.norm(dim=-1), self.norm(x)\n": (
        P + "for i, (name, p) in enumerate(named):\n"
        '    p = paddle.compat.augmented(p, "-=", rate * p.grad)\n    total += 1\n'
        'w = paddle.compat.augmented(w, "*=", w.grad)\n'
        "x = paddle.where(mask, t, 0.0)\nif paddle.compat.to_type(x) == t.device.type: pass\n"
        "a, b = paddle.compat.broadcast_tensors(x, t)\nif False: pass\n"
        "paddle.compat.norm(x, p=2, dim=self.dims), paddle.compat.norm(x, 2, dims), x.norm(dim=-1), self.norm(x)\n"
    ),
    T + "from torch.cuda.amp import autocast\nimport torch.cuda.amp as amp\n"
    "from torch.nn.utils import weight_norm as wn\n"
    "from accelerate import Accelerator\nimport timm.layers\ntry:\n    import xformers\nexcept ImportError:\n"
    "    xformers = None\nclass Net(nn.Module):\n    fused: torch.jit.Final[bool]\n": (
        P + "autocast = paddle.cuda.amp.autocast\namp = paddle.cuda.amp\n"
        "from paddle_lite_py.compat.nn import weight_norm as wn\n"
        'Accelerator = paddle.compat.missing("accelerate.Accelerator", "the package accelerate computes with PyTorch '
        'itself, whose tensors are not those here")\n'
        'timm = paddle.compat.missing("timm", "the package timm computes with PyTorch itself, whose tensors are not '
        'those here")\n'
        "try:\n    import xformers\nexcept ImportError:\n    xformers = None\n"
        "class Net(nn.Module):\n    fused: paddle.compat.Final[bool]\n"
    ),
    T + "D, N = torch.distributions, 3\nD = torch.distributions\nnn = torch.nn\n"
    "def f(d: torch.device, x, n: int, s='a'):\n"
    "    x += 1\n    n += 1\n    s += 'b'\n    y = g(x)\n    y *= 2\n    z, w = y.view(-1), y\n"
    "    z -= nn.Linear(2, 2)(z)\n"
    "    h.real = ctx.saved_variables[z.imag]\n    return D.Normal(x, y[mask.byte()].byte()), self.split(x)\n"
    "torch.lu_unpack(*x.lu())\ntorch.Tensor(3)\nmap(torch.detach, h), torch.addcmul\n"
    "net._modules.items()\nisinstance(x, (torch.Tensor, torch.device))\n": (
        P + "D, N = torch.distributions, 3\nD = paddle.distribution\nnn = paddle.nn\n"
        "def f(d: paddle.device.Device, x, n: int, s='a'):\n"
        "    x = paddle.compat.augmented(x, \"+=\", 1)\n    n += 1\n    s += 'b'\n    y = g(x)\n"
        '    y = paddle.compat.augmented(y, "*=", 2)\n    z, w = y.view(-1), y\n'
        '    z = paddle.compat.augmented(z, "-=", paddle.compat.nn.Linear(2, 2)(z))\n'
        "    h.real = ctx.saved_tensors[paddle.compat.imag(z)]\n"
        "    return D.Normal(x, y[mask.bool()].byte()), self.split(x)\n"
        "paddle.linalg.lu_unpack(*x.lu())\npaddle.compat.FloatTensor(3)\n"
        "map((lambda input: input.detach()), h), "
        "(lambda input, tensor1, tensor2, value=1: input + value * tensor1 * tensor2)\n"
        "net._sub_layers.items()\n"
        "isinstance(x, (paddle.Tensor, paddle.device.Device))\n"
    ),
    "for g in opt.param_groups:\n    g['lr'] = rate\n": "opt.set_lr(rate)\n",
    "import numpy as np\nx = np.ones(2).size\n": "import numpy as np\nx = np.ones(2).size\n",
}


def test_the_modules_of_a_folder_are_of_one_program(tmp_path):
    folder = tmp_path / "code"
    (folder / "timm").mkdir(parents=True)
    (folder / "timm" / "net.py").write_text("import torch\nx = torch.ones(2, 3)\n")
    (folder / "loss.py").write_text("from timm.net import Net\nvalues, at = Net(x).max(dim=1)\n")
    (folder / "timm" / "act.py").write_text("from .net import *\nact = torch.nn.functional.relu, nn.Linear(2, 3)\n")
    (folder / "plain.py").write_text("import numpy as np\nlargest = np.ones([2, 3]).max(1)\n")
    upgrade_files(folder, tmp_path / "new", show=False)
    assert (tmp_path / "new" / "loss.py").read_text() == (
        "import paddle_lite_py as paddle\nfrom timm.net import Net\nvalues, at = paddle.compat.max(Net(x), dim=1)\n"
    )
    assert (tmp_path / "new" / "timm" / "act.py").read_text() == (
        "import paddle_lite_py as paddle\nfrom .net import *\n"
        "act = paddle.nn.functional.relu, paddle.compat.nn.Linear(2, 3)\n"
    )
    assert (tmp_path / "new" / "plain.py").read_text() == (folder / "plain.py").read_text()


@pytest.mark.parametrize("before", CASES)
def test_rewritings(before):
    assert upgrade(before).text == CASES[before]
    assert upgrade(CASES[before]).text == CASES[before]  # what is of here stays


@pytest.mark.parametrize(
    ("text", "line", "todo"),
    [
        (T + "s = torch.optim.lr_scheduler.CyclicLR(opt, 0.1, 1.0)\n", 2, "write cycle_momentum=False"),
        (T + "a, b = x.chunk(2)\na += 1\n", 3, "write into the whole tensor"),
        (T + "net.register_backward_hook(f)\n", 2, "write register_full_backward_hook()"),
        (T + "torch.optim.Adagrad(p, **kwargs)\n", 2, "the call has ** arguments, some of which"),
        (T + "\nx = torch.quantize_per_tensor(a)\n", 3, "there is no such name here"),
        (T + "torch.optim.SGD(p, 0.1, dampening=0.5)\n", 2, "dampening and maximize are not known"),
        (T + "torch.optim.Adam(p, betas=b())\n", 2, "betas is not written as two numbers"),
        (T + "net.parameters()\nnet = torch.load('net.pt')\n", 3, "a file holds no layers here"),
        (T + "net.share_memory()\n", 2, "processes do not share the memory"),
        (T + "for g in opt.param_groups:\n    g['weight_decay'] = 0\n", 2, "write set_lr()"),
        (T + "h = torch.histogram(x, 4)\n", 2, "it returns the counts alone here"),
        (T + "a = text.split(sep)\n", 2, "of a tensor: write paddle.compat.split"),
        ("import timm\n", 1, "computes with PyTorch itself"),
        (T + "writer.add_hparams(a, b)\n", 2, "the SummaryWriter here writes scalars"),
        (T + "torch.nn.functional.huber_loss(a, b, weight=w)\n", 2, "weight is not known here"),
        (T + "torch.addcmul(a, b)\n", 2, "tensor2 is not given"),
        (
            "from torchvision import models\nm = models.resnet18(weights='DEFAULT')\n",
            2,
            "weights of PyTorch are not known",
        ),
        (T + "torch.optim.AdamW(*args)\n", 2, "the call has * arguments"),
        ("from torch.nn import *\n", 1, "name what is imported"),
        ("import paddle.fluid as fluid\nfluid.ParallelExecutor(False)\n", 2, "XLA uses all cores"),
        ("import paddle\npaddle.nowhere(1)\n", 2, "there is no such name here"),
    ],
)
def test_what_is_left_to_do_is_told(text, line, todo):
    (note,) = [n for n in upgrade(text).notes if n.todo]
    assert note.line == line and todo in note.new


def test_every_rule_leads_to_something_that_is_there():
    missing = [
        f"{old} -> {rule.new}"
        for old, rule in names.RULES.items()
        for new in (re.findall(r"paddle\.[\w.]*\w", rule.new) if rule.template else [rule.new])
        if new.startswith("paddle.") and not names.exists(new)
    ]
    assert not missing, "\n".join(missing)
