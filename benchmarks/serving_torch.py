"""LeNet behind LitServe, with its batches, in PyTorch or as ONNX: serving_torch.py PORT [FILE.onnx]."""

from __future__ import annotations

import sys
from typing import Any

import litserve
import numpy as np
import torch
from torch import nn


class LeNetApi(litserve.LitAPI):
    """What LitServe asks for."""

    def setup(self, device: str) -> None:
        """Make the net, as paddle.vision.models.LeNet has it."""
        torch.set_num_threads(1)
        features = [nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(6, 16, 5), nn.ReLU()]
        head = [nn.MaxPool2d(2, 2), nn.Flatten(), nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)]
        self.net = nn.Sequential(*features, *head).eval()

    def decode_request(self, request) -> torch.Tensor:
        """An image of JSON."""
        return torch.tensor(request["x"])

    def batch(self, inputs: list[torch.Tensor]) -> torch.Tensor:
        """Images as one batch."""
        return torch.stack(inputs)

    def predict(self, x: torch.Tensor) -> torch.Tensor:
        """Scores."""
        with torch.inference_mode():
            return self.net(x)

    def unbatch(self, output: torch.Tensor) -> list[torch.Tensor]:
        """Scores of each image."""
        return list(output)

    def encode_response(self, output: torch.Tensor) -> Any:
        """Scores for JSON."""
        return {"y": output.tolist()}


class OnnxApi(litserve.LitAPI):
    """The same for a file that onnxruntime runs, with the options that our server gives it."""

    def setup(self, device: str) -> None:
        """Read the file."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session = onnxruntime.InferenceSession(sys.argv[2], options, providers=["CPUExecutionProvider"])

    def decode_request(self, request) -> np.ndarray:
        """An image of JSON."""
        return np.array(request["x"], np.float32)

    def batch(self, inputs: list[np.ndarray]) -> np.ndarray:
        """Images as one batch."""
        return np.stack(inputs)

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Scores."""
        return self.session.run(None, {"x": x})[0]

    def unbatch(self, output: np.ndarray) -> list[np.ndarray]:
        """Scores of each image."""
        return list(output)

    def encode_response(self, output: np.ndarray) -> Any:
        """Scores for JSON."""
        return {"y": output.tolist()}


if __name__ == "__main__":
    kind = OnnxApi if len(sys.argv) > 2 else LeNetApi
    api = kind(max_batch_size=16, batch_timeout=0.001)
    server = litserve.LitServer(api, accelerator="cpu", workers_per_device=1)
    server.run(port=int(sys.argv[1]), host="127.0.0.1", generate_client_file=False, log_level="error")
