"""One worker process: it loads the models, answers requests on the shared socket, and watches the model files.

``python -m manylabel.server.worker NUMBER SOCKET TABLE``; settings come as one line of JSON on standard input, which
stays open: when it ends, the supervisor is gone, and the worker stops.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import resource
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import uvicorn
from starlette.routing import Route, Router

from manylabel.exceptions import ManylabelError
from manylabel.server.connections import Connection
from manylabel.server.control import control_plane, openapi_route
from manylabel.server.dialects import annif, hugging_face, mlflow, open_inference, own
from manylabel.server.gate import OTHER, Gate
from manylabel.server.jobs.store import JobStore
from manylabel.server.logs import Log
from manylabel.server.metrics import Metrics, memory_of_this_process
from manylabel.server.models import Models
from manylabel.server.openapi import openapi_document
from manylabel.server.operations import Endpoint, Operation
from manylabel.server.settings import UNUSABLE, Limits, Settings
from manylabel.server.shortcut import Shortcut

OPERATIONS: tuple[Operation, ...] = (
    *own.OPERATIONS,
    *annif.OPERATIONS,
    *hugging_face.OPERATIONS,
    *open_inference.OPERATIONS,
    *mlflow.OPERATIONS,
)
ROUTES = (
    OTHER,
    "control",
    "labels",
    "health",
    "metrics",
    "jobs",
    "job-events",
    "data",
    *(one.name for one in OPERATIONS),
)
WATCH = 1.0
"""Seconds between two looks at the model files."""
GLANCE = 0.05
"""Seconds between two looks at whether another worker was asked to reload."""
ENOUGH_FILES = 1 << 16
RESERVED_FILES = 64
"""File handles that connections leave for model files and logs."""


def application(models: Models, settings: Settings, metrics: Metrics, log: Log) -> Gate:
    """The whole ASGI application."""
    control = control_plane(models, settings, metrics)
    openapi_route(control, openapi_document(control, OPERATIONS, list(models.given) if settings.data is None else []))
    routes = [Route(one.path, Endpoint(one, models, settings.limits)) for one in OPERATIONS]
    return Gate(Router(routes, redirect_slashes=False, default=control), settings, metrics, log)


class WorkerServer(uvicorn.Server):
    """uvicorn on a socket that several workers share.

    Each accepts one connection at a time: whoever is busy leaves the next one to others. asyncio and uvloop would take
    all that wait, and one worker would then serve them all.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        listener: socket.socket,
        models: Models,
        limits: Limits,
        gate: Gate,
    ) -> None:
        super().__init__(config)
        self.listener, self.models, self.limits = listener, models, limits
        self.metrics, self.log = gate.metrics, gate.log
        self.shortcut = Shortcut(OPERATIONS, models, limits, gate)
        self.most = raise_file_limit() - RESERVED_FILES
        self._watching: asyncio.Task[None] | None = None
        self._accepting: set[asyncio.Task[None]] = set()

    async def startup(self, sockets: Sequence[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        self.servers = []
        loop = asyncio.get_running_loop()
        loop.add_reader(self.listener, self._accept)
        loop.add_reader(sys.stdin, self._supervisor_is_gone)
        self._watching = loop.create_task(self._watch())
        self.metrics.set("ready", 1)
        self.started = True

    async def shutdown(self, sockets: Sequence[socket.socket] | None = None) -> None:
        """Accept no more connections and let requests in flight finish."""
        self.metrics.set("ready", 0)
        loop = asyncio.get_running_loop()
        loop.remove_reader(self.listener)
        loop.remove_reader(sys.stdin)
        if self._watching is not None:
            self._watching.cancel()
        self.listener.close()
        await asyncio.gather(*self._accepting)
        await super().shutdown()

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError, ConnectionError):
            connection, _ = self.listener.accept()
            if len(self.server_state.connections) >= self.most:
                connection.close()
                return
            connection.setblocking(False)
            task = asyncio.get_running_loop().create_task(self._serve_connection(connection))
            self._accepting.add(task)
            task.add_done_callback(self._accepting.discard)

    async def _serve_connection(self, connection: socket.socket) -> None:
        def protocol() -> asyncio.Protocol:
            return Connection(
                self.limits, self.shortcut, config=self.config, server_state=self.server_state, app_state={}
            )

        with contextlib.suppress(OSError):  # it was closed again before it was served
            await asyncio.get_running_loop().connect_accepted_socket(protocol, connection)

    def _supervisor_is_gone(self) -> None:
        if not os.read(sys.stdin.fileno(), 1024):
            asyncio.get_running_loop().remove_reader(sys.stdin)
            self.should_exit = True

    async def _watch(self) -> None:
        """Load changed model files: now and then, and at once when a worker was asked to."""
        looked = time.monotonic()
        while True:
            await asyncio.sleep(GLANCE)
            asked = self.metrics.get("generation", self.metrics.workers)
            if asked <= self.metrics.get("generation") and time.monotonic() - looked < WATCH:
                continue
            replaced, failed = await self.models.refresh()
            self.metrics.add("reloads", replaced)
            self.metrics.add("reload_failures", failed)
            self.metrics.set("generation", max(asked, self.metrics.get("generation")))
            self.metrics.set("memory", memory_of_this_process())
            looked = time.monotonic()
            if replaced or failed:
                versions = {model.name: model.version for model in self.models.all}
                self.log.write("reload", "looked at the model files again:", **versions, **self.models.failures)


def raise_file_limit() -> int:
    """Allow as many open files as the system admits, up to a number that is enough; return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH_FILES if hard == resource.RLIM_INFINITY else min(hard, ENOUGH_FILES)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)


def run(number: int, listener: socket.socket, table: int, settings: Settings) -> int:
    """Answer requests until the process is told to stop; return the exit code."""
    log = Log(number, as_json=settings.json_logs)
    metrics = Metrics(table, ROUTES, settings.workers, number)
    asked = metrics.get("generation", settings.workers)
    models = Models(settings.models, None if settings.data is None else JobStore(Path(settings.data)).models)
    try:
        models.load()
    except (ManylabelError, OSError) as error:
        log.write("unusable", str(error), "error")
        return UNUSABLE
    metrics.set("generation", asked)
    metrics.set("pid", os.getpid())
    gate = application(models, settings, metrics, log)
    gc.collect()
    gc.freeze()  # what was loaded stays: the collector need not look at it again and again
    config = uvicorn.Config(
        gate,
        http="httptools",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=settings.grace,
    )
    WorkerServer(config, listener, models, settings.limits, gate).run()
    return 0


def main(arguments: Sequence[str]) -> int:
    """Run a worker that a supervisor started."""
    number, listener, table = map(int, arguments)
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as stream:
        settings = msgspec.json.decode(stream.readline(), type=Settings)
    shared = socket.socket(fileno=listener)
    shared.setblocking(False)
    return run(number, shared, table, settings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
