"""The helper by which older layers create parameters and operators."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import default_dtype, set_default_dtype
from ..core.flags import is_earlier_generation
from ..core.interpreter import is_building, state
from . import unique_name


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

    @staticmethod
    def set_default_dtype(dtype: Any) -> None:
        """Set the dtype of new parameters; see paddle.set_default_dtype."""
        set_default_dtype(dtype)

    def input_dtype(self, input_param_name: Any = "input") -> Any:
        """Return the dtype of a tensor, or of the first of several, that is given or that an argument names.

        Examples:
            >>> LayerHelper("prior_box", input=paddle.ones([1])).input_dtype()
            paddle.float32
        """
        given = self.kwargs[input_param_name] if isinstance(input_param_name, str) else input_param_name
        return (given[0] if isinstance(given, list | tuple) else given).dtype

    def create_variable_for_type_inference(self, dtype: Any, stop_gradient: bool = False, shape: Any = None) -> Any:
        """Declare a variable that append_op() gives, in a program of the earlier generation.

        Raises:
            NotImplementedError: if FLAGS_enable_pir_api is not 0.
        """
        block = self._block("create_variable_for_type_inference")
        name = unique_name.generate(f"{self.kwargs.get('name') or self.layer_type}.tmp")
        return block.create_var(name, dtype, shape or (), stop_gradient=stop_gradient)

    def append_op(self, type: str | None = None, inputs: Any = None, outputs: Any = None, attrs: Any = None) -> Any:
        """Append an operator to a program of the earlier generation.

        Raises:
            NotImplementedError: if FLAGS_enable_pir_api is not 0, or there is no such operator.
        """
        made = self._block("append_op").append_op(type or self.layer_type, inputs, outputs, attrs)
        made.infer_shape(None)
        return made

    def _block(self, what: str) -> Any:
        """Return the block under construction.

        Raises:
            NotImplementedError: if operators are not appended by name to it.
        """
        if not is_building() or not is_earlier_generation():
            return self.__getattr__(what)
        interpreter: Any = state.interpreter
        return interpreter.program.global_block()

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(
            f"LayerHelper({self.layer_type!r}).{name}: operators are not appended by name here; call the public "
            "function, define an operator with paddle.utils.custom_op, or build a static program with "
            "FLAGS_enable_pir_api=0"
        )
