"""Servers for tests: the application in this process, and a real server in processes of its own."""

from __future__ import annotations

import asyncio
import http.client
import json
import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from manylabel import TextClassifier
from manylabel.server.channel import FoundModel, WithdrawnModel
from manylabel.server.jobs import run as job_process
from manylabel.server.jobs.store import SHORT, JobStore
from manylabel.server.logs import Log
from manylabel.server.metrics import Metrics
from manylabel.server.models import ModelFiles, Models
from manylabel.server.settings import Limits, Settings
from manylabel.server.supervisor import listen
from manylabel.server.waiting import Waiting
from manylabel.server.worker import ROUTES, application

TEXTS = ["the late bus", "the bad road", "a bus on the road", "the dark lamp"]
LABELS = [["buses"], ["roads"], ["buses", "roads"], ["lamps"]]


def small_model(path: Path, labels: list[list[str]] = LABELS) -> Path:
    """A model of three labels, trained in milliseconds."""
    TextClassifier("nb-binary", model={"smoothing": "laplace"}).fit(TEXTS, labels).save(path)
    return path


@dataclass(frozen=True)
class Answered:
    """A response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)


class InProcess:
    """The application without sockets."""

    def __init__(self, models: Mapping[str, Path], **settings: Any) -> None:
        self.settings = Settings({name: str(path) for name, path in models.items()}, **settings)
        with Metrics.new_file(1) as table:
            self.metrics = Metrics(table.fileno(), ROUTES, 1, 0)
        self.metrics.set("ready", 1)
        self.metrics.set("generation", math.inf)  # nothing waits for a supervisor to look at the files
        folder = None if self.settings.data is None else Path(self.settings.data, "models")
        self.files = ModelFiles(self.settings.models, folder)
        self.models = Models(self.settings.models, can_train=folder is not None)
        self.refresh()
        self.app = application(self.models, self.settings, self.metrics, Log(0, as_json=True))

    def refresh(self) -> list[bool]:
        """Look at the model files as the supervisor does; return of each that changed whether its file is served."""
        served = []
        for found, file in self.files.look():
            if isinstance(found, WithdrawnModel):
                self.models.withdraw(found.name)
            served.append(
                isinstance(found, FoundModel) and self.models.take(found, None if file is None else os.dup(file))
            )
        return served

    @staticmethod
    def headers(body: bytes, given: Mapping[str, str] | None = None) -> dict[bytes, bytes]:
        """The headers of a request: the usual ones, changed by those given; an empty value leaves one out."""
        found = {"host": "localhost:8000", "content-type": "application/json", "content-length": str(len(body))}
        found.update(given or {})
        return {name.encode("latin-1"): value.encode("latin-1") for name, value in found.items() if value}

    async def request(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Answered:
        """Ask the application."""
        plain, _, query = path.partition("?")
        scope = {
            "type": "http",
            "method": method,
            "path": plain,
            "raw_path": plain.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "http_version": "1.1",
            "scheme": "http",
            "server": ("localhost", 8000),
            "client": ("127.0.0.1", 1),
            "headers": list(self.headers(body, headers).items()),
        }
        sent: list[Any] = []
        received: list[bool] = []

        async def receive() -> dict[str, Any]:
            if received:
                await asyncio.Event().wait()  # a client that waits for its answer
            received.append(True)
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        got = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Answered(sent[0]["status"], got, b"".join(one.get("body", b"") for one in sent[1:]))

    def ask(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answered:
        """Ask the application; a body that is not bytes is sent as JSON."""
        raw = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        return asyncio.run(self.request(method, path, raw, headers))


def in_process(models: Mapping[str, Path], limits: Mapping[str, int] | None = None, **settings: Any) -> InProcess:
    """The application with some limits."""
    return InProcess(models, limits=Limits(**(limits or {})), **settings)


def ended_job(server: InProcess, request: Mapping[str, object]) -> dict[str, Any]:
    """A job that was accepted and run in this process."""
    accepted = server.ask("POST", "/v1/jobs", request)
    assert accepted.status == 202, accepted.json()
    store = JobStore(Path(str(server.settings.data)), server.settings.models)
    store.take(short=request["kind"] in SHORT)
    job_process.run(store, accepted.json()["id"])
    ended = store.get(accepted.json()["id"])
    assert ended is not None
    return ended


def run_job(server: InProcess, request: Mapping[str, object]) -> dict[str, Any]:
    """The result of a job that succeeds."""
    ended = ended_job(server, request)
    assert ended["state"] == "done", ended["error"]
    return dict(ended["result"])


@contextmanager
def loading(log: Log | None = None) -> Iterator[tuple[Running, Metrics, Waiting]]:
    """What answers on a free port while no worker has loaded the models, and where it counts requests."""
    with listen("127.0.0.1", 0) as listener, Metrics.new_file(1) as table:
        waiting = Waiting(listener, Metrics(table.fileno(), (), 1, 1), log)
        waiting.start()
        try:
            port = listener.getsockname()[1]
            yield Running(cast(Any, None), port), Metrics(table.fileno(), ROUTES, 1, 0), waiting
        finally:
            waiting.end()


@dataclass
class Running:
    """A server in processes of its own."""

    process: subprocess.Popen[str]
    port: int
    said: str = ""
    """What it printed until it served."""

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answered:
        """Ask it on a connection of its own; a body that is not bytes is sent as JSON."""
        raw = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, raw, {"Content-Type": "application/json", **(headers or {})})
            response = connection.getresponse()
            return Answered(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def workers(self) -> list[int]:
        """The numbers of its worker processes."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(one) for one in children.split()]


@contextmanager
def running(*arguments: str, files: int | None = None) -> Iterator[Running]:
    """A server on a free port, which may open some number of `files`; it is stopped at the end."""
    command = [sys.executable, "-m", "manylabel", "serve", *arguments, "--port", "0"]
    if files is not None:
        command = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *command]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        said = ""
        for line in process.stderr:
            said += line
            if found := re.search(r"^Serving .* on http://127\.0\.0\.1:(\d+)", line):
                yield Running(process, int(found[1]), said)
                break
        else:
            raise AssertionError(said)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=20)
        finally:
            process.kill()
            process.wait()
