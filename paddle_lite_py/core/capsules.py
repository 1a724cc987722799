"""Bare DLPack capsules, which do not tell on which device their data lie; see dmlc.github.io/dlpack for the layout."""

from __future__ import annotations

import ctypes
from typing import Any


class _Head(ctypes.Structure):
    """How a DLTensor begins."""

    _fields_ = (("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32))


class _Versioned(ctypes.Structure):
    """How a DLManagedTensorVersioned begins."""

    _fields_ = (
        *(("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)),
        *(("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("head", _Head)),
    )


class Capsule:
    """A bare capsule as an object with the DLPack protocol.

    Arguments:
        capsule: what `__dlpack__()` of another framework has returned.

    Raises:
        BufferError: if it is none, or its data have been taken before.
    """

    def __init__(self, capsule: Any) -> None:
        name = _name_of(capsule)
        if name not in (b"dltensor", b"dltensor_versioned"):
            raise BufferError(
                "the data of this DLPack capsule have been taken before: a capsule serves once"
                if name.startswith(b"used")
                else f"{capsule!r:.80} is no DLPack capsule, and has no __dlpack__()"
            )
        at = _pointer(ctypes.py_object(capsule), name)
        head = _Head.from_address(at) if name == b"dltensor" else _Versioned.from_address(at).head
        self._capsule, self._device = capsule, (head.device_type, head.device_id)

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


def _name_of(capsule: Any) -> bytes:
    if type(capsule).__name__ != "PyCapsule":
        return b""
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return name(capsule) or b""


def _pointer(capsule: Any, name: bytes) -> int:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(capsule, name)
