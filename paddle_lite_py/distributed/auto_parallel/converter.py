"""Parts of tensors that processes saved under one strategy, as a process needs them under another."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..group import get_rank

__all__ = ["Converter"]

Attribute = dict[str, Any]  # process_shape, process_group, dims_mapping


class Converter:
    """Convert the parts that all processes have of tensors into the part of this process under another strategy.

    A strategy gives for each name {"process_shape": [...], "process_group": [...], "dims_mapping": [...]}: along which
    axis of the processes each dimension is split; -1: along none.

    Arguments:
        tensors_dict: {name: list of the arrays of all processes}.
        pre_strategy: how they were split.
        cur_strategy: how they are to be split.

    Raises:
        ValueError: if there are no tensors, or no previous strategy.
        TypeError: if an argument is not a dict.

    Examples:
        >>> import numpy as np
        >>> rows = {"w": {"process_shape": [2], "process_group": [0, 1], "dims_mapping": [0, -1]}}
        >>> whole = {"w": {"process_shape": [2], "process_group": [0, 1], "dims_mapping": [-1, -1]}}
        >>> Converter({"w": [np.zeros((1, 2)), np.ones((1, 2))]}, rows, whole).convert()["w"].tolist()
        [[0.0, 0.0], [1.0, 1.0]]
    """

    def __init__(
        self, tensors_dict: dict[str, list[np.ndarray]], pre_strategy: dict[str, Attribute],
        cur_strategy: dict[str, Attribute],
    ) -> None:  # fmt: skip
        given = {"tensors_dict": tensors_dict, "pre_strategy": pre_strategy, "cur_strategy": cur_strategy}
        for name, value in given.items():
            if not value and name != "cur_strategy":
                raise ValueError(f"Converter: {name} is empty, so there is nothing to convert")
            if not isinstance(value, dict):
                raise TypeError(f"Converter: {name} is a {type(value).__name__}; expected a dict")
        self._tensors, self._old, self._new = tensors_dict, pre_strategy, cur_strategy

    def convert(self, strict: bool = True) -> dict[str, np.ndarray]:
        """Convert all tensors.

        Arguments:
            strict: names must be equal; False: a name without a counterpart takes the parts of one that has the same
                beginning, up to the last "_". Default: True.

        Returns:
            {name: the part of this process}.

        Raises:
            ValueError: if parts do not make a whole.
        """
        sources = {name: name for name in self._new if name in self._old}
        left = [name for name in self._old if name not in self._new]
        if not strict:
            for name in [n for n in self._new if n not in sources]:
                alike = [o for o in left if "_" in name and name.rpartition("_")[0] in o]
                sources.update({name: alike[0]} if alike else {})
        _warn("in the current strategy only", set(self._new) - set(sources))
        _warn("in the previous strategy only", set(left) - set(sources.values()))
        _warn("in the strategies, and not among the tensors", {n for n in sources.values() if n not in self._tensors})
        pairs = [(n, s) for n, s in sources.items() if s in self._tensors]
        return {n: self.merge_and_slice(self._tensors[s], self._old[s], self._new[n]) for n, s in pairs}

    @staticmethod
    def merge_and_slice(tensor_list: list[np.ndarray], pre_dist_attr: Attribute, cur_dist_attr: Attribute) -> Any:
        """Return the part of this process, of the parts of all processes."""
        if pre_dist_attr == cur_dist_attr:
            return tensor_list[cur_dist_attr["process_group"].index(get_rank())]
        is_split = any(axis != -1 for axis in pre_dist_attr["dims_mapping"])
        whole = Converter.merge_with_dist_attr(tensor_list, pre_dist_attr) if is_split else tensor_list[0]
        return Converter.slice_with_dist_attr(whole, cur_dist_attr)

    @staticmethod
    def merge_with_dist_attr(tensor_list: Sequence[np.ndarray], dist_attr: Attribute) -> np.ndarray:
        """Return the whole, of the parts of all processes.

        Raises:
            ValueError: if a part has another shape than the first one.
        """
        part = tensor_list[0].shape
        counts = [_count(dist_attr, axis) for axis in dist_attr["dims_mapping"]]
        whole = np.empty([n * c for n, c in zip(part, counts, strict=True)], tensor_list[0].dtype)
        for process, values in zip(dist_attr["process_group"], tensor_list, strict=True):
            if values.shape != part:
                raise ValueError(f"Converter: process {process} has a part {values.shape}, and the first one {part}")
            whole[_place(process, dist_attr, whole.shape)] = values
        return whole

    @staticmethod
    def slice_with_dist_attr(tensor: np.ndarray, dist_attr: Attribute) -> np.ndarray:
        """Return the part of this process of a whole."""
        return tensor[_place(get_rank(), dist_attr, tensor.shape)] if dist_attr["dims_mapping"] else tensor


def _count(attribute: Attribute, axis: int) -> int:
    return 1 if axis == -1 else int(attribute["process_shape"][axis])


def _place(process: int, attribute: Attribute, shape: Sequence[int]) -> tuple[slice, ...]:
    """Where the part of a process lies in the whole."""
    group = list(attribute["process_group"])
    if process not in group or math.prod(attribute["process_shape"]) != len(group):
        raise ValueError(f"Converter: process {process} has no place among {group} in {attribute['process_shape']}")
    at = list(itertools.product(*map(range, attribute["process_shape"])))[group.index(process)]
    found = []
    for size, axis in zip(shape, attribute["dims_mapping"], strict=True):
        place, count = (0, 1) if axis == -1 else (at[axis], _count(attribute, axis))
        found.append(slice(place * size // count, (place + 1) * size // count))
    return tuple(found)


def _warn(where: str, names: set[str]) -> None:
    if names:
        warnings.warn(f"Converter: {', '.join(sorted(names))}: {where}", stacklevel=3)
