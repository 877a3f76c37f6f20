"""One worker process: it answers requests on the shared socket, with the models that the supervisor sends it.

``python -m manylabel.server.worker NUMBER SOCKET TABLE``; standard input is the channel to the supervisor. When it
ends, the supervisor is gone, and the worker stops.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import os
import resource
import socket
import sys
import threading
from collections.abc import Sequence

import uvicorn
from starlette.routing import Route, Router

from manylabel.server.channel import Channel, FoundModel, Looked, WithdrawnModel
from manylabel.server.connections import Connection
from manylabel.server.control import control_plane, openapi_route
from manylabel.server.dialects import annif, hugging_face, mlflow, open_inference, own
from manylabel.server.gate import OTHER, Gate
from manylabel.server.logs import Log
from manylabel.server.metrics import Metrics, memory_of_this_process
from manylabel.server.models import Models
from manylabel.server.openapi import openapi_document
from manylabel.server.operations import Endpoint, Operation
from manylabel.server.pages import page_routes
from manylabel.server.settings import UNUSABLE, Limits, Settings
from manylabel.server.shortcut import Shortcut
from manylabel.wording import settings_worded_for

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
    "corpora",
    "page",
    *(one.name for one in OPERATIONS),
)
MEMORY = 1.0
"""Seconds between two looks at the memory of the process."""
ENOUGH_FILES = 1 << 16
RESERVED_FILES = 64
"""File handles that connections leave for model files and logs; a quarter of them is for connections that are refused.
Where few are allowed, it is at most half of them."""
PAUSE = 0.2
"""Seconds without accepting connections after none could be accepted for want of file handles."""
BETWEEN_WARNINGS = 60.0
"""Seconds between two warnings that there are too many connections."""


def application(models: Models, settings: Settings, metrics: Metrics, log: Log) -> Gate:
    """The whole ASGI application."""
    control = control_plane(models, settings, metrics)
    openapi_route(
        control, openapi_document(control, OPERATIONS, list(settings.models) if settings.data is None else [])
    )
    routes = [Route(one.path, Endpoint(one, models, settings.limits)) for one in OPERATIONS] + page_routes()
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
        channel: Channel,
    ) -> None:
        super().__init__(config)
        self.channel = channel
        self.listener, self.models, self.limits = listener, models, limits
        self.metrics, self.log = gate.metrics, gate.log
        self.shortcut = Shortcut(OPERATIONS, models, limits, gate)
        files = raise_file_limit()
        reserved = min(RESERVED_FILES, files // 2)
        self.most, self.most_refused = files - reserved, reserved // 4
        self._warned = -BETWEEN_WARNINGS
        self._told: asyncio.Queue[tuple[FoundModel | WithdrawnModel | Looked, int | None]] = asyncio.Queue()
        self._working: list[asyncio.Task[None]] = []
        self._accepting: set[asyncio.Task[None]] = set()

    async def startup(self, sockets: Sequence[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        self.servers = []
        loop = asyncio.get_running_loop()
        loop.add_reader(self.listener, self._accept)
        threading.Thread(target=self._listen_to_supervisor, args=(loop,), daemon=True).start()
        self._working = [loop.create_task(self._take_models()), loop.create_task(self._measure_memory())]
        self.metrics.set("ready", 1)
        self.started = True

    async def shutdown(self, sockets: Sequence[socket.socket] | None = None) -> None:
        """Accept no more connections and let requests in flight finish."""
        self.metrics.set("ready", 0)
        loop = asyncio.get_running_loop()
        loop.remove_reader(self.listener)
        for task in self._working:
            task.cancel()
        self.listener.close()
        await asyncio.gather(*self._accepting)
        await super().shutdown()

    def _accept(self) -> None:
        """Accept a connection; beyond the limit it is refused when its request arrives, or closed at once."""
        loop = asyncio.get_running_loop()
        try:
            connection, _ = self.listener.accept()
        except (BlockingIOError, ConnectionError):
            return
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
            self._warn_of_too_many("no file handle is left to accept a connection")
            loop.remove_reader(self.listener)
            loop.call_later(PAUSE, self._accept_again)
            return
        surplus = len(self.server_state.connections) - self.most
        if surplus >= 0:
            self._warn_of_too_many(f"{self.most:,} connections are open, and further ones are refused")
        if surplus >= self.most_refused:
            connection.close()
            return
        connection.setblocking(False)
        task = loop.create_task(self._serve_connection(connection, surplus=surplus >= 0))
        self._accepting.add(task)
        task.add_done_callback(self._accepting.discard)

    def _accept_again(self) -> None:
        if not self.should_exit:
            asyncio.get_running_loop().add_reader(self.listener, self._accept)

    def _warn_of_too_many(self, what: str) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._warned >= BETWEEN_WARNINGS:
            self._warned = now
            advice = "Allow the server more open files (ulimit -n, LimitNOFILE of systemd), or start more workers."
            self.log.write("too_many_connections", f"{what}. {advice}", "error")

    async def _serve_connection(self, connection: socket.socket, *, surplus: bool) -> None:
        def protocol() -> asyncio.Protocol:
            return Connection(
                self.limits,
                self.shortcut,
                surplus=surplus,
                config=self.config,
                server_state=self.server_state,
                app_state={},
            )

        with contextlib.suppress(OSError):  # it was closed again before it was served
            await asyncio.get_running_loop().connect_accepted_socket(protocol, connection)

    def _listen_to_supervisor(self, loop: asyncio.AbstractEventLoop) -> None:
        """Hand on what the supervisor sends, until it is gone; a thread waits, because a message comes in pieces."""
        while (told := self.channel.receive()) is not None:
            message, file = told
            assert not isinstance(message, Settings)
            with contextlib.suppress(RuntimeError):  # the loop has ended, and so will the process
                loop.call_soon_threadsafe(self._told.put_nowait, (message, file))
        self.should_exit = True

    async def _take_models(self) -> None:
        """Load or withdraw the models that the supervisor names, one after the other, while requests are answered."""
        while True:
            message, file = await self._told.get()
            if isinstance(message, Looked):
                self.metrics.set("generation", max(message.at, self.metrics.get("generation")))
                continue
            if isinstance(message, WithdrawnModel):
                self.models.withdraw(message.name)
                settle()
                self.log.write(
                    "withdrawn", "the file of a model was removed; it is no longer served:", model=message.name
                )
                continue
            is_served = await asyncio.to_thread(self.models.take, message, file)
            settle()
            self.metrics.add("reloads" if is_served else "reload_failures", 1)
            if is_served:
                self.log.write("reload", "serves a new version:", model=message.name, sha256=message.sha256)
            else:
                self.log.write("reload_failed", self.models.failures[message.name], "error", model=message.name)

    async def _measure_memory(self) -> None:
        while True:
            self.metrics.set("memory", memory_of_this_process())
            await asyncio.sleep(MEMORY)


def settle() -> None:
    """Free what is no longer used, and spare the garbage collector what was loaded, which stays."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def raise_file_limit() -> int:
    """Allow as many open files as the system admits, up to a number that is enough; return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH_FILES if hard == resource.RLIM_INFINITY else min(hard, ENOUGH_FILES)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)


def run(number: int, listener: socket.socket, table: int, channel: Channel) -> int:
    """Answer requests until the process is told to stop; return the exit code."""
    told = channel.receive()
    if told is None or not isinstance(settings := told[0], Settings):
        return 0  # the supervisor is gone already
    log = Log(number, as_json=settings.json_logs)
    metrics = Metrics(table, ROUTES, settings.workers, number)
    models = Models(settings.models, can_train=settings.data is not None)
    while (told := channel.receive()) is not None:
        found, file = told
        if isinstance(found, Looked):
            metrics.set("generation", found.at)
            break
        assert isinstance(found, FoundModel)
        if not models.take(found, file) and found.is_given and not models.serves(found.name):
            log.write("unusable", models.failures[found.name], "error")
            return UNUSABLE
    metrics.set("pid", os.getpid())
    gate = application(models, settings, metrics, log)
    settle()
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
    WorkerServer(config, listener, models, settings.limits, gate, channel).run()
    return 0


def main(arguments: Sequence[str]) -> int:
    """Run a worker that a supervisor started."""
    number, listener, table = map(int, arguments)
    shared = socket.socket(fileno=listener)
    shared.setblocking(False)
    with settings_worded_for("request"):
        return run(number, shared, table, Channel(socket.socket(fileno=0)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
