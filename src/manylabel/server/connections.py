"""uvicorn's connection with limits that it lacks, on headers and on the time requests take, and with a shortcut."""

from __future__ import annotations

import asyncio
import time
from typing import Any, cast
from urllib.parse import unquote

from httptools import HttpRequestParser
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from manylabel.server.gate import OTHER
from manylabel.server.operations import REFUSED, Answer, Headers, problem_answer
from manylabel.server.problems import RequestError
from manylabel.server.settings import Limits
from manylabel.server.shortcut import Route, Shortcut
from manylabel.wording import counted

ON_ITS_WAY = 0.2
"""Seconds in which a request may arrive that was sent before the client could know that the server stops."""
MOST_DISCARDED = 64 << 20
"""Bytes of a request that was answered already which are read and discarded, so that its client reads the answer."""
SILENCE = 5.0
"""Seconds without a further piece of such a request after which its connection is closed."""
TOO_MANY = "The server has too many open connections. Send the request again later."
LINE_ENDS, EMPTY_LINE = (b"\r\n", b"\n"), b"\n\r\n"
"""Headers and chunked bodies end with an empty line, which may have begun in the piece of data before."""


class AnswerTransport:
    """What uvicorn writes an answer to: the transport of a connection, which closes it in its own way."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def write(self, data: bytes) -> None:
        """Send a piece of the answer."""
        if not self.connection.is_ending:
            self.connection.transport.write(data)

    def is_closing(self) -> bool:
        """Whether nothing can be sent any more."""
        return self.connection.is_ending or self.connection.transport.is_closing()

    def close(self) -> None:
        """Close the connection after the answer."""
        self.connection.end()


class Connection(HttpToolsProtocol):
    """A connection that is closed when a request takes too long to arrive or its headers are too long.

    A timer runs only while a request is incomplete: most arrive in one piece and need none. It starts again with each
    piece of data that are uploaded. Short requests are answered
    by the shortcut, one at a time: where more than one has arrived, uvicorn puts them in order.

    While a request that was answered still arrives, the connection is not closed: the system would report to the client
    that it was reset, before the client has read the answer. What arrives is discarded, within limits.

    One that is `surplus` is refused when its first request arrives: the worker has as many as its open files allow.
    """

    def __init__(self, limits: Limits, shortcut: Shortcut, *, surplus: bool = False, **settings: Any) -> None:
        super().__init__(**settings)
        self.limits, self.shortcut, self.surplus = limits, shortcut, surplus
        self._arriving, self._in_headers = True, True
        self._received = 0
        """Bytes of the headers that have arrived."""
        self._rest: int | None = 0
        """Bytes of the body that have not arrived; None where it comes in chunks."""
        self.url = b""
        self._began = time.perf_counter()
        """When the request began to arrive."""
        self.is_ending = False
        """Whether the last answer was sent, and what arrives is discarded."""
        self._discarded, self._end_at = 0, 0.0
        self._plain_head: bytes | None = None
        """The headers to be parsed once more, without the wish for another protocol."""
        self._refusal: RequestError | None = None
        """The answer to the request that arrives; sent when those before are answered."""
        self._answer_transport = cast(asyncio.Transport, AnswerTransport(self))
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
        """Read a piece of data, which may hold parts of several requests."""
        self._is_first, self._used = True, self.loop.time()
        if self.surplus and not self.is_ending:
            self._received += len(data)
            self._refuse(RequestError(503, TOO_MANY, {"Retry-After": "1"}))
        start = 0
        while start < len(data) and self._refusal is None and not self.is_ending and not self.transport.is_closing():
            end = self._end_of_part(data, start)
            self._take_part(data[start:end])
            start = end
        if self.is_ending or self._refusal is not None:
            self._discard(len(data) - start)
        elif self._arriving and (self._timer is None or self._is_uploading()) and not self.transport.is_closing():
            self._wait()

    def _end_of_part(self, data: bytes, start: int) -> int:
        """Where to divide the data so that no part of them holds bytes of both headers and a body."""
        if not self._in_headers and self._rest is not None:
            return min(len(data), start + self._rest)
        if start == 0 and data.startswith(LINE_ENDS):
            return data.index(b"\n") + 1
        found = data.find(EMPTY_LINE, max(0, start - 1))
        return len(data) if found < 0 else found + len(EMPTY_LINE)

    def _take_part(self, part: bytes) -> None:
        """Hand on bytes of one request, and refuse headers that are too long."""
        if not self._in_headers:
            if self._rest is not None:
                self._rest -= len(part)
            super().data_received(part)
            return
        allowed = max(0, self.limits.headers - self._received)
        self._received += len(part)
        super().data_received(part[:allowed])
        if self._plain_head is not None:
            head, self._plain_head = self._plain_head, None
            self.parser = HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
            super().data_received(head)
        if len(part) > allowed:
            what = f"The headers of the request are larger than {self.limits.headers:,} bytes (--limit headers=…)."
            self._refuse(RequestError(431, what))

    def on_message_begin(self) -> None:
        """Note that a request begins."""
        self._arriving, self._began = True, time.perf_counter()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Choose, once the headers are there, between the shortcut and uvicorn's own way."""
        if self.parser.should_upgrade() and any(name == b"upgrade" for name, _ in self.headers):
            self._plain_head = self._head_without_upgrade()
            return
        self._in_headers, self._received = False, 0
        self._rest = body_size(self.headers)
        is_free = self.cycle is None or self.cycle.response_complete
        if self._is_first and is_free and not (self.expect_100_continue or self.flow.write_paused or self.pipeline):
            self._fields = dict(self.headers)
            self._route = self.shortcut.route(self.parser.get_method(), self.url, self._fields)
        self._is_first = False
        if self._route is None:
            self._take_the_long_way()

    def _head_without_upgrade(self) -> bytes:
        """The request line and headers of a client that would like another protocol, such as Java's with HTTP/2.

        It may be served HTTP/1.1, but the parser would then not read the body.
        """
        lines = [b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())]
        lines += [b"%b: %b" % header for header in self.headers if header[0] not in (b"upgrade", b"http2-settings")]
        return b"\r\n".join([*lines, b"", b""])

    def _take_the_long_way(self) -> None:
        self._route = None
        super().on_headers_complete()
        self.cycle.transport = self._answer_transport
        if self._is_last:
            self._close_after_answer()

    def _close_after_answer(self) -> None:
        """Have uvicorn close the connection after the answer and say so in it, which 0.35 does for clients that ask."""
        self.cycle.keep_alive = False
        cast(dict[str, Any], self.cycle.scope)["headers"].append((b"connection", b"close"))

    def on_body(self, body: bytes) -> None:
        """Keep a piece of the body for the shortcut, hand it to uvicorn, or discard it."""
        if self._route is not None:
            self._body += body
        elif self.cycle.response_complete:
            self._discard(len(body))
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Answer a whole request by the shortcut, or hand it to uvicorn."""
        if self._plain_head is not None:
            return
        self._arriving, self._in_headers, self._discarded = False, True, 0
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
        self._write(made, keep_alive=keep_alive)
        if not keep_alive:
            self.transport.close()
        elif self._idle is None:
            self._idle = self.loop.call_later(self.timeout_keep_alive, self._close_unused)

    def _write(self, made: Answer, *, keep_alive: bool) -> None:
        default = self.server_state.default_headers
        self.transport.write(self.shortcut.message(STATUS_LINE[made.status], default, made, keep_alive=keep_alive))

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
            self._close_after_answer()

    def _close_idle(self) -> None:
        self._timer = None
        if not self.is_ending and (self._route is not None or (self._arriving and self._received)):
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
        self._timer = self.loop.call_later(seconds, self._refuse, RequestError(408, late, {"Retry-After": "1"}))

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        what = "The request is not valid HTTP. The server does not speak TLS (https): put a proxy before it."
        self._refuse(RequestError(400, what))

    def _refuse(self, problem: RequestError) -> None:
        """Send a problem, unless the request was answered, and close the connection; earlier requests are answered."""
        self._timer = None
        if self.is_ending or self.transport.is_closing():
            return
        cycle, is_handed_on = self.cycle, not self._in_headers and self._route is None
        if not is_handed_on and cycle is not None and not cycle.response_complete:
            self._refusal = problem
            return
        if self.pipeline:  # the request waits for earlier ones, and is not read meanwhile
            self._wait()
            return
        if not is_handed_on:
            method = self.parser.get_method().decode() if self.url else None
            path = unquote(self.url.partition(b"?")[0].decode("latin-1")) or None
            self.shortcut.gate.count(OTHER, problem.status, self._began, 0, (method, path, self.client))
            self._write(problem_answer(problem, path), keep_alive=False)
        elif not cycle.response_started:
            cast(dict[str, Any], cycle.scope)[REFUSED] = problem.status
            self._write(problem_answer(problem, cycle.scope["path"]), keep_alive=False)
            cycle.disconnected = True
            cycle.message_event.set()
        self.end()

    def on_response_complete(self) -> None:
        """Go on with the next request, or with its refusal."""
        super().on_response_complete()
        if self._refusal is not None and self.cycle.response_complete:
            self._refuse(self._refusal)

    # ---- the end -----------------------------------------------------------------------------------------------------

    def end(self) -> None:
        """Close the connection: at once, or when the client has had time to send its request and read the answer."""
        if self.is_ending or self.transport.is_closing():
            return
        if not self._arriving or (self._in_headers and not self._received):
            self.transport.close()
            return
        self.is_ending, self._end_at = True, self.loop.time() + self.limits.seconds
        self.pipeline.clear()
        self.transport.write_eof()
        self.flow.resume_reading()
        self._discard(0)

    def _discard(self, size: int) -> None:
        """Count bytes of a request that was answered; close the connection where these were the last, or too many."""
        if self.transport.is_closing():
            return
        self._discarded += size
        if self._discarded > MOST_DISCARDED:
            self.transport.close()
            return
        if not self.is_ending:
            return
        if not self._in_headers and self._rest is not None:
            self._rest -= size
            if self._rest <= 0:
                self.transport.close()
                return
        self._stop_waiting()
        left = min(SILENCE, self._end_at - self.loop.time())
        self._timer = self.loop.call_later(left, self.transport.close)


def body_size(headers: Headers) -> int | None:
    """The bytes of the body that a request announces; None where it comes in chunks."""
    for name, value in headers:
        if name == b"content-length":
            return int(value)
        if name == b"transfer-encoding":
            return None
    return 0
