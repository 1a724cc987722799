"""All that is read of JAX beyond its documented interface, in one place, and what happens where that has changed.

`versions`: those that are tested, and a warning with others. `jaxprs`, `equations`: how a traced program is written.
`calls`: how it becomes part of a trace. `executables`, `compiler`: how a compiled one is kept. `xla`: its options.
`threefry`: its generator. `sizes`, `sized`: its symbolic dimensions.
"""
