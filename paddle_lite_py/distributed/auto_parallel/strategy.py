"""The strategy of dist.to_static(), besides what the mesh says."""

from __future__ import annotations

from typing import Any

__all__ = ["Strategy"]

_PARTS: dict[str, dict[str, Any]] = {
    "sharding": {"enable": False, "stage": 1, "degree": 8, "overlap_grad_comm": False, "bucket_size_numel": -1},
    "gradient_merge": {"enable": False, "k_steps": 1, "avg": True},
    "pipeline": {
        "enable": False, "schedule_mode": "1F1B", "micro_batch_size": 1, "accumulate_steps": 1, "vpp_degree": 1,
    },
    "amp": {
        "enable": False, "dtype": "float16", "level": "O1", "init_loss_scaling": 32768.0, "use_master_grad": False,
        "custom_white_list": [], "custom_black_list": [],
    },
    "recompute": {"enable": False, "refined_ops_patterns": []},
    "fused_passes": {"enable": False, "fused_passes_list": []},
}  # fmt: skip
# Other settings that programs ask for, and how programs here have them.
_PLAIN = {"full_graph": True, "auto_mode": "semi", "seed": None, "gradient_scale": True}


class StrategyPart:
    """StrategyPart of one kind, as attributes.

    Arguments:
        name: of the kind.
        settings: with their values.
    """

    _name: str

    def __init__(self, name: str, settings: dict[str, Any]) -> None:
        self.__dict__.update(settings, _name=name)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings."""
        return {k: v for k, v in self.__dict__.items() if k != "_name"}

    def get(self, key: str, default: Any = None) -> Any:
        """Return a setting."""
        return self.to_dict().get(key, default)

    def __repr__(self) -> str:
        return f"{self._name}: {self.to_dict()}"


class Strategy:
    """Settings of automatic parallelism: sharding, gradient_merge, pipeline, amp, recompute, fused_passes.

    Arguments:
        config: {kind: {setting: value}}; None: the defaults.

    Raises:
        ValueError: if there is no such kind.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> strategy = paddle.distributed.Strategy({"amp": {"enable": True, "level": "O1"}})
        >>> strategy.amp.enable, strategy.sharding.enable
        (True, False)
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        given = config or {}
        if unknown := given.keys() - _PARTS.keys() - _PLAIN.keys():
            raise ValueError(f"Strategy: there is no {sorted(unknown)[0]!r}; expected {', '.join([*_PARTS, *_PLAIN])}")
        for name, settings in _PARTS.items():
            setattr(self, name, StrategyPart(name, {**settings, **(given.get(name) or {})}))
        for name, value in _PLAIN.items():
            setattr(self, name, given.get(name, value))

    def to_dict(self) -> dict[str, Any]:
        """Return all settings."""
        return {k: v.to_dict() if isinstance(v, StrategyPart) else v for k, v in vars(self).items()}
