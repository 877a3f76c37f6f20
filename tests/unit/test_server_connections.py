"""The connection of a worker: short requests are answered at once, others in order; it is closed when unused."""

import asyncio
import re
import time
from pathlib import Path
from typing import cast

import pytest

from connected import Transport, talk, until
from manylabel.server.connections import Connection
from manylabel.server.jobs.store import JobStore
from served import InProcess, in_process, small_model


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> InProcess:
    return in_process({"letters": small_model(tmp_path_factory.mktemp("models") / "letters.manylabel")})


def request(text: str, *headers: str) -> bytes:
    body = f'{{"text": "{text}"}}'.encode()
    lines = ["POST /v1/models/letters/predict HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


def labels(transport: Transport) -> list[str]:
    return re.findall(r'"label":"(\w+)"', b"".join(transport.sent).decode())


def test_a_short_request_is_answered_in_one_piece_before_the_loop_turns(server: InProcess) -> None:
    async def one(connection: Connection, transport: Transport) -> None:
        sent = request("bus")
        connection.data_received(sent[:50])
        connection.data_received(sent[50:-3])
        assert transport.sent == []
        connection.data_received(sent[-3:])
        assert len(transport.sent) == 1

    found = talk(server, one)
    assert found.sent[0].startswith(b"HTTP/1.1 200 OK\r\n")
    assert labels(found) == ["buses"]


def test_pages_of_an_allowed_site_are_answered_with_the_headers_that_browsers_need(server: InProcess) -> None:
    allowed = in_process(
        {name: Path(file) for name, file in server.settings.models.items()}, origins=("https://a.example",)
    )

    async def two(connection: Connection, transport: Transport) -> None:
        connection.data_received(request("bus", "Origin: https://a.example"))
        await asyncio.sleep(0.05)
        connection.data_received(request("road"))

    sent = b"".join(talk(allowed, two).sent)
    assert sent.count(b"access-control-allow-origin: https://a.example\r\n") == 1
    assert sent.count(b"vary: Origin\r\n") == 2


@pytest.mark.parametrize("path", ["/health", "/ready", "/ping", "/v2/health/live", "/v2/health/ready"])
def test_probes_may_ask_with_head(server: InProcess, path: str) -> None:
    async def probe(connection: Connection, transport: Transport) -> None:
        for method in (b"GET", b"HEAD"):
            connection.data_received(b"%b %b HTTP/1.1\r\nHost: localhost\r\n\r\n" % (method, path.encode()))
        await until(lambda: b"".join(transport.sent).count(b"HTTP/1.1 200 OK") == 2)

    get, head = b"".join(talk(server, probe).sent).split(b"HTTP/1.1 200 OK\r\n")[1:]
    assert head.endswith(b"\r\n\r\n")
    assert get.startswith(head)
    assert len(get) > len(head)


def test_requests_that_arrive_together_are_answered_in_order(server: InProcess) -> None:
    async def three(connection: Connection, transport: Transport) -> None:
        connection.data_received(request("bus") + request("road") + request("lamp"))
        assert labels(transport) == ["buses"]
        await asyncio.sleep(0.05)

    assert labels(talk(server, three)) == ["buses", "roads", "lamps"]


def test_answers_wait_for_a_client_that_does_not_read(server: InProcess) -> None:
    async def slow(connection: Connection, transport: Transport) -> None:
        connection.pause_writing()
        connection.data_received(request("bus"))
        await asyncio.sleep(0.05)
        assert transport.sent == []
        connection.resume_writing()
        await asyncio.sleep(0.05)

    assert labels(talk(server, slow)) == ["buses"]


def test_a_client_can_ask_for_the_end_of_the_connection(server: InProcess) -> None:
    async def last(connection: Connection, transport: Transport) -> None:
        connection.data_received(request("bus", "Connection: close"))

    found = talk(server, last)
    assert found.is_closed
    assert b"connection: close" in found.sent[0]


def test_a_connection_that_is_not_used_is_closed(server: InProcess) -> None:
    async def idle(connection: Connection, transport: Transport) -> None:
        connection.timeout_keep_alive = cast(int, 0.2)
        connection.data_received(request("bus"))
        await asyncio.sleep(0.05)
        began = time.monotonic()
        connection.data_received(request("road"))
        while not transport.is_closed:
            await asyncio.sleep(0.01)
        assert time.monotonic() - began >= 0.2  # from the last request on, not from the first

    assert labels(talk(server, idle)) == ["buses", "roads"]


def test_an_upload_may_take_long_as_long_as_pieces_of_it_arrive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    JobStore(tmp_path).prepare()
    server = in_process({}, {"seconds": cast(int, 0.3)}, data=str(tmp_path))

    async def slow(connection: Connection, transport: Transport) -> None:
        connection.data_received(b"PUT /v1/data/letters.csv HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n")
        for _ in range(4):
            await asyncio.sleep(0.15)
            connection.data_received(b"a")
        assert not transport.is_closed
        await asyncio.sleep(0.5)
        assert transport.has_ended

    assert talk(server, slow).sent[0].startswith(b"HTTP/1.1 408 ")
    assert capsys.readouterr().err == ""  # no error inside manylabel


def test_a_refused_upload_cannot_hold_its_connection(tmp_path: Path) -> None:
    JobStore(tmp_path).prepare()
    limits = {"seconds": cast(int, 0.3)}
    server = in_process({}, limits, data=str(tmp_path), token="a-token-of-some-length")

    async def slow(connection: Connection, transport: Transport) -> None:
        connection.data_received(b"PUT /v1/data/letters.csv HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
        for _ in range(4):
            await asyncio.sleep(0.15)
            if not transport.is_closed:
                connection.data_received(b"a")
        assert transport.is_closed

    assert talk(server, slow).sent[0].startswith(b"HTTP/1.1 401 ")


def test_what_was_begun_when_the_server_stops_is_answered(server: InProcess) -> None:
    async def stopping(connection: Connection, transport: Transport) -> None:
        sent = request("bus")
        connection.data_received(sent[:-3])
        connection.shutdown()
        await asyncio.sleep(0.3)
        assert not transport.is_closed
        connection.data_received(sent[-3:])
        assert transport.is_closed

    assert labels(talk(server, stopping)) == ["buses"]


@pytest.mark.parametrize("sent", [request("bus"), b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"])
def test_answers_tell_clients_that_the_server_stops(server: InProcess, sent: bytes) -> None:
    async def on_its_way(connection: Connection, transport: Transport) -> None:
        connection.shutdown()
        connection.data_received(sent)
        await until(lambda: transport.is_closed)

    async def in_flight(connection: Connection, transport: Transport) -> None:
        connection.data_received(sent[:-1])
        connection.data_received(sent[-1:])
        connection.shutdown()
        await until(lambda: transport.is_closed)

    assert b"\r\nconnection: close\r\n" in b"".join(talk(server, on_its_way).sent)
    if sent.startswith(b"GET"):  # others are answered at once
        assert b"\r\nconnection: close\r\n" in b"".join(talk(server, in_flight).sent)


def test_a_fault_takes_the_long_way_and_is_logged_once(
    server: InProcess, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr("manylabel.tasks.serving.ServedModel.predict", broken)

    async def one(connection: Connection, transport: Transport) -> None:
        connection.data_received(request("bus"))
        await asyncio.sleep(0.05)

    assert talk(server, one).sent[0].startswith(b"HTTP/1.1 500")
    assert capsys.readouterr().err.count('"a fault"') == 1


@pytest.mark.parametrize("step", [1, 50, 10_000])
def test_a_client_that_would_like_http_2_is_answered_with_its_body_read(server: InProcess, step: int) -> None:
    wishes = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEAAEAA"]

    async def two(connection: Connection, transport: Transport) -> None:
        sent = request("bus", *wishes) + request("road")
        for start in range(0, len(sent), step):
            connection.data_received(sent[start : start + step])
            await asyncio.sleep(0)
        await asyncio.sleep(0.05)

    found = talk(server, two)
    assert labels(found) == ["buses", "roads"]
    assert b"".join(found.sent).count(b"HTTP/1.1 200 OK") == 2
