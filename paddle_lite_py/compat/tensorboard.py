"""Curves, texts, pictures and histograms for TensorBoard, as torch.utils.tensorboard writes them."""

from __future__ import annotations

import io
import os
import socket
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.argument_docs import document as _document
from ..utils.event_file import EventFile
from ..vision.image import pillow
from .torchvision import make_grid

__all__ = ["SummaryWriter"]


class SummaryWriter:
    """Writes events for TensorBoard: `tensorboard --logdir runs`.

    Arguments:
        log_dir: folder of the event file; None: a new one in runs/.
        comment: end of the name of the new folder. Default: "".

    Examples:
        >>> import tempfile
        >>> import paddle_lite_py as paddle
        >>> with paddle.compat.tensorboard.SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_scalar("loss", paddle.to_tensor(0.5), 1)
    """

    def __init__(self, log_dir: Any = None, comment: str = "") -> None:
        name = time.strftime(f"%b%d_%H-%M-%S_{socket.gethostname()}{comment}")
        self.log_dir = str(log_dir) if log_dir is not None else os.path.join("runs", name)
        self._file = EventFile(self.log_dir)
        self._runs: dict[str, EventFile] = {}

    def get_logdir(self) -> str:
        """Return the folder of the event file."""
        return self.log_dir

    def add_scalar(self, tag: str, scalar_value: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Write a number of a curve.

        Arguments:
            tag: name of the curve.
            scalar_value: a number, or a tensor of one element.
            global_step: its place in the curve; None: 0.
            walltime: seconds since 1970; None: now.
        """
        self._file.add_scalar(tag, np.asarray(scalar_value).item(), _step(global_step), walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Write numbers of several curves that are shown as one chart, each in a run of its own.

        Arguments:
            main_tag: name of the chart.
            tag_scalar_dict: the numbers by the names of the curves.
        """
        for name, value in tag_scalar_dict.items():
            folder = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{name}")
            if folder not in self._runs:
                self._runs[folder] = EventFile(folder)
            self._runs[folder].add_scalar(main_tag, np.asarray(value).item(), _step(global_step), walltime)

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """Write a text, which may be Markdown."""
        self._file.add_text(f"{tag}/text_summary", text_string, _step(global_step), walltime)

    def add_histogram(
        self, tag: str, values: Any, global_step: Any = None, bins: Any = "auto", walltime: float | None = None
    ) -> None:
        """Write how the elements of a tensor are distributed.

        Arguments:
            bins: of numpy.histogram; "tensorflow" is "auto".

        Raises:
            ValueError: there are no elements.
        """
        found = np.asarray(values, np.float64).ravel()
        if not found.size:
            raise ValueError(f"add_histogram: the values of {tag!r} are empty; expected at least one")
        counts, limits = np.histogram(found, "auto" if bins == "tensorflow" else bins)
        self._file.add_histogram(tag, found, counts, limits, _step(global_step), walltime)

    def add_image(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:  # fmt: skip
        """Write a picture, of floats in [0, 1] or integers in [0, 255].

        Arguments:
            dataformats: the dimensions: "CHW", "HWC" or "HW". Default: "CHW".

        Raises:
            ValueError: the picture has other dimensions.
        """
        picture = np.asarray(img_tensor)
        if sorted(dataformats) not in (sorted("CHW"), sorted("HW")) or picture.ndim != len(dataformats):
            raise ValueError(f"add_image: the picture has the shape {[*picture.shape]}; expected {dataformats}")
        picture = picture if "C" in dataformats else picture[..., None]
        kinds = dataformats if "C" in dataformats else f"{dataformats}C"
        picture = picture.transpose([kinds.index(k) for k in "HWC"])
        if picture.dtype.kind == "f":
            picture = np.clip(picture * 255, 0, 255)
        shown = picture.astype(np.uint8)
        data = io.BytesIO()
        pillow().fromarray(shown[..., 0] if shown.shape[-1] == 1 else shown).save(data, format="PNG")
        self._file.add_image(tag, data.getvalue(), picture.shape, _step(global_step), walltime)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:  # fmt: skip
        """Write pictures as a grid.

        Arguments:
            img_tensor: floats in [0, 1].
            dataformats: "NCHW" or "NHWC". Default: "NCHW".

        Raises:
            ValueError: dataformats is another one.
        """
        if dataformats not in ("NCHW", "NHWC"):
            raise ValueError(f"add_images: dataformats is {dataformats!r}; expected 'NCHW' or 'NHWC'")
        pictures = np.asarray(img_tensor, np.float32)
        grid = make_grid(pictures if dataformats == "NCHW" else pictures.transpose(0, 3, 1, 2), padding=0)
        self.add_image(tag, grid, global_step, walltime)

    def add_figure(self, tag: str, figure: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Write a figure of matplotlib, as a picture."""
        figure.canvas.draw()
        self.add_image(tag, np.asarray(figure.canvas.buffer_rgba())[..., :3], global_step, walltime, "HWC")

    def flush(self) -> None:
        """Let readers see what was written."""
        for file in (self._file, *self._runs.values()):
            file.flush()

    def close(self) -> None:
        """Close the files; nothing can be written after it."""
        for file in (self._file, *self._runs.values()):
            file.close()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _step(global_step: Any) -> int:
    return 0 if global_step is None else int(global_step)


_document(globals())
