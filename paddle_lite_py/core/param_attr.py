"""ParamAttr: how a layer's parameter is named, drawn, trained and regularised."""

from __future__ import annotations

from typing import Any

from .no_effect import Immaterial, no_effect

__all__ = ["ParamAttr"]


class ParamAttr:
    """Settings of one parameter, for the `weight_attr` and `bias_attr` of layers.

    Arguments:
        name: of the parameter; unique by default.
        initializer: draws its first value.
        learning_rate: factor on the optimizer's learning rate.
        regularizer: weight decay of this parameter, instead of the optimizer's.
        trainable: False to leave it as it is.
        need_clip: False to keep its gradient out of clipping.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> attr = paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(2.0), trainable=False)
        >>> layer = paddle.nn.Linear(1, 1, weight_attr=attr)
        >>> layer.weight.item(), layer.weight.trainable
        (2.0, False)
    """

    @no_effect(do_model_average=Immaterial("ModelAverage averages the parameters that it is given"))
    def __init__(
        self,
        name: str | None = None,
        initializer: Any = None,
        learning_rate: float = 1.0,
        regularizer: Any = None,
        trainable: bool = True,
        do_model_average: bool = True,
        need_clip: bool = True,
    ) -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError(f"ParamAttr: name is {name!r}; expected a string or None")
        self.name = name
        self.initializer = initializer
        self.learning_rate = learning_rate
        self.regularizer = regularizer
        self.trainable = trainable
        self.do_model_average = do_model_average
        self.need_clip = need_clip

    def __repr__(self) -> str:
        default = ParamAttr()
        changed = [f"{k}={v!r}" for k, v in vars(self).items() if v != getattr(default, k)]
        return f"ParamAttr({', '.join(changed)})"

    @staticmethod
    def _to_attr(arg: Any) -> Any:
        found = [as_attr(v) for v in arg] if isinstance(arg, list | tuple) else as_attr(arg)
        return False if found is None else found


def as_attr(value: Any) -> ParamAttr | None:
    """The ParamAttr that a `weight_attr` argument stands for; None if it says that there is no parameter (False).

    Raises:
        TypeError: if it is none of ParamAttr, name, initializer, regularizer, bool and None.
    """
    if isinstance(value, ParamAttr):
        return value
    if value is None or value is True:
        return ParamAttr()
    if value is False:
        return None
    if isinstance(value, str):
        return ParamAttr(name=value)
    if hasattr(value, "coeff"):
        return ParamAttr(regularizer=value)
    if callable(value):
        return ParamAttr(initializer=value)
    raise TypeError(
        f"a parameter attribute is {value!r}; expected a ParamAttr, a name, an initializer, "
        "a regularizer, False or None"
    )
