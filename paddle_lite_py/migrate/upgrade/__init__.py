"""Programs of Paddle 1.x, Paddle 2.x and PyTorch rewritten to run here; needs the package libcst."""

from .command import upgrade_files
from .rewriter import Upgraded, upgrade

__all__ = ["Upgraded", "upgrade", "upgrade_files"]
