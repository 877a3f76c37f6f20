"""What a server is told when it starts, and how a worker process is told the same."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from manylabel.exceptions import MissingDataError, ParameterError, UnknownNameError
from manylabel.tasks.serving import usable_cores

SHORTEST_TOKEN = 16
ORIGIN = re.compile(r"(https?)://([a-z0-9.-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?/?")
USUAL_PORTS = {"http": "80", "https": "443"}
UNUSABLE = 3
"""The exit code of a worker that cannot load a model."""
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


class Limits(msgspec.Struct, frozen=True):
    """What one request, and all requests together, may ask of a server."""

    body: int = 8 << 20
    """Bytes per request body."""
    documents: int = 1_000
    """Documents per request."""
    characters: int = 200_000
    """Characters per document."""
    requests: int = 512
    """Requests at once, over all workers."""
    seconds: int = 30
    """Seconds for a request, or the next piece of an upload, to arrive, and for documents to be labelled."""
    headers: int = 32 << 10
    """Bytes per request line and headers."""
    upload: int = 1 << 30
    """Bytes per upload of data."""
    queue: int = 1_000
    """Jobs that wait."""
    job_seconds: int = 24 * 3600
    """Seconds per job."""
    job_megabytes: int = 16 << 10
    """Megabytes of memory per job, address space included."""

    @classmethod
    def parse(cls, given: Sequence[str]) -> Limits:
        """The limits of ``NAME=VALUE`` pairs; a value may end in k, m or g."""
        known = {field.name for field in msgspec.structs.fields(cls)}
        values = {}
        for pair in given:
            name, _, value = (piece.strip().lower() for piece in pair.partition("="))
            if name not in known:
                raise UnknownNameError("limit", name, known)
            number = value.rstrip("bkmg")
            unit = value.removeprefix(number).removesuffix("b")
            if not number.isascii() or not number.isdigit() or unit not in _UNITS or not int(number):
                raise ParameterError(f"--limit {pair}: the value is a whole number from 1, such as {name}=500 or 16m.")
            values[name] = int(number) * _UNITS[unit]
        return cls(**values)


class Settings(msgspec.Struct, frozen=True, tag="settings"):
    """The settings of a server."""

    models: dict[str, str]
    """The file of each model by its name; the first one answers where a dialect names no model."""
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    token: str | None = None
    origins: tuple[str, ...] = ()
    """The other sites whose pages may send requests and read the answers, such as https://catalogue.example.org."""
    limits: Limits = Limits()
    json_logs: bool = False
    log_requests: bool = False
    data: str | None = None
    """The data directory, with the jobs, uploaded data and trained models; None for a server without jobs."""
    jobs: int = 1
    """How many jobs run at once."""
    grace: int = 30
    """Seconds that requests in flight have to finish when the server stops."""

    @property
    def requests_per_worker(self) -> int:
        """How many requests one worker takes at once."""
        return max(1, self.limits.requests // self.workers)


def is_loopback(host: str) -> bool:
    """Whether only this computer can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_exposure(host: str, token: str | None) -> None:
    """Raise an error where a server would be open to other computers without a token."""
    if token is None and not is_loopback(host):
        raise ParameterError(
            f"--host {host} can be reached from other computers, and needs a token. Write one to a file "
            "(openssl rand -hex 32 > token) and add: --token token"
        )


def read_token(path: Path) -> str:
    """The token in a file: its only line, long enough not to be guessed."""
    if not path.is_file():
        raise MissingDataError(f"{path}: there is no such token file. Make one with: openssl rand -hex 32 > {path}")
    token = path.read_text(encoding="utf-8").strip()
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise ParameterError(
            f"{path}: a token is one line of at least {SHORTEST_TOKEN} printable ASCII characters without blanks. "
            "Make one with: openssl rand -hex 32"
        )
    return token


def parse_origins(given: Sequence[str]) -> tuple[str, ...]:
    """Origins as browsers send them: scheme, host and port, in lower case and without the port that is usual."""
    found = []
    for one in given:
        match = ORIGIN.fullmatch(one.strip().lower())
        if match is None:
            raise ParameterError(
                f"--origin {one}: an origin is the scheme, host and port of a site, without a path, such as "
                "https://catalogue.example.org or http://localhost:3000. Repeat --origin for each site."
            )
        scheme, host, port = match.groups()
        found.append(f"{scheme}://{host}" + ("" if port in (None, USUAL_PORTS[scheme]) else f":{port}"))
    return tuple(found)


def worker_count(given: str) -> int:
    """The number of workers: a number, or as many as this process may use cores for ``auto``."""
    if given == "auto":
        return usable_cores()
    if not given.isdigit() or not 1 <= int(given) <= 256:
        raise ParameterError(f"--workers takes a number from 1 to 256 or 'auto', not {given!r}.")
    return int(given)
