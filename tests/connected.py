"""A connection of a worker for tests, without a socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import uvicorn
from uvicorn.server import ServerState

from manylabel.server.connections import Connection
from manylabel.server.shortcut import Shortcut
from manylabel.server.worker import OPERATIONS
from served import InProcess


class Transport:
    """A transport that keeps what is written to it."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.is_closed = False
        self.has_ended = False

    def write(self, data: bytes) -> None:
        assert not self.is_closed
        self.sent.append(data)

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    def get_extra_info(self, name: str) -> Any:
        return ("127.0.0.1", 1) if name in ("peername", "sockname") else None

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def write_eof(self) -> None:
        self.has_ended = True


def talk(server: InProcess, conversation: Callable[[Connection, Transport], Any]) -> Transport:
    """Have a conversation on a connection in a loop of its own; return what was sent."""
    transport = Transport()

    async def run() -> None:
        config = uvicorn.Config(server.app, http="httptools", ws="none", lifespan="off", log_config=None)
        limits = server.settings.limits
        shortcut = Shortcut(OPERATIONS, server.models, limits, server.app)
        connection = Connection(limits, shortcut, config=config, server_state=ServerState(), app_state={})
        connection.connection_made(cast(asyncio.Transport, transport))
        await conversation(connection, transport)
        connection.connection_lost(None)

    asyncio.run(run())
    return transport


async def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait for what happens soon, however busy the computer is."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not condition():
        assert loop.time() < end
        await asyncio.sleep(0.005)
