"""Faults while writing: a full disk, a folder that cannot be written to, a broken pipe, termination."""

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from hostile import run, without_privileges
from manylabel.data import load, write
from manylabel.data.atomic import atomic_files, atomic_text, atomic_write
from manylabel.data.corpus import Corpus
from manylabel.estimator import Csr
from manylabel.exceptions import DataError, WriteError
from manylabel.papers.jobs import Ledger

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")


def counts():
    return Corpus(
        ids=["1", "2"], labels=[["a"], []], label_names=["a"], counts=Csr(np.array([[1, 0], [0, 2]])), terms=["x", "y"]
    )


@needs_full
def test_a_full_disk_is_one_sentence_and_the_device_stays(tmp_path):
    with pytest.raises(WriteError, match=r"/dev/full could not be written: No space left"), atomic_write(FULL) as out:
        out.write(b"x" * 10**6)
    with pytest.raises(WriteError, match=r"/dev/full could not be written: No space left"), atomic_text(FULL) as out:
        out.write("x" * 10**6)
    answer = run("convert", "townhall", FULL, "--to", "csv", folder=tmp_path)
    answer.refuse("/dev/full could not be written", "No space")
    assert stat.S_ISCHR(FULL.stat().st_mode)


@needs_full
def test_standard_output_on_a_full_disk(tmp_path):
    def fill():
        os.dup2(os.open(FULL, os.O_WRONLY), 1)

    run("methods", folder=tmp_path, before=fill).refuse("standard output: No space left on device")


def test_a_reader_that_stops_reading(tmp_path):
    command = [sys.executable, "-m", "manylabel", "methods", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 2
    assert errors == b"manylabel: standard output was closed by its reader. The rest was not printed.\n"


def test_a_pipe_is_written_to_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    with atomic_text(pipe) as stream:
        stream.write("whole")
    reader.join()
    assert received == ["whole"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def fail_in_second(paths):
    with atomic_files(paths) as (first, second):
        first.write(b"1")
        second.write(b"2")
        raise OSError(28, "No space left on device")


def test_files_of_a_group_appear_together_or_not_at_all(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(WriteError, match=r"No space left on device. Nothing was changed"):
        fail_in_second(paths)
    assert os.listdir(tmp_path) == []
    with atomic_files(paths) as (first, second):
        first.write(b"1")
        second.write(b"2")
        assert not any(path.exists() for path in paths)
    assert [path.read_bytes() for path in paths] == [b"1", b"2"]
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


@pytest.mark.parametrize("name", ["X.npz", "a.svm", "a.xmc"])
def test_a_pair_is_never_half_written(name, tmp_path, monkeypatch):
    """The files of a matrix and of its names: where one of them cannot be written, none is."""
    corpus = counts()
    (tmp_path / "good").mkdir()
    write(corpus, tmp_path / "good" / name)
    assert len(os.listdir(tmp_path / "good")) >= 3
    (tmp_path / "bad").mkdir()
    blocked = "X.terms.txt" if name == "X.npz" else "a.terms.txt"
    (tmp_path / "bad" / blocked).mkdir()
    with pytest.raises(ValueError, match=r"is a folder"):
        write(corpus, tmp_path / "bad" / name)
    assert os.listdir(tmp_path / "bad") == [blocked]

    def no_space(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", no_space)
    (tmp_path / "full").mkdir()
    with pytest.raises(WriteError, match=r"could not be written: No space left"):
        write(corpus, tmp_path / "full" / name)
    assert os.listdir(tmp_path / "full") == []


def test_a_folder_that_cannot_be_written_to(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    answer = run("convert", "townhall", folder / "a.csv", folder=tmp_path, before=without_privileges)
    answer.refuse("a.csv could not be written: Permission denied")
    assert os.listdir(folder) == []


WRITER = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
from manylabel.cli import run as cli
import manylabel.data.delimited as delimited
def slowly(corpus, path):
    with delimited.atomic_text(path) as stream:
        stream.write("half")
        stream.flush()
        print("writing", flush=True)
        time.sleep(30)
delimited.write_csv = slowly
sys.exit(cli.run(["convert", "townhall", sys.argv[1]]))
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 143)])
def test_a_signal_leaves_nothing_behind(number, code, tmp_path):
    command = [sys.executable, "-c", WRITER, str(tmp_path / "a.csv")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "writing\n"
    assert len(os.listdir(tmp_path)) == 1
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code, errors
    assert "Unfinished files were not written" in errors
    assert os.listdir(tmp_path) == []


def test_several_writers_of_one_file_leave_one_whole_file(tmp_path):
    path = tmp_path / "a.txt"

    def work(sign):
        for _ in range(20):
            with atomic_text(path) as stream:
                stream.write(sign * 10_000)
                time.sleep(0)

    threads = [threading.Thread(target=work, args=(sign,)) for sign in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = path.read_text()
    assert len(text) == 10_000
    assert len(set(text)) == 1
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("kept", ["", "{", "[]", '{"key": "svm/0"}', '{"key": 1, "outcome": 1}', "\xff"])
def test_a_ledger_of_another_version(kept, tmp_path):
    ledger = Ledger(tmp_path)
    ledger.keep("svm/0", [1.5], 2.0)
    assert ledger.find("svm/0") == ([1.5], 2.0)
    next(tmp_path.iterdir()).write_bytes(kept.encode("latin-1"))
    with pytest.raises(DataError, match=r"'svm/0' was kept by another version or is damaged.*--fresh"):
        ledger.find("svm/0")


def test_what_is_written_is_read_again(tmp_path):
    for name in ("X.npz", "a.svm", "a.xmc"):
        write(counts(), tmp_path / name)
        corpus = load(tmp_path / name).corpus
        assert corpus.counts.toarray().tolist() == [[1, 0], [0, 2]]
        assert corpus.terms == ["x", "y"]
