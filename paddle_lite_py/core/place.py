"""Places: where tensors live."""

from __future__ import annotations

from typing import Any

import jax

from . import small

_JAX_NAME = {"cpu": "cpu", "gpu": "gpu", "tpu": "tpu", "xpu": "xpu"}
# The host, once arrays were put there on purpose although there is an accelerator.
pinned: list[jax.Device] = []


class Place:
    """A device: its kind ("cpu", "gpu", "tpu") and index.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> isinstance(paddle.CPUPlace(), paddle.Place), paddle.CPUPlace() == paddle.CPUPlace()
        (True, True)
    """

    kind = "cpu"

    def __init__(self, index: int = 0) -> None:
        self.index = index

    @property
    def name(self) -> str:
        """The name that requests this device: "cpu", "gpu:0"."""
        return self.kind if self.kind == "cpu" else f"{self.kind}:{self.index}"

    def __repr__(self) -> str:
        return f"Place({self.name})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def set_place(self, place: Place) -> None:
        """Become another place, as programs of PaddlePaddle's core let one that they have made empty.

        Arguments:
            place: a place of any kind.

        Examples:
            >>> place = Place()
            >>> place.set_place(CUDAPlace(1))
            >>> place, place == CUDAPlace(1)
            (Place(gpu:1), True)
        """
        self.kind, self.index = place.kind, place.index

    def is_cpu_place(self) -> bool:
        """True on the CPU."""
        return self.kind == "cpu"

    def is_gpu_place(self) -> bool:
        """True on a GPU."""
        return self.kind == "gpu"

    def is_xpu_place(self) -> bool:
        """True on a Kunlun device."""
        return self.kind == "xpu"

    def is_custom_place(self) -> bool:
        """True on a device that PaddlePaddle has no name for."""
        return self.kind not in ("cpu", "gpu", "xpu")

    def is_cuda_pinned_place(self) -> bool:
        """True for CUDAPinnedPlace."""
        return isinstance(self, CUDAPinnedPlace)

    def is_xpu_pinned_place(self) -> bool:
        """True for XPUPinnedPlace."""
        return isinstance(self, XPUPinnedPlace)

    def is_ipu_place(self) -> bool:
        """False: there are none."""
        return False

    def custom_device_type(self) -> str:
        """Return the kind of a device that PaddlePaddle has no name for; otherwise empty."""
        return self.kind if self.is_custom_place() else ""

    def gpu_device_id(self) -> int:
        """Index among the devices of its kind."""
        return self.index

    xpu_device_id = ipu_device_id = custom_device_id = gpu_device_id

    def get_device_id(self) -> int:
        """Index among the devices of its kind."""
        return self.index

    @property
    def device(self) -> jax.Device:
        """The JAX device.

        Raises:
            ValueError: if this machine has no such device.
        """
        try:
            devices = jax.local_devices(backend=_JAX_NAME.get(self.kind, self.kind))
        except RuntimeError:
            devices = []
        if self.index >= len(devices):
            have = ", ".join(sorted({of_device(d).name for d in jax.local_devices()} | {"cpu"}))
            raise ValueError(f"device '{self.name}' is not there; this machine has {have}")
        if self.kind == "cpu" and not pinned and is_accelerator(jax.local_devices()[0]):
            pinned.append(devices[self.index])
        return devices[self.index]


class CPUPlace(Place):
    """The CPU.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.CPUPlace()
        Place(cpu)
    """


class CUDAPlace(Place):
    """A GPU, by index.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.CUDAPlace(0)
        Place(gpu:0)
    """

    kind = "gpu"


class CUDAPinnedPlace(CPUPlace):
    """Host memory; XLA pins what it transfers itself.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.CUDAPinnedPlace()
        Place(cpu)
    """


class TPUPlace(Place):
    """A TPU, by index.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.TPUPlace(0)
        Place(tpu:0)
    """

    kind = "tpu"


class XPUPlace(Place):
    """A Kunlun device; JAX has none, so that asking for its device is an error.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.XPUPlace(0)
        Place(xpu:0)
    """

    kind = "xpu"


class XPUPinnedPlace(CPUPlace):
    """Host memory; XLA pins what it transfers itself.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.XPUPinnedPlace()
        Place(cpu)
    """


class CustomPlace(Place):
    """A device that PaddlePaddle has no name for, by kind and index; JAX has to know the kind.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.CustomPlace("npu", 0)
        Place(npu:0)
    """

    def __init__(self, kind: str = "custom", index: int = 0) -> None:
        super().__init__(index)
        self.kind = kind


_KINDS = {"cpu": CPUPlace, "gpu": CUDAPlace, "cuda": CUDAPlace, "tpu": TPUPlace, "xpu": XPUPlace}


def as_place(value: Any) -> Place:
    """Return the Place named by a Place or a string such as "cpu", "gpu", "gpu:1".

    Raises:
        ValueError: if the name is not of that form.
    """
    if isinstance(value, Place):
        return value
    kind, _, index = str(value).partition(":")
    if kind not in _KINDS or not (index.isdigit() or not index):
        raise ValueError(f"device is {value!r}; expected 'cpu', 'gpu', 'gpu:0', 'tpu' or 'tpu:0'")
    return _KINDS[kind](int(index or 0))


def of_device(device: jax.Device) -> Place:
    """Return the Place of a JAX device."""
    return _KINDS.get(device.platform, CPUPlace)(0 if device.platform == "cpu" else device.id)


def of_array(array: Any) -> Place:
    """Return the Place of a JAX or NumPy array."""
    return of_device(next(iter(array.devices()))) if isinstance(array, jax.Array) else CPUPlace()


def is_accelerator(device: jax.Device) -> bool:
    """True unless a device is the CPU."""
    return device.platform != "cpu"


def is_host(device: jax.Device) -> bool:
    """True for the device whose small arrays are the host's, as long as it is in use."""
    return small.most() >= 0 and device == jax.local_devices()[0]


def current() -> Place:
    """Return the place of new tensors."""
    chosen = getattr(jax.config, "jax_default_device", None)
    return of_device(chosen if chosen is not None else jax.local_devices()[0])


def set_device(device: Any) -> Place:
    """Make a device the place of new tensors; returns its Place.

    Raises:
        ValueError: if `device` names none, or this machine has not got it.

    Examples:
        >>> set_device("cpu")
        Place(cpu)
    """
    place = as_place(device)
    jax.config.update("jax_default_device", place.device)
    small.reset()
    return place


def get_device(input: Any = None) -> str:
    """Name of the current device, or of that of a tensor.

    Examples:
        >>> get_device() in ("cpu", "gpu:0", "tpu:0")
        True
    """
    return (current() if input is None else input.place).name
