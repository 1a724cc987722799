"""Containers of layers or parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..core.no_effect import Immaterial, no_effect
from ..eager.tensor import Parameter
from .base import Layer

__all__ = ["Identity", "LayerDict", "LayerList", "ParameterDict", "ParameterList", "Sequential"]


def _position(index: int, length: int, what: str) -> int:
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of range: the {what} holds {length}")
    return index % length


class Sequential(Layer):
    """Chain of layers: the output of each is the input of the next.

    Arguments:
        layers: layers, (name, layer) pairs, or one list of either.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(2, 3), paddle.nn.ReLU())
        >>> net(paddle.ones([1, 2])).shape, len(net), net[1]
        (paddle.Size([1, 3]), 2, ReLU())
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], list | tuple) and not _is_pair(layers[0]):
            layers = tuple(layers[0])
        if len(layers) == 1 and isinstance(layers[0], Mapping):
            layers = tuple(layers[0].items())
        for i, layer in enumerate(layers):
            name, layer = layer if isinstance(layer, list | tuple) else (str(i), layer)
            self.add_sublayer(str(name), layer)

    def _name_at(self, index: Any) -> str:
        if isinstance(index, str):
            if index not in self._sub_layers:
                raise KeyError(f"Sequential has no layer '{index}'; it has {', '.join(self._sub_layers)}")
            return index
        return list(self._sub_layers)[_position(index, len(self), "Sequential")]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Sequential(*list(self._sub_layers.items())[index])
        return self._sub_layers[self._name_at(index)]

    def __setitem__(self, index: Any, layer: Layer) -> None:
        name = index if isinstance(index, str) else self._name_at(index)
        setattr(self, name, layer)

    def __delitem__(self, index: Any) -> None:
        delattr(self, self._name_at(index))

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._sub_layers.values())

    def append(self, module: Layer) -> Sequential:
        """Append a layer and return the container."""
        self.add_sublayer(str(len(self)), module)
        return self

    def insert(self, index: int, module: Layer) -> Sequential:
        """Insert a layer before the one at `index` and renumber the layers."""
        layers = list(self._sub_layers.values())
        layers.insert(index, module)
        return self._refill(layers)

    def extend(self, sequential: Iterable[Layer]) -> Sequential:
        """Append all layers of an iterable and return the container."""
        for layer in sequential:
            self.append(layer)
        return self

    def _refill(self, layers: list[Any]) -> Any:
        self._sub_layers.clear()
        for i, layer in enumerate(layers):
            self.add_sublayer(str(i), layer)
        return self

    def forward(self, input: Any) -> Any:
        """Apply all layers in order."""
        for layer in self._sub_layers.values():
            input = layer(input)
        return input


def _is_pair(value: Any) -> bool:
    return len(value) == 2 and isinstance(value[0], str)


class LayerList(Layer):
    """List of layers, whose parameters are registered.

    Arguments:
        sublayers: the layers; None: an empty list.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layers = paddle.nn.LayerList([paddle.nn.Linear(2, 2) for _ in range(3)])
        >>> len(layers), len(layers[1:]), [name for name, _ in layers[:1].named_parameters()]
        (3, 2, ['0.weight', '0.bias'])
    """

    def __init__(self, sublayers: Iterable[Layer] | None = None) -> None:
        super().__init__()
        self.extend(sublayers or [])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._sub_layers.values())[index])
        return self._sub_layers[str(_position(int(index), len(self), "LayerList"))]

    def __setitem__(self, index: int, layer: Layer) -> None:
        setattr(self, str(_position(int(index), len(self), "LayerList")), layer)

    def __delitem__(self, index: Any) -> None:
        layers = list(self._sub_layers.values())
        del layers[index]
        self._sub_layers.clear()
        self.extend(layers)

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._sub_layers.values())

    def append(self, sublayer: Layer) -> LayerList:
        """Append a layer and return the container."""
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def pop(self, key: int = -1) -> Any:
        """Remove a layer and return it."""
        layer = self[key]
        del self[key]
        return layer

    def insert(self, index: int, sublayer: Layer) -> None:
        """Insert a layer before the one at `index`."""
        layers = list(self._sub_layers.values())
        layers.insert(index, sublayer)
        self._sub_layers.clear()
        self.extend(layers)

    def extend(self, sublayers: Iterable[Layer]) -> LayerList:
        """Append all layers of an iterable and return the container."""
        for layer in sublayers:
            self.append(layer)
        return self

    __iadd__ = extend

    def __add__(self, other: Iterable[Layer]) -> LayerList:
        return LayerList([*self, *other])


