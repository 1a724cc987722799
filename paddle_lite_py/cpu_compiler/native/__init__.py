"""C that XLA calls, and what Clang makes of it."""
