"""The packages that `make ecosystem` tries: one row each, one file of this folder each, pinned, from PyPI.

Requirements are complete: nothing else is installed but what both environments have, PaddlePaddle's own needs (NumPy,
Pillow, protobuf, networkx, httpx, safetensors) and SciPy. What is named here goes before what an environment has.
"""

from __future__ import annotations

from typing import NamedTuple


class Trial(NamedTuple):
    """A package, what is installed for it, and how far its numbers may differ."""

    requirements: tuple[str, ...]
    what: str
    tolerance: float = 1e-5
    alone: bool = False  # small and without requirements: a test runs it
    cause: str = ""  # of what differs
    env: tuple[str, ...] = ()  # NAME=value, set before Python starts
    old_source: bool = False  # built by its setup.py, with what else is required in place


# What PaddleNLP imports, whatever is used of it.
NLP = tuple(
    """aiohappyeyeballs==2.7.1 aiohttp==3.14.5 aiosignal==1.4.0 aistudio-sdk==0.2.6 annotated-types==0.8.0
    attrs==26.1.0 cloudpickle==3.1.3 colorlog==6.12.0 datasets==2.20.0 dill==0.3.8 fastapi==0.115.0 filelock==4.3.1
    frozenlist==1.8.0 fsspec==2026.9.0 huggingface-hub==0.25.2 jieba==0.42.1 Jinja2==3.1.6 joblib==1.6.0
    MarkupSafe==3.0.4 multidict==7.2.1 multiprocess==0.70.16 narwhals==2.29.0 pandas==3.1.1 propcache==0.5.4
    pyarrow==26.0.1 pyarrow-hotfix==0.7 pydantic==2.9.2 pydantic-core==2.23.4 python-dateutil==4.0.0 PyYAML==6.0.4
    regex==2026.11.19 requests==2.34.2 scikit-learn==1.9.1 sentencepiece==0.2.3 seqeval==1.2.2 six==1.17.0
    starlette==0.38.6 threadpoolctl==3.8.0 tqdm==4.70.1 typing-inspection==0.4.5 urllib3==2.8.0 xxhash==4.1.0
    yarl==1.25.1""".split()
)
FORMERS = tuple(
    """aistudio-sdk==0.3.6 colorlog==6.12.0 filelock==4.3.1 huggingface-hub==0.34.4 Jinja2==3.1.6 MarkupSafe==3.0.4
    ml-dtypes==0.6.0 omegaconf==2.4.0 psutil==7.2.2 PyYAML==6.0.4 regex==2026.11.19 requests==2.34.2 six==1.17.0
    tokenizers==0.21.4 tqdm==4.70.1 transformers==4.55.4 urllib3==2.8.0""".split()
)
PARL = tuple(
    """cloudpickle==3.1.3 grpcio==1.85.3 gymnasium==1.4.0 psutil==7.2.2 pynvml==11.5.0 pyzmq==27.3.0 setuptools==65.5.0
    six==1.17.0 termcolor==3.3.0""".split()
)
# NumPy as of 2025, for packages that give `np.reshape` a `newshape`.
SERIES = tuple(
    """chinese-calendar==1.8.0 cloudpickle==3.1.3 cycler==0.12.1 fonttools==4.68.0 joblib==1.6.0 kiwisolver==1.5.1
    lxml==6.1.3 matplotlib==3.11.2 more-itertools==11.2.1 narwhals==2.29.0 numpy==2.2.6 pandas==2.2.3 patsy==1.0.3
    pyparsing==3.3.3 python-dateutil==4.0.0 python-docx==1.2.0 pytz==2025.2 PyWavelets==1.9.0 scikit-learn==1.9.1
    seaborn==0.13.2 statsmodels==0.15.0 threadpoolctl==3.8.0 tqdm==4.70.1""".split()
)
SCIENCE = tuple(
    """cloudpickle==3.1.3 colorlog==6.12.0 cycler==0.12.1 fonttools==4.68.0 imageio==2.38.1 joblib==1.6.0
    kiwisolver==1.5.1 matplotlib==3.11.2 meshio==5.3.5 mpmath==1.4.1 narwhals==2.29.0 numpy==2.2.6 omegaconf==2.4.0
    pandas==2.2.3 pyevtk==1.7.0 pyparsing==3.3.3 python-dateutil==4.0.0 pytz==2025.2 PyYAML==6.0.4 requests==2.34.2
    rich==15.0.0 scikit-learn==1.9.1 scikit-optimize==0.10.2 sympy==1.14.0 threadpoolctl==3.8.0 tqdm==4.70.1
    urllib3==2.8.0""".split()
)
QUANTUM = tuple(
    """antlr4-python3-runtime==4.13.2 attrs==26.1.0 bce-python-sdk==0.9.23 bidict==0.24.1 cirq-core==1.5.0
    cloudpickle==3.1.3 cvxpy==1.9.3 cycler==0.12.1 duet==0.2.9 fastdtw==0.3.4 fonttools==4.68.0 future==1.0.0
    h5py==3.16.0 joblib==1.6.0 kiwisolver==1.5.1 matplotlib==3.11.2 mpmath==1.4.1 nanoid==2.0.0 narwhals==2.29.0
    networkx==3.6.1 openfermion==1.8.1 pandas==2.2.3 py-expression-eval==0.3.14 pycryptodome==4.4.0 pyparsing==3.3.3
    python-dateutil==4.0.0 pytz==2025.2 qcompute==3.1.0 qdldl==0.1.9.post1 requests==2.34.2 scikit-learn==1.9.1
    sympy==1.14.0 threadpoolctl==3.8.0 tqdm==4.70.1 urllib3==2.8.0""".split()
)
# OpenCV, and what scikit-learn, matplotlib and requests are made of.
PICTURES = ("opencv-python-headless==5.0.0.93", "requests==2.34.2", "urllib3==2.8.0", "six==1.17.0", "PyYAML==6.0.4")
LEARN = tuple(
    "scikit-learn==1.9.1 cloudpickle==3.1.3 joblib==1.6.0 narwhals==2.29.0 threadpoolctl==3.8.0 tqdm==4.70.1".split()
)
SLIM = tuple(
    """numpy==2.2.6 setuptools==65.5.0 cycler==0.12.1 decorator==5.3.1 fonttools==4.68.0 kiwisolver==1.5.1
    matplotlib==3.11.2 pyparsing==3.3.3 python-dateutil==4.0.0 PyYAML==6.0.4 pyzmq==27.3.0 requests==2.34.2 six==1.17.0
    urllib3==2.8.0""".split()
)

