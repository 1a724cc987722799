"""DataParallel for one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .. import nn

__all__ = ["DataParallel"]


class DataParallel(nn.Layer):
    """A layer as it is, in a process of its own: there is nobody to exchange gradients with.

    Arguments:
        layers: the model.
        strategy, comm_buffer_size, last_comm_buffer_size, find_unused_parameters, group: accepted for compatibility.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.DataParallel(paddle.nn.Linear(2, 1))
        >>> net(paddle.ones([3, 2])).shape, list(net.state_dict())
        (paddle.Size([3, 1]), ['weight', 'bias'])
    """

    def __init__(
        self,
        layers: nn.Layer,
        strategy: Any = None,
        comm_buffer_size: int = 25,
        last_comm_buffer_size: float = 1,
        find_unused_parameters: bool = False,
        group: Any = None,
    ) -> None:
        super().__init__()
        if not isinstance(layers, nn.Layer):
            raise TypeError(f"DataParallel: layers is a {type(layers).__name__}; expected a Layer")
        self._layers = layers
        self.find_unused_parameters = find_unused_parameters

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The layer's."""
        return self._layers(*inputs, **kwargs)

    def scale_loss(self, loss: Any) -> Any:
        """The loss as it is."""
        return loss

    def apply_collective_grads(self) -> None:
        """Nothing: the gradients are whole."""

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """The block as it is: no gradients are exchanged."""
        yield

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """The layer's, under its own names."""
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, state_dict: Any, use_structured_name: bool = True) -> Any:
        """Load the layer's state."""
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = load_dict = set_state_dict
