"""Measure a running server: requests per second and their durations, on several connections at once."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from urllib.parse import quote, urlsplit

import msgspec

from manylabel.exceptions import ParameterError

WARM_UP = 0.5
"""Seconds of requests that are not measured."""
OK = "200"
REMEDIES = {
    "401": "Give the token of the server with --token FILE.",
    "404": "It serves no model {model!r}: choose one of those that it lists at /v1/models with --model.",
    "413": "The documents are too long for its limits: give shorter ones with --data.",
    "429": "It is too busy: give fewer --connections, or try again later.",
    "503": "It is not ready: /ready has the reason. Try again later.",
}
"""By status of all first answers, what to do."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured."""

    url: str
    model: str
    connections: int
    seconds: float
    requests: int
    """How many requests ended, failures included."""
    failures: dict[str, int]
    """How many of them were not answered with status 200, by status or kind of error."""
    milliseconds: dict[str, float]
    """The durations of the others at some percentiles, and the longest."""

    @property
    def rate(self) -> float:
        """Requests per second that did not fail."""
        return (self.requests - sum(self.failures.values())) / self.seconds

    def as_dict(self) -> dict[str, object]:
        """The measurement as plain data."""
        return {**asdict(self), "requests_per_second": self.rate}


@dataclass(frozen=True, slots=True)
class Ended:
    """A request that was answered or lost."""

    at: float
    seconds: float
    outcome: str
    """The status of the answer, or the kind of error."""


class _Client(asyncio.Protocol):
    """One connection that sends the next request as soon as the last one is answered."""

    def __init__(self, requests: Iterator[bytes], ended: list[Ended]) -> None:
        self.requests, self.ended = requests, ended
        self.transport: asyncio.Transport | None = None
        self.buffer, self.began, self.stopped = bytearray(), 0.0, False
        self.closed = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.stopped:
            self._keep("connection closed")
        self.closed.set_result(None)

    def _send(self) -> None:
        assert self.transport is not None
        if self.stopped:
            self.transport.close()
            return
        self.began = time.perf_counter()
        self.transport.write(next(self.requests))

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head = self.buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        fields = bytes(self.buffer[:head]).lower()
        start = fields.find(b"content-length: ") + 16
        length = int(fields[start:].split(b"\r\n", 1)[0])
        if len(self.buffer) < head + 4 + length:
            return
        self._keep(fields[9:12].decode())
        self.buffer.clear()
        self._send()

    def _keep(self, outcome: str) -> None:
        now = time.perf_counter()
        self.ended.append(Ended(now, now - self.began, outcome))


def measure(
    url: str, model: str, texts: Sequence[str], *, connections: int, seconds: float, token: str | None = None
) -> Measured:
    """Send one text per request to a model of a server, on several connections, for some seconds."""
    place = urlsplit(url)
    if place.scheme != "http" or place.hostname is None:
        raise ParameterError(f"{url}: the address of a server is written http://HOST:PORT.")
    head = f"POST /v1/models/{quote(model, safe='')}/predict HTTP/1.1\r\nHost: {place.netloc}\r\n"
    head += "Content-Type: application/json\r\n" + (f"Authorization: Bearer {token}\r\n" if token else "")
    bodies = [msgspec.json.encode({"text": text}) for text in texts]
    requests = [f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body for body in bodies]
    try:
        return asyncio.run(_run(url, model, place.hostname, place.port or 80, requests, connections, seconds))
    except OSError as error:
        raise ParameterError(f"{url}: cannot reach the server: {error.strerror or error}.") from None


async def _run(
    url: str, model: str, host: str, port: int, requests: Sequence[bytes], connections: int, seconds: float
) -> Measured:
    loop = asyncio.get_running_loop()
    all_ended: list[Ended] = []
    endless = itertools.cycle(requests)
    clients = [
        (await loop.create_connection(lambda: _Client(endless, all_ended), host, port))[1] for _ in range(connections)
    ]
    try:
        await asyncio.sleep(WARM_UP)
        _check_first(url, model, all_ended)
        began = time.perf_counter()
        await asyncio.sleep(seconds)
        until = time.perf_counter()
    finally:
        for client in clients:
            client.stopped = True
        await asyncio.wait([client.closed for client in clients], timeout=30)
    counted = [one for one in all_ended if began <= one.at <= until]
    failures = Counter(one.outcome for one in counted if one.outcome != OK)
    durations = sorted(one.seconds for one in counted if one.outcome == OK)
    return Measured(url, model, connections, until - began, len(counted), dict(failures), _percentiles(durations))


def _check_first(url: str, model: str, ended: Sequence[Ended]) -> None:
    """Raise an error where all of the first requests failed, because nothing would be measured."""
    outcomes = Counter(one.outcome for one in ended)
    if not ended or OK in outcomes:
        return
    [(outcome, _)] = outcomes.most_common(1)
    what = f"the status {outcome}" if outcome.isdigit() else outcome
    remedy = REMEDIES.get(outcome, "Send one request with curl to see the reason, then try again.").format(model=model)
    raise ParameterError(f"{url}: nothing was measured, because all of the first requests failed: {what}. {remedy}")


def _percentiles(durations: Sequence[float]) -> dict[str, float]:
    """Percentiles in milliseconds."""
    if not durations:
        return {}
    places = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
    return {
        name: 1e3 * durations[min(int(share * len(durations)), len(durations) - 1)] for name, share in places.items()
    }
