"""The helper by which older layers create parameters and operators."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import default_dtype


class LayerHelper:
    """Appends operators to a program by their names in PaddlePaddle. Here public functions do that.

    Args:
        layer_type: the name of the operator.
        kwargs: its arguments.

    Raises:
        NotImplementedError: on use.
    """

    def __init__(self, layer_type: str, **kwargs: Any) -> None:
        self.layer_type, self.kwargs = layer_type, kwargs

    def get_default_dtype(self) -> str:
        """Return the name of the dtype of new parameters.

        Examples:
            >>> LayerHelper("fc").get_default_dtype()
            'float32'
        """
        return str(default_dtype().name)

    def input_dtype(self, input_param_name: str = "input") -> Any:
        """Return the dtype of the tensor, or of the first of several, that an argument names.

        Examples:
            >>> LayerHelper("prior_box", input=paddle.ones([1])).input_dtype()
            paddle.float32
        """
        given = self.kwargs[input_param_name]
        return (given[0] if isinstance(given, list | tuple) else given).dtype

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(
            f"LayerHelper({self.layer_type!r}).{name}: operators are not appended by name here; call the public "
            "function, or define an operator with paddle.utils.custom_op"
        )
