"""Static programs as operators of the reference, which can be edited, and back."""
