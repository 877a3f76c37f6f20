"""What every request passes first: token, address, origin, the number of requests at once, and the metrics."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import math
import time
from collections.abc import Mapping
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manylabel.server import problems
from manylabel.server.logs import Asked, Log
from manylabel.server.metrics import Metrics
from manylabel.server.operations import DOCUMENTS, HEADERS, REFUSED, ROUTE, Headers, header_list, problem_answer
from manylabel.server.pages import PAGE_ADDRESSES
from manylabel.server.problems import RequestError
from manylabel.server.settings import Settings
from manylabel.server.shortage import DISK_FULL, is_disk_full

OPEN = frozenset({"/health", "/ready", "/ping", "/v2/health/live", "/v2/health/ready"})
"""Addresses that need no token and are never too busy: those by which a machine asks whether the server lives."""
SECURITY_HEADERS = header_list(  # where a response has no others
    {
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
)
EXPOSED = "Manylabel-Model, Manylabel-Version, Manylabel-Sha256, Retry-After"
"""The headers of answers that pages of other sites may read, besides those that they always may."""
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "600",
}
"""The answer to browsers that ask whether a page of an allowed site may send a request."""
VARY = (b"vary", b"Origin")
LOOPBACK_HOSTS = (b"localhost", b"127.0.0.1", b"[::1]")
DISK_AGAIN = 60.0
"""Seconds without a request that failed because the disk was full, after which the next one is logged again."""
OTHER = "other"
"""The route of requests that no operation answers."""


class Gate:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics, log: Log) -> None:
        self.app, self.metrics, self.log = app, metrics, log
        self.most = settings.requests_per_worker
        self.in_flight = 0
        token = settings.token
        self.token = None if token is None else _digest(token.encode())
        host = settings.host.encode()
        self.hosts = {*LOOPBACK_HOSTS, b"[%b]" % host if b":" in host else host}
        self.origins = {origin.encode() for origin in settings.origins}
        self.headers = [*SECURITY_HEADERS, VARY] if self.origins else SECURITY_HEADERS
        """The headers of all answers, where these have no others of the name."""
        self.log_requests = settings.log_requests
        self._disk_was_full = -math.inf
        """When a request last failed because the disk was full."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] != "http":  # no other protocol is served
            return
        began = time.perf_counter()
        scope[ROUTE], scope[DOCUMENTS] = OTHER, 0
        headers = scope[HEADERS] = dict(scope["headers"])
        answered = 0

        async def sending(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start":
                answered = message["status"]
                own = [*message.get("headers", ()), *self.permission(headers)]
                given = {name for name, _ in own}
                message = {**message, "headers": own + [one for one in self.headers if one[0] not in given]}
            await send(message)

        try:
            if self.is_preflight(scope["method"], headers):
                self.check_host(headers)
                await sending({"type": "http.response.start", "status": 204, "headers": header_list(PREFLIGHT)})
                await sending({"type": "http.response.body", "body": b""})
                return
            if scope["path"] not in OPEN and scope["path"] not in PAGE_ADDRESSES:
                self.check(scope["method"], headers)
            await self._pass(scope, receive, sending)
        except RequestError as problem:
            await respond(sending, problem, scope["path"])
        except asyncio.CancelledError:  # the client is gone, or the server stops and cannot wait longer
            raise
        except ClientDisconnect:  # while it uploaded data; nobody reads an answer
            pass
        except Exception as error:
            self._log(error, method=scope["method"], path=scope["path"])
            if not answered:
                await respond(sending, problems.unexpected(error), scope["path"])
        finally:
            asked = scope["method"], scope["path"], scope.get("client")
            self.count(scope[ROUTE], scope.get(REFUSED) or answered or 499, began, scope[DOCUMENTS], asked)

    def _log(self, error: Exception, **fields: Any) -> None:
        """Log an error; a full disk without a traceback, and once as long as requests go on to fail because of it."""
        if not is_disk_full(error):
            self.log.error("error", error, **fields)
            return
        now = time.monotonic()
        if now - self._disk_was_full > DISK_AGAIN:
            self.log.write("disk_full", f"{DISK_FULL} Until then requests that write are refused:", "error", **fields)
        self._disk_was_full = now

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, and count it as long as it is being answered."""
        self.in_flight += 1
        self.metrics.set("in_flight", self.in_flight)
        try:
            await self.app(scope, receive, send)
        finally:
            self.in_flight -= 1
            self.metrics.set("in_flight", self.in_flight)

    def check(self, method: str, headers: Mapping[bytes, bytes]) -> None:
        """Raise the problem of a request that may not pass."""
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        is_bearer = scheme.lower() == b"bearer"
        if self.token is not None and not (is_bearer and hmac.compare_digest(_digest(given.strip()), self.token)):
            what = "This server needs its token in the header Authorization: Bearer TOKEN."
            if b"authorization" in headers:
                what = "The header Authorization does not hold the token of this server: Bearer TOKEN."
            raise RequestError(401, what, {"WWW-Authenticate": "Bearer"})
        self.check_host(headers)
        if b"origin" in headers and method not in ("GET", "HEAD"):
            origin = headers[b"origin"]
            if origin not in self.origins and origin.partition(b"://")[2] != headers.get(b"host"):
                raise problems.other_site(origin.decode("latin-1"))
        if headers.get(b"content-encoding", b"identity").strip().lower() not in (b"identity", b""):
            raise problems.encoded(headers[b"content-encoding"].decode("latin-1"))
        if self.in_flight >= self.most:
            raise problems.too_busy()

    def check_host(self, headers: Mapping[bytes, bytes]) -> None:
        """Raise the problem of a request to another name; with a token, a server may have any name.

        A page of another site that has its own name resolve to this computer must not read answers.
        """
        host = headers.get(b"host", b"")
        if self.token is None and host.rpartition(b":")[0] not in self.hosts and host not in self.hosts:
            raise RequestError(421, "The server answers to localhost and its own address only. Start it with --token.")

    def is_preflight(self, method: str, headers: Mapping[bytes, bytes]) -> bool:
        """Whether a browser asks for a page of an allowed site, without a token, if it may send a request."""
        return (
            method == "OPTIONS"
            and headers.get(b"origin") in self.origins
            and b"access-control-request-method" in headers
        )

    def permission(self, headers: Mapping[bytes, bytes]) -> Headers:
        """The headers by which a browser lets a page of an allowed site read the answer; none for other pages."""
        origin = headers.get(b"origin")
        if origin is None or origin not in self.origins:
            return []
        return [(b"access-control-allow-origin", origin), (b"access-control-expose-headers", EXPOSED.encode())]

    def count(self, route: str, status: int, began: float, documents: int, asked: Asked) -> None:
        """Count a request that was answered; log its method, address and client where requests are logged."""
        seconds = time.perf_counter() - began
        self.metrics.count(route, status, seconds, documents)
        if self.log_requests:
            self.log.request(asked, status, seconds)


def _digest(value: bytes) -> bytes:
    """A digest of fixed length: comparing two takes the same time however the values differ."""
    return hashlib.sha256(value).digest()


async def respond(send: Send, problem: RequestError, path: str) -> None:
    """Send a problem with an address."""
    made = problem_answer(problem, path)
    await send({"type": "http.response.start", "status": made.status, "headers": made.headers})
    await send({"type": "http.response.body", "body": made.body})