class LayerDict(Layer):
    """Dictionary of layers, whose parameters are registered.

    Arguments:
        sublayers: a dict or (name, layer) pairs; None: an empty dictionary.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> heads = paddle.nn.LayerDict({"a": paddle.nn.ReLU()})
        >>> heads["b"] = paddle.nn.Tanh()
        >>> list(heads), heads.pop("a"), "a" in heads
        (['a', 'b'], ReLU(), False)
    """

    def __init__(self, sublayers: Any = None) -> None:
        super().__init__()
        self.update(sublayers or {})

    def __getitem__(self, key: str) -> Any:
        return self._sub_layers[key]

    def __setitem__(self, key: str, sublayer: Layer) -> None:
        self.__dict__["_sub_layers"].pop(key, None)
        self.add_sublayer(key, sublayer)

    def __delitem__(self, key: str) -> None:
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sub_layers)

    def __contains__(self, key: str) -> bool:
        return key in self._sub_layers

    def clear(self) -> None:
        """Remove all layers."""
        for key in list(self._sub_layers):
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove a layer and return it."""
        layer = self[key]
        del self[key]
        return layer

    def keys(self) -> Iterable[str]:
        """Return the names of the layers."""
        return self._sub_layers.keys()

    def values(self) -> Iterable[Any]:
        """Return the layers."""
        return self._sub_layers.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return the (name, layer) pairs."""
        return self._sub_layers.items()

    def update(self, sublayers: Any) -> None:
        """Add or replace layers, from a dict, a LayerDict or pairs."""
        pairs = sublayers.items() if hasattr(sublayers, "items") else sublayers
        for key, layer in pairs:
            self[key] = layer


class ParameterList(Layer):
    """List of parameters, which are registered with the layer.

    Arguments:
        parameters: the parameters; None: an empty list.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> ws = paddle.nn.ParameterList([paddle.create_parameter([2], "float32") for _ in range(2)])
        >>> len(ws), list(ws.state_dict())
        (2, ['0', '1'])
    """

    def __init__(self, parameters: Iterable[Parameter] | None = None) -> None:
        super().__init__()
        for parameter in parameters or ():
            self.append(parameter)

    def __getitem__(self, index: int) -> Any:
        return self._parameters[str(_position(int(index), len(self), "ParameterList"))]

    def __setitem__(self, index: int, parameter: Parameter) -> None:
        setattr(self, str(_position(int(index), len(self), "ParameterList")), parameter)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def append(self, parameter: Parameter) -> ParameterList:
        """Append a parameter and return the container."""
        self.add_parameter(str(len(self)), parameter)
        return self


class ParameterDict(Layer):
    """Dictionary of parameters, which are registered with the layer.

    Arguments:
        parameters: a dict or (name, parameter) pairs; None: an empty dictionary.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> list(paddle.nn.ParameterDict({"w": paddle.create_parameter([2], "float32")}))
        ['w']
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self.update(parameters or {})

    def __getitem__(self, key: str) -> Any:
        return self._parameters[key]

    def __setitem__(self, key: str, parameter: Parameter) -> None:
        self._parameters.pop(key, None)
        self.add_parameter(key, parameter)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def update(self, parameters: Any) -> None:
        """Add or replace parameters, from a dict or pairs."""
        pairs = parameters.items() if hasattr(parameters, "items") else parameters
        for key, parameter in pairs:
            self[key] = parameter


_OTHERS = Immaterial("they are those of the layer that it stands for")


class Identity(Layer):
    """Return the input unchanged.

    Arguments:
        args: no effect: arguments of the layer that it replaces.
        kwargs: no effect: the same.

    Shape:
        The output is the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Identity()(paddle.to_tensor(3.0)).item()
        3.0
    """

    @no_effect(args=_OTHERS, kwargs=_OTHERS)
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """Return the input."""
        return input
