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


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured."""

    url: str
    model: str
    connections: int
    seconds: float
    requests: int
    failures: dict[str, int]
    """How many requests were not answered with status 200, by status or kind of error."""
    milliseconds: dict[str, float]
    """The durations at some percentiles, and the longest."""

    @property
    def rate(self) -> float:
        """Requests per second."""
        return self.requests / self.seconds

    def as_dict(self) -> dict[str, object]:
        """The measurement as plain data."""
        return {**asdict(self), "requests_per_second": self.rate}


class _Client(asyncio.Protocol):
    """One connection that sends the next request as soon as the last one is answered."""

    def __init__(self, requests: Iterator[bytes], durations: list[tuple[float, float]], failures: Counter[str]) -> None:
        self.requests, self.durations, self.failures = requests, durations, failures
        self.transport: asyncio.Transport | None = None
        self.buffer, self.began, self.stopped = bytearray(), 0.0, False
        self.closed = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.stopped:
            self.failures["connection closed"] += 1
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
        now = time.perf_counter()
        self.durations.append((now, now - self.began))
        if fields[9:12] != b"200":
            self.failures[fields[9:12].decode()] += 1
        self.buffer.clear()
        self._send()


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
    durations: list[tuple[float, float]] = []
    failures: Counter[str] = Counter()
    endless = itertools.cycle(requests)
    clients = [
        (await loop.create_connection(lambda: _Client(endless, durations, failures), host, port))[1]
        for _ in range(connections)
    ]
    await asyncio.sleep(WARM_UP)
    began = time.perf_counter()
    await asyncio.sleep(seconds)
    ended = time.perf_counter()
    for client in clients:
        client.stopped = True
    await asyncio.wait([client.closed for client in clients], timeout=30)
    counted = sorted(duration for at, duration in durations if began <= at <= ended)
    return Measured(url, model, connections, ended - began, len(counted), dict(failures), _percentiles(counted))


def _percentiles(durations: Sequence[float]) -> dict[str, float]:
    """Percentiles in milliseconds."""
    if not durations:
        return {}
    places = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
    return {
        name: 1e3 * durations[min(int(share * len(durations)), len(durations) - 1)] for name, share in places.items()
    }
