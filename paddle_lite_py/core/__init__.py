"""What every layer knows: dtypes, places, settings, errors, and the interpreter of the thread."""
