"""Model files of the reference: inference programs with their weights, read into programs of this package."""
