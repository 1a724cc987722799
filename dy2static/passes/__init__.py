"""The passes; each removes one construct from the tree of a function."""
