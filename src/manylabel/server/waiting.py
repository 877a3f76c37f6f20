"""What answers while no worker has loaded the models: that the server runs, and that it is not ready yet."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from typing import Any
from urllib.parse import unquote

from manylabel.server.logs import Asked, Log
from manylabel.server.metrics import Metrics
from manylabel.server.problems import JSON, form_of, not_ready

ALIVE = {"/health": b'{"status":"ok"}', "/ping": b"{}", "/v2/health/live": b'{"live":true}'}
"""By address, what workers answer too as long as they run."""
LOADING = "The models are being loaded. Try again in a second."
PAGE = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="1"><title>manylabel</title></head>
<body><p>{LOADING.partition(".")[0]}. This page reloads itself.</p></body></html>
""".encode()
"""What browsers show meanwhile."""
PAUSE = 0.05
PATIENCE = 0.5
"""Seconds that a client has to send its headers, and then its body: while one is waited for, no other is answered."""
MOST_HEAD = 8 << 10
MOST_PIECE = 64 << 10


class Waiting(threading.Thread):
    """Answers requests on a socket, one after the other, until it is ended.

    It counts them in the row of its process, which names no routes, so that all are those of `other`; and logs them
    where it has a log.
    """

    def __init__(self, listener: socket.socket, metrics: Metrics, log: Log | None) -> None:
        super().__init__(daemon=True)
        self.listener, self.metrics, self.log = listener, metrics, log
        self._is_over = threading.Event()

    def run(self) -> None:
        """Accept connections that no worker accepts."""
        while not self._is_over.is_set():
            if not select.select([self.listener], [], [], PAUSE)[0]:
                continue
            with contextlib.suppress(OSError):  # a worker was first, or the client is gone
                connection, client = self.listener.accept()
                with connection:
                    self._answer(connection, client)

    def end(self) -> None:
        """Leave the socket to the workers; what was accepted is answered before."""
        self._is_over.set()
        self.join()

    def _answer(self, connection: socket.socket, client: Any) -> None:
        head, began, until = b"", time.perf_counter(), time.monotonic() + PATIENCE
        while b"\r\n\r\n" not in head and len(head) < MOST_HEAD and (piece := received(connection, until)):
            head += piece
        method, path = asked_for(head)
        status, lines, body = answer_to(path or "", is_page=wants_page(head))
        connection.sendall(lines if method == "HEAD" else lines + body)
        connection.shutdown(socket.SHUT_WR)
        self._count((method, path, client), status, time.perf_counter() - began)
        until = time.monotonic() + PATIENCE
        while received(connection, until):  # a body that is not read would reset the connection before it is answered
            pass

    def _count(self, asked: Asked, status: int, seconds: float) -> None:
        self.metrics.count("", status, seconds)
        if self.log is not None:
            self.log.request(asked, status, seconds)


def asked_for(head: bytes) -> tuple[str | None, str | None]:
    """The method and address of a request; None where it is not HTTP.

    >>> asked_for(b"GET /ready?now HTTP/1.1\\r\\n\\r\\n"), asked_for(b"\\x16 not")
    (('GET', '/ready'), (None, None))
    """
    words = head.partition(b"\n")[0].split()
    if len(words) != 3 or not words[2].startswith(b"HTTP/"):
        return None, None
    return words[0].decode("latin-1"), unquote(words[1].partition(b"?")[0].decode("latin-1"))


def received(connection: socket.socket, until: float) -> bytes:
    """What a client sends next, empty at the end; an error where nothing comes by this time."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    connection.settimeout(left)
    return connection.recv(MOST_PIECE)


def wants_page(head: bytes) -> bool:
    """Whether a request is that of a browser that opens a page.

    >>> wants_page(b"GET / HTTP/1.1\\r\\nAccept: text/html,*/*\\r\\n\\r\\n"), wants_page(b"GET / HTTP/1.1\\r\\n\\r\\n")
    (True, False)
    """
    headers = head.lower().split(b"\r\n\r\n")[0].split(b"\r\n")[1:]
    return head.startswith(b"GET ") and any(one.startswith(b"accept:") and b"text/html" in one for one in headers)


def answer_to(path: str, *, is_page: bool = False) -> tuple[int, bytes, bytes]:
    """The status, headers and body for an address; a page that reloads itself if asked. The connection ends then."""
    status, lines = 200, [b"HTTP/1.1 200 OK", b"Content-Type: " + JSON]
    body = ALIVE.get(path)
    if body is None:
        problem = not_ready(LOADING, {"ready": False, "workers": 0, "failures": {}} if path == "/ready" else None)
        status = problem.status
        kind, body = (b"text/html; charset=utf-8", PAGE) if is_page else form_of(path)(problem)
        lines = [b"HTTP/1.1 503 Service Unavailable", b"Content-Type: " + kind, b"Retry-After: 1"]
        lines += [b"Content-Security-Policy: default-src 'none'; frame-ancestors 'none'"] if is_page else []
    lines += [b"Content-Length: %d" % len(body), b"Cache-Control: no-store", b"Connection: close"]
    return status, b"\r\n".join([*lines, b"", b""]), body
