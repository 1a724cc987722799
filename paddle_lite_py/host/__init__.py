"""The host tier: functions of small arrays, traced by JAX and run by NumPy, which needs no compiler."""
