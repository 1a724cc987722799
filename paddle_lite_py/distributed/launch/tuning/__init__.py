"""--auto_tuner_json: a program is run under one parallel setting after the other, and under the best one at the end.

`paddle_lite_py.distributed.auto_tuner` is another thing: it ranks meshes by compiled programs, and runs nothing.
"""

from .plan import SearchPlan, read
from .search import Search, Start

__all__ = ["SearchPlan", "Search", "Start", "read"]
