"""uvicorn's connection with limits that it lacks: on the size of headers, and on the time a request takes to arrive."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from manylabel.server.problems import RequestError, problem_json
from manylabel.server.settings import Limits
from manylabel.wording import counted

ON_ITS_WAY = 0.2
"""Seconds in which a request may arrive that was sent before the client could know that the server stops."""


class Connection(HttpToolsProtocol):
    """A connection that is closed when a request takes too long to arrive or its headers are too long.

    A timer runs only while a request is incomplete: most arrive in one piece and need none.
    """

    def __init__(self, limits: Limits, **settings: Any) -> None:
        super().__init__(**settings)
        self.limits = limits
        self._arriving, self._in_headers, self._received = True, True, 0
        self._timer: asyncio.TimerHandle | None = None
        self._is_last = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a piece of a request."""
        if self._in_headers:
            self._received += len(data)
        super().data_received(data)
        if not self._arriving or self.transport.is_closing():
            return
        if self._in_headers and self._received > self.limits.headers:
            self._refuse(431, f"The headers of the request are larger than {self.limits.headers:,} bytes.")
        elif self._timer is None:
            self._wait()

    def on_message_begin(self) -> None:
        """A request begins."""
        self._arriving = self._in_headers = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The headers are there."""
        self._in_headers, self._received = False, 0
        super().on_headers_complete()
        if self._is_last:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        """The request is whole."""
        self._arriving = False
        self._stop_waiting()
        super().on_message_complete()

    def shutdown(self) -> None:
        """Answer the request in flight, or one that is on its way, and close the connection."""
        self._is_last = True
        if self.cycle is None or self.cycle.response_complete:
            self._stop_waiting()
            self._timer = self.loop.call_later(ON_ITS_WAY, self._close_idle)
        else:
            self.cycle.keep_alive = False

    def _close_idle(self) -> None:
        self._timer = None
        if self._arriving and self._received:
            self._wait()
        else:
            self.transport.close()

    def _wait(self) -> None:
        seconds = self.limits.seconds
        late = f"The request did not arrive within {counted(seconds, 'second')}. Send it again."
        self._timer = self.loop.call_later(seconds, self._refuse, 408, late)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: int, detail: str) -> None:
        """Send a problem, unless an answer was begun, and close the connection."""
        self._timer = None
        if self.transport.is_closing():
            return
        if self.cycle is None or not self.cycle.response_started or self.cycle.response_complete:
            problem = RequestError(status, detail)
            kind, body = problem_json(problem)
            lines = [f"HTTP/1.1 {status} {problem.title}", f"content-type: {kind.decode()}"]
            lines += [f"content-length: {len(body)}", "retry-after: 1", "connection: close", "", ""]
            self.transport.write("\r\n".join(lines).encode() + body)
        self.transport.close()
