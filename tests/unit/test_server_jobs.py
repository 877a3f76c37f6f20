"""The queue of jobs: what is accepted is kept, run within limits, and can be cancelled and resumed."""

import errno
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from manylabel.exceptions import ManylabelError, MissingDataError, ParameterError
from manylabel.progress import stage
from manylabel.server.jobs import run as job_process
from manylabel.server.jobs.schedule import Running, Scheduler
from manylabel.server.jobs.store import FULL, JobStore
from manylabel.server.logs import Log
from manylabel.server.settings import Limits
from manylabel.server.shortage import DISK_FULL
from served import InProcess, in_process

LETTERS = b"id,text,labels\n" + b"".join(
    b"%d,%s,%s\n" % (number, text, label)
    for number, (text, label) in enumerate(
        [(b"late bus", b"buses"), (b"bad road", b"roads"), (b"dark lamp", b"lamps")] * 8
    )
)
TRAIN = {"kind": "train", "data": "letters", "model": "mine", "method": "nb-binary"}


@pytest.fixture
def store(tmp_path: Path) -> JobStore:
    made = JobStore(tmp_path / "data")
    made.prepare()
    (made.uploads / "letters.csv").write_bytes(LETTERS)
    return made


def test_jobs_of_a_later_format_are_refused(store: JobStore) -> None:
    with sqlite3.connect(store.folder / "jobs.sqlite") as database:
        assert database.execute("PRAGMA user_version").fetchone()[0] == 1
        database.execute("PRAGMA user_version = 0")  # before formats were numbered
    database.close()
    store.prepare()
    with sqlite3.connect(store.folder / "jobs.sqlite") as database:
        assert database.execute("PRAGMA user_version").fetchone()[0] == 1
        database.execute("PRAGMA user_version = 7")
    database.close()
    with pytest.raises(ParameterError, match=r"later version of manylabel: their format is 7, and .* up to 1\."):
        store.prepare()


@pytest.fixture
def server(store: JobStore) -> InProcess:
    return in_process({}, {"upload": 2_000, "queue": 2}, data=str(store.folder))


