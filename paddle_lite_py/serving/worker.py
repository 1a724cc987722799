"""A worker: a process that holds models and runs them for a server, over a socket that it inherits."""

from __future__ import annotations

import signal
import socket
import sys
from typing import Any

from .errors import ServingError
from .frames import LENGTHS, Message, decode, encode
from .host import ModelHost, settle


def main(number: int, programs: int) -> None:
    """Answer until the server closes the socket."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server tells its workers when to end
    host = ModelHost(programs)
    with socket.socket(fileno=number) as connection, connection.makefile("rb") as stream:
        while lengths := stream.read(LENGTHS.size):
            head, body = LENGTHS.unpack(lengths)
            answer = _answered(host, decode(stream.read(head), stream.read(body)))
            connection.sendall(b"".join(encode(answer)))


def _answered(host: ModelHost, message: Message) -> Message:
    try:
        head, arrays = _done(host, message)
    except ServingError as e:
        head, arrays = {"kind": e.kind, "error": e.text}, {}
    except Exception as e:
        head, arrays = {"kind": "failed", "error": f"{type(e).__name__}: {e}"}, {}
    return Message({**head, "compilations": host.compilations}, arrays)


def _done(host: ModelHost, message: Message) -> tuple[dict[str, Any], dict[str, Any]]:
    head = message.head
    if head["do"] == "run":
        return {}, host.run(head["key"], message.arrays)
    if head["do"] == "unload":
        host.unload(head["key"])
        return {}, {}
    info = host.load(head["key"], head["path"], head["most"], head["sizes"])
    settle()
    return {"info": info.to_json()}, {}


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
