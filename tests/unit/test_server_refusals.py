"""Requests that a connection refuses, or that are answered before they have arrived: answers, log lines, the end."""

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from connected import Transport, talk, until
from manylabel.server import connections
from manylabel.server.connections import Connection
from manylabel.server.logs import Log
from served import InProcess, in_process, loading, small_model

TOKEN = "a-token-of-some-length"
LONGEST = 300
"""The limit on headers in these tests."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_model(tmp_path_factory.mktemp("models") / "letters.manylabel")


def serving(model: Path, limits: Mapping[str, float] | None = None, **settings: Any) -> InProcess:
    return in_process({"letters": model}, cast(dict[str, int], limits), **settings)


def head(size: int, *headers: str, address: str = "/v1/models/letters/predict") -> bytes:
    lines = [f"POST {address} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers]
    return "\r\n".join([*lines, f"Content-Length: {size}", "", ""]).encode()


def logged(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


# ---- the end of a connection -----------------------------------------------------------------------------------------


def test_a_refused_body_is_read_to_its_end_before_the_connection_is_closed(model: Path) -> None:
    async def large(connection: Connection, transport: Transport) -> None:
        connection.data_received(head(100_000, "Connection: close"))
        await until(lambda: transport.has_ended)
        connection.data_received(b"a" * 99_999)
        assert not transport.is_closed
        connection.data_received(b"a")
        assert transport.is_closed

    sent = b"".join(talk(serving(model, token=TOKEN), large).sent)
    assert sent.startswith(b"HTTP/1.1 401 ")
    assert sent.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize("ending", ["Connection: close", "Connection: keep-alive"])
def test_a_refused_body_is_not_read_without_end(model: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_DISCARDED", 1_000)

    async def endless(connection: Connection, transport: Transport) -> None:
        connection.data_received(head(100_000, ending))
        await until(lambda: connection.cycle.response_complete)
        connection.data_received(b"a" * 1_000)
        assert not transport.is_closed
        connection.data_received(b"a")
        assert transport.is_closed

    talk(serving(model, token=TOKEN), endless)


def test_a_client_that_sends_no_more_of_a_refused_body_is_not_waited_for(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "SILENCE", 0.1)

    async def silent(connection: Connection, transport: Transport) -> None:
        connection.data_received(head(100_000, "Connection: close"))
        await until(lambda: transport.has_ended)
        connection.data_received(b"a")
        began = time.monotonic()
        await until(lambda: transport.is_closed)
        assert time.monotonic() - began >= 0.09

    talk(serving(model, token=TOKEN), silent)


def test_a_slow_client_of_a_refused_body_is_not_waited_for_longer_than_the_limit(model: Path) -> None:
    async def slow(connection: Connection, transport: Transport) -> None:
        connection.data_received(head(100_000, "Connection: close"))
        for _ in range(4):
            await asyncio.sleep(0.1)
            if not transport.is_closed:
                connection.data_received(b"a")
        assert transport.is_closed

    talk(serving(model, {"seconds": 0.3}, token=TOKEN), slow)


def test_a_request_that_was_answered_is_not_answered_again_when_its_body_is_late(model: Path) -> None:
    async def late(connection: Connection, transport: Transport) -> None:
        connection.data_received(head(9))
        await asyncio.sleep(0.4)
        assert transport.has_ended

    assert b"".join(talk(serving(model, {"seconds": 0.2}, token=TOKEN), late).sent).count(b"HTTP/1.1") == 1


# ---- the limit on headers --------------------------------------------------------------------------------------------


def whole(size: int, body: bytes = b'{"text": "bus"}') -> bytes:
    """A request whose request line and headers have this size."""
    return head(len(body), f"X: {'a' * (size - len(head(len(body), 'X: ')))}") + body


CHUNKED = (
    b"POST /v1/models/letters/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b'Transfer-Encoding: chunked\r\n\r\n8\r\n{"text":\r\n6\r\n\n"bus"\r\n1\r\n}\r\n0\r\n\r\n'
)


@pytest.mark.parametrize("before", [b"", whole(200), CHUNKED, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"])
@pytest.mark.parametrize("step", [1, 2, 3, 7, 100, LONGEST - 1, LONGEST, 10_000])
def test_the_limit_on_headers_does_not_depend_on_the_pieces_they_arrive_in(
    model: Path, before: bytes, step: int
) -> None:
    server = serving(model, {"headers": LONGEST})
    for size, status in ((LONGEST, b"200"), (LONGEST + 1, b"431")):
        sent = before + whole(size)

        async def pieces(connection: Connection, transport: Transport, sent: bytes = sent) -> None:
            for start in range(0, len(sent), step):
                connection.data_received(sent[start : start + step])
                await asyncio.sleep(0)
            await until(lambda: b"".join(transport.sent).count(b"HTTP/1.1 ") == bool(before) + 1)

        answers = b"".join(talk(server, pieces).sent).split(b"HTTP/1.1 ")[1:]
        assert [one[:3] for one in answers] == [b"200"] * bool(before) + [status]


# ---- what is logged --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"", (408, None, None)),
        (b"GET /hea", (408, "GET", "/hea")),
        (b"GET /caf%C3%A9?secret HTTP/1.1\r\nHost: localhost\r\n", (408, "GET", "/café")),
        (head(9) + b"{", (408, "POST", "/v1/models/letters/predict")),  # would take the shortcut
        (head(90_000) + b"{", (408, "POST", "/v1/models/letters/predict")),
        (head(9, "X: " + "a" * LONGEST), (431, "POST", "/v1/models/letters/predict")),
        (b"\x16\x03\x01 not HTTP", (400, None, None)),
    ],
)
def test_refused_requests_are_logged_and_counted_once(
    model: Path,
    sent: bytes,
    expected: tuple[int, str | None, str | None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = serving(model, {"seconds": 0.1, "headers": LONGEST}, log_requests=True)

    async def refused(connection: Connection, transport: Transport) -> None:
        if sent:
            connection.data_received(sent)
        await until(lambda: "manylabel_requests_total{" in server.metrics.report([]))

    status = expected[0]
    found = talk(server, refused).sent
    assert found[0].startswith(b"HTTP/1.1 %d " % status)
    assert b"x-content-type-options: nosniff" in found[0]
    [line] = logged(capsys)
    assert (line["status"], line["method"], line["path"]) == expected
    assert line["client"] == "127.0.0.1"
    report = server.metrics.report([])
    assert report.count("manylabel_requests_total{") == 1
    assert f'status="{status}"}} 1\n' in report


def test_an_invalid_request_behind_another_one_does_not_take_its_answer(model: Path) -> None:
    async def two(connection: Connection, transport: Transport) -> None:
        connection.data_received(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nnot HTTP\r\n\r\n")
        await until(lambda: transport.is_closed or transport.has_ended)

    sent = b"".join(talk(serving(model), two).sent)
    assert [one[:3] for one in sent.split(b"HTTP/1.1 ")[1:]] == [b"200", b"400"]


# ---- while the models are loaded -------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [b"P", b"POST / HTTP/1.1\r\nContent-Length: 900\r\n\r\n"])
def test_a_client_that_sends_byte_by_byte_does_not_hold_up_a_server_that_loads_its_models(sent: bytes) -> None:
    with loading() as (server, _, waiting), socket.create_connection(("127.0.0.1", server.port)) as slow:
        slow.sendall(sent)
        time.sleep(0.1)
        ending = threading.Thread(target=waiting.end)
        ending.start()
        began = time.monotonic()
        while ending.is_alive() and time.monotonic() - began < 2:
            time.sleep(0.05)
            with contextlib.suppress(ConnectionError):
                slow.sendall(b"a")
        assert not ending.is_alive()


def test_requests_are_logged_and_counted_while_models_are_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    with loading(Log(None, as_json=True)) as (server, metrics, _):
        server.ask("GET", "/health")
        server.ask("POST", "/v1/models/letters%20a/predict?now", {"text": "secret"})
    lines = [(line["method"], line["path"], line["status"], line["client"]) for line in logged(capsys)]
    assert lines == [
        ("GET", "/health", 200, "127.0.0.1"),
        ("POST", "/v1/models/letters a/predict", 503, "127.0.0.1"),
    ]
    report = metrics.report([])
    for status in (200, 503):
        assert f'manylabel_requests_total{{route="other",status="{status}"}} 1\n' in report
