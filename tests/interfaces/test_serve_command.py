"""``manylabel serve``: a real server, its workers, and clients that exist."""

import contextlib
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from annif_client import AnnifClient

from manylabel.cli.run import run
from manylabel.server.jobs.store import JobStore
from served import LABELS, Running, running, small_model

PREDICT = "/v1/models/letters/predict"
PAUSE = 0.005
"""Seconds between two requests of a client: eight of them are load enough, and leave a core to the workers."""


@pytest.fixture(scope="module")
def systemd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[socket.socket]:
    """The socket on which systemd listens for what the server of this module tells it."""
    place = tmp_path_factory.mktemp("systemd") / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening, pytest.MonkeyPatch.context() as patch:
        listening.bind(str(place))
        listening.settimeout(10)
        patch.setenv("NOTIFY_SOCKET", str(place))
        yield listening


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, systemd: socket.socket) -> Iterator[Running]:
    model = small_model(tmp_path_factory.mktemp("models") / "letters.manylabel")
    with running(str(model), "--limit", "seconds=1", "--limit", "headers=4k", "--workers", "2") as started:
        yield started


def head_of(length: int) -> bytes:
    """The head of a request whose body has some length."""
    lines = [
        f"POST {PREDICT} HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {length}",
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def test_systemd_is_told_when_the_server_is_ready(server: Running, systemd: socket.socket) -> None:
    assert systemd.recv(100) == b"READY=1"
    assert server.ask("GET", "/ready").status == 200


def test_annif_client_works_unchanged(server: Running) -> None:
    client = AnnifClient(f"{server.url}/v1/")
    assert client.api_info["title"] == "manylabel"
    assert [one["project_id"] for one in client.projects] == ["letters"]
    assert client.get_project("letters")["backend"]["backend_id"] == "nb-binary"
    assert client.suggest("letters", "the bus is late", limit=1)[0]["label"] == "buses"
    documents = [{"document_id": "x", "text": "a bad road"}]
    [answer] = client.suggest_batch("letters", documents, limit=2, threshold=0.01)
    assert (answer["document_id"], answer["results"][0]["label"]) == ("x", "roads")
    found = client.detect_language("The bus was late again and nobody told us why.", ["en", "fi"])
    assert found["results"][0]["language"] == "en"
    with pytest.raises(ValueError, match="There is no model 'other'"):
        client.get_project("other")


@pytest.mark.skipif(sys.platform != "linux", reason="memory without a name is Linux's")
def test_workers_share_one_copy_of_a_model(server: Running) -> None:
    mapped = [
        set(re.findall(r"(\d+) +/memfd:manylabel", Path(f"/proc/{worker}/maps").read_text()))
        for worker in server.workers()
    ]
    assert len(mapped) == 2
    assert mapped[0] == mapped[1]
    assert len(mapped[0]) == 1


def test_a_slow_request_is_refused(server: Running) -> None:
    for sent in (
        b"",
        b"GET /health HTTP/1.1\r\n",
        head_of(9) + b"{",
    ):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.sendall(sent)
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
        assert answer.startswith(b"HTTP/1.1 408 ")


def test_long_headers_and_other_protocols_are_refused(server: Running) -> None:
    for sent, status in (
        (b"GET /health HTTP/1.1\r\nx: " + b"a" * 5000, b"431"),
        (b"\x16\x03\x01 not HTTP\r\n\r\n", b"400"),
        (b"GET /caf\xe9 HTTP/1.1\r\n\r\n", b"400"),
    ):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.sendall(sent)
            assert connection.recv(4096).startswith(b"HTTP/1.1 " + status)
    assert server.ask("GET", "/health").status == 200


def test_requests_arrive_in_any_pieces_and_are_answered_in_order(server: Running) -> None:
    whole = [head_of(len(body)) + body for body in (b'{"text": "bus"}', b'{"text": "road"}', b'{"text": "lamp"}')]
    chunked = (
        head_of(0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") + b'8\r\n{"text":\r\n5\r\n"bus"\r\n'
    )
    last = whole[1].replace(b"Host", b"Connection: close\r\nHost")
    pieces = [b"".join(whole), whole[0][:40], whole[0][40:-5], whole[0][-5:], chunked, b"1\r\n}\r\n0\r\n\r\n", last]
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(0.05)
        answers = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert answers.count(b"HTTP/1.1 200 OK") == 6
    assert re.findall(rb'"label":"(\w+)"', answers) == [b"buses", b"roads", b"lamps", b"buses", b"buses", b"roads"]
    assert re.findall(rb"connection: \w+", answers) == [b"connection: close"]


def test_a_client_that_waits_for_100_or_speaks_http_1_0_is_served(server: Running) -> None:
    body = b'{"text": "bus"}'
    for old, new, first in ((b"Host", b"Expect: 100-continue\r\nHost", b"100"), (b"HTTP/1.1", b"HTTP/1.0", b"200")):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.sendall(head_of(len(body)).replace(old, new))
            if first == b"200":
                connection.sendall(body)
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 " + first)
            if first == b"100":
                connection.sendall(body)
                assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")


def test_a_killed_worker_is_replaced_and_the_others_go_on(server: Running) -> None:
    before = server.workers()
    stop, lost, wrong = threading.Event(), [0] * 8, [0] * 8

    def ask(number: int) -> None:
        """Ask on one connection; where it is lost, ask again on another one."""
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        while not stop.is_set():
            try:
                connection.request("POST", PREDICT, b'{"text": "bus"}', {"Content-Type": "application/json"})
                response = connection.getresponse()
                wrong[number] += response.status != 200 or b"buses" not in response.read()
            except (OSError, http.client.HTTPException):
                lost[number] += 1
                connection.close()
            time.sleep(PAUSE)
        connection.close()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(0.2)
        os.kill(before[0], signal.SIGKILL)
        deadline = time.monotonic() + 30
        shown: list[str] = []
        while not {"manylabel_workers_ready 2", "manylabel_worker_restarts_total 1"} <= set(shown):
            assert time.monotonic() < deadline, shown
            time.sleep(0.05)
            shown = server.ask("GET", "/metrics").body.decode().splitlines()
        assert before[0] not in server.workers()
    finally:  # clients that go on asking would take the time of all tests that follow
        stop.set()
        for thread in threads:
            thread.join()
    assert sum(wrong) == 0
    assert max(lost) <= 1  # a connection of the killed worker is lost once, those of the other one never


def test_replacing_a_model_under_load_fails_no_request_and_mixes_no_versions(tmp_path: Path) -> None:
    labels = {"old": ["old-bus", "old-road"], "new": ["new-bus", "new-road"]}
    files = {}
    for name, (bus, road) in labels.items():
        files[name] = small_model(tmp_path / f"{name}.manylabel", [[bus], [road], [bus, road], [bus, road]])
    served = tmp_path / "letters.manylabel"
    served.write_bytes(files["old"].read_bytes())
    seen: set[tuple[str, str]] = set()
    problems: list[object] = []
    with running(str(served), "--workers", "2") as server:
        stop = threading.Event()

        def ask() -> None:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
            while not stop.is_set():
                connection.request(
                    "POST", PREDICT, b'{"documents": ["bus", "road", "bus road"]}', {"Content-Type": "application/json"}
                )
                response = connection.getresponse()
                answer = json.loads(response.read())
                ages = {label["label"][:3] for one in answer.get("predictions", []) for label in one["labels"]}
                if response.status != 200 or len(ages) != 1:
                    problems.append(answer)
                else:
                    seen.add((ages.pop(), answer["sha256"]))
                time.sleep(PAUSE)
            connection.close()

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for name in ("new", "old", "new"):
            copy = tmp_path / "copy"
            copy.write_bytes(files[name].read_bytes())
            copy.replace(served)
            reloaded = server.ask("POST", "/v1/models/letters/reload")
            assert reloaded.status == 200
            for _ in range(8):  # each worker answers with the new version once the reload was answered
                found = server.ask("POST", PREDICT, {"text": "bus"}).json()
                assert found["sha256"] == reloaded.json()["sha256"]
                assert found["predictions"][0]["labels"][0]["label"] == f"{name}-bus"
        served.write_bytes(b"damaged")
        assert server.ask("POST", "/v1/models/letters/reload").status == 409
        stop.set()
        for thread in threads:
            thread.join()
    assert problems == []
    assert {age for age, _ in seen} == {"old", "new"}
    assert len(seen) == 2


def test_requests_in_flight_finish_when_the_server_stops(tmp_path: Path) -> None:
    model = small_model(tmp_path / "letters.manylabel")
    with running(str(model)) as server, socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        body = json.dumps({"documents": ["the bus on the road"] * 900}).encode()
        connection.sendall(head_of(len(body)) + body[:-1])
        time.sleep(0.2)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        connection.sendall(body[-1:])
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert answer.count(b'"labels"') == 900
        assert server.process.wait(10) == 0
        assert server.process.stderr is not None
        assert "the server was told to stop" in server.process.stderr.read()


def test_what_cannot_be_served_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = str(small_model(tmp_path / "letters.manylabel"))

    def refused(*arguments: str) -> str:
        assert run(["serve", *arguments]) == 2
        return capsys.readouterr().err

    assert "Give the model files to serve, or --demo" in refused()
    assert "there is no such model file" in refused(str(tmp_path / "none.manylabel"))
    assert "needs a token" in refused(model, "--host", "0.0.0.0")
    assert "this is a file. Give a directory" in refused("--data", model)
    mistyped = tmp_path / "reveiws" / "letters"
    assert f"there is no folder {mistyped.parent}, in which to make it" in refused("--data", str(mistyped))
    assert not mistyped.parent.exists()
    assert "--origin *: an origin is the scheme" in refused(model, "--origin", "*")
    assert "openssl rand -hex 32 >" in refused(model, "--token", str(tmp_path / "none"))
    with monkeypatch.context() as patched:
        patched.setenv("MANYLABEL_THREADS", "abc")
        assert "MANYLABEL_THREADS is a number of threads, 1 or more, not 'abc'" in refused(model, "--port", "0")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "Cannot listen on 127.0.0.1" in refused(model, "--port", str(taken.getsockname()[1]))


def test_bench_server_measures_a_running_server(server: Running, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--model", "letters", "--seconds", "0.5", "--connections", "4", "--json"]
    assert run(["bench-server", server.url, *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["failures"] == {}
    assert found["requests"] == pytest.approx(found["requests_per_second"] * found["seconds"])
    assert 0 < found["milliseconds"]["p50"] <= found["milliseconds"]["p99"] <= found["milliseconds"]["max"]
    assert run(["bench-server", server.url, *options, "--model", "other"]) == 2
    assert "all of the first requests failed: the status 404. It serves no model 'other'" in capsys.readouterr().err
    assert run(["bench-server", "https://x"]) == 2
    assert "http://HOST:PORT" in capsys.readouterr().err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    assert run(["bench-server", f"http://127.0.0.1:{free}"]) == 2
    assert "cannot reach the server" in capsys.readouterr().err


def test_bench_server_leaves_failures_out_of_the_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, token = small_model(tmp_path / "letters.manylabel"), tmp_path / "token"
    token.write_text("x" * 32)
    long = tmp_path / "mixed.csv"
    long.write_text("text\n" + f"bus\n{'late bus ' * 20}\n" * 2)
    options = ["--model", "letters", "--data", str(long), "--seconds", "0.5", "--connections", "2", "--json"]
    with running(str(model), "--token", str(token), "--limit", "characters=100") as server:
        assert run(["bench-server", server.url, *options, "--token", str(token)]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["failures"].keys() == {"413"}
        assert found["failures"]["413"] == pytest.approx(found["requests"] / 2, abs=4)
        assert found["requests_per_second"] * found["seconds"] == pytest.approx(found["requests"] / 2, abs=4)
        assert run(["bench-server", server.url, *options]) == 2
        assert "the status 401. Give the token of the server with --token FILE." in capsys.readouterr().err


def test_accepted_jobs_outlive_a_killed_server_and_its_workers_do_not(tmp_path: Path) -> None:
    data = tmp_path / "data"
    letters = b"text,labels\n" + b"late bus,buses\nbad road,roads\n" * 8
    with running("--data", str(data)) as server:
        assert f" The folder {data} is new." in server.said
        [worker] = server.workers()
        assert server.ask("PUT", "/v1/data/letters.csv", letters).status == 200
        first = server.ask("POST", "/v1/jobs", {"kind": "evaluate", "data": "townhall"}).json()["id"]
        asked = {"kind": "train", "data": "letters", "model": "letters", "method": "nb-binary"}
        second = server.ask("POST", "/v1/jobs", asked).json()["id"]
        while server.ask("GET", f"/v1/jobs/{first}").json()["state"] == "queued":
            time.sleep(0.05)
        accepted: list[str] = [first, second]

        def add_jobs() -> None:
            with contextlib.suppress(OSError, http.client.HTTPException):  # the server is gone
                while True:
                    accepted.append(server.ask("POST", "/v1/jobs", asked).json()["id"])

        threads = [threading.Thread(target=add_jobs) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        server.process.kill()
        server.process.wait()
        for thread in threads:
            thread.join()
        deadline = time.monotonic() + 10
        while Path(f"/proc/{worker}").exists() and "Z" not in Path(f"/proc/{worker}/stat").read_text().split()[2]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    with running("--data", str(data)) as server:
        known = {one["id"] for one in server.ask("GET", "/v1/jobs?limit=1000").json()["jobs"]}
        assert known >= set(accepted)
        assert len(accepted) > 2
        interrupted = server.ask("GET", f"/v1/jobs/{first}").json()
        assert (interrupted["state"], interrupted["attempt"]) == ("interrupted", 1)
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("GET", f"/v1/jobs/{second}/events")
        events = connection.getresponse().read().decode()  # ends with the job
        connection.close()
        assert events.rstrip().rpartition("\n\n")[2].startswith('event: end\ndata: {"state": "done"')
        answer = server.ask("POST", PREDICT, {"text": "late bus"})
        assert answer.json()["predictions"][0]["labels"][0]["label"] == "buses"
        assert server.ask("POST", f"/v1/jobs/{first}/resume").json()["state"] in ("queued", "running")
        assert list((data / "models").iterdir()) == [data / "models" / "letters.manylabel"]


def test_a_second_server_on_a_data_directory_is_refused_until_the_first_one_is_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    with running("--data", str(data), "--workers", "2") as server:
        store = JobStore(data)
        job = store.add("evaluate", {"kind": "evaluate", "data": "townhall"}, 1) or {}
        while (store.get(job["id"]) or {})["state"] == "queued":
            time.sleep(0.05)
        for more in ([], ["--demo"]):
            assert run(["serve", "--data", str(data), "--port", "0", *more]) == 2
            printed = capsys.readouterr().err
            assert printed.startswith(f"manylabel: --data {data}: another server uses this directory; stop it first")
            assert printed.count("\n") == 1
        assert (store.get(job["id"]) or {})["state"] != "interrupted"
        server.process.kill()
        server.process.wait()
    with running("--data", str(data)) as server:
        assert "is new" not in server.said
        assert server.ask("GET", "/ready").status == 200


def test_a_job_is_done_when_all_workers_serve_its_model_and_one_is_withdrawn_with_its_file(tmp_path: Path) -> None:
    letters = b"text,labels\n" + b"late bus,buses\nbad road,roads\n" * 8
    with running("--data", str(tmp_path), "--workers", "2") as server:
        server.ask("PUT", "/v1/data/letters.csv", letters)
        for name in ("first", "second"):
            asked = {"kind": "train", "data": "letters", "model": name, "method": "nb-binary"}
            job = server.ask("POST", "/v1/jobs", asked).json()["id"]
            while (state := server.ask("GET", f"/v1/jobs/{job}").json()["state"]) != "done":
                assert state in ("queued", "running")
                time.sleep(0.1)
            for _ in range(8):
                assert server.ask("POST", f"/v1/models/{name}/predict", {"text": "late bus"}).status == 200
        removed = tmp_path / "models" / "second.manylabel"
        kept = removed.read_bytes()
        removed.unlink()
        assert server.ask("POST", "/v1/models/second/reload").status == 404
        for _ in range(8):
            refused = server.ask("POST", "/v1/models/second/predict", {"text": "late bus"})
            assert (refused.status, "its file was removed" in refused.json()["detail"]) == (404, True)
        removed.with_name("third.manylabel").write_bytes(kept)  # noticed without being asked
        deadline = time.monotonic() + 10
        while len(server.ask("GET", "/v1/models").json()["models"]) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_links_on_the_path_of_a_model_are_followed_at_each_look(tmp_path: Path) -> None:
    old, new = tmp_path / "release-1", tmp_path / "release-2"
    for release, labels in ((old, LABELS), (new, LABELS[::-1])):
        release.mkdir()
        small_model(release / "letters.manylabel", labels)
    folder, file = tmp_path / "current", tmp_path / "latest.manylabel"
    folder.symlink_to(old.name)
    file.symlink_to("release-1/letters.manylabel")
    with running(str(folder / "letters.manylabel"), str(file)) as server:
        for link, target in ((folder, new), (file, new / "letters.manylabel")):
            (tmp_path / "swapped").symlink_to(target)
            (tmp_path / "swapped").replace(link)
        shutil.rmtree(old)
        expected = hashlib.sha256((new / "letters.manylabel").read_bytes()).hexdigest()
        for name in ("letters", "latest"):
            reloaded = server.ask("POST", f"/v1/models/{name}/reload")
            assert (reloaded.status, reloaded.json().get("sha256")) == (200, expected), reloaded.json()
        assert server.ask("GET", "/ready").status == 200


def test_connections_beyond_the_limit_of_open_files_are_refused(tmp_path: Path) -> None:
    with running(str(small_model(tmp_path / "letters.manylabel")), "--workers", "1", files=64) as server:
        held = [socket.create_connection(("127.0.0.1", server.port), timeout=20) for _ in range(32)]
        for connection in held:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert connection.recv(4096).startswith(b"HTTP/1.1 200 OK")
        for _ in range(40):  # each is closed after its answer, and so never more than a few are open
            refused = server.ask("POST", PREDICT, {"text": "late bus " * 20_000})
            assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert "too many open connections" in refused.json()["detail"]
        assert server.process.stderr is not None
        printed = next(line for line in server.process.stderr if "connections are open" in line)
        assert "32 connections are open, and further ones are refused. Allow the server more open files" in printed
        for connection in held:
            connection.close()
        deadline = time.monotonic() + 10
        while server.ask("POST", PREDICT, {"text": "late bus"}).status != 200:
            assert time.monotonic() < deadline
