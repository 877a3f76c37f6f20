"""Fetching: from a server or file, checked by the sums of the files inside, with a way out on failure."""

import functools
import hashlib
import http.server
import io
import tarfile
import threading

import pytest

from manylabel.data import known as fetching
from manylabel.data import load
from manylabel.data.known import FETCHABLE, Fetchable, cache_folder, fetch, verify
from manylabel.exceptions import DataError, MissingDataError, UnknownNameError
from manylabel.progress import reporting_to

STORY = b"""<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="1"><TOPICS><D>a</D></TOPICS>
<TEXT><TITLE>t</TITLE><BODY>b</BODY></TEXT></REUTERS>"""


def archive(path, content=STORY, name="./reut2-000.sgm"):
    with tarfile.open(path, "w:gz") as packed:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        packed.addfile(member, io.BytesIO(content))
    return path


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("MANYLABEL_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MANYLABEL_DATA", raising=False)
    sums = {"reut2-000.sgm": hashlib.sha256(STORY).hexdigest()}
    row = Fetchable("reuters21578/reuters21578.tar.gz", ("http://127.0.0.1:9/none",), sums)
    monkeypatch.setitem(fetching.FETCHABLE, "reuters21578", row)
    return tmp_path / "home"


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


def left_behind(home):
    return [file for file in home.rglob("*") if file.is_file()]


def test_download_is_checked_kept_and_loaded(home, server):
    folder, address = server
    archive(folder / "r.tar.gz")
    seen = []

    class Sink:
        def started(self, what, total):
            seen.append(total)

        def advanced(self, what, by):
            seen.append(by)

        def finished(self, what):
            seen.append("done")

    with reporting_to(Sink()):
        path = fetch("reuters21578", urls=[address + "/missing.tar.gz", address + "/r.tar.gz"])
    size = (folder / "r.tar.gz").stat().st_size
    assert seen == [size, size, "done"]
    assert path == home / "reuters21578" / "reuters21578.tar.gz"
    assert left_behind(home) == [path]
    assert load("reuters21578").corpus.labels == [["a"]]


def test_what_is_there_is_not_fetched_again(server):
    folder, address = server
    archive(folder / "r.tar.gz")
    fetch("reuters21578", urls=[address + "/r.tar.gz"])
    assert fetch("reuters21578", urls=["http://127.0.0.1:9/none"]).is_file()
    with pytest.raises(MissingDataError):
        fetch("reuters21578", urls=["http://127.0.0.1:9/none"], again=True)


def test_changed_content_is_refused_and_leaves_nothing(home, server):
    folder, address = server
    archive(folder / "r.tar.gz", STORY.replace(b">a<", b">z<"))
    with pytest.raises(MissingDataError, match=r"reut2-000.sgm in the archive is not the original"):
        fetch("reuters21578", urls=[address + "/r.tar.gz"])
    assert left_behind(home) == []


def test_without_a_network_it_says_what_to_do(home):
    with pytest.raises(MissingDataError) as caught:
        fetch("reuters21578")
    sentence = str(caught.value)
    for words in (
        "Download it by hand from http://127.0.0.1:9/none",
        str(home / "reuters21578"),
        "--from FILE",
        "MANYLABEL_DATA",
    ):
        assert words in sentence
    assert left_behind(home) == []


def test_a_local_file(tmp_path, home):
    path = fetch("reuters21578", file=archive(tmp_path / "mine.tgz"))
    assert left_behind(home) == [path]
    with pytest.raises(MissingDataError, match="no file"):
        fetch("reuters21578", file=tmp_path / "gone.tgz")


def test_a_damaged_local_file_is_named(tmp_path):
    other = archive(tmp_path / "other.tgz", name="./reut2-001.sgm")
    with pytest.raises(DataError, match=r"other.tgz: The archive lacks reut2-000.sgm"):
        fetch("reuters21578", file=other)
    other.write_bytes(b"\x1f\x8bnothing")
    with pytest.raises(DataError, match=r"other.tgz: The gzip file is damaged"):
        verify(other, FETCHABLE["reuters21578"].sums)


def test_unknown_names():
    with pytest.raises(UnknownNameError, match="Did you mean 'reuters21578'"):
        fetch("reuters")


def test_the_cache_folder(monkeypatch, tmp_path):
    assert cache_folder() == tmp_path / "home"
    monkeypatch.delenv("MANYLABEL_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "manylabel"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "manylabel"


def test_the_sums_are_those_of_22_files():
    assert sorted(fetching.REUTERS_SUMS) == [f"reut2-{number:03d}.sgm" for number in range(22)]
    assert all(len(digest) == 64 for digest in fetching.REUTERS_SUMS.values())
