"""The interpreter that builds a Program, and what runs the result."""
