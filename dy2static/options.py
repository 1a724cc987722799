"""The options of a conversion."""

from __future__ import annotations

from typing import NamedTuple


class Options(NamedTuple):
    """The options of a conversion.

    Attributes:
        fast: whether Python values get code of their own (see the control-flow pass).
        stores, raises, calls, builtins: whether the runtime wants to see stores to objects, raises, calls of any kind,
            and calls of builtins.
        texts: whether f-strings may show staged values.
        properties: whether getters of properties are converted.
    """

    fast: bool = True
    stores: bool = False
    raises: bool = False
    calls: bool = False
    builtins: bool = False
    texts: bool = False
    properties: bool = False
