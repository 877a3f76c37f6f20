"""Damaged databases of the data directory: the file is named with what to do, on the command line and over HTTP."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from manylabel.cli.run import run
from manylabel.server.jobs.store import JobStore
from manylabel.server.store.files import CorpusFiles
from reviewed import make_corpus
from served import InProcess, ended_job, in_process


def garbage(path: Path) -> None:
    """Write garbage over a whole database."""
    path.write_bytes(b"garbage " * 1_000)


def one_page(path: Path) -> None:
    """Write garbage over a part of a database; it is still one, but malformed."""
    content = bytearray(path.read_bytes())
    content[4096 : 4096 * 12] = b"\xff" * (4096 * 11)
    path.write_bytes(content)


def wrong_text(path: Path) -> None:
    """Keep a value that is no text where one is expected."""
    with sqlite3.connect(path) as database:
        database.execute("UPDATE about SET value = CAST(x'ff' AS TEXT)")
        database.execute("UPDATE labels SET name = CAST(x'ff' AS TEXT) WHERE number = 1")
    database.close()


@pytest.fixture
def server(tmp_path: Path) -> InProcess:
    data = tmp_path / "data"
    store = JobStore(data)
    store.prepare()
    make_corpus(data)
    shutil.copytree(data / "corpora" / "letters", data / "corpora" / "others")
    return in_process({}, data=str(data))


@pytest.mark.parametrize("damage", [garbage, one_page, wrong_text])
def test_a_damaged_corpus_is_named_and_others_go_on(
    server: InProcess, damage: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(str(server.settings.data))
    damage(CorpusFiles(folder).get("letters").path)
    answer = server.ask("GET", "/v1/corpora/letters")
    assert (answer.status, answer.headers["content-type"]) == (503, "application/problem+json")
    assert answer.json()["detail"].startswith("corpora/letters/corpus.sqlite: this file is damaged (")
    assert answer.json()["detail"].endswith("). Restore it from a backup.")
    assert capsys.readouterr().err == ""
    assert server.ask("GET", "/v1/corpora/others").status == 200
    ended = ended_job(server, {"kind": "audit", "corpus": "letters"})
    assert (ended["state"], ended["error"]) == ("failed", answer.json()["detail"])
    assert run(["corpora", "labels", str(folder), "letters"]) == 2
    assert f"{folder}/corpora/letters/corpus.sqlite: this file is damaged (" in capsys.readouterr().err


def test_damaged_jobs_are_named(server: InProcess, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(str(server.settings.data))
    garbage(folder / "jobs.sqlite")
    answer = server.ask("GET", "/v1/jobs")
    assert (answer.status, answer.json()["detail"].partition(" (")[0]) == (503, "jobs.sqlite: this file is damaged")
    assert run(["serve", "--data", str(folder), "--port", "0"]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"manylabel: {folder}/jobs.sqlite: this file is damaged (")
    assert printed.endswith("Restore it from a backup.\n")


def test_other_errors_of_sqlite_keep_their_class(server: InProcess) -> None:
    store = JobStore(Path(str(server.settings.data)))
    with pytest.raises(sqlite3.OperationalError), store._open() as database:
        database.execute("SELECT * FROM nothing")
