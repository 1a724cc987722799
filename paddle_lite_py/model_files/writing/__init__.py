"""Programs of this package as model files of the reference."""
