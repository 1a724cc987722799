"""Training with parameter servers: tables, the ways in which workers keep step, and what a worker does."""
