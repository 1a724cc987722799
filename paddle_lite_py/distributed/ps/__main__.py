"""`python -m paddle_lite_py.distributed.ps`: a server as a process."""

from __future__ import annotations

import argparse
import os
import signal

from .server import Server


def main() -> None:
    """Serve until a client stops the servers, or the process receives SIGTERM."""
    parser = argparse.ArgumentParser(
        prog="python -m paddle_lite_py.distributed.ps", description="One parameter server."
    )
    parser.add_argument(
        "--endpoint", default="127.0.0.1:0", help="host:port; port 0 takes a free one (default %(default)s)"
    )
    parser.add_argument("--index", type=int, default=0, help="which of the servers this is, from 0 (default 0)")
    parser.add_argument("--servers", type=int, default=1, help="how many there are (default 1)")
    parser.add_argument("--workers", type=int, default=1, help="how many workers a barrier waits for (default 1)")
    parser.add_argument("--folder", help="where its state is kept for a new start (default: nowhere)")
    parser.add_argument("--saves", help="folder that clients may save to (default: PADDLE_PS_SAVES, or any)")
    parser.add_argument("--sync", type=float, default=1.0, help="seconds between two fsync of the log; 0: each change")
    parser.add_argument(
        "--snapshot-bytes", type=int, default=1 << 30, help="length of the log that is worth a snapshot"
    )
    given = parser.parse_args()
    server = Server(token=os.environ.get("PADDLE_PS_TOKEN", ""), **vars(given))
    signal.signal(signal.SIGTERM, lambda *_: server.stop())
    signal.signal(signal.SIGINT, lambda *_: server.stop())
    print(server.endpoint, flush=True)
    server.run()


if __name__ == "__main__":
    main()