def until(holds: Callable[[], bool], scheduler: Scheduler, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        scheduler.step()
        time.sleep(0.02)


def scheduler_of(store: JobStore, **limits: int) -> Scheduler:
    return Scheduler(store, 1, Limits(**limits), Log(None, as_json=True))


def test_a_job_is_accepted_run_and_its_model_served(server: InProcess, store: JobStore) -> None:
    accepted = server.ask("POST", "/v1/jobs", TRAIN)
    assert (accepted.status, accepted.json()["state"]) == (202, "queued")
    address = f"/v1/jobs/{accepted.json()['id']}"
    scheduler = scheduler_of(store)
    until(lambda: server.ask("GET", address).json()["state"] == "done", scheduler)
    scheduler.stop()
    whole = server.ask("GET", "/v1/models/mine/file")
    assert whole.body == store.model_path("mine").read_bytes()
    assert server.ask("GET", "/v1/models/yours/file").status == 404
    done = server.ask("GET", address).json()
    assert (done["attempt"], done["error"], done["result"]["model"], done["result"]["documents"]) == (
        1,
        None,
        "mine",
        24,
    )
    assert server.refresh() == [True]
    answer = server.ask("POST", "/v1/models/mine/predict", {"text": "late bus"}).json()
    assert answer["predictions"][0]["labels"][0]["label"] == "buses"
    assert b"letters" in server.ask("GET", f"{address}/log").body
    events = server.ask("GET", f"{address}/events")
    assert events.headers["content-type"].startswith("text/event-stream")
    assert events.body.startswith(b'event: end\ndata: {"state": "done"')
    assert [one["id"] for one in server.ask("GET", "/v1/jobs?state=done").json()["jobs"]] == [done["id"]]


@pytest.mark.parametrize(
    "request_body",
    [
        {"kind": "evaluate", "data": "letters", "method": "nb-binary"},
        {"kind": "compare", "data": "letters", "methods": ["nb-binary", "rocchio"]},
        {"kind": "audit", "data": "letters"},
    ],
)
def test_methods_are_evaluated_and_compared_and_labels_audited(
    server: InProcess, store: JobStore, request_body: dict[str, object]
) -> None:
    identifier = server.ask("POST", "/v1/jobs", request_body).json()["id"]
    assert store.take() is not None
    assert job_process.run(store, identifier) == 0
    result = server.ask("GET", f"/v1/jobs/{identifier}").json()["result"]
    if request_body["kind"] == "evaluate":
        assert result["results"][0]["metrics"]
    elif request_body["kind"] == "audit":
        assert result["documents"] == 24
    else:
        assert {one["method"] for one in result["leaderboard"]} == {"nb-binary", "rocchio"}


@pytest.mark.parametrize(
    ("request_body", "status", "words"),
    [
        ({"kind": "train", "data": "letters"}, 422, "needs 'model'"),
        ({"kind": "train", "data": "other", "model": "m"}, 422, "Known: townhall, letters"),
        ({"kind": "train", "data": "../../etc/passwd", "model": "m"}, 422, "digits, - and _ only"),
        ({"kind": "train", "data": "letters", "model": "../m"}, 422, "found: '../m'"),
        ({"kind": "delete", "data": "letters"}, 422, "kind"),
        ({"kind": "evaluate", "data": "letters", "model": "mine"}, 422, "There is no model 'mine'. Known: none"),
        ({"kind": "labels", "data": "letters", "model": "mine"}, 422, "There is no model 'mine'. Known: none"),
        ({"kind": "train", "data": "letters", "model": "m", "path": "/"}, 422, "path"),
    ],
)
def test_wrong_jobs_are_refused(server: InProcess, request_body: object, status: int, words: str) -> None:
    answer = server.ask("POST", "/v1/jobs", request_body)
    assert answer.status == status
    assert words in answer.json()["detail"]
    assert server.ask("GET", "/v1/jobs").json() == {"jobs": []}


def test_a_job_may_need_a_model_that_another_job_writes(server: InProcess, store: JobStore) -> None:
    evaluate = {"kind": "evaluate", "data": "letters", "model": "mine"}
    assert server.ask("POST", "/v1/jobs", TRAIN).status == 202
    assert server.ask("POST", "/v1/jobs", evaluate).status == 202
    for job in store.list(None, 2):
        store.cancel(job["id"])
    assert server.ask("POST", "/v1/jobs", evaluate).status == 422


def test_a_queue_of_one_is_counted_in_the_singular(store: JobStore) -> None:
    server = in_process({}, {"queue": 1}, data=str(store.folder))
    answers = [server.ask("POST", "/v1/jobs", TRAIN) for _ in range(2)]
    assert answers[1].json()["detail"] == "1 job waits already. Try again later."


def test_a_full_queue_says_when_to_try_again(server: InProcess) -> None:
    assert [server.ask("POST", "/v1/jobs", TRAIN).status for _ in range(3)] == [202, 202, 429]
    assert server.ask("POST", "/v1/jobs", TRAIN).headers["retry-after"] == "60"
    assert server.ask("GET", "/v1/jobs/0123456789abcdef").status == 404


def test_a_job_that_cannot_be_done_says_why(server: InProcess, store: JobStore) -> None:
    found = store.add("train", {**TRAIN, "method": "nb-binry"}, 10)
    assert found is not None
    identifier = found["id"]
    store.take()
    assert job_process.run(store, identifier) == 2
    failed = server.ask("GET", f"/v1/jobs/{identifier}").json()
    assert failed["state"] == "failed"
    assert "nb-binary" in failed["error"]


def test_a_waiting_job_is_cancelled_and_resumed(server: InProcess, store: JobStore) -> None:
    identifier = server.ask("POST", "/v1/jobs", TRAIN).json()["id"]
    assert server.ask("POST", f"/v1/jobs/{identifier}/cancel").json()["state"] == "cancelled"
    assert store.take() is None
    assert server.ask("POST", f"/v1/jobs/{identifier}/resume").json()["state"] == "queued"
    assert server.ask("POST", f"/v1/jobs/{identifier}/resume").status == 409
    assert server.ask("GET", f"/v1/jobs/{identifier}").json()["remark"] is None  # it has not run before


def test_previews_do_not_wait_for_long_jobs(store: JobStore) -> None:
    kinds = ("train", "train", "preview", "preview")
    first, second, preview, other = [(store.add(kind, {"data": "letters"}, 10) or {})["id"] for kind in kinds]
    scheduler = scheduler_of(store)
    try:
        scheduler.step()
        states = [(store.get(one) or {})["state"] for one in (first, second, preview, other)]
        assert states == ["running", "queued", "running", "queued"]
    finally:
        scheduler.stop()


def test_a_running_job_reports_progress_and_stops_when_told(store: JobStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_process, "PAUSE", 0.0)
    added = store.add("train", TRAIN, 10)
    assert added is not None
    store.take()
    seen = []

    def work(*_: object) -> dict[str, object]:
        with stage("Training", 3) as advance:
            advance(1)
            job = store.get(added["id"])
            assert job is not None
            seen.append(job["progress"])
            store.cancel(added["id"])
            advance(1)
        raise AssertionError

    assert job_process.run(store, added["id"], work) == job_process.STOPPED
    assert seen == [{"stages": [{"stage": "Training", "done": 1, "total": 3}], "figures": {}}]
    ended = store.get(added["id"])
    assert ended is not None
    assert ended["state"] == "cancelled"


def test_stages_of_one_name_may_nest(store: JobStore, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[object] = []
    monkeypatch.setattr(store, "report", lambda identifier, progress: reported.append(progress["stages"]))
    reporter = job_process.Reporter(store, "some job")
    reporter.started("Scoring", 2)
    reporter.started("Scoring", 3)
    reporter.advanced("Scoring", 1)
    reporter.finished("Scoring")
    reporter.reported = 0.0
    reporter.advanced("Scoring", 1)
    assert reported[-1] == [{"stage": "Scoring", "total": 2, "done": 1}]


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [(MemoryError(), 2, "--limit job_megabytes"), (ZeroDivisionError("x"), 1, "ZeroDivisionError: x")],
)
def test_faults_are_kept_with_the_job(store: JobStore, error: Exception, code: int, words: str) -> None:
    added = store.add("train", TRAIN, 10)
    assert added is not None
    store.take()

    def work(*_: object) -> dict[str, object]:
        raise error

    assert job_process.run(store, added["id"], work) == code
    assert words in (store.get(added["id"]) or {})["error"]


def test_a_job_without_memory_for_its_store_names_the_limit(store: JobStore) -> None:
    """SQLite maps files into memory, which fails within so low a limit."""
    added = store.add("train", TRAIN, 10)
    assert added is not None
    scheduler = scheduler_of(store, job_megabytes=64)
    until(lambda: (store.get(added["id"]) or {})["state"] not in ("queued", "running"), scheduler)
    scheduler.stop()
    ended = store.get(added["id"]) or {}
    assert ended["state"] == "failed"
    assert "its limit of 64 MiB. Start the server with a higher --limit job_megabytes=…" in ended["error"]


def disk_full(*_: object, **__: object) -> None:
    """What SQLite raises where the disk is full."""
    with sqlite3.connect(":memory:") as database:
        database.execute("PRAGMA max_page_count = 1")
        database.execute("CREATE TABLE one (value)")


def no_space(*_: object, **__: object) -> None:
    """What the system raises where the disk is full."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_named_in_answers_and_logged_once(
    server: InProcess, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(JobStore, "add", disk_full)
    monkeypatch.setattr(JobStore, "keep_upload", disk_full)
    for answer in (server.ask("POST", "/v1/jobs", TRAIN), server.ask("PUT", "/v1/data/more.csv", LETTERS)):
        assert (answer.status, answer.headers["content-type"]) == (507, "application/problem+json")
        assert "disk of the server's data folder is full" in answer.json()["detail"]
    [logged] = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert (logged["event"], logged["level"], logged["path"]) == ("disk_full", "error", "/v1/jobs")
    assert "traceback" not in logged
    assert 'status="507"} 1' in server.ask("GET", "/metrics").body.decode()


def test_an_error_inside_is_a_problem(server: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JobStore, "list", lambda *_, **__: 1 / 0)
    answer = server.ask("GET", "/v1/jobs")
    assert (answer.status, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "The log has the details" in answer.json()["detail"]


def test_the_scheduler_survives_a_full_disk(
    store: JobStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    added = store.add("train", TRAIN, 10)
    assert added is not None
    scheduler = scheduler_of(store)
    with monkeypatch.context() as patched:
        patched.setattr(JobStore, "prepare", disk_full)
        with pytest.raises(ManylabelError, match="disk"):
            scheduler_of(store)
        patched.setattr(JobStore, "take", disk_full)
        for _ in range(2):
            scheduler.looked = 0.0
            scheduler.step()
    assert capsys.readouterr().err.count("disk_full") == 1
    until(lambda: (store.get(added["id"]) or {})["state"] == "done", scheduler)
    scheduler.stop()


def test_a_job_that_cannot_keep_its_end_is_ended_by_the_scheduler(
    store: JobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = store.add("train", TRAIN, 10)
    assert added is not None
    store.take()
    with monkeypatch.context() as patched:
        patched.setattr(JobStore, "end", disk_full)
        assert job_process.run(store, added["id"], disk_full) == FULL  # type: ignore[arg-type]
    scheduler = scheduler_of(store)
    store.resume(added["id"])
    scheduler.running[added["id"]] = Running(subprocess.Popen([sys.executable, "-c", f"exit({FULL})"]), False, 0.0)
    store.take()
    until(lambda: not scheduler.running, scheduler)
    assert (store.get(added["id"]) or {})["error"] == DISK_FULL


def test_a_job_that_died_on_a_full_disk_names_the_disk_also_when_there_is_space_again(
    store: JobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process may end in any way, such as by the signal for a mapped file that cannot grow."""
    added = store.add("train", TRAIN, 10) or {}
    scheduler = scheduler_of(store)
    store.take()
    died = subprocess.Popen([sys.executable, "-c", "import os; os.kill(os.getpid(), 7)"])
    scheduler.running[added["id"]] = Running(died, False, time.monotonic())
    died.wait()
    with monkeypatch.context() as patched:
        patched.setattr(tempfile, "TemporaryFile", no_space)
        patched.setattr(JobStore, "end", disk_full)
        scheduler.step()
    scheduler.looked = 0.0
    scheduler.step()
    ended = store.get(added["id"]) or {}
    assert (ended["state"], ended["error"]) == ("failed", DISK_FULL)


def test_a_killed_or_slow_process_is_noticed(store: JobStore) -> None:
    slow = store.add("evaluate", {"kind": "evaluate", "data": "townhall"}, 10)
    killed = store.add("evaluate", {"kind": "evaluate", "data": "townhall"}, 10)
    assert slow is not None
    assert killed is not None
    scheduler = scheduler_of(store, job_seconds=1)
    until(lambda: (store.get(slow["id"]) or {})["state"] == "failed", scheduler)
    assert "longer than 1 second" in (store.get(slow["id"]) or {})["error"]
    until(lambda: killed["id"] in scheduler.running, scheduler)
    scheduler.running[killed["id"]].process.kill()
    until(lambda: (store.get(killed["id"]) or {})["state"] == "interrupted", scheduler)
    store.resume(killed["id"])
    until(lambda: killed["id"] in scheduler.running, scheduler)
    scheduler.stop()
    again = store.get(killed["id"])
    assert again is not None
    assert (again["state"], again["attempt"]) == ("interrupted", 2)
    assert "starts over" in again["remark"]
    assert b"Attempt 2. The job was resumed." in store.log_of(killed["id"]).read_bytes()


def test_jobs_that_ran_when_the_server_was_killed_are_marked(
    store: JobStore, capsys: pytest.CaptureFixture[str]
) -> None:
    added = store.add("train", TRAIN, 10)
    assert added is not None
    store.take()
    scheduler_of(store)
    assert "1 job ran" in json.loads(capsys.readouterr().err)["message"]
    assert (store.get(added["id"]) or {})["state"] == "interrupted"


def test_data_are_uploaded_whole_or_not_at_all(server: InProcess, store: JobStore) -> None:
    sent = {"content-type": "application/octet-stream"}
    assert server.ask("PUT", "/v1/data/new.csv", LETTERS, sent).json() == {"data": "new", "bytes": len(LETTERS)}
    names = b"<http://x.org/1>\tbuses\n<http://x.org/2>\troads\n"
    assert server.ask("PUT", "/v1/data/names.tsv", names, sent).status == 200
    listed = server.ask("GET", "/v1/data").json()
    assert (listed["data"], listed["vocabularies"]) == (["letters", "names", "new"], ["names"])
    assert server.ask("DELETE", "/v1/data/names").status == 204
    listed = server.ask("GET", "/v1/data").json()
    assert (listed["data"], {"csv", "excel", "arff"} <= set(listed["formats"])) == (["letters", "new"], True)
    assert server.ask("PUT", "/v1/data/new.jsonl", b"{}", sent).status == 200
    assert sorted(os.listdir(store.uploads)) == ["letters.csv", "new.jsonl"]
    assert server.ask("PUT", "/v1/data/big.csv", b"a" * 2_001, sent).status == 413
    for name in ("..%2fx.csv", "..", ".csv", "a", "a.b.c.d", "ä.csv", "a b.csv"):
        assert server.ask("PUT", f"/v1/data/{name}", b"", sent).status in (404, 405, 422)
    assert sorted(os.listdir(store.uploads)) == ["letters.csv", "new.jsonl"]


def test_the_name_of_an_upload_shows_how_to_read_it(server: InProcess, store: JobStore) -> None:
    for name in ("x.exe", "x.exe.gz", "x.gz", "x", "x.csv.bz2"):
        refused = server.ask("PUT", f"/v1/data/{name}", b"a")
        assert refused.status == 422
        assert refused.json()["detail"].startswith(f"'{name}' has no ending that shows the format of the data. Known: ")
        assert {".csv,", ".jsonl,", ".tar.gz,", ".ttl,"} <= set(refused.json()["detail"].split())
    for name in (".hidden.csv", "-x.csv"):
        assert f"'{name}' cannot be the name of a file" in server.ask("PUT", f"/v1/data/{name}", b"").json()["detail"]
    for name in ("x.tsv.gz", "x.JSON", "x.tgz", "x.txt", "x.npz"):
        assert server.ask("PUT", f"/v1/data/{name}", b"a").status == 200


def test_uploaded_data_are_deleted_unless_a_job_needs_them(server: InProcess, store: JobStore) -> None:
    server.ask("POST", "/v1/jobs", TRAIN)
    refused = server.ask("DELETE", "/v1/data/letters")
    assert (refused.status, "'train' needs the data 'letters'" in refused.json()["detail"]) == (422, True)
    store.cancel(store.list(None, 1)[0]["id"])
    assert server.ask("DELETE", "/v1/data/letters").status == 204
    assert server.ask("GET", "/v1/data").json()["data"] == []
    assert server.ask("DELETE", "/v1/data/letters").status == 404
    assert "comes with manylabel" in server.ask("DELETE", "/v1/data/townhall").json()["detail"]


def test_names_never_lead_out_of_the_directory(store: JobStore) -> None:
    for name in ("..", "../x", "/etc/passwd", "a/b", "a.b", "", "-x", "x" * 65, "ä"):
        with pytest.raises(ManylabelError):
            store.model_path(name)
        with pytest.raises(ManylabelError):
            store.data_path(name)
    with pytest.raises(MissingDataError):
        store.data_path("none")
    with pytest.raises(ParameterError):
        store.new_upload("../a.csv")


def test_without_a_data_directory_there_are_no_jobs(tmp_path: Path) -> None:
    assert in_process({}).ask("GET", "/v1/jobs").status == 404
    assert "No model is served" in in_process({}).ask("POST", "/predict", {"inputs": "a"}).json()["error"]


def test_a_job_with_an_unknown_method_is_refused_at_once(server: InProcess) -> None:
    for wrong in ({**TRAIN, "method": "nb-binry"}, {"kind": "compare", "data": "townhall", "methods": ["nb-binry"]}):
        answer = server.ask("POST", "/v1/jobs", wrong)
        assert answer.status == 422
        assert "nb-binary" in answer.json()["detail"]
