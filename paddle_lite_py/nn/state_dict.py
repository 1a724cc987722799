"""State of a layer by dotted name: collected, and loaded with a report of what did not fit."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np

from ..core.no_effect import no_effect
from ..eager.tensor import Tensor


class IncompatibleKeys(NamedTuple):
    """Names that load_state_dict() found missing and unexpected."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class StateDict:
    """Part of Layer that saves and loads the state."""

    def state_dict(
        self,
        destination: dict[str, Tensor] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> dict[str, Tensor]:
        """Return the parameters and persistable buffers by dotted name.

        The tensors are those of the layer, not copies.

        Arguments:
            destination: a dict to add the entries to; None: a new one.
            include_sublayers: include the state of sublayers. Default: True.
            structured_name_prefix: prefix of all names. Default: ''.
            use_hook: call the hooks of register_state_dict_hook(). Default: True.
            keep_vars: False: return tensors with the same data that do not require gradients. Default: True.

        Returns:
            A dict from names to tensors.

        Examples:
            >>> import paddle_lite_py as paddle
            >>> list(paddle.nn.Linear(2, 3).state_dict())
            ['weight', 'bias']
        """
        if isinstance(include_sublayers, str):  # PyTorch's order: destination, prefix, keep_vars
            keep_vars = structured_name_prefix if isinstance(structured_name_prefix, bool) else False
            include_sublayers, structured_name_prefix = True, include_sublayers
        return self._collect_state(destination, include_sublayers, structured_name_prefix, use_hook, False, keep_vars)

    def to_static_state_dict(
        self,
        destination: dict[str, Tensor] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> dict[str, Tensor]:
        """Return state_dict() together with the buffers that are not persistable."""
        return self._collect_state(destination, include_sublayers, structured_name_prefix, use_hook, True, keep_vars)

    def sharded_state_dict(self, structured_name_prefix: str = "") -> dict[str, Any]:
        """Return the parts of the state that this process holds, which is all of it: there is one process.

        Raises:
            NotImplementedError: always, saying to use state_dict().
        """
        raise NotImplementedError(
            f"{type(self).__name__}.sharded_state_dict(): the state of a layer is not split over processes here; "
            "use state_dict(), which has all of it"
        )

    def _obtain_parameters_buffers(
        self: Any, destination: Any = None, include_sublayers: bool = True, structured_name_prefix: str = ""
    ) -> dict[str, Tensor]:
        """Return the parameters and persistable buffers themselves by name, without the hooks of `state_dict()`."""
        return self._collect_state(destination, include_sublayers, structured_name_prefix, False, False, True)

    def _collect_state(
        self: Any, out: Any, sublayers: bool, prefix: str, use_hook: bool, every: bool, own: bool
    ) -> dict[str, Tensor]:
        out = OrderedDict() if out is None else out
        for name, value in self._parameters.items():
            if value is not None:
                out[prefix + name] = value if own else value.detach()
        for name, value in self._buffers.items():
            if value is not None and (every or name not in self._non_persistable_buffer_names_set):
                out[prefix + name] = value if own else value.detach()
        for name, layer in self._sub_layers.items() if sublayers else ():
            if layer is not None:
                layer._collect_state(out, True, f"{prefix}{name}.", use_hook, every, own)
        for hook in list(self._state_dict_hooks.values()) if use_hook else ():
            changed = hook(out)
            out = out if changed is None else changed
        return out

    def set_state_dict(
        self: Any, state_dict: dict[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Load a state_dict(); entries that do not fit are skipped with a warning.

        Arguments:
            state_dict: tensors or NumPy arrays by name; they are cast to the dtypes of the layer.
            use_structured_name: True: names as in state_dict(); False: the names of the parameters themselves. Default:
                True.

        Returns:
            The list of names that are missing in the dict (or have another shape), and the list of unexpected names.

        Raises:
            TypeError: if `state_dict` is not a dict.
        """
        missing, unexpected, fitting, notes = self._match(state_dict, use_structured_name)
        for note in notes:
            warnings.warn(note, stacklevel=2)
        for tensor, value in fitting:
            tensor.set_value(value)
        return missing, unexpected

    set_dict = load_dict = set_state_dict

    @no_effect(assign="the values are copied into the tensors of the layer, as in PaddlePaddle")
    def load_state_dict(
        self, state_dict: dict[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Load a state_dict(), and raise before any change if it does not fit.

        Arguments:
            state_dict: tensors or NumPy arrays by name.
            strict: raise if a name is missing, unexpected or of another shape; False: skip it. Default: True.

        Returns:
            IncompatibleKeys: the missing and the unexpected names.

        Raises:
            RuntimeError: if `strict` and the names or shapes differ.
        """
        missing, unexpected, fitting, notes = self._match(state_dict, True)
        if strict and (missing or unexpected):
            lines = [*notes, *(f"{k} is in the dict, but not in the layer." for k in unexpected)]
            raise RuntimeError(f"loading a state_dict into {type(self).__name__}:\n    " + "\n    ".join(lines))
        for tensor, value in fitting:
            tensor.set_value(value)
        return IncompatibleKeys(missing, unexpected)

    def _match(self, given: Any, structured: bool) -> tuple[list[str], list[str], list[tuple[Tensor, Any]], list[str]]:
        if not isinstance(given, dict):
            raise TypeError(f"a state_dict must be a dict of tensors by name, got {type(given).__name__}")
        problems: dict[str, str] = {}
        unexpected = dict.fromkeys(given)
        fitting = []
        own = self.state_dict(use_hook=False)
        for key, tensor in own.items():
            name = key if structured else tensor.name
            problem = (
                _misfit(name, tensor, given[name]) if name in given else f"{name} is not found in the provided dict."
            )
            if problem:
                problems[key] = problem
            else:
                fitting.append((tensor, given[name]))
                unexpected.pop(name, None)
        loaded = {id(tensor) for tensor, _ in fitting}
        missing = [key for key in problems if id(own[key]) not in loaded]  # some have two names
        notes = [f"Skip loading for {key}. {problems[key]}" for key in missing]
        return missing, list(unexpected), fitting, notes


def _misfit(name: str, tensor: Tensor, value: Any) -> str:
    """Describe what is wrong with a value for a tensor; "" if nothing is."""
    if not isinstance(value, Tensor | np.ndarray | np.generic | int | float | list | tuple):
        return f"{name} is a {type(value).__name__}, not an array."
    shape = list(value.shape) if hasattr(value, "shape") else list(np.shape(value))
    return (
        ""
        if shape == tensor.shape
        else f"{name} receives a shape {shape}, but the expected shape is {[*tensor.shape]}."
    )