TRIALS = {
    "einops_layers": Trial(("einops==0.8.2",), "network of its layers and functions, 20 steps", alone=True),
    "safetensors_file": Trial(("safetensors==0.8.0",), "saving and loading weights; six dtypes", alone=True),
    "nnaudio_spectrograms": Trial(
        ("paddle-nnaudio==0.0.3",), "classifier on trained mel spectrograms; STFT, MFCC, constant-Q", 1e-4, alone=True
    ),
    "msssim_picture": Trial(("paddle-msssim==0.0.2",), "a picture optimized by SSIM; MS-SSIM", 1e-3, alone=True),
    "deepxde_poisson": Trial(
        ("deepxde==1.15.0", "matplotlib==3.10.7", "cycler==0.12.1", "kiwisolver==1.4.9", "pyparsing==3.2.5",
         "python-dateutil==2.9.0.post0", "six==1.17.0", "contourpy==1.3.3", "fonttools==4.60.1", "packaging==25.0",
         "scikit-learn==1.7.2", "joblib==1.5.2", "threadpoolctl==3.6.0", "scikit-optimize==0.10.2", "pyaml==25.7.0",
         "PyYAML==6.0.3"),
        "Poisson equation with Adam, then L-BFGS; predictions", 1e-2,
    ),
    "paddlenlp2_texts": Trial(
        ("paddlenlp==2.8.1", *NLP),
        "BERT and ERNIE fine-tuned, 20 steps, F1, export; pretrained folder; CRF; GPT and LLaMA, greedy and beams",
    ),
    "paddlenlp3_trainer": Trial(
        ("paddlenlp==3.0.0b2", "tokenizers==0.23.3", *NLP),
        "LLaMA by its Trainer, resumed from a checkpoint, evaluated, exported; LoRA of Qwen2, merged; generation",
    ),
    "paddleformers_trainer": Trial(
        ("paddleformers==0.4.1", *FORMERS),
        "ERNIE 4.5 by its Trainer, resumed from a checkpoint, evaluated; LoRA of Qwen3-MoE, merged; generation",
    ),
    "ppdiffusers_images": Trial(
        ("ppdiffusers==0.29.0", "paddlenlp==2.8.1", *NLP),
        "U-Net trained, 10 steps, DDIM, its pipeline saved; conditioned U-Net with Euler steps; VAE exported",
    ),
    "pgl_graphs": Trial(
        ("pgl==2.2.6", "Cython==3.2.4", "setuptools==65.5.0", "wheel==0.45.1"),
        "eight convolutions, 20 steps, pooling of graphs, relations, segments, walks, export", old_source=True,
    ),
    "parl_agents": Trial(
        ("parl==2.2.1", *PARL),
        "DQN on a cart, 20 updates; PPO, A2C, policy gradient, DDPG, DDQN; saved, exported",
        env=("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python",),
    ),
    "paddlets_forecasts": Trial(
        ("paddlets==1.1.0", *SERIES),
        "MLP, LSTNet, RNN, TCN, N-HiTS, N-BEATS, Transformer: two epochs, forecasts; saved, measured; autoencoder",
    ),
    "paddlesci_equations": Trial(
        ("paddlesci==1.4.0", *SCIENCE),
        "Laplace's equation by its Solver, 20 steps, evaluated, saved, exported; Navier-Stokes; DeepONet; float64",
    ),
    "paddle_quantum_circuits": Trial(
        ("paddle-quantum==2.4.0", *QUANTUM),
        "variational eigensolver, 20 steps; largest cut; classifier; mixed states, fidelity, distances; saved",
    ),
    "ppacls_sounds": Trial(
        ("ppacls==1.0.6", "loguru==0.7.3"), "ECAPA-TDNN, TDNN, CAM++: four steps, exported; float64", 1e-5
    ),
    "ppser_emotions": Trial(("ppser==0.0.8", "loguru==0.7.3"), "bidirectional LSTM, 20 steps, evaluated, exported"),
    "paddlesde_paths": Trial(
        ("paddlesde==0.2.5", "boltons==26.2.0", "trampoline==0.1.2", "ppdiffusers==0.29.0", "paddlenlp==2.8.1", *NLP),
        "an equation of networks trained along given noise, 20 steps; Euler, Milstein, Heun, midpoint; float64",
    ),
    "paddleseg_training": Trial(
        ("paddleseg==2.8.0", *PICTURES, *LEARN),
        "PP-LiteSeg on files of pictures, 6 steps of three losses; inference with flips, IoU; export", 1e-2,
        cause="normalizes few values: PaddlePaddle's own numbers differ by as much for weights 1e-7 away",
    ),
    "paddleclas_classifier": Trial(
        ("paddleclas==2.6.0", "faiss-cpu==1.15.1", "prettytable==3.18.0", *PICTURES, *LEARN),
        "vision transformer taught by a cut ResNet, 6 steps, export; PP-LCNet as a program of any size", 1e-4,
    ),
    "ppgan_cycle": Trial(
        ("ppgan==2.1.0", "lazy-loader==0.6", "munch==4.0.0", "scikit-image==0.26.0", "tqdm==4.70.1", *PICTURES),
        "CycleGAN and a super-resolution network, 5 steps; PSNR, SSIM; export (with `paddle.base` for `paddle.fluid`)",
    ),
    "ppvideo_actions": Trial(
        ("ppvideo==2.3.1", "pandas==3.1.1", "python-dateutil==4.0.0", "tqdm==4.70.1", *PICTURES),
        "ST-GCN and MS-TCN, 6 steps, metrics, export of any length (with `paddle.base` for `paddle.fluid`)",
    ),
    "paddleslim_compression": Trial(
        ("paddleslim==2.6.0", *SLIM),
        "QAT, 12 steps; two pruners, sensitivities, PTQ, distillation, a static pruner; saved", 3e-2,
        cause="QAT rounds values to other neighbours, there too for weights 1e-7 away", env=("FLAGS_enable_pir_api=0",),
    ),
    "visualdl_logs": Trial(("visualdl==2.5.3",), "its callback in `Model.fit`; seven kinds of records, read again"),
    "x2paddle_onnx": Trial(
        ("x2paddle==1.6.0", "onnx==1.17.0", "sympy==1.14.0", "mpmath==1.4.1", *PICTURES[1:4]),
        "a network of ONNX converted; its code run, trained, 20 steps, and exported", 1e-4,
    ),
    "paddlehub_transfer": Trial(
        ("paddlehub==2.4.0", "paddlenlp==2.8.1", "paddle2onnx==1.2.11", "visualdl==2.5.3", "colorama==0.4.6",
         "easydict==1.14", "rarfile==4.5", "opencv-python-headless==5.0.0.93", *NLP),
        "a module in a local folder, fine-tuned by its Trainer, evaluated, loaded again, predictions, export", 1e-4,
        env=("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python",),
    ),
    "paconvert_program": Trial(
        ("paconvert==3.3.1", "astor==0.8.1", "black==26.10.1", "click==8.5.1", "isort==9.0.2",
         "mypy-extensions==1.2.0", "pathspec==1.1.1", "platformdirs==4.14.8", "pytokens==0.4.1"),
        "a transformer's program for PyTorch converted; the result trained, 10 epochs, evaluated, exported",
    ),
    "paddledet_yoloe": Trial(
        ("paddledet==2.6.0", "pycocotools==2.0.11", "matplotlib==3.11.2", "cycler==0.12.1", "fonttools==4.68.0",
         "kiwisolver==1.5.1", "pyparsing==3.3.3", "python-dateutil==4.0.0", "pandas==3.1.1", "setuptools==65.5.0",
         *PICTURES, *LEARN),
        "PP-YOLOE on pictures with annotations of COCO, its reader, 12 steps, boxes, average precision; export", 1e-4,
    ),
    "paddleclip_pairs": Trial(
        ("paddleclip==1.0.0", "ftfy==6.3.1", "regex==2026.11.19", "wcwidth==0.9.4", "wget==3.2"),
        "CLIP on texts and pictures, 20 steps; features, predictions, export",
    ),
    "patta_averages": Trial(
        ("patta==0.0.2", "opencv-python-headless==5.0.0.93"),
        "a classifier, 20 steps; its averages over flips, turns and factors in three ways; export",
    ),
    "lpips_picture": Trial(
        ("paddle-lpips==0.1.2.0", "tqdm==4.70.1"), "a picture optimized by LPIPS, 20 steps; distances; export", 1e-4
    ),
}  # fmt: skip
