"""What browser tests share: a page with its complaints, and a running server of the workbench."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Page

SECONDS = 120
PATIENCE = 60_000
"""Milliseconds that a page may take to show something: a computer that runs other tests is slow."""


@dataclass
class Visit:
    """A page, and what went wrong in it."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._note)
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _note(self, one: ConsoleMessage) -> None:
        if one.type == "error":
            self.complaints.append(f"{one.text} {one.location['url']}")

    def forget(self, address: str) -> None:
        """Forget refused requests below an address: the browser itself notes those for what was just deleted."""
        self.complaints[:] = [one for one in self.complaints if address not in one]

    def violations(self) -> list[str]:
        """The rules of accessibility that the page breaks seriously."""
        axe = pytest.importorskip("axe_playwright_python.sync_playwright")
        found = axe.Axe().run(self.page, options={"resultTypes": ["violations"]}).response["violations"]
        return [one["id"] for one in found if one["impact"] in ("serious", "critical")]


@dataclass
class Served:
    """A running server and its data directory."""

    url: str
    folder: Path
    process: subprocess.Popen[str]

    def ask(self, path: str, body: Any = None, method: str | None = None) -> Any:
        """The answer of the server to a request."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + path, data, {"Content-Type": "application/json"}, method=method or ("POST" if data else "GET")
        )
        with urllib.request.urlopen(request, timeout=SECONDS) as response:
            return json.load(response)

    def run(self, **job: Any) -> dict[str, Any]:
        """The result of a job."""
        identifier = self.ask("/v1/jobs", job)["id"]
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            found: dict[str, Any] = self.ask(f"/v1/jobs/{identifier}")
            if found["state"] == "done":
                return dict(found["result"])
            assert found["state"] in ("queued", "running"), found
            time.sleep(0.1)
        raise AssertionError("the job took too long")


def start_server(folder: Path, *arguments: str) -> Served:
    """A server on a free port of this computer."""
    process = subprocess.Popen(
        [sys.executable, "-m", "manylabel", "serve", "--data", str(folder), "--port", "0", *arguments],
        stderr=subprocess.PIPE, text=True, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"on (http://\S+?),", line):
            return Served(found[1], folder, process)
    raise AssertionError("the server did not start")


def stop_server(served: Served) -> None:
    """Stop a server and wait until it is gone."""
    served.process.terminate()
    assert served.process.wait(SECONDS) == 0
    assert served.process.stderr is not None
    served.process.stderr.close()


def kill_server(served: Served) -> None:
    """Kill a server and its workers at once, as a power cut would."""
    number = served.process.pid
    workers = Path(f"/proc/{number}/task/{number}/children").read_text().split()
    for one in (number, *map(int, workers)):
        os.kill(one, signal.SIGKILL)
    served.process.wait(SECONDS)
    assert served.process.stderr is not None
    served.process.stderr.close()
