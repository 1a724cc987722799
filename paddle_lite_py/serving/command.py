"""python -m paddle_lite_py serve MODEL [MODEL ...]: what the command line says, as settings of a server."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from typing import TYPE_CHECKING, Any

from ..core.extras import install_hint
from .batching import Limits
from .errors import ServingError

if TYPE_CHECKING:
    from .server import ServerSettings


def main(arguments: list[str]) -> None:
    """Serve what the command line names, until Ctrl-C."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if not given.models and not given.repository:
        parser.error("name a model, or a folder of models with --repository")
    try:
        from .server import Server, check_tls
    except ModuleNotFoundError as e:  # --help needs no extra
        parser.error(f"serve needs the package {e.name}: {install_hint('serving')}")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s", stream=sys.stderr)
    logging.getLogger("jax").setLevel(logging.WARNING)
    try:
        check_tls(given.tls_cert, given.tls_key)
        models = _language_models(given) if given.task == "generate" else given.models
        Server(models, given.repository, _settings(given)).run()
    except (ServingError, OSError) as e:
        sys.exit(f"serve: {e}")
    except KeyboardInterrupt:
        pass


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m paddle_lite_py serve", description=__doc__)
    add = parser.add_argument
    add("models", nargs="*", metavar="MODEL", help="[NAME=]PATH: what jit.save was given, an .onnx file, or a .py file")
    add(
        "--repository", metavar="FOLDER", help="serve the models of a folder: FOLDER/NAME.json, FOLDER/NAME/VERSION/..."
    )
    add(
        "--task", choices=["infer", "generate"], default="infer",
        help="generate: MODELs are folders of language models in Hugging Face's format, behind OpenAI's API",
    )  # fmt: skip
    add("--slots", type=int, default=8, help="with generate: requests answered at a time (default 8)")
    add(
        "--context", type=int, metavar="TOKENS",
        help="with generate: tokens of prompt and answer (default: those of the model, at most 2048)",
    )  # fmt: skip
    add(
        "--cache-tokens", type=int, metavar="TOKENS",
        help="with generate: tokens that the cache of all requests has memory for (default: slots x context)",
    )  # fmt: skip
    add("--host", default="127.0.0.1", help="address to listen at (default: this machine only)")
    add("--port", type=int, default=8000, help="for HTTP (default 8000; 0: a free one; -1: none)")
    add("--grpc-port", type=int, default=8001, help="for gRPC (default 8001; 0: a free one; -1: none)")
    add("--workers", type=int, default=0, help="processes that run models (default 0: the server's own)")
    add(
        "--max-batch",
        type=int,
        default=1,
        metavar="ROWS",
        help="join requests to batches of so many rows (default 1: not)",
    )
    add(
        "--delay-ms", type=float, default=0.0, help="how long the first request of a batch waits for others (default 0)"
    )
    add("--size", action="append", default=[], metavar="NAME=N", help="compile for this size of an unknown dimension")
    add(
        "--max-programs", type=int, default=256, metavar="N",
        help="sizes of inputs that are compiled for a model in ten minutes; others get 429 (default 256)",
    )  # fmt: skip
    add("--queue", type=int, default=1000, help="requests of a model that may wait; others get 429 (default 1000)")
    add("--max-mb", type=float, default=64.0, help="largest request in MB (default 64)")
    add("--timeout", type=float, default=30.0, help="seconds that a request may take (default 30)")
    add("--watch", type=float, default=1.0, help="seconds between looks for new files (default 1; 0: never)")
    add(
        "--token",
        default="",
        help="what clients must bring as bearer token; better in the environment: PADDLE_SERVING_TOKEN",
    )
    add("--tls-cert", default="", metavar="FILE", help="certificate for TLS")
    add("--tls-key", default="", metavar="FILE", help="key for TLS")
    add("--access-log", action="store_true", help="a line of JSON on stderr for each request")
    return parser


def _settings(given: argparse.Namespace) -> ServerSettings:
    limits = Limits(
        batch=given.max_batch, delay=given.delay_ms / 1000, queue=given.queue, body=int(given.max_mb * 2**20),
        seconds=given.timeout, programs=given.max_programs,
    )  # fmt: skip
    from .server import ServerSettings

    return ServerSettings(
        host=given.host, port=None if given.port < 0 else given.port,
        grpc_port=None if given.grpc_port < 0 else given.grpc_port, workers=given.workers, limits=limits,
        sizes=_sizes(given.size), watch=given.watch, slots=given.slots,
        token=given.token or os.environ.get("PADDLE_SERVING_TOKEN", ""),
        certificate=given.tls_cert, key=given.tls_key, access_log=given.access_log,
    )  # fmt: skip


def _language_models(given: argparse.Namespace) -> dict[str, Any]:
    """Language models by name.

    Raises:
        ServingError: One cannot be loaded, or workers are to run it.
    """
    from .language.model import LanguageModel
    from .repository import split_name

    if given.workers or given.repository:
        raise ServingError("invalid", "--task generate serves the named models in one process: no --workers and no "
                           "--repository")  # fmt: skip
    for name in ("slots", "cache_tokens"):
        if (value := getattr(given, name)) is not None and value < 1:
            raise ServingError("invalid", f"--{name.replace('_', '-')} {value}: expected at least 1")
    limits = given.context, given.cache_tokens
    return {name: LanguageModel.load(path, *limits) for name, path in map(split_name, given.models)}


def _sizes(texts: list[str]) -> dict[str, int]:
    found = {}
    for text in texts:
        name, _, size = text.partition("=")
        if not name or not size.isdecimal():
            raise ServingError("invalid", f"--size {text}: expected NAME=N, such as seq=128")
        found[name] = int(size)
    return found
