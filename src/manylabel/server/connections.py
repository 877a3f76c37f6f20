"""uvicorn's connection with limits that it lacks, on headers and on the time requests take, and with a shortcut."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from manylabel.server.operations import Answer
from manylabel.server.problems import RequestError, problem_json
from manylabel.server.settings import Limits
from manylabel.server.shortcut import Route, Shortcut
from manylabel.wording import counted

ON_ITS_WAY = 0.2
"""Seconds in which a request may arrive that was sent before the client could know that the server stops."""


class Connection(HttpToolsProtocol):
    """A connection that is closed when a request takes too long to arrive or its headers are too long.

    A timer runs only while a request is incomplete: most arrive in one piece and need none. It starts again with each
    piece of data that are uploaded. Short requests are answered
    by the shortcut, one at a time: where more than one has arrived, uvicorn puts them in order.
    """

    def __init__(self, limits: Limits, shortcut: Shortcut, **settings: Any) -> None:
        super().__init__(**settings)
        self.limits, self.shortcut = limits, shortcut
        self._arriving, self._in_headers, self._received = True, True, 0
        self._timer: asyncio.TimerHandle | None = None
        self._is_last = False
        self._route: Route | None = None
        """What can answer the request that arrives by the shortcut."""
        self._fields: dict[bytes, bytes] = {}
        self._body = b""
        self._is_first = True
        """Whether no request has begun in the piece of data that is being read."""
        self._idle: asyncio.TimerHandle | None = None
        self._used = 0.0
        """When data last arrived."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers of a connection that is gone."""
        self._stop_waiting()
        if self._idle is not None:
            self._idle.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a piece of a request, and refuse one whose headers are too long."""
        self._is_first, self._used = True, self.loop.time()
        if self._in_headers:
            self._received += len(data)
        super().data_received(data)
        if not self._arriving or self.transport.is_closing():
            return
        if self._in_headers and self._received > self.limits.headers:
            self._refuse(431, f"The headers of the request are larger than {self.limits.headers:,} bytes.")
        elif self._timer is None or self._is_uploading():
            self._wait()

    def on_message_begin(self) -> None:
        """Note that a request begins, whose headers come first."""
        self._arriving = self._in_headers = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Choose, once the headers are there, between the shortcut and uvicorn's own way."""
        self._in_headers, self._received = False, 0
        is_free = self.cycle is None or self.cycle.response_complete
        if self._is_first and is_free and not (self.expect_100_continue or self.flow.write_paused or self.pipeline):
            self._fields = dict(self.headers)
            self._route = self.shortcut.route(self.parser.get_method(), self.url, self._fields)
        self._is_first = False
        if self._route is None or self.parser.should_upgrade():
            self._take_the_long_way()

    def _take_the_long_way(self) -> None:
        self._route = None
        super().on_headers_complete()
        if self._is_last:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        """Keep a piece of the body for the shortcut, or hand it to uvicorn."""
        if self._route is None:
            super().on_body(body)
        else:
            self._body += body

    def on_message_complete(self) -> None:
        """Answer a whole request by the shortcut, or hand it to uvicorn."""
        self._arriving = False
        self._stop_waiting()
        if self._route is not None:
            body, self._body = self._body, b""
            made = self.shortcut.answer(self._route, self._fields, body, self.client)
            if made is not None:
                self._route = None
                self._send(made)
                return
            self._take_the_long_way()
            super().on_body(body)
        super().on_message_complete()

    def _send(self, made: Answer) -> None:
        """Send an answer of the shortcut."""
        keep_alive = self.parser.should_keep_alive() and not self._is_last
        default = self.server_state.default_headers
        self.transport.write(self.shortcut.message(STATUS_LINE[made.status], default, made, keep_alive=keep_alive))
        if not keep_alive:
            self.transport.close()
        elif self._idle is None:
            self._idle = self.loop.call_later(self.timeout_keep_alive, self._close_unused)

    def _close_unused(self) -> None:
        """Close a connection on which nothing came for long; look again later where something did."""
        left = self._used + self.timeout_keep_alive - self.loop.time()
        is_busy = self.cycle is not None and not self.cycle.response_complete
        if left > 0 or is_busy:
            self._idle = self.loop.call_later(max(left, 1.0), self._close_unused)
        else:
            self.transport.close()

    def shutdown(self) -> None:
        """Answer the request in flight, or one that is on its way, and close the connection."""
        self._is_last = True
        if self._route is None and (self.cycle is None or self.cycle.response_complete):
            self._stop_waiting()
            self._timer = self.loop.call_later(ON_ITS_WAY, self._close_idle)
        elif self._route is None:
            self.cycle.keep_alive = False

    def _close_idle(self) -> None:
        self._timer = None
        if self._route is not None or (self._arriving and self._received):
            self._wait()
        else:
            self.transport.close()

    def _is_uploading(self) -> bool:
        """Whether data are uploaded that were not refused: they may take long, as long as pieces of them arrive."""
        return not self._in_headers and self.url.startswith(b"/v1/data/") and not self.cycle.response_started

    def _wait(self) -> None:
        self._stop_waiting()
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
