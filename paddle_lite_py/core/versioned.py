"""Settings that programs depend on, such as those of optimizers: a change of one counts in `layer_version`."""

from __future__ import annotations

from typing import Any, ClassVar

from .interpreter import layer_version


class Versioned:
    """Base of objects whose attributes are settings.

    Examples:
        >>> class Clip(Versioned): pass
        >>> clip, before = Clip(), layer_version.number
        >>> clip.limit = 2.0
        >>> layer_version.number > before
        True
    """

    inputs: ClassVar[frozenset[str]] = frozenset()  # attributes that programs read before each run

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if name not in self.inputs:
            layer_version.number += 1


class VersionedDict(dict[Any, Any]):
    """Settings by name or key.

    Examples:
        >>> rates, before = VersionedDict(learning_rate=1.0), layer_version.number
        >>> rates["learning_rate"] = 2.0
        >>> layer_version.number > before, rates
        (True, {'learning_rate': 2.0})
    """

    def __setitem__(self, name: Any, value: Any) -> None:
        super().__setitem__(name, value)
        layer_version.number += 1

    def __delitem__(self, name: Any) -> None:
        super().__delitem__(name)
        layer_version.number += 1

    def pop(self, *args: Any) -> Any:
        """As of any dict."""
        layer_version.number += 1
        return super().pop(*args)

    def popitem(self) -> Any:
        """As of any dict."""
        layer_version.number += 1
        return super().popitem()

    def setdefault(self, *args: Any) -> Any:
        """As of any dict."""
        layer_version.number += 1
        return super().setdefault(*args)

    def clear(self) -> None:
        """As of any dict."""
        super().clear()
        layer_version.number += 1

    def update(self, *args: Any, **kwargs: Any) -> None:
        """As of any dict."""
        super().update(*args, **kwargs)
        layer_version.number += 1
