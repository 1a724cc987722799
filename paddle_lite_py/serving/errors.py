"""Errors of a server: one kind of error for each status of HTTP and gRPC."""

from __future__ import annotations

# Kind of error: status of HTTP, status of gRPC.
STATUS = {
    "invalid": (400, "INVALID_ARGUMENT"),
    "unauthorized": (401, "UNAUTHENTICATED"),
    "unknown": (404, "NOT_FOUND"),
    "slow": (408, "DEADLINE_EXCEEDED"),
    "large": (413, "RESOURCE_EXHAUSTED"),
    "busy": (429, "RESOURCE_EXHAUSTED"),
    "failed": (500, "INTERNAL"),
    "unavailable": (503, "UNAVAILABLE"),
    "late": (504, "DEADLINE_EXCEEDED"),
}


class ServingError(Exception):
    """A request that cannot be answered, or a model that cannot be served.

    Arguments:
        kind: a key of STATUS.
        text: what was found, what was expected, what to do.

    Examples:
        >>> ServingError("unknown", "there is no model `a`").http
        404
    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind, self.text = kind, text

    @property
    def http(self) -> int:
        """Status of HTTP."""
        return STATUS[self.kind][0]

    @property
    def grpc(self) -> str:
        """Name of the status of gRPC."""
        return STATUS[self.kind][1]
