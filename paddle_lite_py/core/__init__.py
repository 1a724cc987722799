"""The foundation that all layers use: dtypes, places, settings, errors, and the current thread's interpreter."""
