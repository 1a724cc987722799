"""The definition of an op, and the registry of all ops."""
