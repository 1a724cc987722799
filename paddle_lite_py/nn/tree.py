"""The contents of a layer: parameters, buffers and sublayers by name, and walks over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..core.arrays import is_array
from ..core.interpreter import layer_version
from ..core.versioned import VersionedDict
from ..eager.tensor import Parameter, Tensor

_STORES = ("_parameters", "_sub_layers", "_buffers")


class Tree:
    """Base of Layer: parameters, buffers and sublayers, each kind in a dict of its own."""

    _parameters: dict[str, Parameter | None]
    _sub_layers: dict[str, Any]
    _buffers: dict[str, Tensor | None]
    _non_persistable_buffer_names_set: set[str]

    def __init__(self) -> None:
        for store in _STORES:
            kept: Any = {} if store == "_buffers" else VersionedDict()  # programs look for changes of the others
            object.__setattr__(self, store, kept)
        object.__setattr__(self, "_non_persistable_buffer_names_set", set())

    # -- attributes ------------------------------------------------------------------------------------------------
    def __getattr__(self, name: str) -> Any:
        held = self.__dict__
        for store in _STORES:
            if store in held and name in held[store]:
                return held[store][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'{self._hint()}")

    def _hint(self) -> str:
        ready = "_parameters" in self.__dict__
        return "" if ready else ": its __init__ must call super().__init__() first"

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over the attributes of a copied or unpickled object; subclasses call it from their own."""
        self.__dict__.update(state)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)  # its setter decides
            return
        store = self._store_for(name, value)
        if store is None:
            if self.__dict__.get(name, _ABSENT) is not value:
                layer_version.number += 1
            object.__setattr__(self, name, value)
            return
        if store is not self._buffers or name not in store:  # a number may have become a tensor
            layer_version.number += 1
        self._forget(name, store)
        store[name] = value

    def _store_for(self, name: str, value: Any) -> dict[str, Any] | None:
        """Return the dict that keeps an attribute; None if it is an ordinary one."""
        held = self.__dict__
        if isinstance(value, Parameter):
            return self._need("_parameters")
        if isinstance(value, Tree):
            return self._need("_sub_layers")
        if "_parameters" not in held:
            return None
        if name in self._buffers and (value is None or _is_dense(value)):
            return self._buffers
        for store, kind in (("_parameters", "Parameter"), ("_sub_layers", "Layer"), ("_buffers", "Tensor")):
            if name in held[store]:
                if value is None:
                    return held[store]
                raise TypeError(
                    f"'{type(self).__name__}.{name}' is one of its {store.replace('_', '')}, so it can be set "
                    f"to a {kind} or None, not a {type(value).__name__}; `del` it first to change its kind"
                )
        if _is_dense(value) and is_array(value._payload):
            self._non_persistable_buffer_names_set.add(name)
            return self._buffers
        return None

    def _need(self, store: str) -> dict[str, Any]:
        if store not in self.__dict__:
            raise AttributeError(
                f"{type(self).__name__}.__init__ must call super().__init__() before it sets attributes"
            )
        return self.__dict__[store]

    def _forget(self, name: str, keep: Any = None) -> None:
        """Remove an attribute from everywhere but one store."""
        self.__dict__.pop(name, None)
        for store in _STORES:
            if self.__dict__[store] is not keep and name in self.__dict__[store]:
                del self.__dict__[store][name]
        if keep is not self._buffers:
            self._non_persistable_buffer_names_set.discard(name)

    def __delattr__(self, name: str) -> None:
        layer_version.number += 1
        if any(name in self.__dict__.get(store, ()) for store in _STORES):
            self._forget(name)
        else:
            object.__delattr__(self, name)

    def __dir__(self) -> Iterable[str]:
        return sorted({*super().__dir__(), *self._parameters, *self._buffers, *self._sub_layers})

    # -- registering -----------------------------------------------------------------------------------------------
    def _check_name(self, name: Any, store: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{type(self).__name__}: a name must be a string, got {type(name).__name__}")
        if "." in name or not name:
            raise KeyError(f"{type(self).__name__}: the name {name!r} must not be empty or have a '.'")
        if name not in store and hasattr(self, name):
            raise KeyError(f"{type(self).__name__} already has an attribute '{name}'")

    def add_parameter(self, name: str, parameter: Parameter | None) -> Parameter | None:
        """Register a parameter; it becomes the attribute `name`.

        Raises:
            TypeError: if it is not a Parameter or None.
            KeyError: if the name has a dot, or another attribute has it.
        """
        self._check_name(name, self._parameters)
        if parameter is not None and not isinstance(parameter, Parameter):
            raise TypeError(
                f"parameter '{name}' must be a Parameter, got {type(parameter).__name__}; see create_parameter()"
            )
        layer_version.number += 1
        self._parameters[name] = parameter
        return parameter

    def register_parameter(self, name: str, param: Parameter | None) -> Parameter | None:
        """Alias of add_parameter()."""
        return self.add_parameter(name, param)

    def add_sublayer(self, name: str, sublayer: Any) -> Any:
        """Register a sublayer; it becomes the attribute `name`.

        Raises:
            TypeError: if it is not a Layer or None.
            KeyError: if another attribute has the name.
        """
        self._check_name(name.replace(".", "_") if isinstance(name, str) else name, self._sub_layers)
        if sublayer is not None and not isinstance(sublayer, Tree):
            raise TypeError(
                f"sublayer '{name}' of {type(self).__name__} must be a Layer, got {type(sublayer).__name__}"
            )
        layer_version.number += 1
        self._sub_layers[name] = sublayer
        return sublayer

    def add_module(self, name: str, module: Any) -> Any:
        """Alias of add_sublayer()."""
        return self.add_sublayer(name, module)

    register_module = add_module

    def register_buffer(self, name: str, tensor: Tensor | None, persistable: bool = True) -> None:
        """Register a tensor that is part of the state but not trained; it becomes the attribute `name`.

        Arguments:
            name: its name, without dots.
            tensor: the tensor, or None.
            persistable: whether state_dict() includes it. Default: True.

        Raises:
            TypeError: if `tensor` is not a Tensor or None.
            KeyError: if the name has a dot, or another attribute has it.
        """
        self._check_name(name, self._buffers)
        fits = _is_dense(tensor) if persistable else isinstance(tensor, Tensor)  # files have no sparse tensors
        if tensor is not None and not fits:
            raise TypeError(f"buffer '{name}' of {type(self).__name__} must be a Tensor, got {type(tensor).__name__}")
        self._buffers[name] = tensor
        if persistable:
            self._non_persistable_buffer_names_set.discard(name)
        else:
            self._non_persistable_buffer_names_set.add(name)

    # -- walking ---------------------------------------------------------------------------------------------------
    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Iterate over the direct sublayers as (name, layer), each once."""
        seen = set()
        for name, layer in self._sub_layers.items():
            if layer is not None and layer not in seen:
                seen.add(layer)
                yield name, layer

    def children(self) -> Iterator[Any]:
        """Iterate over the direct sublayers."""
        return (layer for _, layer in self.named_children())

    def named_sublayers(
        self,
        prefix: str = "",
        include_self: bool = False,
        layers_set: set[Any] | None = None,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """Iterate over all sublayers as (dotted name, layer), parents before children.

        Arguments:
            prefix: prefix of the names. Default: ''.
            include_self: begin with the layer itself. Default: False.
            layers_set: layers to skip; visited layers are added.
            remove_duplicate: yield a shared layer only once. Default: True.

        Examples:
            >>> import paddle_lite_py as paddle
            >>> net = paddle.nn.Sequential(paddle.nn.Sequential(paddle.nn.ReLU()), paddle.nn.Tanh())
            >>> [name for name, _ in net.named_sublayers()]
            ['0', '0.0', '1']
        """
        seen = set() if layers_set is None else layers_set
        if remove_duplicate and self in seen:
            return
        seen.add(self)
        if include_self:
            yield prefix, self
        for name, layer in self._sub_layers.items():
            if layer is not None:
                below = f"{prefix}.{name}" if prefix else name
                yield from layer.named_sublayers(below, True, seen, remove_duplicate)

    def named_modules(
        self, memo: Any = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Iterate over the layer itself and all sublayers as (dotted name, layer)."""
        return self.named_sublayers(prefix, True, memo, remove_duplicate)

    def sublayers(self, include_self: bool = False) -> list[Any]:
        """Return all sublayers, parents before children."""
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def modules(self) -> Iterator[Any]:
        """Iterate over the layer itself and all sublayers."""
        return iter(self.sublayers(include_self=True))

    def _named_in(self, store: str, prefix: str, include_sublayers: bool, once: bool) -> Iterator[tuple[str, Any]]:
        layers = self.named_sublayers(prefix, True, None, once) if include_sublayers else [(prefix, self)]
        seen: set[int] = set()
        for path, layer in layers:
            for name, value in getattr(layer, store).items():
                if value is not None and not (once and id(value) in seen):
                    seen.add(id(value))
                    yield f"{path}.{name}" if path else name, value

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Iterate over all parameters as (dotted name, parameter).

        Arguments:
            prefix: prefix of the names. Default: ''.
            include_sublayers: include the parameters of sublayers. Default: True.
            remove_duplicate: yield a shared parameter only once. Default: True.
        """
        return self._named_in("_parameters", prefix, include_sublayers, remove_duplicate)

    def parameters(self, include_sublayers: bool = True) -> list[Parameter]:
        """Return all parameters, as an optimizer takes them."""
        return [p for _, p in self.named_parameters(include_sublayers=include_sublayers)]

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over all buffers as (dotted name, buffer)."""
        return self._named_in("_buffers", prefix, include_sublayers, remove_duplicate)

    def buffers(self, include_sublayers: bool = True) -> list[Tensor]:
        """Return all buffers."""
        return [b for _, b in self.named_buffers(include_sublayers=include_sublayers)]

    # -- by dotted name --------------------------------------------------------------------------------------------
    def get_sublayer(self, target: str) -> Any:
        """Return the sublayer with a dotted name; "" is the layer itself.

        Raises:
            AttributeError: if there is no such sublayer.
        """
        here: Any = self
        for part in target.split(".") if target else ():
            found = here._sub_layers.get(part)
            if found is None:
                raise AttributeError(f"{type(here).__name__} has no sublayer '{part}' (looking for '{target}')")
            here = found
        return here

    get_submodule = get_sublayer

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter with a dotted name."""
        return self._get("_parameters", target)

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer with a dotted name."""
        return self._get("_buffers", target)

    def _get(self, store: str, target: str) -> Any:
        path, _, name = target.rpartition(".")
        found = getattr(self.get_sublayer(path), store).get(name)
        if found is None:
            raise AttributeError(f"{type(self).__name__} has no {store.strip('_').removesuffix('s')} '{target}'")
        return found

    def set_sublayer(self, target: str, layer: Any, strict: bool = False) -> None:
        """Set the sublayer with a dotted name.

        Arguments:
            target: the dotted name.
            layer: the new layer.
            strict: raise if there is no sublayer with this name yet. Default: False.

        Raises:
            AttributeError: if `strict` and there is no such sublayer.
        """
        path, _, name = target.rpartition(".")
        holder = self.get_sublayer(path)
        if strict and name not in holder._sub_layers:
            raise AttributeError(f"{type(self).__name__} has no sublayer '{target}' to replace")
        setattr(holder, name, layer)

    set_submodule = set_sublayer


_ABSENT = object()


def _is_dense(value: Any) -> bool:
    return isinstance(value, Tensor) and value._dense
