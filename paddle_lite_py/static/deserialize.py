"""Programs from bytes: those of whole programs (serial), and those of inference models (the manifest of jit.save)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..core.symbolic import is_symbolic
from ..eager.random import default_generator
from ..eager.tensor import Parameter, Tensor, wrap
from ..ir.block import Value
from ..ir.program import Program as IRProgram
from ..ir.serialize import FormatError, from_json
from ..ir.verify import ProgramError, verify
from ..jit import artifact
from ..jit.artifact import ArtifactError
from ..tracing.size_facts import Fact
from . import serial
from .restore import restore
from .scope_variable import ScopeVariable

if TYPE_CHECKING:
    from .program_state import P

# Bytes of a serialised program.
MAX_PROGRAM = artifact.MAX_MANIFEST


def deserialize(out: P, data: bytes) -> P:
    """Let an empty program be the one that was written as bytes.

    Raises:
        ArtifactError: if the bytes are damaged, foreign or of a newer version.
    """
    if not isinstance(data, bytes | bytearray):
        raise TypeError(f"deserialize_program: data is a {type(data).__name__}; expected bytes")
    if len(data) > MAX_PROGRAM:
        raise ArtifactError(f"{len(data)} bytes are more than any program has ({MAX_PROGRAM})")
    if artifact.is_foreign_program(bytes(data[:200])):
        return artifact.foreign_files().read_training(out, bytes(data))
    try:
        manifest = json.loads(bytes(data))
    except (ValueError, RecursionError) as e:
        raise ArtifactError(f"the bytes are no serialised program: {e}") from None
    if isinstance(manifest, dict) and manifest.get("format") == serial.FORMAT:
        return serial.loads(out, manifest)
    if not isinstance(manifest, dict) or manifest.get("format") != artifact.FORMAT:
        raise ArtifactError("the bytes are no program of paddle.static.serialize_program")
    if manifest.get("version") != artifact.VERSION:
        raise ArtifactError(f"program version {manifest.get('version')!r}; this package reads {artifact.VERSION}")
    return from_manifest(out, manifest)


def from_manifest(out: P, manifest: Any) -> P:
    """Let an empty program be the one that the manifest of an artifact describes; its weights have no values yet."""
    try:
        data = manifest["methods"]["forward"]["eval"]
        known = [*map(str, manifest.get("constraints", ())), *map(str, data.get("constraints", ()))]
        made, n = from_json(data["program"], known), int(data["n_args"])
        verify(made)
        weights = [manifest["weights"][i] for i in data["weights"]]
        states = dict(zip(made.block.inputs[n:], weights, strict=True))
        updates = {int(data["n_results"]) + k: made.block.inputs[n + i] for k, i in enumerate(data["state"])}
        made.block.outputs = made.block.outputs[: int(data["n_results"]) + len(updates)]
        captured = {v: _declared(w, v) for v, w in states.items()}
        program = IRProgram(made.block, made.input_names, None, captured, updates, made.measured)
        found = restore(out, program)
        found.builder.unknown.facts += map(Fact.parsed, known)
        return found
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as e:
        if isinstance(e, FormatError | ArtifactError):
            raise
        reason = str(e) if isinstance(e, ProgramError) else f"{type(e).__name__}: {e}"
        raise ArtifactError(f"the serialised program is damaged: {reason}") from None


def _declared(weight: dict[str, Any], value: Value) -> Tensor:
    """Return a handle on state in a scope, as a manifest declares it."""
    if weight["kind"] == "generator":
        return default_generator.state
    name = weight["name"]
    if not isinstance(name, str) or any(map(is_symbolic, value.shape)):
        raise ArtifactError(f"weight {name!r:.60} has no name or no known shape")
    variable: Any = ScopeVariable(name, value.shape, value.dtype)
    if weight["parameter"]:
        return Parameter.of_payload(variable, name, bool(weight["trainable"]))
    return wrap(variable)
